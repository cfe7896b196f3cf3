"""The code that does again what a page shows: shown on demand, copyable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st


def snippet(title: str, lines: Sequence[str], *, key: str) -> None:
    """Python, line by line, under a title that opens it."""
    place = st.expander(title, key=key, on_change="rerun")
    if place.open:
        place.code("\n".join(lines), language="python")


def arguments(values: Mapping[str, object]) -> str:
    """Values as they stand in a call."""
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
