"""Worst errors for a query class against the number of rows: a lower bound, and the net mechanism's guarantees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, Neighbours
from dpcore.limits.attacks import dimension_bounds
from dpcore.limits.attacks.shattering import Shattering

MAX_ROWS = 10**6
REPEATS = np.unique(np.geomspace(1, MAX_ROWS, 80).round().astype(np.int64))
"""Rows for each hidden point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassErrors:
    """Worst errors for a query class, fractions of n, (K,) each.

    Attributes:
        rows: numbers of rows n, up to MAX_ROWS.
        questions: number of distinct queries in the class.
        promised: guaranteed error of the net mechanism for so many queries.
        by_dimension: guaranteed error of the net mechanism from the dimension alone; None where that is no larger.
        forbidden: lower bound for every mechanism; None where too few points are shattered to hide a half.
    """

    rows: Integers
    questions: int
    promised: Floats
    by_dimension: Floats | None
    forbidden: Floats | None


def errors_by_rows(
    *,
    weights: Floats,
    shattering: Shattering,
    scale: float | None,
    epsilon: float,
    neighbours: Neighbours,
    beta: float,
) -> ClassErrors:
    """Compute guarantees and lower bounds along a grid of numbers of rows.

    Args:
        weights: the class, (queries, points).
        shattering: its shattered set.
        scale: γ for weighted queries; None for yes-or-no queries.
        epsilon: ε.
        neighbours: the neighbouring relation.
        beta: failure probability.
    """
    questions, points = dimension_bounds.different(weights), weights.shape[1]
    hidden = dimension_bounds.hidden_points(shattering, scale=scale)
    rows = np.maximum(1, REPEATS * hidden // 2) if hidden else REPEATS
    rows = rows[rows <= MAX_ROWS]

    def promised(number: int) -> Floats:
        return np.array(
            [
                dimension_bounds.net_promise(questions=number, points=points, rows=n, epsilon=epsilon, beta=beta).value
                for n in rows.tolist()
            ]
        )

    max_questions = (
        dimension_bounds.max_questions(points=points, dimension=shattering.upper_bound) if scale is None else 0
    )
    bounds = [
        dimension_bounds.hidden_half(
            shattering, scale=scale, repeats=each, epsilon=epsilon, neighbours=neighbours, beta=beta
        )
        for each in REPEATS[: len(rows)].tolist()
    ]
    return ClassErrors(
        rows=rows,
        questions=questions,
        promised=promised(questions),
        by_dimension=promised(max_questions) if max_questions > questions else None,
        forbidden=np.array([bound.value for bound in bounds if bound is not None]) if hidden else None,
    )
