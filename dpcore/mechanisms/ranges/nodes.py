"""Nodes of a tree above the cells of a line."""

from __future__ import annotations

from typing import Any

import numpy as np


def levels_of(cells: int, *, branches: int) -> int:
    """Return the levels of the tree, h, the cells among them and no root.

    >>> [levels_of(cells, branches=4) for cells in (1, 4, 5, 16, 1024)]
    [1, 1, 2, 2, 5]
    """
    levels = 1
    while branches**levels < cells:
        levels += 1
    return levels


def nodes(cells: int, *, branches: int) -> Any:
    """Return the nodes above the cells without the root, as rows of zeros and ones, sparse (K, U)."""
    from scipy.sparse import csr_array, vstack

    levels, place = levels_of(cells, branches=branches), np.arange(cells)
    parts = [csr_array((0, cells), dtype=np.int64)]
    for level in range(1, levels):
        node = place // branches**level
        parts.append(csr_array((np.ones(cells, dtype=np.int64), (node, place)), shape=(int(node[-1]) + 1, cells)))
    return csr_array(vstack(parts))
