"""Postgres through psycopg: a read-only session, which is closed when a query takes too long."""

from __future__ import annotations

import socket
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from typing_extensions import override

from dpcore.core import DataError
from dprelease.engines.engine import MAX_COLUMNS, NOT_COUNTS, Engine, driver

SECONDS_TO_CONNECT = 10
SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET TimeZone = 'UTC'",
    "SET standard_conforming_strings = on",
    "SET client_min_messages = 'error'",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Postgres(Engine):
    """A table of a Postgres database.

    Attributes:
        address: libpq connection string: "host=… dbname=… user=… password=…", or postgresql://….
        name: name of the table, with or without its schema.
    """

    compiler: ClassVar[str] = "PostgresCompiler"
    place: ClassVar[str] = "CAST(${} AS TEXT[])"
    address: str
    name: str
    _connections: list[Any] = field(default_factory=list, init=False)
    _interrupted: list[Any] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._connections)

    @override
    @property
    def table(self) -> Sequence[str]:
        return self.name.split(".")

    def _connection(self) -> Any:
        """Return the open connection, or a new one if the engine or an interruption closed it."""
        for stale in [each for each in self._connections if each.closed or each in self._interrupted]:
            stale.close()
            self._connections.remove(stale)
        self._interrupted.clear()
        if not self._connections:
            psycopg = driver("psycopg", extra="engines")
            connection = psycopg.connect(
                self.address, autocommit=True, connect_timeout=SECONDS_TO_CONNECT, application_name="dpscope"
            )
            self._connections.append(connection)
            for setting in SETTINGS:
                connection.execute(setting)
            connection.execute(f"SET statement_timeout = {int(1000 * self.allowance.seconds)}")
        return self._connections[-1]

    @override
    def described(self) -> list[tuple[str, str]]:
        """Return the columns in the table's order; columns of type money are left out."""
        query = (
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass($1)"
            " AND attnum > 0 AND NOT attisdropped AND atttypid <> 'money'::regtype ORDER BY attnum"
        )
        name = ".".join('"' + each.replace('"', '""') + '"' for each in self.table)
        return [(str(name), str(kind)) for name, kind in self._stream(query, [name], max_rows=2 * MAX_COLUMNS)]

    def _stream(self, query: str, values: list[Any], *, max_rows: int) -> list[tuple[Any, ...]]:
        """Fetch the answer row by row, so that an endless answer stops at ``max_rows``."""
        psycopg = driver("psycopg", extra="engines")
        rows = []
        try:
            with psycopg.RawCursor(self._connection()) as cursor:
                for row in cursor.stream(query, values):
                    rows.append(row)
                    if len(rows) > max_rows:
                        self.close()  # otherwise the driver would read the rest first
                        break
        except psycopg.errors.QueryCanceled:  # the server's own time limit came first
            raise DataError(self.allowance.too_slow) from None
        return rows

    @override
    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        rows = self._stream(query, texts, max_rows=self.allowance.answers)
        if any(len(row) != width for row in rows):
            raise DataError(NOT_COUNTS)
        return rows

    @override
    def interrupt(self) -> None:
        """Shut down the socket: an engine that does not answer may not accept a cancel request either."""
        for connection in list(self._connections):
            with socket.socket(fileno=socket.dup(connection.fileno())) as line:
                self._interrupted.append(connection)
                line.shutdown(socket.SHUT_RDWR)

    @override
    def close(self) -> None:
        _close(self._connections)


def _close(connections: list[Any]) -> None:
    while connections:
        connections.pop().close()
