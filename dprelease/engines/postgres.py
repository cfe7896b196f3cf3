"""Postgres, by psycopg: a session that can only read, closed when it takes too long."""

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
        address: as libpq has it: "host=… dbname=… user=… password=…", or postgresql://….
        name: of the table, with its schema or without.
    """

    compiler: ClassVar[str] = "PostgresCompiler"
    place: ClassVar[str] = "CAST(${} AS TEXT[])"
    address: str
    name: str
    _held: list[Any] = field(default_factory=list, init=False)
    _shut: list[Any] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._held)

    @override
    @property
    def table(self) -> Sequence[str]:
        return self.name.split(".")

    def _connection(self) -> Any:
        """The one that is open, or another: the engine may have dropped it, or an interruption shut it."""
        for held in [each for each in self._held if each.closed or each in self._shut]:
            held.close()
            self._held.remove(held)
        self._shut.clear()
        if not self._held:
            psycopg = driver("psycopg", extra="engines")
            made = psycopg.connect(
                self.address, autocommit=True, connect_timeout=SECONDS_TO_CONNECT, application_name="dpscope"
            )
            self._held.append(made)
            for setting in SETTINGS:
                made.execute(setting)
            made.execute(f"SET statement_timeout = {int(1000 * self.allowance.seconds)}")
        return self._held[-1]

    @override
    def described(self) -> list[tuple[str, str]]:
        """In the table's order; an amount of money is no number there."""
        query = (
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass($1)"
            " AND attnum > 0 AND NOT attisdropped AND atttypid <> 'money'::regtype ORDER BY attnum"
        )
        name = ".".join('"' + each.replace('"', '""') + '"' for each in self.table)
        return [(str(name), str(kind)) for name, kind in self._stream(query, [name], most=2 * MAX_COLUMNS)]

    def _stream(self, query: str, values: list[Any], *, most: int) -> list[tuple[Any, ...]]:
        """Row by row, so that an answer without end ends here."""
        psycopg = driver("psycopg", extra="engines")
        rows = []
        try:
            with psycopg.RawCursor(self._connection()) as cursor:
                for row in cursor.stream(query, values):
                    rows.append(row)
                    if len(rows) > most:
                        self.close()  # or the rest would be read before anything else
                        break
        except psycopg.errors.QueryCanceled:  # the server looked at its clock first
            raise DataError(self.allowance.too_slow) from None
        return rows

    @override
    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        found = self._stream(query, texts, most=self.allowance.answers)
        if any(len(row) != width for row in found):
            raise DataError(NOT_COUNTS)
        return found

    @override
    def interrupt(self) -> None:
        """Shut the connection: an engine that does not answer may not listen either."""
        for held in list(self._held):
            with socket.socket(fileno=socket.dup(held.fileno())) as line:
                self._shut.append(held)
                line.shutdown(socket.SHUT_RDWR)

    @override
    def close(self) -> None:
        _close(self._held)


def _close(held: list[Any]) -> None:
    while held:
        held.pop().close()
