"""Lesson: noise in every bar is about the best there is."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats, Problem, exactly
from dpcore.domains import Categories
from dpcore.figures import limits_histogram as figures
from dpcore.limits import minimax
from dpcore.mechanisms import entry
from dpcore.queries import Cells
from dpcore.randomness import Preview
from pages.ui.charts import is_dark
from pages.ui.limits_kit import THEORY, epsilon, guess_stop, picture, reference, seed, stops
from pages.ui.limits_runs import GENERATED
from pages.ui.session import remembered

RELEASES = 200


def lesson() -> None:
    """Controls, the question, the risks against ε."""
    st.markdown(
        "A histogram is released with noise in every bar, so that one person's row cannot be told. The **total error** "
        "is "
        "what all bars are off by together, as a share of n: 0 is perfect, 2 is as wrong as can be. The noise looks "
        "wasteful. Is there a cleverer way?"
    )
    left, right = st.columns(2)
    with left:
        cells = int(stops("Bars k", (2, 8, 16, 32, 64, 128, 256, 1024), 64, key="histogram-cells"))
        rows = int(stops("Rows n", (50, 100, 500, 1000, 5000, 20_000, 100_000), 1000, key="histogram-rows"))
        loss = epsilon("histogram", default=0.5)
    with right:
        held = stops("Bars that hold rows at all", (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024), 8, key="histogram-held")
        occupied = min(int(held), cells)
        drawn = seed()
    guess = guess_stop(
        "histogram",
        f"{rows:,} rows in {cells} bars, ε = {exactly(loss)}. By which factor could the cleverest private method, on "
        "its worst data, beat plain noise in every bar?",
        label="Your guess, a factor",
        options=(1, 2, 5, 10, 20, 50, 100, 1000),
        default=100,
    )
    if guess is None:
        return
    errors = remembered(
        f"limits-risk|{cells}|{rows}|{loss}|{drawn}",
        lambda: _errors(cells=cells, rows=rows, epsilon=loss, seed=drawn),
    )
    picture(
        figures.risks(
            cells=cells, occupied=occupied, rows=rows, epsilon=loss, guess=guess, measured=errors,
            badge=f"curves: exact theory · dot: simulated, {RELEASES} releases, preview sampler, seed {drawn}",
            dark=is_dark(),
        ),
        title="Total error, and what nobody can beat",
        key="histogram_risks",
    )  # fmt: skip
    bound = minimax.risk_bound(cells=cells, rows=rows, epsilon=loss)
    st.markdown(f"{bound.statement} {bound.note} {THEORY}")
    st.markdown(
        "What does help is a weaker promise: *random* differential privacy protects against data sets that the same "
        "population makes, not against all, and may leave empty bars alone."
    )
    reference(f"{bound.reference}; their equation 5 for the random-DP histogram.")


def _errors(*, cells: int, rows: int, epsilon: float, seed: int) -> Floats:
    """Total errors of identity releases, fractions of n, (RELEASES,); its law does not depend on the data."""
    domain = Categories(labels=tuple(map(str, range(cells))), missing=False)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=rows)
    dataset = Dataset(domain, np.arange(rows) % cells, GENERATED)
    mechanism = entry("identity").make(epsilon=epsilon)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials=RELEASES)
    off: Floats = np.abs(release.outcomes() - dataset.histogram).sum(axis=1) / rows
    return off
