"""Whatever a mechanism keeps of private data says nothing of it when it is printed: into a log, a traceback, a page."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from dpcore import Neighbours, ParameterError, Preview, Problem, catalogue
from dpcore.core import Entry, HistogramState, Queries
from dpcore.data.columns import Labels
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.ranges import Thresholds
from dplab.measure import finish, measure
from dprelease.engines.embedded import Embedded
from dprelease.engines.tables import open_table
from tests.kit.problems import tiny_mechanism
from tests.test_caches import PLANTED, questions, rows_of

CASES = [
    pytest.param(entry, queries, id=f"{entry.key}-{type(queries.domain).__name__}-{queries.key}")
    for queries in questions()
    for entry in catalogue()
    if entry.serves(queries)
]


def reached(start: Any) -> Iterator[Any]:
    """Every object that is reached from one through attributes and containers."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, np.ndarray | str | bytes | type):
            continue
        seen.add(id(found))
        if isinstance(found, dict):
            waiting += [*found, *found.values()]
        elif isinstance(found, list | tuple | set | frozenset):
            waiting += found
        else:
            yield found
            waiting += vars(found).values() if hasattr(found, "__dict__") else []


def shown(start: Any) -> dict[str, str]:
    """What is printed with PLANTED rows in it, by the class that prints it; a memory address may have any digits."""
    printed = [
        (type(found).__name__, re.sub(r" at 0x[0-9a-f]+>", ">", repr(found)))
        for found in reached(start)
        if not isinstance(found, int | float)
    ]
    return {name: text for name, text in printed if str(PLANTED) in text or f"{PLANTED:,}" in text}


@pytest.mark.parametrize(("entry", "queries"), CASES)
def test_no_count_of_the_data_is_printed(entry: Entry, queries: Queries) -> None:
    mechanism, dataset = tiny_mechanism(entry), rows_of(queries)
    tried = 0
    for neighbours in Neighbours:
        n = dataset.n if neighbours is Neighbours.REPLACE_ONE else 8000
        problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
        try:
            mechanism.guarantee(problem)
        except ParameterError:
            continue
        state = mechanism.prepare(dataset, problem)
        kept = [dataset, state]
        if isinstance(mechanism, Interactive) and isinstance(state, HistogramState):
            kept.append(mechanism.open(state, Preview(1), 2))
        mechanism.run(state, Preview(1), 2)  # some remember what they worked out
        assert not shown(kept)
        tried += 1
    assert tried


def test_a_report_prints_no_truth() -> None:
    queries = next(queries for queries in questions() if isinstance(queries, Thresholds))
    dataset = rows_of(queries)
    problem = Problem(domain=queries.domain, queries=queries, n=dataset.n)
    mechanism = tiny_mechanism(next(entry for entry in catalogue() if entry.key == "identity"))
    report = finish(measure(mechanism, dataset, mechanism.prepare(dataset, problem), Preview(1), trials=5))
    assert report.truth[0] == PLANTED / dataset.n
    assert f"{report.truth[0]:.4f}" not in repr(report)


def test_no_number_of_rows_of_an_engine_is_printed(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT true AS smoker FROM range({PLANTED})) TO '{tmp_path / 'people.parquet'}' (FORMAT parquet)"
        )
    table = open_table(Embedded(path=tmp_path), name="people")
    snapshot = table.snapshot(DeclaredTable(columns=(DeclaredColumn(name="smoker", on=Labels(yes_no=True)),)))
    assert table.row_count == snapshot.row_count == PLANTED
    assert not shown([table, snapshot])
    assert (repr(table), repr(snapshot)) == ("EngineTable('people', columns=1)", "Snapshot('people', columns=1)")


def test_what_prints_its_counts_is_caught() -> None:
    @dataclasses.dataclass
    class Loud:
        counts: Any

    assert set(shown([{"inside": (Loud(np.array([1, PLANTED])),)}])) == {"Loud"}
