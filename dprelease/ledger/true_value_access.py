"""That somebody saw true values of rows, written down beside the ledger before they are shown.

A note is an empty file named by the keyed digest of the rows. It needs no turn, so nobody waits for a draw; it is there
before the rows are registered, and whatever they are called when they are brought again. Every later release asks.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from dprelease.ledger.connection import create_private_file, sync_folder, translate_errors

FOLDER = "looks"
"""In a ledger's folder."""


def name_fingerprint(name: str, *, key: bytes) -> str:
    """Stands for a table that an engine keeps: its counts differ with each declaration, and its name does not."""
    return hmac.digest(key, b"name" + name.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()


def note_access(folder: Path, rows_fingerprint: str) -> None:
    """Write down that true values of these rows may be seen from now on; it is on the disk when this returns.

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
    """Whether true values of any of these rows may have been seen."""
    return any((folder / FOLDER / each).exists() for each in prints)
