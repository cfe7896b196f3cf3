"""Shares of attributes of private rows that may not be shown: the guaranteed error, and the best method."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpcore.core import Mechanism
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.plans import BETA
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import released_counts
from dpcore.queries.at_least import AtLeast
from pages.charts.component import draw, table
from pages.charts.picture import Picture
from pages.shell.private.promises import BADGE, Offer, ask_rows, headline, promises
from pages.shell.request import PageRequest
from pages.tables.shares.charts import level_bars
from pages.tables.shares.controls import in_words
from pages.tables.shares.map import winners_for

DIRECT = "marginals-direct"


def draw_promise(request: PageRequest[AtLeast]) -> None:
    """Draw what follows from public facts alone."""
    n = ask_rows(request.source, request.neighbours)
    problem, queries = dataclasses.replace(request.problem(n), n=n), request.queries
    mechanism = request.mechanism_of(PolynomialMarginals)
    budget = mechanism.budget

    def by_polynomial(epsilon: float) -> Mechanism:
        return request.entry.make(**{**request.values, "epsilon": epsilon})

    def directly(epsilon: float) -> Mechanism:
        gaussian = {"delta": budget.delta, "noise": "gaussian"} if budget.delta else {}
        return entry(DIRECT).make(epsilon=epsilon, **gaussian)

    offer = Offer(
        about=f"{queries.domain.attributes}|{in_words(queries)}|{queries.signed}|{request.entry.key}|{request.values}|"
        f"{request.neighbours}",
        problem=problem,
        makers={request.entry.key: by_polynomial, DIRECT: directly},
        titles={request.entry.key: request.entry.title, DIRECT: entry(DIRECT).title},
        chosen=request.entry.key,
        epsilon=float(request.values["epsilon"]),
        beta=BETA,
        of="answer",
        person_rows=request.source.person_rows,
        covers="for all queries together",
        references=request.entry.references,
    )
    st.header(headline(offer, offer.epsilon))
    promises(offer, key="promises")
    plan = mechanism.plan(problem)
    left, right = st.columns(2)
    with left:
        colour = DIRECT if plan.polynomial is None else request.entry.key
        picture = level_bars(plan=plan, counts=released_counts(plan, queries), key=colour)
        _draw(picture, name="levels", title="noise of each level")
    with right:
        picture = winners_for(mechanism, problem, queries, key=request.entry.key)
        _draw(picture, name="map", title="who wins where")


def _draw(picture: Picture, *, name: str, title: str) -> None:
    draw(picture, key=f"known_{name}_chart", badge=BADGE, caption="")
    table(picture, title=title, key=f"known_{name}_numbers")
