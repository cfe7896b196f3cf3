"""Draw a figure: the picture with its sentence as alternative text, and its numbers on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpcore.figures.figure import Figure


def is_dark() -> bool:
    """Whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


def draw(
    figure: Figure, *, key: str, on_select: Callable[[], None] | str = "ignore", selections: tuple[str, ...] = ()
) -> Any:
    """The chart in place (it keeps its zoom and brush), then its sentence."""
    event = st.vega_lite_chart(
        spec=figure.spec,
        key=key,
        width="stretch",
        on_select=on_select,  # type: ignore[arg-type]  # Streamlit types this as an overload per literal
        selection_mode=list(selections) or None,
        theme=None,
        alt=figure.sentence,
    )
    st.caption(figure.sentence)
    return event


def numbers(figure: Figure, *, title: str, key: str) -> None:
    """The figure's table, built only when it is opened."""
    place = st.expander(f"Numbers: {title}", key=key, on_change="rerun")
    if place.open:
        place.dataframe(figure.table, hide_index=True)
