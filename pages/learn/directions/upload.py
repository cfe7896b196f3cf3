"""Columns of one's own file as unit vectors: which ones, and the ranges a person declares for them."""

from __future__ import annotations

import streamlit as st

from dpcore.data.readings import Measure, Vectors
from dpcore.data.sources import Source
from pages.data.upload import SessionFile

MAX_COLUMNS = 16


def own_columns(held: SessionFile) -> Source | None:
    """The held file's chosen columns; None until two of them have ranges."""
    columns = st.multiselect(
        "Columns, two or more", held.table.columns, key=f"{held.prefix}vector-columns", max_selections=MAX_COLUMNS,
        persist_state="session",
        help="A row of these numbers is scaled to length 1. A row with a missing number stays in n, on no side.",
    )  # fmt: skip
    measures = [found for column in columns if (found := _declared(held, column)) is not None]
    if len(columns) < 2 or len(measures) < len(columns):
        st.caption(
            "Choose two columns or more and type a range for each. The middle of a range becomes 0. Ranges are public: "
            "never take them from private data."
        )
        return None
    axes = (f"larger {columns[0]}", f"larger {columns[1]}")
    return Source(origin=held.origin, reading=Vectors(measures=tuple(measures), axes=axes))


def _declared(held: SessionFile, column: str) -> Measure | None:
    """The range of one column, once both ends are there."""
    prefix = f"{held.prefix}vector-{held.table.columns.index(column)}-"
    places = st.columns(2)
    low, high = (
        place.number_input(
            f"{column}: {end}", value=None, step=None, format="%g", key=f"{prefix}{end}", persist_state="session",
            placeholder="type it",
        )
        for place, end in zip(places, ("from", "to"), strict=True)
    )  # fmt: skip
    if low is None or high is None:
        return None
    if not low < high:
        st.error(f"The range of {column} must begin below its end.")
        return None
    return Measure(column=column, low=float(low), high=float(high))
