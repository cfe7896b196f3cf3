"""The file of quantiles by group: its intervals cover, its seed is the request's digest, and it is what is shown."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Integers
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product, is_table
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.queries.groups import GroupQuantiles
from dpcore.randomness import Preview
from dplab.intervals.released import MAX_DRAWN_CELLS, MIN_DRAWS, draws_of_cells, group_half_widths
from dprelease.certificate import certificate, verify
from dprelease.downloads import downloads_of
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored
from dprelease.requests.intervals import LEVEL, end_names
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.quantile_tables import quantile_table
from dprelease.requests.tables import csv_files
from dprelease.requests.work import request_seconds
from tests.dplab.intervals.coverage import refuted
from tests.kit.ledgers import DIGEST, question_of, released_in

TRIALS, ROWS, SHARES = 400, 900, (0.25, 0.5)
JOBS = ("cook", "=nurse")


def part_of(*, epsilon: float = 1.0, bins: int = 20, shares: tuple[float, ...] = SHARES) -> RequestPart:
    """Quantiles of pay by job."""
    on: tuple[Number | Labels, ...] = Labels(labels=JOBS), Number(high=100.0, bins=bins, unit="USD")
    names = ("job", "pay")
    reading = Columns(names=names, on=Product(names=names, columns=on))
    assert is_table(reading.domain)
    queries = GroupQuantiles(domain=reading.domain, quantiles=shares)
    settings: dict[str, Any] = {"reading": reading, "queries": queries, "n": ROWS}
    return question_of(key="group-quantiles", values={"epsilon": epsilon}, **settings)


def people() -> Table:
    lines = [f"{JOBS[i % 9 > 5]},{i * 37 % 100}" for i in range(ROWS)]
    return read_table("\n".join(["job,pay", *lines]).encode(), name="people.csv", header=True)


def stored_of(folder: Path, part: RequestPart) -> Stored:
    return released_in(folder, Request(parts=(part,)), rows=people(), epsilon=99.0, public_n=ROWS)


def test_what_is_kept_of_the_noise_is_of_no_names_and_no_labels() -> None:
    part = part_of()
    assert is_table(part.reading.domain)
    names, line = ("post", "wage"), part.reading.domain.columns[1]
    other = Product(names=names, columns=(Labels(labels=("ann", "bob", "eve")), line))
    elsewhere = replace(part.problem, domain=other, queries=GroupQuantiles(domain=other, quantiles=SHARES), n=1)
    assert isinstance(part.mechanism, GroupQuantileCounts)
    found = [
        group_half_widths(part.mechanism, each, SHARES, level=LEVEL, digest=DIGEST)
        for each in (part.problem, elsewhere)
    ]
    assert found[0] is found[1], "sizes and budgets are equal, and nothing else is kept"


def true_cells(rows: Integers, share: float) -> Integers:
    """The least cell at which a share of each group's rows is reached."""
    up_to = np.cumsum(rows, axis=1)
    cells: Integers = np.argmax(up_to >= share * up_to[:, -1:], axis=1)
    return cells


@pytest.mark.parametrize(("factor", "covers"), [(1.0, True), (0.5, False)])
def test_the_written_intervals_cover_and_half_of_them_do_not(factor: float, covers: bool, seed: int) -> None:
    part = part_of()
    mechanism = part.mechanism
    assert isinstance(mechanism, GroupQuantileCounts)
    provenance = twin(part.reading, n=1).dataset().provenance
    state = mechanism.prepare(part.reading.dataset(people(), provenance), part.problem)
    drawn = mechanism.run(state, Preview(seed), TRIALS)
    assert isinstance(drawn, GroupQuantilesRelease)
    rows = drawn.rows()
    tables = [
        quantile_table(rows[trial], mechanism, part.problem, digest=f"{trial // 50:064x}", factor=factor)
        for trial in range(TRIALS)
    ]
    for name, share in (("quantile 0.25", 0.25), ("quantile 0.5", 0.5)):
        middle = 5.0 * true_cells(state.rows, share)[:2] + 2.5
        low, high = (np.array([table[end][:2] for table in tables]) for end in end_names(name))
        held = (low < middle) & (middle < high)
        assert refuted(held, level=LEVEL) != covers, name
    low, high = (np.array([table[end] for table in tables]) for end in end_names("rows"))
    assert refuted((low <= state.rows.sum(axis=1)) & (state.rows.sum(axis=1) <= high), level=LEVEL) != covers


