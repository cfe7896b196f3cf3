"""The only interface to DuckDB: locked-down connections, and its messages replaced by ours.

DuckDB's messages quote records, so they are never passed on, not even as the cause of our own error.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from typing_extensions import override

from dpcore.core import DataError
from dpcore.data.reading.intake import Limits
from dpcore.data.reading.scratch import FULL, NO_ROOM, UNWRITABLE

Connection = duckdb.DuckDBPyConnection


def quoted(text: Path | str) -> str:
    """Return the text as an SQL string."""
    return "'" + str(text).replace("'", "''") + "'"


def connect(
    paths: Sequence[Path], *, limits: Limits, threads: int, folders: Sequence[Path] = (), attached: Path | None = None
) -> Connection:
    """Return a DuckDB in memory that can touch the given files and nothing else, and cannot be told otherwise.

    Args:
        paths: the files.
        limits: its memory is enforced here.
        threads: at most.
        folders: of which all files may be read.
        attached: a database's file, to be read under the name "attached".
    """
    connection = duckdb.connect(":memory:")
    if attached:
        connection.execute(f"ATTACH {quoted(attached)} AS attached (READ_ONLY)")
    for setting in (
        f"allowed_paths = [{', '.join(map(quoted, paths))}]",
        f"allowed_directories = [{', '.join(quoted(f'{folder}/') for folder in folders)}]",
        "temp_directory = ''",
        "enable_external_access = false",
        "enable_progress_bar = false",
        f"memory_limit = '{limits.memory_bytes} B'",
        f"threads = {threads}",
        "GLOBAL TimeZone = 'UTC'",  # of cursors, too: an instant's day must not hang on where the machine stands
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def cursor_of(connection: Connection) -> Connection:
    """Return a connection of its own to the same records; raises DataError where they are gone."""
    try:
        return connection.cursor()
    except duckdb.Error:
        pass
    raise DataError("the file was closed, and its rows are deleted.")


TITLE_ABOVE = " If a title stands above the header, set Format: Lines to skip (--format skip=1 for one line)."
"""Of rows about people no title is guessed: a person's row could be taken for one."""


class _Alarm(threading.Timer):
    """Calls again and again until it is cancelled: an interruption that comes before the query has begun is lost."""

    @override
    def run(self) -> None:
        while not self.finished.wait(self.interval):
            self.function(*self.args, **self.kwargs)


def run(
    connection: Connection,
    query: str,
    parameters: dict[str, Any] | None = None,
    *,
    limits: Limits,
    records: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """Return the query's columns as arrays by name.

    Args:
        connection: from ``connect``, or a cursor of it.
        query: SQL without anything in it that a stranger wrote.
        parameters: values for the query's ``$name`` places.
        limits: its seconds are enforced here.
        records: when the query parses a CSV, the fields of each row and the rows above the first record.

    Raises:
        DataError: one sentence without the file's name.
    """
    alarm = _Alarm(limits.seconds, connection.interrupt)
    alarm.daemon = True
    alarm.start()
    try:
        return dict(connection.execute(query, parameters).fetchnumpy())
    except (duckdb.Error, RuntimeError, MemoryError, UnicodeError) as error:
        sentence = _sentence(error, limits, records)
    finally:
        alarm.cancel()
        alarm.join()  # or it could still reach a connection that is closed, or asked something else
    raise DataError(sentence)


def _sentence(error: Exception, limits: Limits, records: tuple[int, int] | None) -> str:
    """Return the error in our words; of DuckDB's message only numbers are used: rows, fields, a system's error."""
    if isinstance(error, (duckdb.OutOfMemoryException, MemoryError)):
        return f"it needs more than the {limits.memory_bytes >> 20:,} MB of memory that reading may take."
    if isinstance(error, duckdb.InterruptException):
        return f"it took longer than {limits.seconds:g} seconds."
    if isinstance(error, duckdb.IOException) and (number := re.search(r'"errno":"(\d+)"', str(error))):
        return FULL if int(number[1]) in NO_ROOM else UNWRITABLE
    if records is None:
        return "its contents are damaged or do not match its Parquet footer."
    fields, rows_before = records
    message = str(error)
    place = re.match(r"[\w ]*: CSV Error on Line: (\d+)\n", message)
    row = f"row {int(place[1]) + rows_before:,}" if place else "a row"
    # DuckDB quotes the record, then gives its reason on a line of its own, then its advice: count from the end, or a
    # record could pass for the reason.
    reason = message[: message.rfind("\nPossible fixes:")].rstrip().rpartition("\n")[2]
    counts = re.fullmatch(r"Expected Number of Columns: \d+ Found: (\d+)", reason)
    if counts:
        width = int(counts[1])
        more, first = width > fields, place is not None and int(place[1]) == 1
        return (
            f"{row} has {width:,} field{'s'[: width != 1]}{' or more' * more} where {fields:,} "
            f"{'were' if fields > 1 else 'was'} expected.{TITLE_ABOVE * (more and (first or fields == 1))}"
        )
    return f"{row} has a quotation mark that is not closed or not doubled, or is too long."
