"""Shared parts of the lessons: the screen of guess, picture and theorem, controls, and predict-then-reveal.

A lesson's function runs in the left column, which has its controls; its results go to the other columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Parameter, exactly
from dpcore.mechanisms import entry
from pages.charts.component import draw, draw_with_table
from pages.charts.picture import Curve, Dots, Mark, Picture, Rule
from pages.charts.words import lower_first
from pages.learn.pictures import hide_measured
from pages.shell.controls import check_choice, check_link, choice, number, seed, stops
from pages.shell.links import in_link
from pages.shell.presentation import (
    allow_in_presentation,
    hide_part,
    is_presenting,
    presentation_place,
    set_extra_height,
)
from pages.shell.state import SessionKey, set_controls

SIMULATED, THEORY = ":blue-badge[simulated]", ":orange-badge[theory]"
WIDTHS = (30, 56, 34)
"""Relative widths of the columns: guess and controls, picture, theorem."""
LessonSetting = float | str | bool
SETTINGS_BEFORE = SessionKey[dict[str, LessonSetting]]("lesson_before", {})
"""Settings before the last "Break it"."""
BROKEN_SETTINGS = SessionKey[dict[str, LessonSetting]]("lesson_broken", {})
"""Settings of the last "Break it", and the guess before it."""
GUESSES = SessionKey[dict[str, tuple[LessonSetting | None, str]]]("lesson_asked", {})
"""Guess and its question, by lesson."""
CONTROLS_HEIGHT = 2
"""Pixels of a presentation that a lesson's layout leaves to its chart."""
SYSTEMS = "Mechanisms from the papers"
"""Group of the lessons on one system."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson, or another page in the overview.

    Attributes:
        key: link value, and name of its drawing.
        question: its title.
        group: its group in the overview; groups are in the order of their first lessons.
        place: sort key.
        minutes: duration in a lecture.
        needs: prerequisites, in words.
        class_questions: three questions that the lesson answers.
        point: minimum and maximum of each bold number of its initial result, in order.
        show: draws it; None for another page.
        page: file in pages.
        link: its link parameters.
        own_data: draws the view of all settings and the user's own data, if the lesson has one.
        workbench: file of the page with all settings of the lesson's system and the user's own data.
        workbench_link: link parameters of that page.
    """

    key: str
    question: str
    group: str
    place: int
    minutes: int
    needs: str
    class_questions: tuple[str, str, str]
    point: tuple[tuple[float, float], ...] = ()
    show: Callable[[], None] | None = None
    page: str = "learn/page.py"
    link: Mapping[str, str] = dataclasses.field(default_factory=dict)
    own_data: Callable[[], None] | None = None
    workbench: str = ""
    workbench_link: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def address(self) -> dict[str, str]:
        """Link parameters of the lesson."""
        return {"lesson": self.key} if self.show is not None else dict(self.link)


@dataclass(kw_only=True)
class Screen:
    """Containers of a lesson's parts, with its key and the state of the guess.

    ``shown``: the result is revealed. ``guessed``: the user moved the control. ``guess_is_old``: the guess was about
    another question. ``titled``: the picture has a title.
    """

    intro: DeltaGenerator
    guess: DeltaGenerator
    switch: DeltaGenerator
    picture: DeltaGenerator
    result: DeltaGenerator
    theorem: DeltaGenerator
    breaking: DeltaGenerator
    below: DeltaGenerator
    lesson: str = ""
    shown: bool = False
    titled: bool = False
    guessed: bool = True
    guess_is_old: bool = False


_screen: ContextVar[Screen] = ContextVar("screen of this run's lesson")


@contextmanager
def screen() -> Iterator[None]:
    """Draw the three columns; the context is the container of the controls."""
    set_extra_height(CONTROLS_HEIGHT)
    intro = st.container()
    with st.container(key="lesson"):
        left, middle, right = st.columns(WIDTHS)
    with left:
        guess, controls = st.container(key="lesson_guess"), st.container(key="lesson_controls")
    with middle:
        switch, picture_place = st.container(key="lesson_switch"), st.container(key="lesson_picture")
    with right:
        result_place, theorem = st.container(key="lesson_told"), st.container(key="lesson_theorem")
        breaking = st.container(key="lesson_breaking")
    _screen.set(
        Screen(
            intro=intro,
            guess=guess,
            switch=switch,
            picture=picture_place,
            result=result_place,
            theorem=theorem,
            breaking=breaking,
            below=st.container(),
        )
    )
    with controls:
        yield


def intro(text: str) -> None:
    """Draw the lesson's introduction."""
    _screen.get().intro.markdown(text)


def below() -> DeltaGenerator:
    """Return the container below the three columns."""
    return _screen.get().below


def more() -> DeltaGenerator:
    """Return the container of the advanced settings."""
    return st.popover("More settings", type="tertiary")


