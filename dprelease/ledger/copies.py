"""Copies of a data set's file: made, put back, and exchanged for one of a newer schema. The key stays where it is."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dprelease.ledger.checks import damage_in, wrong_in
from dprelease.ledger.connection import (
    PATIENCE,
    RESTORES,
    FileConnection,
    connected,
    made_private,
    on_the_disk,
    schema_of,
    sentences,
    transaction,
    turn,
)
from dprelease.ledger.fingerprint import SUFFIX
from dprelease.ledger.reading import copies_put_back_in, copies_told_in, lines_in
from dprelease.ledger.records import RESTORED, Actor, LedgerBusy, LedgerError
from dprelease.ledger.schema import KEYED, TABLES, TRIGGERS, VERSION
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores.files import Files
from dprelease.ledger.writing import insert, linked, today

OF_A_DATABASE = (
    "These commands are for ledgers of files. One in a database is copied by Postgres' own means, also while it is "
    "used: pg_dump --schema='dpscope*'. Put a copy into an empty database with psql, and `ledger check` it before "
    "anybody draws: what was charged in between is forgotten, and no certificate counts such a copy."
)


def backup(ledger: Ledger, dataset_id: str, folder: Path) -> Path:
    """A copy by SQLite's own means, also while somebody writes; there once it is whole and checked.

    Raises:
        LedgerError: the copy cannot be written, is there already, or does not add up.
    """
    _of_files(ledger)
    path = Ledger(folder).path(dataset_id)
    with sentences():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        raise LedgerError("There is a copy in this folder already: name another.")
    made = _unfinished(path)
    with connected(ledger.path(dataset_id)) as source:
        _copied(source, made)
    if wrong := wrong_in(made, dataset_id):
        raise LedgerError(wrong[0])
    with sentences():
        made.rename(path)
        on_the_disk(folder)
    return path


def _of_files(ledger: Ledger) -> None:
    if not isinstance(ledger.store, Files):
        raise LedgerError(OF_A_DATABASE)


def _copied(source: sqlite3.Connection, path: Path) -> None:
    with sentences():
        made_private(path)
        target = sqlite3.connect(path)
        try:
            source.backup(target)
        finally:
            target.close()


def restore(ledger: Ledger, copy: Path, by: Actor) -> Path | None:
    """Put a copy in the place of a file that is lost or does not add up; the old file is kept beside it.

    What was charged after the copy was made is forgotten. A note beside the file says so, which is there before the
    copy is, and events in it: also those that the old file tells, where it can be read. Certificates count them.

    Returns:
        Where the old file is; None if there was none.

    Raises:
        LedgerError: the ledger adds up as it is, or the copy does not; or nobody knows whether the ledger does: it is a
            link, of another schema, or cannot be read now.
    """
    by.must_be_steward("put a copy back")
    _of_files(ledger)
    dataset_id = copy.stem if copy.suffix == SUFFIX else ""
    path = ledger.path(dataset_id)
    with turn(path.with_suffix(".turn"), patience=PATIENCE), _held_if_legible(path) as old:
        if _there(path) and not damage_in(path, dataset_id):
            raise LedgerError("The ledger adds up as it is: nothing was put back.")
        if wrong := wrong_in(copy, dataset_id, copy=True):
            raise LedgerError(wrong[0])
        made = _unfinished(path)
        with connected(copy, copy=True) as source:
            _copied(source, made)
        with connected(made) as connection, transaction(connection):
            for event in _more_told(old, connection):
                insert(connection, "events", *event)
            times = copies_put_back_in(connection) + 1
            for _ in range(times - copies_told_in(connection)):
                insert(connection, "events", f"{RESTORED} {len(lines_in(connection))}", by.name, today())
        _note(path, times)
        return _exchanged(path, made, dataset_id, kept="replaced")


def _more_told(old: sqlite3.Connection | None, copy: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    """Events of the old file, where it can be read, that a copy has not."""
    query = "SELECT what, by, at FROM events ORDER BY event"
    known = Counter(copy.execute(query).fetchall())
    try:
        with sentences():
            told = old.execute(query).fetchall() if old else []
    except LedgerError:
        return
    for event in told:
        if known[event]:
            known[event] -= 1
        elif all(isinstance(each, str) and each.isprintable() for each in event):
            yield event


def _note(path: Path, times: int) -> None:
    """Write down beside a file how often a copy took its place: what was put back knows of no later time."""
    folder = path.parent / RESTORES
    with sentences():
        folder.mkdir(mode=0o700, exist_ok=True)
        for number in range(1, times + 1):
            made_private(folder / f"{path.stem}-{number}")
        on_the_disk(folder)
        on_the_disk(path.parent)


def migrate(ledger: Ledger, dataset_id: str, by: Actor) -> Path | None:
    """Bring a file of an older schema to this program's, on a copy that is checked and takes its place at once.

    Whoever waits for the old file writes nothing in it: SQLite sees that it was replaced.

    Returns:
        Where the old file is, as it was; None if the schema is this program's.

    Raises:
        LedgerError: the schema is newer than this program, the file does not add up, or somebody else draws.
    """
    by.must_be_steward("migrate a ledger")
    _of_files(ledger)
    path = ledger.path(dataset_id)
    with ledger.turn(dataset_id), connected(path, older=True) as old, _held(old):
        schema = schema_of(old)
        if schema == VERSION:
            return None
        made = _unfinished(path)
        with sentences():
            made_private(made)
        with connected(made, fresh=True) as new:
            _from_schema_1(old, new)
            with transaction(new):
                insert(new, "events", f"migrated from schema {schema} to {VERSION}", by.name, today())
        return _exchanged(path, made, dataset_id, kept=f"schema-{schema}")


def _from_schema_1(old: sqlite3.Connection, new: FileConnection) -> None:
    """All rows as they are, and the journal that schema 1 had not: a link for each."""
    new.executescript(f"BEGIN;{TABLES}COMMIT;")
    with transaction(new):
        for table in ("datasets", *KEYED, "draws"):
            rows = old.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            if table == "charges":  # the name of the journal's last link comes before the digest
                rows = [(*row[:-1], "", row[-1]) for row in rows]
            for row in rows:
                new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
                if table in KEYED:
                    linked(new, table, row)
    new.executescript(f"BEGIN;{TRIGGERS}COMMIT;")


@contextmanager
def _held(connection: sqlite3.Connection) -> Iterator[None]:
    """Nobody else writes meanwhile, and nothing is written."""
    with sentences():
        connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def _held_if_legible(path: Path) -> Iterator[FileConnection | None]:
    """The same for a file that may be lost or no database, in which nobody can write; then there is no connection."""
    with ExitStack() as stack:
        connection = None
        try:
            connection = stack.enter_context(connected(path, older=True))
            stack.enter_context(_held(connection))
        except LedgerBusy:
            raise
        except LedgerError:
            pass
        yield connection


def _there(path: Path) -> bool:
    """Whether there is anything of this name, be it a link to nothing."""
    with sentences():
        try:
            path.lstat()
        except FileNotFoundError:
            return False
    return True


def _unfinished(path: Path) -> Path:
    """Where the file that shall take this one's place is made; what somebody left there who died is removed."""
    made = path.with_suffix(".made")
    with sentences():
        for left in (made, _journal(made)):
            left.unlink(missing_ok=True)
    return made


def _journal(path: Path) -> Path:
    """SQLite's own, beside a file."""
    return path.with_name(f"{path.name}-journal")


def _exchanged(path: Path, made: Path, dataset_id: str, *, kept: str) -> Path | None:
    """Put a finished file in the place of another, at once; returns where the other is, None if there was none."""
    if wrong := wrong_in(made, dataset_id):
        raise LedgerError(wrong[0])
    beside = path.with_suffix(f".{kept}")
    with sentences():
        number = 1
        while beside.exists() and not (path.exists() and beside.samefile(path)):
            number += 1
            beside = path.with_suffix(f".{kept}-{number}")
        there = path.exists()
        if there and not beside.exists():
            os.link(path, beside)
        if _journal(path).exists():  # of a file that cannot be read: it must not meet the new one
            _journal(path).rename(_journal(beside))
        made.replace(path)
        on_the_disk(path.parent)
    return beside if there else None
