"""What the lessons share: one screen of guess, picture and theorem; bound controls; predict-then-reveal.

A lesson's function runs in the left column, where its controls stand; what it shows goes to its place on the screen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Parameter, exactly
from dpcore.mechanisms import entry
from pages.charts.component import draw, draw_with_table
from pages.charts.picture import Mark, Picture, Rule
from pages.charts.words import within
from pages.learn.pictures import veiled
from pages.shell.controls import check_choice, check_link, choice, number, seed, stops
from pages.shell.present import may_be_shown, on_stage, presenting, spare
from pages.shell.session import in_link
from pages.shell.state import SessionKey, set_controls

SIMULATED, THEORY = ":blue-badge[simulated]", ":orange-badge[theory]"
WIDTHS = (30, 56, 34)
"""Of the guess with its controls, the picture and the theorem."""
Setting = float | str | bool
BEFORE = SessionKey[dict[str, Setting]]("lesson_before", {})
"""The controls that were broken last, as they stood."""
BROKEN = SessionKey[dict[str, Setting]]("lesson_broken", {})
"""What they were set to, and the guess, which was about something else."""
ASKED = SessionKey[dict[str, tuple[Setting | None, str]]]("lesson_asked", {})
"""By lesson: the guess, and the question that it was about."""
SPARE = 26
"""Pixels that a lesson leaves to a presented chart."""
SYSTEMS = "Systems to play with"
"""Where lessons hang on the wall that are about one system."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson, or another page that the wall leads to.

    Attributes:
        key: in links, and of its drawing on the wall.
        question: its title, and the words of its card.
        group: the part of the wall where it hangs; the parts stand in the order of their first lessons.
        place: a lesson with a smaller one hangs before it.
        minutes: it takes in a lecture.
        needs: what to have seen or heard before, in words.
        asks: three questions for a class, which the lesson answers.
        point: least and most of each number that it tells in bold as it opens, in order; what it is there to show.
        show: draws it; None: it is a page of its own.
        page: its file, below pages.
        link: what its address says.
        own_data: draws the view of all settings and the user's own data, if the lesson has one.
        workbench: the file of the page with all settings of the lesson's system and the user's own data.
        workbench_link: query of that page's address.
    """

    key: str
    question: str
    group: str
    place: int
    minutes: int
    needs: str
    asks: tuple[str, str, str]
    point: tuple[tuple[float, float], ...] = ()
    show: Callable[[], None] | None = None
    page: str = "learn/page.py"
    link: Mapping[str, str] = dataclasses.field(default_factory=dict)
    own_data: Callable[[], None] | None = None
    workbench: str = ""
    workbench_link: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def address(self) -> dict[str, str]:
        """What a link to it says after the page's address."""
        return {"lesson": self.key} if self.show is not None else dict(self.link)


@dataclass(kw_only=True)
class Screen:
    """Where a lesson's parts go, and which it is; what the reader has done.

    They have asked to see it; guessed; and the guess was about an old question. And whether the picture has a title.
    """

    intro: DeltaGenerator
    guess: DeltaGenerator
    switch: DeltaGenerator
    picture: DeltaGenerator
    told: DeltaGenerator
    theorem: DeltaGenerator
    breaking: DeltaGenerator
    below: DeltaGenerator
    lesson: str = ""
    shown: bool = False
    titled: bool = False
    guessed: bool = True
    old: bool = False


_screen: ContextVar[Screen] = ContextVar("screen of this run's lesson")


@contextmanager
def screen() -> Iterator[None]:
    """Guess, picture and theorem side by side; controls go to the left."""
    spare(SPARE)
    intro = st.container()
    with st.container(key="lesson"):
        left, middle, right = st.columns(WIDTHS)
    with left:
        guess, controls = st.container(key="lesson_guess"), st.container(key="lesson_controls")
    with middle:
        switch, picture_place = st.container(key="lesson_switch"), st.container(key="lesson_picture")
    with right:
        told_place, theorem = st.container(key="lesson_told"), st.container(key="lesson_theorem")
        breaking = st.container(key="lesson_breaking")
    _screen.set(
        Screen(
            intro=intro,
            guess=guess,
            switch=switch,
            picture=picture_place,
            told=told_place,
            theorem=theorem,
            breaking=breaking,
            below=st.container(),
        )
    )
    with controls:
        yield


