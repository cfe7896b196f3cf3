"""Selection of a ledger's store. The server's administrator sets it in a variable; no page asks for an address."""

from __future__ import annotations

import os
from pathlib import Path

from dprelease.ledger.connection import OPEN_FOLDER, require_private, translate_errors
from dprelease.ledger.fingerprint import datasets_in
from dprelease.ledger.records import LedgerError
from dprelease.ledger.stores.files import Files
from dprelease.ledger.stores.note import USUAL, note_in, write_note
from dprelease.ledger.stores.protocols import Store

ADDRESS = "DPSCOPE_LEDGER_DATABASE"
"""Environment variable with the libpq connection string of a Postgres database."""
NOT_NAMED = f"This ledger is in a database. The server's administrator must set its address in the variable {ADDRESS}."
OF_FILES = f"This folder contains a ledger in files. A ledger in a database ({ADDRESS}) needs its own folder."


def store_of(folder: Path) -> Store:
    """Return the database that the variable names, else the store of files in the folder.

    The folder is checked for a database, too: it holds the key and the records of access to true values.

    Raises:
        LedgerError: other accounts have access to the folder; or its ledger is in the other store, so that its budgets
            would start again.
    """
    address, noted = os.environ.get(ADDRESS, ""), note_in(folder)
    if not address:
        if noted is not None:
            raise LedgerError(NOT_NAMED)
        _require_closed(folder)
        return Files(folder)
    if datasets_in(folder):
        raise LedgerError(OF_FILES)
    _require_closed(folder)
    from dprelease.ledger.stores.database import Database

    return Database(address, folder=folder, name=noted[0] if noted else USUAL)


def _require_closed(folder: Path) -> None:
    with translate_errors():
        there = folder.exists()
    if there:
        require_private(folder, OPEN_FOLDER)


def note_store(folder: Path) -> None:
    """Note in a folder that its ledger is in a database, so that it is never started again as files."""
    if os.environ.get(ADDRESS) and note_in(folder) is None:
        write_note(folder, USUAL)
