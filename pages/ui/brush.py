"""A brushed range of the data: the true answer, the released one, and the error, for that range alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import DataRelease, Dataset, State
from dpcore.domains import Line
from dpcore.experiment import ErrorReport
from dpcore.queries import Intervals
from dpcore.randomness import Preview
from dpcore.recipe import Recipe

BRUSH_TRIALS = 200


def brushed_range(event: Any, recipe: Recipe, dataset: Dataset, state: State, report: ErrorReport) -> None:
    """Answer the range the reader drew on the histogram, if any."""
    domain = dataset.domain
    if not isinstance(domain, Line):
        return
    picked = event.selection.get("brush") if event else None
    ends = next(iter(picked.values())) if picked else None
    if not ends or len(ends) < 2:
        st.caption("Drag across the data to ask about a range.")
        return
    cells = domain.encode(np.array([min(ends), max(ends)], dtype=np.float64))
    first, last = int(cells[0]), int(max(cells[0], cells[1]))
    queries = Intervals(domain=domain)
    index = np.array([queries.index(first, last)])
    truth = float(queries.answer(dataset.histogram[None, :], index)[0, 0])
    release = recipe.mechanism().run(state, Preview(recipe.seed), trials=BRUSH_TRIALS)
    if not isinstance(release, DataRelease):
        return
    answers = queries.answer(release.histogram(), index)[:, 0]
    error = np.abs(answers - truth)
    n = report.problem.n
    seen = " :orange-badge[not protected]" if dataset.provenance.is_private else ""
    st.markdown(
        f"**{queries.describe(int(index[0]))}**: true {truth:,.0f} of {n:,} rows, release 1 {answers[0]:,.0f}; "
        f"half of {BRUSH_TRIALS} releases err by at most {np.median(error):,.0f} rows "
        f"({100 * np.median(error) / n:.3g}%), 95% by at most {np.quantile(error, 0.95):,.0f}. "
        f":gray-badge[true] :blue-badge[simulated]{seen}"
    )
