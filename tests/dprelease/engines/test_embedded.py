"""DuckDB over a folder of Parquet: the same counts as of a file, and nothing else."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import pytest

from dpcore import Intervals, Neighbours
from dpcore.core import DataError, ParameterError, Provenance, ProvenanceKind
from dpcore.data.dates import Calendar
from dpcore.data.declared import Capped, DeclaredColumn, DeclaredTable
from dpcore.data.domains import Categories, Line, Truth
from dprelease.engines.embedded import Embedded
from dprelease.engines.engine import Allowance
from dprelease.engines.tables import EngineTable, from_engine, open_table
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns, Measure, Vectors
from dprelease.ledger.fingerprint import key_of
from dprelease.ledger.looks import note_look, print_of_name
from dprelease.ledger.records import Actor, Refused, Registration, Role, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import release
from dprelease.requests.single import Request
from tests.dprelease.engines.values import LABELS, differences, told, write_parquet

WHOLE = Columns(names=("whole",), on=Line(low=0, high=100, bits=6, missing=True))


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


def test_nothing_but_the_folder_can_be_read(folder: Path) -> None:
    engine = Embedded(path=folder)
    for query in (
        f"SELECT 0, count(*) FROM '{folder.parent / 'all.parquet'}'",
        f"COPY (SELECT 1) TO '{folder.parent / 'new.parquet'}'; SELECT 0, 1",
        "SET memory_limit = '8 GB'; SELECT 0, 1",
    ):
        with pytest.raises(DataError, match=r"could not|damaged") as problem:
            engine.answered(partial(engine.ask, query, {}, width=2))
        assert str(folder) not in str(problem.value)


LONG = "SELECT 0, count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 5"


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_interrupted(folder: Path) -> None:
    engine = Embedded(path=folder, allowance=Allowance(seconds=0.2))
    start = time.monotonic()
    with pytest.raises(DataError, match=r"took longer than 0\.2 seconds"):
        engine.answered(partial(engine.ask, LONG, {}, width=2))
    assert time.monotonic() - start < 30


def test_what_needs_rows_says_so(table: EngineTable) -> None:
    provenance = Provenance(kind=ProvenanceKind.PRIVATE, title="t")
    person = Capped(reading=WHOLE, person="label", rows=2)
    vectors = Vectors(measures=(Measure(column="whole"), Measure(column="label")))
    for reading, sentence in ((vectors, "gives counts"), (person, "in an order")):
        with pytest.raises(DataError, match=sentence):
            table.dataset(reading, provenance)
    dataset = table.dataset(WHOLE, provenance)
    assert dataset.n == table.row_count
    assert repr(dataset) == "<Dataset: private, Line>"
    with pytest.raises(DataError, match="counts of cells alone"):
        _ = dataset.records
    with pytest.raises(DataError, match="counts of cells alone"):
        table.distinct("label", 10)
    with pytest.raises(ParameterError, match="too close together"):
        from_engine(table, "whole", Line(low=1e15, high=1e15 + 1, bins=1001))


DECLARED = DeclaredTable(
    columns=(
        DeclaredColumn(name="whole", on=Line(low=0, high=100, bits=10, missing=True)),
        DeclaredColumn(name="label", on=Categories(labels=LABELS[:4])),
        DeclaredColumn(name="smoker", on=Truth()),
        DeclaredColumn(name="day", on=Calendar(), used=False),
    )
)


def test_a_snapshot_answers_from_its_counts_alone(table: EngineTable, file: Table) -> None:
    snapshot = table.snapshot(DECLARED)
    provenance = Provenance(kind=ProvenanceKind.PRIVATE, title="t")
    coarse = Columns(names=("whole",), on=Line(low=0, high=100, bits=3, missing=True))
    fewer = Columns(names=("label",), on=Categories(labels=(LABELS[2], LABELS[0])))
    for reading in (
        coarse, fewer, DECLARED.reading("whole"), DECLARED.reading("label", "whole"),
        DECLARED.reading("smoker", "label", "whole"),
    ):  # fmt: skip
        assert told(snapshot.dataset(reading, provenance)) == told(reading.dataset(file, provenance))
    for other in (
        Columns(names=("day",), on=Calendar(missing=True)),
        Columns(names=("whole",), on=Line(low=0, high=100, bits=3)),
        Columns(names=("whole",), on=Line(low=0, high=100, bins=10, missing=True)),
        Columns(names=("label",), on=Categories(labels=("new",))),
    ):
        with pytest.raises(DataError, match="other cells"):
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
    request = Request(
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
    stored = release(ledger, dataset_id, request, table.snapshot(DECLARED), by)
    assert isinstance(stored, Stored)
    assert ledger.account(dataset_id).spent == Price.allowed(epsilon=0.5, delta=0)
    assert not stored.body["guarantee"]["steward_saw_true_values"]
    # A look at other counts of the same table is a look at it.
    note_look(ledger.folder, print_of_name("another", key=key_of(ledger.folder)))
    for draw, name in ((2, ""), (3, "folder")):
        if name:
            note_look(ledger.folder, print_of_name(name, key=key_of(ledger.folder)))
        cheap = replace(request, draw=draw, values={"epsilon": 0.1})
        again = release(ledger, dataset_id, cheap, table.snapshot(DECLARED), by)
        assert isinstance(again, Stored) and again.body["guarantee"]["steward_saw_true_values"] == bool(name)
