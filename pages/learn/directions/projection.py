"""Johnson–Lindenstrauss on the page's own rows: how far random projections move their inner products."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpcore.core import Floats, rounded_up
from dplab.limits.directions import PROJECTED_ROWS, distortions
from pages.learn.directions import charts
from pages.learn.directions.controls import DirectionsRequest
from pages.shell.tasks.memory import with_progress

CHANCE = 0.05
"""τ of the projections."""


def fewer_dimensions(request: DirectionsRequest, records: Floats) -> None:
    """Draw, once it is opened, the distortions of the rows (n, d) by random sign matrices, and what is guaranteed."""
    work = partial(distortions, records, chance=CHANCE, seed=request.seed)
    distortion = with_progress(f"distortions|{request.source.key}|{request.seed}", work, label="Projecting rows.")
    last, worst = distortion.dimensions[-1], float(distortion.products[-1].max())
    request.draw(charts.moved(distortion=distortion, noun="rows"), key="halfspaces_moved", title="distortions")
    st.markdown(
        f"{distortion.products.shape[1]} pairs of your rows, sampled (at most {PROJECTED_ROWS}). With T ≥ "
        "20·ln(1/τ)/ς² an inner product moves by ς or more with probability at most 2τ (Corollary 6.4), here "
        f"2τ = {2 * CHANCE:g}. As ς must be below ½, T is at least {distortion.starts}, and rows have "
        f"{distortion.before} numbers: no guarantee helps to shrink them. At T = {last:,} the worst pair moves by "
        f"{rounded_up(worst)}."
    )
