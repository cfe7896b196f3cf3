"""Many sessions of one server: long work of one leaves the others their turns; a visitor finds what was rehearsed."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks import sessions
from benchmarks.sessions import GREEDY, load, visiting
from benchmarks.timing import cpu_seconds
from pages.shell.server.rehearsal import VARIABLE
from tests.kit.browser import Server, comes_true, no_traceback, running_server

Result = TypeVar("Result")
ROUNDS, MOST_TIMES = 4, 2.5
"""Pairs of measurements; and how many times as long an answer may take beside long work, in one of them at least."""


@pytest.mark.full
def test_long_work_of_one_session_leaves_the_others_their_turns(
    fresh_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone and beside it by turns. At 5 ms a turn: four to seven times as long, unless all wait for a busy machine."""
    monkeypatch.setattr(sessions, "PAUSE", 0.3)
    _ran(load(fresh_server.url, sessions=1, moves=31))  # what is public is computed once for everybody

    def median(*links: str) -> float:
        return statistics.median(_ran(load(fresh_server.url, sessions=3, moves=8, greedy=links)))

    found = []
    for _ in range(ROUNDS):
        found.append(1 / median() * median(*GREEDY))
        if found[-1] < MOST_TIMES:
            return
        time.sleep(2)  # what was under way ends at its next sign of progress
    pytest.fail(f"answers take {[round(times, 1) for times in found]} times as long")


def _ran(work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of it, in a thread of its own: that of the tests may have a browser's loop."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


async def _first_visit(address: str, page: str) -> None:
    """Open a page in a new session."""
    asks = BackMsg()
    asks.rerun_script.page_name = page
    async with visiting(address) as visitor:
        await visitor._run(asks)


@pytest.mark.full
def test_a_visitor_finds_what_was_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processor time of the first visit to the page that simulates longest, whatever else the machine does."""
    used = {}
    for rehearsed in (False, True):
        monkeypatch.setenv(VARIABLE, str(int(rehearsed)))
        with running_server() as server, no_traceback(server):
            if rehearsed:
                assert comes_true(partial(_rests, server.process.pid), seconds=600)
            before = cpu_seconds(server.process.pid)
            _ran(_first_visit(server.url, "conversation"))
            used[rehearsed] = cpu_seconds(server.process.pid) - before
    assert used[True] < used[False] / 2


def _rests(process: int) -> bool:
    """Whether a process does nothing for five seconds."""
    before = cpu_seconds(process)
    time.sleep(5)
    return cpu_seconds(process) - before < 0.05
