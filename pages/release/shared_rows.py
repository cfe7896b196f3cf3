"""Rows that a steward shares with analysts, who release from them instead of uploading a file.

An analyst who could upload files would learn, at no cost, whether a guessed file equals the registered rows.
The rows belong to the steward's session: when it ends, or its file is forgotten, they are no longer shared.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

from dpcore.data.reading.tables import Table
from dprelease.ledger.records import LedgerError, Registration, Role
from dprelease.release import max_rows
from pages.release.register import PROBLEM
from pages.shell.ledger.roles import actor, person, role_of
from pages.shell.server.streamlit_internals import session_id
from pages.shell.session import wait_for
from pages.shell.state import SessionKey

SHARED = SessionKey["dict[str, SharedRows]"]("release_lent", {})
"""Rows that this session shares, by data set; only this reference keeps them alive."""
TOO_MANY = (
    "With this public n you can share files of at most {most:,} rows with analysts. For larger files, "
    "memory use would reveal the number of rows."
)
SHARING_HELP = "Analysts do not see the rows. Sharing ends with this session, or when you remove the file."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedRows:
    """Registered rows, with their session and the address of the steward who shares them."""

    table: Table
    session_id: str
    by: str


_shared: WeakValueDictionary[str, SharedRows] = WeakValueDictionary()


def shared_rows(dataset_id: str) -> Table | None:
    """Return the shared rows of a data set, if its steward still has them and is still a steward."""
    shared = _shared.get(dataset_id)
    is_shared = shared is not None and not shared.table.closed and role_of(shared.by) is Role.STEWARD
    return shared.table if shared is not None and is_shared else None


def sharing_button(registration: Registration, table: Table) -> None:
    """Draw the steward's button that starts or stops sharing these rows."""
    dataset_id, limit = registration.dataset_id, max_rows(registration)
    if table.row_count > limit and not table.counts_name:
        st.caption(TOO_MANY.format(most=limit))
        return
    if shared_rows(dataset_id) is table:
        st.button(
            "Stop analysts from releasing from these rows", key="release_unlend", on_click=withdraw, type="tertiary"
        )
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
    """Callback: stop sharing all rows of this session."""
    for dataset_id, shared in SHARED.pop().items():
        if _shared.get(dataset_id) is shared:
            del _shared[dataset_id]


def withdraw_everywhere() -> None:
    """Stop sharing all rows of this user, in every tab."""
    withdraw()
    for dataset_id, shared in list(_shared.items()):
        if shared.by == person():
            del _shared[dataset_id]


def keep_rows_until(draw: Future[Any], table: Table) -> None:
    """Keep the rows in their session, and in this one, until a draw from them is done."""
    wait_for(draw)
    for shared in list(_shared.values()):
        if shared.table is table:
            wait_for(draw, session_id=shared.session_id)
