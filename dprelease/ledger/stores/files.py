"""One SQLite file per data set, in the ledger's folder."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
from dprelease.ledger.schema import SCRIPT
from dprelease.ledger.stores.protocols import LedgerConnection

NO_SUCH = "This ledger holds no such data set."


def file_of(folder: Path, dataset_id: str) -> Path:
    """Where a data set's file is; raises LedgerError for what is no name of one."""
    if not re.fullmatch(NAME, dataset_id):
        raise LedgerError(NO_SUCH)
    return folder / f"{dataset_id}{SUFFIX}"


class Files:
    """See Store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def dataset_ids(self) -> list[str]:
        """See Store."""
        return datasets_in(self.folder)

    @contextmanager
    def open_connection(self, dataset_id: str) -> Iterator[LedgerConnection]:
        """See Store."""
        with open_connection(file_of(self.folder, dataset_id)) as connection:
            yield connection

    @contextmanager
    def writing(self, dataset_id: str) -> Iterator[LedgerConnection]:
        """See Store."""
        with open_connection(file_of(self.folder, dataset_id)) as connection, transaction(connection):
            yield connection

    @contextmanager
    def beginning(self, dataset_id: str) -> Iterator[LedgerConnection]:
        """Under its name once it is whole."""
        path = file_of(self.folder, dataset_id)
        unfinished = path.with_suffix(".unfinished")
        with translate_errors():
            create_private_file(unfinished)
        with open_connection(unfinished, fresh=True) as connection:
            connection.executescript(SCRIPT)
            with transaction(connection):
                yield connection
        with translate_errors():
            unfinished.rename(path)

    @contextmanager
    def turn(self, dataset_id: str, *, patience: float) -> Iterator[None]:
        """See Store."""
        path = file_of(self.folder, dataset_id)
        if not path.is_file():
            raise LedgerError(NO_SUCH)
        with turn(path.with_suffix(".turn"), patience=patience):
            yield

    @contextmanager
    def registering(self, key: bytes) -> Iterator[None]:
        """See Store; the key is in the same folder."""
        with turn(self.folder / "registering.turn", patience=PATIENCE):
            yield

    def changed(self) -> Hashable:
        """SQLite makes and removes a journal with every transaction."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            raise LedgerError(DAMAGED) from None
