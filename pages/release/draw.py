"""States 4 to 6 of the Release page: rehearse, confirm, draw; and the outcome of a draw."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dpcore.data.reading.tables import Table
from dprelease.ledger.records import DRAW_IN_PROGRESS, Actor, Attempt, LedgerBusy, LedgerError, Spent, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import Rehearsal, rehearse_in_steps
from dprelease.requests.parts import Request
from pages.release.register import PROBLEM
from pages.release.results import stored_sentence
from pages.release.shared_rows import keep_rows_until, shared_rows
from pages.release.worker import Outcome, submit
from pages.shell.ledger.accounts import PATIENT
from pages.shell.ledger.roles import actor, admitted
from pages.shell.state import SessionKey
from pages.shell.tasks.jobs import in_background, stop

DRAWING = (
    "Every stored result has a charge. An interrupted release keeps its charge and has no result. You may "
    "close this page."
)
PREVIEW = (
    "Until the data owner publishes it, the release is a private preview. It is charged at once. To see it "
    "again is free."
)
SPEND = "Spend"
"""First word of the only button that charges."""
POLL_SECONDS = 0.5
"""Seconds."""
ANOTHER = "The logged-in user has changed since this button was shown. Nothing was charged."
CLOSED = "The data owner no longer shares these rows with analysts. Nothing was charged."
CURRENT_DRAWING = SessionKey["Drawing | None"]("release_drawing", None)
LAST, REHEARSED_REQUEST = SessionKey("release_last", ("", "")), SessionKey("release_rehearsed", "")
"""The current draw, the last draw's message, and the rehearsed request."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A draw that this session started."""

    dataset_id: str
    request: Request
    future: Future[Outcome]


def show_rehearsal(request: Request) -> Rehearsal | None:
    """Return the rehearsal of a request; until then draw its button or its progress."""
    if REHEARSED_REQUEST.value != request.digest:
        stop(REHEARSED_REQUEST)
        st.button(
            "Test run, free", key="release_rehearse", type="primary",
            on_click=REHEARSED_REQUEST.set, args=(request.digest,),
            help="The same release by the secure sampler, on mock data.",
        )  # fmt: skip
        return None
    return in_background(
        f"rehearsal|{request.digest}", partial(rehearse_in_steps, request), so_far=lambda: None,
        label="Sampling from mock data.", place=REHEARSED_REQUEST, again="Repeats the test run, free of charge.",
    )  # fmt: skip


def confirm(ledger: Ledger, dataset_id: str, request: Request, table: Table, *, price: Price, spent: Spent) -> None:
    """Draw state 5, the only button that charges; it releases the request that it was drawn with."""
    left = spent.left - price
    exactly = f" Exactly, this spends {price.exact_words}." if price.delta else ""
    st.markdown(
        f"This spends {price} and releases once. Budget left afterwards: {left.left_words}. This cannot be undone.",
        help=PREVIEW + exactly,
    )
    st.button(
        f"{SPEND} {price.measure.letter} {price.amount} of {spent.budget.amount}", key="release_charge", type="primary",
        on_click=charge, args=(ledger, dataset_id, request, table, actor(), shared_rows(dataset_id) is table),
    )  # fmt: skip


def charge(ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor, from_shared_rows: bool) -> None:
    """Callback: start a draw for the user who saw the button; two clicks start only one draw.

    Args:
        ledger: that holds the data set.
        dataset_id: of the data.
        request: the request.
        table: its rows.
        by: the user who saw the button.
        from_shared_rows: whether the rows were shared with analysts then.
    """
    no_longer_shared = from_shared_rows and not admitted() and shared_rows(dataset_id) is not table
    if by.role is None or actor() != by or no_longer_shared:
        PROBLEM.value = CLOSED if no_longer_shared else ANOTHER
        return
    future = submit(ledger, dataset_id, request, table, by)
    keep_rows_until(future, table)
    CURRENT_DRAWING.value = Drawing(dataset_id=dataset_id, request=request, future=future)


def current_drawing() -> Drawing | None:
    """Return the draw that this session waits for; a finished one leaves its message."""
    current = CURRENT_DRAWING.value
    if current is None or not current.future.done():
        return current
    outcome = current.future.result()
    sentence = stored_sentence(outcome) if isinstance(outcome, Stored) else outcome.sentence
    LAST.value = (current.request.digest, sentence)
    CURRENT_DRAWING.pop()
    return None


def last_message(request: Request) -> str:
    """Return the message of this session's last draw, if it was of this request."""
    last_outcome = LAST.value
    return last_outcome[1] if last_outcome[0] == request.digest else ""


@st.fragment(run_every=POLL_SECONDS)
def waiting(future: Future[Outcome]) -> None:
    """Draw state 6 until the draw is done; it has no progress bar, which could depend on the rows."""
    st.header("Sampling …")
    st.markdown(DRAWING)
    if future.done():
        st.rerun()


@st.fragment(run_every=4 * POLL_SECONDS)
def waiting_for_another(ledger: Ledger, dataset_id: str) -> None:
    """Wait until another process has finished its draw."""
    try:
        is_idle = account_if_idle(ledger, dataset_id) is not None
    except LedgerError as problem:  # a fragment's exception does not reach the page
        st.error(str(problem))
        return
    st.info(DRAW_IN_PROGRESS)
    if is_idle:
        st.rerun()


def account_if_idle(ledger: Ledger, dataset_id: str) -> Spent | None:
    """Return the account if no draw runs, so that an attempt without an outcome was interrupted; None otherwise."""
    try:
        with ledger.turn(dataset_id, patience=0):
            return ledger.account(dataset_id)
    except LedgerBusy:
        return None


def show_unfinished(ledger: Ledger, dataset_id: str, attempt: Attempt) -> None:
    """Show an interrupted draw: its charge stands, unless the steward declares a machine failure."""
    price = attempt.price
    st.warning(
        f"{attempt.at}, {price}: the release did not finish, and no result was shown. The cause may depend "
        "on the rows, so the charge stays."
    )
    if not admitted():
        return
    st.button(
        "Machine failure: remove the charge", key=f"release_machine-{attempt.number}", on_click=_machine_failed,
        args=(ledger, dataset_id, attempt.number),
        help="You can do this once per request. Every later certificate states it.",
    )  # fmt: skip


def _machine_failed(ledger: Ledger, dataset_id: str, attempt: int) -> None:
    try:
        ledger.machine_failed(dataset_id, attempt, actor(), patience=PATIENT)
    except LedgerError as problem:
        PROBLEM.value = str(problem)
