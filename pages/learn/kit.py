"""Parts that a lesson draws on its screen: controls, pictures, result, theorem, and further settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, exactly
from dpcore.mechanisms import entry
from pages.charts.component import draw, draw_with_table
from pages.charts.picture import Curve, Dots, Mark, Picture
from pages.learn.lecture.records import without_guess
from pages.learn.pictures import hide_measured
from pages.learn.screen import SCREEN, has_current_guess, is_untouched, phrase_guess, relabel_guess, revealed
from pages.learn.stored_guess import BROKEN_SETTINGS, LessonSetting
from pages.shell.controls import check_choice, choice, number, seed, segments
from pages.shell.presentation import allow_in_presentation, is_presenting, presentation_place
from pages.shell.state import SessionKey, set_controls

SIMULATED, THEORY = ":blue-badge[simulated]", ":orange-badge[theory]"
SETTINGS_BEFORE = SessionKey[dict[str, LessonSetting]]("lesson_before", {})
"""Settings before the last "Break it"."""
GROUPS = ("What is guaranteed", "Attacks", "Limits", "Mechanisms from the papers")
"""Groups of lessons: of those whose place is 100 to 199, 200 to 299, and so on."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson, or another page in the overview.

    Attributes:
        key: link value, and name of its drawing.
        question: its title.
        place: sort key; its hundreds are the group in the overview.
        minutes: duration in a lecture.
        needs: prerequisites, in words.
        class_questions: three questions that the lesson answers.
        point: minimum and maximum of each bold number of its initial result, in order.
        show: draws it; None for another page.
        own_data: draws the view of all settings and the user's own data, if the lesson has one.
        workbench: file of the page with all settings of the lesson's system and the user's own data.
        workbench_link: link parameters of that page.
    """

    key: str
    question: str
    place: int
    minutes: int
    needs: str
    class_questions: tuple[str, str, str]
    point: tuple[tuple[float, float], ...] = ()
    show: Callable[[], None] | None = None
    own_data: Callable[[], None] | None = None
    workbench: str = ""
    workbench_link: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def address(self) -> dict[str, str]:
        """Link parameters of the lesson."""
        return {"lesson": self.key}

    @property
    def group(self) -> str:
        """Group in the overview."""
        return GROUPS[self.place // 100 - 1]


def intro(text: str) -> None:
    """Draw the lesson's introduction."""
    if record := SCREEN.get().record:
        record.intro = text
    SCREEN.get().intro.markdown(text)


def below() -> DeltaGenerator:
    """Return the container below the three columns."""
    return SCREEN.get().below


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


def pictures(lesson: str, *titles: str) -> str:
    """Draw the selection of a lesson's pictures and return it; the first before the result is revealed."""
    key = f"{lesson}-picture"
    if not revealed() or SCREEN.get().record:
        return titles[0]
    check_choice(key, titles, label="Picture")
    with SCREEN.get().switch:
        chosen = segments("Picture", titles, key=key, default=titles[0], label_visibility="collapsed")
    SCREEN.get().titled = True
    return str(chosen) if chosen in titles else titles[0]


def picture(lesson_chart: Picture, *, key: str, badge: str, presented_roles: Collection[str] = ()) -> None:
    """Draw a chart with its numbers; downloads are allowed because lessons have only public data.

    Measured marks are hidden until the result is revealed. A presentation has only the curves and dots of
    ``presented_roles``, if its legend has no room for all.
    """
    if record := SCREEN.get().record:
        return record.add_picture(lesson_chart, badge=badge)
    lesson_chart = dataclasses.replace(
        lesson_chart,
        sentence=phrase_guess(lesson_chart.sentence),
        caption=phrase_guess(lesson_chart.caption),
        marks=[
            relabel_guess(mark)
            for mark in lesson_chart.marks
            if not (is_presenting() and _is_left_out(mark, presented_roles))
        ],
    )
    allow_in_presentation(f"{key}_chart")
    with SCREEN.get().picture:
        if not SCREEN.get().titled:
            st.markdown(f"**{lesson_chart.title}**")
        if revealed():
            draw_with_table(lesson_chart, key=key, badge=badge, title="", download=True)
        else:
            draw(hide_measured(lesson_chart), key=f"{key}_chart", badge="not measured: your guess")


def _is_left_out(mark: Mark, presented_roles: Collection[str]) -> bool:
    """Return True for a mark that a presentation leaves out: an untouched guess beside the result, another role."""
    if isinstance(mark, Curve | Dots) and presented_roles:
        return mark.role not in presented_roles
    return revealed() and is_untouched(mark)


def show_result(text: str, *, verdict: str = "") -> None:
    """Draw the result, once it is revealed, and the verdict on a guess about it, which a presentation has too."""
    if not revealed():
        return
    if record := SCREEN.get().record:
        record.result = without_guess(text)
        return
    SCREEN.get().result.markdown(phrase_guess(text))
    if verdict and has_current_guess():
        with presentation_place("reveal") if is_presenting() else SCREEN.get().result:
            st.markdown(f"**{verdict}**")


def show_warning(text: str) -> None:
    """Draw a refuted privacy claim as a warning, once the result is revealed."""
    if revealed():
        SCREEN.get().result.warning(text)


def theorem(formula: str, *details: str, reference: str, meaning: str = "") -> None:
    """Draw the theorem's formula and meaning; details and reference follow once the result is revealed.

    A presentation has only the formula, and only once the result is revealed.
    """
    if record := SCREEN.get().record:
        record.formula, record.details, record.reference, record.meaning = formula, list(details), reference, meaning
        return
    if is_presenting():
        if not revealed():
            return
        with presentation_place("theorem"):
            st.latex(formula)
        return
    with SCREEN.get().theorem:
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
    if not revealed() or SCREEN.get().record:
        return
    guess = f"{SCREEN.get().lesson}-guess"
    with SCREEN.get().breaking:
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
