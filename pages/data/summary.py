"""What is known of a chosen data set: n, cells, what missing means; and its histogram, if it may be seen."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpcore.core import Dataset, Domain, exactly
from dpcore.data.columns import Number, is_labels, is_number
from dpcore.data.dates import is_dates
from dpcore.data.product import is_map
from dpcore.data.sources import Source
from pages.charts.component import draw, show_numbers
from pages.charts.histogram import histogram, is_skewed
from pages.charts.maps import true_map
from pages.charts.words import minus, significant
from pages.data.engines import is_sealed
from pages.shell.session import DATA, in_link, remembered
from pages.shell.status import may_show

DECLARED = "Declared; none of its rows is counted for an analyst."


def cells_sentence(domain: Domain) -> str:
    """The cells, and what the last one is for."""
    if is_dates(domain):
        text = f"{domain.ordered:,} {domain.step}s from {domain.first} to {domain.last}."
        return f"{text} {_out_of_bounds_words(domain)}"
    if is_number(domain):
        unit = f" {domain.unit}" if domain.unit else ""
        low, high = _bound(domain.low), _bound(domain.high)
        text = f"{domain.ordered:,} cells of width {significant(domain.width)} from {low} to {high}{unit}."
        return f"{text} {_out_of_bounds_words(domain)}" if domain.missing else text
    if is_map(domain):
        sides = " by ".join(f"{cells:,}" for cells in domain.shape)
        text = f"{sides} cells: " + "; ".join(
            f"{side} {line.ordered} labels"
            if is_labels(line)
            else f"{side} from {_bound(line.low)} to {_bound(line.high)}{f' {line.unit}' if line.unit else ''}, "
            f"{significant(line.width)} wide"
            for side, line in zip(("across", "up"), domain.columns, strict=True)
        )
        return f"{text}. One more cell holds rows that lack either." if domain.missing else f"{text}."
    return (
        f"{domain.ordered:,} label{'s' * (domain.ordered > 1)}. One more cell holds every other value and missing ones."
    )


def _out_of_bounds_words(line: Number) -> str:
    """Where values go that do not fit."""
    if line.clamp:
        return "Values out of bounds count as the nearest bound; one more cell holds missing values."
    return "One more cell holds missing values and values out of bounds."


def _bound(number: float) -> str:
    """A declared bound, as it was typed."""
    return minus(exactly(number))


def show_summary(source: Source, *, key: str, counted: bool = True) -> None:
    """Say what is public of the data, their number if it is, and draw them if they may be seen."""
    if is_sealed(source):
        st.markdown(cells_sentence(source.domain))
        st.success(DECLARED)
        return
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    rows = f"**n = {dataset.n:,} row{'' if dataset.n == 1 else 's'}.** " if counted else ""
    st.markdown(f"{rows}{cells_sentence(source.domain)}")
    if may_show(source):
        _picture(dataset, key=key)
    else:
        st.success(f"{f'n = {dataset.n:,}, loaded' if counted else 'Loaded'}; nothing of it is shown.")


def _picture(dataset: Dataset, *, key: str) -> None:
    """The true histogram, its badge inside."""
    badge = f"true: {dataset.provenance.kind}"
    if dataset.provenance.is_private:
        badge += " · not protected: shown to the data's steward"
    if is_map(dataset.domain):
        picture = true_map(domain=dataset.domain, truth=dataset.histogram, brush=False)
    else:
        picture = histogram(
            domain=dataset.domain, n=dataset.n, truth=dataset.histogram, log=log_scale(dataset, key=f"{key}_log")
        )
    draw(picture, key=f"{key}_chart", badge=badge, download=not dataset.provenance.is_private)
    cells = "cell" if is_map(dataset.domain) else "bar"
    show_numbers(picture, title=f"rows in each {cells}", key=f"{key}_numbers")


def log_scale(dataset: Dataset, *, key: str) -> bool:
    """Whether steps are equal factors: where one bar dwarfs the rest they are, and a switch makes them equal again."""
    if not is_skewed(dataset.domain, dataset.histogram):
        return False
    switch = partial(
        st.toggle, "Log scale", value=True, help="One bar dwarfs the rest: equal factors instead of equal steps show "
        "them all.",
    )  # fmt: skip
    if dataset.provenance.is_private:  # that there is a switch tells of their counts: no link does
        return switch(key=key)
    return switch(key=in_link(key), bind="query-params")


def use_data_button(data: str, *, key: str) -> None:
    """Go to Play with these data in use."""

    def choose() -> None:
        DATA.value = data

    if st.button("Explore this data", key=key, type="primary", on_click=choose):
        # Without it, Streamlit refuses to leave a page whose controls are in the link.
        st.switch_page("play/page.py", query_params={})
