"""Released files changed and sealed anew: bytes, spelling, lines, ranges; and requests whose files another has too."""

from __future__ import annotations

import copy
import csv
import io
import math
import os
import tracemalloc
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Integers, Neighbours
from dpcore.core.safe_csv import frame_csv
from dpcore.core.sizes import MAX_BYTES
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import is_table
from dpcore.data.reading.format import Format
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.mechanisms import entry
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, quantiles_of
from dpcore.mechanisms.tables.rows_release import RowsRelease
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Intervals
from dprelease.certificate import body_of, certificate, price_of, verify
from dprelease.commands import main
from dprelease.ledger.canonical import canonical, digest_of_bytes
from dprelease.ledger.records import Registration, Spent, Stored
from dprelease.ledger.units import Price
from dprelease.requests import file_checks
from dprelease.requests.file_checks import OTHER, read_rows
from dprelease.requests.intervals import drawn_ends, end_names
from dprelease.requests.parts import Request
from dprelease.requests.quantile_tables import quantile_table
from dprelease.requests.tables import table_csv
from dprelease.verification import UNVERIFIABLE_FIELDS, unverifiable
from tests.dprelease.test_catalogue_releases import FIXED, problem_readings
from tests.dprelease.test_forgeries import rebooked
from tests.kit import searched
from tests.kit.ledgers import altered, released_in, request_of
from tests.kit.sources import csv_of, inside

ROWS = 120
LABELS = ("a", 'b"', "c,d", "=1+1", "e f", "g\nh")
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(high=100.0, bins=5)),
        DeclaredColumn(name="pay", on=Number(high=1.0, bits=2, missing=True)),
        DeclaredColumn(name="job", on=Labels(labels=LABELS, missing=False)),
        DeclaredColumn(name="day", on=Dates(step="day", first="2024-01-01", last="2024-12-31")),
    )
)
KEYS = (
    *("identity", "exponential_median", "counted-mean", "stable_median", "windows", "mwem", "intervals-recursive"),
    *("whole-table", "weights", "direct-tables", "halfspaces", "boxes", "marginals-decision-lists", "learner"),
)


FINE = Number(high=100.0, bits=14)


