"""The rows that pages draw of a reader's file: its own, or the made-up rows of its twin."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, Neighbours
from dpcore.data.sources import Bundled, Origin, Source, Uploaded
from dpcore.data.twin import MadeUp, twin
from dprelease.ledger.records import LedgerError
from pages.data.upload import session_file
from pages.shell.ledger.door import admitted, role
from pages.shell.ledger.held import account_of
from pages.shell.session import DATA, carried, to_link, upload
from pages.shell.state import SessionKey

NAMED, TWIN, USUAL_ROWS = SessionKey("declared_n", 0), SessionKey("twin", False), 10_000
"""The number of rows that somebody named, and whether the twin is in use; and a round number of rows."""


def relation() -> Neighbours:
    """Which data sets are neighbours, as the control that stands in the link has it: by its key, or in its words."""
    told = SessionKey("neighbours", "").value or st.query_params.get("neighbours") or carried().get("neighbours")
    return next((each for each in Neighbours if told in (each, each.words)), Neighbours.REPLACE_ONE)


def is_public(source: Source, neighbours: Neighbours) -> bool:
    """Whether the file's own number of rows is public: it was declared to be, and no row or person comes or goes."""
    held, rows_stay = session_file(), neighbours is Neighbours.REPLACE_ONE and not source.person_rows
    return rows_stay and held is not None and held.counted


def declared_rows(source: Source, neighbours: Neighbours) -> int:
    """The public number of rows: the registered one, else the file's own where that is public, else the one named."""
    if (registered := registered_rows(source.origin)) is not None:
        return registered
    return source.origin.rows if is_public(source, neighbours) else NAMED.value or USUAL_ROWS


def registered_rows(origin: Origin) -> int | None:
    """Return the public n under which the ledger holds these rows; None where it does not, or nobody may know.

    Rows are looked up where the line on top or Release compared them, and a file for its steward alone.
    """
    if not isinstance(origin, Uploaded | Bundled) or not role() or (isinstance(origin, Uploaded) and not admitted()):
        return None
    try:
        found = account_of(origin, look=False)
    except (DataError, LedgerError):  # the page Release says it
        return None
    return found.registration.public_n if found is not None and not found.wrong else None


def drawn(source: Source) -> Source:
    """What pages draw for a source: its twin, where that is in use for private rows; else itself."""
    if not TWIN.value or not source.provenance.is_private or source.bounds_from_data:
        return source
    return twin(source, n=declared_rows(source, relation()))


def own_rows() -> Source | None:
    """The reader's file as pages draw it; None without one."""
    own = upload()
    return own if own is None else drawn(own)


def untwinned(source: Source) -> Source:
    """The file's own rows in place of made-up ones."""
    own = upload()
    return own if own is not None and is_twin(source) else source


def is_twin(source: Source) -> bool:
    """Whether these are made-up rows in place of a file's."""
    return isinstance(source.origin, MadeUp)


def use_twin(use: bool) -> None:
    """Have pages draw the twin, or no longer."""
    TWIN.value = use
    for key in (DATA, SessionKey("cube", "")):
        if key.is_set:  # set again, so that the browser shows the choice by its other name
            to_link(key)
