"""Whether rows are those that were registered: a keyed digest that does not depend on the order of rows or columns.

It stays in the ledger. Whoever has it without the key learns nothing of the rows, however well they can be guessed.
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
    "Other accounts may read or change the key beside the ledger: it must belong to the account that runs this "
    "program, with mode 600 (`chmod 600`)."
)
DIGITS = 64
"""Of a digest."""
SUFFIX = ".sqlite"
"""Of a data set's file."""
NOTE = "postgres-"
"""How the name of the note begins that a folder's data sets are in a database."""
NAME = "[0-9a-f]{32}"
"""Of a data set."""


class Rows(Protocol):
    """A table's rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def kept_as(self) -> str:
        """The name of the table if an engine keeps it, of which the rows here are counts; else empty."""

    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """Each row's texts in these columns as ``packed_row`` has them, in any order."""


def datasets_in(folder: Path) -> list[str]:
    """Every data set of a folder; one whose registration was cut short is none."""
    with translate_errors():
        stems = (path.stem for path in folder.glob(f"*{SUFFIX}"))
        return sorted(stem for stem in stems if re.fullmatch(NAME, stem))


def key_of(folder: Path) -> bytes:
    """The folder's key; made at random before the first data set. It is in no ledger file and no backup.

    Raises:
        LedgerError: it cannot be read or made, is open to other accounts, or is lost: with another the same rows would
            get another budget.
    """
    path = folder / KEY_FILE
    require_private(folder, OPEN_FOLDER)
    with translate_errors():
        if not path.exists():
            if datasets_in(folder) or any(folder.glob(f"{NOTE}*")):
                raise LedgerError("The key beside the ledger is missing. Restore a copy of it.")
            create_private_file(path, secrets.token_bytes(KEY_BYTES))
    require_private(path, OPEN_KEY)
    with translate_errors():
        key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise LedgerError("The key beside the ledger is damaged. Restore a copy of it.")
    return key


def fingerprint(rows: Rows, *, key: bytes) -> str:
    """HMAC-SHA-256 of the columns' names and of the sum of each row's own HMAC (Clarke et al. 2003, MSet-Add-Hash).

    Of counts that an engine made, the digest of its table's name stands before it: see ``same_table``. A cell that says
    "?" and a missing one are told alike: no file gets a second budget by it, and another digest would not know the rows
    of any ledger there is.
    """
    columns = sorted(rows.columns)
    # HMAC as RFC 2104 writes it: of short rows most of the time is spent in preparing the key again.
    block = key.ljust(64, b"\0")
    inner, outer = bytes(byte ^ 0x36 for byte in block) + b"row", bytes(byte ^ 0x5C for byte in block)
    sha = hashlib.sha256
    total = sum(int.from_bytes(sha(outer + sha(inner + row).digest()).digest()) for row in rows.packed(columns))
    whole = (total % 2**256).to_bytes(32)
    name_part = name_fingerprint(rows.kept_as, key=key) if rows.kept_as else ""
    return name_part + hmac.digest(key, b"rows" + whole + packed_row(columns), hashlib.sha256).hex()


def same_table(one: str, other: str) -> bool:
    """Whether two prints are of counts of one engine's table, whatever was declared and whenever they were made."""
    return one[:-DIGITS] == other[:-DIGITS] != ""
