"""Long work on public data, done once for everybody: a class that opens the same link waits for one computation.

Only of generated and bundled data, with questions that the app itself asks. What comes of anybody's file, or of a
reader's own weights, stays in that person's session.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

import streamlit as st

from dpcore.data.sources import Bundled, Generated
from dpcore.experiments.recipe import Recipe
from pages.shell.session import remembered, with_progress

Result = TypeVar("Result")
PUBLIC = (Generated, Bundled)
MOST = 24

_kept: dict[str, Any] = {}
"""What was computed of public data, by a key that tells all that went into it; the oldest goes first."""


def is_everybodys(recipe: Recipe) -> bool:
    """Whether what a recipe gives may be kept for all sessions."""
    return isinstance(recipe.source.origin, PUBLIC) and recipe.weights is None


def kept(recipe: Recipe, key: str, work: Callable[[], Generator[float, None, Result]], *, label: str) -> Result:
    """Work in blocks, remembered; with a progress bar, or quietly where it has no label.

    Moving any control interrupts it between blocks; quiet work then goes on where it was.
    """
    if not is_everybodys(recipe):
        return _quietly(key, work) if not label else with_progress(key, work, label=label)
    slot = st.empty()  # always: an element less would shift those below, and charts that shift are drawn anew
    if key not in _kept:
        with slot.container():
            found = _quietly(key, work) if not label else with_progress(key, work, label=label)
        slot.empty()
        while len(_kept) >= MOST:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = found
    result: Result = _kept[key]
    return result


def _quietly(key: str, work: Callable[[], Generator[float, None, Result]]) -> Result:
    """The result of work that nobody waits for."""
    slot, begun = st.empty(), remembered(f"{key}|begun", work)

    def run() -> Result:
        while True:
            try:
                next(begun)
            except StopIteration as done:
                result: Result = done.value
                return result
            slot.empty()  # where the run may be interrupted

    return remembered(key, run)
