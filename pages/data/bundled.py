"""The bundled real samples as cards: what each is, where it comes from, and its columns."""

from __future__ import annotations

import streamlit as st

from dpcore.data.samples import SAMPLES, Sample
from pages.data.grid import fixed_column, show_grid
from pages.data.picker import pair_titles, pick_unit, public_source
from pages.data.summary import show_summary, use_data_button
from pages.shell.links import in_link
from pages.shell.state import SessionKey

CLOSED, OPENED = 1, 7
"""Approximate heights of cards: the next card goes into the shorter column."""


def sample_cards() -> None:
    """Draw one card for each sample, in two columns if there is room."""
    st.markdown("These samples are real and public. Choose a column to see its histogram.")
    columns, heights = st.columns(2), [0, 0]
    for index, each in enumerate(SAMPLES):
        key = f"sample-{each.key}"
        opened = SessionKey(key, st.query_params.get(key, index == 0)).value
        place = heights.index(min(heights))
        heights[place] += OPENED if opened else CLOSED
        with columns[place].container(border=True):
            _card(each, opened=index == 0)


def _card(sample: Sample, *, opened: bool) -> None:
    """Draw a sample's card, with its selected column inside."""
    st.header(
        sample.title, help=f"{sample.story} Source: {sample.attribution}. Licence: {sample.licence}.", anchor=False
    )
    columns = {column.name: column.title for column in sample.columns} | pair_titles(sample.key)
    chosen = st.pills(
        f"Columns of {sample.title}",
        list(columns),
        default=next(iter(columns)) if opened else None,
        key=in_link(f"sample-{sample.key}"),
        format_func=lambda column: columns[column],
        label_visibility="collapsed",
        bind="query-params",
    )
    if chosen in columns:
        st.markdown(sample.story)
        rows = [fixed_column(each.name, each.on) for each in sample.columns]
        show_grid(rows, key=f"sample-{sample.key}-grid")
        _column(sample, str(chosen))


def _column(sample: Sample, column: str) -> None:
    """Draw the numbers and the picture of a column, or of a pair of columns."""
    data = f"{sample.key}.{column}"
    pick_unit(data)
    show_summary(public_source(data, persons=True), key=f"sample-{sample.key}-summary")
    use_data_button(data, key=f"sample-{sample.key}-explore", table=sample.key)
