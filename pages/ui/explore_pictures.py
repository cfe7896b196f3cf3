"""Explore's pictures: the data, the errors, and the promise beside what was observed."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, State
from dpcore.domains import Grid, Line
from dpcore.experiment import ErrorReport
from dpcore.figures.data import histogram
from dpcore.figures.errors import error_band
from dpcore.figures.worst import worst_error
from dpcore.limits.applicable import lower_bound
from dpcore.recipe import Recipe
from pages.ui.brush import brushed_range
from pages.ui.charts import draw, draw_selectable, is_dark, numbers
from pages.ui.plane_view import maps
from pages.ui.theorem import theorem_card


def pictures(recipe: Recipe, dataset: Dataset, state: State, report: ErrorReport, *, badge: str) -> None:
    """The data, the errors, and the promise beside what was observed."""
    if isinstance(dataset.domain, Grid):
        # Maps need the room: the errors stand below them, the theorem by itself.
        clean = _clean_up()
        maps(recipe, dataset, state, report, clean=clean, badge=badge)
        left, right = st.columns(2)
        with left:
            _band(report, badge=badge)
        with right:
            _worst(recipe, report, badge=badge)
        _theorem(recipe, report)
        return
    left, right = st.columns(2)
    with left:
        clean = _clean_up()
        figure = histogram(
            problem=report.problem, truth=dataset.histogram, frames=report.frames, badge=badge, dark=is_dark(),
            brush=True, clean=clean,
        )  # fmt: skip
        if isinstance(dataset.domain, Line):
            event = draw_selectable(figure, key="data_chart", selection="brush")
            brushed_range(event, recipe, dataset, state, report)
        else:
            draw(figure, key="data_chart")
        numbers(figure, title="true and released data", key="data_numbers")
    with right:
        _band(report, badge=badge)
    left, right = st.columns(2)
    with left:
        _worst(recipe, report, badge=badge)
    with right:
        _theorem(recipe, report)


def _clean_up() -> bool:
    """The heading of the data, and whether to show releases post-processed."""
    st.header("True and released data")
    return st.toggle(
        "Clean up (free: post-processing)", key="clean", bind="query-params",
        help="Rounds the release to whole, non-negative counts that add up to n. It touches only what is released.",
    )  # fmt: skip


def _band(report: ErrorReport, *, badge: str) -> None:
    """Errors query by query."""
    st.header("Error of every query")
    band = error_band(report=report, badge=badge, dark=is_dark())
    draw(band, key="band_chart")
    numbers(band, title="error of every query", key="band_numbers")


def _worst(recipe: Recipe, report: ErrorReport, *, badge: str) -> None:
    """The worst error beside its promise and what is impossible."""
    st.header("Worst error: promised and observed")
    lower = lower_bound(report.problem, report.guarantee, beta=recipe.beta)
    figure = worst_error(report=report, bound_lower=lower, badge=badge, dark=is_dark())
    draw(figure, key="worst_chart")
    if lower is not None:
        st.caption(f"Hatched: impossible to promise. {lower.statement}")
    numbers(figure, title="worst error", key="worst_numbers")


def _theorem(recipe: Recipe, report: ErrorReport) -> None:
    """The theorem card, with the error that was aimed at where there is one."""
    aim = dict(recipe.values).get("alpha")
    theorem_card(
        recipe.entry,
        report,
        aim=float(aim) if aim is not None else None,
        private=recipe.source.provenance.is_private,
    )
