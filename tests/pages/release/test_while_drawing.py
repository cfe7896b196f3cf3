"""While the worker of the pages draws for long, others read its ledger at once, and register other data."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dprelease.ledger.stores.files
import dprelease.release as releases
from dprelease.ledger.checks import check
from dprelease.ledger.connection import open_connection
from dprelease.ledger.reading import account_in
from dprelease.ledger.records import LedgerBusy, Stored
from dprelease.ledger.store import Ledger
from pages.release import worker
from pages.release.worker import submit
from tests.kit.ledgers import ANALYST, few_rows, registered, request_of

pytestmark = pytest.mark.harness
LONG, MAX_READ, MAX_REGISTERED = 60.0, 0.05, 1.0
"""Seconds of a draw at most, of a read, and of a registration meanwhile."""
MANY = 400
"""Reads while somebody draws."""
NEARLY_ALL = 0.9
"""Of the reads: a few wait for a commit."""
DRAWN, ENOUGH = threading.Event(), threading.Event()
"""That a draw is over, and its commit, for which reads wait, may begin; and that nobody looks at it any more."""


@contextmanager
def drawing(ledger: Ledger, dataset_id: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> Iterator[Future[Any]]:
    """A draw that computes in Python, at most for so long: what leaves the other threads of its process the least."""
    DRAWN.clear()
    ENOUGH.clear()
    usual, begun = releases.draw, threading.Event()

    def long(*arguments: Any) -> Any:
        begun.set()
        end, number = time.perf_counter() + seconds, 1
        while time.perf_counter() < end and not ENOUGH.is_set():
            number = (3 * number + 1) % 1_000_003
        drawn = usual(*arguments)
        DRAWN.set()
        return drawn

    monkeypatch.setattr(releases, "draw", long)
    draw = submit(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    try:
        assert begun.wait(60)
        yield draw
    finally:
        ENOUGH.set()
        came = draw.result()
    assert isinstance(came, Stored) and check(ledger, dataset_id) == []


def seconds_of(work: Callable[[], object]) -> float:
    """Of the processor, of the draw's thread too: it computes while others wait, and other programs do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def reads(ledger: Ledger, dataset_id: str) -> list[float]:
    """Of what a page asks for each time it is shown."""
    asks: list[Callable[[], object]] = [
        lambda: ledger.account(dataset_id),
        lambda: ledger.registration(dataset_id),
        lambda: ledger.find(dataset_id, request_of().digest),
        lambda: ledger.stored(dataset_id),
    ]
    return list(map(seconds_of, asks))


def test_reads_and_registrations_do_not_wait_for_a_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    read: list[float] = []
    made: list[float] = []
    with drawing(ledger, dataset_id, LONG, monkeypatch) as draw:
        while not draw.done():
            if len(read) >= MANY:
                ENOUGH.set()
            read += reads(ledger, dataset_id)
            try:  # however busy the machine is: no read would wait for a lock while somebody draws
                with open_connection(ledger.path(dataset_id), patience=0) as connection:
                    account_in(connection)
            except LedgerBusy:
                assert DRAWN.is_set()
            if len(read) > 40 * len(made):
                made.append(seconds_of(partial(registered, tmp_path, rows=few_rows((float(len(made)),)))))
            time.sleep(0.05)
    assert len(read) > MANY and len(made) > 3
    print(f"reads: {np.quantile(read, [0.5, NEARLY_ALL, 1])}, registrations: {np.quantile(made, [0.5, 1])}")
    assert np.quantile(read, NEARLY_ALL) <= MAX_READ and max(made) <= MAX_REGISTERED


def test_reads_that_wait_for_a_draw_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def exclusive(connection: Any) -> Iterator[None]:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("COMMIT")

    monkeypatch.setattr(dprelease.ledger.stores.files, "transaction", exclusive)
    ledger, dataset_id = registered(tmp_path)
    with drawing(ledger, dataset_id, 2.0, monkeypatch):
        assert max(reads(ledger, dataset_id)) > MAX_READ


def test_reads_that_wait_for_the_processor_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "STEP", 0.05)
    before = sys.getswitchinterval()
    ledger, dataset_id = registered(tmp_path)
    with drawing(ledger, dataset_id, LONG, monkeypatch) as draw:
        # The draw's thread may be without a core for a while, and reads are quick meanwhile.
        assert any(max(reads(ledger, dataset_id)) > MAX_READ for _ in iter(draw.done, True))
    assert sys.getswitchinterval() == before, "a draw that is over leaves it as it was"
