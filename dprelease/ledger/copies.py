"""Backup and restore of a data set's file. The key is not copied."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path

from dprelease.ledger.chain import DIGEST, RESTORED
from dprelease.ledger.checks import damage_in_file, faults_in_file
from dprelease.ledger.connection import (
    PATIENCE,
    RESTORES,
    FileConnection,
    create_private_file,
    open_connection,
    sync_folder,
    transaction,
    translate_errors,
    turn,
)
from dprelease.ledger.fingerprint import SUFFIX
from dprelease.ledger.reading import count_in, declared_in, document_in
from dprelease.ledger.records import Actor, LedgerBusy, LedgerError
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores.files import Files
from dprelease.ledger.writing import record_access_entry, record_restored_copies

OF_A_DATABASE = (
    "These commands are only for ledgers in files. Copy a ledger in Postgres with pg_dump "
    "--schema='dpscope*', also while it is used. Restore the copy into an empty database with psql. Run "
    "`ledger check` before the next release. Charges made after the copy are lost, and no certificate "
    "states this."
)


MAX_TOLD = 1_000
"""Copies put back, and accesses, that are taken over from a damaged file: anybody may have written more into it."""


def backup(ledger: Ledger, dataset_id: str, folder: Path) -> Path:
    """Copy a data set's file with SQLite's backup, also during writes; the copy appears complete and checked.

    Raises:
        LedgerError: the copy cannot be written, exists already, or fails its check.
    """
    _require_files(ledger)
    path = Ledger(folder).path(dataset_id)
    with translate_errors():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        raise LedgerError("This folder contains a copy already. Choose another folder.")
    unfinished = _unfinished_path(path)
    with open_connection(ledger.path(dataset_id)) as source:
        _copy_database(source, unfinished)
    if wrong := faults_in_file(unfinished, dataset_id):
        raise LedgerError(wrong[0])
    with translate_errors():
        unfinished.rename(path)
        sync_folder(folder)
    return path


def _require_files(ledger: Ledger) -> None:
    if not isinstance(ledger.store, Files):
        raise LedgerError(OF_A_DATABASE)


def _copy_database(source: sqlite3.Connection, path: Path) -> None:
    with translate_errors():
        create_private_file(path)
        target = sqlite3.connect(path)
        try:
            source.backup(target)
        finally:
            target.close()


def restore(ledger: Ledger, copy: Path, by: Actor) -> Path | None:
    """Replace a file that is lost or damaged by a copy; the old file is kept beside it.

    Charges after the copy was made are missing. A note beside the file, which is written first, and entries in the copy
    record this; the entries include the events of the old file where it can be read. Certificates count them.

    Returns:
        The path of the old file; None if there was none.

    Raises:
        LedgerError: the ledger is valid, or the copy is not; or the ledger cannot be checked: it is a link, of another
            schema, or unreadable now.
    """
    by.must_be_steward("put a copy back")
    _require_files(ledger)
    dataset_id = copy.stem if copy.suffix == SUFFIX else ""
    path = ledger.path(dataset_id)
    with turn(path.with_suffix(".turn"), patience=PATIENCE), _write_lock_if_readable(path) as old:
        if _exists(path) and not damage_in_file(path, dataset_id):
            raise LedgerError("The ledger is consistent, so nothing was restored.")
        if wrong := faults_in_file(copy, dataset_id, copy=True):
            raise LedgerError(wrong[0])
        unfinished = _unfinished_path(path)
        with open_connection(copy, copy=True) as source:
            _copy_database(source, unfinished)
        with open_connection(unfinished) as connection, transaction(connection):
            for what, who in islice(_missing_accesses(old, connection), MAX_TOLD):
                record_access_entry(connection, what, who)
            forgotten = _forgotten_failures(old, connection)
            times = record_restored_copies(connection, by.name, more=1, least=_restored_count(old), forgotten=forgotten)
        _note_restores(path, times)
        return _replace_file(path, unfinished, dataset_id, suffix="replaced")


def _missing_accesses(old: sqlite3.Connection | None, copy: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Iterate over access entries of the old file, where it can be read, that are missing in a copy."""
    query = "SELECT body FROM entries WHERE kind = 'access' ORDER BY seq"
    known = Counter(copy.execute(query).fetchall())
    try:
        with translate_errors():
            accesses = old.execute(query).fetchall() if old else []
    except LedgerError:
        return
    for each in accesses:
        if known[each]:
            known[each] -= 1
            continue
        with suppress(LedgerError, TypeError, LookupError):
            body = document_in(each[0])
            if all(isinstance(body[name], str) and body[name].isprintable() for name in ("what", "by")):
                yield body["what"], body["by"]


