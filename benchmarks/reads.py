"""Reads of a ledger while the pages' worker draws, from its first look at the rows to the commit.

What a page asks for each time it is shown. Of a machine that does nothing else, the longest tells which call of a draw
keeps the interpreter, or how long a commit, for which reads wait.
"""

from __future__ import annotations

import importlib
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

from dpcore.core import Neighbours
from dpcore.data.domains import Line
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.ledger.records import Actor, Registration, Role, Stored
from dpcore.ledger.store import Ledger
from dpcore.ledger.units import Price
from dpcore.queries.ranges import Intervals
from dpcore.release import rehearse
from dpcore.requests.single import Request
from pages.release.worker import submit

ROWS, READS = 5_000, 1_000
ASKED = (("identity", 10), ("identity", 16), ("intervals-recursive", 16))
"""Mechanisms, and the cells of the line in bits."""


def main() -> None:
    """One line for each."""
    text = "age\n" + "".join(f"{place % 100}\n" for place in range(ROWS))
    table = read_table(text.encode(), name="people.csv", header=True)
    for key, bits in ASKED:
        with tempfile.TemporaryDirectory() as folder:
            told = sorted(1000 * seconds for seconds in reads(Path(folder), table, key=key, bits=bits))
        worst, late = told[-1], told[len(told) * 99 // 100]
        print(
            f"{key}, {2**bits:,} cells: {len(told):,} reads, median {statistics.median(told):.1f} ms, 99 of 100 below "
            f"{late:.1f}, longest {worst:.1f}"
        )


def reads(folder: Path, table: Table, *, key: str, bits: int) -> list[float]:
    """Seconds of each read, at least READS of them, while something is drawn."""
    by, on, found = Actor(name="bench", role=Role.STEWARD), Line(high=100.0, bits=bits), list[float]()
    fixed = Registration(name="people", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=ROWS)
    ledger = Ledger.open(folder)
    dataset_id = ledger.register(fixed, table, Price.allowed(epsilon=10_000), by).dataset_id
    draw = 0
    while len(found) < READS:
        draw += 1
        request = Request(
            reading=Columns(names=("age",), on=on), queries=Intervals(domain=on), n=ROWS, draw=draw, entry_key=key,
            neighbours=Neighbours.ADD_REMOVE_ONE,
        )  # fmt: skip
        if draw == 1:
            importlib.import_module("pandas")  # as the server does before it answers
            rehearse(request)  # as a page does before it charges
        future = submit(ledger, dataset_id, request, table, by)
        while not future.done():
            for ask in (ledger.account, ledger.registration, partial(ledger.find, request_digest=request.digest)):
                start = time.perf_counter()
                ask(dataset_id)
                found.append(time.perf_counter() - start)
        assert isinstance(future.result(), Stored)
    return found
