"""The Python behind a page, copyable, written only while it is open."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def show_code(title: str, *, key: str, write: Callable[[], str]) -> None:
    """An expander with the code under a title; ``key`` is the expander's."""
    place = st.expander(title, key=key, on_change="rerun")
    if place.open:
        place.code(write(), language="python")
