"""What is promised on either view of the Tables page: the map of many releases, and the theorem beside it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Bound, Floats, Guarantee, Problem
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.limits.chance import binomial_interval
from pages.charts.component import draw, table
from pages.charts.words import percent, rows
from pages.charts.worst import Called, worst_map
from pages.shell.session import with_progress
from pages.shell.theorem import all_digits, promise


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
    called: Called
    badge: str
    private: bool = False
    note: str = ""


def beside(
    told: Promised, *, memory: str, work: Callable[[], Generator[float, None, Floats]] | None, why_not: str = ""
) -> Floats | None:
    """The map on the left and the theorem on the right; gives the worst errors of the releases, (T,).

    Args:
        told: the promise.
        memory: of everything that the releases depend on.
        work: previews the releases and gives the largest error of each; None where there can be none.
        why_not: why there can be none: a sentence.
    """
    worst = None if work is None else with_progress(f"worst|{memory}", work, label="Previewing many releases.")
    left, right = st.columns(2)
    with left:
        st.header("Worst error: promised and observed")
        if worst is None:
            st.info(why_not)
        else:
            _map(told, worst)
    with right, st.container(border=True):
        _theorem(told, worst)
    return worst


def _map(told: Promised, worst: Floats) -> None:
    """Dots, promise and what is impossible, each with its sentence."""
    lower = lower_bound(told.problem, told.guarantee, beta=told.bound.beta)
    picture = worst_map(
        worst=worst,
        n=told.problem.n,
        guarantee=told.guarantee,
        promised=told.bound,
        lower=lower,
        called=told.called,
    )
    draw(picture, key="marginals_worst_chart", badge=told.badge, download=not told.private)
    grey = (
        "No theorem known here says what is impossible at this privacy loss."
        if lower is None
        else f"Hatched: impossible to promise. {lower.statement}"
    )
    st.caption(f"{len(worst):,} releases, each with its worst error over {told.looked_at}. {told.dots}\n\n{grey}")
    table(picture, title="worst error", key="marginals_worst_numbers")


def _theorem(told: Promised, worst: Floats | None) -> None:
    """Promise, conditions, and how often it was broken."""
    bound, n = told.bound, told.problem.n
    st.header("What is promised")
    if bound.applies:
        text = promise(bound, n=n)
    else:
        text = (
            f"If what is assumed below held: with probability at least {1 - bound.beta:g}, no query errs by more than "
            f"**{percent(bound.value)}** (≈ {rows(bound.value, n)})."
        )
    st.markdown(f"{text} :orange-badge[theory]")
    st.markdown(told.details)
    if bound.formula:
        st.latex(bound.formula)
    for assumption in bound.assumptions:
        st.markdown(f"{'✓ met' if assumption.met else '✗ **not met**'}: {assumption.text}")
    if worst is not None:
        broken = bound.broken_by(worst)
        low, high = (float(each) for each in binomial_interval(broken, len(worst)))
        seen = " :orange-badge[not protected]" if told.private else ""
        st.markdown(
            f"Observed: {broken:,} of {len(worst):,} previews erred by more than {percent(bound.value)} on "
            f"{told.looked_at}; the chance is between {low:.3g} and {high:.3g} (exact 95% interval), the theorem "
            f"allows {bound.beta:g}. :blue-badge[simulated]{seen}"
        )
    if told.note:
        st.info(told.note)
    st.caption(f"Reference: {bound.reference}.")
    st.markdown(
        f"Privacy: {told.guarantee.sentence()}, for everything a release answers.", help=all_digits(told.guarantee)
    )
