"""Records of access to true values, which are written to the ledger's folder before the values are shown.

A record is an empty file named by the keyed digest of the rows. It needs no lock, so it does not wait for a running
draw; it can precede the registration, and does not depend on the name of the file. Every later release checks it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from dprelease.ledger.connection import create_private_file, sync_folder, translate_errors

FOLDER = "looks"
"""Name of the folder of records in a ledger's folder."""


def name_fingerprint(name: str, *, key: bytes) -> str:
    """Return the keyed digest of an engine table's name, as its counts differ with each declaration."""
    return hmac.digest(key, b"name" + name.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()


def note_access(folder: Path, rows_fingerprint: str) -> None:
    """Record that true values of these rows may be shown from now on; the record is on the disk on return.

    Raises:
        LedgerError: it cannot be written.
    """
    with translate_errors():
        place = folder / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        create_private_file(place / rows_fingerprint)
        sync_folder(place)
        sync_folder(folder)


def was_accessed(folder: Path, prints: Iterable[str]) -> bool:
    """Return whether there is a record of access to true values of any of these rows."""
    return any((folder / FOLDER / each).exists() for each in prints)
