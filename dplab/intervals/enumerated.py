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
) -> tuple[Floats, Floats, Booleans]:
    """Return lower and upper ends within those given (n,), and where nothing is left; counters (n, 2), A + B above 0.

    Where nothing is left, both ends are the released share, within the ends given.
    """
    distinct, first, place = np.unique(counters, axis=0, return_index=True, return_inverse=True)
    ends = _narrowed(distinct, low[first], high[first], noise, alpha=alpha)
    return ends[0][place], ends[1][place], ends[2][place]


def _narrowed(
    counters: Floats, low: Floats, high: Floats, noise: CounterNoise, *, alpha: float
) -> tuple[Floats, Floats, Booleans]:
    reach = noise.half_width(NEGLIGIBLE)
    a = np.arange(-reach, reach + 1, dtype=np.float64)
    masses = noise.upper(a) - noise.upper(a + 1)
    step = noise.scale / FINENESS / counters.sum(axis=1)
    first, last, empty = low.copy(), high.copy(), np.zeros(len(low), dtype=np.bool_)
    rows = max(1, BLOCK // len(a))
    for start in range(0, len(low), rows):
        part = slice(start, start + rows)
        block, cells = counters[part], step[part]
        first[part], empty[part] = _first_kept(block, low[part], high[part], cells, (a, masses), noise, alpha)
        mirrored, _ = _first_kept(block[:, ::-1], 1 - high[part], 1 - low[part], cells, (a, masses), noise, alpha)
        last[part] = 1 - mirrored
    point = np.clip(counters[:, 1] / counters.sum(axis=1), low, high)
    return np.where(empty, point, first), np.where(empty, point, np.maximum(last, first)), empty


def _first_kept(
    counters: Floats,
    low: Floats,
    high: Floats,
    step: Floats,
    law: tuple[Floats, Floats],
    noise: CounterNoise,
    alpha: float,
) -> tuple[Floats, Booleans]:
    """Return the left end of the first cell between the ends that is not refuted, and where all are."""
    left, empty = low.copy(), np.zeros(len(low), dtype=np.bool_)
    todo = np.arange(len(low))
    while todo.size:
        refuted = _tail(counters[todo], left[todo] + step[todo] / 2, step[todo] / 2, law, noise) < alpha
        todo = todo[refuted]
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
