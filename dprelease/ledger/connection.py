"""Connections to the SQLite files of a ledger: one per operation, with a rollback journal and synced commits.

The write-ahead log is not used, as SQLite before 3.51.3 can damage a file in that mode.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dprelease.ledger.reading import last_in
from dprelease.ledger.records import (
    DAMAGED,
    DRAW_IN_PROGRESS,
    UNFIT,
    UNSURE,
    UNWRITABLE,
    LedgerBusy,
    LedgerDamaged,
    LedgerError,
    LedgerNotPrivate,
    LedgerUnsure,
)
from dprelease.ledger.schema import APPLICATION, CHECKS, EARLIER_CHECKS, VERSION, script

PATIENCE = 60.0
"""Seconds that a writer waits for another one."""
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
DAMAGED_FILE = "The ledger's file is damaged. Restore a backup."
LINKED = (
    "The ledger's file has a second name (a hard link), under which another release could run at the same "
    "time. Remove the other name."
)
OPEN_FOLDER = (
    "Other accounts can enter or change the ledger's folder. It must belong to the account that runs this "
    "program, with mode 700 (`chmod 700`)."
)
OLDER = "The ledger has schema {schema}. Only an older program reads it; this program reads schema {known}."
PRAGMAS = (
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA trusted_schema = OFF",
)
RESTORES = "restores"
"""Folder with an empty note for each restored copy of a data set's file; a copy of the file does not include it."""


class FileConnection(sqlite3.Connection):
    """Connection to a ledger file."""

    def begin_snapshot(self) -> None:
        """Begin a read transaction, which is isolated from later writes."""
        self.execute("BEGIN")

    def damage(self) -> Iterator[str]:
        """Check the file, its tables and triggers; yields a sentence for each fault."""
        if self.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            yield DAMAGED_FILE
            return
        if self.execute("PRAGMA foreign_key_check").fetchall():
            yield "The ledger's tables are inconsistent. Restore a backup."
        if _shape(self) not in map(_expected, (CHECKS, EARLIER_CHECKS)):
            yield "The ledger's tables or triggers were changed. Restore a backup."

    def other_fingerprints(self) -> list[str]:
        """Return no fingerprints: a registration in a folder holds a lock that cannot be lost."""
        return []

    @property
    def path(self) -> Path:
        """Path of the file."""
        [place] = self.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
        return Path(place)

    def count_restore_notes(self) -> int:
        """Return the number of notes of restored copies beside the file."""
        path = self.path
        with translate_errors():
            return len(list((path.parent / RESTORES).glob(f"{path.stem}-*")))


def _shape(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the definitions of tables and triggers, without ANALYZE's statistics, which do not affect results."""
    query = (
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))"
    )
    return sorted(connection.execute(query).fetchall())


def _expected(checks: str) -> list[tuple[str, str]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script(checks))
        return _shape(connection)
    finally:
        connection.close()


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate every error of SQLite into a LedgerError without its message."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in LOCKED:
            raise LedgerBusy(DRAW_IN_PROGRESS) from None
        if isinstance(error, sqlite3.IntegrityError):
            raise LedgerError(UNFIT) from None
        if isinstance(error, sqlite3.OperationalError) and code not in (0, sqlite3.SQLITE_ERROR):  # 0: no UTF-8
            raise LedgerError(UNWRITABLE) from None
        raise LedgerDamaged(DAMAGED) from None
    except OSError:
        raise LedgerError(UNWRITABLE) from None
    except OverflowError:  # a number or a file beyond SQLite's limits
        raise LedgerError(UNFIT) from None


def write_private_file(path: Path, content: bytes) -> None:
    """Write a new file that only its owner may read; it is on the disk on return."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def create_private_file(path: Path, content: bytes = b"") -> None:
    """Create a file that only its owner may read, if it does not exist; it appears with its full contents at once.

    An existing file is not opened: closing it would drop the locks that this process holds on it (POSIX).
    """
    if path.exists():
        return
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    write_private_file(temporary, content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def require_private(path: Path, sentence: str) -> None:
    """Raise LedgerNotPrivate with this sentence if another account may access a file or folder (POSIX only)."""
    if os.name == "posix":
        with translate_errors():
            status = path.stat()
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise LedgerNotPrivate(sentence)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to the disk (POSIX only)."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def open_connection(
    path: Path, *, patience: float = PATIENCE, fresh: bool = False, copy: bool = False
) -> Iterator[FileConnection]:
    """Open a connection in autocommit mode; ``transaction`` begins transactions.

    Args:
        path: path of the file.
        patience: seconds to wait for another writer.
        fresh: whether the file is still empty.
        copy: whether it is a backup copy, which may have hard links.

    Raises:
        LedgerDamaged: the file is not a ledger.
        LedgerError: it is missing, cannot be read now, or has another schema version.
    """
    if path.is_symlink():  # another name would have another lock file
        raise LedgerError("The ledger's file is a symbolic link. Replace it by the file itself.")
    if not path.is_file():
        raise LedgerError("This ledger holds no such data set.")
    with translate_errors():
        if not copy and _has_other_names(path):
            raise LedgerError(LINKED)
        connection = sqlite3.connect(
            path, timeout=patience, isolation_level=None, check_same_thread=False, factory=FileConnection
        )
        try:
            for pragma in PRAGMAS:
                connection.execute(pragma)
            if not fresh:
                _check_schema(connection)
            yield connection
        finally:
            connection.close()


def _has_other_names(path: Path) -> bool:
    """Return whether a file has hard links other than this program's own, which share its lock file."""
    names = path.stat().st_nlink
    return names > 1 and names > sum(each.samefile(path) for each in path.parent.glob(f"{path.stem}.*"))


def _check_schema(connection: sqlite3.Connection) -> None:
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [schema] = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION or schema < 1:
        raise LedgerDamaged(DAMAGED)
    if schema > VERSION:
        raise LedgerError(f"The ledger has schema {schema}; this program knows schema {VERSION}. Use a newer program.")
    if schema < VERSION:
        raise LedgerError(OLDER.format(schema=schema, known=VERSION))


@contextmanager
def transaction(connection: FileConnection) -> Iterator[None]:
    """Run a transaction with the write lock from the beginning, so that values read in it stay valid.

    A commit may be done although it raises an error: the last entry's digest then shows that it was done.

    Raises:
        LedgerUnsure: it was done, but may be lost at a power failure.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        _, last = last_in(connection)
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    try:
        connection.execute("COMMIT")
    except sqlite3.Error:
        query = "SELECT 1 FROM entries WHERE digest = ?"
        if connection.in_transaction or not connection.execute(query, (last,)).fetchone():
            raise
        try:
            sync_folder(connection.path.parent)
        except OSError:
            raise LedgerUnsure(UNSURE) from None


@contextmanager
def turn(path: Path, *, patience: float) -> Iterator[None]:
    """Hold the lock file of a ledger file; the operating system releases the lock when the process ends.

    Raises:
        LedgerBusy: another process holds it.
    """
    with translate_errors():
        create_private_file(path)
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            yield
        finally:
            connection.close()
