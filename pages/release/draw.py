"""Rehearse, confirm, draw: states 4 to 6, and what a draw that is over says once."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dpcore.data.reading.tables import Table
from dprelease.ledger.records import TAKEN, Actor, Attempt, LedgerBusy, LedgerError, Spent, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import Rehearsal, rehearsing
from dprelease.requests.parts import Request
from pages.release.register import PROBLEM
from pages.release.results import stored_sentence
from pages.release.shared_rows import keep_rows_until, shared_rows
from pages.release.worker import Outcome, submit
from pages.shell.ledger.door import actor, admitted
from pages.shell.ledger.held import PATIENT
from pages.shell.server.jobs import in_background, stop
from pages.shell.state import SessionKey

DRAWING = (
    "No result is stored without its charge. A draw that dies keeps its charge and has no result. "
    "You may close this page."
)
PREVIEW = (
    "Until its data owner publishes it, what is drawn is a private preview: charged all the same, and seen again free."
)
POLL_SECONDS = 0.5
"""Seconds."""
ANOTHER = "Who is logged in here has changed since this button was shown. Nothing was charged."
CLOSED = "Its steward has closed these rows to analysts. Nothing was charged."
CURRENT_DRAWING = SessionKey["Drawing | None"]("release_drawing", None)
LAST, REHEARSED_REQUEST = SessionKey("release_last", ("", "")), SessionKey("release_rehearsed", "")
"""What is being drawn, what a draw that is over said, and which request is rehearsed."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A draw that this session asked for."""

    dataset_id: str
    request: Request
    future: Future[Outcome]


def show_rehearsal(request: Request) -> Rehearsal | None:
    """What the rehearsal of a request said; before, its button, or how far it is. Its draws have one rehearsal."""
    if REHEARSED_REQUEST.value != request.digest:
        stop(REHEARSED_REQUEST)
        st.button(
            "Rehearse, free", key="release_rehearse", type="primary", on_click=_rehearse, args=(request.digest,),
            help="The same draw by the secure sampler, on made-up rows.",
        )  # fmt: skip
        return None
    return in_background(
        f"rehearsal|{request.digest}", partial(rehearsing, request), so_far=lambda: None,
        label="Drawing from made-up rows.", place=REHEARSED_REQUEST, again="From the beginning, and free.",
    )  # fmt: skip


def _rehearse(digest: str) -> None:
    REHEARSED_REQUEST.value = digest


def confirm(ledger: Ledger, dataset_id: str, request: Request, table: Table, *, price: Price, left: Price) -> None:
    """State 5: the one button that charges. It draws what it was drawn with, whatever moved since."""
    st.markdown(f"Charge {price} and draw once. Left afterwards: {left}. This cannot be undone.", help=PREVIEW)
    st.button(
        f"Charge {price} and draw", key="release_charge", type="primary", on_click=charge,
        args=(ledger, dataset_id, request, table, actor(), shared_rows(dataset_id) is table),
    )  # fmt: skip


def charge(ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor, from_shared_rows: bool) -> None:
    """A callback: have it drawn, for whom the button was shown to. Pressed twice, it is one draw.

    Args:
        ledger: that holds the data set.
        dataset_id: of the data.
        request: what is to be drawn.
        table: its rows.
        by: who was shown the button.
        from_shared_rows: whether the rows were open to analysts then.
    """
    no_longer_shared = from_shared_rows and not admitted() and shared_rows(dataset_id) is not table
    if by.role is None or actor() != by or no_longer_shared:
        PROBLEM.value = CLOSED if no_longer_shared else ANOTHER
        return
    future = submit(ledger, dataset_id, request, table, by)
    keep_rows_until(future, table)
    CURRENT_DRAWING.value = Drawing(dataset_id=dataset_id, request=request, future=future)


def current_drawing() -> Drawing | None:
    """What this session is waiting for; a draw that is over says once what came of it."""
    current = CURRENT_DRAWING.value
    if current is None or not current.future.done():
        return current
    outcome = current.future.result()
    LAST.value = (current.request.digest, outcome_sentence(outcome))
    CURRENT_DRAWING.pop()
    return None


def last_message(request: Request) -> str:
    """What the last draw of this session came to, if it was of this request."""
    last_outcome = LAST.value
    return last_outcome[1] if last_outcome[0] == request.digest else ""


def outcome_sentence(outcome: Outcome) -> str:
    """What became of a draw."""
    return stored_sentence(outcome) if isinstance(outcome, Stored) else outcome.sentence


@st.fragment(run_every=POLL_SECONDS)
def waiting(future: Future[Outcome]) -> None:
    """State 6: look now and then whether it is done. How far it is nobody may know: that may depend on the rows."""
    st.header("Drawing …")
    st.markdown(DRAWING)
    if future.done():
        st.rerun()


@st.fragment(run_every=4 * POLL_SECONDS)
def waiting_for_another(ledger: Ledger, dataset_id: str) -> None:
    """Another process draws: look now and then whether it still does."""
    try:
        is_idle = account_if_idle(ledger, dataset_id) is not None
    except LedgerError as problem:  # the page does not see it: a fragment runs alone
        st.error(str(problem))
        return
    st.info(TAKEN)
    if is_idle:
        st.rerun()


def account_if_idle(ledger: Ledger, dataset_id: str) -> Spent | None:
    """The account, read while nobody draws, so that what has no outcome died; None while somebody does."""
    try:
        with ledger.turn(dataset_id, patience=0):
            return ledger.account(dataset_id)
    except LedgerBusy:
        return None


def show_unfinished(ledger: Ledger, dataset_id: str, attempt: Attempt) -> None:
    """A draw that died: its charge stands, unless the steward says that the machine failed."""
    price = attempt.price
    st.warning(f"Of {attempt.at}, {price}: the draw did not finish, and nothing was shown. "
               "As that may depend on the rows, its charge stands.")  # fmt: skip
    if not admitted():
        return
    st.button(
        "The machine failed: do not charge", key=f"release_machine-{attempt.number}", on_click=_machine_failed,
        args=(ledger, dataset_id, attempt.number),
        help="Once for each request. Every later certificate counts it.",
    )  # fmt: skip


def _machine_failed(ledger: Ledger, dataset_id: str, attempt: int) -> None:
    try:
        ledger.machine_failed(dataset_id, attempt, actor(), patience=PATIENT)
    except LedgerError as problem:
        PROBLEM.value = str(problem)