def request_for(key: str) -> Request:
    """A small request of a mechanism, on the table that ``stored`` reads."""
    values: dict[str, Any] = {**entry(key).tiny, **FIXED.get(key, {})}
    values |= {"named": 2} if key == "named-queries" else {}
    reading, queries = problem_readings(entry(key))
    if key in ("whole-table", "residual-planner"):
        reading, values = TABLE.whole(), {"epsilon": 2.0, "delta": 0.001}
        assert is_table(reading.domain)
        queries = Marginals(domain=reading.domain, ways=2)
    if key == "counted-mean":
        reading = Columns(names=("age",), on=FINE)
        queries = type(queries)(domain=FINE)
    relation = Neighbours.REPLACE_ONE if key == "whole-table" else Neighbours.ADD_REMOVE_ONE
    return request_of(reading=reading, queries=queries, n=ROWS, neighbours=relation, entry_key=key, values=values)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stored]:
    """A release of each mechanism, drawn when it is asked for."""
    kept = dict[str, Stored]()
    people = [(i % 100, i % 7 / 7, LABELS[i % 6], f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}") for i in range(ROWS)]
    table = read_table(csv_of([("age", "pay", "job", "day"), *people]), name="people.csv", header=True)

    def drawn(key: str) -> Stored:
        if key not in kept:
            request = request_for(key)
            settings: dict[str, Any] = {"epsilon": 900.0, "delta": 0.1, "neighbours": request.neighbours}
            folder = tmp_path_factory.mktemp(key)
            kept[key] = released_in(folder, request, rows=table, public_n=ROWS, **settings)
        return kept[key]

    return drawn


def said_of(stored: Stored, name: str, contents: bytes) -> list[str]:
    """Return the faults of a release after one file is replaced and all digests are recomputed."""
    forged = copy.deepcopy(certificate(stored))
    forged["files"][name] = digest_of_bytes(contents)
    assert contents != stored.files[name]
    return verify(canonical(rebooked(forged)), {**stored.files, name: contents})


@pytest.mark.parametrize("what", ["cells", "text"])
def test_a_file_is_weighed_before_it_is_parsed(what: str, releases: Callable[[str], Stored]) -> None:
    """Short lines took sixty times their bytes: a certificate may name a file of any size."""
    stored = releases("identity")
    name = next(iter(stored.files))
    large = b"1\n" * ((1 << 20) + 100_000) if what == "cells" else b"x" * (MAX_BYTES // 4 + 1)
    tracemalloc.start()
    try:
        faults = said_of(stored, name, large)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    sentence = f"The {what} of a file would take 1,024 MiB of memory: no released file is this large."
    assert faults == [OTHER.format(name=name) if what == "cells" else sentence]
    assert peak < 64 << 20


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "a byte-order mark": lambda b: b"\xef\xbb\xbf" + b,
    "line ends of Windows": lambda b: b.replace(b"\n", b"\r\n"),
    "line ends of old computers": lambda b: b.replace(b"\n", b"\r"),
    "no end of the last line": lambda b: b[:-1],
    "a blank line": lambda b: b + b"\n",
    "semicolons": lambda b: b.replace(b",", b";"),
    "a blank after each comma": lambda b: b.replace(b",", b", "),
    "quotation marks everywhere": lambda b: b'"' + b.replace(b",", b'","').replace(b"\n", b'"\n"')[:-1],
    "a quotation mark that is not closed": lambda b: b + b'"',
    "UTF-16": lambda b: b.decode().encode("utf-16"),
    "a byte that is no text": lambda b: b + b"\xff",
    "a comment": lambda b: b"# true counts\n" + b,
    "everything twice": lambda b: b + b,
    "the header alone": lambda b: b.split(b"\n")[0] + b"\n",
    "nothing": lambda b: b"",
}


@pytest.mark.parametrize("key", KEYS)
def test_a_file_of_other_bytes_is_refused_though_all_is_sealed_anew(
    releases: Callable[[str], Stored], key: str
) -> None:
    stored = releases(key)
    assert verify(canonical(certificate(stored)), stored.files) == []
    for name, contents in stored.files.items():
        for what, change in BYTES.items():
            [faults] = said_of(stored, name, change(contents))
            assert name in faults, (what, faults)


SPELLED: dict[str, Callable[[str], str]] = {
    "exponent": lambda x: f"{x}e0",
    "plus": lambda x: f"+{x}",
    "blank before": lambda x: f" {x}",
    "blank behind": lambda x: f"{x} ",
    "line end": lambda x: f"{x}\n",
    "zero before": lambda x: f"0{x}",
    "underscore": lambda x: f"1_{x}",
    "wide digits": lambda x: "".join(chr(ord(each) + 0xFEE0) if each.isdigit() else each for each in x),
    "Arabic digits": lambda x: "".join(chr(0x660 + int(each)) if each.isdigit() else each for each in x),
    "500 digits": lambda x: x + "0" * 500,
    "text": lambda x: "many",
    "formula": lambda x: "=1+1",
    "hexadecimal": lambda x: "0x10",
    "infinite": lambda x: "inf",
    "no number": lambda x: "nan",
    "huge": lambda x: "1e300",
    "thousands": lambda x: "1,000",
    "truth value": lambda x: "true",
    "zero with a sign": lambda x: "-0.0",
}


def with_cell(contents: bytes, column: int, change: Callable[[str], str]) -> bytes:
    """A file with one cell of its first line changed."""
    rows = list(csv.reader(io.StringIO(contents.decode(), newline="")))
    rows[1][column] = change(rows[1][column])
    return csv_of(rows)


@pytest.mark.parametrize("key", KEYS)
def test_a_number_that_is_spelled_otherwise_or_cannot_be_is_refused(
    releases: Callable[[str], Stored], key: str
) -> None:
    stored = releases(key)
    for name, contents in stored.files.items():
        header = contents.decode().split("\n")[0].split(",")
        for column, (what, change) in ((c, each) for c in range(len(header)) for each in SPELLED.items()):
            forged = with_cell(contents, column, change)
            if forged != with_cell(contents, column, str):
                assert said_of(stored, name, forged), (key, name, header[column], what)


def moved(rows: list[list[str]], amount: float, *, into: int | None = 2) -> None:
    """Take an amount from the first line, and give it to another."""
    rows[1][-1] = repr(float(rows[1][-1]) - amount)
    if into is not None:
        rows[into][-1] = repr(float(rows[into][-1]) + amount)


def told(rows: list[list[str]], answer: str, *, paid: bool = False, declined: bool = False) -> None:
    """Another answer to every question of a conversation."""
    for line in rows[1:]:
        line[3], line[5], line[6] = answer, str(paid), str(declined)


def guessed(line: list[str], rows: int) -> None:
    """Another guess, which is the answer where it was free."""
    line[4] = str(rows)
    if line[5:] == ["False", "False"]:
        line[3] = f"{rows}.0"


def named(rows: list[list[str]], column: str, change: Callable[[str], str]) -> None:
    """Change the cell of a named column in the first line."""
    place = rows[0].index(column)
    rows[1][place] = change(rows[1][place])


def shifted(text: str, *, by: float) -> str:
    """A number as it is written, moved by a little."""
    return repr(round(float(text) + by, 9))


def unit_of(rows: list[list[str]], statistic: str) -> float:
    """The last digit of an interval in the first line."""
    low, high = (float(rows[1][rows[0].index(f"{statistic} {end}")]) for end in ("low", "high"))
    return float(10.0 ** (math.floor(math.log10((high - low) / 2)) - 3))


HALF = ["3.5", "3.5", "3.5"]
"""A count and both ends of its interval, none of them whole."""
CHANGES: dict[str, tuple[str, str, Callable[[list[list[str]]], Any]]] = {
    "a refusal of a histogram": ("identity", "counts.csv", lambda r: [x.__setitem__(0, "True") for x in r[1:]]),
    "missing refusal of a histogram, no counts": (
        "identity", "counts.csv", lambda r: [(x.__setitem__(0, "True"), x.__setitem__(-1, "")) for x in r[1:]],
    ),
    "half a row in a histogram": ("identity", "counts.csv", lambda r: r[1].__setitem__(slice(-3, None), HALF)),
    "a refusal of a median": ("exponential_median", "value.csv", lambda r: r.__setitem__(1, ["True", "-1", ""])),
    "two medians": ("exponential_median", "value.csv", lambda r: r.append(r[1])),
    "a mean of no rows": ("counted-mean", "value.csv", lambda r: r[1].__setitem__(2, "-3.0")),
    "no mean": ("counted-mean", "value.csv", lambda r: r[1].__setitem__(1, "")),
    "rows that no counters add up to": ("counted-mean", "value.csv", lambda r: r[1].__setitem__(2, "100.001")),
    "fewer synthetic rows": ("whole-table", "rows_of_nobody.csv", lambda r: r.pop()),
    "more synthetic rows": ("whole-table", "rows_of_nobody.csv", lambda r: r.append(r[1])),
    "a number out of its bounds": ("whole-table", "rows_of_nobody.csv", lambda r: r[1].__setitem__(0, "101")),
    "a cell that is never missing": ("whole-table", "rows_of_nobody.csv", lambda r: r[1].__setitem__(0, "")),
    "a label that is never missing": ("whole-table", "rows_of_nobody.csv", lambda r: r[1].__setitem__(2, "")),
    "a day of another year": ("whole-table", "rows_of_nobody.csv", lambda r: r[1].__setitem__(3, "2025-01-01")),
    "a smaller bound": ("whole-table", "distances.csv", lambda r: r[1].__setitem__(2, "1.0")),
    "a bound without noise": ("whole-table", "distances.csv", lambda r: r[1].__setitem__(1, r[1][2])),
    "a larger distance": (
        "whole-table", "distances.csv", lambda r: r[1].__setitem__(slice(1, 3), [f"{float(e) + 1}" for e in r[1][1:]]),
    ),
    "a distance of no table": ("whole-table", "distances.csv", lambda r: r.append(["a × b", "", ""])),
    "another measured count": (
        "whole-table", "measured_tables.csv", lambda r: r[1].__setitem__(-1, f"{float(r[1][-1]) + 40}"),
    ),
    "a measured table without a cell": ("whole-table", "measured_tables.csv", lambda r: r.pop()),
    "another label of a measured table": ("whole-table", "measured_tables.csv", lambda r: r[1].__setitem__(1, "x")),
    "distances in another order": ("whole-table", "distances.csv", lambda r: r.append(r.pop(1))),
    "a question that was not asked": ("weights", "answers.csv", lambda r: r.append(r[1])),
    "a guess that was not the answer": ("weights", "answers.csv", lambda r: r[1].__setitem__(4, "999")),
    "mass beyond all rows": ("intervals-recursive", "synthetic.csv", lambda r: r.append([*r[1][:-1], "0.9"])),
    "mass below no rows": ("mwem", "synthetic.csv", lambda r: r[1].__setitem__(-1, "-1.0")),
    "rows that are not n": ("mwem", "synthetic.csv", lambda r: r[1].__setitem__(-1, "77.0")),
    "half a row in a table": ("direct-tables", "answers.csv", lambda r: r[1].__setitem__(-1, "3.5")),
    "a narrower interval of a count": (
        "identity", "counts.csv", lambda r: named(r, "rows high", partial(shifted, by=-1.0)),
    ),
    "a sign of two": ("halfspaces", "answers.csv", lambda r: r[1].__setitem__(-1, "2.0")),
    "a cut outside of its column": ("boxes", "answers.csv", lambda r: r[1].__setitem__(-1, "-1.0")),
    "less than no rows": ("projected_histogram", "counts.csv", lambda r: r[1].__setitem__(-1, "-50.0")),
    "below no rows, n in all": ("projected_histogram", "counts.csv", lambda r: moved(r, float(r[1][-1]) + 50.0)),
    "more rows than n": ("projected_histogram", "counts.csv", lambda r: r[1].__setitem__(-1, "500.0")),
    "a database of other shares": (
        "net", "synthetic.csv", lambda r: [r[x].__setitem__(-1, y) for x, y in ((1, "0.5"), (2, "0.3"), (3, "0.1"))],
    ),
    "a database of small shares": ("net", "synthetic.csv", lambda r: [x.__setitem__(-1, "0.001") for x in r[1:]]),
    "a fourth point of three": (
        "net", "synthetic.csv", lambda r: r.__setitem__(slice(1, 4), [[*x[:-1], "0.25"] for x in (*r[1:4], r[3])]),
    ),
    "a net of half the rows": ("net-alpha", "synthetic.csv", lambda r: r[1].__setitem__(-1, "0.5")),
    "weighted sums of a point less": (
        "linear-net", "synthetic.csv", lambda r: (r.pop(), r[1].__setitem__(-1, "1.0")),
    ),
    "a search less": ("intervals-anchored", "synthetic.csv", lambda r: r.pop()),
    "a block of another share": ("intervals-printed", "synthetic.csv", lambda r: r[1].__setitem__(-1, "0.37")),
    "quantiles without an end": ("intervals-recursive", "synthetic.csv", lambda r: r.pop()),
    "a mean that no counters have": ("counted-mean", "value.csv", lambda r: r[1].__setitem__(1, "43.123456789")),
    "more paid for than is allowed": ("weights", "answers.csv", lambda r: told(r, "9.0", paid=True)),
    "as much paid for in another conversation": (
        "median", "answers.csv", lambda r: told(r, "9.0", paid=True),
    ),
    "a first guess of seven": ("weights", "answers.csv", lambda r: guessed(r[1], 7)),
    "a first median of seven": ("median", "answers.csv", lambda r: guessed(r[1], 7)),
    "a guess that does not follow": ("weights", "answers.csv", lambda r: guessed(r[2], int(r[2][4]) + 1)),
    "a median that does not follow": ("median", "answers.csv", lambda r: guessed(r[2], int(r[2][4]) + 1)),
    "declined too soon": ("weights", "answers.csv", lambda r: told(r, "", declined=True)),
    "a cell that other tables do not know": ("residual-planner", "answers.csv", lambda r: moved(r, -50.0, into=None)),
    "two cells that other tables do not know": ("residual-planner", "answers.csv", lambda r: moved(r, -50.0)),
    "parts that are not whole": ("residual-planner", "answers.csv", lambda r: moved(r, 0.001)),
    "an uneven box": ("rectangles", "synthetic.csv", lambda r: moved(r, 0.5 * float(r[1][-1]))),
    "an uneven slab": ("rectangles", "synthetic.csv", lambda r: moved(r, 0.5 * float(r[1][-1]), into=-1)),
    "a group of named cells that is uneven": ("named-queries", "synthetic.csv", lambda r: moved(r, 1.0)),
    "weights that no round gives": ("mwem", "synthetic.csv", lambda r: moved(r, 1.0)),
    "a share that is no multiple": ("marginals-decision-lists", "answers.csv", lambda r: r[1].__setitem__(-1, "0.999")),
    "a sum that no counters have": ("group-counters", "answers.csv", lambda r: named(r, "sum", lambda x: "3.5")),
    "counters of other sums": (
        "group-counters", "answers.csv", lambda r: named(r, "counter 1", lambda x: str(int(x) + 1)),
    ),
    "counters that are not whole": ("group-counters", "answers.csv", lambda r: named(r, "counter 1", lambda x: "4.0")),
    "a group less": ("group-counters", "answers.csv", lambda r: r.pop()),
    "a narrower interval of a mean": (
        "counted-mean", "value.csv", lambda r: named(r, "mean high", partial(shifted, by=-2 * unit_of(r, "mean"))),
    ),
    "more rows with a number for sure": (
        "counted-mean", "value.csv", lambda r: named(r, "rows low", partial(shifted, by=2 * unit_of(r, "rows"))),
    ),
    "a mean without an end": ("counted-mean", "value.csv", lambda r: named(r, "mean low", lambda x: "")),
    "a narrower interval": (
        "group-counters", "answers.csv", lambda r: named(r, "rows low", lambda x: repr(float(x) + 1.5)),
    ),
    "an end of a proportion moved inwards": (
        "group-counters", "answers.csv", lambda r: named(r, "proportion high", lambda x: repr(float(x) - 0.01)),
    ),
    "an end less": ("group-counters", "answers.csv", lambda r: named(r, "proportion high", lambda x: "")),
    "an infinite end": ("group-counters", "answers.csv", lambda r: named(r, "rows low", lambda x: "-inf")),
    "two digits in the last place": (
        "group-counters-gaussian", "answers.csv",
        lambda r: named(r, "sum high", lambda x: repr(float(x) + 2 * unit_of(r, "sum"))),
    ),
    "ends the other way around": (
        "group-counters-gaussian", "answers.csv", lambda r: r.__setitem__(slice(1, None), [
            [*x[:-2], x[-1], x[-2]] for x in r[1:]
        ]),
    ),
    "another quantile": (
        "group-quantiles", "quantiles.csv", lambda r: named(r, "quantile 0.5", partial(shifted, by=1.0)),
    ),
    "an end of a quantile moved by a cell": (
        "group-quantiles", "quantiles.csv", lambda r: named(r, "quantile 0.5 low", partial(shifted, by=1.0)),
    ),
    "a narrower interval of a group's rows": (
        "group-quantiles", "quantiles.csv", lambda r: named(r, "rows high", partial(shifted, by=-1.0)),
    ),
    "a group without its quantiles": ("group-quantiles", "quantiles.csv", lambda r: r.pop()),
    "a quantile of fewer places": ("group-quantiles", "quantiles.csv", lambda r: named(r, "rows", lambda x: x + "0")),
    "two rules": ("learner", "answers.csv", lambda r: r.append(r[1])),
    "no rule": ("learner", "answers.csv", lambda r: r.pop()),
    "a rule beyond the class": ("learner", "answers.csv", lambda r: named(r, "number", lambda x: "1000000")),
    "another rule's number": ("learner", "answers.csv", lambda r: named(r, "number", lambda x: str(int(x) ^ 1))),
    "a share above one": ("marginals-decision-lists", "answers.csv", lambda r: r[1].__setitem__(-1, "1.5")),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_mechanism_cannot_release_is_refused(releases: Callable[[str], Stored], what: str) -> None:
    key, name, change = CHANGES[what]
    stored = releases(key)
    rows = list(csv.reader(io.StringIO(stored.files[name].decode(), newline="")))
    change(rows)
    faults = said_of(stored, name, csv_of(rows))
    assert faults == [f"The columns, lines, labels or numbers of {name} do not match the request."]


@pytest.mark.parametrize("key", ["group-counters", "group-counters-gaussian"])
def test_an_interval_of_groups_that_differs_in_the_last_digit_is_another_computers(
    releases: Callable[[str], Stored], key: str
) -> None:
    stored = releases(key)
    [(name, contents)] = stored.files.items()
    for statistic, ends in (("sum", (-1, 1)), ("rows", (1, 0))):
        rows = read_rows(contents)
        for end, steps in zip(("low", "high"), ends, strict=True):
            named(rows, f"{statistic} {end}", partial(shifted, by=steps * unit_of(rows, statistic)))
        assert said_of(stored, name, csv_of(rows)) == []
    assert any("last digit of an interval" in each for each in unverifiable())


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("windows", "windows"),
        ("tree-windows", "trees"),
        ("root", "strategies"),
    ],
)
def test_numbers_that_no_structure_gives_away_are_named(releases: Callable[[str], Stored], key: str, told: str) -> None:
    """Where intervals stand beside them, their ends are moved as well: half-widths do not depend on the numbers."""
    stored = releases(key)
    [(name, contents)] = stored.files.items()
    table, request = pd.read_csv(io.BytesIO(contents)), Request.of(stored.body["request"])
    [part] = request.parts
    table["rows"] += np.eye(len(table))[1] - np.eye(len(table))[0]
    ends = list(end_names("rows"))
    assert (ends[0] in table) == (key != "tree-windows")
    if ends[0] in table:
        assert said_of(stored, name, table_csv(table)) == [OTHER.format(name=name)]
        rows, level = table["rows"].to_numpy(), part.level
        both = drawn_ends(rows, part.mechanism, part.problem, level=level, digest=request.digest)
        table = table.assign(**dict(zip(ends, both, strict=True)))
    assert said_of(stored, name, table_csv(table)) == []
    assert any("released numbers" in each and told in each for each in unverifiable())


