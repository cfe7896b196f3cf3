"""The worst error on the Tables page: the map of many releases, and the theorem beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Bound, Floats, Guarantee, Problem, describe_error
from dpcore.limits.bounds.applicable import lower_bound
from pages.charts.component import draw, table
from pages.charts.worst import Called, worst_map
from pages.shell.session import with_progress
from pages.shell.theorem import all_digits, observed, theorem_card

HEIGHT = 265
"""Pixels of the map, so that the theorem stands on the same screen."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeCheck:
    """A guaranteed worst error, and the observed errors it is compared with.

    Attributes:
        problem: the public problem.
        guarantee: the privacy guarantee of each release.
        bound: the guaranteed worst error.
        details: a sentence about the parts of the bound.
        observed_on: the answers whose worst is observed: "3,000 of the 201,376 queries, drawn at random".
        dots: sentences about those answers, for a reader of the map.
        words: the words of the map for queries and for all of them.
        badge: the badge of the map.
        private: whether the releases read private rows.
        note: a sentence below the theorem.
    """

    problem: Problem
    guarantee: Guarantee
    bound: Bound
    details: str
    observed_on: str
    dots: str
    words: Called
    badge: str
    private: bool = False
    note: str = ""


def render_headline(text: str, guarantee: Guarantee, *, of: str, before: str = "", more: str = "") -> None:
    """Draw a result in one sentence, and the privacy guarantee below it.

    Args:
        text: the sentence.
        guarantee: the guarantee.
        of: the answers that the guarantee covers together.
        before: a sentence before the guarantee.
        more: a sentence of the help, before the digits of the guarantee.
    """
    st.header(text)
    st.markdown(
        f"{before}Privacy: {guarantee.sentence()}, for all {of} together. :blue-badge[simulated] :gray-badge[true]",
        help=f"{more}{all_digits(guarantee) or ''}" or None,
    )


def render_worst_error(
    check: GuaranteeCheck, *, key: str, work: Callable[[], Generator[float, None, Floats]] | None, refusal: str = ""
) -> None:
    """Draw the map of the worst errors of many releases, above the theorem.

    Args:
        check: the bound and its context.
        key: everything that the releases depend on.
        work: previews the releases and returns the largest error of each, (T,); None where no release is possible.
        refusal: a sentence that says why none is.
    """
    worst = None if work is None else with_progress(f"worst|{key}", work, label="Previewing many releases.")
    st.subheader("Worst error: promised and observed")
    if worst is None:
        st.info(refusal)
    explanation = [] if worst is None else _draw_map(check, worst)
    _theorem(check, worst, explanation)


def _draw_map(check: GuaranteeCheck, worst: Floats) -> list[str]:
    """Draw observed errors, guarantee and lower bound; return sentences that explain the map."""
    lower = lower_bound(check.problem, check.guarantee, beta=check.bound.beta)
    picture = worst_map(
        worst=worst,
        n=check.problem.n,
        guarantee=check.guarantee,
        promised=check.bound,
        lower=lower,
        called=check.words,
    )
    picture = dataclasses.replace(picture, height=HEIGHT)
    draw(picture, key="marginals_worst_chart", badge=check.badge, download=not check.private)
    hatched = "No lower bound is known here." if lower is None else f"Hatched: impossible to promise. {lower.statement}"
    table(picture, title="worst error", key="marginals_worst_numbers")
    return [f"{len(worst):,} releases, each with its worst error over {check.observed_on}. {check.dots}", hatched]


def _theorem(check: GuaranteeCheck, worst: Floats | None, explanation: list[str]) -> None:
    """Draw the theorem, its conditions, and how often the releases broke it."""
    bound, seen = check.bound, []
    if worst is not None:
        broken = bound.broken_by(worst)
        on = f" on {check.observed_on}"
        seen = [observed(broken, len(worst), bound, private=check.private, on=on), *explanation]
    given = "" if bound.applies else "If what is assumed below held"
    theorem_card(
        bound,
        check.guarantee,
        n=check.problem.n,
        said=describe_error(bound, n=check.problem.n, given=given, bold=True),
        statement=check.details,
        seen=seen,
        note=check.note,
        covers="for everything a release answers",
    )
