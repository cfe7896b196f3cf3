"""Zero-concentrated privacy: the exact rho of draws, and its conversion to epsilon and delta.

- k discrete Gaussian draws of parameters sigma_i, moved by a neighbour by vectors of whole numbers of length s_i, are
  rho-zCDP with rho = sum of s_i^2/(2 sigma_i^2) (Canonne, Kamath and Steinke 2020, Theorem 4; composition: Bun and
  Steinke 2016, Lemma 1.7).
- (epsilon, delta) is delta-approximately epsilon^2/2-zCDP (Bun and Steinke 2016, Proposition 3.3 and Lemma 8.8).
- Releases chosen one after the other, each after seeing those before, may go on until the rhos or the deltas add up
  to a budget that was fixed in advance (Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1).
- delta-approximate rho-zCDP is (epsilon, delta + zcdp_delta(epsilon, rho)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpcore.core import ParameterError
from dpcore.core.bisection import bisect_range
from dpcore.privacy.composition import zcdp_delta

SLACK = 1 + 1e-9
"""Room for the rounding of exponentials."""


def rho_of_gaussians(draws: Sequence[tuple[float, int, int]]) -> Fraction:
    """Return the exact ρ of discrete Gaussian draws: (sigma, number of draws, squared shift) each."""
    return sum((Fraction(square, 2) / Fraction(sigma) ** 2 for sigma, _, square in draws), Fraction(0))


def largest_rho(*, epsilon: float, delta: float) -> float:
    """Return a rho that keeps (epsilon, delta), and nearly the largest.

    Raises:
        ParameterError: delta is 0, where no rho above 0 does.
    """
    if not (0 < epsilon < math.inf and 0 < delta < 1):
        raise ParameterError("Concentrated privacy needs epsilon above 0, and delta above 0 and below 1.")

    def is_too_large(rho: float) -> bool:
        return not zcdp_delta(epsilon, rho=rho) * SLACK <= delta

    return bisect_range(is_too_large, 0.0, epsilon, steps=100)[0]  # at rho = epsilon the loss is epsilon in the mean


def epsilon_of(*, rho: float, delta: float) -> float:
    """Return an epsilon that rho keeps with this delta, and nearly the least."""
    if not (0 <= rho < math.inf and 0 < delta < 1):
        raise ParameterError("Concentrated privacy needs rho of at least 0, and delta above 0 and below 1.")

    def is_enough(epsilon: float) -> bool:
        return zcdp_delta(epsilon, rho=rho) * SLACK <= delta

    high = rho + 2 * math.sqrt(rho * -math.log(delta)) + 1e-9  # Bun and Steinke 2016, Proposition 1.3
    while not is_enough(high):
        high *= 1.01
    return bisect_range(is_enough, 0.0, high, steps=100)[1]
