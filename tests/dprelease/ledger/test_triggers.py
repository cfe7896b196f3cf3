"""What plain SQL cannot do to a ledger's file, and that what it can do is noticed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dprelease.certificate import certificate, faults_against_ledger
from dprelease.ledger.checks import check
from dprelease.ledger.connection import open_connection
from dprelease.ledger.records import DAMAGED, LedgerError, Refused, Stored
from dprelease.ledger.schema import CHECKS, EARLIER_CHECKS, NAMES, script
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.ledger.writing import append
from dprelease.release import release
from tests.kit.ledgers import STEWARD, few_rows, forge, registered, request_of, stored_release

NEXT = (
    "INSERT INTO entries SELECT seq + 1, '{kind}', {about}, {first}, {delta}, '{{}}', 's', digest, '{digest}'"
    " FROM entries ORDER BY seq DESC LIMIT 1"
)
"""An entry that follows the last, as plain SQL of SQLite and Postgres writes it."""


def following(kind: str, *, about: int = 0, first: int = 0, delta: int = 0, digest: str = "d") -> str:
    """Plain SQL for it."""
    return NEXT.format(kind=kind, about=about, first=first, delta=delta, digest=digest)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ledger, str]:
    """A ledger with two releases, one published; ε 1 and δ 10⁻⁶ are left."""
    ledger, dataset_id = registered(tmp_path_factory.mktemp("ledger"), epsilon=2.0, delta=1e-6)
    for draw in (1, 2):
        assert isinstance(release(ledger, dataset_id, request_of(draw=draw), few_rows(), STEWARD), Stored)
    ledger.publish(dataset_id, 1, STEWARD)
    ledger.record_access(dataset_id, "something", STEWARD)
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


def test_a_file_that_no_entry_names_is_noticed(plain: sqlite3.Connection, held: tuple[Ledger, str]) -> None:
    plain.execute("INSERT INTO payloads VALUES ('d', x'00')")
    assert check(*held) == ["The ledger contains a file that belongs to no entry. Restore a backup."]
    assert isinstance(release(*held, request_of(draw=2), few_rows(), STEWARD), Refused)


def test_overspending_is_refused_to_the_last_unit(plain: sqlite3.Connection) -> None:
    for first, delta in ((10**9 + 1, 0), (1, 10**12 + 1), (2**63 - 1, 0), (-1, 0), (1, -1), (0, 0), (0, 1)):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(following("attempt", first=first, delta=delta))
    plain.execute(following("attempt", first=10**9, delta=10**12))  # all that is left
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(following("attempt", first=1, digest="e"))


@pytest.mark.parametrize("first", [0, 1, 4 * 10**8, 6 * 10**8])
@pytest.mark.parametrize("kind", ["stored", "failed"])
def test_a_charge_is_that_of_its_attempt(plain: sqlite3.Connection, kind: str, first: int) -> None:
    plain.execute(following("attempt", first=5 * 10**8))
    for about, charge in ((10, first), (6, 5 * 10**8), (0, 5 * 10**8), (4, 5 * 10**8)):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(following(kind, about=about, first=charge, digest="e"))
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(following("machine failed", about=10, first=1, digest="e"))
    plain.execute(following(kind, about=10, first=5 * 10**8, digest="e"))
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(following(kind, about=10, first=5 * 10**8, digest="f"))


def test_a_budget_below_what_is_spent_is_refused(plain: sqlite3.Connection) -> None:
    for first in (0, 10**9 - 1):
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute(following("budget", first=first))
    plain.execute(following("budget", first=10**9))


@pytest.mark.parametrize(
    "script",
    [
        following("published", about=5),  # once
        following("published", about=4),  # an attempt
        following("access", first=1),
        following("registered"),
        following("anything"),
        following("access").replace("seq + 1", "seq + 2"),
        following("access").replace("digest, 'd'", "'another', 'd'"),
        "INSERT OR REPLACE INTO payloads SELECT digest, x'00' FROM payloads",
    ],
)
def test_an_entry_follows_the_last_and_keeps_to_its_kind(plain: sqlite3.Connection, script: str) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(script)


def test_an_older_ledger_has_the_same_rules_and_adds_up(held: tuple[Ledger, str], plain: sqlite3.Connection) -> None:
    """It counts all entries at each new one, and is neither refused nor taken for a changed one."""
    ledger, dataset_id = held
    [order] = [each for each in EARLIER_CHECKS.split("CREATE TRIGGER ") if each.startswith("in_order")]
    assert "count(*)" in order and "count(*)" not in CHECKS
    plain.execute("DROP TRIGGER in_order")
    assert check(ledger, dataset_id) == ["The ledger's tables or triggers were changed. Restore a backup."]
    plain.execute(f"CREATE TRIGGER {order}")
    assert check(ledger, dataset_id) == []
    ledger.publish(dataset_id, 2, STEWARD)
    assert check(ledger, dataset_id) == []
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(following("access").replace("seq + 1", "seq + 2"))


@pytest.mark.parametrize("seq", ["NULL", "0", "-1", "seq", "seq + 2", "seq - 1", "9223372036854775807"])
def test_numbers_have_no_gap(plain: sqlite3.Connection, seq: str) -> None:
    before = plain.execute("SELECT count(*), max(seq) FROM entries").fetchone()
    with pytest.raises(sqlite3.IntegrityError):
        plain.execute(following("access").replace("seq + 1", seq))
    assert plain.execute("SELECT count(*), max(seq) FROM entries").fetchone() == before


def steps_of_appends(checks: str, entries: int) -> int:
    """Hundreds of steps of SQLite's machine for so many entries of a new ledger."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(script(checks))
        connection.set_progress_handler(count, 100)
        connection.execute("INSERT INTO entries VALUES (1, 'registered', 0, 0, 0, '{}', 's', '', '1')")
        for seq in range(2, entries + 1):
            connection.execute(following("access", digest=str(seq)))
    return steps


