"""What plain SQL cannot do to a ledger's file, and that what it can do is noticed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dprelease.certificate import against, certificate
from dprelease.ledger.checks import check
from dprelease.ledger.connection import connected
from dprelease.ledger.records import DAMAGED, LedgerError, Refused, Stored
from dprelease.ledger.schema import NAMES
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import release
from tests.kit.ledgers import STEWARD, few_rows, forge, registered, request_of

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


def test_a_result_replaced_by_the_number_that_sqlite_gives_its_row_is_noticed(
    plain: sqlite3.Connection, held: tuple[Ledger, str]
) -> None:
    """No trigger forbids it: of all tables this one has such a number beside its own key."""
    [(first, last)] = plain.execute("SELECT min(rowid), max(entry) FROM draws").fetchall()
    plain.execute("REPLACE INTO draws (rowid, entry, name, contents) VALUES (?, ?, 'new', x'00')", (first, last))
    assert check(*held) == [
        f"The ledger does not add up at entry {entry}: its result is not the one that was charged. Restore a backup."
        for entry in (1, 2)
    ]
    assert isinstance(release(*held, request_of(draw=2), few_rows(), STEWARD), Refused)


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
    record = plain.execute("SELECT link_digest FROM journal ORDER BY link DESC").fetchone()[0]
    values = "(3, 3, 'stored', 'digest', {}, 0, 1, '{{}}', 's', '{}', '{}', 'd')"
    for wrong in ((first, previous, record), (5 * 10**8, "another", record), (5 * 10**8, previous, "another")):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(f"INSERT INTO charges VALUES {values.format(*wrong)}")
    plain.execute(f"INSERT INTO charges VALUES {values.format(5 * 10**8, previous, record)}")


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
    "all that was written last, with its links": "DELETE FROM draws WHERE entry = 2; DELETE FROM publications;"
    " DELETE FROM charges WHERE entry = 2; DELETE FROM attempts WHERE attempt = 2; DELETE FROM events;"
    " DELETE FROM journal WHERE link > 4",
    "the first entry taken out": "DELETE FROM publications; DELETE FROM draws WHERE entry = 1;"
    " DELETE FROM charges WHERE entry = 1",
    "entries exchanged": "UPDATE draws SET entry = -entry; UPDATE draws SET entry = 3 + entry;"
    " UPDATE charges SET entry = -entry; UPDATE charges SET entry = 3 + entry; UPDATE publications SET entry = 2",
    "an empty body": "UPDATE charges SET body = '{}' WHERE entry = 2",
    "a body of another kind": "UPDATE charges SET body = '[[]]' WHERE entry = 2",
    "another relation": "UPDATE datasets SET relation = 'replace_one'",
    "a cheaper attempt": "UPDATE attempts SET first_nano = 1 WHERE attempt = 2",
}
UNSEEN = {"all that was written last, with its links"}
"""A shorter chain is a chain: only a certificate tells that it was longer."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_forged_without_the_triggers_is_found(held: tuple[Ledger, str], name: str) -> None:
    ledger, dataset_id = held
    forge(ledger.path(dataset_id), FORGERIES[name])
    assert bool(check(ledger, dataset_id)) == (name not in UNSEEN)


