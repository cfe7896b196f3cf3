"""Postgres and Spark: the same counts as of a file; `python3 run.py test engines` installs what they need."""

from __future__ import annotations

import importlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dpcore import Number
from dpcore.core import DataError
from dpcore.data.columns import Labels
from dpcore.data.reading.tables import Table, read_table
from dprelease.engines.engine import Allowance
from dprelease.engines.postgres import Postgres
from dprelease.engines.spark import Spark
from dprelease.engines.tables import from_engine, open_table
from tests.dprelease.engines.values import (
    SECRET,
    differences,
    edge_differences,
    load_postgres,
    running_postgres,
    write_edges,
    write_parquet,
)

pytestmark = pytest.mark.engines
SIXTY = Number(low=0, high=60, bins=60, missing=True)
SPARK = (("spark.sql.codegen.wholeStage", "false"), ("spark.sql.codegen.factoryMode", "NO_CODEGEN"))
"""Each query of this test is asked once: nothing is gained by compiling it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parquet(tmp_path_factory.mktemp("engine") / "folder")[0].parent


@pytest.fixture(scope="module")
def file(folder: Path) -> Table:
    return read_table(folder.parent / "all.parquet", name="all.parquet")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a Postgres that holds the rows; its log is looked through at the end."""
    psycopg = importlib.import_module("psycopg")
    with running_postgres() as (address, _):
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            load_postgres(connection)
        yield address


def test_postgres_and_a_file_of_the_same_rows_give_the_same_counts(address: str, file: Table) -> None:
    table = open_table(Postgres(address=address, name="people"), name="people")
    assert table.columns == file.columns
    assert table.row_count == file.row_count
    assert differences(table, file) == {}
    assert edge_differences(open_table(Postgres(address=address, name="edges"), name="edges")) == []
    schema = open_table(Postgres(address=address, name="public.people"), name="people")
    assert from_engine(schema, "whole", SIXTY).n == file.row_count


def test_spark_and_a_file_of_the_same_rows_give_the_same_counts(
    folder: Path, file: Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = Spark(name=str(folder), settings=SPARK, allowance=Allowance(seconds=200))
    table = open_table(engine, name="people")
    assert table.columns == file.columns
    assert table.row_count == file.row_count
    assert differences(table, file, few=True) == {}
    edges = Spark(name=str(write_edges(tmp_path)), settings=SPARK, allowance=Allowance(seconds=200))
    assert edge_differences(open_table(edges, name="edges")) == []
    capfd.readouterr()
    with pytest.raises(DataError, match="could not answer"):
        engine.answered(lambda: engine.ask(f"SELECT CAST('{SECRET}' AS INT), 1", [], width=2))
    with pytest.raises(DataError, match="could not answer"):
        engine.answered(lambda: engine.ask(f"SELECT CAST(label AS INT), 1 FROM {engine.table}", [], width=2))
    assert SECRET not in "".join(capfd.readouterr())


def test_a_session_of_postgres_can_only_read(address: str) -> None:
    engine = Postgres(address=address, name="people")
    with pytest.raises(DataError, match="could not answer"):
        engine.answered(lambda: engine.ask("DELETE FROM people RETURNING 1, 1", [], width=2))
    assert open_table(engine, name="people").row_count


def test_types_of_postgres_that_files_have_not_are_counted_or_left_out(address: str) -> None:
    with importlib.import_module("psycopg").connect(address, autocommit=True) as connection:
        connection.execute("CREATE TYPE text_like AS ENUM ('cook')")
        connection.execute("CREATE TABLE odd (x numeric, job char(9), m money, e text_like, a text[], j json)")
        rows = ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "-1e-400", "29", "57.9999", None)
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO odd VALUES (%s, 'O''Brien', 1, 'cook', '{a}', '1')", [[each] for each in rows]
            )
    table = open_table(Postgres(address=address, name="odd"), name="odd")
    assert table.columns == ("x", "job")
    line = Number(low=0, high=58, bins=2, missing=True, clamp=False)
    assert from_engine(table, "x", line).histogram.tolist() == [
        2,
        2,
        6,
    ]  # what is nearly 0 is 0, what is no double is missing
    assert from_engine(table, "job", Labels(labels=("O'Brien",))).histogram.tolist() == [10, 0]


def test_postgres_is_left_when_it_takes_too_long_and_asked_again(address: str) -> None:
    engine = Postgres(address=address, name="people", allowance=Allowance(seconds=0.5))
    table = open_table(engine, name="people")
    start = time.monotonic()
    with pytest.raises(DataError, match=r"took longer than 0\.5 seconds"):
        engine.answered(lambda: engine.ask("SELECT 1, 1 FROM pg_sleep(60)", [], width=2))
    assert time.monotonic() - start < 20
    assert from_engine(table, "whole", SIXTY).n == table.row_count


def test_an_answer_without_end_ends(address: str) -> None:
    engine = Postgres(address=address, name="people", allowance=Allowance(answers=10))
    rows = engine.answered(lambda: engine.ask("SELECT generate_series(1, 1000000000), 1", [], width=2))
    assert len(rows) == 11


@pytest.mark.parametrize("name", ["nobody", "people; DROP TABLE people", 'people"', "nowhere.people", f"{SECRET}"])
def test_a_table_that_is_not_there_is_not_named(address: str, name: str) -> None:
    with pytest.raises(DataError) as problem:
        open_table(Postgres(address=address, name=name), name="people")
    assert name not in str(problem.value)


@pytest.mark.parametrize(
    "says", [b"", b"E" + b"\0" * 20, b"E\0\0\0\x40SFATAL\0M" + SECRET.encode() + b"\0\0", b"R" * 4096]
)
def test_a_server_that_is_no_postgres_gets_one_sentence(says: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):
                line, _ = server.accept()
                with line:
                    line.recv(4096)
                    line.sendall(says)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        address = f"host=127.0.0.1 port={server.getsockname()[1]} user=x password={SECRET} sslmode=disable"
        with pytest.raises(DataError) as problem:
            open_table(Postgres(address=address, name="people"), name="people")
        thread.join(10)
    assert SECRET not in str(problem.value) + "".join(capfd.readouterr())


def test_a_database_that_cannot_be_reached_gets_one_sentence() -> None:
    with pytest.raises(DataError, match="could not answer"):
        open_table(Postgres(address=f"host=127.0.0.1 port=1 password={SECRET}", name="people"), name="people")
