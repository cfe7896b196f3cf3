"""Connections to a Postgres database through psycopg: one per operation, without the database's own messages."""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from dprelease.ledger.records import (
    DAMAGED,
    DRAW_IN_PROGRESS,
    UNFIT,
    UNWRITABLE,
    LedgerBusy,
    LedgerDamaged,
    LedgerError,
)

NO_DRIVER = "This server has no driver for Postgres. Its administrator can install the extra “engines”."
POOLED = "There is a connection pooler between this server and the ledger's database. Use the database's own address."
SECONDS_TO_CONNECT = 5
KEEPALIVE = {
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
SETTINGS = (
    "SET synchronous_commit = on",
    "SET default_transaction_read_only = off",
    "SET default_transaction_isolation = 'read committed'",
    "SET idle_in_transaction_session_timeout = 0",
    "SET statement_timeout = 0",
    # A long draw leaves the session idle; older servers lack some of these settings.
    "SELECT set_config(name, '0', false) FROM pg_settings"
    " WHERE name IN ('idle_session_timeout', 'transaction_timeout')",
    "SET client_min_messages = 'error'",
    "SET standard_conforming_strings = on",
    # The locks of a vanished client are released after about a minute instead of two hours.
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
    # The same for data that was sent but not acknowledged.
    "SET tcp_user_timeout = 60000",
)
BUSY = {"55P03", "40P01"}
"""SQLSTATE codes of a lock timeout and a deadlock."""
GONE = ("08", "25", "40", "42501", "53", "54", "55", "57", "58")
"""Prefixes of SQLSTATE codes of temporary errors: no connection, no permission, no space, shutting down."""


def driver() -> Any:
    """Import psycopg; raises LedgerError if it is not installed."""
    try:
        return importlib.import_module("psycopg")
    except ImportError:
        raise LedgerError(NO_DRIVER) from None


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate every error of the driver into a LedgerError with our own sentence."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        code = error.sqlstate or ""
        if code in BUSY:
            raise LedgerBusy(DRAW_IN_PROGRESS) from None
        if code.startswith(("22", "23")) or (not code and isinstance(error, psycopg.DataError)):
            raise LedgerError(UNFIT) from None
        if not code or code.startswith(GONE):
            raise LedgerError(UNWRITABLE) from None
        raise LedgerDamaged(DAMAGED) from None
    except OSError:
        raise LedgerError(UNWRITABLE) from None
    except UnicodeError:
        raise LedgerError(UNFIT) from None


class PostgresConnection:
    """Connection in autocommit mode."""

    def __init__(self, address: str) -> None:
        self._connection = driver().connect(
            address,
            autocommit=True,
            connect_timeout=SECONDS_TO_CONNECT,
            application_name="dpscope ledger",
            client_encoding="utf8",
            prepare_threshold=None,
            **KEEPALIVE,
        )
        try:
            self._connection.execute("; ".join(SETTINGS))
            if self._connection.execute("SELECT pg_backend_pid()").fetchone() != (self._connection.info.backend_pid,):
                raise LedgerError(POOLED)
        except BaseException:
            self.close()
            raise

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        """Execute SQL with "?" as placeholder; without values it may hold several statements."""
        return self._connection.execute(sql.replace("?", "%s"), values) if values else self._connection.execute(sql)

    @property
    def version(self) -> int:
        """Version of the server."""
        return int(self._connection.info.server_version)

    def patient(self, seconds: float) -> None:
        """Set the lock timeout, at least 1 ms, as 0 means no limit in Postgres."""
        self.execute(f"SET lock_timeout = {max(1, math.ceil(1000 * seconds))}")

    def close(self) -> None:
        """Close the connection, which rolls back its transaction and releases its locks."""
        with suppress(Exception):
            self._connection.close()


def lock_number(*names: str) -> int:
    """Return the 64-bit key of an advisory lock."""
    hashed = hashlib.sha256("\0".join(names).encode()).digest()
    return int.from_bytes(hashed[:8], signed=True)
