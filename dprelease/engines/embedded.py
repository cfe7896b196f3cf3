"""DuckDB inside this process, on a folder of Parquet files of any size or on a database file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import DataError
from dpcore.data.reading.duck import Connection, connect, quoted, run
from dpcore.data.reading.intake import LIMITS, Limits
from dprelease.engines.engine import NOT_COUNTS, Engine

MAX_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Embedded(Engine):
    """A folder of Parquet files with the same columns, or a table of a database file; nothing else can be read.

    Attributes:
        path: the folder or the database file.
        name: name of the table in a database file; empty for a folder.
    """

    compiler: ClassVar[str] = "DuckDBCompiler"
    place: ClassVar[str] = "$p{}"
    path: Path
    name: str = ""
    _connection: Connection = field(init=False)
    _asking: list[Connection] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        connection = self.answered(self._connect)
        object.__setattr__(self, "_connection", connection)

    def _connect(self) -> Connection:
        path = self.path.resolve(strict=True)
        if path.is_dir() is bool(self.name):
            raise DataError("A folder of Parquet files takes no table name, and a database file needs one.")
        folders, attached = ([path], None) if path.is_dir() else ([], path)
        connection = connect([], limits=self.limits, threads=self.allowance.threads, folders=folders, attached=attached)
        if folders:
            files = quoted(path / "**" / "*.parquet")
            connection.execute(f"CREATE VIEW files AS FROM read_parquet({files}, hive_partitioning = false)")
        return connection

    @property
    def limits(self) -> Limits:
        """Limits of the file reader; ``Engine.answered`` enforces the time limit with its own sentence."""
        return replace(LIMITS, memory_bytes=self.allowance.memory_bytes, seconds=MAX_SECONDS)

    @override
    @property
    def table(self) -> Sequence[str]:
        """Name of the view of all files, or of the table."""
        names = self.name.split(".")
        return ("attached", *(names if len(names) > 1 else ["main", *names])) if self.name else ("files",)

    @override
    def described(self) -> list[tuple[str, str]]:
        name = ".".join('"' + each.replace('"', '""') + '"' for each in self.table)
        query = f"SELECT column_name AS name, column_type AS kind FROM (DESCRIBE FROM {name})"
        description = run(self._connection, query, limits=self.limits)
        return list(zip(map(str, description["name"]), map(str, description["kind"]), strict=True))

    @override
    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        """Return the answer as one array, (m, width)."""
        given = {f"p{number}": labels for number, labels in enumerate(texts, 1)}
        with self._connection.cursor() as cursor:
            self._asking.append(cursor)
            try:
                columns = run(cursor, query, given or None, limits=self.limits)
            finally:
                self._asking.remove(cursor)
        if any(np.ma.is_masked(each) for each in columns.values()):
            raise DataError(NOT_COUNTS)
        return np.stack([np.asarray(each, dtype=np.int64) for each in columns.values()], axis=1)

    @override
    def interrupt(self) -> None:
        """Interrupt every running cursor: in DuckDB each is a connection of its own."""
        for cursor in list(self._asking):
            cursor.interrupt()

    @override
    def close(self) -> None:
        """Close the connection, which holds files open only while it reads."""
        self._connection.close()
