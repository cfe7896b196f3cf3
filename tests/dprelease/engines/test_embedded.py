"""DuckDB over a folder of Parquet: the same counts as of a file, and nothing else."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpcore import Intervals, Neighbours
from dpcore.core import DataError, ParameterError, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import Capped, DeclaredColumn, DeclaredTable
from dpcore.data.frames import read_frame
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Coded, Columns, Measure, Several, Vectors
from dpcore.mechanisms.grouped.weights import counters_of_rows
from dpcore.queries.groups import GroupStatistics
from dprelease.engines.embedded import Embedded
from dprelease.engines.engine import Allowance
from dprelease.engines.tables import EngineTable, from_engine, open_table
from dprelease.ledger.fingerprint import key_of
from dprelease.ledger.records import Actor, Refused, Registration, Role
from dprelease.ledger.store import Ledger
from dprelease.ledger.true_value_access import name_fingerprint, note_access
from dprelease.ledger.units import Price
from dprelease.release import release
from tests.dprelease.engines.values import (
    LABELS,
    differences,
    edge_differences,
    told,
    write_edges,
    write_parquet,
)
from tests.kit.ledgers import altered, request_of, stored_release

LINE = Number(low=0, high=100, bits=6, missing=True)
WHOLE = Columns(names=("whole",), on=LINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as two files of a folder, and as one file beside it."""
    return write_parquet(tmp_path_factory.mktemp("engine") / "folder")[0].parent


@pytest.fixture(scope="module")
def file(folder: Path) -> Table:
    return read_table(folder.parent / "all.parquet", name="all.parquet")


@pytest.fixture(scope="module")
def table(folder: Path) -> EngineTable:
    return open_table(Embedded(path=folder), name="folder")


@pytest.mark.slow
def test_a_folder_and_a_file_of_the_same_rows_give_the_same_counts(table: EngineTable, file: Table) -> None:
    assert table.columns == file.columns
    assert table.row_count == file.row_count
    assert differences(table, file) == {}


@pytest.mark.parametrize("numbers", [(2,), (0, 2)], ids=["of one number", "of two"])
def test_group_counters_are_those_of_a_file_and_of_a_frame(
    table: EngineTable, file: Table, folder: Path, numbers: tuple[int, ...]
) -> None:
    domain = Product(
        names=("fraction", "label", "whole"),
        columns=(Number(low=-5, high=60, bins=13, missing=True), Labels(labels=LABELS[:3]), LINE),
    )
    reading, provenance = Columns(names=domain.names, on=domain), Provenance(kind=ProvenanceKind.STAND_IN, title="t")
    frame = read_frame(pd.read_parquet(folder.parent / "all.parquet", columns=list(domain.names)))
    queries = GroupStatistics(domain=domain, numbers=numbers, degree=2)
    by_engine, by_file, by_frame = (
        counters_of_rows(dataset.counted()[0], queries, dataset.counted()[1])
        for dataset in (table.dataset(reading, provenance), reading.dataset(file, provenance),
                        reading.dataset(frame, provenance))
    )  # fmt: skip
    assert by_engine.tolist() == by_file.tolist() == by_frame.tolist()
    assert table.dataset(reading, provenance).counted()[1] is not None, "an engine sends counts and no rows"


