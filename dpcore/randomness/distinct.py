"""The distinct rows of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Integers]:
    """Return the distinct rows in lexicographic order, and which of them each row is: shapes (K, w) and (T,).

    The same as ``np.unique(rows, axis=0, return_inverse=True)``, ten times as fast where rows are short: a sort of
    numbers for each column, not one of rows.

    >>> distinct_rows(np.array([[2, 1], [0, 3], [2, 1]]))[0].tolist()
    [[0, 3], [2, 1]]
    """
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), dtype=np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(rows), dtype=np.int64)
    which[order] = np.cumsum(first) - 1
    return ordered[first], which
