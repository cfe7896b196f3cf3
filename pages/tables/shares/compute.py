"""The results for shares of attributes: counts and true answers, computed once, and one release."""

from __future__ import annotations

import dataclasses

from dpcore.core import Integers
from dpcore.mechanisms.marginals.plans import max_degree
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import sampled
from dpcore.mechanisms.marginals.release import MarginalState
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import Packed, count_sets, pack
from dplab.marginals import answer_queries
from pages.shell.request import PageRequest
from pages.shell.tasks.memory import remember, with_progress

MAX_SHARED_WIDTH = 12
"""Sets of attributes are counted for this k, so that a smaller k needs no further count."""


class ShareResult:
    """Counts and true answers, computed once a session, and one release.

    Attributes:
        request: the settings.
        packed: the rows.
        answers: answers to the sampled queries, by every method.
    """

    def __init__(self, request: PageRequest[AtLeast]) -> None:
        """Count the rows, and preview a release."""
        self.request, key, queries, dataset = request, request.source.key, request.queries, request.dataset()
        self.packed: Packed = remember(f"packed|{key}", lambda: pack(dataset.records))
        problem, mechanism = request.problem(dataset.n), request.mechanism_of(PolynomialMarginals)
        widest = dataclasses.replace(queries, width=min(MAX_SHARED_WIDTH, queries.domain.attributes), least=1)
        size = max_degree(widest, mechanism.degree)
        counts = with_progress(
            f"counts|{key}|{size}", lambda: count_sets(self.packed, size=size), label="Counting sets of attributes."
        )
        tables: dict[tuple[int, int | None], Integers] = remember(f"tables|{key}", dict)
        indices = sampled(queries, rows=dataset.n)
        truth = with_progress(
            f"truth|{key}|{queries.width}|{queries.least}|{queries.signed}|{len(indices)}",
            lambda: queries.truth(self.packed, indices),
            label="Counting true answers.",
        )
        truth = truth * (dataset.n / problem.n)  # answers are shares of the public number of rows
        state = MarginalState(problem=problem, counts=counts, rows=dataset.n, _cached_counts=tables)
        self.answers = answer_queries(mechanism, state, indices=indices, truth=truth, seed=request.seed)
