"""That somebody saw true values of rows, written down beside the ledger before they are shown.

A note is an empty file named by the keyed digest of the rows. It needs no turn, so nobody waits for a draw; it is there
before the rows are registered, and whatever they are called when they are brought again. Every later release asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dpcore.ledger.connection import made_private, sentences

FOLDER = "looks"
"""In a ledger's folder."""


def note_look(folder: Path, print_of_rows: str) -> None:
    """Write down that true values of these rows may be seen from now on.

    Raises:
        LedgerError: it cannot be written.
    """
    with sentences():
        place = folder / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        made_private(place / print_of_rows)


def looked_at(folder: Path, prints: Iterable[str]) -> bool:
    """Whether true values of any of these rows may have been seen."""
    return any((folder / FOLDER / each).exists() for each in prints)