SEEDED = "Sampling here uses a seed, so a link gives the same picture. These are not private releases."


def draws_seed(help_text: str = SEEDED) -> int:
    """Draw the control of the lesson's seed and return it; the help says what does not follow the seed."""
    return seed("limits-seed", help_text=help_text)


def epsilon(lesson: str, *, default: float, high: float | None = None) -> float:
    """Draw the lesson's ε and return it."""
    parameter = entry("identity").controls()["epsilon"]
    low = 0.01
    parameter = dataclasses.replace(parameter, low=low, high=high if high is not None else 10.0)
    return number(parameter, key=f"{lesson}-epsilon", default=default)


def relation(lesson: str, *, default: Neighbours, help_text: str) -> Neighbours:
    """Draw the neighbouring relation and return it; the link holds it."""
    titles = {str(each): each.words for each in Neighbours}
    key = f"{lesson}-neighbours"
    return Neighbours(choice("Neighbouring data sets", titles, key=key, default=str(default), help_text=help_text))


def _phrase_guess(text: str) -> str:
    """Return the text for an untouched slider, which is no guess, or for a guess at other settings."""
    if _guess_is_old():
        text = text.replace("you guessed", "before, you guessed").replace("You guessed", "Before, you guessed")
    if _screen.get().guessed:
        return text
    return text.replace("you guessed", "the slider was at").replace("You guessed", "The slider was at")


def has_current_guess() -> bool:
    """Return True if there is a guess about the current question."""
    return _screen.get().guessed and not _guess_is_old()


def _guess_is_old() -> bool:
    """Return True if the guess was about another question or other settings."""
    return _screen.get().guess_is_old or _is_broken()


def _is_broken() -> bool:
    """Return True after "Break it", until the next guess."""
    settings = BROKEN_SETTINGS.value
    return f"{_screen.get().lesson}-guess" in settings and all(
        SessionKey[LessonSetting | None](key, None).value == value for key, value in settings.items()
    )


def _reveal(lesson: str, question: str, place: DeltaGenerator, *, guess: LessonSetting | None, moved: bool) -> None:
    """Draw the question and the toggle that reveals the result, and update the screen's state."""
    with presentation_place("reveal"):
        shown = bool(st.toggle("Show what happens", key=in_link(f"{lesson}-shown"), bind="query-params"))
    hide_part("guess" if shown else "slider")
    _screen.get().shown, _screen.get().lesson = shown, lesson
    _screen.get().guessed = moved
    guesses = GUESSES.setdefault({})
    if (
        not shown or lesson not in guesses or guesses[lesson][0] != guess
    ):  # the guess belongs to the question at which it was made
        guesses[lesson] = guess, question
    _screen.get().guess_is_old = guesses[lesson][1] != question
    place.markdown(question if shown else f"**Guess first.** {question}")


def _guess_place() -> AbstractContextManager[object]:
    """Return where the guess is drawn: in a presentation, or in the left column."""
    return presentation_place("guess") if is_presenting() else _screen.get().guess.container(border=True)


def revealed() -> bool:
    """Return True if the result is revealed."""
    return _screen.get().shown


def guess_number(lesson: str, question: str, *, label: str, low: int, high: int, default: int, unit: str = "") -> int:
    """Draw the question with a slider and return the guess."""
    with _guess_place():
        place = st.container()
        key = f"{lesson}-guess"
        check_link(key, parameter=Parameter(label=label, low=low, high=high), default=default)
        guess = st.slider(label, low, high, default, key=in_link(key), format=f"%d{unit}", bind="query-params")
        _reveal(lesson, question, place, guess=guess, moved=guess != default)
    return int(guess)


def guess_stop(lesson: str, question: str, *, label: str, options: Sequence[float], default: float) -> float:
    """Draw the question with a slider over given options and return the guess."""
    with _guess_place():
        place = st.container()
        guess = stops(label, options, default, key=f"{lesson}-guess")
        _reveal(lesson, question, place, guess=guess, moved=guess != default)
    return guess


def guess_answer(lesson: str, question: str, *, label: str, answers: Mapping[str, str]) -> str:
    """Draw the question with radio buttons and return the answer's key, "" before a choice."""
    with _guess_place():
        place = st.container()
        key = f"{lesson}-guess"
        check_choice(key, list(answers.values()), label=label)
        guess = st.radio(
            label,
            list(answers),
            index=None,
            key=in_link(key),
            format_func=lambda answer: answers[answer],
            bind="query-params",
        )
        _reveal(lesson, question, place, guess=guess, moved=guess is not None)
    return guess or ""


