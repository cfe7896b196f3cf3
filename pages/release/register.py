"""The state of the Release page in which the data are not registered; the first registration starts a ledger."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from dpcore.core import Neighbours, ParameterError, is_visible
from dpcore.data.declarations import Capped
from dpcore.data.sources import Generated, Source, Uploaded
from dprelease.certificate import price_of
from dprelease.commands import default_folder
from dprelease.ledger.records import LedgerError, Registration
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from pages.data.upload import session_file
from pages.release.request import plan_of
from pages.shell.ledger.access_records import record_access_without_ledger
from pages.shell.ledger.accounts import PATIENT, account_in, rows_of, watched_rows
from pages.shell.ledger.roles import actor
from pages.shell.ledger.spent import spent_words
from pages.shell.private.data_in_use import escaped
from pages.shell.private.twin import NAMED, USUAL_ROWS, ask_public_rows, is_public, relation
from pages.shell.state import SessionKey
from pages.shell.status import show_relation

NO_LEDGER = "There is no ledger on this machine yet. Every release needs one."
STARTED = (
    "Register starts one, in a folder that only the account running this app can read. It adds up the cost of all "
    "releases and refuses one that exceeds the budget."
)
FIXED = "You cannot change the unit of privacy and the neighbouring relation later."
COUNT_IS_PRIVATE = (
    "If one row is replaced, the number of rows is public. Declare it public on the Data page, or choose "
    "added or removed rows."
)
NEW_PEOPLE = "No, these are other people"
USUAL_EPSILON, USUAL_DELTA = 2.0, 1e-6
PROBLEM = SessionKey("release_problem", "")
"""Error of the last button, until another is pressed."""
PRIVATE_NAME = "A private table"


def register(ledger: Ledger | None, source: Source) -> None:
    """Draw the form that registers a data set, and starts a ledger where there is none."""
    if ledger is None:
        st.caption(f"{NO_LEDGER} {STARTED}")
    st.header(f"{escaped(source.origin.provenance.title)} is not registered yet")
    key_suffix = _key_suffix(source)
    left, right = st.columns(2)
    with left:
        # A private file's name may contain a person's name, and this name is published.
        default_name = PRIVATE_NAME if source.provenance.is_private else source.origin.provenance.title[:200]
        name = st.text_input("Name in certificates", default_name, key=f"release_name-{key_suffix}")
        unit, cap, person = _unit(source)
        st.markdown(f"Protected: **{unit}**")
        neighbours = _relation(source, person, key_suffix)
        show_relation(neighbours, cap if person else 0)
    with right:
        n = _rows(source, neighbours, person, key_suffix)
        least_epsilon, least_delta = _cost_of_plan(source, cap)
        epsilon = st.number_input(
            "Budget ε", 0.001, 1000.0, max(USUAL_EPSILON, least_epsilon), step=None, format="%g",
            key=f"release_budget-{key_suffix}",
            help="The total budget of all releases of these data. The command `ledger budget` changes it, with "
                 "a reason.",
        )  # fmt: skip
        delta = st.number_input(
            "Budget δ", 0.0, 0.1, max(USUAL_DELTA, least_delta), step=None, format="%g",
            key=f"release_delta-{key_suffix}", help="With 0, only pure ε mechanisms are allowed.",
        )  # fmt: skip
    existing_id = _same_people(ledger, key_suffix) if ledger else ""
    st.caption(FIXED)
    if st.button(
        "Register",
        type="primary",
        key="ledger_register",
        disabled=existing_id is None or not is_visible(name) or n is None,
    ):
        try:
            if ledger is None:
                actor().must_be_steward("start a ledger")
                ledger = Ledger.open(default_folder())
            record_access_without_ledger(source)
            if existing_id:
                with ledger.turn(existing_id, patience=PATIENT):  # a running draw holds the turn, possibly for long
                    ledger.add_version(existing_id, watched_rows(source), actor())
            elif n is not None:
                ledger.register(
                    Registration(
                        name=name, neighbours=neighbours, public_n=n, person_column=person, rows_a_person=cap
                    ),
                    watched_rows(source),
                    Price.allowed(epsilon=epsilon, delta=delta),
                    actor(),
                )  # fmt: skip
        except (LedgerError, ParameterError) as problem:
            PROBLEM.value = str(problem)
        st.rerun()


def _cost_of_plan(source: Source, cap: int) -> tuple[float, float]:
    """Return ε and δ of the plan for these data under the dearer relation; zeros without a plan, or beyond a budget."""
    plan = plan_of(source)
    if plan is None:
        return 0.0, 0.0
    prices = [Price(epsilon_or_rho=0)]
    for neighbours in Neighbours:
        with suppress(ParameterError):  # the page says why once it is registered
            prices.append(price_of(replace(plan, neighbours=neighbours).request(), rows_a_person=cap))
    epsilon, delta = (max(float(each.document[name]) for each in prices) for name in ("epsilon", "delta"))
    return (epsilon, delta) if epsilon <= 1000.0 and delta <= 0.1 else (0.0, 0.0)


def _key_suffix(source: Source) -> str:
    """Return the suffix of the controls' keys for these data; it contains nothing of a file."""
    file = session_file()
    if isinstance(source.origin, Uploaded):
        return f"file-{file.turn if file else 0}"
    return "generated" if isinstance(source.origin, Generated) else source.origin.key.replace(":", "-")


