"""What is spent of the data in use, in the line on top of every page; only numbers of the ledger."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from dpcore.core import DataError
from dpcore.data.samples import SAMPLES
from dpcore.data.sources import Bundled, Source, Uploaded
from dprelease.ledger.records import LedgerBusy, LedgerError, Spent
from dprelease.release import SAW_TRUE_VALUES
from pages.data.picker import OWN_FILE, current_source, options, public_source
from pages.data.upload import session_file
from pages.shell.addresses import PageSpec
from pages.shell.ledger.door import actor, admitted, role
from pages.shell.ledger.held import Account, Data, account_of, halted, ledger
from pages.shell.session import DATA, control_value, saw_true_values, upload
from pages.shell.state import SessionKey

TOLD = SessionKey[set[str]]("ledger_told", set())
"""Data sets whose ledger has been told that true values were seen."""
UNKNOWN = "**What is spent cannot be told:** the page Release says why. "
QUICK_ROWS = 200_000
"""A private table with more, and numbers made on a grid, are looked up when somebody opens Release."""


def odometer(page: PageSpec) -> str:
    """What is spent, in a few words; nothing where no ledger holds the data, or this session may not know."""
    data = _data(page) if role() else None
    origin = data.origin if isinstance(data, Source) else data
    if data is None or (isinstance(origin, Uploaded) and not admitted()):  # a file is compared for its steward alone
        return ""
    try:
        kept = isinstance(origin, Bundled) or (isinstance(origin, Uploaded) and origin.private)
        quick = kept and origin is not None and origin.rows <= QUICK_ROWS
        found = account_of(data, look=quick)
        if found is None:
            return UNKNOWN if halted(data) else ""
        if found.wrong:
            return UNKNOWN
        tell_what_was_seen(found, data)
    except DataError:
        return ""  # the page Release says it
    except LedgerError:
        return UNKNOWN
    return spent_sentence(found.spent)


def spent_sentence(spent: Spent) -> str:
    """Return the line: Spent **ε 0.6 of 2**; at least, where a copy of the ledger was put back."""
    return f"Spent **{spent_words(spent)}**. "


def spent_words(spent: Spent) -> str:
    """Return ε 0.6 of 2, or at least ε 0.6 of 2 where charges may be forgotten."""
    least = "at least " if spent.copies_put_back else ""
    return f"{least}{spent.budget.measure.letter} {spent.spent.amount} of {spent.budget.amount}"


def tell_what_was_seen(found: Account, data: Data) -> None:
    """Have the ledger's file say, once a session, that the steward looked at true values of private rows.

    A note of it is there since before they were shown; while somebody draws, this is for a later run.
    """
    told = TOLD.setdefault(set())
    book = ledger()
    if book is None or found.dataset_id in told or not data.provenance.is_private or not saw_true_values():
        return
    with suppress(LedgerBusy), book.turn(found.dataset_id, patience=0):
        book.tell(found.dataset_id, SAW_TRUE_VALUES, actor())
        told.add(found.dataset_id)


def _data(page: PageSpec) -> Data | None:
    """The data that a page is about, as its controls were left; the file itself where its twin is drawn."""
    if page.other_data:
        return None
    chosen = _left(page.choice or "data")
    if chosen == OWN_FILE:
        held, own = session_file(), upload()
        if own is not None and isinstance(own.origin, Uploaded):
            return own.origin  # of a table that an engine keeps, the counts in use
        return held.origin if held else None
    if page.choice:
        key = chosen or st.query_params.get(page.choice, "") or page.opens_with
        return Bundled(sample_key=key) if key in {each.key for each in SAMPLES} else None
    linked = st.query_params.get("data", "")
    first = not DATA.is_set and linked in options(pairs=True)  # no control has read the link yet
    source = public_source(linked) if first else current_source()
    return source.origin if isinstance(source.origin, Bundled) else source


def _left(key: str) -> str:
    return str(control_value(key, ""))