def test_cells_of_groups_are_checked_by_the_quantiles_beside_them_and_both_together_are_named(
    releases: Callable[[str], Stored],
) -> None:
    stored = releases("group-quantiles")
    rows = read_rows(stored.files["answers.csv"])
    moved(rows, 40.0, into=len(rows) // 2 - 1)
    answers = csv_of(rows)
    assert said_of(stored, "answers.csv", answers) == [OTHER.format(name="quantiles.csv")]
    request = Request.of(stored.body["request"])
    [part] = request.parts
    numbers = np.array([float(row[-1]) for row in rows[1:]]).reshape(quantiles_of(part.problem).count, -1)
    assert isinstance(part.mechanism, GroupQuantileCounts)
    quantiles = quantile_table(numbers, part.mechanism, part.problem, digest=request.digest)
    forged = {"answers.csv": answers, "quantiles.csv": table_csv(quantiles)}
    document = copy.deepcopy(certificate(stored))
    document["files"] |= {name: digest_of_bytes(contents) for name, contents in forged.items()}
    assert verify(canonical(rebooked(document)), forged) == []
    assert any("released numbers" in each and "quantiles by group" in each for each in unverifiable())


def test_a_line_end_in_a_label_is_no_other_spelling() -> None:
    table = pd.DataFrame({"job": ["e\rf", 'b"', "5"], "rows": [1.0, 2.0, 3.0]})
    contents = frame_csv(table).encode()
    assert read_rows(contents) == [["job", "rows"], ["e\rf", "1.0"], ['b"', "2.0"], ["5", "3.0"]]
    assert read_rows(contents.replace(b"\n", b"\r\n")) == [] == read_rows(contents.replace(b"\n", b"\r"))


FINE = Number(high=100.0, bits=8)
MANY = 5000


@pytest.fixture(scope="module")
def of_many(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stored]:
    """A release of Gaussian noise about enough rows that its error is guaranteed, drawn when it is asked for."""
    table = read_table("\n".join(["age", *(str(i % 100) for i in range(MANY))]).encode(), name="ages.csv", header=True)
    kept = dict[str, Stored]()

    def drawn(key: str) -> Stored:
        if key not in kept:
            reading, queries = problem_readings(entry(key))
            if key == "gaussian":
                reading, queries = Columns(names=("age",), on=FINE), Intervals(domain=FINE)
            settings: dict[str, Any] = {"neighbours": Neighbours.ADD_REMOVE_ONE}
            request = request_of(reading=reading, queries=queries, n=MANY, entry_key=key, values={}, **settings)
            settings |= {"epsilon": 9.0, "delta": 0.1, "public_n": MANY}
            kept[key] = released_in(tmp_path_factory.mktemp(key), request, rows=table, **settings)
        return kept[key]

    return drawn


OF_SIGMA: dict[str, tuple[str, str, str, int | float]] = {
    "another year of a reference": ("marginals-polynomial-gaussian", "reference", r"\((\d{4})\)", 1),
    "another number of cells": ("gaussian", "statement", r"each of (\d+) cells", 1),
    "another chance": ("gaussian", "statement", r"1 − 0\.0(5)", 1),
    "a row less": ("gaussian", "statement", r"at most (\d+) rows", -1),
    "a row more": ("gaussian", "statement", r"at most (\d+) rows", 1),
    "a smaller sigma": ("gaussian", "statement", r"σ = \d\.\d(\d)", -1),
    "another chance that it fails": ("gaussian", "guaranteed_error", r"confidence (\d+)%", 1),
    "an error less": ("gaussian", "guaranteed_error", r"above (\d+) rows", -1),
    "a share less": ("gaussian", "worst_error", r"(.*)", -1e-5),
}


@pytest.mark.parametrize("what", OF_SIGMA)
def test_a_number_that_no_sigma_gives_is_caught(of_many: Callable[[str], Stored], what: str) -> None:
    """Any whole number of three digits was let pass where it was one more or less."""
    key, name, pattern, more = OF_SIGMA[what]
    stored = of_many(key)
    forged = copy.deepcopy(certificate(stored))
    said = forged["parts"][0]["accuracy"]
    found = searched(pattern, said[name])
    changed = type(more)(found[1]) + more
    said[name] = f"{said[name][: found.start(1)]}{changed!r}{said[name][found.end(1) :]}"
    [fault] = verify(rebooked(forged), stored.files)
    assert f"accuracy.{name} is" in fault


@pytest.mark.parametrize("share", [1 - 5e-6, 1 + 1e-12, 1 + 5e-6])
def test_an_error_that_another_computer_finds_is_the_same(of_many: Callable[[str], Stored], share: float) -> None:
    stored = of_many("gaussian")
    other = copy.deepcopy(certificate(stored))
    said = other["parts"][0]["accuracy"]
    assert said["worst_error"] != repr(float(said["worst_error"]) * share)
    said["worst_error"] = repr(float(said["worst_error"]) * share)
    assert verify(rebooked(other), stored.files) == []


LINE = Number(high=100.0, bits=5)
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "parameters": ("tree-windows", {"values": {"epsilon": 0.125}}),
    "mechanism": ("mwem", {"entry_key": "tree-windows", "values": {}}),
    "n": ("identity", {"n": 7}),
    "relation": ("tree-windows", {"neighbours": Neighbours.REPLACE_ONE}),
    "class of queries": ("identity", {"queries": Cells(domain=LINE)}),
    "their unit": ("identity", {"reading": Columns(names=("age",), on=replace(LINE, unit="USD"))}),
    "which columns were read": ("identity", {"reading": Columns(names=("pay",), on=LINE)}),
    "the number of the draw": ("identity", {"draw": 9}),
    "the level of intervals of a file that has none": ("mwem", {"level": 0.99}),
    "the settings that the file was read with": ("identity", {"file_format": Format(decimal=",", separator=";")}),
    "whose rows were counted together": ("identity", {"person": "who"}),
    "how many of a person": ("identity", {"person": "who", "rows_a_person": 2}),
    "how fine the line of a mean": ("counted-mean", {"reading": Columns(names=("age",), on=replace(FINE, bits=15))}),
    "whether cells may be missing": (
        "intervals-anchored", {"reading": Columns(names=("age",), on=replace(LINE, missing=True))},
    ),
    "what becomes of numbers out of bounds": (
        "intervals-anchored", {"reading": Columns(names=("age",), on=replace(LINE, missing=True, clamp=False))},
    ),
}  # fmt: skip


