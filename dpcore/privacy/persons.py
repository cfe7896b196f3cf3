"""Guarantees of Gaussian releases for persons with several rows: below the cost of group privacy.

A person with c rows at most is c rows that are added one after the other, each of which moves the vector of all draws
by at most its squared shift: together by a vector of length at most c times as long. ``gaussian_vectors`` proves the
delta of discrete Gaussian noise for every move of at most a length, at any epsilon. So the delta of group privacy is
kept, and the least epsilon is found at which the proved delta is within it.

Where a row adds 1 to one cell of one draw, c rows add whole numbers that sum to at most c. Either all of c falls on one
cell, whose delta is exact (``one_cell_delta``), or the squared length is at most (c - 1)^2 + 1, for which the bound of
any vector is proved. The larger of both holds for all persons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import Guarantee, Mechanism, Neighbours, Problem
from dpcore.core.bisection import least_whole
from dpcore.privacy.composition import one_cell_delta
from dpcore.privacy.gaussian_vectors import delta_of

STEPS = 10**6
"""Epsilon is rounded up to one of so many steps of 1, so that every machine finds the same."""
ROUNDING = 1 - 1e-12
"""Of a sum of deltas: rounded up to whole units it is no more than these are."""


def rows_delta(epsilon: float, draws: Sequence[tuple[float, int, float]], *, rows: int) -> float:
    """Return a delta that Gaussian draws together keep at this epsilon where so many rows are added at once.

    Args:
        epsilon: privacy loss.
        draws: sigma, how many numbers, and the squared length by which one row moves them, of each draw.
        rows: c.
    """
    sigmas, counts, squares = np.array(draws, dtype=np.float64).T
    one_cell = rows > 1 and len(draws) == 1 and draws[0][2] == 1
    farthest = (rows - 1) ** 2 + 1 if one_cell else rows**2
    delta = delta_of(epsilon, sigmas=sigmas, counts=counts, squared_shifts=squares[None, :] * farthest)
    return max(delta, one_cell_delta(epsilon, sigma=draws[0][0], steps=rows)) if one_cell else delta


@lru_cache(maxsize=1024)
def least_epsilon(guarantee: Guarantee, draws: tuple[tuple[float, int, float], ...], *, rows: int) -> Guarantee:
    """Return the guarantee with the least epsilon that these Gaussian draws together keep at its delta; kept.

    Args:
        guarantee: one that holds, for instance by group privacy or as a sum.
        draws: as in ``rows_delta``; under replace-one, with rows = 1, the squared length by which one moves them.
        rows: how many rows a neighbour adds at most.
    """
    delta = guarantee.delta * ROUNDING

    def within(step: int) -> bool:
        return rows_delta(step / STEPS, draws, rows=rows) <= delta

    high = math.floor(guarantee.epsilon * STEPS)
    if not within(high):
        return guarantee
    return replace(guarantee, epsilon=least_whole(within, 0, high) / STEPS, delta=delta)


class GaussianMechanism(Mechanism):
    """A mechanism whose noise may be Gaussian alone: ``gaussians`` lists the draws, or nothing for other noise.

    (epsilon, delta)-DP under either relation, at the epsilon and the delta that are asked for.
    """

    epsilon: float
    delta: float

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=problem.neighbours)

    @override
    def person_guarantee(self, problem: Problem, rows: int) -> Guarantee:
        """What one release guarantees a person with so many rows at most: by the shift of c rows at once."""
        group = super().person_guarantee(problem, rows)
        draws = self.gaussians(problem) if rows > 1 and problem.neighbours is Neighbours.ADD_REMOVE_ONE else ()
        return least_epsilon(group, draws, rows=rows) if draws and group.delta else group
