"""Real salaries: the stable median against one that always answers and a mean with noise for the whole range."""

from __future__ import annotations

import dataclasses

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset, exactly
from dpcore.data.bundled import bundled
from dplab.salaries import EPSILONS, compare, nearest, promised_rank, ranks, refusals, some_rows
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.one_number.over_epsilon import errors_over_epsilon, ranks_over_epsilon, refusals_over_epsilon
from pages.shell.controls import stops
from pages.shell.session import remembered, with_progress
from pages.shell.status import badge
from pages.shell.theorem import lead

SALARIES = bundled("earnings", "earnings")
ROWS = (300, 1000, 3000, 10_000, 30_000, 61_395)
DELTA = 1e-6
TRIALS = 500
HEIGHT = 255
"""Pixels of a picture, so that all of a view is on one screen."""


def real_salaries(*, epsilon: float, seed: int, ranked: DeltaGenerator) -> None:
    """Error and refusal of three mechanisms over epsilon; computed once for each number of rows.

    Args:
        epsilon: of the page.
        seed: of the draws.
        ranked: where it says how many rows the exponential median is off.
    """
    words, rows_used = st.columns(2)
    with words:
        lead(
            "What is an hour paid? Three ways :blue-badge[simulated]",
            "The **stable median** is exact or silent. The **exponential median** always answers, near the median. The "
            "**clipped mean** cuts salaries off at 0 and 100 USD and adds noise for all of that range; it answers "
            "another question, so its error is from the mean.",
        )
    told = "A seeded draw of so many rows. More rows make the noise less and, on average, the median more stable."
    with rows_used:
        n = int(stops("Salaries used", ROWS, ROWS[-1], key="salaries", help_text=told))

    def rows() -> Dataset:
        return some_rows(SALARIES.dataset(), n=n, seed=seed)

    dataset = remembered(f"salaries|{n}|{seed}", rows)
    found = with_progress(
        f"salaries_compared|{n}|{seed}",
        lambda: compare(dataset, delta=DELTA, trials=TRIALS, seed=seed),
        label="Asking for the salaries at every ε.",
    )
    missed = remembered(f"salaries_ranks|{n}|{seed}", lambda: ranks(found))
    unanswered = remembered(f"salaries_refusals|{n}|{seed}", lambda: refusals(found))
    told = badge(SALARIES, seed=seed)

    def show(picture: Picture, *, name: str, title: str) -> None:
        """A public sample: the picture may be kept."""
        picture = dataclasses.replace(picture, height=HEIGHT)
        draw_with_table(picture, key=f"salaries_{name}", badge=told, title=title, download=True)

    left, right = st.columns(2)
    with left:
        st.subheader("Error, given an answer")
        show(errors_over_epsilon(found=found, epsilon=epsilon), name="error", title="error over ε")
    with right:
        st.subheader("Refusals")
        refused = refusals_over_epsilon(found=found, sides=unanswered, epsilon=epsilon)
        show(refused, name="refusal", title="refusals over ε")
    with ranked:
        st.subheader("Rows off: the exponential median")
        promised, impossible = promised_rank(found, EPSILONS[nearest(epsilon)])
        off = ranks_over_epsilon(found=found, sides=missed, promised=promised, impossible=impossible, epsilon=epsilon)
        show(off, name="rank", title="rows off over ε")
    st.caption(
        f"{TRIALS} runs at each ε.",
        help=f"{found.n:,} salaries: median {found.exact[0]:.2f}, mean {found.exact[2]:.2f} USD an hour, in "
        f"{SALARIES.domain.ordered:,} cells; δ = {exactly(DELTA)} for the stable median, 0 for the others. Source: "
        f"{SALARIES.provenance.source}.",
    )
