"""Counts, true answers and previews behind the first view of the Tables page: counted once, drawn anew."""

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
from pages.shell.request import Asked
from pages.shell.session import remembered, with_progress


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the pictures are made of.

    Attributes:
        asked: the controls.
        answers: of the sampled queries, by every method.
        packed: the rows.
    """

    asked: Asked[AtLeast]
    answers: MarginalAnswers
    packed: Packed


def computed(asked: Asked[AtLeast]) -> Shown:
    """Counts and true answers, once; then one release."""
    key = asked.source.key
    dataset, queries = asked.dataset(), asked.queries
    packed = remembered(f"packed|{key}", lambda: pack(dataset.records))
    problem, mechanism = asked.problem(dataset.n), asked.made(PolynomialMarginals)
    # For every k alike, so that moving it counts nothing anew.
    widest = dataclasses.replace(queries, width=min(12, queries.domain.attributes), least=1)
    size = most_degree(widest, mechanism.degree)
    counts = with_progress(
        f"counts|{key}|{size}", lambda: count_sets(packed, size=size), label="Counting sets of attributes."
    )
    kept: dict[tuple[int, int | None], Integers] = remembered(f"tables|{key}", dict)
    indices = sampled(queries, rows=dataset.n)
    truth = with_progress(
        f"truth|{key}|{queries.width}|{queries.least}|{queries.signed}|{len(indices)}",
        lambda: queries.truth(packed, indices),
        label="Counting true answers.",
    )
    # Shares are of the public number of rows, as answers are.
    truth = truth * (dataset.n / problem.n)
    state = MarginalState(problem=problem, counts=counts, rows=dataset.n, _kept=kept)
    answers = answered(mechanism, state, indices=indices, truth=truth, seed=asked.seed)
    return Shown(asked=asked, answers=answers, packed=packed)
