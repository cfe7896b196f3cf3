"""What an open data set can be asked, be it a file or a schema of a database."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Cursor(Protocol):
    """Rows."""

    def fetchone(self) -> Any:
        """The next; None after the last."""

    def fetchall(self) -> list[Any]:
        """The rest."""

    def __iter__(self) -> Iterator[Any]:
        """One by one."""


class LedgerConnection(Protocol):
    """A connection to one data set."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Plain SQL that SQLite and Postgres share; "?" stands for each value."""

    def begin_snapshot(self) -> None:
        """One picture of everything from here on, whoever writes meanwhile."""

    def damage(self) -> Iterator[str]:
        """What is wrong with the file, the tables or the triggers, one sentence each."""

    def other_fingerprints(self) -> list[str]:
        """Fingerprints of other data sets, where they may be more than when registering began; none joins them now."""

    def count_restore_notes(self) -> int:
        """How many notes outside it say that a copy took its place."""


class Store(Protocol):
    """Where the data sets of one ledger are kept; all of it is safe to use from several threads and processes."""

    def dataset_ids(self) -> list[str]:
        """Every data set; one whose registration was cut short is none."""

    def open_connection(self, dataset_id: str) -> AbstractContextManager[LedgerConnection]:
        """A connection that reads."""

    def writing(self, dataset_id: str) -> AbstractContextManager[LedgerConnection]:
        """A transaction, all or nothing, of the data set's one writer."""

    def beginning(self, dataset_id: str) -> AbstractContextManager[LedgerConnection]:
        """The transaction that makes a new data set: it is there once it is whole."""

    def turn(self, dataset_id: str, *, patience: float) -> AbstractContextManager[None]:
        """Only one at a time draws; raises LedgerBusy if somebody else does for too long."""

    def registering(self, key: bytes) -> AbstractContextManager[None]:
        """Only one at a time says which rows are new, by this key."""

    def changed(self) -> Hashable:
        """Another value whenever something was written."""