def pictures(lesson: str, *titles: str) -> str:
    """Draw the selection of a lesson's pictures and return it; the first before the result is revealed."""
    key = f"{lesson}-picture"
    if not revealed():
        return titles[0]
    check_choice(key, titles, label="Picture")
    chosen = _screen.get().switch.segmented_control(
        "Picture",
        titles,
        default=titles[0],
        required=True,
        key=in_link(key),
        bind="query-params",
        label_visibility="collapsed",
    )
    _screen.get().titled = True
    return str(chosen) if chosen in titles else titles[0]


def picture(lesson_chart: Picture, *, key: str, badge: str, presented_roles: Collection[str] = ()) -> None:
    """Draw a chart with its numbers; downloads are allowed because lessons have only public data.

    Measured marks are hidden until the result is revealed. A presentation has only the curves and dots of
    ``presented_roles``, if its legend has no room for all.
    """
    lesson_chart = dataclasses.replace(
        lesson_chart,
        sentence=_phrase_guess(lesson_chart.sentence),
        caption=_phrase_guess(lesson_chart.caption),
        marks=[
            _relabel_guess(mark)
            for mark in lesson_chart.marks
            if not (is_presenting() and _is_left_out(mark, presented_roles))
        ],
    )
    allow_in_presentation(f"{key}_chart")
    with _screen.get().picture:
        if not _screen.get().titled:
            st.markdown(f"**{lesson_chart.title}**")
        if revealed():
            draw_with_table(lesson_chart, key=key, badge=badge, title=lower_first(lesson_chart.title), download=True)
        else:
            draw(hide_measured(lesson_chart), key=f"{key}_chart", badge="not measured: your guess")


def _relabel_guess(mark: Mark) -> Mark:
    """Return a guess's rule with the label for an untouched or an old guess."""
    if revealed() and isinstance(mark, Rule) and mark.role == "guess" and (_is_untouched(mark) or _guess_is_old()):
        words = "the guess before" if _guess_is_old() else "the guess"
        return dataclasses.replace(mark, label=mark.label.replace("your guess", words))
    return mark


def _is_left_out(mark: Mark, presented_roles: Collection[str]) -> bool:
    """Return True for a mark that a presentation leaves out: an untouched guess beside the result, another role."""
    if isinstance(mark, Curve | Dots) and presented_roles:
        return mark.role not in presented_roles
    return revealed() and _is_untouched(mark)


def _is_untouched(mark: Mark) -> bool:
    """Return True for the rule of an untouched guess."""
    return mark.role == "guess" and not _screen.get().guessed


def show_result(text: str) -> None:
    """Draw the result, once it is revealed."""
    if revealed():
        _screen.get().result.markdown(_phrase_guess(text))


def show_warning(text: str) -> None:
    """Draw a refuted privacy claim as a warning, once the result is revealed."""
    if revealed():
        _screen.get().result.warning(text)


def theorem(formula: str, *details: str, reference: str, meaning: str = "") -> None:
    """Draw the theorem's formula and meaning; details and reference follow once the result is revealed.

    A presentation has only the formula, and only once the result is revealed.
    """
    if is_presenting():
        if not revealed():
            return
        with presentation_place("theorem"):
            st.latex(formula)
        return
    with _screen.get().theorem:
        st.markdown("**The theorem**")
        st.latex(formula)
        if meaning:
            st.markdown(meaning)
        if not revealed():
            return
        with st.expander("Why?"):
            for paragraph in details:
                st.markdown(paragraph)
            st.caption(f"Reference: {reference}")


def break_it(text: str, label: str, settings: Mapping[str, LessonSetting]) -> None:
    """Draw the button that applies further settings, and one that restores the former ones.

    Args:
        text: what to observe.
        label: label of the button.
        settings: values of controls, by link parameter.
    """
    if not revealed():
        return
    guess = f"{_screen.get().lesson}-guess"
    with _screen.get().breaking:
        st.markdown(f"**Change it.** {text}")
        with st.container(horizontal=True):
            st.button(label, on_click=lambda: _break(settings, guess))
            before = SETTINGS_BEFORE.value
            if before and all(SessionKey(key, None).is_set for key in before):
                st.button("Back", on_click=lambda: apply_settings(SETTINGS_BEFORE.pop()))


def _break(settings: Mapping[str, LessonSetting], guess: str) -> None:
    """Apply settings, and store the former ones and the guess."""
    controls = [SessionKey[Any](key, None) for key in (*settings, guess)]
    BROKEN_SETTINGS.value = {**settings, guess: controls[-1].value}
    SETTINGS_BEFORE.value = {key: key.value for key in controls[:-1] if key.is_set}
    apply_settings(settings)


def apply_settings(settings: Mapping[str, LessonSetting]) -> None:
    """Set controls before they are drawn."""
    set_controls(settings)


def stop(value: float) -> str:
    """Return an option of a slider as its control's value."""
    return exactly(value)
