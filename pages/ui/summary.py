"""What is known of a chosen data set: n, cells, what missing means; and its histogram, if it may be seen."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dpcore.core import Dataset, Domain, exactly
from dpcore.domains import Grid, Line
from dpcore.figures.figure import minus, significant
from dpcore.figures.heat import true_map
from dpcore.figures.rows import rows_histogram
from dpcore.sources import Source
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.session import is_steward, remembered


def cells_sentence(domain: Domain) -> str:
    """The cells, and what the last one is for."""
    if isinstance(domain, Line):
        unit = f" {domain.unit}" if domain.unit else ""
        low, high = _bound(domain.low), _bound(domain.high)
        text = f"{domain.ordered:,} cells of width {significant(domain.width)} from {low} to {high}{unit}."
        if not domain.missing:
            return text
        if domain.clamp:
            return f"{text} Values out of bounds count as the nearest bound; one more cell holds missing values."
        return f"{text} One more cell holds missing values and values out of bounds."
    if isinstance(domain, Grid):
        sides = " by ".join(f"{cells:,}" for cells in domain.shape)
        text = f"{sides} cells: " + "; ".join(
            f"{side} from {_bound(line.low)} to {_bound(line.high)}{f' {line.unit}' if line.unit else ''}, "
            f"{significant(line.width)} wide"
            for side, line in (("across", domain.first), ("up", domain.second))
        )
        return f"{text}. One more cell holds rows that lack either number." if domain.missing else f"{text}."
    return (
        f"{domain.ordered:,} label{'s' * (domain.ordered > 1)}. One more cell holds every other value and missing ones."
    )


def _bound(number: float) -> str:
    """A declared bound, as it was typed."""
    return minus(exactly(number))


def summary(source: Source, *, key: str) -> None:
    """Say what is public of the data, draw them if they may be seen, and offer to explore them."""
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    private = source.provenance.is_private
    st.markdown(f"**n = {dataset.n:,} rows.** {cells_sentence(source.domain)}")
    if private and not is_steward():
        st.success(f"n = {dataset.n:,}, loaded; nothing of it is shown.")
    else:
        _picture(dataset, key=key)


def _picture(dataset: Dataset, *, key: str) -> None:
    """The true histogram, its badge inside."""
    badge = f"true: {dataset.provenance.kind}"
    if dataset.provenance.is_private:
        badge += " · not protected: shown to the data's steward"
    if isinstance(dataset.domain, Grid):
        figure = true_map(domain=dataset.domain, truth=dataset.histogram, badge=badge, dark=is_dark())
    else:
        figure = rows_histogram(dataset=dataset, badge=badge, dark=is_dark())
    draw(figure, key=f"{key}_chart")
    numbers(
        figure,
        title="rows in each cell" if isinstance(dataset.domain, Grid) else "rows in each bar",
        key=f"{key}_numbers",
    )


def explore_button(data: str, *, key: str, sizes: Mapping[str, int] | None = None) -> None:
    """Go to Explore with these data chosen there, and of generated data their sizes."""

    def choose() -> None:
        st.session_state.update({"data": data, **(sizes or {})})

    if st.button("Explore this data", key=key, type="primary", on_click=choose):
        # Without it, Streamlit refuses to leave a page whose controls are in the link.
        st.switch_page("explore.py", query_params={})
