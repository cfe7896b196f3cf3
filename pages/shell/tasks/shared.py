"""Results of long work on public data, shared by all sessions: a link that another session opened before is fast.

Only generated and bundled data with the app's own classes of queries are shared. Results from a user's file, or from a
user's own weights, stay in that user's session.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol, TypeVar

import streamlit as st

from dpcore.core import finish, scaled
from dpcore.data.sources import Bundled, Generated, Source
from dpcore.queries.linear import LinearQueries
from pages.shell.tasks.memory import remember, with_progress
from pages.shell.tasks.turns import SharedWork, Work

ResultT = TypeVar("ResultT")


class WorkSubject(Protocol):
    """The rows that work is about, and a user's own weights."""

    @property
    def source(self) -> Source:
        """Source of the rows."""

    @property
    def weights(self) -> LinearQueries | None:
        """The user's own weights, if any."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedCache:
    """Results of work on public data, by a key that names all its inputs; the least recently used is removed first.

    Attributes:
        size: results that it holds at most.
        results: by key.
        under_way: work without a result so far; no more of it than of results.
    """

    size: int
    results: dict[str, Any] = field(default_factory=dict)
    under_way: dict[str, SharedWork[Any]] = field(default_factory=dict)

    def find(self, key: str) -> Any:
        """Return the result under a key, now the newest; _MISSING where there is none."""
        with _lock:
            return _renewed(self.results, key) if key in self.results else _MISSING

    def share(
        self, key: str, work: Work[ResultT], *, is_partial: Callable[[ResultT], bool] = lambda _: False
    ) -> Generator[float, None, ResultT]:
        """Return the result of work that all sessions share which ask for it meanwhile; yields the fraction done.

        A partial result, or an error, goes to all of them and is not kept. Work that was broken off is begun again by
        the next of them.
        """
        while True:
            with _lock:
                if key in self.results:
                    cached: ResultT = _renewed(self.results, key)
                    return cached
                shared = self.under_way.get(key)
                if shared is None or shared.broken_off:
                    shared = SharedWork(work)
                _put(self.under_way, self.size, key, shared)
            while shared.advance():  # no lock is held or taken here: Streamlit may end the run anywhere
                yield shared.share
            if not shared.broken_off:
                break
        with _lock:
            if self.under_way.get(key) is shared:
                del self.under_way[key]
            result: ResultT = shared.result()
            if not is_partial(result):
                _put(self.results, self.size, key, result)
        return result


PUBLIC = (Generated, Bundled)
_lock, _MISSING = Lock(), object()
_results = SharedCache(size=40)
"""Results of long work."""
_parts = SharedCache(size=300)
"""Small parts that several results share: a mechanism's errors, the pictures at a stop of a slider."""


def is_public_work(subject: WorkSubject) -> bool:
    """Return whether results may be shared by all sessions."""
    return isinstance(subject.source.origin, PUBLIC) and subject.weights is None


def share_with_progress(
    subject: WorkSubject,
    key: str,
    work: Work[ResultT],
    *,
    label: str,
    is_partial: Callable[[ResultT], bool] = lambda _: False,
) -> ResultT:
    """Return the remembered result of work in blocks; show a progress bar if it has a label.

    Moving any control interrupts the work between blocks; it then continues where it was. A partial result is kept for
    the session alone: another may have more time.
    """
    if not is_public_work(subject):
        return with_progress(key, work, label=label)
    slot = st.empty()  # always: without this element, Streamlit would redraw the charts below
    result: ResultT = _results.find(key)
    if result is not _MISSING:
        return remember(key, lambda: result)

    def share() -> Generator[float, None, ResultT]:
        return _results.share(key, work, is_partial=is_partial)

    with slot.container():
        result = with_progress(key, share, label=label)
    slot.empty()
    return result


def find_shared(subject: WorkSubject, key: str) -> Any:
    """Return the shared result under a key, without any work; None where there is none."""
    result = _results.find(key) if is_public_work(subject) else _MISSING
    return None if result is _MISSING else result


def share_value(subject: WorkSubject, key: str, compute: Callable[[], ResultT]) -> ResultT:
    """Return a value that is computed at once and remembered; of public data, computed once for all sessions."""
    if not is_public_work(subject):
        return remember(key, compute)
    return remember(key, lambda: finish(_results.share(key, lambda: _at_once(compute))))


def share_parts(subject: WorkSubject, parts: Mapping[str, Work[ResultT]]) -> Generator[float, None, list[ResultT]]:
    """Return the results of several parts by key, each computed once for all work on public data; yields the share."""
    results: list[ResultT] = []
    for place, (key, work) in enumerate(parts.items()):
        blocks = _parts.share(key, work) if is_public_work(subject) else work()
        results.append((yield from scaled(blocks, place, len(parts))))
    return results


def share_part(subject: WorkSubject, key: str, compute: Callable[[], ResultT]) -> ResultT:
    """Return a small value of public data, computed once for all sessions; of other data it is computed each time."""
    if not is_public_work(subject):
        return compute()
    return finish(_parts.share(key, lambda: _at_once(compute)))


def _at_once(compute: Callable[[], ResultT]) -> Generator[float, None, ResultT]:
    """Return a value as work in one block."""
    yield from ()
    return compute()


def _renewed(values: dict[str, Any], key: str) -> Any:
    """Return the value under a key, which is now the newest."""
    value = values[key] = values.pop(key)
    return value


def _put(values: dict[str, Any], size: int, key: str, value: Any) -> None:
    """Store a value as the newest of at most `size`."""
    values.pop(key, None)
    while len(values) >= size:
        values.pop(next(iter(values)))
    values[key] = value
