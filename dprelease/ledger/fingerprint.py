"""Fingerprint of registered rows: a keyed digest that does not depend on the order of rows or columns.

It stays in the ledger. Without the key it reveals nothing about the rows, even if they can be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from dpcore.data.reading.tables import packed_row
from dprelease.ledger.connection import OPEN_FOLDER, create_private_file, require_private, translate_errors
from dprelease.ledger.records import LedgerError
from dprelease.ledger.true_value_access import name_fingerprint

KEY_BYTES = 32
KEY_FILE = "fingerprint.key"
OPEN_KEY = (
    "Other accounts can read or change the key of the ledger. It must belong to the account that runs this "
    "program, with mode 600 (`chmod 600`)."
)
DIGITS = 64
"""Hexadecimal digits of a digest."""
SUFFIX = ".sqlite"
"""Suffix of a data set's file."""
NOTE = "postgres-"
"""Prefix of the note's file name in a folder whose data sets are in a database."""
NAME = "[0-9a-f]{32}"
"""Pattern of a data set's id."""


class Rows(Protocol):
    """Interface of a table's rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def counts_name(self) -> str:
        """Name of the engine's table for counts from an engine; else empty."""

    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """Iterate over each row's texts in these columns, encoded by ``packed_row``, in any order."""


def datasets_in(folder: Path) -> list[str]:
    """Return the ids of a folder's data sets; an interrupted registration does not count."""
    with translate_errors():
        stems = (path.stem for path in folder.glob(f"*{SUFFIX}"))
        return sorted(stem for stem in stems if re.fullmatch(NAME, stem))


def key_of(folder: Path) -> bytes:
    """Return the folder's random key, which is made before the first data set. It is in no ledger file and no backup.

    Raises:
        LedgerError: it cannot be read or made, is accessible to other accounts, or is missing: with another key the
            same rows would get another budget.
    """
    path = folder / KEY_FILE
    require_private(folder, OPEN_FOLDER)
    with translate_errors():
        if not path.exists():
            if datasets_in(folder) or any(folder.glob(f"{NOTE}*")):
                raise LedgerError("The key of the ledger is missing. Restore a copy of it.")
            create_private_file(path, secrets.token_bytes(KEY_BYTES))
    require_private(path, OPEN_KEY)
    with translate_errors():
        key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise LedgerError("The key of the ledger is damaged. Restore a copy of it.")
    return key


def fingerprint(rows: Rows, *, key: bytes) -> str:
    """Return the HMAC-SHA-256 of column names and the sum of the rows' HMACs (Clarke et al. 2003, MSet-Add-Hash).

    For counts from an engine the digest of the table's name is the prefix: see ``same_table``. A cell "?" and a missing
    cell have the same encoding, so that neither gets a second budget; it cannot change, as existing ledgers use it.
    """
    columns = sorted(rows.columns)
    # HMAC by RFC 2104, with the padded keys prepared once: for short rows that would take most of the time.
    block = key.ljust(64, b"\0")
    inner, outer = bytes(byte ^ 0x36 for byte in block) + b"row", bytes(byte ^ 0x5C for byte in block)
    sha = hashlib.sha256
    total = sum(int.from_bytes(sha(outer + sha(inner + row).digest()).digest()) for row in rows.packed(columns))
    whole = (total % 2**256).to_bytes(32)
    name_part = name_fingerprint(rows.counts_name, key=key) if rows.counts_name else ""
    return name_part + hmac.digest(key, b"rows" + whole + packed_row(columns), hashlib.sha256).hex()


def same_table(one: str, other: str) -> bool:
    """Return whether two fingerprints are of counts of the same engine table, for any declaration and time."""
    return one[:-DIGITS] == other[:-DIGITS] != ""
