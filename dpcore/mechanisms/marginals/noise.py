"""Noise of each level of marginals, within a privacy budget.

What one neighbour moves. Counts of the sets that one row has in full and its replacement has not move by 1 each. That
is at most C(u, i) - C(v, i) <= C(d, i) sets of i attributes, u and v the sizes of the rows' union and intersection,
because C(., i) is supermodular; a row of all attributes beside one of none reaches it on every level at once, and so
does adding a row of all attributes. So each level moves by m_i = C(d, i), in L1 and in squared L2, either relation.
Where attributes may be negated every row has exactly C(d, i) of the 2^i C(d, i) sets of i literals: m_i = C(d, i) if a
row is added or removed, 2 C(d, i) if it is replaced (by its opposite).

Laplace: level i gets epsilon_i and scale b_i = m_i/epsilon_i; the variance of an answer, the sum of
a_i^2 C(k, i) 2 b_i^2, is least for epsilon_i proportional to (m_i^2 C(k, i) a_i^2)^(1/3).
Gaussian: what the levels cost together depends on the sum of m_i/sigma_i^2 (nearly: the proved delta of discrete noise
is in ``dpcore/privacy/gaussian_vectors.py``), and the variance is least for sigma_i^2 proportional to sqrt(m_i/C(k,
i))/|a_i|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from dpcore.core import Floats, Integers, Neighbours
from dpcore.core.bisection import bisect_range
from dpcore.privacy.composition import gaussian_sigma
from dpcore.privacy.gaussian_vectors import delta_of, largest_mu
from dpcore.randomness import Draw, GaussianCounts, NoisyCounts
from dpcore.randomness.laws import gaussian_masses, laplace_variance

CLOSE = 1e-4
"""How close the search for a factor on sigmas comes."""
COARSE = 4.0
"""From this sigma on, the variance of discrete Gaussian noise is sigma^2 to the last digit."""


@dataclass(frozen=True, kw_only=True)
class LevelNoise:
    """The noise of one level of marginals, in rows.

    Attributes:
        level: attributes in a set.
        moved: counts of the level that a neighbour moves by 1 each.
        scale: scale b of discrete Laplace noise, or sigma of discrete Gaussian noise.
        epsilon: the level's share of the budget (Laplace only, else 0).
        variance: of one count's noise, exact.
    """

    level: int
    moved: int
    scale: float
    epsilon: float
    variance: float

    def draw(self, counts: Integers) -> Draw[Integers]:
        """Return these counts (1 or T, k) with the level's noise."""
        if self.epsilon:
            return NoisyCounts(counts, epsilon=self.epsilon, sensitivity=self.moved)
        return GaussianCounts(counts, sigma=self.scale, squared_shift=self.moved)


def moved(*, attributes: int, level: int, signed: bool, neighbours: Neighbours) -> int:
    """Return the counts of a level that one neighbour moves, by 1 each: L1 sensitivity and squared L2 sensitivity."""
    twice = 2 if signed and neighbours is Neighbours.REPLACE_ONE else 1
    return twice * comb(attributes, level)


@lru_cache(maxsize=4096)
def least_sigma(*, epsilon: float, delta: float) -> float:
    """Return the sigma of continuous Gaussian noise for a squared L2 sensitivity of 1 (Balle and Wang 2018).

    For choosing polynomials; what is released has ``joint_factor`` of it.
    """
    return 1 / largest_mu(epsilon=epsilon, delta=delta)


@lru_cache(maxsize=1024)
def joint_factor(
    *, sigmas: tuple[float, ...], moves: tuple[int, ...], counts: tuple[int, ...], epsilon: float, delta: float
) -> float:
    """Return the factor on these sigmas by which discrete noise on all levels together keeps (epsilon, delta).

    Args:
        sigmas: of each level; with continuous noise they would just do.
        moves: counts of each level that a neighbour moves, by 1 each.
        counts: counts of each level.
        epsilon: privacy loss.
        delta: slack.
    """
    if moves in ((1,), (2,)):
        return gaussian_sigma(epsilon=epsilon, delta=delta, shift=(1,) * moves[0]) / sigmas[0]
    drawn, shifts = np.array(counts, dtype=np.float64), np.array([moves], dtype=np.float64)

    def enough(factor: float) -> bool:
        at = factor * np.array(sigmas)
        return delta_of(epsilon, sigmas=at, counts=drawn, squared_shifts=shifts) <= delta

    low, high = 1.0, 1.01
    while not enough(high):
        low, high = high, 1 + 2 * (high - 1)
    return bisect_range(enough, low, high, close=CLOSE)[1]


def gaussian_variance(sigma: float) -> float:
    """Return the variance of discrete Gaussian noise."""
    if sigma >= COARSE:
        return sigma**2
    reach, masses = gaussian_masses(sigma)
    return float((np.arange(-reach, reach + 1) ** 2 * masses).sum())


def laplace_levels(*, levels: Sequence[int], moves: Sequence[int], weights: Floats, epsilon: float) -> list[LevelNoise]:
    """Return the optimal discrete Laplace noise of each level.

    Args:
        levels: levels released.
        moves: counts of each that a neighbour moves.
        weights: factor of each level's variance in an answer's variance (a_i^2 C(k, i)), above 0.
        epsilon: the budget of all levels together.
    """
    wanted = (np.square(np.array(moves, dtype=np.float64)) * weights) ** (1 / 3)
    shares = epsilon * wanted / wanted.sum()
    return [
        LevelNoise(level=i, moved=m, scale=m / share, epsilon=share, variance=laplace_variance(m / share))
        for i, m, share in zip(levels, moves, shares.tolist(), strict=True)
    ]


def gaussian_levels(
    *,
    levels: Sequence[int],
    moves: Sequence[int],
    counts: Sequence[int],
    weights: Floats,
    epsilon: float,
    delta: float,
) -> list[LevelNoise]:
    """Return the optimal discrete Gaussian noise of each level. Args: as above, and ``counts`` in each level."""
    per_move = np.sqrt(np.array(moves, dtype=np.float64) * weights)  # sqrt(m_i w_i), so that sigma_i^2 ~ m_i/that
    sigmas = least_sigma(epsilon=epsilon, delta=delta) * np.sqrt(np.array(moves) * per_move.sum() / per_move)
    sigmas = sigmas * joint_factor(
        sigmas=tuple(sigmas.tolist()), moves=tuple(moves), counts=tuple(counts), epsilon=epsilon, delta=delta
    )
    return [
        LevelNoise(level=i, moved=m, scale=sigma, epsilon=0.0, variance=gaussian_variance(sigma))
        for i, m, sigma in zip(levels, moves, sigmas.tolist(), strict=True)
    ]
