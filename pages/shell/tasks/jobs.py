"""Long work in a pool of threads: the page stays usable, shows the progress and can stop it; partial results are kept.

Only work on public values, such as mock data: no user's data enter the pool. When a tab is closed, its work ends.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event, Lock
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import WeakSet, ref

import streamlit as st

from dpcore.core import ParameterError, cancellable
from pages.shell.server.streamlit_internals import has_server, is_connected, session_id
from pages.shell.state import SessionKey
from pages.shell.tasks.memory import MEMORY, remember

ResultT = TypeVar("ResultT")
_pool = ThreadPoolExecutor(4, thread_name_prefix="plan")
_unfinished: WeakSet[Job[Any]] = WeakSet()
_queueing = Lock()
"""Jobs of all sessions that still have an owner, and the right to add one."""
AT_ONCE = 0.4
"""Seconds after its beginning that a page waits for work that may be quick."""
BUSY = "Too much of this work is waiting on this server. Try again in a few minutes."
CHECK_EVERY = 0.5
JOBS = SessionKey["dict[str, Job[Any]]"]("plan_jobs", {})
STOPPED = SessionKey[dict[str, str]]("plan_stopped", {})
"""Jobs under way, and the keys of stopped jobs, both by their place on the page."""


class _Cancelled(BaseException):
    """Ends a job; no handler of errors catches it."""


class Job(Generic[ResultT]):
    """Work in blocks, run by a thread of the pool; a job that its session lost before it began is not run.

    Attributes:
        key: names its inputs.
        share: the fraction done.
        begun: when it was submitted, on a clock of seconds.
        future: its result; None if it was stopped, or its tab was closed.
    """

    def __init__(
        self, key: str, work: Callable[[], Generator[float, None, ResultT]], *, pool: ThreadPoolExecutor = _pool
    ) -> None:
        self.key, self.share, self.begun, self._stopped = key, 0.0, monotonic(), Event()
        self._session = session_id()
        self._work: list[Callable[[], Generator[float, None, ResultT]]] = [work]
        self._pool = pool
        _unfinished.add(self)
        # The queue holds no job: one that was replaced, or whose session ended, would keep its uploads until its turn.
        self.future: Future[ResultT | None] = pool.submit(_run, ref(self))

    @property
    def ended(self) -> bool:
        """Whether it ended without a result, because its tab was closed and has come back."""
        return self.future.done() and self.future.exception() is None and self.future.result() is None

    def waits_in(self, pool: ThreadPoolExecutor) -> bool:
        """Return whether it waits for a thread of a pool, and is still wanted."""
        return self._pool is pool and bool(self._work) and not self._is_over()

    def stop(self) -> None:
        """End it after the current block, or where a long step can be cancelled."""
        self._stopped.set()

    def run(self) -> ResultT | None:
        """Do the work, once; return its result, or None if it was stopped."""
        generator = self._work.pop()()
        while not self._is_over():
            try:
                with cancellable(self._check):
                    self.share = next(generator)
            except _Cancelled:
                return None
            except StopIteration as done:
                result: ResultT = done.value
                return result
        generator.close()
        return None

    def _check(self) -> None:
        """Raise _Cancelled if the job was stopped, or its tab was closed."""
        if self._is_over():
            raise _Cancelled

    def _is_over(self) -> bool:
        """Return whether it was stopped, or its tab was closed."""
        return self._stopped.is_set() or (has_server() and not is_connected(self._session))


def _run(waiting: ref[Job[ResultT]]) -> ResultT | None:
    job = waiting()
    return None if job is None else job.run()


def in_background(
    key: str,
    work: Callable[[], Generator[float, None, ResultT]],
    *,
    so_far: Callable[[], ResultT],
    label: str,
    place: str,
    again: str = "Finished results are kept.",
    pool: ThreadPoolExecutor = _pool,
    max_waiting: int | None = None,
) -> ResultT:
    """Return the remembered result of work; while it is under way or stopped, the partial result.

    Each place of the page has one job: a new one stops it. ``again`` is the help of the button Go on.
    Work that may hold its thread for long, and cannot be stopped, has a ``pool`` of its own.

    Raises:
        DataError, ParameterError: as the work does, or because ``max_waiting`` jobs already wait for the pool.
    """
    memory = MEMORY.setdefault({})
    if key in memory:
        result: ResultT = memory[key]
        return remember(key, lambda: result)
    if _stopped().get(place) == key:
        st.button("Continue", key=f"plan_go_on_{place}", on_click=_go_on, args=(place,), help=again)
        return so_far()
    begin(key, work, place=place, pool=pool, max_waiting=max_waiting)
    job: Job[ResultT] = _jobs()[place]
    wait([job.future], timeout=max(0.0, job.begun + AT_ONCE - monotonic()))
    if not job.future.done():
        _under_way(job, label, place)
        return so_far()
    _jobs().pop(place)
    value = job.future.result()
    return so_far() if value is None else remember(key, lambda: value)


def begin(
    key: str,
    work: Callable[[], Generator[float, None, ResultT]],
    *,
    place: str,
    pool: ThreadPoolExecutor = _pool,
    max_waiting: int | None = None,
) -> None:
    """Begin work that ``in_background`` is soon asked for: begun together, several are waited for together."""
    if key in MEMORY.setdefault({}) or _stopped().get(place) == key:
        return
    job: Job[ResultT] | None = _jobs().get(place)
    if job is None or job.key != key or job.ended:
        stop(place)
        with _queueing:  # counted and added in one step
            if max_waiting is not None and sum(each.waits_in(pool) for each in _unfinished) >= max_waiting:
                raise ParameterError(BUSY)
            _jobs()[place] = Job(key, work, pool=pool)


def stop(place: str) -> None:
    """End the job at a place of the page, if there is one, and forget that it was stopped."""
    _stopped().pop(place, None)
    job = _jobs().pop(place, None)
    if job is not None:
        job.stop()


@st.fragment(run_every=CHECK_EVERY)
def _under_way(job: Job[ResultT], label: str, place: str) -> None:
    """Draw the progress and the button that stops the job."""
    if job.future.done():
        st.rerun()
    st.progress(min(job.share, 1.0), text=label)
    if st.button("Stop", key=f"plan_stop_{place}", on_click=_stop, args=(job.key, place)):
        st.rerun()


def _stop(key: str, place: str) -> None:
    stop(place)
    _stopped()[place] = key


def _go_on(place: str) -> None:
    _stopped().pop(place, None)


def _jobs() -> dict[str, Job[Any]]:
    return JOBS.setdefault({})


def _stopped() -> dict[str, str]:
    return STOPPED.setdefault({})
