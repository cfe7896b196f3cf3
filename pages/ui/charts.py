"""Draw a figure: the picture with its sentence as alternative text, and its numbers on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st
from streamlit.elements.vega_charts import VegaLiteState

from dpcore.figures.figure import Figure


def is_dark() -> bool:
    """Whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


def _alternative(figure: Figure) -> str:
    """What stands for the picture: its title, and where its sentence is.

    Streamlit draws a chart anew when its alternative text changes, and in place when only its data do; so what
    changes with the numbers stands in the caption below.
    """
    return f"{figure.title}. The sentence below says what it shows."


def draw(figure: Figure, *, key: str) -> None:
    """The chart in place (it keeps its zoom), then its sentence."""
    st.vega_lite_chart(spec=figure.spec, key=key, width="stretch", theme=None, alt=_alternative(figure))
    st.caption(figure.sentence)


def draw_selectable(
    figure: Figure, *, key: str, selection: str, on_select: Callable[[], None] | Literal["rerun"] = "rerun"
) -> VegaLiteState:
    """The chart in place, and what the reader selected on it."""
    state = st.vega_lite_chart(
        spec=figure.spec, key=key, width="stretch", theme=None, alt=_alternative(figure),
        on_select=on_select, selection_mode=[selection],
    )  # fmt: skip
    st.caption(figure.sentence)
    return state


def hide_toolbars() -> None:
    """Take away Streamlit's own download buttons: pictures of private data are never offered as files."""
    st.html("<style>[data-testid='stElementToolbar'] { display: none; }</style>")


def numbers(figure: Figure, *, title: str, key: str) -> None:
    """The figure's table, built only when it is opened."""
    place = st.expander(f"Numbers: {title}", key=key, on_change="rerun")
    if place.open:
        place.dataframe(figure.table, hide_index=True)
