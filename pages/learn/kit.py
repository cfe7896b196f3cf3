"""What the lessons share: bound controls, predict-then-reveal, and the line that cites."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Parameter
from dpcore.mechanisms import entry
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.shell.controls import check_choice, check_link, choice, number, seed, stops
from pages.shell.present import on_stage, presenting
from pages.shell.session import in_link

SIMULATED, THEORY = ":blue-badge[simulated]", ":orange-badge[theory]"


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
    value = number(parameter, key=f"{lesson}-epsilon", default=default)
    st.caption("← more private · more accurate →")
    return value


def relation(lesson: str, *, default: Neighbours, help_text: str) -> Neighbours:
    """Which data sets are neighbours, bound to the link."""
    titles = {str(each): each.words for each in Neighbours}
    key = f"{lesson}-neighbours"
    return Neighbours(choice("Neighbours", titles, key=key, default=str(default), help_text=help_text))


def _reveal(lesson: str, question: str, place: DeltaGenerator) -> bool:
    """Whether the reader has asked to see; as long as not, the question stands in its place."""
    shown = bool(st.toggle("Show what happens", key=in_link(f"{lesson}-shown"), bind="query-params")) or presenting()
    if shown:
        place.popover("The question", type="tertiary").markdown(question)
    else:
        place.markdown(f"**Guess first.** {question}")
    return shown


def guess_number(
    lesson: str, question: str, *, label: str, low: int, high: int, default: int, unit: str = ""
) -> int | None:
    """Ask for a number before anything is shown; the guess, or None as long as the reader has not asked to see."""
    with st.container(border=True):
        place = st.container()
        key = f"{lesson}-guess"
        check_link(key, parameter=Parameter(label=label, low=low, high=high), default=default)
        guess = st.slider(label, low, high, default, key=in_link(key), format=f"%d{unit}", bind="query-params")
        return int(guess) if _reveal(lesson, question, place) else None


def guess_stop(lesson: str, question: str, *, label: str, options: Sequence[float], default: float) -> float | None:
    """The same on a scale of stops."""
    with st.container(border=True):
        place = st.container()
        guess = stops(label, options, default, key=f"{lesson}-guess")
        return guess if _reveal(lesson, question, place) else None


def guess_answer(lesson: str, question: str, *, label: str, answers: Mapping[str, str]) -> str | None:
    """The same with answers to choose from; the link holds their keys."""
    with st.container(border=True):
        place = st.container()
        key = f"{lesson}-guess"
        check_choice(key, list(answers), label=label)
        guess = st.radio(
            label, list(answers), key=in_link(key), format_func=lambda answer: answers[answer], bind="query-params"
        )
        return str(guess) if _reveal(lesson, question, place) else None


def picture(shown: Picture, *, key: str, badge: str) -> None:
    """Heading, chart, sentence, numbers on demand; and files, because all data of lessons are made up or public."""
    st.subheader(shown.title)
    draw_with_table(shown, key=f"{key}", badge=badge, title=shown.title.lower(), download=True)


def why(formula: str, *paragraphs: str, proved: str) -> None:
    """On demand: the theorem typeset, what it says here, and who proved it. While presenting, the formula alone."""
    if presenting():
        with on_stage("theorem"):
            st.latex(formula)
        return
    with st.expander("Why?"):
        st.latex(formula)
        for paragraph in paragraphs:
            st.markdown(paragraph)
        st.caption(f"Reference: {proved}")
