"""Real salaries: the stable median, the exponential median, and a mean with noise for the whole range."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from dpcore.core import Dataset, exactly
from dpcore.data.bundled import bundled
from dplab.salaries import EPSILONS, Comparison, compare, nearest, promised_rank, ranks, refusals, some_rows
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.one_number.outcome import Outcome
from pages.one_number.over_epsilon import errors_over_epsilon, ranks_over_epsilon, refusals_over_epsilon
from pages.shell.controls import stops
from pages.shell.state import SessionKey
from pages.shell.status import badge
from pages.shell.tasks.memory import remember, with_progress
from pages.shell.theorem import lead

SALARIES = bundled("earnings", "earnings")
ROWS = (300, 1000, 3000, 10_000, 30_000, 61_395)
DELTA = 1e-6
TRIALS = 500
HEIGHT = 255
"""Pixels of a picture, so that all of a view is on one screen."""
ROWS_USED = SessionKey("salaries", exactly(ROWS[-1]))


def real_salaries(outcome: Outcome[Any]) -> None:
    """Draw error and refusals of three mechanisms over ε, with the page's ε and seed."""
    epsilon, seed = float(outcome.request.values["epsilon"]), outcome.request.seed
    words, rows_used = st.columns(2)
    with words:
        lead(
            "Hourly pay, by three mechanisms :blue-badge[simulated]",
            "The **stable median** is exact or gives no answer. The **exponential median** always answers, "
            "near the median. The **clipped mean** clips salaries to 0–100 USD and adds noise scaled to "
            "that range. It is another statistic, so its error is measured from the mean.",
        )
    help_text = (
        "A seeded sample of that many rows. More rows reduce the noise and, on average, make the median more stable."
    )
    with rows_used:
        n = int(stops("Number of salaries", ROWS, ROWS[-1], key=ROWS_USED, help_text=help_text))
    comparison = _comparison(n, seed)
    left, right = st.columns(2)
    with left:
        st.subheader("Error if there is an answer")
        picture = errors_over_epsilon(comparison=comparison, epsilon=epsilon)
        _draw(picture, seed=seed, name="error", title="error over ε")
    with right:
        st.subheader("Refusals")
        unanswered = remember(f"salaries_refusals|{n}|{seed}", lambda: refusals(comparison))
        picture = refusals_over_epsilon(comparison=comparison, sides=unanswered, epsilon=epsilon)
        _draw(picture, seed=seed, name="refusal", title="refusals over ε")
    st.caption(
        f"{TRIALS} runs at each ε.",
        help=f"{comparison.n:,} salaries: median {comparison.exact[0]:.2f}, mean {comparison.exact[2]:.2f} USD an "
        f"hour, in {SALARIES.domain.ordered:,} cells; δ = {exactly(DELTA)} for the stable median, 0 for the others. "
        f"Source: {SALARIES.provenance.source}.",
    )


def rows_off(outcome: Outcome[Any]) -> None:
    """Draw the rank error of the exponential median over ε, for the number of salaries that is selected."""
    epsilon, seed = float(outcome.request.values["epsilon"]), outcome.request.seed
    st.subheader("Rank error of the exponential median")
    n = int(float(ROWS_USED.value))
    comparison = _comparison(n, seed)
    ranks_off = remember(f"salaries_ranks|{n}|{seed}", lambda: ranks(comparison))
    promised, impossible = promised_rank(comparison, EPSILONS[nearest(epsilon)])
    picture = ranks_over_epsilon(
        comparison=comparison, sides=ranks_off, promised=promised, impossible=impossible, epsilon=epsilon
    )
    _draw(picture, seed=seed, name="rank", title="rank error over ε")


def _comparison(n: int, seed: int) -> Comparison:
    """Return the three mechanisms' previews on n salaries, computed once a session."""
    dataset: Dataset = remember(f"salaries|{n}|{seed}", lambda: some_rows(SALARIES.dataset(), n=n, seed=seed))
    return with_progress(
        f"salaries_compared|{n}|{seed}",
        lambda: compare(dataset, delta=DELTA, trials=TRIALS, seed=seed),
        label="Sampling answers at every ε.",
    )


def _draw(picture: Picture, *, seed: int, name: str, title: str) -> None:
    picture = dataclasses.replace(picture, height=HEIGHT)
    draw_with_table(picture, key=f"salaries_{name}", badge=badge(SALARIES, seed=seed), title=title, download=True)
