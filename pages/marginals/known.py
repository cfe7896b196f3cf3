"""Any, all or some of k attributes of private rows that nobody may see: the plan, its promise, and who wins where."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from dpcore.core import Mechanism
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.plans import BETA
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import best_along, crossover, released_counts
from dpcore.queries.at_least import AtLeast
from pages.charts.component import draw, show_numbers
from pages.charts.picture import Picture
from pages.marginals.controls import in_words
from pages.marginals.figures import level_bars
from pages.marginals.map import row_grid, winners_map
from pages.shell.asked import Asked
from pages.shell.private.promises import BADGE, Offer, ask_rows, headline, promises

DIRECT = "marginals-direct"
MAX_WIDTH = 12
"""Attributes of a query on the map."""


def known_before(asked: Asked[AtLeast]) -> None:
    """Everything that needs only public facts."""
    n = ask_rows(asked.source, asked.neighbours)
    problem, queries = dataclasses.replace(asked.problem(n), n=n), asked.queries
    mechanism = asked.made(PolynomialMarginals)
    budget, attributes = mechanism.budget, queries.domain.attributes

    def by_polynomial(epsilon: float) -> Mechanism:
        return asked.entry.make(**{**asked.values, "epsilon": epsilon})

    def directly(epsilon: float) -> Mechanism:
        slack = {"delta": budget.delta, "noise": "gaussian"} if budget.delta else {}
        return entry(DIRECT).make(epsilon=epsilon, **slack)

    offer = Offer(
        about=f"{attributes}|{in_words(queries)}|{queries.signed}|{asked.entry.key}|{asked.values}|{asked.neighbours}",
        problem=problem,
        makers={asked.entry.key: by_polynomial, DIRECT: directly},
        titles={asked.entry.key: asked.entry.title, DIRECT: entry(DIRECT).title},
        chosen=asked.entry.key,
        epsilon=float(asked.values["epsilon"]),
        beta=BETA,
        of="answer",
        person_rows=asked.source.person_rows,
        covers="for all queries together",
        references=asked.entry.references,
    )
    st.header(headline(offer, offer.epsilon))
    promises(offer, key="promises")
    plan = mechanism.plan(problem)
    left, right = st.columns(2)
    with left:
        colour = DIRECT if plan.polynomial is None else asked.entry.key
        picture = level_bars(plan=plan, counts=released_counts(plan, queries), key=colour)
        _draw(picture, name="levels", title="noise of each level")
    with right:
        widths = list(range(1, min(MAX_WIDTH, attributes) + 1))
        places = crossover(problem, budget, rows=row_grid(), widths=widths, degree=mechanism.degree)
        here, _ = best_along(problem, budget, rows=np.array([n]), degree=mechanism.degree)
        picture = winners_map(places=places, n=n, width=queries.width, here=here[0], key=asked.entry.key)
        _draw(picture, name="map", title="who wins where")


def _draw(picture: Picture, *, name: str, title: str) -> None:
    """A picture with few words, and its numbers."""
    draw(picture, key=f"known_{name}_chart", badge=BADGE, caption="")
    show_numbers(picture, title=title, key=f"known_{name}_numbers")
