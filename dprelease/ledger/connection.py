"""Connections to the SQLite files of a ledger: one per operation, rollback journal, every commit on the disk.

Not the write-ahead log: SQLite before 3.51.3 can damage a file in that mode.
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
    LedgerUnsure,
)
from dprelease.ledger.schema import APPLICATION, SCRIPT, VERSION

PATIENCE = 60.0
"""Seconds that a writer waits for another."""
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
DAMAGED_FILE = "The ledger's file is damaged. Restore a backup."
LINKED = "The ledger's file has a second name, a hard link, and beside it another turn to draw: remove the other name."
OPEN_FOLDER = (
    "Other accounts may enter or change the ledger's folder: it must belong to the account that runs this program, "
    "with mode 700 (`chmod 700`)."
)
OLDER = "The ledger has schema {schema}, which only an older program reads; this one knows schema {known}."
PRAGMAS = (
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA trusted_schema = OFF",
)
RESTORES = "restores"
"""In a ledger's folder: an empty note for each copy that took the place of a data set's file, which a copy has not."""


class FileConnection(sqlite3.Connection):
    """An open file of a ledger."""

    def begin_snapshot(self) -> None:
        """One picture of the file from here on, whoever writes meanwhile."""
        self.execute("BEGIN")

    def damage(self) -> Iterator[str]:
        """What is wrong with the file, its tables or its triggers, one sentence each."""
        if self.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            yield DAMAGED_FILE
            return
        if self.execute("PRAGMA foreign_key_check").fetchall():
            yield "The ledger's tables do not fit each other. Restore a backup."
        if _shape(self) != _expected():
            yield "The ledger's tables or triggers were changed. Restore a backup."

    def other_fingerprints(self) -> list[str]:
        """None: whoever registers in a folder holds a lock that no other can take away."""
        return []

    @property
    def path(self) -> Path:
        """Of the file."""
        [place] = self.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
        return Path(place)

    def count_restore_notes(self) -> int:
        """How many notes beside the file say that a copy took its place."""
        path = self.path
        with translate_errors():
            return len(list((path.parent / RESTORES).glob(f"{path.stem}-*")))


def _shape(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Tables and triggers; what ANALYZE keeps decides how SQLite searches, and not what it finds."""
    query = (
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))"
    )
    return sorted(connection.execute(query).fetchall())


def _expected() -> list[tuple[str, str]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(SCRIPT)
        return _shape(connection)
    finally:
        connection.close()


@contextmanager
def translate_errors() -> Iterator[None]:
    """Every error of SQLite becomes a LedgerError; its own messages are not passed on."""
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
    except OverflowError:  # a number or a file that SQLite has no room for
        raise LedgerError(UNFIT) from None


def create_private_file(path: Path, content: bytes = b"") -> None:
    """Make a file that only its user may read, if there is none; nobody ever reads half of it.

    A file that is there is not opened: closing it again would drop the locks that this process holds on it (POSIX).
    """
    if path.exists():
        return
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def require_private(path: Path, sentence: str) -> None:
    """Raise LedgerError with this sentence if another account may use a file or folder; only POSIX has such modes."""
    if os.name == "posix":
        with translate_errors():
            status = path.stat()
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise LedgerError(sentence)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder be on the disk; only POSIX opens folders."""
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
    """A connection in autocommit mode; transactions are begun by ``transaction``.

    Args:
        path: of the file.
        patience: seconds to wait for another writer.
        fresh: whether the file is empty yet.
        copy: whether it is one of which nobody draws; a backup program may keep it by links.

    Raises:
        LedgerDamaged: the file is not a ledger.
        LedgerError: it is not there, cannot be read now, or is of another version of its schema.
    """
    if path.is_symlink():  # beside another name there is another turn
        raise LedgerError("The ledger's file is a link to another: put the file itself there.")
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
    """Whether a file has another name than those this program gives it: they begin with its own, and have its turn."""
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
    """All or nothing: a writer's lock from the beginning, so that what was read before stays true.

    A commit may be done, and the disk fail after it: what was written ends the chain with a digest of its own.

    Raises:
        LedgerUnsure: it was done, and may be lost with the machine's power.
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
    """Hold a lock beside a ledger file; the operating system gives it back when its process ends, however it ends.

    Raises:
        LedgerBusy: somebody else holds it.
    """
    with translate_errors():
        create_private_file(path)
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            yield
        finally:
            connection.close()
