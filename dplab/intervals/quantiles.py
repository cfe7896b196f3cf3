"""Intervals for quantiles, from released rows per cell and the half-widths of their noise.

The q-quantile is the least cell t with C(t) >= q N, C(t) the rows in cells up to t. With D(t) = C(t) - q N, D(t) is at
least 0 and D(t - 1) below 0. So with noise D(t) >= -h(t) and D(t - 1) <= h(t - 1), except with chance α: each fails
with chance at most α/2, as the noise of linear statistics is symmetric and h is its two-sided half-width.
"""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, ParameterError
from dplab.intervals.interval import Interval, Kind, check_level


def centred_counts(histogram: Floats, q: float, *, ordered: int) -> Floats:
    """Return D(t) = C(t) - q N for each of the first ``ordered`` cells, (T, size) to (T, ordered).

    Raises:
        ParameterError: q is not between 0 and 1.
    """
    if not 0 < q < 1:
        raise ParameterError(f"A quantile lies between 0 and 1, got {q!r}.")
    up_to = np.cumsum(histogram[:, :ordered], axis=1)
    centred: Floats = up_to - q * up_to[:, -1:]
    return centred


def quantile_cells(centred: Floats, widths: Floats, *, level: float) -> Interval:
    """Return the first and the last cell that may hold a quantile, (T,) each; proved where the widths are.

    Args:
        centred: released D(t), (T, cells), of ``centred_counts``.
        widths: half-width of each D(t)'s noise at the level, (cells,).
        level: of the widths and of the intervals.
    """
    check_level(level)
    reached = centred >= -widths
    before = np.ones_like(reached)
    before[:, 1:] = centred[:, :-1] <= widths[:-1]
    kept = reached & before
    last = centred.shape[1] - 1
    low, high = kept.argmax(axis=1), last - kept[:, ::-1].argmax(axis=1)
    empty = ~kept.any(axis=1)  # no cell is compatible: the noise was larger than its half-widths
    low, high = np.where(empty, 0, low).astype(np.float64), np.where(empty, last, high).astype(np.float64)
    return Interval(low=low, high=high, level=level, kind=Kind.PROVED, says_nothing=(low == 0) & (high == last))
