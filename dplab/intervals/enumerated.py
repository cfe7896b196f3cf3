"""Narrow intervals of a mean from two counters with noise of few units, by adding up both noises' exact law.

With p the true share, T(p) = B - p (A + B) is (1 - p) b - p a of noises a and b alone. Its exact tail jumps with p, and
what is not refuted need not be one interval. So shares are refuted cell by cell, from the ends inwards: within η of a
middle p, |(1 - p) b - p a| grows by at most η(|a| + |b|), and |T| shrinks by at most η |A + B|. A cell is refuted where
the tail with both these changes is below α, so that no share of it can be one that is to be kept.
"""

from __future__ import annotations

import numpy as np

from dpcore.core import Booleans, Floats
from dplab.intervals.noise import CounterNoise

FINENESS = 64
"""Cells across which T changes by one scale of the noise."""
NEGLIGIBLE = 1e-13
"""Mass of the noise that is not enumerated; it is added to every tail."""
BLOCK = 1 << 21
ROUNDING = 1e-9


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
