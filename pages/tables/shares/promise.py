"""Shares of attributes of private rows that may not be shown: the guaranteed error, and the best method."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Mechanism
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.plans import BETA
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import released_counts
from dpcore.queries.at_least import AtLeast
from pages.charts.component import draw_with_table
from pages.shell.private.offer import draw_offer, offer_of
from pages.shell.private.promises import BADGE
from pages.shell.request import PageRequest
from pages.tables.shares.charts import level_bars
from pages.tables.shares.controls import in_words
from pages.tables.shares.map import winners_for

DIRECT = "marginals-direct"


def draw_promise(request: PageRequest[AtLeast]) -> None:
    """Draw what follows from public facts alone."""
    queries, mechanism = request.queries, request.mechanism_of(PolynomialMarginals)

    def directly(epsilon: float) -> Mechanism:
        delta = mechanism.budget.delta
        return entry(DIRECT).make(epsilon=epsilon, **({"delta": delta, "noise": "gaussian"} if delta else {}))

    about = f"{queries.domain.attributes}|{in_words(queries)}|{queries.signed}"
    covers = "for all queries together"
    offer = offer_of(request, about=about, of="answer", covers=covers, beta=BETA, others={DIRECT: directly})
    draw_offer(offer)
    plan = mechanism.plan(offer.problem)
    left, right = st.columns(2)
    with left:
        colour = DIRECT if plan.polynomial is None else request.entry.key
        picture = level_bars(plan=plan, counts=released_counts(plan, queries), key=colour)
        draw_with_table(picture, key="known_levels", badge=BADGE, title="noise of each level")
    with right:
        picture = winners_for(mechanism, offer.problem, queries, key=request.entry.key)
        draw_with_table(picture, key="known_map", badge=BADGE, title="smallest error by setting")
