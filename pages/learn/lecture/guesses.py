"""A class guess on both its screens: the wall, with a code and the number of guesses, and the phones."""

from __future__ import annotations

import base64
import secrets
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import ParameterError
from pages.charts.component import is_dark
from pages.charts.picture import Anchor, Axis, Bars, Picture, Rule
from pages.charts.words import significant
from pages.learn.lecture.drawing import svg
from pages.learn.lecture.rooms import OVER, GuessQuestion, GuessRoom, is_open, open_room, question_of, send_guess
from pages.learn.screen import SCREEN
from pages.shell.controls import with_thousands
from pages.shell.presentation import link, place_beside_chart, presentation_place, qr_code
from pages.shell.state import SessionKey

PARAMETER = "room"
"""Link parameter of the phones' page."""
ROOM = SessionKey[GuessRoom | None]("class_room", None)
"""The room of this session, which ends with it."""
PHONE = SessionKey("class_phone", "")
"""Random name of this session among the phones of a room."""
SENT = SessionKey[tuple[int, str]]("class_sent", (0, ""))
"""The question that this phone has answered, and what is said of it."""
COUNT_EVERY, ASK_EVERY = timedelta(seconds=3), timedelta(seconds=10)
"""From one look of the wall at the number of guesses to the next, and of a phone at the question."""
MAX_BARS, SIDE = 21, 240
"""Maximum bars of the histogram, and pixels of its sides before it is scaled."""
PHONE_STYLE = (Path(__file__).resolve().parent / "phone.css").read_text(encoding="utf-8")
"""Hides the ways to other pages."""


@contextmanager
def class_guess() -> Iterator[None]:
    """Present a lesson inside this context beside the code for phones, or offer to; the result brings their guesses."""
    room = ROOM.value
    if room is None or not is_open(room):
        ROOM.pop()
        yield
        with presentation_place("reveal"):
            st.button("Ask the class", on_click=_open, help="Phones send guesses by a QR code.")
        return
    beside = place_beside_chart()
    yield
    if (posed := SCREEN.get().posed) is None:
        return
    room.ask(posed, revealed=SCREEN.get().shown)
    with beside:
        if SCREEN.get().shown:
            _show_guesses(posed, room.values(), SCREEN.get().answer)
        else:
            address = f"{link().partition('?')[0]}?{PARAMETER}={room.name}"
            st.html(qr_code(address, alt="QR code of the page for guesses"))
            _show_count(room)


def _open() -> None:
    try:
        ROOM.value = open_room()
    except ParameterError as problem:
        st.toast(str(problem))


@st.fragment(run_every=COUNT_EVERY)
def _show_count(room: GuessRoom) -> None:
    """Draw the number of guesses: nothing else of them is sent before the result."""
    count = len(room.values())
    st.markdown(f"**{count}** guess{' is' if count == 1 else 'es are'} in")


def _show_guesses(question: GuessQuestion, guesses: Sequence[float], answer: float | None) -> None:
    """Draw the histogram of the class, as a picture in the page."""
    drawn = histogram(question, guesses, answer)
    text = svg(drawn, badge=f"{len(guesses)} guesses of the class", key="class", width=SIDE, dark=is_dark())
    source = base64.b64encode(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).encode()).decode()
    st.html(f'<img class="dpscope-class" alt="{escape(drawn.sentence)}" src="data:image/svg+xml;base64,{source}">')


def histogram(question: GuessQuestion, guesses: Sequence[float], answer: float | None) -> Picture:
    """Return the histogram of a class's guesses, with the lesson's result on the same axis."""
    values, words = np.array(question.values, dtype=np.float64), [word_for(question, each) for each in question.values]
    is_line = not question.names and bool((np.diff(values) == 1).all())
    size = -(-len(values) // MAX_BARS)
    counts = np.array([guesses.count(value) for value in question.values] + [0] * (-len(values) % size))
    counts = counts.reshape(-1, size).sum(axis=1)
    starts = (values if is_line else np.arange(len(values)))[::size] - 0.5
    axis = Axis(title=question.label.partition(", ")[2], low=float(starts[0]), high=float(starts[-1]) + size)
    place = answer
    if not is_line:
        letters = max(8, 30 // len(words))
        axis = Axis(labels=tuple(textwrap.fill(each, letters) for each in words))
        place = None if answer is None else float(np.interp(answer, values, np.arange(len(values))))
    shown = "" if answer is None else word_for(question, answer)
    highest = int(counts.max())
    marks: list[Any] = [Bars(role="guess", name="", start=starts, end=starts + size * 0.9, value=counts)]
    if place is not None:
        side: Anchor = "left" if place > np.mean(starts) else "right"
        marks.append(Rule(role="ink", x=place, label="result" if question.names else f"result {shown}", side=side))
    middle = f"; the middle one is {word_for(question, median(guesses))}" if guesses and not question.names else ""
    return Picture(
        title="The class",
        x=axis,
        y=Axis(title="guesses", low=0, high=max(1, 1.25 * highest), ticks=(0, highest) if highest else (0,)),
        marks=marks,
        sentence=f"{len(guesses)} guesses of the class{middle}. The lesson shows {shown or 'no single number'}.",
        table={"guess": words[::size], "number": counts.tolist()},
        height=SIDE,
    )


def word_for(question: GuessQuestion, value: float) -> str:
    """Return a value as it is read: an answer's name, or a number."""
    if question.names:
        return question.names[int(value)]
    return with_thousands(value) if value in question.values else significant(value)


def show_phone_page(name: str) -> None:
    """Draw the page of a phone: one question, one control, one button."""
    st.html(f"<style>{PHONE_STYLE}</style>")
    st.title("Your guess", anchor=False)
    PHONE.setdefault(secrets.token_urlsafe(12))
    _ask(name)


@st.fragment(run_every=ASK_EVERY)
def _ask(name: str) -> None:
    """Draw the room's current question."""
    try:
        question, turn, revealed = question_of(name)
    except ParameterError as problem:
        st.error(str(problem))
        return
    if question is None or revealed:
        st.info(OVER if question else "Wait for the first question.")
        return
    st.markdown(question.text)
    key, values = f"class_guess_{turn}", question.values
    if question.names:
        st.radio(question.label, values, index=None, key=key, format_func=lambda each: word_for(question, each))
    elif len(values) == values[-1] - values[0] + 1:
        st.slider(question.label, values[0], values[-1], question.default, key=key, format=question.form)
    else:
        st.select_slider(question.label, values, question.default, key=key, format_func=with_thousands)
    answered, said = SENT.value
    st.button(
        "Change my guess" if answered == turn else "Send my guess",
        on_click=_send,
        args=(name, turn, key),
        type="primary",
        width="stretch",
    )
    if answered == turn:
        st.markdown(said)


def _send(name: str, turn: int, key: str) -> None:
    """Send the value of the control; a refusal gets one sentence."""
    try:
        send_guess(name, phone=PHONE.value, turn=turn, value=SessionKey[object](key, None).value)
        SENT.value = turn, "Your guess is in. You may change it until the result is shown."
    except ParameterError as problem:
        SENT.value = turn, str(problem)
