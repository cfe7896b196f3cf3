"""Intervals for the mean of the population that the rows were sampled from: noise and sampling together; asymptotic.

At the population's mean μ, T(μ) = sum of (j/k - μ) W_j over the k + 1 counters is a sum of N rows' weight times
(u - μ), nearly normal with variance N v weight^2, plus the noise of these counters. N is replaced by its released
value, v by μ (1 - μ), which is exact for proportions and never too small, or by a given variance, such as the one that
counters of k = 2 release. Rows of one person may be alike: with at most c rows each, persons sampled independently
give a sum whose variance is at most c N v weight^2, as (x_1 + ... + x_c)^2 <= c (x_1^2 + ... + x_c^2); it takes that.
The tail of a normal plus a continuous Laplace variable of scale s is known, and the noise is
a mixture of such.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats, ParameterError
from dplab.intervals.interval import Interval, Kind, check_level
from dplab.intervals.noise import CounterNoise, LaplaceNoise
from dplab.intervals.ratios import inverted


def population_mean(
    counters: NDArray[Any],
    noise: CounterNoise,
    *,
    weight: int,
    level: float,
    variance: NDArray[Any] | None = None,
    person_rows: int = 1,
    low: float = 0.0,
    high: float = 1.0,
) -> Interval:
    """Return intervals for population means or proportions, from counters (..., k + 1); asymptotic.

    Args:
        counters: released two-ended (k = 1) or Bernstein counters of each group.
        noise: of one counter.
        weight: what a row adds to all counters together.
        level: share of samples and releases whose interval holds the population's mean, approached with many rows.
        variance: estimate for one row, (...), in squared units of the line; None takes mean (1 - mean).
        person_rows: of one person at most; the persons are an independent sample.
        low: lower bound of the line.
        high: upper bound of the line.
    """
    alpha, numbers = check_level(level), np.asarray(counters, dtype=np.float64)
    count = numbers.shape[-1]
    if count < 2:
        raise ParameterError("The mean of a population needs two counters or more.")
    shape, flat, shares = numbers.shape[:-1], numbers.reshape(-1, count), np.arange(count) / (count - 1)
    total, above = flat.sum(axis=1), flat @ shares
    silent = (total <= 0) | (noise.tail(np.maximum(total, 0.0), np.ones(count)) >= alpha)
    start = np.clip(above / np.where(total > 0, total, 1.0), 0.0, 1.0)
    rows = np.maximum(total, 0.0) / weight
    spread = None if variance is None else np.broadcast_to(variance, shape).reshape(-1) / (high - low) ** 2

    def tail(means: Floats) -> Floats:
        of_row = means * (1 - means) if spread is None else np.minimum(spread, 0.25)
        deviation = weight * np.sqrt(person_rows * rows * of_row)
        return _tail(np.abs(above - means * total), shares - means[:, None], deviation, noise)

    found = inverted(tail, start, silent, low=0.0, high=1.0, level=level, kind=Kind.ASYMPTOTIC)
    return found.reshaped(shape).rescaled(low, high)


def _tail(x: Floats, weights: Floats, deviation: Floats, noise: CounterNoise) -> Floats:
    """Return the chance that normal sampling error (n,) plus weighted noise is at least x (n,) in size."""
    from scipy.special import log_ndtr, ndtr

    if not isinstance(noise, LaplaceNoise):
        both = np.hypot(deviation, noise.deviation * np.sqrt((weights**2).sum(axis=1)))
        of_normal: Floats = 2 * ndtr(-x / both)
        return of_normal
    far = np.maximum(0.0, x - noise.shift)
    normal = np.maximum(deviation, 1e-6 * noise.scale)
    scales, factors = noise.mixture(weights)
    along, ratio = (far / normal)[:, None], normal[:, None] / scales
    # Each is the mean of a factor of at most 1 over part of the normal law: a logarithm above 0 is rounding.
    near = ratio**2 / 2 - far[:, None] / scales + log_ndtr(along - ratio)
    beyond = ratio**2 / 2 + far[:, None] / scales + log_ndtr(-along - ratio)
    each = np.exp(np.minimum(near, 0.0)) - np.exp(np.minimum(beyond, 0.0))
    chance: Floats = np.clip(2 * ndtr(-far / normal) + (factors * each).sum(axis=1), 0.0, 1.0)
    return chance
