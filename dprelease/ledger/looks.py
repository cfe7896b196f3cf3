"""That somebody saw true values of rows, written down beside the ledger before they are shown.

A note is an empty file named by the keyed digest of the rows. It needs no turn, so nobody waits for a draw; it is there
before the rows are registered, and whatever they are called when they are brought again. Every later release asks.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from dprelease.ledger.connection import made_private, on_the_disk, sentences

FOLDER = "looks"
"""In a ledger's folder."""


def print_of_name(name: str, *, key: bytes) -> str:
    """Stands for a table that an engine keeps: its counts differ with each declaration, and its name does not."""
    return hmac.digest(key, b"name" + name.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()


def note_look(folder: Path, print_of_rows: str) -> None:
    """Write down that true values of these rows may be seen from now on; it is on the disk when this returns.

    Raises:
        LedgerError: it cannot be written.
    """
    with sentences():
        place = folder / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        made_private(place / print_of_rows)
        on_the_disk(place)
        on_the_disk(folder)


def looked_at(folder: Path, prints: Iterable[str]) -> bool:
    """Whether true values of any of these rows may have been seen."""
    return any((folder / FOLDER / each).exists() for each in prints)
