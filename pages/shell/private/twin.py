"""The rows that pages draw for a user's file: its own, or mock data (its twin)."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, Neighbours
from dpcore.data.sources import Bundled, Origin, Source, Uploaded
from dpcore.data.twin import MockData, twin
from dprelease.ledger.records import LedgerError
from pages.data.upload import session_file
from pages.shell.ledger.accounts import account_of
from pages.shell.ledger.roles import admitted, role
from pages.shell.links import linked_values, to_link
from pages.shell.session import DATA, upload
from pages.shell.state import SessionKey

NAMED, TWIN, USUAL_ROWS = SessionKey("declared_n", 0), SessionKey("twin", False), 10_000
"""The user's public number of rows, whether mock data are in use, and a round default number."""
PLACEHOLDER_ROWS = f"{USUAL_ROWS:,} is a placeholder. Type a round public number near yours: the errors depend on it."


def ask_public_rows(default: int, *, key: str, private: bool, help_text: str) -> int:
    """Draw the control of a public n and return it; of private rows, say that the default is a placeholder."""
    n = int(st.number_input("Public n", 1, 10**9, default, key=key, help=help_text))
    if private and n == USUAL_ROWS:
        st.caption(PLACEHOLDER_ROWS)
    return n


def relation() -> Neighbours:
    """Return the relation that the control in the link holds, by its key or in its words."""
    text = SessionKey("neighbours", "").value or st.query_params.get("neighbours") or linked_values().get("neighbours")
    return next((each for each in Neighbours if text in (each, each.words)), Neighbours.REPLACE_ONE)


def is_public(source: Source, neighbours: Neighbours) -> bool:
    """Return whether the file's number of rows is public: declared so, and the same in all neighbouring data sets."""
    file, rows_stay = session_file(), neighbours is Neighbours.REPLACE_ONE and not source.person_rows
    return rows_stay and file is not None and file.counted


def declared_rows(source: Source, neighbours: Neighbours) -> int:
    """Return the public number of rows: the registered one, else the file's own if public, else the user's."""
    if (registered := registered_rows(source.origin)) is not None:
        return registered
    return source.origin.rows if is_public(source, neighbours) else NAMED.value or USUAL_ROWS


def registered_rows(origin: Origin) -> int | None:
    """Return the public n under which the ledger holds these rows; None if it does not, or the session may not know.

    Only rows that the line on top or Release compared are looked up, and a file for its steward alone.
    """
    if not isinstance(origin, Uploaded | Bundled) or not role() or (isinstance(origin, Uploaded) and not admitted()):
        return None
    try:
        account = account_of(origin, compare=False)
    except (DataError, LedgerError):  # the page Release says it
        return None
    return account.registration.public_n if account is not None and not account.wrong else None


def drawn(source: Source) -> Source:
    """Return what pages draw for a source: its mock data if in use and the rows are private; else itself."""
    if not TWIN.value or not source.provenance.is_private or source.bounds_from_data:
        return source
    return twin(source, n=declared_rows(source, relation()))


def own_rows() -> Source | None:
    """Return the user's file as pages draw it; None without one."""
    own = upload()
    return own if own is None else drawn(own)


def untwinned(source: Source) -> Source:
    """Return the file's own rows in place of mock data."""
    own = upload()
    return own if own is not None and is_twin(source) else source


def is_twin(source: Source) -> bool:
    """Return whether these are mock data in place of a file's rows."""
    return isinstance(source.origin, MockData)


def use_twin(use: bool) -> None:
    """Have pages draw mock data, or no longer."""
    TWIN.value = use
    for key in (DATA, SessionKey("cube", "")):
        if key.is_set:  # set again, so that the browser shows the choice by its new title
            to_link(key)
