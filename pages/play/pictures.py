"""Explore's pictures: the data, the errors, and the promise beside what was observed."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, State
from dpcore.data.domains import Grid, Line
from dpcore.experiments.measure import ErrorReport
from dpcore.experiments.recipe import Recipe
from dpcore.limits.bounds.applicable import lower_bound
from pages.charts.component import draw, table
from pages.charts.histogram import histogram, shown_releases
from pages.charts.worst import worst_error
from pages.data.summary import log_scale
from pages.play.brush import brushed_range
from pages.play.figures.band import error_band
from pages.play.plane import maps
from pages.shell.session import in_link
from pages.shell.theorem import observed, theorem_card


def pictures(recipe: Recipe, dataset: Dataset, state: State, report: ErrorReport, *, badge: str) -> None:
    """The data, the errors, and the promise beside what was observed."""
    download = not dataset.provenance.is_private
    if isinstance(dataset.domain, Grid):
        # Maps need the room: the errors stand below them, the theorem by itself.
        clean = _clean_up()
        maps(recipe, dataset, state, report, clean=clean, badge=badge)
        left, right = st.columns(2)
        with left:
            _band(report, badge=badge, download=download)
        with right:
            _worst(recipe, report, badge=badge, download=download)
        _theorem(recipe, report)
        return
    left, right = st.columns(2)
    with left:
        frames = shown_releases(report.frames, n=report.problem.n, clean=_clean_up())
        picture = histogram(
            domain=dataset.domain,
            n=report.problem.n,
            truth=dataset.histogram,
            frames=frames,
            brush=isinstance(dataset.domain, Line),
            log=log_scale(dataset, key="data_log"),
        )
        touched = draw(picture, key="data_chart", badge=badge, download=download)
        brushed_range(touched.brush, recipe, dataset, state, frames, n=report.problem.n)
        table(picture, title="true and released data", key="data_numbers")
    with right:
        _band(report, badge=badge, download=download)
    left, right = st.columns(2)
    with left:
        _worst(recipe, report, badge=badge, download=download)
    with right:
        _theorem(recipe, report)


def _clean_up() -> bool:
    """The heading of the data, and whether to show releases post-processed."""
    st.header("True and released data")
    return st.toggle(
        "Clean up (free: post-processing)", key=in_link("clean"), bind="query-params",
        help="Rounds the release to whole, non-negative counts that add up to n. It touches only what is released.",
    )  # fmt: skip


def _band(report: ErrorReport, *, badge: str, download: bool) -> None:
    """Errors query by query."""
    st.header("Error of every query")
    band = error_band(report)
    draw(band, key="band_chart", badge=badge, download=download)
    table(band, title="error of every query", key="band_numbers")


def _worst(recipe: Recipe, report: ErrorReport, *, badge: str, download: bool) -> None:
    """The worst error beside its promise and what is impossible."""
    st.header("Worst error: promised and observed")
    lower = lower_bound(report.problem, report.guarantee, beta=recipe.beta)
    picture = worst_error(report=report, lower=lower)
    draw(picture, key="worst_chart", badge=badge, download=download)
    if lower is not None:
        st.caption(f"Hatched: impossible to promise. {lower.statement}")
    table(picture, title="worst error", key="worst_numbers")


def _theorem(recipe: Recipe, report: ErrorReport) -> None:
    """The theorem card, with the error that was aimed at where there is one."""
    bound, seen = report.bound, []
    if len(report.answered) and bound.value < float("inf"):
        private = recipe.source.provenance.is_private
        seen = [observed(report.failures, len(report.answered), bound, private=private)]
    aim = dict(recipe.values).get("alpha")
    needs = "To say anything" if aim is None else f"To promise α = {float(aim):g}"
    theorem_card(
        bound,
        report.guarantee,
        n=report.problem.n,
        seen=seen,
        needs=needs if bound.applies and not bound.vacuous else "",
        mechanism=recipe.entry.references,
        covers="for each single release",
    )