def charged(document: dict[str, Any], price: Price) -> Price:
    """Charge another price in the last attempt and its outcome; returns the budget."""
    chain = document["ledger"]["chain"]
    for line in chain[-2:]:
        line["amount"] = price.document
    [budget] = [line["amount"] for line in chain if line["kind"] == "budget"]
    return Price.read(budget)


def faults_of_another_request(stored: Stored, key: str, changed: dict[str, Any]) -> list[str]:
    """Make up a certificate of another request, with its own guarantee, accuracy and charge, and verify it."""
    genuine = copy.deepcopy(certificate(stored))
    request = request_for(key)
    if "reading" in changed:
        changed = changed | {"queries": type(request.parts[0].queries)(domain=changed["reading"].domain)}
    whole = {
        name: value
        for name, value in changed.items()
        if name in ("draw", "level", "person", "rows_a_person", "file_format")
    }
    request = replace(request, **whole) if whole else altered(request, **changed)
    registration = replace(
        Registration.of(genuine["data"]), neighbours=request.neighbours, public_n=request.n,
        person_column=request.person, rows_a_person=request.rows_a_person,
    )  # fmt: skip
    price = price_of(request, rows_a_person=request.rows_a_person)
    budget = charged(genuine, price)
    body = body_of(
        request, registration, version=1, files=stored.files, unpublished=0, steward_saw=False,
        before=Spent(budget=budget, spent=price), by="Grace", at=genuine["at"],
    )  # fmt: skip
    assert body["request"] != genuine["request"]
    return verify(canonical(rebooked(body | {"ledger": genuine["ledger"], "digest": ""})), stored.files)


