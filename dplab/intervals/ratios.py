"""Intervals for ratios of combinations of counters, by inversion: means, proportions, moments, ratios of sums.

A true ratio θ makes T(θ) = sum of (top_i - θ bottom_i) times the true counters zero. So with noise T(θ) is a
combination of noises alone, whose tail is known, and the interval holds every θ that is not refuted at α:
    Pr[|sum of (top_i - θ bottom_i) Z_i| >= |T(θ)|] >= α.

Which θ these are: the bound of the tail that is used says |T(θ)| <= h(θ), h the quantile of a continuous combination
plus a sum of the sizes of its weights. The quantile of a sum of independent symmetric log-concave variables is a norm
of its weights (Bobkov 2010), so h is convex in θ and T is linear. Where the denominator exceeds its own h, such θ are
one interval, if any: two bisections from the released ratio find its ends. Elsewhere nothing can be said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.core import Booleans, Floats, ParameterError
from dplab.intervals.enumerated import narrowed
from dplab.intervals.interval import Interval, Kind, check_level
from dplab.intervals.noise import CounterNoise

HALVINGS = 50
BLOCK = 1 << 16
"""Intervals that are inverted at once."""

Tail = Callable[[Floats], Floats]
"""An upper bound of the chance of a release at least as far from each value as this one, elementwise."""


def inverted(tail: Tail, start: Floats, *, low: float, high: float, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the values around ``start`` (n,) whose tail is at least alpha, and the tail at the start.

    Where the start itself is refuted, both ends are the start.
    """
    chance = tail(start)
    ends = []
    for limit in (low, high):
        inside, outside = start.copy(), np.full(start.shape, limit)
        reached = (tail(outside) >= alpha) | (chance < alpha)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            kept = tail(middle) >= alpha
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        ends.append(np.where(chance < alpha, start, np.where(reached, limit, outside)))
    return ends[0], ends[1], chance


def ratio(
    counters: NDArray[Any],
    top: ArrayLike,
    bottom: ArrayLike,
    noise: CounterNoise,
    *,
    level: float,
    low: float = 0.0,
    high: float = 1.0,
) -> Interval:
    """Return intervals for ratios of two combinations of the same counters, between public limits; proved.

    Args:
        counters: released counters, (..., m); each has independent noise.
        top: weights of the numerator, (m,), or (..., m) for each ratio.
        bottom: weights of the denominator, (m,); where its true value is 0 there is no ratio.
        noise: of one counter.
        level: share of releases whose interval holds the true ratio.
        low: a limit of the ratio that is known without data.
        high: the other one.
    """
    alpha, above, below = check_level(level), np.asarray(top, np.float64), np.asarray(bottom, np.float64)
    numbers = np.asarray(counters, dtype=np.float64)
    if numbers.shape[-1:] != above.shape[-1:] or above.shape[-1:] != below.shape or not low < high:
        raise ParameterError("A ratio needs a weight above and below for each counter, and a limit below the other.")
    flat = numbers.reshape(-1, numbers.shape[-1])
    above = np.broadcast_to(above, numbers.shape).reshape(flat.shape)
    parts = [
        _block(flat[start : start + BLOCK], above[start : start + BLOCK], below, noise, alpha=alpha, low=low, high=high)
        for start in range(0, max(1, len(flat)), BLOCK)
    ]
    ends = [np.concatenate(each).reshape(numbers.shape[:-1]) for each in zip(*parts, strict=True)]
    silent = ends[3] > 0
    return Interval(low=ends[0], high=ends[1], level=level, kind=Kind.PROVED, says_nothing=silent, enters_at=ends[2])


def _block(
    counters: Floats, top: Floats, bottom: Floats, noise: CounterNoise, *, alpha: float, low: float, high: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return lower ends, upper ends, the level at which an empty interval's point enters, and where nothing is said."""
    above, below = (counters * top).sum(axis=-1), counters @ bottom
    silent = (below <= 0) | (noise.tail(np.maximum(below, 0.0), bottom) >= alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.clip(np.where(silent, low, above / below), low, high)

    def tail(ratios: Floats) -> Floats:
        return noise.tail(np.abs(above - ratios * below), top - ratios[:, None] * bottom)

    first, last, chance = inverted(tail, start, low=low, high=high, alpha=alpha)
    empty = chance < alpha
    is_mean = np.array_equal(bottom, [1, 1]) and (top == [0, 1]).all()
    if is_mean and noise.scale <= noise.enumerated_up_to:
        sought = ~silent & ~empty
        first[sought], last[sought], empty[sought] = narrowed(
            counters[sought], first[sought], last[sought], noise, alpha=alpha
        )
    enters = np.where(empty & ~silent, 1 - chance, np.nan)
    return np.where(silent, low, first), np.where(silent, high, last), enters, silent.astype(np.float64)


def mean(counters: NDArray[Any], noise: CounterNoise, *, level: float, low: float = 0.0, high: float = 1.0) -> Interval:
    """Return intervals for means of the sample from two-ended or Bernstein counters (..., k + 1); proved.

    Args:
        counters: weights of each row's share along the line: those of j of k times j/k add up to the shares.
        noise: of one counter.
        level: share of releases whose interval holds the true mean.
        low: lower bound of the line; a proportion lies between 0 and 1.
        high: upper bound of the line.
    """
    degree = np.asarray(counters).shape[-1] - 1
    if degree < 1:
        raise ParameterError("A mean needs two counters or more.")
    top = np.arange(degree + 1) / degree
    return ratio(counters, top, np.ones(degree + 1), noise, level=level).rescaled(low, high)


def difference(first: Interval, second: Interval, points: tuple[Floats, Floats]) -> Interval:
    """Return intervals for the difference of two groups' values, from their own intervals and released values.

    The distances to the ends are added as independent deviations are (Zou and Donner 2008): a heuristic, whose coverage
    is measured. Where nothing is said of one group, nothing is said of the difference.
    """
    one, other = (np.clip(point, each.low, each.high) for point, each in zip(points, (first, second), strict=True))
    down, up = np.hypot(one - first.low, second.high - other), np.hypot(first.high - one, other - second.low)
    silent: Booleans = first.says_nothing | second.says_nothing
    return Interval(
        low=np.where(silent, first.low - second.high, one - other - down),
        high=np.where(silent, first.high - second.low, one - other + up),
        level=min(first.level, second.level),
        kind=Kind.APPROXIMATE,
        says_nothing=silent,
    )
