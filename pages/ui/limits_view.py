"""The Limits page: choose a lesson; each asks for a guess before it shows."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import (
    limits_dimension,
    limits_fat,
    limits_histogram,
    limits_lowbits,
    limits_median,
    limits_odds,
    limits_population,
    limits_subset,
    limits_vc,
)
from pages.ui.controls import choice

LESSONS: dict[str, tuple[str, Callable[[], None]]] = {
    "median": ("No private median on a long line", limits_median.lesson),
    "vc": ("Accurate answers give the data away", limits_vc.lesson),
    "fat": ("Weak questions give it away, too", limits_fat.lesson),
    "dimension": ("How rich a class of questions is", limits_dimension.lesson),
    "subset": ("Secrets from group counts", limits_subset.lesson),
    "histogram": ("The best possible histogram", limits_histogram.lesson),
    "odds": ("What an ε means: odds", limits_odds.lesson),
    "population": ("Protecting people, betraying the population", limits_population.lesson),
    "low-bits": ("The last bits of a noisy number", limits_lowbits.lesson),
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
    title, lesson = LESSONS[chosen]
    st.header(title)
    lesson()