@pytest.mark.parametrize("told", OTHERS)
def test_another_request_that_has_the_same_files_is_named_among_what_files_cannot_tell(
    releases: Callable[[str], Stored], told: str
) -> None:
    key, changed = OTHERS[told]
    assert faults_of_another_request(releases(key), key, changed) == []
    assert any(told in sentence for sentence in unverifiable())


SAME_FORM = (
    *("parameters", "n", "relation", "their unit", "which columns were read", "the number of the draw"),
    *("the settings that the file was read with", "whose rows were counted together", "how many of a person"),
)
"""Other requests whose files of windows would have the same columns and lines."""


@pytest.mark.parametrize("told", SAME_FORM)
def test_intervals_of_simulated_releases_tell_another_request(releases: Callable[[str], Stored], told: str) -> None:
    """Where half-widths are whole numbers, as a hierarchy's of one level are, another request may have the same."""
    stored, [_, changed] = releases("windows"), OTHERS[told]
    assert faults_of_another_request(stored, "windows", changed) == [OTHER.format(name=next(iter(stored.files)))]
    assert any("simulated releases depend on the digest" in each and "often" in each for each in unverifiable())


def test_another_request_with_the_same_whole_half_widths_is_not_told(releases: Callable[[str], Stored]) -> None:
    assert faults_of_another_request(releases("hierarchy"), "hierarchy", {"draw": 9}) == []


