"""The request to release: what Play, Plan or another page shows, with the relation and n of the registration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpcore.core import Entry, Queries
from dpcore.data.declarations import Capped
from dpcore.data.reading.format import USUAL
from dpcore.data.samples import SAMPLES
from dpcore.data.sources import Bundled, Generated, Source, Uploaded, format_of
from dpcore.data.unlisted.texts import is_texts
from dpcore.mechanisms import serving
from dpcore.queries.ranges import classes_for
from dplab.recipe import DEFAULT_RECIPE
from dprelease.ledger.records import DIED, Failed, Registration, Stored
from dprelease.ledger.store import Ledger
from dprelease.plan.questions import Plan
from dprelease.requests.parts import Request, RequestPart
from pages.data.declare import filled_columns
from pages.data.descriptions.private_labels import labels_entry
from pages.data.picker import OWN_FILE
from pages.data.upload import session_file
from pages.shell.controls import number
from pages.shell.ledger.accounts import rows_of
from pages.shell.releasable import ELSEWHERE, PLAN_SHOWN, SHOWN, SHOWN_LAST, OnPage, place_key, query_on_release
from pages.shell.state import SessionKey

AGAIN = SessionKey[tuple[str, int] | None]("release_again", None)
"""Digest of a request whose further draw was requested, with the number of that draw."""


@dataclass(frozen=True, kw_only=True)
class DrawState:
    """A request with its outcome in the ledger.

    Attributes:
        request: with the number of its draw.
        outcome: of this draw; None without one.
    """

    request: Request
    outcome: Stored | Failed | None

    @property
    def next(self) -> Request:
        """The next draw of the same request."""
        return replace(self.request, draw=self.request.draw + 1)


def page_query() -> OnPage | None:
    """Return the query of Tables, One number or Conversation if the user selects it; None for Play and Plan."""
    page = ELSEWHERE.value
    if page is None:
        return None
    options = [f"What {page.place} shows", "What Play or Plan shows"]
    st.radio("Release", options, int(SHOWN_LAST.value != "elsewhere"), key=place_key(page))
    return query_on_release()


def request_of(source: Source, registration: Registration, page: OnPage | None = None) -> Request:
    """Return the request of another page, of the plan, or of Play; ε has a control.

    Args:
        source: the rows.
        registration: of these rows.
        page: query of another page.
    """
    if page is not None:
        # Which mechanism finds the most labels depends on the relation, which is registered.
        entry = labels_entry(registration.neighbours) if is_texts(page.queries.domain) else page.entry
        return _request(source, registration, page.queries, entry, dict(page.values))
    plan = plan_of(source)
    if plan is not None:
        plan_option = f"The plan: {len(plan.questions)} statistic{'s' * (len(plan.questions) > 1)}"
        last_shown = str(SHOWN_LAST.value)
        chosen = st.radio(
            "Request", [plan_option, "What Play shows"], int(last_shown == "play"), key=f"release_what-{last_shown}"
        )
        if chosen == plan_option:
            # Unit, relation and n are those of the registration, not of the plan.
            plan_request = replace(plan, n=registration.public_n, neighbours=registration.neighbours).request()
            filled_columns = columns_from_rows(source)
            parts = [
                replace(part, bounds_from_data=not filled_columns.isdisjoint(part.reading.columns))
                for part in plan_request.parts
            ]
            return replace(plan_request, parts=tuple(parts))
    return _request(source, registration, *_play_query(source))


def _request(
    source: Source, registration: Registration, queries: Queries, entry: Entry, values: dict[str, Any]
) -> Request:
    """Return a request of one question, with relation, n and unit of the registration."""
    if "epsilon" in entry.controls():
        values["epsilon"] = number(entry.controls()["epsilon"], key="epsilon", default=float(values["epsilon"]))
    # The registration's cap of rows per person applies.
    reading = source.reading.reading if isinstance(source.reading, Capped) else source.reading
    question = RequestPart(
        reading=reading,
        queries=queries,
        n=registration.public_n,
        neighbours=registration.neighbours,
        entry_key=entry.key,
        values=values,
        bounds_from_data=source.bounds_from_data or not columns_from_rows(source).isdisjoint(reading.columns),
    )
    return Request(
        parts=(question,),
        person=registration.person_column,
        rows_a_person=registration.rows_a_person,
        file_format=format_of(source.origin),
    )


def columns_from_rows(source: Source) -> set[str]:
    """Return the columns of a file whose bounds, labels or kind were read from its rows."""
    file = session_file()
    return filled_columns(file) if file and isinstance(source.origin, Uploaded) else set()


def cap_mismatch(source: Source, registration: Registration) -> str:
    """Return an error if the declared person column or cap differs from the registered one; empty otherwise."""
    reading, registered = source.reading, (registration.person_column, registration.rows_a_person)
    if not isinstance(reading, Capped) or (reading.person, reading.rows) == registered:
        return ""
    return "The unit of privacy on the Data page differs from the registered one. Declare it as registered."


def plan_of(source: Source) -> Plan | None:
    """Return the plan if it is about the table in use; an opened plan fits any table with its columns."""
    table, plan = PLAN_SHOWN.value or ("", None)
    origin = source.origin
    if plan is None or isinstance(origin, Generated):
        return None
    key = origin.sample_key if isinstance(origin, Bundled) else OWN_FILE
    used_columns = {name for question in plan.questions for name in question.columns}
    is_about_table = table == key or (table not in {each.key for each in SAMPLES} | {OWN_FILE})
    if not is_about_table or not used_columns <= set(rows_of(source).columns):
        return None
    if table == key or plan.file_format == USUAL:
        return replace(plan, file_format=format_of(origin))
    return plan  # the file has to be read with the opened plan's format


def _play_query(source: Source) -> tuple[Queries, Entry, dict[str, Any]]:
    """Return Play's query, mechanism and parameters for these data; otherwise its initial ones."""
    recipe = SHOWN.value
    if recipe is not None and recipe.source.reading == source.reading:
        return recipe.problem_for_n(1).queries, recipe.entry, dict(recipe.values)
    classes = {kind.key: kind for kind in classes_for(source.domain)}
    queries = classes.get(DEFAULT_RECIPE.queries, next(iter(classes.values())))(domain=source.domain)
    entries = {entry.key: entry for entry in serving(queries)}
    entry = entries.get(DEFAULT_RECIPE.entry_key, next(iter(entries.values())))
    return queries, entry, dict(DEFAULT_RECIPE.values) if "epsilon" in entry.controls() else {}


def current_draw(ledger: Ledger, dataset_id: str, first_request: Request, interrupted: set[str]) -> DrawState:
    """Return the current draw of a request: the last one with an outcome, or a requested next one.

    Args:
        ledger: that holds the data set.
        dataset_id: of the data.
        first_request: the request with draw number 1.
        interrupted: digests of requests with an interrupted draw that has no outcome yet.
    """
    wanted_draw = AGAIN.value
    state = DrawState(request=first_request, outcome=None)
    while True:
        outcome = ledger.find(dataset_id, state.request.digest)
        if outcome is None and state.request.digest in interrupted:
            outcome = Failed(sentence=DIED)
        state = replace(state, outcome=outcome)
        has_next = wanted_draw == (first_request.digest, state.request.draw + 1) or ledger.find(
            dataset_id, state.next.digest
        )
        if outcome is None or not has_next:
            return state
        state = replace(state, request=state.next, outcome=None)
