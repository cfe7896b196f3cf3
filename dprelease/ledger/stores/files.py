"""Store with one SQLite file per data set in the ledger's folder."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from dprelease.ledger.connection import (
    PATIENCE,
    create_private_file,
    open_connection,
    transaction,
    translate_errors,
    turn,
)
from dprelease.ledger.fingerprint import NAME, SUFFIX, datasets_in
from dprelease.ledger.records import DAMAGED, LedgerError
from dprelease.ledger.schema import script
from dprelease.ledger.stores.protocols import LedgerConnection, Store

NO_SUCH = "This ledger holds no such data set."


def file_of(folder: Path, dataset_id: str) -> Path:
    """Return the path of a data set's file; raises LedgerError for an invalid id."""
    if not re.fullmatch(NAME, dataset_id):
        raise LedgerError(NO_SUCH)
    return folder / f"{dataset_id}{SUFFIX}"


class Files(Store):
    """Store of SQLite files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @override
    def dataset_ids(self) -> list[str]:
        return datasets_in(self.folder)

    @override
    @contextmanager
    def open_connection(self, dataset_id: str) -> Iterator[LedgerConnection]:
        with open_connection(file_of(self.folder, dataset_id)) as connection:
            yield connection

    @override
    @contextmanager
    def writing(self, dataset_id: str) -> Iterator[LedgerConnection]:
        with open_connection(file_of(self.folder, dataset_id)) as connection, transaction(connection):
            yield connection

    @override
    @contextmanager
    def beginning(self, dataset_id: str) -> Iterator[LedgerConnection]:
        """Open the transaction that creates a data set; the file gets its name once it is complete."""
        path = file_of(self.folder, dataset_id)
        unfinished = path.with_suffix(".unfinished")
        with translate_errors():
            create_private_file(unfinished)
        with open_connection(unfinished, fresh=True) as connection:
            connection.executescript(script())
            with transaction(connection):
                yield connection
        with translate_errors():
            unfinished.rename(path)

    @override
    @contextmanager
    def turn(self, dataset_id: str, *, patience: float) -> Iterator[None]:
        path = file_of(self.folder, dataset_id)
        if not path.is_file():
            raise LedgerError(NO_SUCH)
        with turn(path.with_suffix(".turn"), patience=patience):
            yield

    @override
    @contextmanager
    def registering(self, key: bytes) -> Iterator[None]:
        """Hold the registration lock, see ``Store``; the key is in the same folder."""
        with turn(self.folder / "registering.turn", patience=PATIENCE):
            yield

    @override
    def changed(self) -> Hashable:
        """Return the folder's modification time, as SQLite creates and removes a journal in every transaction."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            raise LedgerError(DAMAGED) from None
