"""No genuine release is refused: of each mechanism, of few rows or none, with little noise and much."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore.core import Dataset, Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Ages, Dates
from dpcore.data.product import Product
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.mechanisms import entry
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.tables.rows_release import SYNTHETIC_ROWS
from dpcore.queries.linear import generated
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Thresholds
from dpcore.randomness import NoisyCounts, Preview
from dprelease.certificate import certificate, unreleasable, verify
from dprelease.downloads import downloads_of
from dprelease.release import unsuitable
from dprelease.requests import file_checks
from dprelease.requests.file_checks import read_rows, table_faults
from dprelease.requests.parts import RequestPart
from dprelease.requests.tables import csv_files, preview_of
from tests.cases import full_but
from tests.dprelease.test_catalogue_releases import ENTRIES, FIXED, problem_readings
from tests.dprelease.test_forged_files import request_for
from tests.kit.ledgers import DIGEST, question_of, released_in, request_of
from tests.kit.sources import csv_of

LEAST, MOST = 0.001, 20.0
"""Bounds of epsilon."""
NEVER = {"net-walk", "sparse_histogram", "unbounded_mean"}
"""Entries that are never released."""
SEEDS = 3
INVERTED = {"group-counters", "group-counters-gaussian", "group-counters-planned", "group-quantiles"}
"""Entries whose files have intervals that are found by inversion or by simulation, so that checks take long."""


def few(part: RequestPart, rows: int, *, seed: int) -> Dataset:
    """So many mock rows of a question; there may be none."""
    dataset = twin(part.reading, n=max(rows, 1), seed=seed).dataset()
    return dataset if rows else replace(dataset, records=dataset.records[:0])


def questions(one: dpcore.Entry, *, sizes: tuple[int, ...], epsilons: tuple[float, ...]) -> Iterator[RequestPart]:
    """Questions of an entry that may be released."""
    reading, queries = problem_readings(one)
    for n, epsilon, neighbours in ((n, e, relation) for n in sizes for e in epsilons for relation in Neighbours):
        values = {**one.tiny, **FIXED.get(one.key, {}), "epsilon": epsilon}
        asked = request_of(
            reading=reading, queries=queries, n=n, neighbours=neighbours, entry_key=one.key, values=values
        )
        if not (unreleasable(asked) or unsuitable(asked)):
            yield asked.parts[0]


def genuine(part: RequestPart, rows: int, *, draws: int, seed: int) -> Iterator[dict[str, bytes]]:
    """The files of so many draws."""
    state = part.mechanism.prepare(few(part, rows, seed=seed), part.problem)
    drawn = part.mechanism.run(state, Preview(seed=seed), draws)
    yield from (csv_files(drawn.part(place, place + 1), part.mechanism, digest=DIGEST) for place in range(draws))


def last_line_twice(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same files, each with its last line once more."""
    lines = {name: read_rows(contents) for name, contents in files.items()}
    return {name: csv_of([*rows, rows[-1]]) for name, rows in lines.items()}


def count_accepted(part: RequestPart, monkeypatch: pytest.MonkeyPatch, *, rows: tuple[int, ...], draws: int) -> int:
    """Check that all genuine files are accepted, and none with a line twice; return how many."""
    preview, count = preview_of(part), 0
    monkeypatch.setattr(file_checks, "preview_of", lambda _: preview)  # the same for each draw
    seeds = range(1, SEEDS if draws > 3 else 2)
    for size, seed in ((size, seed) for size in rows for seed in seeds):
        for files in genuine(part, size, draws=draws, seed=seed):
            assert list(table_faults(part, files, prefix="", digest=DIGEST)) == [], (
                part.entry_key,
                part.n,
                size,
                files,
            )
            assert list(table_faults(part, last_line_twice(files), prefix="", digest=DIGEST)) != [], (
                part.entry_key,
                files,
            )
            count += 1
    return count


def test_planned_counters_are_put_together_from_contrasts() -> None:
    part = next(questions(entry("group-counters-planned"), sizes=(40,), epsilons=(1.0,)))
    drawn = preview_of(part)
    assert isinstance(drawn, GroupRelease)
    moved = np.zeros(drawn.counters.shape)
    moved[0, 1, 0] = 0.3
    for off, faults in ((0.0, 0), (1.0, 1)):
        files = csv_files(replace(drawn, counters=drawn.counters + off * moved), part.mechanism, digest=DIGEST)
        assert len(list(table_faults(part, files, prefix="", digest=DIGEST))) == faults


def numbers_of_rows(part: RequestPart, *several: int) -> tuple[int, ...]:
    """Of data that a question may be about: n, where it is public."""
    return (part.n,) if part.neighbours is Neighbours.REPLACE_ONE else several


