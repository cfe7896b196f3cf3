"""Whether a ledger adds up, and copies of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from dpcore.ledger.canonical import digest, digest_of_bytes
from dpcore.ledger.chain import MACHINE_FAILED, faults, first_digest
from dpcore.ledger.connection import connected, made_private, sentences
from dpcore.ledger.records import LedgerError
from dpcore.ledger.schema import SCRIPT
from dpcore.ledger.store import Ledger, account_in, lines_in, registration_in

WRONG = "The ledger does not add up at entry {entry}: {why}. Restore a backup."


def check(ledger: Ledger, dataset_id: str) -> list[str]:
    """Everything that is wrong with a data set's file, one sentence each; it reads all of it."""
    try:
        with connected(ledger.path(dataset_id)) as connection:
            connection.execute("BEGIN")  # one picture of the file, whoever writes meanwhile
            return list(_wrong(connection, dataset_id))
    except LedgerError as error:
        return [str(error)]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ["The ledger cannot be read. Restore a backup."]


def _wrong(connection: sqlite3.Connection, dataset_id: str) -> Iterator[str]:
    if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        yield "The ledger's file is damaged. Restore a backup."
        return
    if connection.execute("PRAGMA foreign_key_check").fetchall():
        yield "The ledger's tables do not fit each other. Restore a backup."
    if _shape(connection) != _expected():
        yield "The ledger's tables or triggers were changed. Restore a backup."
    registration = registration_in(connection)
    if registration.dataset_id != dataset_id:
        yield "The ledger's file is another data set's. Restore a backup."
    lines = lines_in(connection)
    for entry, why in faults(lines, start=first_digest(registration.document)):
        yield WRONG.format(entry=entry, why=why)
    begun_or_booked = {
        row[0]: row[1:]
        for row in connection.execute("SELECT attempt, request_digest, first_nano, delta_atto, request FROM attempts")
    }
    rows = connection.execute(
        "SELECT entry, attempt, outcome, request_digest, first_nano, delta_atto, body, entry_digest FROM charges"
        " ORDER BY entry"
    ).fetchall()
    for line, (entry, attempt, outcome, request, first, delta, body, entry_digest) in zip(lines, rows, strict=True):
        if digest(line) != entry_digest:
            yield WRONG.format(entry=entry, why="it is not what was booked")
        held = begun_or_booked.get(attempt, ("", 0, 0, ""))
        charged = (0, 0) if outcome == MACHINE_FAILED else held[1:3]
        if request != held[0] or (first, delta) != charged or digest(json.loads(body)["request"]) != request:
            yield WRONG.format(entry=entry, why="it is not the outcome of its attempt")
        files = connection.execute("SELECT name, contents FROM draws WHERE entry = ?", (entry,))
        digests = {name: digest_of_bytes(contents) for name, contents in files}
        if digests != (json.loads(body)["files"] if outcome == "stored" else {}):
            yield WRONG.format(entry=entry, why="its result is not the one that was charged")
    if len({row[0] for row in rows}) != len(rows) or [row[0] for row in rows] != list(range(1, len(rows) + 1)):
        yield "The ledger's entries are not numbered in order. Restore a backup."
    account = account_in(connection)
    if not account.spent.within(account.budget):
        yield "More is spent than the budget. Restore a backup."


def _shape(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return sorted(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())


def _expected() -> list[tuple[str, str]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(SCRIPT)
        return _shape(connection)
    finally:
        connection.close()


def backup(ledger: Ledger, dataset_id: str, folder: Path) -> Path:
    """A copy by SQLite's own means, also while somebody writes; checked. The key stays where it is.

    Raises:
        LedgerError: the copy cannot be written, is there already, or does not add up.
    """
    copied = Ledger(folder)
    path = copied.path(dataset_id)
    with sentences():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        raise LedgerError("There is a copy in this folder already: name another.")
    with sentences():
        made_private(path)
        target = sqlite3.connect(path)
        try:
            with connected(ledger.path(dataset_id)) as source:
                source.backup(target)
        finally:
            target.close()
    if wrong := check(copied, dataset_id):
        raise LedgerError(wrong[0])
    return path
