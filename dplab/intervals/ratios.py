"""Intervals for ratios of combinations of counters, by inversion: means, proportions, moments, ratios of sums.

A true ratio θ makes T(θ) = sum of (top_i - θ bottom_i) times the true counters zero. So with noise T(θ) is a
combination of noises alone, whose tail is known, and the interval holds every θ that is not refuted at α:
    Pr[|sum of (top_i - θ bottom_i) Z_i| >= |T(θ)|] >= α.

Which θ these are: the bound of the tail that is used says |T(θ)| <= h(θ), h the quantile of a continuous combination
plus a sum of the sizes of its weights. The quantile of a sum of independent symmetric log-concave variables is a norm
of its weights (Bobkov 2010), so h is convex in θ and T is linear. Where the denominator exceeds its own h, such θ are
one interval, if any: two bisections from the released ratio find its ends. Elsewhere nothing can be said.

A mean from two counters with noise of few units is narrowed by adding up both noises' exact law. With p the true share,
T(p) = B - p (A + B) is (1 - p) b - p a of noises a and b alone. Its exact tail jumps with p, and what is not refuted
need not be one interval. So shares are refuted cell by cell, from the ends inwards: within η of a middle p,
|(1 - p) b - p a| grows by at most η(|a| + |b|), and |T| shrinks by at most η |A + B|. A cell is refuted where the tail
with both these changes is below α, so that no share of it can be one that is to be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.core import Booleans, Floats, ParameterError, check_memory
from dplab.intervals.interval import Interval, Kind, check_level
from dplab.intervals.noise import CounterNoise

HALVINGS = 50
FINENESS = 64
"""Cells across which T changes by one scale of the noise."""
NEGLIGIBLE = 1e-13
"""Mass of the noise that is not enumerated; it is added to every tail."""
BLOCK = 1 << 21
ROUNDING = 1e-9

Tail = Callable[[Floats], Floats]
"""An upper bound of the chance of a release at least as far from each value as this one, elementwise."""


def inverted(
    tail: Tail, start: Floats, silent: Booleans, *, low: float, high: float, level: float, kind: Kind
) -> Interval:
    """Return the values around ``start`` (n,) that are not refuted, between limits; the whole range where ``silent``.

    Where the start itself is refuted, both ends are the start.
    """
    alpha, chance = check_level(level), tail(start)
    empty, ends = (chance < alpha) & ~silent, []
    for limit in (low, high):
        inside, outside = start.copy(), np.full(start.shape, limit)
        reached = silent | (tail(outside) >= alpha)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            kept = tail(middle) >= alpha
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        ends.append(np.where(empty, start, np.where(reached, limit, outside)))
    enters = np.where(empty, 1 - chance, np.nan)
    return Interval(low=ends[0], high=ends[1], level=level, kind=kind, says_nothing=silent, enters_at=enters)


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
    alpha, numbers, down = check_level(level), np.asarray(counters, np.float64), np.asarray(bottom, np.float64)
    up = np.asarray(top, np.float64)
    if not numbers.shape[-1:] == up.shape[-1:] == down.shape or not low < high:
        raise ParameterError("A ratio needs a weight above and below for each counter, and a limit below the other.")
    check_memory(numbers.size, what="Intervals of these ratios", smaller="take fewer groups", each=150)
    flat = numbers.reshape(-1, numbers.shape[-1])
    up = np.broadcast_to(up, numbers.shape).reshape(flat.shape)
    above, below = (flat * up).sum(axis=-1), flat @ down
    silent = (below <= 0) | (noise.tail(np.maximum(below, 0.0), down) >= alpha)
    start = np.clip(above / np.where(silent, np.inf, below), low, high)

    def tail(ratios: Floats) -> Floats:
        return noise.tail(np.abs(above - ratios * below), up - ratios[:, None] * down)

    found = inverted(tail, start, silent, low=low, high=high, level=level, kind=Kind.PROVED)
    is_mean = np.array_equal(down, [1, 1]) and (up == [0, 1]).all()
    if is_mean and noise.scale <= noise.enumerated_up_to:
        some = ~silent & np.isnan(found.enters_at)
        ends = narrowed(flat[some], found.low[some], found.high[some], noise, alpha=alpha)
        found.low[some], found.high[some], found.enters_at[some] = ends
    return found.reshaped(numbers.shape[:-1])


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
    low = np.where(silent, first.low - second.high, one - other - down)
    high = np.where(silent, first.high - second.low, one - other + up)
    level = min(first.level, second.level)
    return Interval(low=low, high=high, level=level, kind=Kind.APPROXIMATE, says_nothing=silent)


def narrowed(
    counters: Floats, low: Floats, high: Floats, noise: CounterNoise, *, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Return lower and upper ends within those given (n,), from counters (n, 2), A + B above 0.

    Where nothing is left, both ends are the released share, within the ends given; the third array is the level at
    which it enters, and NaN elsewhere.
    """
    distinct, at, place = np.unique(counters, axis=0, return_index=True, return_inverse=True)
    left, empty = _first_kept(distinct, low[at], high[at], noise, alpha=alpha)
    mirrored, _ = _first_kept(distinct[:, ::-1], 1 - high[at], 1 - low[at], noise, alpha=alpha)
    right = np.maximum(1 - mirrored, left)
    point = np.clip(distinct[:, 1] / distinct.sum(axis=1), low[at], high[at])
    enters = np.full(len(distinct), np.nan)
    enters[empty] = 1 - _tail(distinct[empty], point[empty], np.zeros(int(empty.sum())), _law(noise), noise)
    return np.where(empty, point, left)[place], np.where(empty, point, right)[place], enters[place]