JOURNAL = {
    "DELETE FROM publications": "the publication of entry 1: it was taken out",
    "UPDATE publications SET by = 'Eve'": "the publication of entry 1: it is not what was written",
    "UPDATE publications SET entry = 2": "the publication of entry 1: it was taken out",
    "INSERT INTO publications VALUES (2, 'Ada', '2026-01-01')": "the publication of entry 2: no ledger wrote it",
    "DELETE FROM events": "event 1: it was taken out",
    "UPDATE events SET what = 'nothing'": "event 1: it is not what was written",
    "INSERT INTO events VALUES (2, 'the steward saw nothing', 'Ada', '2026-01-01')": "event 2: no ledger wrote it",
    "UPDATE versions SET fingerprint = 'another'": "version 1: it is not what was written",
    "INSERT INTO versions VALUES (2, 'another', 'Ada', '2026-01-01')": "version 2: no ledger wrote it",
    "DELETE FROM versions": "version 1: it was taken out",
    "UPDATE budgets SET reason = 'none', first_nano = 3000000000": "budget 1: it is not what was written",
    "INSERT INTO budgets VALUES (2, 'sums', 9000000000, 0, 'r', 'Ada', '2026-01-01')": "budget 2: no ledger wrote it",
    "INSERT INTO attempts VALUES (3, 'd', '{}', 0, 0, 'Eve', '2026-01-01')": "attempt 3: no ledger wrote it",
    "UPDATE attempts SET by = 'Eve' WHERE attempt = 2": "attempt 2: it is not what was written",
    "DELETE FROM journal WHERE link = 5; UPDATE journal SET link = link - 1 WHERE link > 5": "link 5: it does not",
    "DELETE FROM journal WHERE link = (SELECT max(link) FROM journal)": "event 1: no ledger wrote it",
    "DELETE FROM journal": "event 1: no ledger wrote it",
    "UPDATE charges SET record = 'another' WHERE entry = 2": "entry 2: it is not what was booked",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", JOURNAL)
def test_whatever_was_written_is_kept_from_change_and_the_place_is_named(held: tuple[Ledger, str], script: str) -> None:
    ledger, dataset_id = held
    forge(ledger.path(dataset_id), script)
    wrong = check(ledger, dataset_id)
    assert any(JOURNAL[script] in sentence for sentence in wrong), wrong
    came = release(ledger, dataset_id, request_of(draw=3), few_rows(), STEWARD)
    strange = "versions" in script  # rows that no version names are refused before
    assert isinstance(came, Refused) and (strange or came.sentence == wrong[0]), "the page is closed"
    assert ledger.account(dataset_id).spent == Price.allowed(epsilon=1.0)


def test_a_certificate_knows_what_was_written_before_it(held: tuple[Ledger, str]) -> None:
    """Whoever makes up the journal anew makes up the lines anew, and the certificate has the genuine ones."""
    ledger, dataset_id = held
    stored = ledger.stored(dataset_id)[-1]
    later = release(ledger, dataset_id, request_of(epsilon=0.25, draw=3), few_rows(), STEWARD)
    assert isinstance(later, Stored)
    assert against(certificate(stored), ledger.lines(dataset_id)) == []
    forge(ledger.path(dataset_id), "DELETE FROM journal WHERE link >= (SELECT link FROM journal WHERE kind = 'events');"
          " DELETE FROM events; DELETE FROM charges WHERE entry = 3; DELETE FROM draws WHERE entry = 3;"
          " DELETE FROM attempts WHERE attempt = 3")  # fmt: skip
    assert check(ledger, dataset_id) == []
    again = release(ledger, dataset_id, request_of(epsilon=0.25, draw=3), few_rows(), STEWARD)
    assert isinstance(again, Stored)
    assert against(certificate(stored), ledger.lines(dataset_id)) == []
    assert "not genuine" in against(certificate(later), ledger.lines(dataset_id))[0]


def test_rows_that_are_not_linked_close_the_page_though_every_trigger_let_them_in(
    plain: sqlite3.Connection, held: tuple[Ledger, str]
) -> None:
    plain.execute("INSERT INTO events VALUES (2, 'more', 'Eve', 'day')")
    assert check(*held) == ["The ledger does not add up at event 2: no ledger wrote it. Restore a backup."]


@pytest.mark.parametrize("step", ["publish", "tell", "set_budget", "add_version", "machine_failed"])
def test_a_damaged_chain_closes_everything_that_writes(held: tuple[Ledger, str], step: str) -> None:
    ledger, dataset_id = held
    steps: dict[str, Callable[[], None]] = {
        "publish": lambda: ledger.publish(dataset_id, 1, STEWARD),
        "tell": lambda: ledger.tell(dataset_id, "something", STEWARD),
        "set_budget": lambda: ledger.set_budget(dataset_id, Price.allowed(epsilon=9.0), "more", STEWARD),
        "add_version": lambda: ledger.add_version(dataset_id, few_rows((1, 2)), STEWARD),
        "machine_failed": lambda: ledger.machine_failed(dataset_id, 1, STEWARD),
    }
    with closing(sqlite3.connect(ledger.path(dataset_id))) as connection:
        connection.execute("DROP TRIGGER charges_never_change")
        connection.execute("UPDATE charges SET body = replace(body, 'identity', 'median')")
        connection.commit()
        before = list(connection.iterdump())
        with pytest.raises(LedgerError, match="Restore a backup"):
            steps[step]()
        assert list(connection.iterdump()) == before


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE datasets SET relation = 'other'",
        "UPDATE budgets SET measure = 'other'",
        "UPDATE charges SET body = 'no JSON'",
        f"UPDATE charges SET body = '{'[' * 100_000}'",
    ],
)
def test_a_value_that_no_ledger_writes_is_a_sentence_wherever_it_is_read(held: tuple[Ledger, str], script: str) -> None:
    """Whoever writes the file may turn the checks of its columns off; a page reads more than what is checked first."""
    ledger, dataset_id = held
    forge(ledger.path(dataset_id), f"PRAGMA ignore_check_constraints = ON; {script}")
    assert any("Restore a backup." in sentence for sentence in check(ledger, dataset_id))
    for read in (ledger.registration, ledger.account, ledger.stored, ledger.lines):
        try:
            read(dataset_id)
        except LedgerError as error:
            assert str(error) == DAMAGED
    assert isinstance(release(ledger, dataset_id, request_of(draw=3), few_rows(), STEWARD), Refused)


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
