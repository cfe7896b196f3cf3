"""Before true values of a file are shown, the ledger knows: whatever the file is called, with a token or without."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError
from dpcore.data.engines.tables import CountedTable, EngineTable
from dpcore.data.sources import Uploaded
from dpcore.ledger.fingerprint import key_of
from dpcore.ledger.looks import note_look, print_of_name
from dpcore.ledger.records import LedgerError
from pages.data.upload import held_file
from pages.shell.ledger.held import ledger, print_of
from pages.shell.session import WAITS, saw_true_values, upload, wants_to_look

NOTED = "ledger_noted"
"""In the session: the files whose look was noted."""
UNTOLD = "The ledger could not be told that true values are seen; of private rows none is shown. The next step retries."


def tell_of_looks() -> None:
    """Called by the router before every page: note what it may show; where that fails, the steward's word waits."""
    st.session_state.pop(WAITS, None)
    held = held_file()
    # Of a table that an engine keeps, the counts in use alone are shown.
    brought = (None if held and isinstance(held.table, EngineTable) else held, upload())
    for origin in (each.origin for each in brought if each is not None):
        if isinstance(origin, Uploaded) and (not origin.private or wants_to_look() or saw_true_values()):
            try:
                _note(origin)
            except (LedgerError, DataError, OSError):
                st.session_state[WAITS] = UNTOLD


def _note(origin: Uploaded) -> None:
    """Tell the ledger, if there is one, and once."""
    found = ledger()
    noted: set[tuple[str, str]] = st.session_state.setdefault(NOTED, set())
    if found is not None and (about := (str(found.folder), origin.key)) not in noted:
        key = key_of(found.folder)
        note_look(found.folder, print_of(origin, key))
        if isinstance(origin.table, CountedTable):
            note_look(found.folder, print_of_name(origin.table.name, key=key))
        noted.add(about)
