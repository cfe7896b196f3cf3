"""A visitor finds what was rehearsed. What sessions leave to each other is measured by ``bench sessions``."""

from __future__ import annotations

import time
from functools import partial

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.sessions import visiting
from benchmarks.timing import cpu_seconds
from pages.shell.server.rehearsal import VARIABLE
from tests.kit import ran
from tests.kit.browser import comes_true, no_traceback, running_server


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
            ran(_first_visit(server.url, "conversation"))
            used[rehearsed] = cpu_seconds(server.process.pid) - before
    assert used[True] < used[False] / 2


def _rests(process: int) -> bool:
    """Whether a process has no work for five seconds; a server's own chores take about a hundredth of a processor."""
    before = cpu_seconds(process)
    time.sleep(5)
    return cpu_seconds(process) - before < 0.25
