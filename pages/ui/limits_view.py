"""The Limits page: choose a lesson; each asks for a guess before it shows."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import limits_median, limits_vc
from pages.ui.controls import choice

LESSONS: dict[str, tuple[str, Callable[[], None]]] = {
    "median": ("No private median on a long line", limits_median.lesson),
    "vc": ("Accurate answers give the data away", limits_vc.lesson),
}
"""Each lesson's key in links, its title and what draws it."""


def limits() -> None:
    """The choice of a lesson, then the lesson."""
    st.markdown(
        "What **no** method can do while it keeps its promise of privacy, however clever; and attacks you can run to "
        "see "
        "why. Everything here is made up or public: nothing on this page costs privacy."
    )
    chosen = choice("Lesson", {key: title for key, (title, _) in LESSONS.items()}, key="lesson")
    LESSONS[chosen][1]()
