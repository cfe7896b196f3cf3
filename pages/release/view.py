"""The Release page: one state at a time, read from the ledger. The page itself samples and stores nothing."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.data.sources import Source, Uploaded
from dprelease.commands import default_folder
from dprelease.ledger.records import Failed, Stored, restored_sentence
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.plan.titles import part_title
from dprelease.release import cost, refusal, table_refusal
from dprelease.requests.parts import Request
from pages.data.fit_check import offer_unfit_count
from pages.data.picker import pick_source
from pages.release.cards import MOCK, show_cards
from pages.release.draw import (
    SPEND,
    Drawing,
    account_if_idle,
    confirm,
    current_drawing,
    last_message,
    show_rehearsal,
    show_unfinished,
    waiting,
    waiting_for_another,
)
from pages.release.login import account_bar, login_page, show_published
from pages.release.past import past_releases
from pages.release.register import NO_LEDGER, PROBLEM, register
from pages.release.request import AGAIN, DrawState, cap_mismatch, current_draw, page_query, plan_of, request_of
from pages.release.results import day_of, show_result, stored_sentence
from pages.release.shared_rows import shared_rows, sharing_button
from pages.release.worker import busy, under_way
from pages.shell.ledger.accounts import HALTED, Account, account_in, compare_rows, comparison_stopped, ledger, rows_of
from pages.shell.ledger.reading_progress import STOPPED
from pages.shell.ledger.roles import admitted, draw_token_field, has_login, role, why_closed
from pages.shell.ledger.spent import record_true_values_shown, spent_words
from pages.shell.private.data_in_use import escaped, show_data_in_use
from pages.shell.private.twin import untwinned
from pages.shell.releasable import OnPage
from pages.shell.status import show_relation

PUBLIC = "These rows are public: a release of them is a demonstration."
NONE_OPEN = "Analysts cannot release from any rows now. The data owner can allow it on this page. Your request is kept."
MAX_LINES = 6
"""Maximum number of statistics that are listed."""
STEPS = ("Plan", "Budget", "Rehearse", SPEND)
PLANNING, BUDGET, REHEARSAL, SPENDING, RELEASED = range(5)
"""The current step, and the end of all."""


def show_release() -> None:
    """Draw the state that the ledger is in."""
    st.title("Release")
    steps = st.empty()
    # Who may release nothing has done nothing.
    _draw_steps(steps, PLANNING if role() is None else BUDGET)
    problem = PROBLEM.pop()
    if problem:
        st.error(problem)
    if role() is None:
        st.markdown("**Each release is charged, sampled by the secure sampler, stored and certified.**")
        if has_login():
            login_page()
        else:
            st.info(why_closed())
            draw_token_field()
        return
    if has_login():
        account_bar()
    drawing = current_drawing()
    store = ledger()
    if store is None and not admitted():
        st.info(NO_LEDGER)
        return
    with st.sidebar:
        page = page_query()
        source = page.source if page else pick_source(pairs=True, persons=True, is_whole=_has_plan)
    if page:
        show_data_in_use(source)
    source = untwinned(source)
    if store is None:
        register(None, source)
        _details()
        return
    if not admitted():
        _analysts(store, source, drawing, page, steps)
        return
    account, released = compare_rows(source), None
    if comparison_stopped(source):
        _stopped()
    elif account is None:
        register(store, source)
    else:
        record_true_values_shown(account, source)
        released = _registered(store, account, source, drawing, page, steps)
        if has_login() and isinstance(source.origin, Uploaded):
            sharing_button(account.registration, source.origin.table)
    past_releases(store, released)
    _details()


def _has_plan(source: Source) -> bool:
    """Return whether a plan is to be released, which may be about more columns than the one in use."""
    return plan_of(untwinned(source)) is not None


def _draw_steps(place: DeltaGenerator, current: int) -> None:
    """Draw the four steps in one line, with those that are done and the current one."""
    marks = [f"✓\u00a0{name}" if step < current else f"{step + 1}\u00a0{name}" for step, name in enumerate(STEPS)]
    place.markdown(" → ".join(f"**{mark}**" if step == current else mark for step, mark in enumerate(marks)))


def _details() -> None:
    """Draw where the ledger is, behind a word: only the administrator needs it."""
    st.popover("Details", type="tertiary").markdown(f"The ledger is in `{default_folder()}`.")


def _stopped() -> None:
    st.info(STOPPED)
    st.button("Continue", key="ledger_go_on", on_click=HALTED.set, args=(None,))


def _analysts(
    store: Ledger, source: Source, drawing: Drawing | None, page: OnPage | None, steps: DeltaGenerator
) -> None:
    """Draw the page for an analyst, who releases from shared or public rows and cannot upload a file."""
    shared = {each: rows for each in store.dataset_ids() if (rows := shared_rows(each)) is not None}
    public_account = None if isinstance(source.origin, Uploaded) else compare_rows(source)
    if comparison_stopped(source):
        _stopped()
    options = [*shared, *([public_account.dataset_id] if public_account else [])]
    if options:
        names = {each: escaped(store.registration(each).name) for each in options}
        with st.sidebar:
            chosen = st.selectbox("Release from", options, format_func=names.__getitem__, key="release_from")
        if chosen in shared:
            origin = Uploaded(table=shared[chosen], private=True, digest=chosen)
            source = replace(source, origin=origin)
        _registered(store, account_in(store, chosen), source, drawing, page, steps)
    elif not comparison_stopped(source):
        st.info(NONE_OPEN)
    show_published(store)


def _registered(
    store: Ledger, account: Account, source: Source, drawing: Drawing | None, page: OnPage | None, steps: DeltaGenerator
) -> tuple[str, int] | None:
    """Draw states 3 to 8 of a registered data set; return it with the entry that is shown, if any."""
    if account.wrong:
        st.error(account.wrong)
        return None
    dataset_id = account.dataset_id
    _draw_steps(steps, SPENDING if drawing else REHEARSAL)
    st.header(f"Spent {spent_words(account.spent)}, left {account.spent.left.amount}")
    restored = restored_sentence(account.spent.copies_put_back)
    sentences = (
        budget_sentence(account.spent.budget),
        restored,
        _registration_sentence(account),
        "" if source.provenance.is_private else PUBLIC,
    )
    st.caption(" ".join(filter(None, sentences)))
    registration = account.registration
    show_relation(registration.neighbours, registration.rows_a_person if registration.person_column else 0)
    with st.sidebar:  # in every state: Streamlit drops the value of a control that is not drawn
        first_request = request_of(source, account.registration, page)
    if drawing:
        waiting(drawing.future)
        return None
    is_busy = busy(dataset_id)
    if account.spent.begun and not is_busy:
        spent = account_if_idle(store, dataset_id)
        if spent is None:
            waiting_for_another(store, dataset_id)
            return None
        account = replace(account, spent=spent)
        for attempt in spent.begun:
            show_unfinished(store, dataset_id, attempt)
    interrupted = {each.request_digest for each in account.spent.begun}
    state = current_draw(store, dataset_id, first_request, set() if is_busy else interrupted)
    st.markdown(_request_words(state.request))
    if future := under_way(dataset_id, state.request):
        _draw_steps(steps, SPENDING)
        waiting(future)
        return None
    if is_busy and state.outcome is None and state.request.digest in interrupted:  # the draw ended during this run
        waiting_for_another(store, dataset_id)
        return None
    if state.outcome is None:
        _choose_draw(store, account, source, first_request, state.request, steps)
    else:
        _draw_steps(steps, RELEASED if isinstance(state.outcome, Stored) else SPENDING)
        _show_outcome(store, account, state, first_request)
    return (dataset_id, state.outcome.entry) if isinstance(state.outcome, Stored) else None


def _choose_draw(
    store: Ledger, account: Account, source: Source, first_request: Request, request: Request, steps: DeltaGenerator
) -> None:
    """Draw states 3 to 5, up to the only button that charges."""
    table = rows_of(source)
    sentence = (
        cap_mismatch(source, account.registration)
        or table_refusal(account.registration, request, table, steward=admitted())
        or refusal(request, account.registration, account.spent)
    )
    if sentence:
        st.warning(sentence)
        st.button(SPEND, disabled=True, key="release_charge_off")
        return
    offer_unfit_count(source, [part.reading for part in request.parts], key="release_fit")
    if message := last_message(request):  # there was no draw: the ledger was busy or not writable
        st.warning(message)
    rehearsal = show_rehearsal(first_request)
    if rehearsal is None:
        return
    st.markdown(rehearsal.sentence)
    has_several = len(first_request.parts) > 1
    for part, error, coverage in zip(first_request.parts, rehearsal.errors, rehearsal.coverage, strict=True):
        if sentence := " ".join([error] * has_several + [coverage] * bool(coverage)):
            st.caption(f"{escaped(part_title(first_request, part))}: {sentence}")
    show_cards(first_request, rehearsal.files, key="mock", badge=MOCK, downloadable=False, mock=True)
    _draw_steps(steps, SPENDING)
    price = cost(request, account.registration)
    confirm(store, account.dataset_id, request, table, price=price, spent=account.spent)


def _show_outcome(store: Ledger, account: Account, state: DrawState, first_request: Request) -> None:
    """Draw states 7 and 8: the outcome, and the button of a further draw."""
    outcome, price = state.outcome, cost(state.request, account.registration)
    if isinstance(outcome, Stored):
        if last_message(state.request):
            st.success(stored_sentence(outcome))
        else:
            st.success(f"Released on {day_of(outcome)} as entry {outcome.entry}. To see it again is free.")
        show_result(store, account.dataset_id, outcome)
    elif isinstance(outcome, Failed) and state.request.digest not in {
        one.request_digest for one in account.spent.begun
    }:
        st.error(outcome.sentence)  # an interrupted draw without an outcome has its message above
    st.button(
        f"Release again, {price}", key="release_again_button", on_click=AGAIN.set,
        args=((first_request.digest, state.request.draw + 1),),
        help="Another release of the same request is charged again.",
    )  # fmt: skip


def budget_sentence(budget: Price) -> str:
    """Return the total budget of a data set as a sentence."""
    private = budget.private
    amount = f"({private.amount}, {private.delta_words})" if budget.delta else private.amount
    return f"All releases of these data together are {amount}-private."


def _registration_sentence(account: Account) -> str:
    """Return the registered name, the public n, and the declared machine failures as a sentence."""
    registration, failures = account.registration, account.spent.machine_failures
    failure_words = f" The data owner declared {failures} machine failure{'s' * (failures > 1)}." if failures else ""
    return f"Registered as “{escaped(registration.name)}”, n = {registration.public_n:,}.{failure_words}"


def _request_words(request: Request) -> str:
    """Return the request in words, with a line for each statistic."""
    draw_words = f", repetition {request.draw}" if request.draw > 1 else ""
    lines = [f"**{escaped(part_title(request, part))}** · {part.entry.title}" for part in request.parts]
    rest = [f"and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
    return "  \n".join([*lines[:MAX_LINES], *rest]) + draw_words