def intro(text: str) -> None:
    """What the lesson is about, in a sentence or two."""
    _screen.get().intro.markdown(text)


def below() -> DeltaGenerator:
    """The place under the three columns, for what opens on demand."""
    return _screen.get().below


def more() -> DeltaGenerator:
    """Where the controls stand that few readers move."""
    return st.popover("More settings", type="tertiary")


def draws_seed() -> int:
    """The seed of every draw on this page."""
    return seed(
        "limits-seed",
        help_text="Draws here are seeded, so that a link reopens the same picture. They are not private releases.",
    )


def epsilon(lesson: str, *, default: float, high: float | None = None) -> float:
    """The lesson's own privacy loss."""
    parameter = entry("identity").controls()["epsilon"]
    low = 0.01
    parameter = dataclasses.replace(parameter, low=low, high=high if high is not None else 10.0)
    return number(parameter, key=f"{lesson}-epsilon", default=default)


def relation(lesson: str, *, default: Neighbours, help_text: str) -> Neighbours:
    """Which data sets are neighbours, bound to the link."""
    titles = {str(each): each.words for each in Neighbours}
    key = f"{lesson}-neighbours"
    return Neighbours(choice("Neighbours", titles, key=key, default=str(default), help_text=help_text))


def _as_guessed(text: str) -> str:
    """Who left the slider where it stood has guessed nothing; who moved on since has guessed about something else."""
    if _before():
        text = text.replace("you guessed", "before, you guessed").replace("You guessed", "Before, you guessed")
    if _screen.get().guessed:
        return text
    return text.replace("you guessed", "the guess stood at").replace("You guessed", "The guess stood at")


def graded() -> bool:
    """Whether there is a guess, and it was about the question that is asked now."""
    return _screen.get().guessed and not _before()


def _before() -> bool:
    """Whether the guess was about something else."""
    return _screen.get().old or _broken()


def _broken() -> bool:
    """Whether the reader has broken it and not guessed since."""
    settings = BROKEN.value
    return f"{_screen.get().lesson}-guess" in settings and all(
        SessionKey[Setting | None](key, None).value == value for key, value in settings.items()
    )


def _reveal(lesson: str, question: str, place: DeltaGenerator, *, guess: Setting | None, moved: bool) -> None:
    """Ask, and note whether the reader wants to see, and has moved the control."""
    shown = bool(st.toggle("Show what happens", key=in_link(f"{lesson}-shown"), bind="query-params")) or presenting()
    _screen.get().shown, _screen.get().lesson = shown, lesson
    _screen.get().guessed = moved
    asked = ASKED.setdefault({})
    if not shown or lesson not in asked or asked[lesson][0] != guess:  # whoever is shown it first has not guessed again
        asked[lesson] = guess, question
    _screen.get().old = asked[lesson][1] != question
    place.markdown(question if shown else f"**Guess first.** {question}")


def revealed() -> bool:
    """Whether the reader has asked to see what happens."""
    return _screen.get().shown


def guess_number(lesson: str, question: str, *, label: str, low: int, high: int, default: int, unit: str = "") -> int:
    """Ask for a number before anything is shown; the guess."""
    with _screen.get().guess.container(border=True):
        place = st.container()
        key = f"{lesson}-guess"
        check_link(key, parameter=Parameter(label=label, low=low, high=high), default=default)
        guess = st.slider(label, low, high, default, key=in_link(key), format=f"%d{unit}", bind="query-params")
        _reveal(lesson, question, place, guess=guess, moved=guess != default)
    return int(guess)


def guess_stop(lesson: str, question: str, *, label: str, options: Sequence[float], default: float) -> float:
    """The same on a scale of stops."""
    with _screen.get().guess.container(border=True):
        place = st.container()
        guess = stops(label, options, default, key=f"{lesson}-guess")
        _reveal(lesson, question, place, guess=guess, moved=guess != default)
    return guess


