"""What the Conversation page's mechanisms promise, both of them side by side, and the code that asks like this."""

from __future__ import annotations

import functools

import numpy as np
import streamlit as st

from dpcore.core import Dataset, describe_error
from dpcore.mechanisms import serving
from dpcore.mechanisms.online.whole import played
from dpcore.queries.linear import LinearQueries
from pages.charts.words import percent
from pages.conversation.controls import ConversationRequest
from pages.shell.session import remembered
from pages.shell.theorem import theorem_card

BETA = 0.05
"""Failure chance of the promise shown."""


def promised(chosen: ConversationRequest, dataset: Dataset) -> None:
    """The theorem."""
    problem = chosen.problem(dataset.n)
    bound, guarantee = chosen.mechanism().accuracy(problem, BETA), chosen.mechanism().guarantee(problem)
    theorem_card(
        bound,
        guarantee,
        n=dataset.n,
        # A refused question has no answer that could err.
        said=describe_error(bound, n=dataset.n, subject="no answer given", bold=True),
        needs=f"To promise α = {chosen.values['alpha']:g}",
        mechanism=chosen.entry.references,
        covers="for the whole conversation",
    )


def both(chosen: ConversationRequest, dataset: Dataset) -> None:
    """The same analyst with every mechanism: what was free, what was paid, what went wrong."""
    place = st.expander("Both mechanisms, the same analyst", key="ask_both_open", on_change="rerun")
    if not place.open:
        return
    problem = chosen.problem(dataset.n)
    lines = ["| mechanism | free | paid | refused | worst error | promised |", "|---|---|---|---|---|---|"]
    for entry in serving(chosen.queries, releases="conversation"):
        mechanism = chosen.mechanism(entry)
        transcript = remembered(
            f"both|{chosen.key}|{chosen.analyst}|{entry.key}",
            functools.partial(played, mechanism, dataset, problem, seed=chosen.seed),
        )
        errors = np.abs(transcript.errors(dataset.histogram))
        worst = percent(float(np.nanmax(errors))) if (~transcript.declined).any() else "none"
        bound = mechanism.accuracy(problem, BETA)
        error = percent(bound.value) if bound.guaranteed else "no guarantee"
        lines.append(
            f"| {entry.title} | {int(transcript.free.sum()):,} | {int(transcript.paid.sum()):,} | "
            f"{int(transcript.declined.sum()):,} | {worst} | {error} |"
        )
    place.markdown("\n".join(lines))
    place.caption(
        f"{int(chosen.values['questions']):,} questions of the {chosen.analyst} analyst to each, from the same seed. "
        f"{chosen.badge()}."
    )


def code(chosen: ConversationRequest) -> str:
    """The snippet."""
    queries, imports = f"dpcore.{type(chosen.queries).__name__}(domain=dataset.domain)", list[str]()
    if isinstance(chosen.queries, LinearQueries):
        queries, imports = chosen.queries.code, ["from dpcore.queries.linear import generated"]
    return chosen.code(
        queries=queries,
        imports=imports,
        then=[
            f"conversation = mechanism.open(state, dpcore.Preview({chosen.seed}))",
            "answer = conversation.ask(queries.count // 2)",
            'print(answer.value(problem.n), "paid" if answer.paid[0] else "free")',
            f"transcript = mechanism.run(state, dpcore.Preview({chosen.seed}))  # or let the analyst ask",
            "free, paid, refused = transcript.free, transcript.paid, transcript.declined",
            'print(free.sum(), "free,", paid.sum(), "paid,", refused.sum(), "refused")',
            "print(transcript.frame())",
        ],
    )