def test_a_release_has_them_and_verifies_with_the_seed_of_its_own_digest_alone(tmp_path: Path) -> None:
    part = part_of(epsilon=0.05, bins=100, shares=(0.5,))
    stored = stored_of(tmp_path, part)
    assert list(stored.files) == ["answers.csv", "quantiles.csv"]
    table = pd.read_csv(io.BytesIO(stored.files["quantiles.csv"]))
    assert list(table) == [
        *("group job", "rows", "rows low", "rows high", "quantile 0.5", "quantile 0.5 low", "quantile 0.5 high"),
    ]
    assert list(table["group job"]) == ["cook", "'=nurse", "any other value"]
    assert verify(canonical(certificate(stored)), stored.files) == []
    digest, half = Request.of(stored.body["request"]).digest, table["rows high"] - table["rows"]
    assert half.tolist() == pytest.approx([rows_width(part, digest)] * 3) and rows_width(part, digest) != rows_width(
        part, DIGEST
    )


def rows_width(part: RequestPart, digest: str) -> float:
    """Half-width of the rows of a group, by the noise of a digest."""
    assert isinstance(part.mechanism, GroupQuantileCounts)
    return group_half_widths(part.mechanism, part.problem, (0.5,), level=LEVEL, digest=digest).of_rows


def test_the_report_and_the_sentence_have_the_quantile_with_its_interval(tmp_path: Path) -> None:
    stored = stored_of(tmp_path, part_of(epsilon=20.0, bins=100))
    files = downloads_of(stored)
    report = files["report.html"].decode()
    assert "quantile 0.5" in report and "interval, 95%" in report and "too few rows to say" in report
    assert "whose seed is the request&#x27;s digest" in report or "whose seed is the request's digest" in report
    assert 'class="bar' not in report, "the cells are no bars"
    quartile, median, rows = released_statistics(part_of(bins=100), stored.files["quantiles.csv"])
    assert [each.title for each in (quartile, median, rows)] == [
        *("Lower quartile of pay by job", "Median of pay by job", "Rows by job"),
    ]
    assert median.unit == "USD" and list(median.labels) == [*JOBS, "any other value"]
    assert np.isnan(median.values[2]) and (median.low[:2] < 50).all() and (median.high[:2] > 49).all()
    assert "±" in median.sentence or " to " in median.sentence
    assert released_statistics(part_of(bins=100), stored.files["answers.csv"]) == []


def test_many_cells_are_drawn_fewer_times_and_the_time_is_weighed() -> None:
    assert draws_of_cells(100) == 4000 and draws_of_cells(1 << 16) == MIN_DRAWS
    assert draws_of_cells(4096) * 4096 == MAX_DRAWN_CELLS
    few, many = (request_seconds(Request(parts=(part_of(bins=bins),))) for bins in (100, 4096))
    assert many > few + 3


def test_a_table_of_no_rows_has_whole_ranges_and_no_numbers() -> None:
    part = part_of(epsilon=1.0)
    mock = twin(part.reading, n=1).dataset()
    empty = part.mechanism.prepare(replace(mock, records=mock.records[:0]), part.problem)
    drawn = part.mechanism.run(empty, Preview(1), 1)
    files = csv_files(drawn, part.mechanism, digest=DIGEST)
    table = pd.read_csv(io.BytesIO(files["quantiles.csv"]))
    assert (table["rows low"] <= 0).all() and (table["rows high"] >= 0).all()
    *quantiles, _ = released_statistics(part, files["quantiles.csv"])
    assert (table["quantile 0.5 high"] - table["quantile 0.5 low"] > 50).any()
    assert all(np.isnan(each.values).all() for each in quantiles)
