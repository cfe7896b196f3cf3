"""Work in blocks: a generator that yields the fraction done after each block, and returns its result.

The caller can show progress, stop between blocks, and go on later. A long step within a block calls ``checkpoint``
where it may be cancelled; a cancelled step starts again from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Generic, TypeVar

ResultT = TypeVar("ResultT")
_cancel_check: ContextVar[Callable[[], None] | None] = ContextVar("cancel_check", default=None)


@contextmanager
def cancellable(check: Callable[[], None], *, every: float = 0.2) -> Iterator[None]:
    """Call ``check`` at checkpoints, at most every so many seconds; an exception that it raises ends the step."""
    last = monotonic()

    def check_now_and_then() -> None:
        nonlocal last
        if monotonic() - last >= every:
            check()
            last = monotonic()

    token = _cancel_check.set(check_now_and_then)
    try:
        yield
    finally:
        _cancel_check.reset(token)


@contextmanager
def keep_running_while(needed: Callable[[], bool]) -> Iterator[None]:
    """Disable cancellation while other callers need the result."""
    check = _cancel_check.get()
    token = _cancel_check.set(lambda: None if check is None or needed() else check())
    try:
        yield
    finally:
        _cancel_check.reset(token)


def checkpoint() -> None:
    """Allow cancellation here; long steps call it several times a second. They store nothing before they are done."""
    if (check := _cancel_check.get()) is not None:
        check()


class Blocks(Generic[ResultT]):
    """Work in blocks that stores its result: iterating does a block and yields the fraction done.

    Attributes:
        result: the result, once all blocks are done.
    """

    result: ResultT

    def __init__(self, work: Generator[float, None, ResultT]) -> None:
        self._blocks = self._run(work)

    def __iter__(self) -> Iterator[float]:
        """Return the remaining blocks."""
        return self._blocks

    def _run(self, work: Generator[float, None, ResultT]) -> Iterator[float]:
        self.result = yield from work


def paused(share: float) -> Generator[float, None, float]:
    """Yield the fraction done; return the seconds until the caller resumed, which do not count as work."""
    since = monotonic()
    yield share
    return monotonic() - since


def finish(work: Generator[float, None, ResultT]) -> ResultT:
    """Run work to its end and return its result."""
    blocks = Blocks(work)
    for _ in blocks:
        pass
    return blocks.result


def scaled(work: Generator[float, None, ResultT], done: int, parts: int) -> Generator[float, None, ResultT]:
    """Run one of several parts of work, of which some are done: yields the fraction done of all parts."""
    blocks = Blocks(work)
    for share in blocks:
        yield (done + share) / parts
    return blocks.result
