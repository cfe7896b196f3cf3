"""What to measure for ranges: overlapping triangular windows on every cell's own count, with the best weights.

A strategy is a matrix of weights, one column a cell. Column i holds the weights A[:, i] of the windows and D[i] of the
cell itself; none is negative and they add up to 1, so a row of the data moves all measured values together by 1 in L1.
With X = D^2 + A'A the least-squares estimate of a query w errs with variance w'X^-1 w, times that of the noise; where
n is public, the sum of all cells is known for nothing and X^-1 loses X^-1 1 1' X^-1 / (1' X^-1 1).

The windows are B[j] = b[j] h[j] for triangles h[j] of several widths, and the columns of (I; B) are divided by their
sums: c = 1 + sum of B, D = 1/c, A = B/c. The weights b minimise the mean variance over the class of queries, exactly:
each value and gradient costs O(K^2 U) for K windows on U cells, as G = mean of w w' is applied by running sums.

References:
    Li, Hay, Rastogi, Miklau and McGregor (2010) for strategies and the least-squares estimate; McKenna, Miklau, Hay and
    Machanavajjhala (2018) for p-Identity strategies, of which this is one; the windows are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpcore.core import Floats, Integers, ParameterError

SPACING = {False: (16, 16), True: (64 / 3, 24)}
"""For ranges and for prefixes: cells to a spacing of the narrowest windows, and spacings of one level to the next's."""
MOST_CELLS = 4096
STEPS_OF_SEARCH = 60


def windows(cells: int, *, prefixes: bool, known: bool) -> tuple[Floats, Integers]:
    """Triangles h (K, U) and the level of each, (K,); windows reach over an end where a query may end there.

    >>> triangles, levels = windows(64, prefixes=False, known=False)
    >>> triangles.shape, levels.tolist()
    ((4, 64), [0, 0, 0, 0])
    """
    rows: list[Floats] = []
    levels: list[int] = []
    narrowest, wider = SPACING[prefixes]
    spacing, level = max(1, int(cells / narrowest)), 0
    while True:
        first, last = (0 if prefixes else 1), spacing + (1 if prefixes and known else 0)
        places = (np.arange(cells) + 0.5) * (spacing + 1) / cells
        for centre in range(first, last + 1):
            rows.append(np.maximum(0.0, 1.0 - np.abs(places - centre)))
            levels.append(level)
        if spacing < wider:
            return np.array(rows), np.array(levels, dtype=np.int64)
        spacing, level = spacing // wider, level + 1


def mean_square(values: Floats, *, prefixes: bool) -> Floats:
    """G times the columns of ``values`` (U, k), for G = mean of w w' over all prefixes or all ranges."""
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
    """The diagonal of G: the share of the queries in which a cell is, (U,)."""
    place = np.arange(1, cells + 1)
    if prefixes:
        return (cells + 1 - place) / cells
    return place * (cells + 1 - place) / (cells * (cells + 1) / 2)


def mean_variance(weights: Floats, triangles: Floats, *, prefixes: bool, known: bool) -> tuple[float, Floats]:
    """Mean variance over the class for noise of variance 1, and its gradient in the weights (K,).

    Writing N = (I + B'B)^-1, X^-1 = c N c. With the sum known, the gradient is that of another G, which differs from
    the true one by matrices of rank one; the reserved cell, measured alone, adds 1 to the sum of X^-1.
    """
    cells = triangles.shape[1]
    measured = weights[:, None] * triangles  # B
    column = 1 + measured.sum(axis=0)  # c
    inside = np.linalg.inv(np.eye(len(weights)) + measured @ measured.T)

    def inverse(values: Floats) -> Floats:  # X^-1 times the columns
        scaled = column[:, None] * values
        solved: Floats = column[:, None] * (scaled - measured.T @ (inside @ (measured @ scaled)))
        return solved

    share = diagonal(cells, prefixes=prefixes)
    spread = mean_square((column[:, None] * measured.T) @ inside, prefixes=prefixes)
    value = float((column**2 * share).sum() - (measured.T * column[:, None] * spread).sum())
    if known:
        ones = inverse(np.ones((cells, 1)))
        total = float(ones.sum()) + 1
        moved = mean_square(ones, prefixes=prefixes)
        lost = float((ones * moved).sum())
        value -= lost / total

    def effective(values: Floats) -> Floats:  # the G whose gradient this is
        product = mean_square(values, prefixes=prefixes)
        if known:
            summed = values.sum(axis=0)
            product = product - (moved.T @ values + moved * summed) / total + lost / total**2 * summed
        return product

    if known:
        share = share - 2 * moved[:, 0] / total + lost / total**2
    half = effective((column[:, None] * measured.T) @ inside)
    by_column = column * share - (measured.T * half).sum(axis=1)
    turned = column[:, None] * (triangles.T - measured.T @ (inside @ (measured @ triangles.T)))
    gradient: Floats = 2 * triangles @ by_column - 2 * weights * (turned * effective(turned)).sum(axis=0)
    return value, gradient


@dataclass(frozen=True, eq=False)
class Strategy:
    """Whole-number weights: cells' own (U,), windows' (K, U); every column adds up to ``steps``.

    Attributes:
        own: weight of each cell's own count, at least 1.
        windows: weights of the windows.
        steps: the sum of every column.

    Raises:
        ParameterError: a cell that is not measured, a weight below 0, or a column of another sum: the noise would not
            hide a row.
    """

    own: Integers
    windows: Integers
    steps: int

    def __post_init__(self) -> None:
        whole = np.issubdtype(self.own.dtype, np.integer) and np.issubdtype(self.windows.dtype, np.integer)
        if not whole or self.own.min() < 1 or self.windows.min(initial=0) < 0:
            raise ParameterError("Weights are whole numbers of at least 0, and at least 1 of a cell's own.")
        if (self.own + self.windows.sum(axis=0) != self.steps).any():
            raise ParameterError(f"The weights of every cell must add up to {self.steps}.")


@lru_cache(maxsize=64)
def strategy(cells: int, *, prefixes: bool, known: bool, steps: int) -> Strategy:
    """The best windows for all prefixes or all ranges, weights rounded down to whole steps; kept: sizes alone.

    Args:
        cells: how many in order.
        prefixes: whether the queries are prefixes; else ranges.
        known: whether the number of rows is public, so that the sum of all cells need not be measured.
        steps: the sum of a column.
    """
    from scipy.optimize import minimize  # not before somebody asks: it takes a while to import

    triangles, levels = windows(cells, prefixes=prefixes, known=known)
    tied = cells > MOST_CELLS // 2
    group = levels if tied else np.arange(len(levels))
    count = int(group.max()) + 1

    def objective(by_group: Floats) -> tuple[float, Floats]:
        value, gradient = mean_variance(by_group[group], triangles, prefixes=prefixes, known=known)
        return value, np.bincount(group, weights=gradient, minlength=count).astype(np.float64)

    found = minimize(
        objective, np.full(count, 0.5), jac=True, method="L-BFGS-B", bounds=[(0, None)] * count,
        options={"maxiter": STEPS_OF_SEARCH},
    )  # fmt: skip
    measured = found.x[group][:, None] * triangles
    whole = np.floor(steps * measured / (1 + measured.sum(axis=0))).astype(np.int64)
    whole = whole[whole.any(axis=1)]
    return Strategy(own=steps - whole.sum(axis=0), windows=whole, steps=steps)
