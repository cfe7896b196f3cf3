"""What a class's dimension is worth against the rows: the error nobody promises, and what the net mechanism does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, Neighbours
from dpcore.limits.attacks import worth
from dpcore.limits.attacks.shattering import Shattering

MAX_ROWS = 10**6
REPEATS = np.unique(np.geomspace(1, MAX_ROWS, 80).round().astype(np.int64))
"""Rows for each hidden point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassErrors:
    """Worst errors, fractions of n, (K,) each.

    Attributes:
        rows: n, up to MAX_ROWS.
        questions: different ones in the class.
        promised: by the net mechanism for so many questions.
        by_dimension: by the net mechanism, if all that is known is the dimension; None where that says no more.
        forbidden: nobody can promise less; None where too few points are shattered to hide a half.
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
    """Both sides along a grid of rows.

    Args:
        weights: the class, (questions, points).
        shattering: its shattered set.
        scale: γ for questions with weights; None for yes-or-no questions.
        epsilon: privacy loss.
        neighbours: the relation.
        beta: failure chance.
    """
    questions, points = worth.different(weights), weights.shape[1]
    hidden = worth.hidden_points(shattering, scale=scale)
    rows = np.maximum(1, REPEATS * hidden // 2) if hidden else REPEATS
    rows = rows[rows <= MAX_ROWS]

    def promised(number: int) -> Floats:
        return np.array(
            [
                worth.net_promise(questions=number, points=points, rows=n, epsilon=epsilon, beta=beta).value
                for n in rows.tolist()
            ]
        )

    max_questions = worth.most_questions(points=points, dimension=shattering.at_most) if scale is None else 0
    bounds = [
        worth.hidden_half(shattering, scale=scale, repeats=each, epsilon=epsilon, neighbours=neighbours, beta=beta)
        for each in REPEATS[: len(rows)].tolist()
    ]
    return ClassErrors(
        rows=rows,
        questions=questions,
        promised=promised(questions),
        by_dimension=promised(max_questions) if max_questions > questions else None,
        forbidden=np.array([bound.value for bound in bounds if bound is not None]) if hidden else None,
    )
