"""What a session must no longer hold: after its file is forgotten, and after the data owner's switch is off."""

from __future__ import annotations

import streamlit as st

from pages.shell.links import FOLLOWED, LINKED_KEYS, LINKED_VALUES, PAGE, linked_keys
from pages.shell.private.steward import (
    ACCESS_WITHOUT_LEDGER,
    FILLED,
    PENDING_ACCESS_RECORDS,
    PRESENTED,
    STEWARD_CHOICE,
    STEWARD_ENDED,
    STEWARD_SAW,
    is_steward,
    still_holds,
)
from pages.shell.session import FILE, FILE_TURN, GATE, OPENED_AT, remember_upload, upload
from pages.shell.state import drop, set_controls
from pages.shell.tasks.memory import MEMORY

KEPT_KEYS = {
    GATE, OPENED_AT, PAGE, LINKED_VALUES, LINKED_KEYS, FOLLOWED, FILE_TURN,
    STEWARD_CHOICE, STEWARD_ENDED, "steward_admitted", PRESENTED, PENDING_ACCESS_RECORDS, ACCESS_WITHOUT_LEDGER,
}  # fmt: skip
"""Keys that stay when a file is forgotten, besides the controls in the link: none of them can hold a part of a file."""


def forget_all() -> None:
    """Remove everything that may come from a file: all but controls in links and the session's own notes."""
    keys = set(st.session_state) - linked_keys() - KEPT_KEYS
    drop(*map(str, keys - {FILE}), FILE)  # the file last: if this run is interrupted, the user can ask again


def clear_private_state() -> None:
    """Remove what only the data owner may see once the switch is off; called by the router before every page.

    These are values that were read from private data into inputs, a domain built from them, and all remembered results.
    """
    if STEWARD_ENDED.value:
        STEWARD_CHOICE.value = False
        STEWARD_ENDED.pop()
    if is_steward():
        STEWARD_SAW.value = True
        return
    for key, (value, usual) in FILLED.value.items():
        if still_holds(key, value):
            drop(key)
            # Set as well as removed: otherwise the browser would keep, and send again, what it shows.
            set_controls({key: usual})
    own = upload()
    if own is not None and own.bounds_from_data and own.provenance.is_private:
        remember_upload(None)
    if STEWARD_SAW.value:
        drop(FILLED, MEMORY, STEWARD_SAW)  # in this order, in case the run is interrupted
