"""The results for shares of attributes: counts and true answers, computed once, and one release."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from dpcore.core import Integers
from dpcore.mechanisms.marginals.plans import most_degree
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import sampled
from dpcore.mechanisms.marginals.release import MarginalState
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import Packed, count_sets, pack
from dplab.marginals import MarginalAnswers, answered
from pages.shell.request import PageRequest
from pages.shell.session import remembered, with_progress

MAX_SHARED_WIDTH = 12
"""Sets of attributes are counted for this k, so that a smaller k needs no further count."""


@dataclass(frozen=True, kw_only=True)
class ShareAnswers:
    """The results that the views draw.

    Attributes:
        request: the settings.
        answers: answers to the sampled queries, by every method.
        packed: the rows.
    """

    request: PageRequest[AtLeast]
    answers: MarginalAnswers
    packed: Packed


def compute(request: PageRequest[AtLeast]) -> ShareAnswers:
    """Return counts and true answers, computed once a session, and one release."""
    key = request.source.key
    dataset, queries = request.dataset(), request.queries
    packed = remembered(f"packed|{key}", lambda: pack(dataset.records))
    problem, mechanism = request.problem(dataset.n), request.mechanism_of(PolynomialMarginals)
    widest = dataclasses.replace(queries, width=min(MAX_SHARED_WIDTH, queries.domain.attributes), least=1)
    size = most_degree(widest, mechanism.degree)
    counts = with_progress(
        f"counts|{key}|{size}", lambda: count_sets(packed, size=size), label="Counting sets of attributes."
    )
    cache: dict[tuple[int, int | None], Integers] = remembered(f"tables|{key}", dict)
    indices = sampled(queries, rows=dataset.n)
    truth = with_progress(
        f"truth|{key}|{queries.width}|{queries.least}|{queries.signed}|{len(indices)}",
        lambda: queries.truth(packed, indices),
        label="Counting true answers.",
    )
    truth = truth * (dataset.n / problem.n)  # answers are shares of the public number of rows
    state = MarginalState(problem=problem, counts=counts, rows=dataset.n, _kept=cache)
    answers = answered(mechanism, state, indices=indices, truth=truth, seed=request.seed)
    return ShareAnswers(request=request, answers=answers, packed=packed)
