"""The Release page: one state at a time, read from the ledger. The page draws nothing and keeps nothing."""

from __future__ import annotations

import streamlit as st

from dpcore.commands import default_folder
from dpcore.core import ParameterError
from dpcore.data.sources import Source
from dpcore.ledger.records import Failed, Stored
from dpcore.ledger.store import Ledger
from dpcore.ledger.units import Price
from dpcore.release import cost, refusal
from dpcore.requests.single import Request
from pages.data.picker import pick_source
from pages.release.asked import Asked, asked, once_more, request_of
from pages.release.draw import (
    LAST,
    ask_rehearsal,
    confirm,
    drawing,
    drawn_elsewhere,
    rehearsal_sentence,
    rehearsed,
    unfinished,
    waiting,
    waiting_for_another,
)
from pages.release.register import PROBLEM, register, start_a_ledger
from pages.release.results import day_of, others, result, stored_sentence
from pages.release.worker import busy, under_way
from pages.shell.ledger.door import admitted, why_closed
from pages.shell.ledger.held import Account, account_of, ledger, rows_of
from pages.shell.ledger.odometer import spent_words, tell_what_was_seen
from pages.shell.private.chip import escaped
from pages.shell.private.twin import is_twin
from pages.shell.session import upload

PUBLIC = "These rows are public: releasing them shows how it is done, and protects nobody."
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def releasing() -> None:
    """Find the state that the ledger is in, and show it."""
    st.title("Release")
    if not admitted():
        st.markdown("**Charged once, drawn once by the secure sampler, stored, and certified.**")
        st.info(why_closed())
        return
    if problem := st.session_state.pop(PROBLEM, ""):
        st.error(problem)
    found = ledger()
    if found is None:
        start_a_ledger()
        st.caption(f"Its place: `{_place()}`")
        return
    with st.sidebar:
        source = pick_source(pairs=True, persons=True)
    own = upload()
    if is_twin(source) and own is not None:
        source = own
    account = account_of(source)
    if account is None:
        register(found, source)
    else:
        tell_what_was_seen(account, source)
        _registered(found, account, source)
    st.caption(f"The ledger is in `{_place()}`.")


def _registered(found: Ledger, account: Account, source: Source) -> None:
    """States 3 to 8."""
    if account.wrong:
        st.error(account.wrong)
        return
    dataset_id = account.dataset_id
    st.header(f"Spent ε {spent_words(account.spent)}, left {_epsilon(account.spent.left)}")
    st.caption(f"{together(account.spent.budget)} {_unit(account)} {'' if source.provenance.is_private else PUBLIC}")
    with st.sidebar:  # in every state: a control that is not drawn forgets what it was set to
        first = request_of(source, account.registration)
    if held := drawing():
        waiting(held.future)
        return
    if account.spent.begun and not busy(dataset_id):
        if drawn_elsewhere(found, dataset_id):
            waiting_for_another(found, dataset_id)
            return
        for attempt in account.spent.begun:
            unfinished(found, dataset_id, attempt)
    now = asked(found, dataset_id, first, account.spent)
    st.markdown(_words(now.request))
    if draw := under_way(dataset_id, now.request):
        waiting(draw)
        return
    try:
        price = cost(now.request, account.registration)
    except ParameterError as problem:
        st.error(str(problem))
        return
    if now.outcome is None:
        _choose(found, account, source, first, now.request, price)
    else:
        _known(found, account, now, first, price)
    others(found, dataset_id, now.outcome.entry if isinstance(now.outcome, Stored) else 0)


def _choose(found: Ledger, account: Account, source: Source, first: Request, request: Request, price: Price) -> None:
    """States 3 to 5: nothing is charged before the last button."""
    sentence = refusal(request, account.registration, account.spent)
    if sentence:
        st.warning(sentence)
        st.button("Charge and draw", disabled=True, key="release_charge_off")
        return
    rehearsal = rehearsed(first)
    if rehearsal is None:
        ask_rehearsal(first, disabled=False)
        return
    st.markdown(rehearsal_sentence(rehearsal, first))
    confirm(
        found, account.dataset_id, request, rows_of(source), price=price, left=account.spent.left - price
    )  # fmt: skip


def _known(found: Ledger, account: Account, now: Asked, first: Request, price: Price) -> None:
    """States 7 and 8."""
    outcome = now.outcome
    if isinstance(outcome, Stored):
        last: tuple[str, str] | None = st.session_state.get(LAST)
        if last and last[0] == now.request.digest:
            st.success(stored_sentence(outcome))
        else:
            st.success(f"Drawn on {day_of(outcome)} as entry {outcome.entry}; seeing it again is free.")
        result(found, account.dataset_id, outcome)
    elif isinstance(outcome, Failed):
        st.error(outcome.sentence)
    st.button(
        f"Draw another, {price}", key="release_again_button", on_click=once_more, args=(first, now.request.draw + 1),
        help="Another draw of the same is another charge.",
    )  # fmt: skip


def together(budget: Price) -> str:
    """What the whole ledger promises of these data."""
    told = budget.document
    amount = f"({told['epsilon']}, {_power(told['delta'])})-private" if budget.delta else f"{told['epsilon']}-private"
    return f"Everything this ledger lets out of them is together {amount}."


def _power(text: str) -> str:
    """0.000001 as 10⁻⁶, where it is a power of ten."""
    zeros = text.removeprefix("0.")
    if zeros.strip("0") == "1" and zeros.endswith("1"):
        return f"10{str(-len(zeros)).translate(SUPERSCRIPTS)}"
    return text


def _epsilon(price: Price) -> str:
    return price.document["epsilon"]


def _unit(account: Account) -> str:
    """Who is protected."""
    fixed = account.registration
    who, rows = fixed.neighbours.words, fixed.rows_a_person
    if fixed.person_column:
        who = f"{who.removesuffix(' row')} person, with at most {rows:,} row{'s' * (rows > 1)}"
    failures = account.spent.machine_failures
    counted = f" {failures} draw{'s' * (failures > 1)} died of the machine, says the steward." if failures else ""
    return f"Registered as “{escaped(fixed.name)}”: {who}, n = {fixed.public_n:,}.{counted}"


def _words(request: Request) -> str:
    """What is released."""
    question = request.queries.title.partition(":")[0].lower()
    again = f", draw {request.draw}" if request.draw > 1 else ""
    return f"**{request.entry.title}** for {question} of {escaped(request.reading.title)}{again}"


def _place() -> str:

    return str(default_folder())
