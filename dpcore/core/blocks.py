"""Work in blocks: a generator that yields the fraction done after each block, and returns what comes of it.

Whoever runs it can show how far it is, stop it between blocks, and go on later. A long step within a block says where
it ``checkpoint``: whoever waits for it may end it there, and then begins it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Generic, TypeVar

Result = TypeVar("Result")
_cancel_check: ContextVar[Callable[[], None] | None] = ContextVar("whoever_waits", default=None)


@contextmanager
def cancellable(ask: Callable[[], None], *, every: float = 0.2) -> Iterator[None]:
    """Within it, this is called where long steps may stop, after as many seconds at least; what it raises ends them."""
    last = monotonic()

    def ask_now_and_then() -> None:
        nonlocal last
        if monotonic() - last >= every:
            ask()
            last = monotonic()

    token = _cancel_check.set(ask_now_and_then)
    try:
        yield
    finally:
        _cancel_check.reset(token)


@contextmanager
def keep_running_while(needed: Callable[[], bool]) -> Iterator[None]:
    """Within it, nobody ends a long step while others need it."""
    ask = _cancel_check.get()
    token = _cancel_check.set(lambda: None if ask is None or needed() else ask())
    try:
        yield
    finally:
        _cancel_check.reset(token)


def checkpoint() -> None:
    """Said by long steps, several times a second. They keep nothing before they are done, so any may end here."""
    if (ask := _cancel_check.get()) is not None:
        ask()


class Blocks(Generic[Result]):
    """Work that remembers its result: iterating does a block and gives the fraction done.

    Attributes:
        result: what came of it, once all blocks are done.
        broken_off: a block was not done to its end, and nobody can go on.
    """

    result: Result

    def __init__(self, work: Generator[float, None, Result]) -> None:
        self.broken_off = False
        self._blocks = self._run(work)

    def __iter__(self) -> Iterator[float]:
        """The blocks that are left."""
        return self._blocks

    def _run(self, work: Generator[float, None, Result]) -> Iterator[float]:
        try:
            self.result = yield from work
        except BaseException:
            self.broken_off = True
            raise


def paused(share: float) -> Generator[float, None, float]:
    """Yield the fraction done; gives the seconds until somebody went on, which are none of the work's own."""
    since = monotonic()
    yield share
    return monotonic() - since


def finish(work: Generator[float, None, Result]) -> Result:
    """Run work to its end and give its result."""
    blocks = Blocks(work)
    for _ in blocks:
        pass
    return blocks.result


def scaled(work: Generator[float, None, Result], done: int, parts: int) -> Generator[float, None, Result]:
    """Work that is one of several parts, of which some are done: yields what is done of all of it."""
    blocks = Blocks(work)
    for share in blocks:
        yield (done + share) / parts
    return blocks.result
