"""While a long draw runs, others read its ledger at once, and register other data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcore.ledger.stores.files
import dpcore.release as releases
from dpcore.ledger.checks import check
from dpcore.ledger.connection import connected
from dpcore.ledger.reading import account_in
from dpcore.ledger.records import LedgerBusy, Stored
from dpcore.ledger.store import Ledger
from dpcore.release import release
from tests.kit.ledgers import ANALYST, few_rows, registered, request_of

pytestmark = pytest.mark.harness
LONG, MOST_READ, MOST_REGISTERED = 20.0, 0.05, 1.0
"""Seconds of a draw, of a read, and of a registration meanwhile."""
DRAWN = threading.Event()
"""That a draw is over, and its commit, for which reads wait, may begin."""


@contextmanager
def drawing(
    ledger: Ledger, dataset_id: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> Iterator[threading.Thread]:
    """A thread of this process that draws for so long, as the worker of a page does."""
    DRAWN.clear()
    usual, begun, came = releases.draw, threading.Event(), []  # type: Any, threading.Event, list[Any]

    def long(*arguments: Any) -> Any:
        begun.set()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            drawn = usual(*arguments)
        DRAWN.set()
        return drawn

    monkeypatch.setattr(releases, "draw", long)
    draws = threading.Thread(target=lambda: came.append(release(ledger, dataset_id, request_of(), few_rows(), ANALYST)))
    draws.start()
    try:
        assert begun.wait(60)
        yield draws
    finally:
        draws.join()
    assert isinstance(came[0], Stored) and check(ledger, dataset_id) == []


def seconds_of(work: Callable[[], object]) -> float:
    """Of the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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
    with drawing(ledger, dataset_id, LONG, monkeypatch) as draws:
        while draws.is_alive():
            read += reads(ledger, dataset_id)
            try:  # however busy the machine is: no read would wait for a lock while somebody draws
                with connected(ledger.path(dataset_id), patience=0) as connection:
                    account_in(connection)
            except LedgerBusy:
                assert DRAWN.is_set()
            if len(read) > 40 * len(made):
                made.append(seconds_of(partial(registered, tmp_path, rows=few_rows((float(len(made)),)))))
            time.sleep(0.05)
    assert len(read) > 200 and len(made) > 3
    print(f"reads: {np.quantile(read, [0.5, 0.9, 1])}, registrations: {np.quantile(made, [0.5, 1])}")
    assert np.quantile(read, 0.9) <= MOST_READ and max(made) <= MOST_REGISTERED


def test_reads_that_wait_for_a_draw_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def exclusive(connection: Any) -> Iterator[None]:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("COMMIT")

    monkeypatch.setattr(dpcore.ledger.stores.files, "transaction", exclusive)
    ledger, dataset_id = registered(tmp_path)
    with drawing(ledger, dataset_id, 0.5, monkeypatch):
        assert max(reads(ledger, dataset_id)) > MOST_READ
