"""What is to be released: what Play shows, of the data in use, under the relation and n of the registration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpcore.core import Entry, Queries
from dpcore.data.declared import Capped
from dpcore.data.sources import Source
from dpcore.experiments.recipe import OPENING
from dpcore.ledger.records import DIED, Failed, Registration, Spent, Stored
from dpcore.ledger.store import Ledger
from dpcore.mechanisms import serving
from dpcore.queries.ranges import classes_for
from dpcore.requests.single import Request
from pages.shell.controls import number
from pages.shell.session import shown

AGAIN = "release_again"
"""In the session: a request that is to be drawn once more, with the number of the draw."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request, and what the ledger knows of it.

    Attributes:
        request: with the number of its draw.
        outcome: of this draw; None while there is none.
    """

    request: Request
    outcome: Stored | Failed | None

    @property
    def next(self) -> Request:
        """The same once more."""
        return replace(self.request, draw=self.request.draw + 1)


def request_of(source: Source, registration: Registration) -> Request:
    """The request, with a control of its ε."""
    queries, entry, values = _shown(source)
    if "epsilon" in entry.controls():
        values["epsilon"] = number(entry.controls()["epsilon"], key="epsilon", default=float(values["epsilon"]))
    return Request(
        # Persons are capped by the registration, whatever is declared now.
        reading=source.reading.reading if isinstance(source.reading, Capped) else source.reading,
        queries=queries,
        n=registration.public_n,
        neighbours=registration.neighbours,
        entry_key=entry.key,
        values=values,
        bounds_from_data=source.bounds_from_data,
    )


def _shown(source: Source) -> tuple[Queries, Entry, dict[str, Any]]:
    """Question, mechanism and parameters that Play shows for data read so; else those that it would open with."""
    recipe = shown()
    if recipe is not None and recipe.source.reading == source.reading:
        return recipe.asked(1).queries, recipe.entry, dict(recipe.values)
    kinds = {kind.key: kind for kind in classes_for(source.domain)}
    queries = kinds.get(OPENING.queries, next(iter(kinds.values())))(domain=source.domain)
    entries = {entry.key: entry for entry in serving(queries)}
    entry = entries.get(OPENING.entry_key, next(iter(entries.values())))
    return queries, entry, dict(OPENING.values) if "epsilon" in entry.controls() else {}


def asked(ledger: Ledger, dataset_id: str, first: Request, account: Spent) -> Asked:
    """The draw of a request that is in question: the last that was made, or the next if somebody wants another."""
    begun = {each.request_digest for each in account.begun}
    wanted: tuple[str, int] | None = st.session_state.get(AGAIN)
    found = Asked(request=first, outcome=None)
    while True:
        outcome = ledger.find(dataset_id, found.request.digest)
        if outcome is None and found.request.digest in begun:
            outcome = Failed(sentence=DIED)
        found = replace(found, outcome=outcome)
        more = wanted == (first.digest, found.request.draw + 1) or ledger.find(dataset_id, found.next.digest)
        if outcome is None or not more:
            return found
        found = replace(found, request=found.next, outcome=None)


def once_more(first: Request, draw: int) -> None:
    """A callback: the next draw of a request is wanted."""
    st.session_state[AGAIN] = (first.digest, draw)
