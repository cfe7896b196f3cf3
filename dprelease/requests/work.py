"""The work that a request names is weighed before any of it is done: a plan or a certificate may be anybody's."""

from __future__ import annotations

from collections.abc import Hashable

from dpcore.core import Mechanism, ParameterError
from dprelease.requests.parts import Request, RequestPart

MAX_SECONDS = 300.0
"""Estimated time that the questions of a request may take together; a single question is bounded by its controls."""


def too_much_work(request: Request) -> str:
    """Return one sentence if the questions together take too long to prepare; empty if they do not.

    Strategies are made once for a size and a set of parameters, so equal ones count once.
    """
    if len(request.parts) < 2:
        return ""
    before = dict[Hashable, float]()
    draws = 0.0
    for part in request.parts:
        try:
            prepared, drawn = part.mechanism.preview_seconds(part.problem)
        except ParameterError:  # a question that is refused for its size, in a sentence of its own
            continue
        before[_strategy(part)] = prepared
        draws += drawn
    seconds = sum(before.values()) + draws
    if seconds <= MAX_SECONDS:
        return ""
    return (
        f"These {len(request.parts)} questions would take about {seconds / 60:,.0f} minutes of computing, and at most "
        f"{MAX_SECONDS / 60:g} are spent on one request: take fewer cells, or ask in several requests."
    )


def _strategy(part: RequestPart) -> Hashable:
    """Return what the work before a first draw depends on: public sizes and parameters."""
    values = part.parameters
    if type(part.mechanism).warm_up is Mechanism.warm_up:  # nothing is prepared for one epsilon alone
        values.pop("epsilon", None)
    domain = part.problem.domain
    size = (domain.size, domain.ordered) if domain.listed else (part.reading,)
    return part.entry_key, type(part.queries), size, part.neighbours, tuple(sorted(values.items()))
