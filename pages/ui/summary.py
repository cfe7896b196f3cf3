"""What is known of a chosen data set: n, cells, what missing means; and its histogram, if it may be seen."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, Domain
from dpcore.domains import Line
from dpcore.figures.rows import rows_histogram
from dpcore.sources import Source
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.session import is_steward, remembered


def cells_sentence(domain: Domain) -> str:
    """The cells, and what the last one is for."""
    if isinstance(domain, Line):
        unit = f" {domain.unit}" if domain.unit else ""
        text = (
            f"{domain.ordered:,} cells of width {domain.width:.3g}{unit}, from {domain.low:g} to {domain.high:g}{unit}"
        )
        outside = "Values out of bounds count as the nearest bound. " if domain.clamp else ""
        last = "missing values" if domain.clamp else "missing values and values out of bounds"
        return f"{text}. {outside}" + (f"One more cell holds {last}; no row is dropped." if domain.missing else "")
    return f"{domain.ordered:,} labels. One more cell holds everything else, missing values too; no row is dropped."


def summary(source: Source, *, key: str) -> None:
    """Say what is public of the data, draw them if they may be seen, and offer to explore them."""
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    private = source.provenance.is_private
    size, cells = st.columns([1, 3])
    size.metric("Rows n", f"{dataset.n:,}")
    cells.markdown(cells_sentence(source.domain))
    if private and not is_steward():
        st.success(f"n = {dataset.n:,}, loaded; nothing of it is shown.")
    else:
        _picture(dataset, key=key)
    st.caption(
        "n is public: a guarantee for replacing one row hides what any row says, not how many rows there are. The unit "
        "of privacy is a row; a person with several rows is protected less."
    )


def _picture(dataset: Dataset, *, key: str) -> None:
    """The true histogram, its badge inside."""
    badge = f"true: {dataset.provenance.kind}"
    if dataset.provenance.is_private:
        badge += " · not protected: shown to the data's steward"
    figure = rows_histogram(dataset=dataset, badge=badge, dark=is_dark())
    draw(figure, key=f"{key}_chart")
    numbers(figure, title="rows in each bar", key=f"{key}_numbers")


def explore_button(data: str, *, key: str, n: int | None = None, bits: int | None = None) -> None:
    """Go to Explore with these data chosen there."""

    def choose() -> None:
        st.session_state["data"] = data
        if n is not None and bits is not None:
            st.session_state.update(n=n, bits=bits)

    if st.button("Explore this data", key=key, type="primary", on_click=choose):
        st.switch_page("explore.py")
