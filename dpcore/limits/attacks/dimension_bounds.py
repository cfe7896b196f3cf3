"""What a class's dimension is worth: errors that nobody can promise, and one that somebody can, against the rows.

From below: of d shattered points, hide a random half, r rows for each; then n = r d/2, and whoever answers the class
within α gives the half away (vc.py, fat_shattering.py). From above: the net mechanism answers any class of |C|
questions on U points. By Hoeffding's inequality some m rows, drawn from the data, answer every question within
√(ln(2|C|)/(2m)) of the data's own answer; choosing among all C(U + m - 1, m) databases of m rows costs at most
(2/(εn))·ln(C(U + m - 1, m)/β) more, except with chance β. Between the two the truth lies.

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
    """Largest number of different yes-or-no questions on the points that have the dimension (Sauer-Shelah)."""
    if not 0 <= dimension <= points:
        raise ParameterError("The dimension must lie between 0 and the number of points.")
    return sum(math.comb(points, taken) for taken in range(dimension + 1))


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
    """The worst error the net mechanism promises for any class of so many questions, at the size m that is best."""
    if questions < 1 or points < 1 or rows < 1 or not (0 < epsilon < math.inf and 0 < beta < 1):
        raise ParameterError("A promise needs a class, rows, a privacy loss above 0 and a failure chance in (0, 1).")
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
    found: Shattering, *, scale: float | None, repeats: int, epsilon: float, neighbours: Neighbours, beta: float
) -> Bound | None:
    """The error nobody can promise for a class with this shattered set; None if it is too small to hide a half of.

    Args:
        found: the shattered set, with levels.
        scale: γ for questions with weights; None for yes-or-no questions.
        repeats: rows for each hidden point, so that n = repeats · points/2.
        epsilon: privacy loss.
        neighbours: the relation.
        beta: failure chance of the promise.
    """
    points = hidden_points(found, scale=scale)
    if points < 2:
        return None
    if scale is None:
        return vc.error_bound(epsilon=epsilon, repeats=repeats, neighbours=neighbours, beta=beta, points=points)
    return fat_shattering.error_bound(
        points=points,
        scale=scale,
        spread=_spread(found, scale=scale),
        epsilon=epsilon,
        neighbours=neighbours,
        beta=beta,
        repeats=repeats,
    )


def hidden_points(found: Shattering, *, scale: float | None) -> int:
    """Shattered points that can hide a half: an even number; with weights, those whose levels are alike."""
    if scale is None or found.lower_bound < 2:
        return found.lower_bound - found.lower_bound % 2
    return len(fat_shattering.alike(levels=_levels(found), scale=scale))


def _levels(found: Shattering) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([float(level) for level in found.levels])


def _spread(found: Shattering, *, scale: float) -> float:
    """Return the largest difference between levels of the points that hide a half."""
    chosen: list[Fraction] = [found.levels[place] for place in fat_shattering.alike(levels=_levels(found), scale=scale)]
    return float(max(chosen) - min(chosen))
