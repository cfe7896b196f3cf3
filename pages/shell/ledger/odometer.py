"""What is spent of the data in use, in the line on top of every page; only numbers of the ledger."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from dpcore.core import DataError
from dpcore.data.samples import SAMPLES
from dpcore.data.sources import Bundled, Uploaded
from dpcore.ledger.records import LedgerBusy, LedgerError, Spent
from dpcore.release import SAW_TRUE_VALUES
from pages.data.picker import OWN_FILE, in_use, options, public_source
from pages.data.upload import held_file
from pages.shell.ledger.door import actor, admitted
from pages.shell.ledger.held import Account, Data, account_of, ledger
from pages.shell.session import carried, saw_true_values

TABLES, FIRST = {"plan": "table", "tables": "cube"}, {"plan": "adult"}
"""Pages with a choice of data of their own: its name in the link, and the sample they open with."""
RELEASABLE = {"", "start", "tables", "one-number", "conversation"}
"""Pages that show what may be drawn once and charged; Plan has a button of its own for that."""
OTHERS = {"learn", "directions", "random-privacy"}
"""Pages about other data."""
QUICK_ROWS = 200_000
"""A private table with more is looked up when somebody opens Release."""


def odometer(page: str) -> str:
    """What is spent, in a few words; nothing where no ledger holds the data, or this session may not know."""
    if not admitted():
        return ""
    data = _data(page)
    if data is None:
        return ""
    try:
        quick = isinstance(data, Uploaded) and data.private and data.rows <= QUICK_ROWS
        found = account_of(data, look=quick or page == "release")
        if found is None or found.wrong:
            return ""
        tell_what_was_seen(found, data)
    except (LedgerError, DataError):
        return ""  # the page Release says it
    return f"Spent **ε {spent_words(found.spent)}**. "


def spent_words(spent: Spent) -> str:
    """0.6 of 2."""
    return f"{spent.spent.document['epsilon']} of {spent.budget.document['epsilon']}"


def tell_what_was_seen(found: Account, data: Data) -> None:
    """Have the ledger's file say, once a session, that the steward looked at true values of private rows.

    A note of it is there since before they were shown; while somebody draws, this is for a later run.
    """
    told: set[str] = st.session_state.setdefault("ledger_told", set())
    book = ledger()
    if book is None or found.dataset_id in told or not data.provenance.is_private or not saw_true_values():
        return
    with suppress(LedgerBusy):
        book.tell(found.dataset_id, SAW_TRUE_VALUES, actor(), patience=0)
        told.add(found.dataset_id)


def _data(page: str) -> Data | None:
    """The data that a page is about, as its controls were left; the file itself where its twin is drawn."""
    if page in OTHERS:
        return None
    chosen = _left(TABLES[page]) if page in TABLES else _left("data")
    if chosen == OWN_FILE:
        held = held_file()
        return held.origin if held else None
    if page in TABLES:
        key = chosen or FIRST.get(page, "")
        return Bundled(sample_key=key) if key in {each.key for each in SAMPLES} else None
    linked = st.query_params.get("data", "")
    first = "data" not in st.session_state and linked in options(pairs=True)  # no control has read the link yet
    source = public_source(linked) if first else in_use()
    return source.origin if isinstance(source.origin, Bundled) else source


def _left(key: str) -> str:
    return str(st.session_state.get(key, carried().get(key, "")))
