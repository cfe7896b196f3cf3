"""A brushed range or rectangle: the true answer, the released one, and the error, for that query alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import DataRelease, Dataset, State
from dpcore.domains import Grid, Line
from dpcore.experiment import ErrorReport
from dpcore.queries import Intervals, Rectangles
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
    first, last = _cells(domain, ends)
    queries = Intervals(domain=domain)
    _answered(queries, queries.index(first, last), recipe, dataset, state, n=report.problem.n)


def brushed_rectangle(
    event: Any, recipe: Recipe, dataset: Dataset, state: State, report: ErrorReport
) -> tuple[int, int, int, int] | None:
    """Answer the rectangle the reader drew on the map, if any: its first and last cell across and up."""
    domain = dataset.domain
    if not isinstance(domain, Grid):
        return None
    picked = event.selection.get("brush") if event else None
    if not picked or not {"x", "y"} <= set(picked):
        st.caption("Drag across the true map to ask about a rectangle.")
        return None
    (left, right), (low, high) = _cells(domain.first, picked["x"]), _cells(domain.second, picked["y"])
    queries = Rectangles(domain=domain)
    _answered(queries, queries.index((left, right), (low, high)), recipe, dataset, state, n=report.problem.n)
    return left, right, low, high


def _cells(line: Line, ends: list[float]) -> tuple[int, int]:
    """First and last cell between two places of a line."""
    inside = np.clip(np.array([min(ends), max(ends)], dtype=np.float64), line.low, line.high)
    first, last = line.encode(inside).tolist()
    return first, last


def _answered(
    queries: Intervals | Rectangles, index: int, recipe: Recipe, dataset: Dataset, state: State, *, n: int
) -> None:
    """The true answer of one query, the first release's, and how far releases stray."""
    asked = np.array([index])
    truth = float(queries.answer(dataset.histogram[None, :], asked)[0, 0])
    release = recipe.mechanism().run(state, Preview(recipe.seed), trials=BRUSH_TRIALS)
    if not isinstance(release, DataRelease):
        return
    answers = queries.answer(release.histogram(), asked)[:, 0]
    error = np.abs(answers - truth)
    seen = " :orange-badge[not protected]" if dataset.provenance.is_private else ""
    st.markdown(
        f"**{queries.describe(index)}**: true {truth:,.0f} of {n:,} rows, release 1 {answers[0]:,.0f}; "
        f"half of {BRUSH_TRIALS} releases err by at most {np.median(error):,.0f} rows "
        f"({100 * np.median(error) / n:.3g}%), 95% by at most {np.quantile(error, 0.95):,.0f}. "
        f":gray-badge[true] :blue-badge[simulated]{seen}"
    )
