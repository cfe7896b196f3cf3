"""Exact law of a combination of independent noises: people, sums, margins, every linear combination of counters.

Every weighted noise is placed on a common grid, and the laws are convolved by a fast Fourier transform. What is not
exact is added to the tail or to the half-width, so that every half-width is proved:
- weights that are whole multiples of a common step lie on the grid; others move by at most half a step each;
- a sum beyond the window, which the transform would wrap around, has at most a Chernoff bound's chance;
- a transform of N numbers has a relative error of at most 8 u log2 N in the Euclidean norm, u the unit roundoff
  (Higham 2002, Theorem 24.2); with m factors of size at most 1, any sum of results is within 8 u (m + 1) N log2 N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.core import Floats, ParameterError
from dplab.intervals.interval import Interval, around, check_level
from dplab.intervals.noise import CounterNoise, GaussianNoise

POINTS = 1 << 16
"""Points of the grid for few noises; more noises take a finer one, as rounding adds up."""
FEW = 64
WINDOW_CHANCE = 1e-10
"""Chance that the sum lies beyond the window."""
MAX_NOISES = 1 << 16


@dataclass(frozen=True, eq=False)
class CombinationLaw:
    """Law of a sum on a grid.

    Attributes:
        step: distance of the grid's points.
        beyond: upper bounds of Pr[|S| > k steps] for k = 0, 1, …, before rounding to the grid.
        rounding: how far rounding to the grid moves the sum at most.
    """

    step: float
    beyond: Floats
    rounding: float

    def half_width(self, alpha: float) -> float:
        """Return the least x found with Pr[|S| > x] at most alpha.

        Raises:
            ParameterError: alpha is within the error of the transform.
        """
        k = int(np.searchsorted(-self.beyond, -alpha))
        if k == len(self.beyond):
            raise ParameterError(f"The law of so many noises is not exact enough for a chance of {alpha:g}.")
        return k * self.step + self.rounding


def _window(sizes: Floats, counts: Floats, noise: CounterNoise) -> float:
    """Return a distance that the sum exceeds with chance at most WINDOW_CHANCE."""
    slopes = np.geomspace(1e-4, 1.0, 200)[:, None] / (noise.scale * sizes.max())
    slopes = np.concatenate([slopes * (1 - 1e-6), slopes * 16])  # normal noise has no largest slope
    exponents = (counts * noise.log_mgf(slopes * sizes)).sum(axis=1)
    return float(((exponents + math.log(2 / WINDOW_CHANCE)) / slopes[:, 0]).min())


def combination_law(weights: ArrayLike, noise: CounterNoise) -> CombinationLaw:
    """Return the law of the sum of w_i Z_i, weights (m,), with independent noises Z_i.

    Raises:
        ParameterError: there are no weights other than 0, or too many.
    """
    sizes, times = np.unique(np.abs(np.asarray(weights, dtype=np.float64)), return_counts=True)
    sizes, counts = sizes[sizes > 0], times[sizes > 0].astype(np.float64)
    total = float(counts.sum())
    if not len(sizes) or not np.isfinite(sizes).all() or total > MAX_NOISES:
        raise ParameterError(f"A combination needs finite weights, not all of them 0, at most {MAX_NOISES}.")
    points = POINTS if total <= FEW else 16 * POINTS
    window, half = _window(sizes, counts, noise), points // 2
    whole = (sizes == np.rint(sizes)).all() and sizes.max() < 2.0**53
    step = float(math.gcd(*(int(size) for size in sizes))) if whole else 0.0
    on_grid = window < half * step
    if not on_grid:
        step = window / (half - 1 - total / 2)  # rounding moves no sum out of the grid
    spectrum, lost = np.ones(half + 1, dtype=np.complex128), 0.0
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        # Cell i holds the whole numbers z whose size * z is nearest to i steps.
        upper = noise.upper(np.ceil((np.arange(1, half + 1) - 0.5) * (step / size)))
        positive = upper[:-1] - upper[1:]
        masses = np.concatenate([[1 - 2 * upper[0]], positive, [0.0], positive[::-1]])
        spectrum *= np.fft.rfft(masses) ** int(count)
        lost += 2 * float(upper[-1]) * count
    law = np.fft.irfft(spectrum, points)
    error = 8 * np.finfo(np.float64).eps * (total + 1) * points * math.log2(points) + WINDOW_CHANCE + lost
    beyond = np.minimum.accumulate(2 * np.cumsum(law[half - 1 : 0 : -1])[::-1] + error)  # all above k = 0..half - 2
    return CombinationLaw(step=step, beyond=beyond, rounding=0.0 if on_grid else total * step / 2)


def half_width(weights: ArrayLike, noise: CounterNoise, level: float) -> float:
    """Return x with Pr[|sum of w_i Z_i| > x] at most 1 - level, weights (m,)."""
    alpha = check_level(level)
    numbers = np.asarray(weights, dtype=np.float64).ravel()
    used = numbers[numbers != 0]
    if len(used) == 1:
        return float(abs(used[0])) * noise.half_width(alpha)
    if isinstance(noise, GaussianNoise) and not noise.is_exact:
        return noise.bound_of(used, alpha)
    return combination_law(used, noise).half_width(alpha)


def linear(counters: NDArray[Any], weights: ArrayLike, noise: CounterNoise, *, level: float) -> Interval:
    """Return intervals for the true sums of w_i times counters (..., m), weights (m,): shape (...); proved."""
    by = np.asarray(weights, dtype=np.float64)
    return around(np.asarray(counters) @ by, half_width(by, noise, level), level=level)


def single(counters: NDArray[Any], noise: CounterNoise, *, level: float) -> Interval:
    """Return intervals for single counters or cells, in any shape; proved."""
    return around(counters, noise.half_width(check_level(level)), level=level)


def people(counters: NDArray[Any], noise: CounterNoise, *, weight: int, level: float) -> Interval:
    """Return intervals for the number of rows in groups, from counters (..., m) that share ``weight`` a row; proved.

    Both ends are at least 0, as the number is.
    """
    counters = np.asarray(counters)
    width = half_width(np.ones(counters.shape[-1]), noise, level)
    return around(counters.sum(axis=-1) / weight, width / weight, level=level, least=0.0)
