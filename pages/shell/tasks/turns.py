"""Work that several runs of pages ask for at once: one does a block, the others wait for it.

A generator can be advanced by one thread at a time; a page that is run again while its last run is within a block would
advance it a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from dpcore.core import Blocks, keep_running_while

ResultT = TypeVar("ResultT")
Work = Callable[[], Generator[float, None, ResultT]]
PATIENCE = 0.25
"""Seconds to wait for another run's block before the page shows the progress and may be left."""


class SharedWork(Generic[ResultT]):
    """Work under way that several runs wait for, of one session or of many: they take turns, one block at a time.

    A run that leaves does not end it: the next one continues between blocks. Within a block a run may leave if no other
    waits.

    Attributes:
        share: the fraction done.
        is_over: no block is left.
        error: why there is no result.
        broken_off: a run left within a block, and the work cannot continue.
    """

    def __init__(self, work: Work[ResultT]) -> None:
        self.share, self.broken_off = 0.0, False
        self.error: Exception | None = None
        self._blocks = Blocks(work())
        self._rest: Iterator[float] = iter(self._blocks)
        self._turn = Lock()
        self.is_over = False
        self._last_waited = float("-inf")

    def advance(self) -> bool:
        """Do the next block, or wait a while for the run that is doing it; return whether blocks are left."""
        if self._turn.acquire(timeout=PATIENCE):
            try:
                if not self.is_over:
                    with keep_running_while(self._is_awaited):
                        self.share = next(self._rest)
            except StopIteration:
                self.is_over = True
            except Exception as problem:
                self.error, self.is_over = problem, True
            except BaseException:
                self.broken_off = True  # first: others read it without their turn
                self.is_over = True
                raise
            finally:
                self._turn.release()
        else:
            self._last_waited = monotonic()
        return not self.is_over

    def _is_awaited(self) -> bool:
        """Return whether another run waited for this work a moment ago."""
        return monotonic() - self._last_waited < 4 * PATIENCE

    def result(self) -> ResultT:
        """Return the result of the finished work.

        Raises:
            Exception: what the work raised, for each run that waits.
        """
        if self.error is not None:
            raise self.error
        return self._blocks.result
