"""Long work on public data, kept for everybody: whoever opens a link when another's work is done waits for nothing.

Only of generated and bundled data, with questions that the app itself asks. What comes of anybody's file, or of a
reader's own weights, stays in that person's session.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

import streamlit as st

from dpcore.core import Blocks, finish, keep_running_while, scaled
from dpcore.data.sources import Bundled, Generated, Source
from dpcore.queries.linear import LinearQueries
from pages.shell.session import remembered, with_progress

Result = TypeVar("Result")
Work = Callable[[], Generator[float, None, Result]]


class Asked(Protocol):
    """What is worked on: rows, and what is asked of them."""

    @property
    def source(self) -> Source:
        """Where the rows come from."""

    @property
    def weights(self) -> LinearQueries | None:
        """A reader's own, if any."""


class Shared(Generic[Result]):
    """Work that is under way: of all who want it, one at a time does the next block.

    So nobody's leaving ends it: between blocks the next goes on, and within one who does it may leave if nobody waits.

    Attributes:
        share: done of it.
        is_over: no block is left to do.
        error: why it has no result.
        broken_off: whoever did a block was called away within it, and nobody can go on.
    """

    def __init__(self, work: Work[Result]) -> None:
        self.share, self.broken_off = 0.0, False
        self.error: Exception | None = None
        self._blocks = Blocks(work())
        self._left: Iterator[float] = iter(self._blocks)
        self._turn = Lock()
        self.is_over = False
        self._waited_for = float("-inf")

    def goes_on(self) -> bool:
        """Do the next block, or wait a while for whoever is at it; whether there is more to do."""
        if self._turn.acquire(timeout=PATIENCE):
            try:
                if not self.is_over:
                    with keep_running_while(self._is_waited_for):
                        self.share = next(self._left)
            except StopIteration:
                self.is_over = True
            except Exception as problem:
                self.error, self.is_over = problem, True
            except BaseException:
                self.broken_off = True  # first: others look without their turn
                self.is_over = True
                raise
            finally:
                self._turn.release()
        else:
            self._waited_for = monotonic()
        return not self.is_over

    def _is_waited_for(self) -> bool:
        """Whether others than who does the block have asked for it just now."""
        return monotonic() - self._waited_for < 4 * PATIENCE

    def result(self) -> Result:
        """What came of it.

        Raises:
            Exception: what the work raised, to everybody who waited.
        """
        if self.error is not None:
            raise self.error
        return self._blocks.result


@dataclass(frozen=True, kw_only=True, eq=False)
class Shelf:
    """What was computed of public data, by a key that tells all that went into it.

    Attributes:
        most: that is kept; what nobody has asked for the longest goes first.
        held: results.
        under_way: work without a result so far, begun by anybody; no more of it than of results.
    """

    most: int
    held: dict[str, Any] = field(default_factory=dict)
    under_way: dict[str, Shared[Any]] = field(default_factory=dict)

    def find(self, key: str) -> Any:
        """What is kept under a key, now the newest; _MISSING where nothing is."""
        with _changing:
            return _newest(self.held, key) if key in self.held else _MISSING

    def share(
        self, key: str, work: Work[Result], *, given_up: Callable[[Result], bool] = lambda _: False
    ) -> Generator[float, None, Result]:
        """The result of work that all share who ask for it before it is done; yields the fraction done.

        What was ``given_up`` is given to all of them, and not kept; and so is an error. What was broken off is begun
        anew by the next of them.
        """
        while True:
            with _changing:
                if key in self.held:
                    held: Result = _newest(self.held, key)
                    return held
                shared = self.under_way.get(key)
                if shared is None or shared.broken_off:
                    shared = Shared(work)
                _put(self.under_way, self.most, key, shared)
            while shared.goes_on():  # no lock is held or taken here: whoever is called away may be so anywhere
                yield shared.share
            if not shared.broken_off:
                break
        with _changing:
            if self.under_way.get(key) is shared:
                del self.under_way[key]
            found: Result = shared.result()
            if not given_up(found):
                _put(self.held, self.most, key, found)
        return found


PUBLIC = (Generated, Bundled)
PATIENCE = 0.25
"""Seconds to wait for somebody else's block before the page shows how far the work is, and may be left."""
_changing, _MISSING = Lock(), object()
_kept = Shelf(most=40)
"""Long work, and what it is done with."""
_parts = Shelf(most=300)
"""Small parts of such work, which other work shares: a mechanism's errors, what a stop of a slider looks like."""


def is_everybodys(asked: Asked) -> bool:
    """Whether what it gives may be kept for all sessions."""
    return isinstance(asked.source.origin, PUBLIC) and asked.weights is None


def kept(
    asked: Asked, key: str, work: Work[Result], *, label: str, given_up: Callable[[Result], bool] = lambda _: False
) -> Result:
    """Work in blocks, remembered; with a progress bar, or quietly where it has no label.

    Moving any control interrupts it between blocks; it then goes on where it was. What was ``given_up`` is the
    session's own: another may have more time.
    """
    if not is_everybodys(asked):
        return with_progress(key, work, label=label)
    slot = st.empty()  # always: an element less would shift those below, and charts that shift are drawn anew
    result: Result = _kept.find(key)
    if result is not _MISSING:
        return remembered(key, lambda: result)

    def share() -> Generator[float, None, Result]:
        return _kept.share(key, work, given_up=given_up)

    with slot.container():
        result = with_progress(key, share, label=label)
    slot.empty()
    return result


def already(asked: Asked, key: str) -> Any:
    """What is kept for everybody under a key, without any work; None where nothing is."""
    found = _kept.find(key) if is_everybodys(asked) else _MISSING
    return None if found is _MISSING else found


def made(asked: Asked, key: str, make: Callable[[], Result]) -> Result:
    """What a session remembers and is made at once; of public data it is made once for everybody."""
    if not is_everybodys(asked):
        return remembered(key, make)
    return remembered(key, lambda: finish(_kept.share(key, lambda: _at_once(make))))


def in_parts(asked: Asked, parts: Mapping[str, Work[Result]]) -> Generator[float, None, list[Result]]:
    """Work of several parts by their keys, of which none is done that was done for other work; yields the share."""
    found: list[Result] = []
    for place, (key, work) in enumerate(parts.items()):
        every = _parts.share(key, work) if is_everybodys(asked) else work()
        found.append((yield from scaled(every, place, len(parts))))
    return found


def part(asked: Asked, key: str, make: Callable[[], Result]) -> Result:
    """Something small of public data, made once for everybody; of other data it is made anew."""
    if not is_everybodys(asked):
        return make()
    return finish(_parts.share(key, lambda: _at_once(make)))


def _at_once(make: Callable[[], Result]) -> Generator[float, None, Result]:
    """Work in one block."""
    yield from ()
    return make()


def _newest(where: dict[str, Any], key: str) -> Any:
    """What is there under a key, which is now the newest."""
    found = where[key] = where.pop(key)
    return found


def _put(where: dict[str, Any], most: int, key: str, value: Any) -> None:
    """Put a value under a key, as the newest of at most so many."""
    where.pop(key, None)
    while len(where) >= most:
        where.pop(next(iter(where)))
    where[key] = value
