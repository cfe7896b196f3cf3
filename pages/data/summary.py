"""Summary of a data set: n, cells, missing values, and its histogram if the user may see it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpcore.core import Dataset, Domain, exactly
from dpcore.data.columns import Number, is_labels, is_number
from dpcore.data.dates import is_ages, is_dates
from dpcore.data.product import is_map
from dpcore.data.sources import Source
from pages.charts.component import draw_with_table
from pages.charts.histogram import histogram, is_skewed
from pages.charts.maps import true_map
from pages.charts.words import minus, significant
from pages.data.engines import is_sealed
from pages.shell.links import in_link, linked_values
from pages.shell.session import DATA
from pages.shell.status import may_show
from pages.shell.tasks.memory import remember

DECLARED = "These columns are declared. Analysts see no counts of their rows."


def cells_sentence(domain: Domain) -> str:
    """Return a sentence about the cells and the reserved one."""
    if is_dates(domain):
        text = f"{domain.ordered:,} {domain.step}s from {domain.first} to {domain.last}."
        return f"{text} {_out_of_bounds_words(domain)}"
    if is_number(domain):
        unit = f" {domain.unit}" if domain.unit else ""
        low, high = map(_bound, domain.bounds)
        unit += f" on {domain.day}" if is_ages(domain) else ""
        cells = "whole numbers" if domain.whole else f"cells of width {significant(domain.width)}"
        text = f"{domain.ordered:,} {cells} from {low} to {high}{unit}."
        return f"{text} {_out_of_bounds_words(domain)}" if domain.missing else text
    if is_map(domain):
        sides = " by ".join(f"{cells:,}" for cells in domain.shape)
        text = f"{sides} cells: " + "; ".join(
            f"{side} {line.ordered} labels"
            if is_labels(line)
            else f"{side} from {' to '.join(map(_bound, line.bounds))}{f' {line.unit}' if line.unit else ''}, "
            f"{significant(line.width)} wide"
            for side, line in zip(("across", "up"), domain.columns, strict=True)
        )
        return f"{text}. One more cell holds rows in which either is missing." if domain.missing else f"{text}."
    return (
        f"{domain.ordered:,} label{'s' * (domain.ordered > 1)}. One more cell holds every other value and missing ones."
    )


def _out_of_bounds_words(line: Number) -> str:
    """Return a sentence on values out of bounds."""
    if line.clamp:
        return "Values out of bounds are clipped to the nearest bound. One more cell holds missing values."
    return "One more cell holds missing values and values out of bounds."


def _bound(number: float) -> str:
    """Return a declared bound as text."""
    return minus(exactly(number))


def show_summary(source: Source, *, key: str, counted: bool = True) -> None:
    """Show the public facts of the data, n if it is public, and the histogram if the user may see it."""
    if is_sealed(source):
        st.markdown(cells_sentence(source.domain))
        st.success(DECLARED)
        return
    dataset = remember(f"dataset|{source.key}", source.dataset)
    rows = f"**n = {dataset.n:,} row{'' if dataset.n == 1 else 's'}.** " if counted else ""
    st.markdown(f"{rows}{cells_sentence(source.domain)}")
    if may_show(source):
        _picture(dataset, key=key)
    else:
        st.success(f"{f'n = {dataset.n:,}, loaded' if counted else 'Loaded'}; no values are shown.")


def _picture(dataset: Dataset, *, key: str) -> None:
    """Draw the true histogram with its badge."""
    badge = f"true: {dataset.provenance.kind}"
    if dataset.provenance.is_private:
        badge += " · not protected: shown to the data owner"
    if is_map(dataset.domain):
        picture = true_map(domain=dataset.domain, truth=dataset.histogram, brush=False)
    else:
        picture = histogram(
            domain=dataset.domain, n=dataset.n, truth=dataset.histogram, log=log_scale(dataset, key=f"{key}_log")
        )
    title = f"rows in each {'cell' if is_map(dataset.domain) else 'bar'}"
    draw_with_table(picture, key=key, badge=badge, title=title, download=not dataset.provenance.is_private)


def log_scale(dataset: Dataset, *, key: str) -> bool:
    """Return True for a logarithmic axis, by a toggle that skewed data have."""
    if not is_skewed(dataset.domain, dataset.histogram):
        return False
    switch = partial(
        st.toggle, "Log scale", value=True,
        help="One bar is much larger than the rest. A log scale also shows the small bars.",
    )  # fmt: skip
    if dataset.provenance.is_private:  # the toggle's existence depends on private counts, so it is not in the link
        return switch(key=key)
    return switch(key=in_link(key), bind="query-params")


def use_data_button(data: str, *, key: str, table: str = "") -> None:
    """Draw the button that opens Play with these data, and the one that opens Plan with their table if it has one."""

    def choose() -> None:
        DATA.value = data

    with st.container(horizontal=True):
        use = st.button("Use this data", key=key, type="primary", on_click=choose)
        plan = table and st.button("Plan statistics about this table →", key=f"{key}-plan", on_click=choose)
    # With no parameters given, Streamlit refuses to leave a page whose controls are in the link.
    if use:
        st.switch_page("play/page.py", query_params={})
    if plan:
        linked_values()[DATA] = data  # Plan has no control of these data
        st.switch_page("plan/page.py", query_params={"table": table})