QUICK = {"identity", "linear-net", "stable_median"}
"""Entries that are tried by each run of the tests."""


@pytest.mark.parametrize(
    "one", [pytest.param(each, id=each.key, marks=[pytest.mark.slow] * (each.key not in QUICK)) for each in ENTRIES]
)
def test_no_genuine_release_of_a_row_or_none_is_refused(one: dpcore.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = list(questions(one, sizes=(1, 3), epsilons=(LEAST,)))
    if not parts:  # at so few rows
        parts = list(questions(one, sizes=(40,), epsilons=(MOST,)))
    counts = [count_accepted(part, monkeypatch, rows=numbers_of_rows(part, 0), draws=3) for part in parts]
    assert sum(counts) >= 3 or one.key in NEVER


@pytest.mark.full
@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.key)
def test_no_genuine_release_is_refused(one: dpcore.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = list(questions(one, sizes=(1, 2, 3, 40), epsilons=(LEAST, 0.02, 1.0, MOST)))
    draws = 2 if one.key in INVERTED else 6 if len(parts) > 2 else 12
    counts = [
        count_accepted(part, monkeypatch, rows=numbers_of_rows(part, 0, 1, 2, 100), draws=draws) for part in parts
    ]
    assert sum(counts) >= 100 or one.key in NEVER


LINE = Number(high=20.0, bits=2)
SUMS: dict[str, Any] = {
    "reading": Columns(names=("age",), on=LINE),
    "queries": generated("bumps", queries=4, domain=LINE, seed=4),
    "entry_key": "linear-net",
    "values": {"points": 2},
}
NO_POINT = b"refused,cell,value,share\n"
"""The file of a database without a point."""


def test_a_net_whose_noisy_number_of_rows_is_below_zero_is_genuine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = NoisyCounts.released

    def below_zero(draw: Any, secure: Any, trials: int) -> Any:
        return np.minimum(usual(draw, secure, trials), -5)

    monkeypatch.setattr(NoisyCounts, "released", below_zero)
    stored = released_in(tmp_path / "ledger", request_of(**SUMS))
    assert stored.files == {"synthetic.csv": NO_POINT}
    assert verify(certificate(stored), stored.files) == []
    assert b"0 lines" in downloads_of(stored)["report.html"]


def value_file(cell: int, words: object) -> dict[str, bytes]:
    """The file of one released cell."""
    return {"value.csv": f"refused,cell,value\nFalse,{cell},{words}\n".encode()}


def faults(part: RequestPart, files: dict[str, bytes]) -> list[str]:
    """Of the files of a question."""
    return list(table_faults(part, files, prefix="", digest=DIGEST))


@pytest.mark.parametrize("key", ["linear-net", "net", "intervals-recursive", "intervals-printed", "intervals-anchored"])
def test_a_database_without_a_point_is_no_release_of_public_n(key: str) -> None:
    """Nor of a mechanism that counts no rows."""
    n = 5000 if key == "intervals-printed" else 30
    usual: dict[str, Any] = SUMS if key == "linear-net" else {"entry_key": key, "values": {"epsilon": MOST}}
    for neighbours in Neighbours:
        part = question_of(**usual, neighbours=neighbours, n=n)
        counted = key == "linear-net" and neighbours is Neighbours.ADD_REMOVE_ONE
        assert bool(faults(part, {"synthetic.csv": NO_POINT})) != counted


CLOSED, OPEN = LINE, replace(LINE, missing=True)
REPLACED, ADDED = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE


@pytest.mark.parametrize(
    ("key", "line", "neighbours", "genuine"),
    [
        ("stable_median", CLOSED, ADDED, True),
        ("stable_median", OPEN, ADDED, True),
        ("stable_median", OPEN, REPLACED, True),
        ("stable_median", CLOSED, REPLACED, False),
        ("exponential_median", OPEN, ADDED, False),
        ("exponential_median", OPEN, REPLACED, False),
        ("subsample_median", OPEN, REPLACED, False),
    ],
)
def test_a_median_of_no_row_is_only_that_of_a_mechanism_that_says_so(
    key: str, line: Number, neighbours: Neighbours, genuine: bool
) -> None:
    """Where no row may fit, a stable median is the cell after the line's."""
    part = question_of(
        reading=Columns(names=("age",), on=line),
        queries=Thresholds(domain=line),
        n=5000,
        neighbours=neighbours,
        entry_key=key,
        values={},
    )
    assert faults(part, value_file(1, 7.5)) == []
    assert bool(faults(part, value_file(4, ""))) != genuine
    assert faults(part, value_file(5, ""))


def test_a_bucket_or_label_that_no_subsample_answers_is_refused() -> None:
    fine = Number(high=32.0, bits=5)
    usual: dict[str, Any] = {"n": 5000, "neighbours": REPLACED}
    part = question_of(
        reading=Columns(names=("age",), on=fine),
        queries=Thresholds(domain=fine),
        entry_key="subsample_median",
        values={"buckets": 4},
        **usual,
    )
    assert faults(part, value_file(3, 3.5)) == [] != faults(part, value_file(4, 4.5))
    jobs = Labels(labels=("nurse", "cook", "clerk"))
    reading, queries = Columns(names=("job",), on=jobs), Cells(domain=jobs)
    part = question_of(reading=reading, queries=queries, entry_key="subsample_larger", values={}, **usual)
    assert faults(part, value_file(1, "cook")) == [] != faults(part, value_file(2, "clerk"))
    part = question_of(reading=reading, queries=queries, entry_key="subsample_commonest", values={}, **usual)
    assert faults(part, value_file(2, "clerk")) == [] != faults(part, value_file(3, ""))
    assert entry("subsample_commonest").mechanism.may_refuse


COLUMNS: tuple[tuple[Number | Labels, tuple[str, ...]], ...] = (
    (Number(low=-0.5, high=10.5, bins=11), ("5.0", "11", "-1", "5.5")),
    (Number(low=0, high=10, bins=10), ("10", "5.5")),
    (Number(low=0.25, high=10, bins=7), ("5", "10.5", "x")),
    (Number(low=-0.5, high=10.5, bins=11, cuts=(3.5, 5.5)), ("5.0", "11")),
    (Ages(day="2024-02-29", cuts=(9.5, 119.5)), ("2024-03-01", "1999")),
    (Ages(day="2024-02-29"), ("2024-03-01", "1902-02-28", "1999", "1999-02-29")),
    (Dates(step="day", first="2024-02-27", last="2024-03-02"), ("2024-03-03", "2024")),
    (Dates(step="year", first="1990", last="2000"), ("2001", "1990-01-01")),
    (Labels(labels=("=a", "b")), ("=a", "c")),
    (Labels(yes_no=True), ("maybe",)),
)
"""Kinds of columns, and texts that no synthetic row has there."""


@pytest.mark.parametrize(("column", "impossible"), COLUMNS, ids=range(len(COLUMNS)))
@pytest.mark.parametrize("missing", full_but([False, True], True))
def test_synthetic_rows_of_every_kind_of_column_are_genuine_and_others_are_not(
    column: Number | Labels, impossible: tuple[str, ...], missing: bool, seed: int
) -> None:
    kind = replace(column, missing=missing)
    domain = Product(names=("a", "b"), columns=(kind, Labels(labels=("x", "y"))))
    n = 4 * kind.size
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-9}
    request = request_of(
        reading=Columns(names=domain.names, on=domain), queries=Marginals(domain=domain, ways=2), n=n,
        entry_key="whole-table", values=settings,
    )  # fmt: skip
    [part] = request.parts
    every_cell = np.stack([np.arange(n) % kind.size, np.arange(n) % 2], axis=1)
    state = part.mechanism.prepare(replace(few(part, 1, seed=1), records=every_cell), part.problem)
    files = csv_files(part.mechanism.run(state, Preview(seed), 1), part.mechanism, digest=DIGEST)
    assert not list(table_faults(part, files, prefix="", digest=DIGEST))
    name = f"{SYNTHETIC_ROWS}.csv"
    for text in (*impossible, *[""] * (not missing)):
        lines = files[name].decode().split("\n")
        lines[1] = f"{text},x"
        assert list(table_faults(part, files | {name: "\n".join(lines).encode()}, prefix="", digest=DIGEST)), text


@pytest.mark.slow
def test_synthetic_rows_are_checked_a_block_at_a_time() -> None:
    """All lines at once took thirty times the bytes of a file: more than a gibibyte for five million rows."""
    [part] = request_for("whole-table").parts
    drawn = preview_of(part)
    header, *lines = csv_files(drawn, part.mechanism, digest=DIGEST)[f"{SYNTHETIC_ROWS}.csv"].splitlines(keepends=True)
    contents = header + b"".join(lines) * 400
    many = replace(part, n=400 * drawn.problem.n)
    tracemalloc.start()
    try:
        wrong = list(file_checks._synthetic_faults(many, contents, "rows.csv", drawn, header=header))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert wrong == [] and peak < len(contents) + (4 << 20)
    for forged in (contents + lines[0], contents[:-1], contents + lines[0].replace(b",", b";")):
        assert list(file_checks._synthetic_faults(many, forged, "rows.csv", drawn, header=header))