def test_the_noise_of_a_whole_table_is_told_by_its_distances(releases: Callable[[str], Stored]) -> None:
    stored, asked = releases("whole-table"), request_for("whole-table")
    genuine = copy.deepcopy(certificate(stored))
    other = altered(asked, values={**asked.parts[0].values, "epsilon": 2.5})  # of the same rule
    price = price_of(other, rows_a_person=1)
    budget = charged(genuine, price)
    body = body_of(
        other, Registration.of(genuine["data"]), version=1, files=stored.files, unpublished=0, steward_saw=False,
        before=Spent(budget=budget, spent=price), by="G", at=genuine["at"],
    )  # fmt: skip
    faults = verify(canonical(rebooked(body | {"ledger": genuine["ledger"], "digest": ""})), stored.files)
    assert faults == ["The columns, lines, labels or numbers of distances.csv do not match the request."]


def test_few_rows_are_made_to_verify_synthetic_ones(
    releases: Callable[[str], Stored], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their columns alone are compared with those of mock data, and a million rows take minutes."""
    stored, made, usual = releases("whole-table"), list[int](), RowsRelease.make_rows

    def noted(self: RowsRelease, *, trial: int = 0) -> Generator[float, None, Integers]:
        made.append(self.problem.n)
        return usual(self, trial=trial)

    monkeypatch.setattr(RowsRelease, "make_rows", noted)
    monkeypatch.setattr("dprelease.requests.tables.MAX_SYNTHETIC_ROWS", 7)
    assert verify(canonical(certificate(stored)), stored.files) == []
    assert made == [7]


def test_other_synthetic_rows_do_not_have_the_distances_of_the_released_ones(
    releases: Callable[[str], Stored],
) -> None:
    stored = releases("whole-table")
    header, *rows = read_rows(stored.files["rows_of_nobody.csv"])
    faults = said_of(stored, "rows_of_nobody.csv", csv_of([header, *[rows[0]] * len(rows)]))
    assert faults == ["The columns, lines, labels or numbers of distances.csv do not match the request."]
    assert any("which synthetic rows were made" in each for each in unverifiable())


@pytest.mark.parametrize("version", ["2.4.6e0", "02.4.6", "2.4.", "2..4", "2.4.6_1", "2.4-6", "２.4", "2.4.6 "])
def test_a_version_that_no_package_has_is_refused(releases: Callable[[str], Stored], version: str) -> None:
    stored = releases("identity")
    forged = copy.deepcopy(certificate(stored))
    forged["software"]["numpy"] = version
    assert verify(canonical(rebooked(forged)), stored.files) == ["The certificate's software.numpy must be a version."]


@pytest.mark.parametrize("version", ["3.11.7", "3.14.0rc1", "2.5.0.dev0+git20260101.abc", "3.13.0+"])
def test_versions_of_packages_and_of_python_are_versions(version: str) -> None:
    assert UNVERIFIABLE_FIELDS["software.python"][0](version)


FORMS = {
    "request": "a mapping", "ledger": "a mapping", "guarantee.whole_data_set.budget": "a mapping",
    "guarantee.epsilon": "a decimal", "guarantee.delta": "a decimal", "data.public_n": "a whole number above 0",
    "data.unit.rows_a_person": "a whole number above 0",
    "data.relation": "one of replace_one, add_remove_one",
}  # fmt: skip


@pytest.mark.parametrize("value", [None, True, 0, -1, 10**30, [], ""])
@pytest.mark.parametrize("name", FORMS)
def test_a_field_of_another_form_is_named(releases: Callable[[str], Stored], name: str, value: Any) -> None:
    stored = releases("identity")
    forged = copy.deepcopy(certificate(stored))
    *outer, last = name.split(".")
    place = inside(forged, outer)
    place[last] = value
    faults = verify(canonical(rebooked(forged)), stored.files)
    assert faults and not any("lacks fields that its format requires" in each for each in faults), faults
    del place[last]
    faults = verify(canonical(rebooked(forged)), stored.files)
    assert faults and not any("lacks fields that its format requires" in each for each in faults), faults


@pytest.mark.parametrize("parts", [None, True, 5, "x", {}, [None], [5], [[]], [{}], [{"guarantee": None}]])
def test_parts_of_another_form_are_named(releases: Callable[[str], Stored], parts: Any) -> None:
    stored = releases("identity")
    forged = copy.deepcopy(certificate(stored))
    forged["parts"] = parts
    [faults] = verify(canonical(rebooked(forged)), stored.files)
    assert faults == "The certificate's parts must be a list of mappings, each with a guarantee of two decimals."


def test_a_certificate_that_is_no_file_or_too_long_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for no_file in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path)):
        assert main(["verify", no_file]) == 1
        assert "not a folder or a device" in capsys.readouterr().err
    long = tmp_path / "certificate.json"
    with long.open("wb") as file:
        file.truncate(1 << 34)
    assert main(["verify", str(long)]) == 1 and "too long" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "none")]) == 1 and "No such file" in capsys.readouterr().err


def test_files_that_cannot_be_compared_do_not_hold(
    releases: Callable[[str], Stored], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(request: Request) -> Any:
        raise MemoryError

    stored = releases("identity")
    monkeypatch.setattr(file_checks, "preview_of", fails)
    assert verify(certificate(stored), stored.files) == [
        "The files counts.csv cannot be compared with the request, because no mock data can be sampled for it."
    ]
