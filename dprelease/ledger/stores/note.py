"""Note in a folder that its ledger is in a database, with the id that the first registration gave the database."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from dprelease.ledger.connection import sync_folder, translate_errors, write_private_file
from dprelease.ledger.fingerprint import NAME, NOTE
from dprelease.ledger.records import LedgerError

USUAL = "dpscope"
"""Name of a ledger in its database, unless the note has another one."""
NOTED = re.compile(f"([a-z][a-z0-9_]{{0,19}})( {NAME})?")
"""Pattern of a note: the ledger's name in the database, and the database's id."""
NOTE_FILE = f"{NOTE}dpscope"
TWO_NOTES = f"In the ledger's folder, only its note {NOTE_FILE} may have a name that begins with {NOTE}."
STRANGE_NOTE = f"The note {NOTE_FILE} in the ledger's folder is damaged. Restore a copy of it."


def note_in(folder: Path) -> tuple[str, str] | None:
    """Return the ledger's name and the database's id, empty before the first registration; None without a note.

    Raises:
        LedgerError: another file has a note's name, or the note cannot be read.
    """
    with translate_errors():
        notes = list(folder.glob(f"{NOTE}*"))
        if not notes:
            return None
        if notes != [folder / NOTE_FILE]:
            raise LedgerError(TWO_NOTES)
        match = NOTED.fullmatch(notes[0].read_bytes().decode("ascii", "replace") or USUAL)
    if match is None:
        raise LedgerError(STRANGE_NOTE)
    return match[1], (match[2] or "").strip()


def write_note(folder: Path, name: str, database_id: str = "") -> None:
    """Write the note atomically and sync it to the disk."""
    temporary = folder / f"note.{secrets.token_hex(8)}"
    with translate_errors():
        try:
            write_private_file(temporary, f"{name} {database_id}".strip().encode())
            temporary.replace(folder / NOTE_FILE)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(folder)
