"""A brushed range or rectangle: the true answer, the released one, and the error, for that query alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dpcore.core import DataRelease, Dataset, Floats, Integers, State
from dpcore.data.domains import Grid, Line
from dpcore.experiments.recipe import Recipe
from dpcore.queries.ranges import Intervals, Rectangles
from dpcore.randomness import Preview
from pages.charts.words import percent

BRUSH_TRIALS = 200


Brush = Mapping[str, list[float]]
"""Ends of what was drawn, by axis."""


def brushed_range(brush: Brush, recipe: Recipe, dataset: Dataset, state: State, frames: Floats, *, n: int) -> None:
    """Answer the range the reader drew on the histogram, if any; ``frames`` (F, size) are the releases it shows."""
    domain = dataset.domain
    if not isinstance(domain, Line):
        return
    if "x" not in brush:
        st.caption("Drag across the data to ask about a range.")
        return
    first, last = _cells(domain, brush["x"])
    queries = Intervals(domain=domain)
    _answered(queries, queries.index(first, last), recipe, dataset, state, frames, n=n)


def brushed_rectangle(
    brush: Brush, recipe: Recipe, dataset: Dataset, state: State, frames: Floats, *, n: int
) -> tuple[int, int, int, int] | None:
    """Answer the rectangle the reader drew on the map, if any: its first and last cell across and up."""
    domain = dataset.domain
    if not isinstance(domain, Grid):
        return None
    if not {"x", "y"} <= set(brush):
        st.caption("Drag across the true map to ask about a rectangle.")
        return None
    (left, right), (low, high) = _cells(domain.first, brush["x"]), _cells(domain.second, brush["y"])
    queries = Rectangles(domain=domain)
    _answered(queries, queries.index((left, right), (low, high)), recipe, dataset, state, frames, n=n)
    return left, right, low, high


def _cells(line: Line, ends: list[float]) -> tuple[int, int]:
    """First and last cell between two places of a line."""
    inside = np.clip(np.array([min(ends), max(ends)], dtype=np.float64), line.low, line.high)
    first, last = line.encode(inside).tolist()
    return first, last


def _answered(
    queries: Intervals | Rectangles,
    index: int,
    recipe: Recipe,
    dataset: Dataset,
    state: State,
    frames: Floats,
    *,
    n: int,
) -> None:
    """The true answer of one query, those of the releases that can be shown, and how far releases stray."""
    asked = np.array([index])
    truth = float(queries.answer(dataset.histogram[None, :], asked)[0, 0])
    release = recipe.mechanism().run(state, Preview(recipe.seed), trials=BRUSH_TRIALS)
    if not isinstance(release, DataRelease):
        return
    error = np.abs(queries.answer(release.histogram()[~release.refused], asked)[:, 0] - truth)
    off = (
        f"half of {len(error)} releases err by at most {np.median(error):,.0f} rows "
        f"({percent(float(np.median(error)) / n)}), 95% by at most {np.quantile(error, 0.95):,.0f}"
        if len(error)
        else f"all of {BRUSH_TRIALS} releases refused to answer"
    )
    seen = " :orange-badge[not protected]" if dataset.provenance.is_private else ""
    st.markdown(
        f"**{queries.describe(index)}**: true {truth:,.0f} of {n:,} rows{_shown(queries, asked, frames)}; {off}. "
        f":gray-badge[true] :blue-badge[simulated]{seen}"
    )


def _shown(queries: Intervals | Rectangles, asked: Integers, frames: Floats) -> str:
    """What the releases in the picture answer: which one is shown, only the browser knows."""
    answered = frames[~np.isnan(frames).any(axis=1)]
    if not len(answered):
        return ""
    answers = queries.answer(answered, asked)[:, 0]
    low, high = f"{answers.min():,.0f}", f"{answers.max():,.0f}"
    reach = low if low == high else f"{low} to {high}"
    return f", {f'the {len(answers)} releases in the picture say' if len(answers) > 1 else 'the release says'} {reach}"
