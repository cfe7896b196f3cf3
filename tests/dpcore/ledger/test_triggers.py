"""What plain SQL cannot do to a ledger's file, and that what it can do is noticed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpcore.ledger.checks import check
from dpcore.ledger.connection import connected
from dpcore.ledger.records import Stored
from dpcore.ledger.schema import NAMES
from dpcore.ledger.store import Ledger
from dpcore.release import release
from tests.kit.ledgers import STEWARD, few_rows, registered, request_of

ATTEMPT = "INSERT INTO attempts SELECT count(*) + 1, 'digest', '{{}}', {first}, {delta}, 'Eve', 'day' FROM attempts"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ledger, str]:
    """A ledger with two releases, one published; ε 1 and δ 10⁻⁶ are left."""
    ledger, dataset_id = registered(tmp_path_factory.mktemp("ledger"), epsilon=2.0, delta=1e-6)
    for draw in (1, 2):
        assert isinstance(release(ledger, dataset_id, request_of(draw=draw), few_rows(), STEWARD), Stored)
    ledger.publish(dataset_id, 1, STEWARD)
    ledger.tell(dataset_id, "something", STEWARD)
    assert check(ledger, dataset_id) == []
    return ledger, dataset_id


@pytest.fixture
def held(original: tuple[Ledger, str], tmp_path: Path) -> tuple[Ledger, str]:
    """A copy of it."""
    shutil.copytree(original[0].folder, tmp_path / "copy")
    return Ledger(tmp_path / "copy"), original[1]


@pytest.fixture
def plain(held: tuple[Ledger, str]) -> Iterator[sqlite3.Connection]:
    """What any program that speaks SQL opens."""
    ledger, dataset_id = held
    with closing(sqlite3.connect(ledger.path(dataset_id), isolation_level=None)) as connection:
        yield connection


@pytest.mark.parametrize("table", NAMES)
def test_nothing_is_changed_removed_or_replaced(plain: sqlite3.Connection, table: str) -> None:
    [first, *_] = [row[1] for row in plain.execute(f"PRAGMA table_info({table})")]
    before = plain.execute(f"SELECT * FROM {table}").fetchall()
    assert before, "an empty table proves nothing"
    places = ", ".join("?" * len(before[0]))
    for sql, values in (
        (f"UPDATE {table} SET {first} = {first}", ()),
        (f"DELETE FROM {table}", ()),
        (f"INSERT OR REPLACE INTO {table} VALUES ({places})", before[0]),
        (f"REPLACE INTO {table} VALUES ({places})", before[-1]),
        (f"INSERT INTO {table} VALUES ({places}) ON CONFLICT DO UPDATE SET {first} = 9", before[0]),
    ):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(sql, values)
    assert plain.execute(f"SELECT * FROM {table}").fetchall() == before


def test_overspending_is_refused_to_the_last_unit(plain: sqlite3.Connection) -> None:
    for first, delta in ((10**9 + 1, 0), (0, 10**12 + 1), (2**63 - 1, 0), (-1, 0), (0, -1)):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(ATTEMPT.format(first=first, delta=delta))
    plain.execute(ATTEMPT.format(first=10**9, delta=10**12))  # all that is left
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(ATTEMPT.format(first=1, delta=0))


@pytest.mark.parametrize("first", [0, 1, 4 * 10**8, 6 * 10**8])
def test_a_charge_is_that_of_its_attempt(plain: sqlite3.Connection, first: int) -> None:
    plain.execute(ATTEMPT.format(first=5 * 10**8, delta=0))
    previous = plain.execute("SELECT entry_digest FROM charges ORDER BY entry DESC").fetchone()[0]
    values = "(3, 3, 'stored', 'digest', {}, 0, 1, '{{}}', 's', '{}', 'd')"
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(f"INSERT INTO charges VALUES {values.format(first, previous)}")
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(f"INSERT INTO charges VALUES {values.format(5 * 10**8, 'another')}")
    plain.execute(f"INSERT INTO charges VALUES {values.format(5 * 10**8, previous)}")


def test_a_budget_below_what_is_spent_or_of_another_measure_is_refused(plain: sqlite3.Connection) -> None:
    for measure, first in (("sums", 10**9 - 1), ("rho", 10**10)):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(f"INSERT INTO budgets VALUES (2, '{measure}', {first}, 0, 'r', 'Eve', 'day')")
    plain.execute(f"INSERT INTO budgets VALUES (2, 'sums', {10**9}, 0, 'r', 'Eve', 'day')")


FORGERIES = {
    "a cheaper charge": "UPDATE charges SET first_nano = 1 WHERE entry = 1",
    "a larger budget": "UPDATE budgets SET first_nano = 9000000000",
    "another body": "UPDATE charges SET body = replace(body, '30', '31') WHERE entry = 2",
    "another result": "UPDATE draws SET contents = x'00' WHERE entry = 1",
    "a result taken out": "DELETE FROM draws WHERE entry = 2",
    "the last entry taken out": "DELETE FROM draws WHERE entry = 2; DELETE FROM charges WHERE entry = 2;"
    " DELETE FROM attempts WHERE attempt = 2",
    "the first entry taken out": "DELETE FROM publications; DELETE FROM draws WHERE entry = 1;"
    " DELETE FROM charges WHERE entry = 1",
    "entries exchanged": "UPDATE draws SET entry = -entry; UPDATE draws SET entry = 3 + entry;"
    " UPDATE charges SET entry = -entry; UPDATE charges SET entry = 3 + entry; UPDATE publications SET entry = 2",
    "an empty body": "UPDATE charges SET body = '{}' WHERE entry = 2",
    "a body of another kind": "UPDATE charges SET body = '[[]]' WHERE entry = 2",
    "another relation": "UPDATE datasets SET relation = 'replace_one'",
    "a cheaper attempt": "UPDATE attempts SET first_nano = 1 WHERE attempt = 2",
}
UNSEEN = {"the last entry taken out"}
"""A shorter chain is a chain: only a certificate tells that it was longer."""


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_forged_without_the_triggers_is_found(held: tuple[Ledger, str], name: str) -> None:
    ledger, dataset_id = held
    with connected(ledger.path(dataset_id)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for trigger, _ in triggers:
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.executescript(FORGERIES[name])
        for _, sql in triggers:  # so that nothing but the entries tells
            connection.execute(sql)
    assert bool(check(ledger, dataset_id)) == (name not in UNSEEN)


def test_a_trigger_that_was_dropped_is_found(held: tuple[Ledger, str]) -> None:
    ledger, dataset_id = held
    with connected(ledger.path(dataset_id)) as connection:
        connection.execute("DROP TRIGGER attempt_within_budget")
    assert any("triggers were changed" in sentence for sentence in check(ledger, dataset_id))


@pytest.mark.parametrize("place", [0, 20, 4096])
def test_a_damaged_file_is_told_in_a_sentence(held: tuple[Ledger, str], place: int) -> None:
    ledger, dataset_id = held
    path = ledger.path(dataset_id)
    contents = bytearray(path.read_bytes())
    contents[place : place + 3000] = b"\xa5" * 3000
    path.write_bytes(contents)
    wrong = check(ledger, dataset_id)
    assert wrong and all("Restore a backup." in sentence for sentence in wrong)