def test_only_the_number_of_rows_and_counts_of_declared_cells_leave_an_engine(
    folder: Path, file: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[np.ndarray] = []
    ask = Embedded.ask

    def recorded(self: Embedded, query: str, texts: list[list[str]], *, width: int) -> np.ndarray:
        answers.append(ask(self, query, texts, width=width))
        return answers[-1]

    monkeypatch.setattr(Embedded, "ask", recorded)
    opened = open_table(Embedded(path=folder), name="folder")
    opened.snapshot(DeclaredTable(columns=(DeclaredColumn(name="whole", on=LINE),)))
    rows, counted = answers
    assert rows.tolist() == [[file.row_count]]
    dataset = WHOLE.dataset(file, Provenance(kind=ProvenanceKind.STAND_IN, title="rows"))
    cells = np.flatnonzero(dataset.histogram)
    assert sorted(counted.tolist()) == [[cell, dataset.histogram[cell]] for cell in cells]


NUMBER, DAYS, JOBS, TRUTH = Number(missing=True), Dates(missing=True), Labels(labels=("29",)), Labels(yes_no=True)


@pytest.mark.parametrize(
    ("column", "on", "holds"),
    [
        ("written", NUMBER, "numbers, but in the engine"),
        ("written", DAYS, "dates, but in the engine"),
        ("written", TRUTH, "yes or no, but in the engine"),
        ("day", NUMBER, "numbers, but in the engine"),
        ("smoker", NUMBER, "numbers, but in the engine"),
        ("whole", DAYS, "dates, but in the engine"),
        ("fraction", JOBS, "labels, but in the engine"),
        ("smoker", JOBS, "labels, but in the engine"),
        ("moment", JOBS, "labels, but in the engine"),
        ("day", TRUTH, "yes or no, but in the engine"),
    ],
)
def test_what_is_declared_as_another_type_than_the_engine_s_is_refused_and_not_asked(
    table: EngineTable, monkeypatch: pytest.MonkeyPatch, column: str, on: Number | Labels, holds: str
) -> None:
    monkeypatch.setattr(Embedded, "ask", None)
    with pytest.raises(DataError) as problem:
        from_engine(table, column, on)
    assert str(problem.value).startswith(f"“{column}” is declared as") and holds in str(problem.value)
    assert str(problem.value).endswith("The table's owner can make a view that converts it.")
    with pytest.raises(DataError, match="is declared as"):
        table.snapshot(DeclaredTable(columns=(DeclaredColumn(name=column, on=on),)))


def test_numbers_cut_at_named_places_are_numbers_of_the_engine(table: EngineTable) -> None:
    provenance = Provenance(kind=ProvenanceKind.STAND_IN, title="test")
    below = Predicate(column="label", kind="below", value=1.0)
    for asked in (below, Coded(column="label", name="cut", labels=("a", "b"), cuts=(1.0,))):
        with pytest.raises(DataError, match="“label” is declared as numbers"):
            Several(attributes=(asked,)).dataset(table, provenance)


def test_a_view_of_a_database_s_owner_counts_what_its_text_means(tmp_path: Path) -> None:
    path = tmp_path / "house.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(['29', '58', 'x']) AS age")
        connection.execute("CREATE VIEW typed AS SELECT try_cast(age AS INTEGER) AS age FROM t")
    line = Number(low=0, high=100, bins=2, missing=True)
    with pytest.raises(DataError, match="is declared as numbers"):
        from_engine(open_table(Embedded(path=path, name="t"), name="t"), "age", line)
    typed = open_table(Embedded(path=path, name="typed"), name="typed")
    assert from_engine(typed, "age", line).histogram.tolist() == [1, 1, 1]


def test_types_of_a_database_that_files_have_not_are_counted_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "house.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TYPE job AS ENUM ('cook', 'O''Brien')")
        connection.execute(
            "CREATE TABLE t (h HUGEINT, u UBIGINT, d DECIMAL(38, 10), j job, l INTEGER[], b BLOB, s UUID)"
        )
        rows = "(2::HUGEINT ** 100, 18446744073709551615, 29.0000000001, 'cook', [1], 'x', uuid()),"
        rows += " (-(2::HUGEINT ** 100), 29, -1, 'O''Brien', NULL, NULL, NULL), (29, 57, 58, NULL, NULL, NULL, NULL)"
        connection.execute(f"INSERT INTO t VALUES {rows}")
    table = open_table(Embedded(path=path, name="t"), name="t")
    assert table.columns == ("h", "u", "d", "j")
    line = Number(low=0, high=58, bins=2, missing=True, clamp=False)
    cells = [from_engine(table, name, line).histogram.tolist() for name in "hud"]
    assert cells == [[0, 1, 2], [0, 2, 1], [0, 2, 1]]
    assert from_engine(table, "j", Labels(labels=("O'Brien", "cook"))).histogram.tolist() == [1, 1, 1]


def test_cells_of_a_folder_are_cut_where_numpy_cuts_them(tmp_path: Path) -> None:
    assert edge_differences(open_table(Embedded(path=write_edges(tmp_path)), name="edges")) == []


