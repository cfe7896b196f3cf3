"""The Limits and attacks page: choose a lesson; each asks for a guess before it shows."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.learn.attackme import lesson as attackme
from pages.learn.dimension import lesson as dimension
from pages.learn.fat import lesson as fat
from pages.learn.histogram import lesson as histogram
from pages.learn.lowbits import lesson as lowbits
from pages.learn.median import lesson as median
from pages.learn.odds import lesson as odds
from pages.learn.population import lesson as population
from pages.learn.subset import lesson as subset
from pages.learn.vc import lesson as vc
from pages.shell.controls import choice
from pages.shell.present import headline
from pages.shell.theorem import lead

LESSONS: dict[str, tuple[str, Callable[[], None]]] = {
    "attack-me": ("Attack me: counts that tell on you", attackme.lesson),
    "median": ("No private median on a long line", median.lesson),
    "vc": ("Accurate answers give the data away", vc.lesson),
    "fat": ("Weak questions give it away, too", fat.lesson),
    "dimension": ("How rich a class of questions is", dimension.lesson),
    "subset": ("Secrets from group counts", subset.lesson),
    "histogram": ("The best possible histogram", histogram.lesson),
    "odds": ("What an ε means: odds", odds.lesson),
    "population": ("Protecting people, betraying the population", population.lesson),
    "low-bits": ("The last bits of a noisy number", lowbits.lesson),
}
"""Each lesson's key in links, its title and what draws it."""


def limits() -> None:
    """The choice of a lesson, then the lesson."""
    lead(
        "What **no** private method can do, and attacks you can run to see why.",
        "However clever a method is, it cannot do this while it keeps its promise of privacy. Everything here is made "
        "up or public: nothing on this page costs privacy.",
    )
    chosen = choice("Lesson", {key: title for key, (title, _) in LESSONS.items()}, key="lesson", default="median")
    title, lesson = LESSONS[chosen]
    st.header(title)
    headline(title)
    lesson()
