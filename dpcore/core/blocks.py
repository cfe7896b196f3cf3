"""Work in blocks: a generator that yields the fraction done after each block, and returns what comes of it.

Whoever runs it can show how far it is, stop it between blocks, and go on later.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from time import monotonic
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Blocks(Generic[Result]):
    """Work that remembers its result: iterating does a block and gives the fraction done.

    Attributes:
        result: what came of it, once all blocks are done.
    """

    result: Result

    def __init__(self, work: Generator[float, None, Result]) -> None:
        self._blocks = self._run(work)

    def __iter__(self) -> Iterator[float]:
        """The blocks that are left."""
        return self._blocks

    def _run(self, work: Generator[float, None, Result]) -> Iterator[float]:
        self.result = yield from work


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
