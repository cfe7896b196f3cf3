"""Reads of a ledger while the pages' worker draws, from its first look at the rows to the commit.

What a page asks for each time it is shown. Of a machine that does nothing else, the longest while drawing tells which
call of a draw keeps the interpreter. Reads beside a commit are told apart: they wait until the disk has it, for the
ledger's files have a rollback journal, in which nobody reads what is half written.
"""

from __future__ import annotations

import importlib
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Intervals
from dprelease.ledger.connection import FileConnection
from dprelease.ledger.records import Actor, Registration, Role, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import rehearse
from dprelease.requests.parts import Request, RequestPart
from pages.release.worker import submit

Time = tuple[float, float]
ROWS, READS = 5_000, 1_000
ASKED = (("identity", 10), ("identity", 16), ("intervals-recursive", 16))
"""Mechanisms, and the cells of the line in bits."""


def main() -> None:
    """One line for each."""
    text = "age\n" + "".join(f"{place % 100}\n" for place in range(ROWS))
    table = read_table(text.encode(), name="people.csv", header=True)
    for key, bits in ASKED:
        with tempfile.TemporaryDirectory() as folder, committing() as commits:
            every = reads(Path(folder), table, key=key, bits=bits)
        beside = {read for read in every if any(read[0] < end and start < read[1] for start, end in commits)}
        told = "; ".join(
            f"{len(some):,} {when}, median {statistics.median(some):.1f} ms, 99 of 100 below "
            f"{some[len(some) * 99 // 100]:.1f}, longest {some[-1]:.1f}"
            for when, some in (
                ("while drawing", milliseconds(set(every) - beside)), ("beside a commit", milliseconds(beside))
            )
        )  # fmt: skip
        longest = milliseconds(commits)[-1]
        print(f"{key}, {2**bits:,} cells: {told}; longest commit {longest:.1f} ms (goal while drawing: 50 ms)")


def milliseconds(times: Iterable[Time]) -> list[float]:
    """How long each took, the shortest first."""
    return sorted(1000 * (end - start) for start, end in times)


@contextmanager
def committing() -> Iterator[list[Time]]:
    """When transactions were committed, until the end of the block."""
    found = list[Time]()

    def execute(connection: FileConnection, sql: str, *values: Any) -> sqlite3.Cursor:
        start = time.perf_counter()
        try:
            return sqlite3.Connection.execute(connection, sql, *values)
        finally:
            if sql == "COMMIT":
                found.append((start, time.perf_counter()))

    with patch.object(FileConnection, "execute", execute):
        yield found


def reads(folder: Path, table: Table, *, key: str, bits: int) -> list[Time]:
    """When each read began and ended, at least READS of them, while something is drawn."""
    by, on, found = Actor(name="bench", role=Role.STEWARD), Number(high=100.0, bits=bits), list[Time]()
    fixed = Registration(name="people", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=ROWS)
    ledger = Ledger.open(folder)
    dataset_id = ledger.register(fixed, table, Price.allowed(epsilon=10_000), by).dataset_id
    draw = 0
    while len(found) < READS:
        draw += 1
        question = RequestPart(
            reading=Columns(names=("age",), on=on), queries=Intervals(domain=on), n=ROWS, entry_key=key,
            neighbours=Neighbours.ADD_REMOVE_ONE,
        )  # fmt: skip
        request = Request(parts=(question,), draw=draw)
        if draw == 1:
            importlib.import_module("pandas")  # as the server does before it answers
            rehearse(request)  # as a page does before it charges
        future = submit(ledger, dataset_id, request, table, by)
        while not future.done():
            for ask in (ledger.account, ledger.registration, partial(ledger.find, request_digest=request.digest)):
                start = time.perf_counter()
                ask(dataset_id)
                found.append((start, time.perf_counter()))
        assert isinstance(future.result(), Stored)
    return found
