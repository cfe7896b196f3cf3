"""Numbers of rows on a side, after random sign projections: exact, for any order of the sums.

Rows and net directions are whole multiples of STEP = 2^-20 with length about 1, signs are +1 and -1. A sum of d signed
coordinates is a multiple of 2^-20 below sqrt(d) + d/2^20, and its product with a direction a multiple of 2^-40; every
partial sum stays below sqrt(4 · 1024) · 2, so below 2^47 multiples: doubles hold all of them without rounding. So
whether a row is counted depends on that row, the signs and the direction alone, as the proof of privacy needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats, Integers
from dpcore.data.sphere import BLOCK

Signs = NDArray[np.int8]
"""Matrices of +1 and -1."""


def side_counts(records: Floats, signs: Signs, net: Floats) -> Integers:
    """Return the rows x with <A x, u> > 0, for each sign matrix A and direction u.

    Args:
        records: rows on the grid, (n, d).
        signs: K matrices of +1 and -1, (K, t, d); the factor 1/sqrt(t) changes no sign.
        net: directions on the grid, (k, t).

    Returns:
        counts (K, k).
    """
    matrices, dimensions = signs.shape[:2]
    counts = np.empty((matrices, len(net)), dtype=np.int64)
    columns = np.ascontiguousarray(records.T)
    step = max(1, BLOCK // max(1, len(records) * max(len(net), dimensions)))
    for start in range(0, matrices, step):
        block = signs[start : start + step].astype(np.float64)
        projected = (block.reshape(-1, block.shape[2]) @ columns).reshape(len(block), dimensions, -1)
        counts[start : start + step] = np.count_nonzero(np.matmul(net, projected) > 0, axis=2)
    return counts
