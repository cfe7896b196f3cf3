"""Long work in a pool of threads: the page goes on, shows how far it is, and can stop it; what is done is kept.

Only of public things, such as made-up rows: nothing of anybody's data is in the pool. A closed tab's
work ends.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, Generic, TypeVar

import streamlit as st

from dpcore.core import cancellable
from pages.shell.server.streamlit_internals import has_server, is_connected, session_id
from pages.shell.session import MEMORY, remembered
from pages.shell.state import SessionKey

Result = TypeVar("Result")
_pool = ThreadPoolExecutor(4, thread_name_prefix="plan")
AT_ONCE = 0.4
"""Seconds that a page waits for work that may be quick."""
LOOK_EVERY = 0.5
JOBS = SessionKey["dict[str, Job[Any]]"]("plan_jobs", {})
STOPPED = SessionKey[dict[str, str]]("plan_stopped", {})
"""The work under way, and the key of work that somebody stopped, both by its place on the page."""


class _Left(BaseException):
    """Passes by whatever takes errors for results."""


class Job(Generic[Result]):
    """One piece of work in blocks.

    Attributes:
        key: what it is.
        share: done of it.
        future: its result; None where it was stopped, or its tab was closed.
    """

    def __init__(self, key: str, work: Callable[[], Generator[float, None, Result]]) -> None:
        self.key, self.share, self._stopped = key, 0.0, Event()
        self._session = session_id()
        self.future: Future[Result | None] = _pool.submit(self._run, work)

    @property
    def ended(self) -> bool:
        """Whether it came to nothing: its tab was closed, and is back."""
        return self.future.done() and self.future.exception() is None and self.future.result() is None

    def stop(self) -> None:
        """Let it end after the block that it is in, or where a long step may stop."""
        self._stopped.set()

    def _run(self, work: Callable[[], Generator[float, None, Result]]) -> Result | None:
        generator = work()
        while not self._is_over():
            try:
                with cancellable(self._leave):
                    self.share = next(generator)
            except _Left:
                return None
            except StopIteration as done:
                result: Result = done.value
                return result
        generator.close()
        return None

    def _leave(self) -> None:
        """End a long step that nobody waits for.

        Raises:
            _Left: it was stopped, or its tab was closed.
        """
        if self._is_over():
            raise _Left

    def _is_over(self) -> bool:
        """Whether it was stopped, or its tab was closed."""
        return self._stopped.is_set() or not self._is_watched()

    def _is_watched(self) -> bool:
        """Whether somebody's tab is still open."""
        return not has_server() or is_connected(self._session)


def in_background(
    key: str,
    work: Callable[[], Generator[float, None, Result]],
    *,
    so_far: Callable[[], Result],
    label: str,
    place: str,
    again: str = "What is done is kept.",
) -> Result:
    """What comes of the work, remembered for the session; while it is under way, or stopped, what is known so far.

    Each place of the page has one such work: another one stops it. ``again`` says what going on after a stop means.

    Raises:
        DataError, ParameterError: as the work does.
    """
    memory = MEMORY.setdefault({})
    if key in memory:
        found: Result = memory[key]
        return remembered(key, lambda: found)
    jobs = _jobs()
    job: Job[Result] | None = jobs.get(place)
    if _stopped().get(place) == key:
        st.button("Go on", key=f"plan_go_on_{place}", on_click=_go_on, args=(place,), help=again)
        return so_far()
    if job is None or job.key != key or job.ended:
        stop(place)
        job = jobs[place] = Job(key, work)
    wait([job.future], timeout=AT_ONCE)
    if not job.future.done():
        _under_way(job, label, place)
        return so_far()
    jobs.pop(place)
    result = job.future.result()
    return so_far() if result is None else remembered(key, lambda: result)


def stop(place: str) -> None:
    """End what is under way at a place of the page, if anything is, and forget that it was stopped."""
    _stopped().pop(place, None)
    job = _jobs().pop(place, None)
    if job is not None:
        job.stop()


@st.fragment(run_every=LOOK_EVERY)
def _under_way(job: Job[Result], label: str, place: str) -> None:
    """How far it is, and the button that stops it."""
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