def test_an_entry_costs_the_same_however_many_there_are() -> None:
    few, many = (steps_of_appends(CHECKS, entries) for entries in (500, 1_000))
    assert many < 2.1 * few


LAST = "(SELECT max(seq) FROM entries)"
FORGERIES = {
    "a cheaper charge": "UPDATE entries SET first_nano = 1 WHERE seq = 5",
    "a cheaper attempt": "UPDATE entries SET first_nano = 1 WHERE seq = 6",
    "a larger budget": "UPDATE entries SET first_nano = 9000000000 WHERE kind = 'budget'",
    "another body": "UPDATE entries SET body = replace(body, '30', '31') WHERE seq = 7",
    "another spelling": "UPDATE entries SET body = replace(body, ':', ': ') WHERE seq = 9",
    "another result": "UPDATE payloads SET contents = x'00'",
    "a result taken out": "DELETE FROM payloads",
    "the last outcome taken out": "DELETE FROM entries WHERE seq = 7",
    "all that was written last": "DELETE FROM entries WHERE seq > 5; DELETE FROM payloads WHERE NOT EXISTS"
    " (SELECT 1 FROM entries WHERE seq = 5 AND body LIKE '%' || payloads.digest || '%')",
    "The first outcome taken out": "DELETE FROM entries WHERE seq IN (5, 8)",
    "entries exchanged": "UPDATE entries SET seq = -seq;"
    " UPDATE entries SET seq = CASE seq WHEN -5 THEN 7 WHEN -7 THEN 5 ELSE -seq END",
    "an empty body": "UPDATE entries SET body = '{}' WHERE seq = 7",
    "a body of another kind": "UPDATE entries SET body = '[[]]' WHERE seq = 7",
    "and the registration have different neighbouring relations": (
        "UPDATE entries SET body = replace(body, 'add_remove_one', 'replace_one') WHERE seq = 1"
    ),
    "an outcome of another attempt": "UPDATE entries SET about = 6 WHERE seq = 5",
    "a publication of another entry": "UPDATE entries SET about = 7 WHERE seq = 8",
    "a failure in place of a result": "UPDATE entries SET kind = 'failed' WHERE seq = 7",
}
UNSEEN = {"all that was written last"}
"""A shorter chain is a chain: only a certificate tells that it was longer."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_forged_without_the_triggers_is_found(held: tuple[Ledger, str], name: str) -> None:
    ledger, dataset_id = held
    forge(ledger.path(dataset_id), FORGERIES[name])
    assert bool(check(ledger, dataset_id)) == (name not in UNSEEN)


JOURNAL = {
    "DELETE FROM entries WHERE seq = 8": "line 8: it does not follow the previous entry",
    "UPDATE entries SET body = replace(body, 'Ada', 'Eve') WHERE seq = 8": "line 8: its contents were changed",
    "UPDATE entries SET about = 7 WHERE seq = 8": "line 8: its contents were changed",
    "UPDATE entries SET body = replace(body, 'some', 'no') WHERE seq = 9": "line 9: its contents were changed",
    "UPDATE entries SET body = replace(body, ':\"', ':\"0') WHERE seq = 2": "line 2: its contents were changed",
    "UPDATE entries SET first_nano = 3000000000 WHERE seq = 3": "line 3: its contents were changed",
    "UPDATE entries SET body = replace(body, 'Ada', 'Eve') WHERE seq = 6": "line 6: its contents were changed",
    "UPDATE entries SET salt = 'another' WHERE seq = 5": "line 5: its contents were changed",
    "UPDATE entries SET previous = digest WHERE seq = 5": "line 5: it does not follow the previous entry",
    "UPDATE entries SET digest = 'another' WHERE seq = 9": "line 9: its contents were changed",
    following("access"): "line 10: its contents were changed",
    following("published", about=7): "line 10: its contents were changed",
    following("attempt", first=1): "line 10: its contents were changed",
    following("budget", first=9 * 10**9): "line 10: its contents were changed",
}
"""With the sentence that tells it."""


@pytest.mark.slow
@pytest.mark.parametrize("script", JOURNAL)
def test_whatever_was_written_is_kept_from_change_and_the_place_is_named(held: tuple[Ledger, str], script: str) -> None:
    ledger, dataset_id = held
    forge(ledger.path(dataset_id), script)
    wrong = check(ledger, dataset_id)
    assert any(JOURNAL[script] in sentence for sentence in wrong), wrong
    came = release(ledger, dataset_id, request_of(draw=3), few_rows(), STEWARD)
    assert isinstance(came, Refused) and came.sentence == wrong[0], "the page is closed"


def appended(path: Path, kind: str, body: Any, *, first: int) -> None:
    """An entry that follows the last with a fitting digest, as whoever knows the program writes it by plain SQL."""
    with open_connection(path) as connection:
        append(connection, kind, body, amount=Price(epsilon_or_rho=first))


ONE = {"by": "Eve", "at": "2026-01-01"}
ADDED: dict[str, tuple[str, Any, int, str]] = {
    "an attempt at what is stored": (
        "attempt", {"request": request_of().document, **ONE}, 1, "a request can be charged only once",
    ),
    "an attempt of nobody": (
        "attempt", {"request": request_of(draw=9).document}, 1, "its body is not in the ledger's format",
    ),
    "a version of no rows": ("version", {}, 0, "its body is not in the ledger's format"),
    "a version of a list": ("version", [], 0, ""),
    "a number for a name": ("access", {"what": "x", **ONE, "by": 5}, 0, "its body is not in the ledger's"),
    "a budget without its measure": ("budget", {"reason": "x", **ONE}, 9 * 10**9, "its body is not in the"),
    "a copy that names more than it counts": (
        "restored", {"outcomes": 2, "machine_failed": ["0" * 64], **ONE}, 0, "its number of requests",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ADDED)
def test_an_entry_that_no_ledger_writes_is_found_though_its_digest_fits(held: tuple[Ledger, str], name: str) -> None:
    ledger, dataset_id = held
    kind, body, first, why = ADDED[name]
    appended(ledger.path(dataset_id), kind, body, first=first)
    wrong = check(ledger, dataset_id)
    assert wrong and why in wrong[0]
    assert release(ledger, dataset_id, request_of(draw=3), few_rows(), STEWARD) == Refused(sentence=wrong[0])


def test_a_certificate_knows_what_was_written_before_it(held: tuple[Ledger, str]) -> None:
    """Whoever makes up the end of the chain anew makes up the lines anew, and the certificate has the genuine ones."""
    ledger, dataset_id = held
    stored = ledger.stored(dataset_id)[-1]
    later = stored_release(ledger, dataset_id, request_of(epsilon=0.25, draw=3), by=STEWARD)
    assert faults_against_ledger(certificate(stored), ledger.lines(dataset_id)) == []
    [files] = {*later.body["files"].values()} - {*stored.body["files"].values()}
    forge(ledger.path(dataset_id), f"DELETE FROM entries WHERE seq > 8; DELETE FROM payloads WHERE digest = '{files}'")
    assert check(ledger, dataset_id) == []
    stored_release(ledger, dataset_id, request_of(epsilon=0.25, draw=3), by=STEWARD)
    assert faults_against_ledger(certificate(stored), ledger.lines(dataset_id)) == []
    assert "not genuine" in faults_against_ledger(certificate(later), ledger.lines(dataset_id))[0]


@pytest.mark.parametrize("step", ["publish", "tell", "set_budget", "add_version", "machine_failed"])
def test_a_damaged_chain_closes_everything_that_writes(held: tuple[Ledger, str], step: str) -> None:
    ledger, dataset_id = held
    steps: dict[str, Callable[[], None]] = {
        "publish": lambda: ledger.publish(dataset_id, 1, STEWARD),
        "tell": lambda: ledger.record_access(dataset_id, "something", STEWARD),
        "set_budget": lambda: ledger.set_budget(dataset_id, Price.allowed(epsilon=9.0), "more", STEWARD),
        "add_version": lambda: ledger.add_version(dataset_id, few_rows((1, 2)), STEWARD),
        "machine_failed": lambda: ledger.machine_failed(dataset_id, 1, STEWARD),
    }
    with closing(sqlite3.connect(ledger.path(dataset_id))) as connection:
        connection.execute("DROP TRIGGER entries_never_change")
        connection.execute("UPDATE entries SET body = replace(body, 'identity', 'median') WHERE kind = 'stored'")
        connection.commit()
        before = list(connection.iterdump())
        with pytest.raises(LedgerError, match="Restore a backup"):
            steps[step]()
        assert list(connection.iterdump()) == before


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE entries SET body = replace(body, 'add_remove_one', 'other') WHERE seq = 1",
        "UPDATE entries SET body = replace(body, 'sums', 'other') WHERE seq = 3",
        "UPDATE entries SET body = 'no JSON' WHERE seq = 5",
        f"UPDATE entries SET body = '{'[' * 100_000}' WHERE seq = 5",
        "UPDATE entries SET kind = 'other' WHERE seq = 5",
        "UPDATE entries SET about = 10 WHERE seq = 5",
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
    with open_connection(ledger.path(dataset_id)) as connection:
        connection.execute("DROP TRIGGER within_budget")
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
