"""Connections to the SQLite files of a ledger: one per operation, rollback journal, every commit on the disk.

Not the write-ahead log: SQLite before 3.51.3 can damage a file in that mode.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpcore.ledger.records import DAMAGED, TAKEN, UNFIT, UNWRITABLE, LedgerBusy, LedgerDamaged, LedgerError
from dpcore.ledger.schema import APPLICATION, VERSION

PATIENCE = 60.0
"""Seconds that a writer waits for another."""
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
LINKED = "The ledger's file has a second name, a hard link, and beside it another turn to draw: remove the other name."
OLDER = "The ledger has schema {schema}: `run.py ledger migrate` makes it schema {known} and keeps the old file."
PRAGMAS = (
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA trusted_schema = OFF",
)


@contextmanager
def sentences() -> Iterator[None]:
    """Every error of SQLite becomes a LedgerError; its own messages are not passed on."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in LOCKED:
            raise LedgerBusy(TAKEN) from None
        if isinstance(error, sqlite3.IntegrityError):
            raise LedgerError(UNFIT) from None
        if isinstance(error, sqlite3.OperationalError) and code not in (0, sqlite3.SQLITE_ERROR):  # 0: no UTF-8
            raise LedgerError(UNWRITABLE) from None
        raise LedgerDamaged(DAMAGED) from None
    except OSError:
        raise LedgerError(UNWRITABLE) from None
    except OverflowError:  # a number or a file that SQLite has no room for
        raise LedgerError(UNFIT) from None


def made_private(path: Path) -> None:
    """Make an empty file that only its user may read, if there is none.

    A file that is there is not opened: closing it again would drop the locks that this process holds on it (POSIX).
    """
    if path.exists():
        return
    made = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        made.unlink()


def on_the_disk(folder: Path) -> None:
    """Have the names in a folder be on the disk; only POSIX opens folders."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def connected(
    path: Path, *, patience: float = PATIENCE, fresh: bool = False, older: bool = False, copy: bool = False
) -> Iterator[sqlite3.Connection]:
    """A connection in autocommit mode; transactions are begun by ``transaction``.

    Args:
        path: of the file.
        patience: seconds to wait for another writer.
        fresh: whether the file is empty yet.
        older: whether its schema may be older than this program's.
        copy: whether it is one of which nobody draws; a backup program may keep it by links.

    Raises:
        LedgerDamaged: the file is not a ledger.
        LedgerError: it is not there, cannot be read now, or is of another version of its schema.
    """
    if path.is_symlink():  # beside another name there is another turn
        raise LedgerError("The ledger's file is a link to another: put the file itself there.")
    if not path.is_file():
        raise LedgerError("This ledger holds no such data set.")
    with sentences():
        if not copy and _named_elsewhere(path):
            raise LedgerError(LINKED)
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            for pragma in PRAGMAS:
                connection.execute(pragma)
            if not fresh:
                _known(connection, older=older)
            yield connection
        finally:
            connection.close()


def _named_elsewhere(path: Path) -> bool:
    """Whether a file has another name than those this program gives it: they begin with its own, and have its turn."""
    names = path.stat().st_nlink
    return names > 1 and names > sum(each.samefile(path) for each in path.parent.glob(f"{path.stem}.*"))


def schema_of(connection: sqlite3.Connection) -> int:
    """The version of an open file's schema."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _known(connection: sqlite3.Connection, *, older: bool) -> None:
    [application] = connection.execute("PRAGMA application_id").fetchone()
    schema = schema_of(connection)
    if application != APPLICATION or schema < 1:
        raise LedgerDamaged(DAMAGED)
    if schema > VERSION:
        raise LedgerError(f"The ledger has schema {schema}; this program knows schema {VERSION}. Use a newer program.")
    if schema < VERSION and not older:
        raise LedgerError(OLDER.format(schema=schema, known=VERSION))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: a writer's lock from the beginning, so that what was read before stays true."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def turn(path: Path, *, patience: float) -> Iterator[None]:
    """Hold a lock beside a ledger file; the operating system gives it back when its process ends, however it ends.

    Raises:
        LedgerBusy: somebody else holds it.
    """
    with sentences():
        made_private(path)
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            yield
        finally:
            connection.close()
