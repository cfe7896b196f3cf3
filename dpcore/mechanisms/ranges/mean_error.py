"""Mean variance of a strategy over all prefixes or all ranges, by running sums.

Notation as in ``strategy.py``: B, the windows before the columns are divided; G, the mean of w w' over the queries w.
"""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats


def mean_square(values: Floats, *, prefixes: bool) -> Floats:
    """Return G times the columns of ``values`` (U, k), for G = mean of w w' over all prefixes or all ranges."""
    cells = len(values)
    if prefixes:
        sums: Floats = np.cumsum(np.cumsum(values, axis=0)[::-1], axis=0)[::-1] / cells
        return sums
    # G[i, j] = min(i, j) * (U + 1 - max(i, j)) = (U + 1) * min(i, j) - i * j, counted from 1.
    place = np.arange(1, cells + 1)[:, None]
    least = np.cumsum(np.cumsum(values[::-1], axis=0)[::-1], axis=0)
    both: Floats = ((cells + 1) * least - place * (place * values).sum(axis=0)) / (cells * (cells + 1) / 2)
    return both


def diagonal(cells: int, *, prefixes: bool) -> Floats:
    """Return the diagonal of G: the share of the queries in which a cell is, (U,)."""
    place = np.arange(1, cells + 1)
    if prefixes:
        return (cells + 1 - place) / cells
    return place * (cells + 1 - place) / (cells * (cells + 1) / 2)


def mean_variance(measured: Floats, *, prefixes: bool, known: bool) -> tuple[float, Floats]:
    """Return the mean variance over the class for noise of variance 1, and its gradient in the windows B, both (K, U).

    Writing N = (I + B'B)^-1 and c = 1 + the columns' sums, X^-1 = c N c. With the sum known, the gradient is that of
    another G, which differs from the true one by matrices of rank one; the reserved cell, measured alone, adds 1 to the
    sum of X^-1.
    """
    cells = measured.shape[1]
    column = 1 + measured.sum(axis=0)  # c
    inside = np.linalg.inv(np.eye(len(measured)) + measured @ measured.T)
    thinned = inside @ measured  # B N

    def inverse(values: Floats) -> Floats:  # X^-1 times the columns
        scaled = column[:, None] * values
        solved: Floats = column[:, None] * (scaled - measured.T @ (thinned @ scaled))
        return solved

    share = diagonal(cells, prefixes=prefixes)
    spread = mean_square(column[:, None] * thinned.T, prefixes=prefixes)
    value = float((column**2 * share).sum() - (measured.T * column[:, None] * spread).sum())
    if known:
        ones = inverse(np.ones((cells, 1)))
        total = float(ones.sum()) + 1
        moved = mean_square(ones, prefixes=prefixes)
        lost = float((ones * moved).sum())
        value -= lost / total
        # Of the effective G: times the columns of c N B', and its diagonal.
        values = column[:, None] * thinned.T
        summed = values.sum(axis=0)
        spread = spread - (moved.T @ values + moved * summed) / total + lost / total**2 * summed
        share = share - 2 * moved[:, 0] / total + lost / total**2
    by_column = column * share - (measured.T * spread).sum(axis=1)
    inner = (column[:, None] * spread).T
    gradient: Floats = 2 * by_column - 2 * (inner - (inner @ measured.T) @ thinned)
    return value, gradient
