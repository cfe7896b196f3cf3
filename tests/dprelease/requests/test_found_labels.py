"""Labels that nobody declared, released: charged once, stored, certified; forged files are refused."""

from __future__ import annotations

import copy
import csv
import io
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import DataError, Neighbours, ParameterError
from dpcore.data.columns import Labels
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.dictionaries.description import CATEGORY
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.unlisted.texts import LabelCounts, TextColumn
from dpcore.mechanisms.histograms.labels import FindLabels, LabelState
from dpcore.mechanisms.histograms.optimal_labels import ADDED
from dpcore.randomness import Preview
from dplab.intervals.noise import LaplaceNoise
from dprelease.certificate import certificate, verify
from dprelease.downloads import PROGRAM, downloads_of, faults_of_files
from dprelease.downloads.report import report
from dprelease.downloads.statistics import released_statistics, released_table
from dprelease.engines.tables import Snapshot, _bare
from dprelease.ledger.canonical import canonical, digest_of_bytes
from dprelease.ledger.checks import check
from dprelease.ledger.records import DIED, RAISED, Failed, Refused, Registration, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.released_part import released_dictionary
from dprelease.release import FILES_ONLY, TOO_WIDE, rehearse, release
from dprelease.requests.intervals import _ends_of_labels, interval_sentence
from dprelease.requests.parts import Request
from dprelease.requests.tables import answers_csv, released_labels
from tests.dplab.intervals.coverage import refuted
from tests.dprelease.test_forgeries import rebooked
from tests.kit.ledgers import ANALYST, STEWARD, registered, request_of, stored_release
from tests.kit.sources import csv_of, inside

COUNTS = {"ann": 900, "=1+1": 800, "a;b": 700, "Łódź, Süd": 600, "NA": 500, "007": 400}
RARE = ("Quetzalcoatl", "Zyxwvut")
"""Labels of one row each: in no message, file or ledger."""
DELTA = 1e-9


