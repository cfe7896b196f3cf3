"""What is promised on either view of the Tables page: the map of many releases, and the theorem beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Bound, Floats, Guarantee, Problem, describe_error
from dpcore.limits.bounds.applicable import lower_bound
from pages.charts.component import draw, show_numbers
from pages.charts.worst import TrialNouns, worst_map
from pages.shell.session import with_progress
from pages.shell.theorem import all_digits, observed, theorem_card

HEIGHT = 265
"""Pixels of the map, so that the theorem stands on the same screen."""


@dataclass(frozen=True, kw_only=True)
class Promised:
    """A promise and what it is compared with.

    Attributes:
        problem: what is asked.
        guarantee: of each release.
        bound: the promised worst error.
        details: what the promise is made of: a sentence.
        looked_at: the answers whose worst is observed: "3,000 of the 201,376 queries, drawn at random".
        dots: how these answers were made, or what else a reader of the map must know: a sentence.
        called: what the map calls all this.
        badge: what the numbers are.
        private: whether the data are.
        note: what a reader must know besides.
    """

    problem: Problem
    guarantee: Guarantee
    bound: Bound
    details: str
    looked_at: str
    dots: str
    called: TrialNouns
    badge: str
    private: bool = False
    note: str = ""


def heading(text: str, guarantee: Guarantee, *, of: str, before: str = "", more: str = "") -> None:
    """A view in one sentence, and its privacy: of all of what, and what is said before it and with its digits."""
    st.header(text)
    st.markdown(
        f"{before}Privacy: {guarantee.sentence()}, for all {of} together. :blue-badge[simulated] :gray-badge[true]",
        help=f"{more}{all_digits(guarantee) or ''}" or None,
    )


def beside(
    told: Promised, *, memory: str, work: Callable[[], Generator[float, None, Floats]] | None, why_not: str = ""
) -> Floats | None:
    """The map above the theorem; gives the worst errors of the releases, (T,).

    Args:
        told: the promise.
        memory: of everything that the releases depend on.
        work: previews the releases and gives the largest error of each; None where there can be none.
        why_not: why there can be none: a sentence.
    """
    worst = None if work is None else with_progress(f"worst|{memory}", work, label="Previewing many releases.")
    st.subheader("Worst error: promised and observed")
    if worst is None:
        st.info(why_not)
    reading = [] if worst is None else _map(told, worst)
    _theorem(told, worst, reading)
    return worst


def _map(told: Promised, worst: Floats) -> list[str]:
    """Dots, promise and what is impossible; gives how to read them, a sentence or two each."""
    lower = lower_bound(told.problem, told.guarantee, beta=told.bound.beta)
    picture = worst_map(
        worst=worst,
        n=told.problem.n,
        guarantee=told.guarantee,
        promised=told.bound,
        lower=lower,
        nouns=told.called,
    )
    picture = dataclasses.replace(picture, height=HEIGHT)
    draw(picture, key="marginals_worst_chart", badge=told.badge, download=not told.private)
    grey = "No lower bound is known here." if lower is None else f"Hatched: impossible to promise. {lower.statement}"
    show_numbers(picture, title="worst error", key="marginals_worst_numbers")
    return [f"{len(worst):,} releases, each with its worst error over {told.looked_at}. {told.dots}", grey]


def _theorem(told: Promised, worst: Floats | None, reading: list[str]) -> None:
    """Promise, conditions, how often it was broken, and how to read the map."""
    bound, seen = told.bound, []
    if worst is not None:
        on = f" on {told.looked_at}"
        seen = [observed(bound.broken_by(worst), len(worst), bound, private=told.private, on=on), *reading]
    given = "" if bound.applies else "If what is assumed below held"
    theorem_card(
        bound,
        told.guarantee,
        n=told.problem.n,
        said=describe_error(bound, n=told.problem.n, given=given, bold=True),
        statement=told.details,
        seen=seen,
        note=told.note,
        covers="for everything a release answers",
    )
