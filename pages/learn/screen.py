"""The screen of a lesson: its three columns, the guess, and the toggle that reveals the result.

A lesson's function runs in the left column, which has its controls; its results go to the other columns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Parameter
from pages.charts.picture import Mark, Rule
from pages.learn.lecture.records import LessonRecord
from pages.learn.lecture.rooms import GuessQuestion
from pages.learn.stored_guess import BROKEN_SETTINGS, LessonSetting, is_other_question
from pages.shell.controls import check_choice, check_link, stops
from pages.shell.links import in_link, to_link
from pages.shell.presentation import hide_part, is_presenting, presentation_place, set_extra_height
from pages.shell.state import SessionKey

WIDTHS = (30, 56, 34)
"""Relative widths of the columns: guess and controls, picture, theorem."""
CONTROLS_HEIGHT = 2
"""Pixels of a presentation that a lesson's layout leaves to its chart."""


@dataclass(kw_only=True)
class Screen:
    """Containers of a lesson's parts, with its key and the state of the guess.

    ``shown``: the result is revealed. ``guessed``: the user moved the control. ``guess_is_old``: the guess was about
    another question. ``titled``: the picture has a title. ``posed``: the question, for a class. ``answer``: its result,
    as a guess. ``record``: collects the revealed lesson, which then is not drawn.
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
    posed: GuessQuestion | None = None
    answer: float | None = None
    record: LessonRecord | None = None


GuessT = TypeVar("GuessT", int, float, str | None)
SCREEN: ContextVar[Screen] = ContextVar("screen of this run's lesson")


@contextmanager
def screen(record: LessonRecord | None = None) -> Iterator[None]:
    """Draw the three columns; the context is the container of the controls. A record collects what is revealed."""
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
    SCREEN.set(
        Screen(
            intro=intro,
            guess=guess,
            switch=switch,
            picture=picture_place,
            result=result_place,
            theorem=theorem,
            breaking=breaking,
            below=st.container(),
            record=record,
        )
    )
    with controls:
        yield


def phrase_guess(text: str) -> str:
    """Return the text for an untouched slider, which is no guess, or for a guess at other settings."""
    if _guess_is_old():
        text = text.replace("you guessed", "before, you guessed").replace("You guessed", "Before, you guessed")
    if SCREEN.get().guessed:
        return text
    return text.replace("you guessed", "the slider was at").replace("You guessed", "The slider was at")


def has_current_guess() -> bool:
    """Return True if there is a guess about the current question."""
    return SCREEN.get().guessed and not _guess_is_old()


def verdict(guess: float, answer: float, *, unit: str = "", near: float = 0.5) -> str:
    """Return how far a guess was off, as a sentence; within ``near`` of the answer, or within a tenth, it was right.

    >>> verdict(1000, 144), verdict(50, 23.2, unit=" points"), verdict(8, 16), verdict(23, 23.2)
    ('Your guess was 6.9 times too high.', 'Your guess was 2.2 times too high.', 'Your guess was 2 times too low.', \
'Your guess was right.')
    >>> verdict(15, 12), verdict(4, 0, unit=" points")
    ('Your guess was 3 too high.', 'Your guess was 4 points too high.')
    """
    if drawn := SCREEN.get(None):
        drawn.answer = answer
    smaller, larger = sorted((guess, answer))
    if larger - smaller <= near or larger <= 1.1 * smaller:
        return "Your guess was right."
    ratio = larger / smaller if smaller > 0 else math.inf
    distance = f"{ratio:.2g} times" if 1.95 <= ratio < 99.5 else f"{larger - smaller:.2g}{unit}"
    return f"Your guess was {distance} too {'high' if guess > answer else 'low'}."


def grade(guess: str, answer: str, answers: Sequence[str]) -> str:
    """Return whether a choice among answers was right, as a sentence."""
    SCREEN.get().answer = list(answers).index(answer)
    return f"Your guess was {'right' if guess == answer else 'wrong'}."


def _guess_is_old() -> bool:
    """Return True if the guess was about another question or other settings."""
    return SCREEN.get().guess_is_old or _is_broken()


def _is_broken() -> bool:
    """Return True after "Break it", until the next guess."""
    settings = BROKEN_SETTINGS.value
    return f"{SCREEN.get().lesson}-guess" in settings and all(
        SessionKey[LessonSetting | None](key, None).value == value for key, value in settings.items()
    )


def _reveal(posed: GuessQuestion, place: DeltaGenerator, *, guess: LessonSetting | None, moved: bool) -> None:
    """Draw the question and the toggle that reveals the result, and update the screen's state."""
    lesson, question = posed.lesson, posed.text
    SCREEN.get().posed = posed
    if record := SCREEN.get().record:
        record.question, shown = question, True
    else:
        with presentation_place("reveal"):
            key = f"{lesson}-shown"
            shown = bool(
                st.toggle("Show what happens", key=in_link(key), bind="query-params", on_change=to_link, args=(key,))
            )
    hide_part("guess" if shown else "slider")
    SCREEN.get().shown, SCREEN.get().lesson = shown, lesson
    SCREEN.get().guessed = moved
    if not record:
        with SCREEN.get().below:
            SCREEN.get().guess_is_old = is_other_question(lesson, question, guess=guess, shown=shown)
    place.markdown(question if shown else f"**Guess first.** {question}")


