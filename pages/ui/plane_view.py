"""Explore's pictures of pairs of numbers: the true and the released map side by side, and a rectangle drawn on one."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, State
from dpcore.domains import Grid
from dpcore.experiment import ErrorReport
from dpcore.figures.heat import most_rows, released_map, shown_frames, true_map
from dpcore.recipe import Recipe
from pages.ui.brush import brushed_rectangle
from pages.ui.charts import draw, draw_selectable, is_dark, numbers


def maps(recipe: Recipe, dataset: Dataset, state: State, report: ErrorReport, *, clean: bool, badge: str) -> None:
    """Both maps in one scale of shades, and the answer to the rectangle the reader drew."""
    domain, truth = dataset.domain, dataset.histogram
    assert isinstance(domain, Grid)
    frames = shown_frames(report.problem, report.frames, clean=clean)
    left, right = st.columns(2)
    answer = st.container()
    with left:
        figure = true_map(
            domain=domain, truth=truth, most=most_rows(domain, truth, frames), badge=badge, dark=is_dark()
        )
        event = draw_selectable(figure, key="true_map", selection="brush")
        numbers(figure, title="true map", key="true_map_numbers")
    with answer:
        asked = brushed_rectangle(event, recipe, dataset, state, report)
    with right:
        figure = released_map(
            problem=report.problem, truth=truth, frames=frames, asked=asked, badge=badge, dark=is_dark()
        )
        draw(figure, key="released_map")
        numbers(figure, title="released map", key="released_map_numbers")
