"""The budget spent on the data in use, in the line on top of every page: numbers of the ledger alone."""

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
from pages.shell.ledger.accounts import Account, Data, account_of, comparison_stopped, ledger
from pages.shell.ledger.roles import actor, admitted, role
from pages.shell.links import control_value
from pages.shell.private.steward import saw_true_values
from pages.shell.releasable import query_on_release
from pages.shell.session import DATA, upload
from pages.shell.state import SessionKey

RECORDED = SessionKey[set[str]]("ledger_told", set())
"""Data sets in whose ledger this session's access to true values is recorded."""
UNKNOWN = "**The budget spent is not known.** The page Release says why. "
QUICK_ROWS = 200_000
"""A private table with more rows, and numbers on a grid, are looked up when Release is opened."""


def budget_spent(page: PageSpec) -> str:
    """Return the budget spent in a few words; empty if no ledger holds the data, or this session may not know."""
    data = _data(page) if role() else None
    origin = data.origin if isinstance(data, Source) else data
    if data is None or (isinstance(origin, Uploaded) and not admitted()):  # a file is compared for its steward alone
        return ""
    try:
        stored = isinstance(origin, Bundled) or (isinstance(origin, Uploaded) and origin.private)
        quick = stored and origin is not None and origin.rows <= QUICK_ROWS
        account = account_of(data, compare=quick)
        if account is None:
            return UNKNOWN if comparison_stopped(data) else ""
        if account.wrong:
            return UNKNOWN
        record_true_values_shown(account, data)
    except DataError:
        return ""  # the page Release says it
    except LedgerError:
        return UNKNOWN
    return spent_sentence(account.spent)


def spent_sentence(spent: Spent) -> str:
    """Return the line: Spent **ε 0.6 of 2**; at least, where a copy of the ledger was put back."""
    return f"Spent **{spent_words(spent)}**. "


def spent_words(spent: Spent) -> str:
    """Return ε 0.6 of 2, or at least ε 0.6 of 2 where charges may be forgotten."""
    least = "at least " if spent.copies_put_back else ""
    return f"{least}{spent.budget.measure.letter} {spent.spent.amount} of {spent.budget.amount}"


def record_true_values_shown(account: Account, data: Data) -> None:
    """Record in the ledger, once a session, that the steward saw true values of private rows.

    A note was written before they were shown; while a release is being drawn, this waits for a later run.
    """
    recorded = RECORDED.setdefault(set())
    book = ledger()
    if book is None or account.dataset_id in recorded or not data.provenance.is_private or not saw_true_values():
        return
    with suppress(LedgerBusy), book.turn(account.dataset_id, patience=0):
        book.record_access(account.dataset_id, SAW_TRUE_VALUES, actor())
        recorded.add(account.dataset_id)


def _data(page: PageSpec) -> Data | None:
    """Return the data that a page is about, by its controls' last values; the file itself where mock data are drawn."""
    if page.other_data:
        return None
    if page.reads_ledger and (query := query_on_release()):
        origin = query.source.origin
        return origin if isinstance(origin, Bundled | Uploaded) else query.source
    chosen = _left(page.choice or "data")
    if chosen == OWN_FILE:
        file, own = session_file(), upload()
        if own is not None and isinstance(own.origin, Uploaded):
            return own.origin  # of a table that an engine keeps, the counts in use
        return file.origin if file else None
    if page.choice:
        key = chosen or st.query_params.get(page.choice, "") or page.opens_with
        return Bundled(sample_key=key) if key in {each.key for each in SAMPLES} else None
    linked = st.query_params.get("data", "")
    first = not DATA.is_set and linked in options(pairs=True)  # no control has read the link yet
    source = public_source(linked) if first else current_source()
    return source.origin if isinstance(source.origin, Bundled) else source


def _left(key: str) -> str:
    return str(control_value(key, ""))
