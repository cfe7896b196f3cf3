"""Interfaces of stores and of connections to a data set, in a file or in a database's schema."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Cursor(Protocol):
    """Rows of a result."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows."""


class LedgerConnection(Protocol):
    """Connection to one data set."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Execute SQL that SQLite and Postgres share, with "?" as placeholder."""

    def begin_snapshot(self) -> None:
        """Begin a read transaction, which is isolated from later writes."""

    def damage(self) -> Iterator[str]:
        """Check the file, the tables and the triggers; yields a sentence for each fault."""

    def other_fingerprints(self) -> list[str]:
        """Return the fingerprints of other data sets registered meanwhile; no other registration can happen now."""

    def count_restore_notes(self) -> int:
        """Return the number of notes of restored copies outside the data set."""


class Store(Protocol):
    """Store of a ledger's data sets; safe for several threads and processes."""

    def dataset_ids(self) -> list[str]:
        """Return the ids of all data sets; an interrupted registration does not count."""

    def open_connection(self, dataset_id: str) -> AbstractContextManager[LedgerConnection]:
        """Open a connection for reading."""

    def writing(self, dataset_id: str) -> AbstractContextManager[LedgerConnection]:
        """Open a transaction of the data set's single writer."""

    def beginning(self, dataset_id: str) -> AbstractContextManager[LedgerConnection]:
        """Open the transaction that creates a data set, which appears once it is complete."""

    def turn(self, dataset_id: str, *, patience: float) -> AbstractContextManager[None]:
        """Hold the draw lock; raises LedgerBusy if another process holds it for too long."""

    def registering(self, key: bytes) -> AbstractContextManager[None]:
        """Hold the registration lock for this key."""

    def changed(self) -> Hashable:
        """Return a value that changes with every write."""
