"""Bounds that follow from a class's dimension: a lower and an upper bound on the worst error, against the rows.

From below: of d shattered points, hide a random half, r rows for each; then n = r d/2, and answers to the class within
α reveal the half (vc.py, fat_shattering.py). From above: the net mechanism answers any class of |C| questions on U
points. By Hoeffding's inequality some m rows, drawn from the data, answer every question within √(ln(2|C|)/(2m)) of the
data's own answer; choosing among all C(U + m - 1, m) databases of m rows costs at most (2/(εn))·ln(C(U + m - 1, m)/β)
more, except with chance β. Between the two the truth lies.

The dimension bounds the number of questions: on U points at most C(U, 0) + C(U, 1) + … + C(U, d) of them differ (Sauer
1972, Shelah 1972), and at least 2^d do. So ln|C| is at most about d·ln U, which is how a dimension makes a large class
cheap to answer. Questions with weights have no such bound here; for them |C| is counted.

Notation (paper): points = U; questions = |C|; dimension = d; resolution = what m rows resolve; epsilon = ε; beta = β.

References:
    Blum, Ligett and Roth (2013), Theorem 3.10, Property 3.4 and Theorem 3.11; Roth (2010), Theorem 2; Sauer (1972).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Bound, Neighbours, ParameterError
from dpcore.limits.attacks import fat_shattering, vc
from dpcore.limits.attacks.shattering import Shattering

MAX_SYNTHETIC = 10**7
"""Rows of a small database that are considered."""


def different(matrix: ArrayLike) -> int:
    """Return the number of different queries in a class, |C|."""
    return len(np.unique(np.asarray(matrix, dtype=np.float64), axis=0))


def max_questions(*, points: int, dimension: int) -> int:
    """Return the largest number of different yes/no queries on the points with this dimension (Sauer-Shelah)."""
    if not 0 <= dimension <= points:
        raise ParameterError("The dimension must lie between 0 and the number of points.")
    return sum(math.comb(points, size) for size in range(dimension + 1))


@dataclass(frozen=True, kw_only=True)
class NetPromise:
    """The net mechanism at its best size.

    Attributes:
        value: the worst error it keeps, a fraction of n.
        synthetic: rows of its databases, m.
    """

    value: float
    synthetic: int


def net_promise(*, questions: int, points: int, rows: int, epsilon: float, beta: float) -> NetPromise:
    """Return the worst error that the net mechanism guarantees for any class of this size, at the best m."""
    if questions < 1 or points < 1 or rows < 1 or not (0 < epsilon < math.inf and 0 < beta < 1):
        raise ParameterError("A guaranteed error needs a class, rows, an ε above 0 and a β in (0, 1).")
    sizes = np.unique(np.geomspace(1, MAX_SYNTHETIC, 400).round().astype(np.int64)).tolist()
    best = NetPromise(value=math.inf, synthetic=1)
    for size in sizes:
        resolution = math.sqrt(math.log(2 * questions) / (2 * size))
        databases = math.lgamma(points + size) - math.lgamma(size + 1) - math.lgamma(points)
        value = resolution + 2 / (epsilon * rows) * (databases - math.log(beta))
        if value < best.value:
            best = NetPromise(value=value, synthetic=size)
    return best


def hidden_half(
    shattering: Shattering, *, scale: float | None, repeats: int, epsilon: float, neighbours: Neighbours, beta: float
) -> Bound | None:
    """Return the lower bound on the error for a class with this shattered set; None if it is too small to hide a half.

    Args:
        shattering: the shattered set, with levels.
        scale: γ for questions with weights; None for yes-or-no questions.
        repeats: rows for each hidden point, so that n = repeats · points/2.
        epsilon: privacy loss.
        neighbours: the relation.
        beta: failure probability of the guaranteed error.
    """
    points = hidden_points(shattering, scale=scale)
    if points < 2:
        return None
    if scale is None:
        return vc.error_bound(epsilon=epsilon, repeats=repeats, neighbours=neighbours, beta=beta, points=points)
    return fat_shattering.error_bound(
        points=points,
        scale=scale,
        spread=_spread(shattering, scale=scale),
        epsilon=epsilon,
        neighbours=neighbours,
        beta=beta,
        repeats=repeats,
    )


def hidden_points(shattering: Shattering, *, scale: float | None) -> int:
    """Return the number of shattered points that can hide a half: even; with weights, those of like levels."""
    if scale is None or shattering.lower_bound < 2:
        return shattering.lower_bound - shattering.lower_bound % 2
    return len(fat_shattering.alike(levels=_levels(shattering), scale=scale))


def _levels(shattering: Shattering) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([float(level) for level in shattering.levels])


def _spread(shattering: Shattering, *, scale: float) -> float:
    """Return the largest difference between levels of the points that hide a half."""
    chosen: list[Fraction] = [
        shattering.levels[place] for place in fat_shattering.alike(levels=_levels(shattering), scale=scale)
    ]
    return float(max(chosen) - min(chosen))
