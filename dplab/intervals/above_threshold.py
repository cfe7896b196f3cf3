"""Intervals for counts that are released only above a threshold: they hold among the counts that are released.

A count of k >= 1 rows is released as c = k + Z where c > T. A small count that is released had large noise, so that c
plus or minus the half-width of Z holds too few of them: none, where k is far below T. So each k has a half-width of its
own, of the noise given the release: the least h(k) with
    Pr[|Z| > h(k), k + Z > T] <= α Pr[k + Z > T].
The interval of c goes from the first to the last k with |c - k| <= h(k). Given that a count is released, its interval
holds it with probability at least 1 - α, whatever it is: proved for every law of Z, as nothing else was used. So of
all released counts an expected share of at most α is missed, however many are hidden. Far above T the half-widths are
those of Z alone; within about h of T the interval begins at 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpcore.core import Floats, Integers
from dplab.intervals.interval import Interval, Kind, check_level

Tails = Callable[[Integers], Floats]
"""Maps whole numbers j to Pr[Z >= j], elementwise."""


def released_counts(counts: Integers, tails: Tails, *, threshold: int, level: float) -> Interval:
    """Return intervals for the true counts behind released ones, (K,); proved, given that they are released.

    Args:
        counts: released counts, each above the threshold.
        tails: of the noise.
        threshold: T: counts strictly above it are released.
        level: of each interval.
    """
    alpha, reach = check_level(level), 1
    while float(tails(np.array(-reach))) < 1:  # beyond it, no threshold changes the half-width
        reach *= 2
    rows = np.arange(1, max(threshold, 0) + reach + 1)
    widths = _half_widths(threshold - rows, tails, alpha=alpha, most=int(rows[-1]))
    last, width = int(rows[-1]), int(widths[-1])
    first = np.searchsorted(np.maximum.accumulate(rows + widths), counts)
    end = np.searchsorted(np.minimum.accumulate((rows - widths)[::-1])[::-1], counts, side="right")
    low = np.where(first < last, first + 1, counts - width)
    high = np.where(counts + width > last, counts + width, end)
    return Interval(
        low=low.astype(np.float64), high=high.astype(np.float64), level=level, kind=Kind.PROVED,
        says_nothing=np.zeros(low.shape, dtype=np.bool_),
    )  # fmt: skip


def _half_widths(hidden: Integers, tails: Tails, *, alpha: float, most: int) -> Integers:
    """Return the least h with Pr[|Z| > h, Z > j] at most alpha Pr[Z > j], for each j, (K,); none is above ``most``."""
    allowed, below, enough = alpha * tails(hidden + 1), np.full(hidden.shape, -1), np.full(hidden.shape, most)
    while (enough - below > 1).any():
        middle = (below + enough) // 2
        beyond = tails(np.maximum(middle, hidden) + 1) + np.maximum(tails(hidden + 1) - tails(-middle), 0.0)
        missed = beyond > allowed
        below, enough = np.where(missed, middle, below), np.where(missed, enough, middle)
    return enough