@pytest.mark.slow
def test_a_database_file_is_read_and_never_written(tmp_path: Path, file: Table, folder: Path) -> None:
    path = tmp_path / "house.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA s")
        connection.execute(f'CREATE TABLE s."pe\'o""ple" AS FROM \'{folder.parent / "all.parquet"}\'')
    before = path.read_bytes()
    table = open_table(Embedded(path=path, name="s.pe'o\"ple"), name="house")
    assert differences(table, file) == {}
    table.forget()
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "line",
    [
        Number(high=12.8, bits=7, missing=True),
        Number(high=12.7, bins=127, missing=True),
        Number(low=-0.1, high=12.7, bits=7, missing=True, clamp=False),
        Number(low=0.3, high=9.9, bits=5),
    ],
)
def test_a_number_on_an_edge_is_counted_in_the_cell_that_begins_there(tmp_path: Path, line: Number) -> None:
    tenths = [place / 10 for place in range(-5, 135)]
    folder = tmp_path / "tenths"
    folder.mkdir()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (score DOUBLE)")
        connection.executemany("INSERT INTO t VALUES (?)", [[each] for each in tenths])
        connection.execute(f"COPY t TO '{folder}/t.parquet' (FORMAT parquet)")
    table = open_table(Embedded(path=folder), name="tenths")
    counted = from_engine(table, "score", line).histogram
    cells = line.encode(np.array(tenths))
    assert counted.tolist() == np.bincount(cells, minlength=line.size).tolist()
    inside = [each for each in tenths if each in line.edges[:-1].tolist()]
    assert len(inside) > 20 and line.encode(np.array(inside)).tolist() == [line.edges.tolist().index(e) for e in inside]


def test_nothing_but_the_folder_can_be_read(folder: Path) -> None:
    engine = Embedded(path=folder)
    for query in (
        f"SELECT 0, count(*) FROM '{folder.parent / 'all.parquet'}'",
        f"COPY (SELECT 1) TO '{folder.parent / 'new.parquet'}'; SELECT 0, 1",
        "SET memory_limit = '8 GB'; SELECT 0, 1",
    ):
        with pytest.raises(DataError, match=r"could not|damaged") as problem:
            engine.answered(partial(engine.ask, query, [], width=2))
        assert str(folder) not in str(problem.value)


LONG = "SELECT 0, count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 5"


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_interrupted(folder: Path) -> None:
    engine = Embedded(path=folder, allowance=Allowance(seconds=0.2))
    start = time.monotonic()
    with pytest.raises(DataError, match=r"took longer than 0\.2 seconds"):
        engine.answered(partial(engine.ask, LONG, [], width=2))
    assert time.monotonic() - start < 120, "it would take days"


def test_what_needs_rows_says_so(table: EngineTable) -> None:
    provenance = Provenance(kind=ProvenanceKind.PRIVATE, title="t")
    person = Capped(reading=WHOLE, person="label", rows=2)
    vectors = Vectors(measures=(Measure(column="whole"), Measure(column="label")))
    for reading, sentence in ((vectors, "returns only counts"), (person, "in an order")):
        with pytest.raises(DataError, match=sentence):
            table.dataset(reading, provenance)
    dataset = table.dataset(WHOLE, provenance)
    assert dataset.n == table.row_count
    assert repr(dataset) == "<Dataset: private, Number>"
    with pytest.raises(DataError, match=r"counts of cells. Use"):
        _ = dataset.records
    with pytest.raises(DataError, match=r"counts of cells. Use"):
        table.distinct("label", 10)
    for read in (table.numbers, table.codes, table.present):
        with pytest.raises(DataError, match=r"counts of cells. Use"):
            read("whole")
    with pytest.raises(ParameterError, match="too close together"):
        from_engine(table, "whole", Number(low=1e15, high=1e15 + 1, bins=1001))


DECLARED = DeclaredTable(
    columns=(
        DeclaredColumn(name="whole", on=Number(low=0, high=100, bits=10, missing=True)),
        DeclaredColumn(name="label", on=Labels(labels=LABELS[:4])),
        DeclaredColumn(name="smoker", on=Labels(yes_no=True)),
        DeclaredColumn(name="day", on=Dates(), used=False),
    )
)


