"""Projection of noisy counts to a histogram of n rows: the nearest in L1, as post-processing.

The range is the lattice of whole, non-negative counts with a given total (Hall, Rinaldo and Wasserman 2013, equation 2,
times n). Many lattice points are nearest: on whole noisy counts a unit taken from any positive cell costs the same. Tie
rule: of all nearest points the one nearest in L2 (which takes alike from every cell, so that small noisy counts vanish
first); where that is not unique either, the units left over go to the lowest-numbered cells. Noisy counts that are not
whole are rounded first, at the least cost, and then treated by the same rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers, ParameterError


def project_counts(noisy: NDArray[Any], *, total: int) -> Integers:
    """Return whole counts c >= 0 with sum c = total that minimise sum |noisy - c| in each trial: (T, k) to (T, k).

    Whole noisy counts are levelled at once. Others are first rounded, each unit where it is cheapest: if rounding
    every cell up is still too few rows, or down too many, the rest is levelled; else as many cells as needed are
    rounded up, by largest fractional part, lowest number first. Both steps are exact because the objective is a sum
    of convex functions of one cell each.

    Args:
        noisy: finite noisy counts, shape (T, k).
        total: rows of the histogram, at least 0.

    Raises:
        ParameterError: total is negative, or a count is not finite.
    """
    if total < 0 or not np.isfinite(noisy).all():
        raise ParameterError("A projection needs finite counts and a total of at least 0.")
    if np.issubdtype(noisy.dtype, np.integer):
        return _level(noisy.astype(np.int64), total)
    down, up = np.floor(noisy).astype(np.int64), np.ceil(noisy).astype(np.int64)
    least, largest = (np.maximum(side, 0).sum(axis=1) for side in (down, up))
    counts = _level(np.where((largest <= total)[:, None], up, down), total)
    between = np.flatnonzero((least < total) & (total < largest))
    if len(between):
        fraction = np.where(up > np.maximum(down, 0), noisy - down, 0.0)[between]
        rank = np.argsort(np.argsort(-fraction, axis=1, kind="stable"), axis=1, kind="stable")
        counts[between] = np.maximum(down[between], 0) + (rank < (total - least[between])[:, None])
    return counts


def _level(whole: Integers, total: int) -> Integers:
    """max(whole - level, 0) with the smallest whole level that leaves at most ``total`` rows, then the few missing.

    A positive level only takes from positive cells, a level of 0 or less only adds: either way every unit moved costs
    exactly 1, the least it can.
    """
    descending = -np.sort(-whole, axis=1)
    # If the i largest cells stay positive the level is at least (their sum - total) / i, and some i attains it.
    sums, positive = np.cumsum(descending, axis=1), np.arange(1, whole.shape[1] + 1)
    level = (-((total - sums) // positive)).max(axis=1)[:, None]
    counts: Integers = np.maximum(whole - level, 0)
    left = total - counts.sum(axis=1)
    raised = whole >= level
    counts += raised & (np.cumsum(raised, axis=1) <= left[:, None])
    return counts
