"""The theorem of the Conversation page, its two mechanisms side by side, and the code of a conversation."""

from __future__ import annotations

import functools

import numpy as np
import streamlit as st

from dpcore.core import Dataset, describe_error
from dpcore.mechanisms import serving
from dpcore.mechanisms.online.previews import preview_conversation
from dpcore.queries.linear import LinearQueries
from pages.charts.words import percent
from pages.conversation.controls import ConversationRequest
from pages.shell.tasks.memory import remember
from pages.shell.theorem import BETA, theorem_card


def draw_theorem(request: ConversationRequest, dataset: Dataset) -> None:
    """Draw the theorem for the whole conversation."""
    problem = request.problem(dataset.n)
    bound, guarantee = request.mechanism().accuracy(problem, BETA), request.mechanism().guarantee(problem)
    theorem_card(
        bound,
        guarantee,
        n=dataset.n,
        # A refused question has no answer, and so no error.
        said=describe_error(bound, n=dataset.n, subject="no answer given", bold=True),
        needs=f"To guarantee α = {request.values['alpha']:g}",
        mechanism=request.entry.references,
        covers="for the whole conversation",
    )


def draw_comparison(request: ConversationRequest, dataset: Dataset) -> None:
    """Draw the conversation of the same analyst with every mechanism: free, paid and refused answers, and errors."""
    problem = request.problem(dataset.n)
    lines = ["| mechanism | free | paid | refused | worst error | guaranteed |", "|---|---|---|---|---|---|"]
    for entry in serving(request.queries, releases="conversation"):
        mechanism = request.mechanism(entry)
        transcript = remember(
            f"both|{request.key}|{request.analyst}|{entry.key}",
            functools.partial(preview_conversation, mechanism, dataset, problem, seed=request.seed),
        )
        errors = np.abs(transcript.errors(dataset.histogram))
        worst = percent(float(np.nanmax(errors))) if (~transcript.declined).any() else "none"
        bound = mechanism.accuracy(problem, BETA)
        error = percent(bound.value) if bound.guaranteed else "no guarantee"
        lines.append(
            f"| {entry.title} | {int(transcript.free.sum()):,} | {int(transcript.paid.sum()):,} | "
            f"{int(transcript.declined.sum()):,} | {worst} | {error} |"
        )
    st.markdown("\n".join(lines))
    st.caption(
        f"The {request.analyst} analyst asks each mechanism {int(request.values['questions']):,} queries, "
        f"from the same seed. {request.badge()}."
    )


def code(request: ConversationRequest) -> str:
    """Return Python that has the same conversation."""
    queries, imports = f"dpcore.{type(request.queries).__name__}(domain=dataset.domain)", list[str]()
    if isinstance(request.queries, LinearQueries):
        queries, imports = request.queries.code, ["from dpcore.queries.linear import generated"]
    return request.code(
        queries=queries,
        imports=imports,
        then=[
            f"conversation = mechanism.open(state, dpcore.Preview({request.seed}))",
            "answer = conversation.ask(queries.count // 2)",
            'print(answer.value(problem.n), "paid" if answer.paid[0] else "free")',
            f"transcript = mechanism.run(state, dpcore.Preview({request.seed}))  # or let the analyst ask",
            "free, paid, refused = transcript.free, transcript.paid, transcript.declined",
            'print(free.sum(), "free,", paid.sum(), "paid,", refused.sum(), "refused")',
            "print(transcript.frame())",
        ],
    )
