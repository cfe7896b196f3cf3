"""Explore's pictures of pairs of numbers: the true and the released map side by side, and a rectangle drawn on one."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, State
from dpcore.data.domains import Grid
from dpcore.experiments.measure import ErrorReport
from dpcore.experiments.recipe import Recipe
from pages.charts.component import draw, table
from pages.charts.histogram import shown_releases
from pages.charts.maps import MOST_FRAMES, most_rows, released_map, true_map
from pages.play.brush import brushed_rectangle


def maps(recipe: Recipe, dataset: Dataset, state: State, report: ErrorReport, *, clean: bool, badge: str) -> None:
    """Both maps in one scale of shades, and the answer to the rectangle the reader drew."""
    domain, truth = dataset.domain, dataset.histogram
    assert isinstance(domain, Grid)
    n, download = report.problem.n, not dataset.provenance.is_private
    frames = shown_releases(report.frames, n=n, clean=clean, most=MOST_FRAMES)
    left, right = st.columns(2)
    answer = st.container()
    with left:
        picture = true_map(domain=domain, truth=truth, most=most_rows(domain, truth, frames))
        touched = draw(picture, key="true_map", badge=badge, download=download)
        table(picture, title="true map", key="true_map_numbers")
    with answer:
        asked = brushed_rectangle(touched.brush, recipe, dataset, state, frames, n=n)
    with right:
        picture = released_map(domain=domain, n=n, truth=truth, frames=frames, asked=asked)
        draw(picture, key="released_map", badge=badge, download=download)
        table(picture, title="released map", key="released_map_numbers")