def table_of(counts: dict[str, int] = COUNTS, *, name: str = "names.csv") -> Table:
    texts = [text for text, count in counts.items() for _ in range(count)] + [*RARE]
    lines = [("who", "name"), *((place // 3, text) for place, text in enumerate(texts))]
    return read_table(csv_of(lines), name=name, header=True)


def asked(key: str = "find_labels_optimal", *, longest: int = 60, **changed: Any) -> Request:
    reading = TextColumn(column="name", longest=longest)
    usual = {"values": {"epsilon": 0.5, "delta": DELTA}, "n": 1000, "neighbours": Neighbours.ADD_REMOVE_ONE}
    queries = LabelCounts(domain=reading.domain)
    return request_of(reading=reading, queries=queries, entry_key=key, **{**usual, **changed})


def held(folder: Path, rows: Table, request: Request, **changed: Any) -> tuple[Ledger, str]:
    return registered(
        folder, epsilon=4.0, delta=1e-6, rows=rows, neighbours=request.neighbours, public_n=request.n,
        person_column=request.person, rows_a_person=request.rows_a_person, **changed,
    )  # fmt: skip


CASES = [
    ("find_labels", {}, "0.5", "0.000000001"),
    ("find_labels", {"neighbours": Neighbours.REPLACE_ONE, "n": sum(COUNTS.values()) + 2}, "0.5", "0.000000001"),
    ("find_labels_optimal", {}, "0.5", "0.000000001"),
    ("find_labels", {"person": "who", "rows_a_person": 2}, "1", ""),
    ("find_labels_optimal", {"person": "who", "rows_a_person": 2}, "1", ""),
]


@pytest.mark.parametrize(("key", "changed", "epsilon", "delta"), CASES)
def test_labels_are_released_certified_and_nothing_else_of_the_column(
    tmp_path: Path, key: str, changed: dict[str, Any], epsilon: str, delta: str
) -> None:
    table, request = table_of(), asked(key, **changed)
    assert Request.read(request.text) == request
    assert not any(text.encode() in request.text for text in (*COUNTS, *RARE) if text != "NA")
    assert rehearse(request).numbers > 1
    ledger, dataset_id = held(tmp_path, table, request)
    stored = stored_release(ledger, dataset_id, request, table)
    assert not check(ledger, dataset_id)
    assert list(stored.files) == ["labels.csv"] and set(released_labels(stored.files["labels.csv"])) == set(COUNTS)
    lines = [line.rsplit(",", 3)[0] for line in stored.files["labels.csv"].decode().splitlines()[1:]]
    assert lines == ["007", "'=1+1", "NA", "a;b", "ann", '"Łódź, Süd"'], "by text, and no formula"
    guarantee = certificate(stored)["guarantee"]
    assert guarantee["epsilon"] == epsilon and (not delta or guarantee["delta"] == delta)
    if not delta:  # over all partitions of two rows: two labels; or by group privacy
        most = 2 if key == "find_labels" else 1 + math.exp(0.5)
        assert DELTA < float(guarantee["delta"]) <= most * DELTA * (1 + 1e-8)
    assert verify(canonical(certificate(stored)), stored.files) == []
    files = downloads_of(stored)
    assert faults_of_files(files.pop("certificate.json"), files) == []
    written = b"".join([*files.values(), *(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())])
    assert not any(text.encode() in written for text in RARE) and "Łódź".encode() in written


def test_an_equal_request_is_charged_once_and_a_second_draw_again(tmp_path: Path) -> None:
    table, request = table_of(), asked()
    ledger, dataset_id = held(tmp_path, table, request)
    first, again = (release(ledger, dataset_id, request, table, ANALYST) for _ in range(2))
    assert isinstance(first, Stored) and isinstance(again, Stored) and first.files == again.files
    assert ledger.account(dataset_id).spent == Price.read({"epsilon": "0.5", "delta": "0.000000001"})
    assert isinstance(release(ledger, dataset_id, replace(request, draw=2), table, ANALYST), Stored)
    assert ledger.account(dataset_id).spent == Price.read({"epsilon": "1", "delta": "0.000000002"})


def test_in_rho_labels_have_a_price(tmp_path: Path) -> None:
    table, request = table_of(), asked()
    ledger = Ledger.open(tmp_path)
    registration = Registration(name="names", neighbours=request.neighbours, public_n=request.n)
    budget = Price.allowed_in_rho(epsilon=4.0, delta=1e-6)
    dataset_id = ledger.register(registration, table, budget, STEWARD).dataset_id
    stored = stored_release(ledger, dataset_id, request, table)
    assert stored.chain[-1]["amount"] == {"rho": "0.125", "delta": "0.000000001"}
    assert verify(canonical(certificate(stored)), stored.files) == []


@pytest.mark.parametrize("error", [ValueError(RARE[0]), MemoryError(), DataError(RARE[0])])
def test_a_draw_that_raises_keeps_its_charge_and_quotes_no_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    table, request = table_of(), asked()
    ledger, dataset_id = held(tmp_path, table, request)

    def broken(self: Table, column: str, longest: int) -> Any:
        raise error

    monkeypatch.setattr(Table, "texts", broken)
    failed = release(ledger, dataset_id, request, table, ANALYST)
    assert isinstance(failed, Failed) and failed.sentence in (RAISED, DIED)
    assert ledger.account(dataset_id).spent.amount == "0.5"
    assert not any(RARE[0].encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_what_cannot_be_released_has_a_sentence_and_no_charge(tmp_path: Path) -> None:
    table = table_of()
    ledger, dataset_id = held(tmp_path, table, asked())
    nothing = np.zeros(0, dtype=np.int64)
    counted = Snapshot(**_bare("names", ("who", "name"), 0, ()), parts=(), cells=nothing, counts=nothing)
    refused = release(ledger, dataset_id, asked(), counted, ANALYST)
    assert isinstance(refused, Refused) and refused.sentence == FILES_ONLY
    replaced = asked(neighbours=Neighbours.REPLACE_ONE, n=table.row_count)
    other, other_id = held(tmp_path / "other", table, replaced)
    refused = release(other, other_id, replaced, table, ANALYST)
    assert isinstance(refused, Refused) and refused.sentence == ADDED
    wide = asked(longest=1000, n=1_000_000)
    large, large_id = held(tmp_path / "large", table, wide)
    refused = release(large, large_id, wide, table, ANALYST)
    assert isinstance(refused, Refused) and refused.sentence == TOO_WIDE, "by the public n, not by the rows"
    for each, name in ((ledger, dataset_id), (other, other_id), (large, large_id)):
        assert not each.account(name).spent
    with pytest.raises(ParameterError):
        asked("identity")


CHANGES: dict[str, Callable[[list[list[str]]], list[list[str]]]] = {
    "a count at the threshold": lambda rows: [["007", "{threshold}"], *rows[1:]],
    "a count of one": lambda rows: [["007", "1"], *rows[1:]],
    "a count with a point": lambda rows: [["007", "100.0"], *rows[1:]],
    "a count with a sign": lambda rows: [["007", "+100"], *rows[1:]],
    "another order": lambda rows: [rows[1], rows[0], *rows[2:]],
    "a label twice": lambda rows: [rows[0], *rows],
    "a label of two lines": lambda rows: [["0\n07", rows[0][1]], *rows[1:]],
    "a label that turns the text": lambda rows: [["0\u202e07", rows[0][1]], *rows[1:]],
    "a label that is too long": lambda rows: [["0" * 61, rows[0][1]], *rows[1:]],
    "a label with a blank": lambda rows: [["007 ", rows[0][1]], *rows[1:]],
    "a formula": lambda rows: [rows[0], ["=1+1", rows[1][1]], *rows[2:]],
    "a column more": lambda rows: [[*row, "1"] for row in rows],
    "a column less": lambda rows: [row[:3] for row in rows],
    "an interval that is narrower": lambda rows: [_with_ends(rows[0], 1, 0), *rows[1:]],
    "an interval that is wider": lambda rows: [_with_ends(rows[0], 0, 1), *rows[1:]],
    "an end that is no whole number": lambda rows: [[*rows[0][:2], f"{rows[0][2]}.0", rows[0][3]], *rows[1:]],
}
"""Changes of the lines; one of two cells gets the interval of its count."""


def _with_ends(row: list[str], low: int, high: int) -> list[str]:
    """Return a line with both ends moved."""
    return [*row[:2], str(int(row[2]) + low), str(int(row[3]) + high)]


def test_forged_labels_are_refused_though_all_is_sealed_anew(tmp_path: Path) -> None:
    table, request = table_of(), asked()
    ledger, dataset_id = held(tmp_path, table, request)
    stored = stored_release(ledger, dataset_id, request, table)
    [part] = request.parts
    mechanism = part.mechanism
    assert isinstance(mechanism, FindLabels)
    threshold = str(mechanism.threshold(part.problem))
    rows = list(csv.reader(io.StringIO(stored.files["labels.csv"].decode(), newline="")))

    def line(cells: list[str]) -> list[str]:
        cells = [cell.replace("{threshold}", threshold) for cell in cells]
        if len(cells) != 2:
            return cells
        count = np.array([int(float(cells[1]))])
        return cells + [str(int(end[0])) for end in _ends_of_labels(count, mechanism, part.problem, 0.95).to_numpy().T]

    def faults(changed: list[list[str]], *, sealed: bool = True) -> list[str]:
        contents = csv_of([rows[0], *map(line, changed)])
        forged = copy.deepcopy(certificate(stored))
        if sealed:
            forged["files"]["labels.csv"] = digest_of_bytes(contents)
            forged = rebooked(forged)
        return verify(canonical(forged), {"labels.csv": contents})

    assert faults(rows[1:]) == [] and faults(rows[1:], sealed=False) == []
    assert faults([["007", str(int(threshold) + 1)], *rows[2:]]) == [], "the control: a count with its interval"
    for what, change in CHANGES.items():
        assert faults(change([list(row) for row in rows[1:]])), what
    # A label more or less is caught by the digest of the file; sealed anew, only the ledger knows better.
    more = [*rows[1:-1], ["mallory", "100"], rows[-1]]
    assert faults(more, sealed=False) and faults(rows[1:-1], sealed=False)
    assert not faults(more) and not faults([])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guarantee", "delta"), "0.0000000001"),
        (("guarantee", "epsilon"), "0.4"),
        (("parts", 0, "guarantee", "delta"), "0.0000000001"),
        (("parts", 0, "mechanism", "parameters", "delta"), "1e-10"),
        (("parts", 0, "accuracy", "worst_error"), "0.001"),
        (("request", "parts", 0, "mechanism", "parameters", "delta"), "1e-10"),
        (("request", "parts", 0, "reading", "column"), "who\n"),
    ],
)
def test_another_claim_is_refused(tmp_path: Path, path: tuple[Any, ...], value: str) -> None:
    table, request = table_of(), asked()
    ledger, dataset_id = held(tmp_path, table, request)
    stored = stored_release(ledger, dataset_id, request, table)
    forged = copy.deepcopy(certificate(stored))
    place = inside(forged, path[:-1])
    assert place[path[-1]] != value
    place[path[-1]] = value
    assert verify(canonical(rebooked(forged)), stored.files)


def test_found_labels_describe_their_column_unless_a_request_declared_it(tmp_path: Path) -> None:
    table, request = table_of(), asked()
    ledger, dataset_id = held(tmp_path, table, request)
    assert isinstance(release(ledger, dataset_id, request, table, ANALYST), Stored)
    few = asked(values={"epsilon": 0.1, "delta": DELTA})  # finds fewer labels
    assert isinstance(release(ledger, dataset_id, few, table, ANALYST), Stored)
    [column] = released_dictionary(ledger.stored(dataset_id), max_labels=1000).columns
    assert (column.name, column.kind, {*column.labels}) == ("name", CATEGORY, {*COUNTS})
    [column] = released_dictionary(ledger.stored(dataset_id), max_labels=2).columns
    assert {*column.labels} == {"ann", "=1+1"}, "those with the largest counts"
    declared = DeclaredColumn(name="name", on=Labels(labels=("ann", "NA")))
    counts = PlannedQuestion(columns=("name",), queries="cells", entry_key="identity", epsilon=0.1)
    plan = Plan(
        table=DeclaredTable(columns=(declared,)), n=1000, questions=(counts,), neighbours=Neighbours.ADD_REMOVE_ONE
    )
    assert isinstance(release(ledger, dataset_id, plan.request(), table, ANALYST), Stored)
    [column] = released_dictionary(ledger.stored(dataset_id), max_labels=1000).columns
    assert column.labels == ("ann", "NA"), "a request's declaration is the data owner's word"


@pytest.mark.parametrize("key", ["find_labels", "find_labels_optimal"])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_in_the_file_hold_released_counts_and_the_noise_alone_does_not(
    key: str, level: float, seed: int
) -> None:
    """Labels of as many rows as are rarely, sometimes and mostly released; of each kind, those in the file."""
    request = replace(asked(key), level=level)
    [part] = request.parts
    mechanism, problem = part.mechanism, part.problem
    assert isinstance(mechanism, FindLabels)
    threshold, labels = mechanism.threshold(problem), tuple(f"{place:06d}" for place in range(20_000))
    half, failed = mechanism.half_width(problem, 1 - level), []
    for rows in (threshold - 8, threshold, threshold + 8):
        counts = np.full(len(labels), rows)
        drawn = mechanism.run(LabelState(problem=problem, labels=labels, counts=counts), Preview(seed), 1)
        table = pd.read_csv(io.BytesIO(answers_csv(drawn, mechanism, level=level)), dtype={"value": str})
        assert list(table) == ["value", "rows", "rows low", "rows high"] and len(table) > 30
        assert not refuted((table["rows low"] <= rows) & (rows <= table["rows high"]), level=level)
        failed.append(refuted((table["rows"] - rows).abs() <= half, level=level))
    assert failed[0], "the control"


def test_released_labels_have_a_sentence_with_their_intervals_on_the_card_and_in_the_report(tmp_path: Path) -> None:
    table, request = table_of({"007": 900, "01": 700}), replace(asked("find_labels"), level=0.99)
    ledger, dataset_id = held(tmp_path, table, request)
    stored = stored_release(ledger, dataset_id, request, table)
    [part], contents = request.parts, stored.files["labels.csv"]
    [statistic] = released_statistics(part, contents)
    half = LaplaceNoise.of(epsilon=0.5, sensitivity=1).half_width(0.01)
    assert (statistic.title, list(statistic.labels)) == ("Rows by name", ["007", "01"])
    assert statistic.sentence.endswith("(99%)") and f" ± {half}; 01 " in statistic.sentence
    said = interval_sentence(part.mechanism, part.problem, level=0.99)
    assert "given that the label is released" in said and said in str(certificate(stored)["parts"])
    page = report(stored).decode()
    assert "given that the label is released" in page and "<h3>Rows by name</h3>" in page and ">007<" in page
    assert released_table(part, contents)["value"].tolist() == ["007", "01"]
    (folder := tmp_path / "files").mkdir()
    for name, held_file in downloads_of(stored).items():
        (folder / name).write_bytes(held_file)
    ran = subprocess.run([sys.executable, PROGRAM], cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    assert " 007 " in ran.stdout and " 01 " in ran.stdout
    assert released_statistics(part, b"value,rows,rows low,rows high\n") == []