def guess_answer(lesson: str, question: str, *, label: str, answers: Mapping[str, str]) -> str:
    """The same with answers to choose from, none of them chosen at first: ""; the link holds their words."""
    with _screen.get().guess.container(border=True):
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
    """Which of a lesson's pictures is looked at; before the reader has asked to see it is the first."""
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


def picture(shown: Picture, *, key: str, badge: str) -> None:
    """The chart with its sentence, and numbers on demand; and files, because all data of lessons are made up or public.

    What happens is not in it before the reader has asked to see.
    """
    shown = dataclasses.replace(
        shown,
        sentence=_as_guessed(shown.sentence),
        caption=_as_guessed(shown.caption),
        marks=[_as_marked(mark) for mark in shown.marks if not (presenting() and _left(mark))],
    )
    may_be_shown(f"{key}_chart")
    with _screen.get().picture:
        if not _screen.get().titled:
            st.markdown(f"**{shown.title}**")
        if revealed():
            draw_with_table(shown, key=key, badge=badge, title=within(shown.title), download=True)
        else:
            draw(veiled(shown), key=f"{key}_chart", badge="not measured: your guess")


def _as_marked(mark: Mark) -> Mark:
    """The same of the words at a line, once the reader has seen what happens."""
    if revealed() and isinstance(mark, Rule) and mark.role == "guess" and (_left(mark) or _before()):
        words = "the guess before" if _before() else "the guess"
        return dataclasses.replace(mark, label=mark.label.replace("your guess", words))
    return mark


def _left(mark: Mark) -> bool:
    """Whether it is where the slider of the guess was left, which is out of sight on the stage."""
    return mark.role == "guess" and not _screen.get().guessed


def told(text: str) -> None:
    """What happens, in a sentence with its number; nothing before the reader has asked to see."""
    if revealed():
        _screen.get().told.markdown(_as_guessed(text))


def warned(text: str) -> None:
    """The same where a claim of privacy is refuted."""
    if revealed():
        _screen.get().told.warning(text)


def why(formula: str, *paragraphs: str, proved: str, says: str = "") -> None:
    """The theorem typeset and what it says; more of it, and who proved it, once the reader has asked to see.

    While presenting, the formula alone.
    """
    if presenting():
        with on_stage("theorem"):
            st.latex(formula)
        return
    with _screen.get().theorem:
        st.markdown("**The theorem**")
        st.latex(formula)
        if says:
            st.markdown(says)
        if not revealed():
            return
        with st.expander("Why?"):
            for paragraph in paragraphs:
                st.markdown(paragraph)
            st.caption(f"Reference: {proved}")


def break_it(text: str, label: str, settings: Mapping[str, Setting]) -> None:
    """What to try next, once the reader has seen what happens: a button that does it, and one back.

    Args:
        text: what the reader should watch.
        label: of the button.
        settings: of controls, by their keys in the link; numbers of scales of stops as they are shown.
    """
    if not revealed():
        return
    guess = f"{_screen.get().lesson}-guess"
    with _screen.get().breaking:
        st.markdown(f"**Break it.** {text}")
        with st.container(horizontal=True):
            st.button(label, on_click=lambda: _break(settings, guess))
            before = BEFORE.value
            if before and all(SessionKey(key, None).is_set for key in before):
                st.button("Back", on_click=lambda: use(BEFORE.pop()))


def _break(settings: Mapping[str, Setting], guess: str) -> None:
    """Do it, and remember what was there, and the guess, by its control's key."""
    controls = [SessionKey[Any](key, None) for key in (*settings, guess)]
    BROKEN.value = {**settings, guess: controls[-1].value}
    BEFORE.value = {key: key.value for key in controls[:-1] if key.is_set}
    use(settings)


def use(settings: Mapping[str, Setting]) -> None:
    """Set controls, before they are drawn."""
    set_controls(settings)


def stop(value: float) -> str:
    """A stop of a scale as its control holds it."""
    return exactly(value)
