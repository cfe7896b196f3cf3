"""Columns of intervals in released files: their names, rounding and coverage, persons, and what is said of them."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Dataset, Neighbours, Problem, Provenance, ProvenanceKind
from dpcore.core.safe_csv import frame_csv
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates, is_dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import Product, is_table
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.robust.counted_mean import unit_of
from dpcore.queries.groups import GroupStatistics
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Preview
from dprelease.certificate import certificate, verify
from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored
from dprelease.requests.file_checks import table_faults
from dprelease.requests.intervals import (
    LEVEL,
    end_names,
    interval_sentence,
    noise_of_counts,
    of_population,
    outwards,
    same_ends,
    statistics_with_intervals,
    with_intervals,
)
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.tables import csv_files
from dprelease.requests.work import too_much_work
from tests.dplab.intervals.coverage import refuted
from tests.kit.ledgers import DIGEST, few_rows, question_of, released_in

TRIALS, ROWS = 2000, 240
JOBS = ("cook", "=nurse", "pilot")


def part_of(*, key: str = "group-counters", epsilon: float = 1.0, **changed: Any) -> RequestPart:
    """Statistics of pay by job."""
    names = changed.pop("names", ("job", "pay"))
    queries = {name: changed.pop(name) for name in ("numbers", "degree") if name in changed}
    on: tuple[Number | Labels, ...] = (
        Labels(labels=JOBS),
        Number(high=100.0, bins=20, missing=False),
        Number(low=1.0, high=9.0, bins=8),
    )
    table = DeclaredTable(columns=tuple(DeclaredColumn(name=n, on=kind) for n, kind in zip(names, on, strict=False)))
    reading = table.whole()
    assert is_table(reading.domain)
    values = {"epsilon": epsilon} | ({"delta": 1e-6} if key.endswith("gaussian") else {})
    usual: dict[str, Any] = {
        "reading": reading, "queries": GroupStatistics(domain=reading.domain, **queries), "n": ROWS,
    }  # fmt: skip
    return question_of(key=key, values=values, **usual | changed)


def people(*, rows_each: int = 1) -> Table:
    """Rows of persons who have as many rows each."""
    lines = [f"{JOBS[i % 7 % 3]},{i * 37 % 100},{1 + i % 8},{i // rows_each}" for i in range(ROWS)]
    return read_table("\n".join(["job,pay,age,who", *lines]).encode(), name="people.csv", header=True)


def drawn_from(part: RequestPart, table: Table, trials: int, seed: int) -> tuple[GroupRelease, dict[str, Any]]:
    """Releases, and the statistics without noise."""
    from dpcore.mechanisms.grouped.statistics import statistics

    provenance = twin(part.reading, n=1).dataset().provenance
    state = part.mechanism.prepare(part.reading.dataset(table, provenance), part.problem)
    drawn = part.mechanism.run(state, Preview(seed), trials)
    assert isinstance(drawn, GroupRelease)
    return drawn, statistics(state.counters, drawn.queries)


@pytest.mark.parametrize("key", ["group-counters", "group-counters-gaussian"])
def test_the_written_intervals_cover_what_is_true_of_the_rows(key: str, seed: int) -> None:
    part = part_of(key=key)
    drawn, truth = drawn_from(part, people(), TRIALS, seed)
    table = with_intervals(drawn.frame(), drawn, part.mechanism)
    names = statistics_with_intervals(part.mechanism, part.problem)
    assert names == ["rows", "mean", "sum"]
    for name in names:
        low, high = (table[end].to_numpy().reshape(TRIALS, -1) for end in end_names(name))
        covered = (low <= truth[name]) & (truth[name] <= high)
        for group in range(len(JOBS)):
            assert not refuted(covered[:, group], level=LEVEL), (name, group)
        assert (covered[:, : len(JOBS)].mean(axis=0) < 0.985).all(), "so it is not by being wide"


def test_a_file_has_the_ends_behind_each_statistic_and_holds(tmp_path: Path) -> None:
    stored = stored_of(tmp_path, Request(parts=(part_of(names=("job", "pay", "age"), numbers=(1, 2)),)))
    [contents] = stored.files.values()
    header = next(csv.reader(io.StringIO(contents.decode())))
    first = header.index("rows")
    assert header[first:] == [
        *("rows", "rows low", "rows high", "mean of pay", "mean low of pay", "mean high of pay"),
        *("sum of pay", "sum low of pay", "sum high of pay", "mean of age", "mean low of age", "mean high of age"),
        *(
            "sum of age",
            "sum low of age",
            "sum high of age",
            "ratio of sums",
            "ratio of sums low",
            "ratio of sums high",
        ),
    ]
    assert verify(canonical(certificate(stored)), stored.files) == []


def stored_of(folder: Path, request: Request, **changed: Any) -> Stored:
    """A stored release."""
    rows = changed.pop("rows", None) or people()
    settings: dict[str, Any] = {"epsilon": 9.0, "delta": 0.1, "public_n": ROWS}
    return released_in(folder, request, rows=rows, **settings | changed)


def test_names_of_columns_that_look_like_ends_are_no_ends(tmp_path: Path) -> None:
    """A column called "pay low" beside "pay"; only names that differ from each other keep a column."""
    lines = [f"cook,{i % 100},{1 + i % 8}" for i in range(ROWS)]
    table = read_table("\n".join(["job,pay,pay low", *lines]).encode(), name="p.csv", header=True)
    part = part_of(names=("job", "pay", "pay low"), numbers=(1, 2))
    stored = stored_of(tmp_path, Request(parts=(part,)), rows=table)
    [contents] = stored.files.values()
    header = next(csv.reader(io.StringIO(contents.decode())))
    assert len(set(header)) == len(header) and {"mean of pay low", "mean low of pay", "mean low of pay low"} <= {
        *header
    }
    assert verify(canonical(certificate(stored)), stored.files) == []


def test_of_persons_with_three_rows_the_noise_is_three_times_as_wide(tmp_path: Path) -> None:
    """At the same price of a person; only the first three of a person's rows count."""
    widths = []
    for rows, epsilon in ((1, 3.0), (3, 1.0)):
        part = part_of(epsilon=epsilon, names=("job", "pay"), degree=2)
        asked = Request(parts=(part,), person="who", rows_a_person=rows)
        table = people(rows_each=rows)
        stored = stored_of(tmp_path / str(rows), asked, rows=table, person_column="who", rows_a_person=rows)
        assert stored.body["guarantee"]["epsilon"] == "3"
        [contents] = stored.files.values()
        frame = pd.read_csv(io.BytesIO(contents))
        widths.append((frame["sum high"] - frame["sum low"]).to_numpy())
        papers = canonical(certificate(stored))
        assert verify(papers, stored.files) == []
        alike = "Rows of one person may be alike, so that the variance of the sampling is taken 3 times as large"
        assert (alike in papers.decode()) == (rows == 3) != ("one for each person" in papers.decode())
    np.testing.assert_allclose(widths[1] / widths[0], 3, rtol=0.02)