def _unit(source: Source) -> tuple[str, int, str]:
    """Return the unit of privacy in words, the maximum rows of a person, and the person column."""
    if isinstance(source.reading, Capped):
        rows = source.reading.rows
        return f"a person with at most {rows:,} row{'s' * (rows > 1)}", rows, source.reading.person
    return "a row", 1, ""


def _relation(source: Source, person: str, key_suffix: str) -> Neighbours:
    """Draw the control of the neighbouring relation; for persons it is fixed."""
    if person:
        return Neighbours.ADD_REMOVE_ONE
    count_is_private = source.provenance.is_private and not is_public(source, Neighbours.REPLACE_ONE)
    default = Neighbours.ADD_REMOVE_ONE if count_is_private else relation()
    return Neighbours(
        st.radio(
            "Neighbouring data sets", [str(each) for each in Neighbours], list(Neighbours).index(default),
            key=f"release_relation-{key_suffix}", format_func=lambda each: Neighbours(each).words, horizontal=True,
        )
    )  # fmt: skip


def _rows(source: Source, neighbours: Neighbours, person: str, key_suffix: str) -> int | None:
    """Draw the public n and return it; None if there is none."""
    private = source.provenance.is_private
    if neighbours is Neighbours.REPLACE_ONE:
        if private and not is_public(source, neighbours):
            st.warning(COUNT_IS_PRIVATE)
            return None
        rows = rows_of(source).row_count
        st.markdown(f"n = **{rows:,}**, which is public")
        return rows
    plan = plan_of(source)
    named = NAMED.value or (plan.n if plan else USUAL_ROWS)  # the n for which the plan shows its errors
    default = named if private or person else rows_of(source).row_count
    help_text = "The number of rows is private. Name a round number instead; errors are shares of it."
    return ask_public_rows(default, key=f"release_n-{key_suffix}", private=private, help_text=help_text)


def _same_people(ledger: Ledger, key_suffix: str) -> str | None:
    """Return the registered data set of the same people: empty for none, None until the user answers."""
    accounts = {each: account_in(ledger, each) for each in ledger.dataset_ids()}
    if not accounts:
        return ""
    titles = {
        key: f"The same as in “{escaped(each.registration.name)}” ({spent_words(each.spent)} spent)"
        for key, each in accounts.items()
    }
    options = ["", *accounts]
    chosen = st.radio(
        "Are these the same people as in a data set that is already registered?", options, None,
        key=f"release_same-{key_suffix}", format_func=lambda key: titles.get(key, NEW_PEOPLE),
        help="The same people share one budget, for example after a correction or with another year's rows.",
    )  # fmt: skip
    return None if chosen is None else str(chosen)
