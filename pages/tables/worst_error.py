"""The worst error on the Tables page: the map of many releases, and the theorem beside it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpcore.core import Bound, Floats, Guarantee, Mechanism, Problem, describe_error
from dpcore.limits.bounds.applicable import lower_bound
from pages.charts.worst import TrialNouns, worst_map
from pages.shell.request import PageRequest
from pages.shell.tasks.memory import with_progress
from pages.shell.theorem import all_digits, observed, theorem_card

HEIGHT = 265
"""Pixels of the map, so that the theorem stands on the same screen."""


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


@dataclass(frozen=True, kw_only=True)
class ErrorWords:
    """The words for one kind of answers, around the map and the theorem.

    Attributes:
        observed_on: the answers whose worst is observed: "3,000 of the 201,376 queries, drawn at random".
        dots: sentences about those answers, for a reader of the map.
        called: the words of the map for queries and for all of them.
        details: a sentence about the parts of the bound, instead of its statement.
        note: a sentence below the theorem.
    """

    observed_on: str
    dots: str
    called: TrialNouns
    details: str = ""
    note: str = ""


def render_worst_error(
    request: PageRequest[Any],
    problem: Problem,
    mechanism: Mechanism,
    words: ErrorWords,
    *,
    beta: float,
    key: str,
    work: Callable[[], Generator[float, None, Floats]] | None,
    refusal: str = "",
) -> None:
    """Draw the map of the worst errors of many releases, above the theorem.

    Args:
        request: the settings.
        problem: the public problem.
        mechanism: the mechanism at these settings.
        words: the words for its answers.
        beta: the failure probability of the guaranteed error.
        key: everything that the releases depend on.
        work: previews the releases and returns the largest error of each, (T,); None where no release is possible.
        refusal: a sentence that says why no release is possible.
    """
    guarantee, bound = mechanism.guarantee(problem), mechanism.accuracy(problem, beta)
    worst = None if work is None else with_progress(f"worst|{key}", work, label="Previewing many releases.")
    st.subheader("Worst error: guaranteed and observed")
    if worst is None:
        st.info(refusal)
        sentences = []
    else:
        lower = lower_bound(problem, guarantee, beta=beta)
        picture = worst_map(
            worst=worst, n=problem.n, guarantee=guarantee, promised=bound, lower=lower, nouns=words.called
        )
        picture = replace(picture, height=HEIGHT)
        request.draw(picture, key="marginals_worst", title="worst error")
        sentences = explain(worst, bound, lower, words, private=request.private)
    render_theorem(bound, guarantee, words, n=problem.n, sentences=sentences)


def explain(worst: Floats, bound: Bound, lower: Bound | None, words: ErrorWords, *, private: bool) -> list[str]:
    """Return how often the releases broke the bound, where it is a guarantee, and how to read the map."""
    broken, on = bound.broken_by(worst), f" on {words.observed_on}"
    return [
        observed(broken, len(worst), bound, private=private, on=on),
        f"{len(worst):,} releases, each with its worst error over {words.observed_on}. {words.dots}",
        f"Hatched: impossible (lower bound). {lower.statement}" if lower else "No lower bound is known here.",
    ]


def render_theorem(bound: Bound, guarantee: Guarantee, words: ErrorWords, *, n: int, sentences: Sequence[str]) -> None:
    """Draw the theorem with its conditions, and sentences about the observed releases."""
    given = "" if bound.applies else "If the assumptions below were met"
    theorem_card(
        bound,
        guarantee,
        n=n,
        said=describe_error(bound, n=n, given=given, bold=True),
        statement=words.details,
        seen=sentences,
        note=words.note,
        covers="for all answers of a release",
    )