SURVEYS, EACH = 500, 300


@pytest.mark.parametrize(("on", "degree", "name", "rows"), [
    (Number(high=100.0, bins=50, missing=False), 2, "mean", 1), (Labels(yes_no=True), 1, "proportion", 1),
    (Labels(yes_no=True), 1, "proportion", 4),
])  # fmt: skip
def test_the_written_intervals_of_a_population_cover_what_its_samples_do_not_hold(
    on: Number | Labels, degree: int, name: str, rows: int, seed: int
) -> None:
    """Each group is a sample of one population; the intervals of the noise alone are the control.

    Where a person has several rows, all of them are alike: intervals for independent rows are a second control.
    """
    domain = Product(names=("survey", "answer"), columns=(Labels(labels=tuple(map(str, range(SURVEYS)))), on))
    generator, of_cells = np.random.default_rng(seed), np.array([0.7, 0.3])
    values = np.array([0.0, 1.0])
    if degree == 2:
        of_cells = np.exp(-np.arange(50) / 9.0) / np.exp(-np.arange(50) / 9.0).sum()
        values = 1.0 + 2.0 * np.arange(50)
    answers = np.repeat(generator.choice(len(of_cells), SURVEYS * EACH // rows, p=of_cells), rows)
    records = np.stack([np.repeat(np.arange(SURVEYS), EACH), answers], axis=1)
    dataset = Dataset(domain, records, Provenance(kind=ProvenanceKind.GENERATED, title="surveys"), rows)
    queries = GroupStatistics(domain=domain, degree=degree)
    problem = Problem(domain=domain, queries=queries, n=dataset.n, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = GroupCounters(epsilon=1.0)
    drawn = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 1)
    truth = float(of_cells @ values)

    def covered(statistic: str, person_rows: int = rows) -> float:
        said = replace(drawn, problem=replace(problem, person_rows=person_rows))
        table = with_intervals(drawn.frame(), said, mechanism).iloc[:SURVEYS]
        low, high = (table[end].to_numpy() for end in end_names(statistic))
        return float(((low <= truth) & (truth <= high)).mean())

    assert 0.92 < covered(of_population(name)) < 0.985 and covered(name) < 0.85
    assert rows == 1 or covered(of_population(name), person_rows=0) < 0.85


def test_no_population_is_estimated_where_everybody_is_in_the_table_or_nothing_says_how_much_rows_vary(
    tmp_path: Path,
) -> None:
    spread = part_of(degree=2, epsilon=3.0)
    assert isinstance(spread.queries, GroupStatistics)
    everybody = replace(spread, queries=replace(spread.queries, whole_population=True))
    assert "population" not in interval_sentence(everybody.mechanism, everybody.problem)
    assert "population" not in interval_sentence(part_of().mechanism, part_of().problem)
    for place, (part, sampled) in enumerate(((spread, True), (everybody, False), (part_of(), False))):
        stored = stored_of(tmp_path / str(place), Request(parts=(part,)))
        [(name, contents)] = stored.files.items()
        table = pd.read_csv(io.BytesIO(contents))
        assert ({*end_names(of_population("mean"))} <= {*table}) == sampled
        assert any("population" in each for each in table) == sampled
        papers = canonical(certificate(stored))
        assert verify(papers, stored.files) == []
        if sampled:
            low, high = end_names(of_population("mean"))
            assert (table[low] <= table["mean low"] + 1e-9).mean() > 0.9
            table[high] += 1.0
            assert verify(papers, {name: table.to_csv(index=False).encode()}) != []


def test_a_group_of_few_noisy_rows_has_the_whole_range(seed: int) -> None:
    part = part_of()
    drawn, _ = drawn_from(part, people(), 200, seed)
    table = with_intervals(drawn.frame(), drawn, part.mechanism)
    few = table["rows"] <= 0
    assert few.any() and (table.loc[few, ["mean low", "mean high"]] == [0.0, 100.0]).all(axis=None)


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [
        (1.23456789, 3.3, 1.234, 3.3),
        (-1234567.0, 9.0, -1234600.0, 100.0),
        (2.0, 2.0, 2.0, 2.0),
        (0.0, 7e-5, 0.0, 7e-5),
    ],
)
def test_ends_are_rounded_outwards(low: float, high: float, first: float, last: float) -> None:
    assert outwards(low, high) == (first, last)
    for digits in (1, 2, 4):
        start, end = outwards(low, high, digits=digits)
        assert start <= low + 1e-9 * abs(low) and high - 1e-9 * abs(high) <= end


def test_ends_of_another_computer_differ_in_the_last_digit_alone() -> None:
    ends = outwards(1.23456789, 3.3)
    assert same_ends(1.233, 3.301, ends) and not same_ends(1.232, 3.3, ends) and not same_ends(1.234, 3.298, ends)
    assert not same_ends(math.nan, 3.3, ends) and same_ends(math.nan, math.nan, (math.nan, math.nan))
    assert same_ends(math.nan, 2.0, (math.nan, 2.0)) and not same_ends(math.nan, 2.001, (math.nan, 2.0))


def test_the_certificate_says_level_method_and_what_is_not_covered() -> None:
    said = interval_sentence(part_of(degree=2).mechanism, part_of(degree=2).problem)
    for told in ("95%", "rows, mean, sum, variance, standard deviation", "exact law", "noise alone", "person's limit"):
        assert told in said
    assert "population mean low and population mean high cover the noise and the sampling together" in said
    wide = part_of(names=("job", "pay", "age"), numbers=(1, 2), degree=2)
    assert "ratio of sums, slope, correlation" in interval_sentence(wide.mechanism, wide.problem)
    histogram = question_of(epsilon=0.5)
    assert "plus or minus 6 rows" in interval_sentence(histogram.mechanism, histogram.problem)
    replaced = question_of(epsilon=0.5, neighbours=Neighbours.REPLACE_ONE)
    assert "plus or minus 12 rows" in interval_sentence(replaced.mechanism, replaced.problem)
    gaussian = question_of(key="gaussian", values={"epsilon": 0.5, "delta": 1e-6})
    assert "plus or minus" in interval_sentence(gaussian.mechanism, gaussian.problem)
    windows = question_of(key="windows")
    drawn = interval_sentence(windows.mechanism, windows.problem)
    for told in ("95%", "rows of each cell", "simulated releases", "request's digest", "noise alone", "person's limit"):
        assert told in drawn
    of_data = question_of(key="tree-windows")
    assert interval_sentence(of_data.mechanism, of_data.problem) == ""


@pytest.mark.parametrize("key", ["identity", "gaussian"])
def test_a_file_of_counts_has_the_ends_that_the_noise_gives_and_no_others_verify(key: str, tmp_path: Path) -> None:
    values = {"epsilon": 0.5} | ({"delta": 1e-6} if key == "gaussian" else {})
    part = question_of(key=key, values=values)
    stored = stored_of(tmp_path, Request(parts=(part,)), rows=few_rows([1] * 20), public_n=30)
    table = pd.read_csv(io.BytesIO(stored.files["counts.csv"]))
    noise = noise_of_counts(part.mechanism, part.problem)
    assert noise is not None and list(table)[-3:] == ["rows", "rows low", "rows high"]
    assert (table["rows high"] - table["rows"] == noise.half_width(0.05)).all()
    assert (table["rows"] - table["rows low"] == noise.half_width(0.05)).all()
    document = certificate(stored)
    assert verify(canonical(document), stored.files) == []
    for name, by in (("rows high", -1.0), ("rows low", 1.0), ("rows", 1.0)):
        changed = table.copy()
        changed[name] += by
        assert list(table_faults(part, {"counts.csv": frame_csv(changed).encode()}, prefix="", digest=DIGEST))
    assert f"plus or minus {noise.half_width(0.05):,} rows" in document["parts"][0]["accuracy"]["intervals"]


NUMBERS = Number(low=10.0, high=90.0, bins=16, missing=True)
DAYS = Dates(step="day", first="2024-01-01", last="2024-04-09")


@pytest.mark.parametrize("line", [NUMBERS, DAYS], ids=["numbers", "days"])
def test_a_counted_mean_is_covered_by_its_written_interval(line: Number, seed: int) -> None:
    part = question_of(
        key="counted-mean", values={"epsilon": 0.5}, n=ROWS, reading=Columns(names=("pay",), on=line),
        queries=Thresholds(domain=line),
    )  # fmt: skip
    cells = np.arange(ROWS) * 7 % line.ordered
    state = part.mechanism.prepare(Dataset(line, cells, twin(part.reading, n=1).dataset().provenance), part.problem)
    drawn = part.mechanism.run(state, Preview(seed), TRIALS)
    table = with_intervals(drawn.frame(), drawn, part.mechanism)
    assert statistics_with_intervals(part.mechanism, part.problem) == ["mean", "rows"]
    assert list(table)[-4:] == ["mean low", "mean high", "rows low", "rows high"]
    means = float((line.low + (line.high - line.low) * (cells + 0.5) / line.ordered).mean())
    low, high = (table[end].to_numpy() for end in end_names("rows"))
    assert not refuted((low <= ROWS) & (high >= ROWS), level=LEVEL)
    truth: Any = unit_of(line, means) if is_dates(line) else means
    low, high = (table[end].to_numpy() for end in end_names("mean"))
    covered = (low <= truth) & (truth <= high)
    assert not refuted(covered, level=LEVEL)
    assert 0.94 < covered.mean() < (1 if is_dates(line) else 0.985), "so it is not by being wide; days are whole"


@pytest.mark.parametrize("line", [NUMBERS, DAYS], ids=["numbers", "days"])
@pytest.mark.parametrize("cell", [0, "last"])
def test_a_counted_mean_s_file_verifies_and_no_other_ends_do(line: Number, cell: int | str, seed: int) -> None:
    """Also where noise moves the mean beyond the bounds, or hides the rows."""
    part = question_of(
        key="counted-mean", values={"epsilon": 0.5}, n=20, reading=Columns(names=("pay",), on=line),
        queries=Thresholds(domain=line),
    )  # fmt: skip
    cells = np.full(20, line.ordered - 1 if cell == "last" else cell)
    state = part.mechanism.prepare(Dataset(line, cells, twin(part.reading, n=1).dataset().provenance), part.problem)
    for trial in range(2):
        drawn = part.mechanism.run(state, Preview(seed + trial), 1)
        [(name, contents)] = csv_files(drawn, part.mechanism, digest=DIGEST).items()
        assert list(table_faults(part, {name: contents}, prefix="", digest=DIGEST)) == []
        table = pd.read_csv(io.BytesIO(contents))
        for end in (*end_names("mean"), *end_names("rows")):
            changed = table.copy()
            changed[end] = line.low + 1.5 if end.startswith("mean") else table[end] + 1.5
            faults = list(table_faults(part, {name: frame_csv(changed).encode()}, prefix="", digest=DIGEST))
            assert faults or changed[end].isna().all()


def test_the_certificate_says_which_columns_are_a_counted_mean_s_interval() -> None:
    part = question_of(
        key="counted-mean", reading=Columns(names=("pay",), on=NUMBERS), queries=Thresholds(domain=NUMBERS)
    )
    said = interval_sentence(part.mechanism, part.problem)
    assert "the columns mean low, mean high and rows low, rows high" in said and "95%" in said and "noise alone" in said


def test_a_file_of_a_mechanism_whose_noise_depends_on_the_data_has_no_ends() -> None:
    part = question_of(key="tree-windows")
    state = part.mechanism.prepare(twin(part.reading, n=ROWS).dataset(), part.problem)
    drawn = part.mechanism.run(state, Preview(1), 1)
    [contents] = csv_files(drawn, part.mechanism, digest=DIGEST).values()
    header = contents.split(b"\n")[0]
    assert b"low" not in header and b"high" not in header


@pytest.mark.parametrize("degree", [1, 2])
def test_the_intervals_of_many_groups_are_weighed_before_any_is_found(degree: int) -> None:
    """A variance's take longer, so that fewer groups have one."""
    labels = tuple(f"group {place}" for place in range(250))
    columns = [DeclaredColumn(name=name, on=Labels(labels=labels, missing=False)) for name in "ab"]
    number = DeclaredColumn(name="pay", on=Number(high=100.0, bins=4, missing=False))
    reading = DeclaredTable(columns=(*columns, number)).whole()
    assert is_table(reading.domain)
    part = part_of(reading=reading, queries=GroupStatistics(domain=reading.domain, degree=degree))
    assert bool(too_much_work(Request(parts=(part,)))) == (degree == 2)
