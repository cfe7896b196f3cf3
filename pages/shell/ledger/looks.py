"""Before true values of a file are shown, the ledger knows: whatever the file is called, with a token or without."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError
from dpcore.data.sources import Uploaded
from dpcore.ledger.fingerprint import key_of
from dpcore.ledger.looks import note_look
from dpcore.ledger.records import LedgerError
from pages.data.upload import held_file
from pages.shell.ledger.held import ledger, print_of
from pages.shell.session import WAITS, saw_true_values, upload, wants_to_look

NOTED = "ledger_noted"
"""In the session: the files whose look was noted."""
UNTOLD = "The ledger could not be told that true values are seen, so none is shown. The next step tries again."


def tell_of_looks() -> None:
    """Called by the router before every page: note what it may show; where that fails, the steward's word waits."""
    st.session_state.pop(WAITS, None)
    found, own = ledger(), upload()
    files = [each.origin for each in (held_file(), own) if each is not None]
    if found is None:
        return
    for origin in files:
        noted: set[tuple[str, str]] = st.session_state.setdefault(NOTED, set())
        about = (str(found.folder), origin.key)
        if not isinstance(origin, Uploaded) or about in noted:
            continue
        if origin.private and not (wants_to_look() or saw_true_values()):
            continue
        try:
            note_look(found.folder, print_of(origin, key_of(found.folder)))
        except (LedgerError, DataError):
            st.session_state[WAITS] = UNTOLD
        else:
            noted.add(about)
