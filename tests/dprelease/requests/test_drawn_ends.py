"""Intervals of rows per cell whose noise is drawn again: of windows, trees and the equalised root."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import catalogue
from dpcore.core import DataRelease, Neighbours
from dpcore.core.problem import Problem
from dpcore.data.columns import Number
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Preview
from dplab.intervals.interval import around
from dplab.intervals.released import cell_half_widths, draws_of_cells
from dprelease.certificate import certificate, verify
from dprelease.downloads.report import report
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.canonical import canonical, digest_of_bytes
from dprelease.ledger.records import Stored
from dprelease.requests.intervals import drawn_ends, has_count_ends, has_drawn_ends, interval_sentence, written_ends
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.tables import table_csv
from dprelease.requests.work import request_seconds
from pages.release.figure import released_counts
from tests.dplab.intervals.coverage import refuted
from tests.dprelease.test_forgeries import rebooked
from tests.kit.ledgers import few_rows, question_of, registered, stored_release

KEYS = ("windows", "hierarchy", "root")
LINE = Number(high=20.0, bits=4)
TRIALS, DIGESTS = 1600, 32
NUMBER_OF_ROWS = 40


def part_of(key: str, relation: Neighbours = Neighbours.ADD_REMOVE_ONE, **values: Any) -> RequestPart:
    """Rows of ages in 16 cells and the cell of missing values."""
    return question_of(
        key=key, reading=Columns(names=("age",), on=LINE), queries=Intervals(domain=LINE), n=NUMBER_OF_ROWS,
        neighbours=relation, values={"epsilon": 0.7} | ({"delta": 1e-4} if key == "root" else {}) | values,
    )  # fmt: skip


def stored_of(folder: Path, part: RequestPart, level: float) -> Stored:
    rows = few_rows(ages=[i * 7 % 19 for i in range(NUMBER_OF_ROWS)])
    settings: dict[str, Any] = {"epsilon": 9.0, "delta": 0.1, "public_n": NUMBER_OF_ROWS, "rows": rows}
    ledger, dataset_id = registered(folder, neighbours=part.neighbours, **settings)
    return stored_release(ledger, dataset_id, Request(parts=(part,), level=level), rows)


def test_every_mechanism_whose_counts_have_noise_of_one_law_has_their_intervals() -> None:
    """Others' errors depend on the rows, so that no interval of a cell is known."""
    drawn = set()
    for entry in catalogue():
        mechanism = entry.make()
        if mechanism.releases == "data" and LINE.listed and entry.serves(Intervals(domain=LINE)):
            problem = Problem(domain=LINE, queries=Intervals(domain=LINE), n=9, neighbours=Neighbours.ADD_REMOVE_ONE)
            assert has_count_ends(mechanism, problem) == mechanism.data_independent, entry.key
            drawn |= {entry.key} if has_drawn_ends(mechanism, problem) else set()
    assert drawn == set(KEYS)


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("key", KEYS)
def test_a_file_has_them_and_is_verified_by_the_digest_of_its_request_alone(
    key: str, relation: Neighbours, tmp_path: Path
) -> None:
    level = 0.9
    stored = stored_of(tmp_path, part_of(key, relation), level)
    [(name, contents)] = stored.files.items()
    request = Request.of(stored.body["request"])
    [part] = request.parts
    papers = canonical(certificate(stored))
    assert verify(papers, stored.files) == []
    table = pd.read_csv(io.BytesIO(contents))
    assert list(table.columns[-3:]) == ["rows", "rows low", "rows high"] and len(table) == LINE.size
    assert ((table["rows low"] < table["rows"]) & (table["rows"] < table["rows high"])).all()
    sentence = interval_sentence(part.mechanism, part.problem, level=level)
    assert "confidence 90%" in sentence and f"{draws_of_cells(LINE.size):,} simulated releases" in sentence
    page = report(stored).decode()
    assert sentence in papers.decode() and "simulated releases of one public row" in page
    [statistic] = released_statistics(part, contents)
    assert statistic.title == "Rows by age" and statistic.level == level and "(90%)" in statistic.sentence
    picture = released_counts(table.iloc[:, :-2], statistic)
    assert picture is not None and {*statistic.low} == {*picture.table["low"]}

    def faults(forged: pd.DataFrame) -> list[str]:
        document, written = copy.deepcopy(certificate(stored)), table_csv(forged)
        document["files"][name] = digest_of_bytes(written)
        return verify(canonical(rebooked(document)), {name: written})

    assert faults(table) == [], "the control"
    ends = ["rows low", "rows high"]
    for at_level, digest in ((level, request.digest), (0.99, request.digest), (level, f"{7:064x}")):
        both = drawn_ends(table["rows"].to_numpy(), part.mechanism, part.problem, level=at_level, digest=digest)
        same = np.array_equal(both, table[ends].T)
        # Where cells alone are measured, half-widths are whole, and other draws may have the same.
        assert same == (at_level == level) or (digest != request.digest and (key != "root" or not same))
        assert (faults(table.assign(**dict(zip(ends, both, strict=True)))) == []) == same
    narrower = table.copy()
    narrower.loc[3, "rows low"] = (table["rows low"] + table["rows"])[3] / 2
    assert faults(narrower) != [] and faults(table.iloc[1:]) != [] and faults(table.assign(**{"rows low": None})) != []


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("key", KEYS)
def test_they_cover_every_cell_and_two_thirds_of_them_do_not(key: str, relation: Neighbours, seed: int) -> None:
    """Fresh draws for every fifty releases: what the draws happen to be is part of the coverage."""
    part, level = part_of(key, relation), 0.95
    rows = few_rows(ages=[i * 7 % 19 for i in range(NUMBER_OF_ROWS)])
    dataset = part.reading.dataset(rows, twin(part.reading, n=1).dataset().provenance)
    drawn = part.mechanism.run(part.mechanism.prepare(dataset, part.problem), Preview(seed), TRIALS)
    assert isinstance(drawn, DataRelease)
    counts = drawn.histogram()
    held, narrower = list[Any](), list[Any]()
    for place, some in enumerate(np.split(counts, DIGESTS)):
        widths = cell_half_widths(part.mechanism, part.problem, level=level, digest=f"{seed + place:064x}")
        for each, factor in ((held, 1.0), (narrower, 2 / 3)):
            ends = [written_ends(around(row, factor * widths, level=level)) for row in some]
            each.extend((low <= dataset.histogram) & (dataset.histogram <= high) for low, high in ends)
    covered = np.array(held)
    assert not any(refuted(covered[:, cell], level=level) for cell in range(LINE.size))
    assert covered.mean() < 0.985, "so it is not by being wide"
    assert all(refuted(np.array(narrower)[:, cell], level=level) for cell in range(LINE.size))


def test_the_noise_that_is_drawn_again_is_weighed() -> None:
    """Of independent counts nothing is drawn again; these noises are drawn for the file and for its check."""
    fine = Number(high=20.0, bits=12)
    changed: dict[str, Any] = {"reading": Columns(names=("age",), on=fine), "queries": Intervals(domain=fine)}
    parts = {key: question_of(key=key, **changed) for key in ("identity", *KEYS)}
    seconds = {key: request_seconds(Request(parts=(part,))) for key, part in parts.items()}
    for key in KEYS:
        made, each = parts[key].mechanism.preview_seconds(parts[key].problem)
        assert seconds[key] - seconds["identity"] > made + 2 * draws_of_cells(fine.size) * each, key
