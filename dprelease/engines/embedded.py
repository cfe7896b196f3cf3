"""DuckDB inside this process: over a folder of Parquet files, larger than memory or not, or over a database's file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpcore.core import DataError
from dpcore.data.reading.duck import Connection, connect, quoted, run
from dpcore.data.reading.intake import LIMITS, Limits
from dpcore.data.reading.tables import plain
from dprelease.engines.dialects import Dialect, Duck, TableColumn, Values
from dprelease.engines.engine import MOST_COLUMNS, NOT_COUNTS, Engine

MOST_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Embedded(Engine):
    """A folder of Parquet files with the same columns, or a table of a database's file; nothing else can be read.

    Attributes:
        path: the folder, or the database's file.
        name: of the table in a database's file; empty for a folder.
    """

    dialect: ClassVar[Dialect] = Duck()
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
            raise DataError("A folder of Parquet files has no table's name, and a database's file needs one.")
        folders, attached = ([path], None) if path.is_dir() else ([], path)
        return connect([], limits=self.limits, threads=self.allowance.threads, folders=folders, attached=attached)

    @property
    def limits(self) -> Limits:
        """As the file reader's have it. ``Engine.answered`` keeps the time, with its own sentence."""
        return replace(LIMITS, memory_bytes=self.allowance.memory_bytes, seconds=MOST_SECONDS)

    @property
    def table(self) -> str:
        """All files of the folder, or the table."""
        if self.name:
            return ".".join(map(self.dialect.name, ["attached", *self.name.split(".")]))
        return f"read_parquet({quoted(self.path.resolve() / '**' / '*.parquet')}, hive_partitioning = false)"

    def columns(self) -> list[TableColumn]:
        """Those that a file's reader would read."""
        query = f"SELECT column_name AS name, column_type AS kind FROM (DESCRIBE FROM {self.table})"
        found = self.answered(lambda: run(self._connection, query, limits=self.limits))
        kinds = [
            TableColumn(name=str(name), kind=str(kind)) for name, kind in zip(found["name"], found["kind"], strict=True)
        ]
        return [each for each in kinds if plain("x", each.kind)][:MOST_COLUMNS]

    def ask(self, query: str, values: Values, *, width: int) -> Any:
        """In one array, (m, width)."""
        with self._connection.cursor() as cursor:
            self._asking.append(cursor)
            try:
                found = run(cursor, query, dict(values) or None, limits=self.limits)
            finally:
                self._asking.remove(cursor)
        if any(np.ma.is_masked(each) for each in found.values()):
            raise DataError(NOT_COUNTS)
        return np.stack([np.asarray(each, dtype=np.int64) for each in found.values()], axis=1)

    def interrupt(self) -> None:
        """DuckDB's own: a cursor is a connection of its own."""
        for cursor in list(self._asking):
            cursor.interrupt()

    def close(self) -> None:
        """The connection holds no file open but while it reads."""
        self._connection.close()