def _law(noise: CounterNoise) -> tuple[Floats, Floats]:
    """Return whole numbers and the chances of a noise to be each."""
    reach = noise.half_width(NEGLIGIBLE)
    a = np.arange(-reach, reach + 1, dtype=np.float64)
    return a, noise.upper(a) - noise.upper(a + 1)


def _first_kept(
    counters: Floats, low: Floats, high: Floats, noise: CounterNoise, *, alpha: float
) -> tuple[Floats, Booleans]:
    """Return the left end of the first cell between the ends that is not refuted, and where all are."""
    law, step = _law(noise), noise.scale / FINENESS / counters.sum(axis=1)
    left, empty = low.copy(), np.zeros(len(low), dtype=np.bool_)
    rows = max(1, BLOCK // len(law[0]))
    for start in range(0, len(low), rows):
        todo = np.arange(start, min(start + rows, len(low)))
        while todo.size:
            half = step[todo] / 2
            todo = todo[_tail(counters[todo], left[todo] + half, half, law, noise) < alpha]
            left[todo] += step[todo]
            ended = left[todo] > high[todo]
            empty[todo[ended]] = True
            todo = todo[~ended]
    return left, empty


def _tail(counters: Floats, middle: Floats, reach: Floats, law: tuple[Floats, Floats], noise: CounterNoise) -> Floats:
    """Return an upper bound of the tail at every share within ``reach`` (n,) of the middles (n,)."""
    a, masses = law
    p, eta = middle[:, None], reach[:, None]
    total = counters.sum(axis=1)
    far = np.abs(counters[:, 1] - middle * total) - reach * total
    needed = far[:, None] + p * a - eta * np.abs(a)  # (1 - p) b + eta |b| must be this much
    slope = 1 - p + np.where(needed > 0, eta, -eta)
    least = np.ceil(needed / np.where(slope > 0, slope, 1.0) - ROUNDING)
    chance = np.where(slope > 0, noise.upper(least), 1.0) @ masses
    return np.where(far > 0, np.minimum(1.0, 2 * chance + 4 * NEGLIGIBLE), 1.0)
