"""Long work on public data, kept for everybody: whoever opens a link when another's work is done waits for nothing.

Only of generated and bundled data, with questions that the app itself asks. What comes of anybody's file, or of a
reader's own weights, stays in that person's session.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from threading import Lock
from typing import Any, Protocol, TypeVar

import streamlit as st

from dpcore.data.sources import Bundled, Generated, Source
from dpcore.queries.linear import LinearQueries
from pages.shell.session import remembered, with_progress

Result = TypeVar("Result")


class Asked(Protocol):
    """What is worked on: rows, and what is asked of them."""

    @property
    def source(self) -> Source:
        """Where the rows come from."""

    @property
    def weights(self) -> LinearQueries | None:
        """A reader's own, if any."""


PUBLIC = (Generated, Bundled)
MOST, MOST_PARTS = 24, 300

_kept: dict[str, Any] = {}
"""What was computed of public data, by a key that tells all that went into it; the oldest goes first."""
_parts: dict[str, Any] = {}
"""Small parts of such work, which other work shares: a mechanism's errors, what a stop of a slider looks like."""
_keeping, _MISSING = Lock(), object()


def is_everybodys(asked: Asked) -> bool:
    """Whether what it gives may be kept for all sessions."""
    return isinstance(asked.source.origin, PUBLIC) and asked.weights is None


def kept(
    asked: Asked,
    key: str,
    work: Callable[[], Generator[float, None, Result]],
    *,
    label: str,
    given_up: Callable[[Result], bool] = lambda _: False,
) -> Result:
    """Work in blocks, remembered; with a progress bar, or quietly where it has no label.

    Moving any control interrupts it between blocks; quiet work then goes on where it was. What was ``given_up`` is the
    session's own: another may have more time.
    """
    if not is_everybodys(asked):
        return _quietly(key, work) if not label else with_progress(key, work, label=label)
    slot = st.empty()  # always: an element less would shift those below, and charts that shift are drawn anew
    result: Result = _kept.get(key, _MISSING)
    if result is _MISSING:
        with slot.container():
            result = _quietly(key, work) if not label else with_progress(key, work, label=label)
        slot.empty()
        return result if given_up(result) else _keep(_kept, MOST, key, result)
    return result


def already(asked: Asked, key: str) -> Any:
    """What is kept for everybody under a key, without any work; None where nothing is."""
    return _kept.get(key) if is_everybodys(asked) else None


def in_parts(
    asked: Asked, parts: Mapping[str, Callable[[], Generator[float, None, Result]]]
) -> Generator[float, None, list[Result]]:
    """Work of several parts by their keys, of which none is done that was done for other work; yields the share."""
    found: list[Result] = []
    for place, (key, work) in enumerate(parts.items()):
        result: Any = _parts.get(key, _MISSING) if is_everybodys(asked) else _MISSING
        if result is _MISSING:
            result = yield from _scaled(work(), place, len(parts))
            if is_everybodys(asked):
                _keep(_parts, MOST_PARTS, key, result)
        found.append(result)
    return found


def part(asked: Asked, key: str, make: Callable[[], Result]) -> Result:
    """Something small of public data, made once for everybody; of other data it is made anew."""
    if not is_everybodys(asked):
        return make()
    result: Any = _parts.get(key, _MISSING)
    return _keep(_parts, MOST_PARTS, key, make()) if result is _MISSING else result


def _keep(where: dict[str, Any], most: int, key: str, value: Result) -> Result:
    """Keep a value, and give it; others may be keeping theirs at the same time."""
    with _keeping:
        while len(where) >= most:
            where.pop(next(iter(where)))
        where[key] = value
    return value


def _scaled(work: Generator[float, None, Result], place: int, of: int) -> Generator[float, None, Result]:
    """One of several pieces of work, with its share of the whole."""
    while True:
        try:
            share = next(work)
        except StopIteration as done:
            result: Result = done.value
            return result
        yield (place + share) / of


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