def _guess(posed: GuessQuestion, control: Callable[[str], GuessT]) -> GuessT:
    """Draw a question with its control, in a presentation or in the left column, and return the guess."""
    with presentation_place("guess") if is_presenting() else SCREEN.get().guess.container(border=True):
        place = st.container()
        guess = control(f"{posed.lesson}-guess")
        _reveal(posed, place, guess=guess, moved=guess != posed.default)
    return guess


def revealed() -> bool:
    """Return True if the result is revealed."""
    return SCREEN.get().shown


def guess_number(
    lesson: str, question: str, *, label: str, high: int, default: int, low: int = 0, unit: str = ""
) -> int:
    """Draw the question with a slider and return the guess."""
    form, values = f"%d{unit}", tuple(range(low, high + 1))

    def slider(key: str) -> int:
        check_link(key, parameter=Parameter(label=label, low=low, high=high))
        return st.slider(
            label, low, high, default, key=in_link(key), format=form, bind="query-params", on_change=to_link,
            args=(key,),
        )  # fmt: skip

    posed = GuessQuestion(lesson=lesson, text=question, label=label, values=values, default=default, form=form)
    return _guess(posed, slider)


def guess_percent(lesson: str, question: str, *, default: int, of: str = "") -> int:
    """Draw the question with a slider from 0% to 100% and return the guess."""
    label = f"Your guess, percent{of}"
    return guess_number(lesson, question, label=label, high=100, default=default, unit="%%")


def guess_stop(lesson: str, question: str, *, label: str, options: Sequence[float], default: float) -> float:
    """Draw the question with a slider over given options and return the guess."""
    posed = GuessQuestion(lesson=lesson, text=question, label=label, values=tuple(options), default=default)
    return _guess(posed, lambda key: stops(label, options, default, key=key))


def guess_answer(lesson: str, question: str, *, answers: Mapping[str, str]) -> str:
    """Draw the question with radio buttons and return the answer's key, "" before a choice."""
    label, values, names = "Your guess", tuple(range(len(answers))), tuple(answers.values())

    def radio(key: str) -> str | None:
        check_choice(key, names, label=label)
        return st.radio(
            label, list(answers), index=None, key=in_link(key), format_func=answers.__getitem__, bind="query-params",
            on_change=to_link, args=(key,),
        )  # fmt: skip

    posed = GuessQuestion(lesson=lesson, text=question, label=label, values=values, names=names)
    return _guess(posed, radio) or ""


def relabel_guess(mark: Mark) -> Mark:
    """Return a guess's rule with the label for an untouched or an old guess."""
    if revealed() and isinstance(mark, Rule) and mark.role == "guess" and (is_untouched(mark) or _guess_is_old()):
        words = "the guess before" if _guess_is_old() else "the guess"
        return dataclasses.replace(mark, label=mark.label.replace("your guess", words))
    return mark


def is_untouched(mark: Mark) -> bool:
    """Return True for the rule of an untouched guess."""
    return mark.role == "guess" and not SCREEN.get().guessed
