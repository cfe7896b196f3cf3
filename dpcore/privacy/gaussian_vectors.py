"""Cost of many discrete Gaussian draws together: a proved delta, nearly that of continuous noise.

Each number of a vector gets discrete Gaussian noise of its own parameter sigma_i; a neighbour moves it by a whole
number shift_i. Two bounds hold, and the smaller is used.

Concentrated: the draws are rho-zCDP with rho = sum of shift_i^2/(2 sigma_i^2) (Canonne, Kamath and Steinke 2020).

Smoothed: a discrete Gaussian of parameter sigma is, but for a factor within 1 +- eta at every whole number, a rounded
continuous one of variance sigma^2 - r^2. Draw y from N(shift, sigma^2 - r^2) and round it to a whole z with chance
e^(-(z - y)^2/(2 r^2))/rho_r(y), rho_r(y) the sum of the numerator over all whole z. By Poisson summation rho_r(y)
lies within r sqrt(2 pi) (1 +- eta), eta = 2 sum over k >= 1 of e^(-2 pi^2 r^2 k^2), and without that denominator the
integral over y is exactly proportional to e^(-(z - shift)^2/(2 sigma^2)) (Peikert 2010; Micciancio and Peikert 2013).
Rounding is post-processing, so with m numbers and mu^2 = sum of shift_i^2/(sigma_i^2 - r^2)
    delta(epsilon) <= (1 + eta)^m * continuous(epsilon - m ln((1 + eta)/(1 - eta)), mu),
where continuous is the exact delta of one normal draw moved by mu standard deviations (Balle and Wang 2018). At r =
2, eta is 10^-34, and sigma here is tens to thousands: nothing is lost but a few parts in a thousand of sigma.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcore.core import Floats, ParameterError
from dpcore.core.bisection import bisect_range
from dpcore.privacy.composition import check_gaussian, zcdp_delta

RADII = (2.0, 1.6, 1.4, 1.25, 1.1, 1.0)
"""The r tried: small ones serve noise of few units."""
SLACK = 1e-12
"""Relative room for rounding in this module's own arithmetic."""


def continuous_delta(epsilon: float, *, mu: float) -> float:
    """Return the exact delta of a normal draw moved by mu standard deviations (Balle and Wang 2018, Theorem 8)."""
    from scipy.special import log_ndtr, ndtr

    if not 0 <= mu < math.inf or not math.isfinite(epsilon):
        raise ParameterError(f"mu must be a finite number of at least 0, and epsilon finite, got {mu!r}, {epsilon!r}.")
    if mu == 0:
        return max(0.0, -math.expm1(min(epsilon, 0.0)))
    upper = float(ndtr(mu / 2 - epsilon / mu))
    # The second term is a chance times e^epsilon, and never above the first.
    under = math.exp(min(0.0, epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))))
    return min(1.0, max(0.0, upper - under) + SLACK * upper)


def delta_of(epsilon: float, *, sigmas: Floats, counts: Floats, squared_shifts: Floats) -> float:
    """Return a delta that all the draws together keep at this epsilon.

    Args:
        epsilon: privacy loss.
        sigmas: parameter of each group of draws, (m,).
        counts: numbers drawn in each group, (m,).
        squared_shifts: squared length by which each kind of neighbour moves each group, (kinds, m); the worst counts.
    """
    precision = squared_shifts @ (1 / sigmas**2)
    deltas = [zcdp_delta(epsilon, rho=float(precision.max()) / 2 * (1 + SLACK))]
    for radius in RADII:
        if sigmas.min() > radius:
            eta = 2 * math.exp(-2 * (math.pi * radius) ** 2) * (1 + 1e-3)  # the terms after the first: below 1e-3 of it
            loss = float(counts.sum()) * (math.log1p(eta) - math.log1p(-eta))
            if loss > 1:
                continue
            mu = math.sqrt(float((squared_shifts @ (1 / (sigmas**2 - radius**2))).max()) * (1 + SLACK))
            # (1 + eta)^m is below e^loss.
            deltas.append(math.exp(loss) * continuous_delta(epsilon - loss, mu=mu))
    return min(1.0, *deltas)


def largest_mu(*, epsilon: float, delta: float) -> float:
    """The mu at which continuous noise would have this delta: what no plan can exceed, so where a search may start.

    Raises:
        ParameterError: epsilon or delta is out of range.
    """
    check_gaussian(epsilon=epsilon, delta=delta)
    high = 1.0
    while continuous_delta(epsilon, mu=high) < delta:
        high *= 2
    return bisect_range(lambda mu: not continuous_delta(epsilon, mu=mu) <= delta, 0.0, high, steps=60)[0]


def calibrate(relative: Floats, *, epsilon: float, delta: float, counts: Floats, squared_shifts: Floats) -> Floats:
    """Return the smallest multiple found of the relative sigmas (m,) whose delta_of is within delta."""
    start = math.sqrt(float((squared_shifts @ (1 / relative**2)).max())) / largest_mu(epsilon=epsilon, delta=delta)

    def within(factor: float) -> bool:
        return delta_of(epsilon, sigmas=factor * relative, counts=counts, squared_shifts=squared_shifts) <= delta

    low, high = start / 2, start
    while not within(high):
        low, high = high, 1.25 * high
    return bisect_range(within, low, high, relative=1e-6)[1] * relative


@lru_cache(maxsize=512)
def sigma_of_draw(*, epsilon: float, delta: float, numbers: int, squared_shift: int) -> float:
    """Return the smallest sigma found for so many numbers that a neighbour moves by this squared length; cached."""
    arrays = {"counts": np.array([float(numbers)]), "squared_shifts": np.array([[float(squared_shift)]])}
    return float(calibrate(np.ones(1), epsilon=epsilon, delta=delta, **arrays)[0])
