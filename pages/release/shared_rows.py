"""Rows that a steward opens to analysts: analysts release from them, and bring none of their own.

Whoever may have files compared with the ledger's learns of any guess, free, whether it is the registered rows.
The rows stay the steward's session's: when that ends, or its file is forgotten, they are gone from here too.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

from dpcore.data.reading.tables import Table
from dprelease.ledger.records import LedgerError, Registration, Role
from dprelease.release import most_rows
from pages.release.register import PROBLEM
from pages.shell.ledger.door import actor, person, role_of
from pages.shell.server.streamlit_internals import session_id
from pages.shell.session import wait_for
from pages.shell.state import SessionKey

SHARED = SessionKey["dict[str, SharedRows]"]("release_lent", {})
"""In the steward's session, which alone keeps them alive: what it lent, by data set."""
TOO_MANY = (
    "With this public n, files of at most {most:,} rows are opened to analysts: of more, what fits the memory would "
    "tell them how many there are."
)
SHARING_HELP = "They see none of them. It lasts as long as this session, and its file, is open."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedRows:
    """Registered rows, the session they are of, and the address of who opened them."""

    table: Table
    session_id: str
    by: str


_shared: WeakValueDictionary[str, SharedRows] = WeakValueDictionary()


def shared_rows(dataset_id: str) -> Table | None:
    """The rows of a data set, where its steward has opened them, still has them, and is still a steward."""
    shared = _shared.get(dataset_id)
    is_shared = shared is not None and not shared.table.closed and role_of(shared.by) is Role.STEWARD
    return shared.table if shared is not None and is_shared else None


def sharing_button(registration: Registration, table: Table) -> None:
    """The steward's button: open these rows to analysts, or no longer."""
    dataset_id, max_rows = registration.dataset_id, most_rows(registration)
    if table.row_count > max_rows and not table.kept_as:
        st.caption(TOO_MANY.format(most=max_rows))
        return
    if shared_rows(dataset_id) is table:
        st.button("Close these rows to analysts", key="release_unlend", on_click=withdraw, type="tertiary")
        return
    st.button(
        "Let analysts release from these rows", key="release_lend", on_click=_share, args=(dataset_id, table),
        help=SHARING_HELP,
    )  # fmt: skip


def _share(dataset_id: str, table: Table) -> None:
    try:
        actor().must_be_steward("open rows to analysts")
    except LedgerError as problem:
        PROBLEM.value = str(problem)
        return
    shared = SharedRows(table=table, session_id=session_id(), by=person())
    SHARED.setdefault({})[dataset_id] = _shared[dataset_id] = shared


def withdraw() -> None:
    """A callback: whatever this session opened is closed to analysts."""
    for dataset_id, shared in SHARED.pop().items():
        if _shared.get(dataset_id) is shared:
            del _shared[dataset_id]


def withdraw_everywhere() -> None:
    """Whatever this person opened is closed to analysts, in whichever tab it was opened."""
    withdraw()
    for dataset_id, shared in list(_shared.items()):
        if shared.by == person():
            del _shared[dataset_id]


def keep_rows_until(draw: Future[Any], table: Table) -> None:
    """The session whose rows these are keeps them as long as they are drawn from, and so does the one that asked."""
    wait_for(draw)
    for shared in list(_shared.values()):
        if shared.table is table:
            wait_for(draw, session_id=shared.session_id)