def _forgotten_failures(old: FileConnection | None, copy: FileConnection) -> list[str]:
    """Return the requests whose machine failure is in the old file, where it can be read, but not in a copy."""
    try:
        with translate_errors():
            failures = Counter(declared_in(old)) if old else Counter[str]()
    except (LedgerError, TypeError, LookupError, sqlite3.Error):
        return []
    return [each for each in (failures - Counter(declared_in(copy))).elements() if DIGEST.fullmatch(each)]


def _restored_count(old: FileConnection | None) -> int:
    """Return the number of restored copies in the old file's entries, where it can be read."""
    try:
        return min(count_in(old, RESTORED), MAX_TOLD) if old else 0
    except (LedgerError, sqlite3.Error):
        return 0


def _note_restores(path: Path, times: int) -> None:
    """Write notes beside a file for its restored copies, as a copy does not contain its own restoration."""
    folder = path.parent / RESTORES
    with translate_errors():
        folder.mkdir(mode=0o700, exist_ok=True)
        for number in range(1, times + 1):
            with suppress(FileExistsError):
                # A note is empty: only its name has to reach the disk, which the folder does for all notes at once.
                os.close(os.open(folder / f"{path.stem}-{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        sync_folder(folder)
        sync_folder(path.parent)


@contextmanager
def _write_lock(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock without writing."""
    with translate_errors():
        connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def _write_lock_if_readable(path: Path) -> Iterator[FileConnection | None]:
    """Hold the write lock of a file if it is a readable ledger; else yield None."""
    with ExitStack() as stack:
        connection = None
        try:
            connection = stack.enter_context(open_connection(path))
            stack.enter_context(_write_lock(connection))
        except LedgerBusy:
            raise
        except LedgerError:
            pass
        yield connection


def _exists(path: Path) -> bool:
    """Return whether the name exists, also as a broken link."""
    with translate_errors():
        try:
            path.lstat()
        except FileNotFoundError:
            return False
    return True


def _unfinished_path(path: Path) -> Path:
    """Return the path for the new file, after removing the remains of an interrupted run."""
    unfinished = path.with_suffix(".made")
    with translate_errors():
        for left in (unfinished, _journal_path(unfinished)):
            left.unlink(missing_ok=True)
    return unfinished


def _journal_path(path: Path) -> Path:
    """Return the path of SQLite's journal of a file."""
    return path.with_name(f"{path.name}-journal")


def _replace_file(path: Path, unfinished: Path, dataset_id: str, *, suffix: str) -> Path | None:
    """Replace a file atomically by a finished one; returns the path of the old file, None if there was none."""
    if wrong := faults_in_file(unfinished, dataset_id):
        raise LedgerError(wrong[0])
    old_file = path.with_suffix(f".{suffix}")
    with translate_errors():
        number = 1
        while old_file.exists() and not (path.exists() and old_file.samefile(path)):
            number += 1
            old_file = path.with_suffix(f".{suffix}-{number}")
        there = path.exists()
        if there and not old_file.exists():
            os.link(path, old_file)
        if _journal_path(path).exists():  # the journal of a damaged file must not be applied to the new one
            _journal_path(path).rename(_journal_path(old_file))
        unfinished.replace(path)
        sync_folder(path.parent)
    return old_file if there else None