def test_a_snapshot_answers_from_its_counts_alone(table: EngineTable, file: Table) -> None:
    snapshot = table.snapshot(DECLARED)
    provenance = Provenance(kind=ProvenanceKind.PRIVATE, title="t")
    coarse = Columns(names=("whole",), on=Number(low=0, high=100, bits=3, missing=True))
    fewer = Columns(names=("label",), on=Labels(labels=(LABELS[2], LABELS[0])))
    for reading in (
        coarse, fewer, DECLARED.reading("whole"), DECLARED.reading("label", "whole"),
        DECLARED.reading("smoker", "label", "whole"),
    ):  # fmt: skip
        assert told(snapshot.dataset(reading, provenance)) == told(reading.dataset(file, provenance))
    for other in (
        Columns(names=("day",), on=Dates(missing=True)),
        Columns(names=("whole",), on=Number(low=0, high=100, bits=3)),
        Columns(names=("whole",), on=Number(low=0, high=100, bins=10, missing=True)),
        Columns(names=("label",), on=Labels(labels=("new",))),
    ):
        with pytest.raises(DataError, match="counted with other columns or cells"):
            snapshot.dataset(other, provenance)


@pytest.mark.slow
def test_a_registered_snapshot_is_known_again_and_other_counts_are_not(
    table: EngineTable, folder: Path, tmp_path: Path
) -> None:
    ledger = Ledger.open(tmp_path / "ledger")
    by = Actor(name="steward", role=Role.STEWARD)
    snapshot = table.snapshot(DECLARED)
    registration = Registration(name="people", neighbours=Neighbours.REPLACE_ONE, public_n=snapshot.row_count)
    dataset_id = ledger.register(registration, snapshot, Price.allowed(epsilon=1, delta=0), by).dataset_id
    domain = DECLARED.on("whole")
    request = request_of(
        reading=DECLARED.reading("whole"), queries=Intervals(domain=domain), n=snapshot.row_count,
        neighbours=Neighbours.REPLACE_ONE, entry_key="identity", values={"epsilon": 0.5},
    )  # fmt: skip
    (folder / "grown").mkdir(exist_ok=True)
    grown = folder / "grown" / "third.parquet"
    shutil.copyfile(folder / "first.parquet", grown)
    try:
        later = table.snapshot(DECLARED)
    finally:
        shutil.rmtree(grown.parent)
    refused = release(ledger, dataset_id, request, later, by)
    assert isinstance(refused, Refused)
    assert "not registered" in refused.sentence
    stored = stored_release(ledger, dataset_id, request, table.snapshot(DECLARED), by)
    assert ledger.account(dataset_id).spent == Price.allowed(epsilon=0.5, delta=0)
    assert not stored.body["guarantee"]["steward_saw_true_values"]
    # A look at other counts of the same table is a look at it.
    note_access(ledger.folder, name_fingerprint("another", key=key_of(ledger.folder)))
    for draw, name in ((2, ""), (3, "folder")):
        if name:
            note_access(ledger.folder, name_fingerprint(name, key=key_of(ledger.folder)))
        cheap = replace(altered(request, values={"epsilon": 0.1}), draw=draw)
        again = stored_release(ledger, dataset_id, cheap, table.snapshot(DECLARED), by)
        assert again.body["guarantee"]["steward_saw_true_values"] == bool(name)


def test_a_snapshot_answers_no_column_that_it_did_not_count(tmp_path: Path) -> None:
    """A yes or no has other spellings than the labels no and yes, and ranges are other cells than bins."""
    with duckdb.connect() as connection:
        rows = "(VALUES (true, 1, 1.0), (true, 1, 2.0), (false, 0, 3.0))"
        target = tmp_path / "rows.parquet"
        connection.execute(f"COPY (SELECT * FROM {rows} v(smokes, drinks, x)) TO '{target}' (FORMAT parquet)")
    table = open_table(Embedded(path=tmp_path), name="folder")
    columns = tuple(DeclaredColumn(name=name, on=Labels(yes_no=True)) for name in ("smokes", "drinks"))
    held = table.snapshot(DeclaredTable(columns=columns))
    provenance = Provenance(kind=ProvenanceKind.STAND_IN, title="test")
    for name in ("smokes", "drinks"):
        assert Columns(names=(name,), on=Labels(yes_no=True)).dataset(held, provenance).histogram.tolist() == [1, 2, 0]
        with pytest.raises(DataError):
            Columns(names=(name,), on=Labels()).dataset(held, provenance)
    with pytest.raises(DataError, match="only by their declared cells"):
        from_engine(table, "x", Number(high=4.0, cuts=(1.0, 2.5)))
