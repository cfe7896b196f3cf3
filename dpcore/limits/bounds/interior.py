"""What became of the lower bound for medians under δ > 0: log*, thresholds and the Littlestone dimension.

With δ = 0 a median of all data needs at least about log|X|/ε rows (``median.py``). With δ > 0 that proof fails: chances
may grow from 0, by δ, at each row. What remains is far smaller and never gone. An *interior point* is any value between
the smallest and the largest row, so a median is one. To return one for all data, n must be at least of order log*|X|,
where log* counts how often log2 is taken until 1 or less is left (Bun, Nissim, Stemmer and Vadhan 2015, for δ below
about 1/n²); methods of that order up to logarithmic factors exist (Cohen, Lyu, Nelson, Sarlós and Stemmer 2023). On an
infinite line there is none. None of these constants is known: log* is an order, never a number of rows.

Learning thresholds, x >= t, is as hard. In general a class can be learned with (ε, δ)-privacy from some number of rows
exactly if its Littlestone dimension is finite (Alon, Livni, Malliaris and Moran 2019; Bun, Livni and Moran 2020): the
depth of the deepest tree of points on which every sequence of answers is some query's. That of thresholds on N points
is floor(log2 N), although their VC dimension is 1.

Notation: |X| = N = 2^bits points; n rows; epsilon = ε.

References:
    Blum, Ligett and Roth (2013), Theorem 5.1; Bun, Nissim, Stemmer and Vadhan (2015); Alon, Livni, Malliaris and Moran
    (2019); Bun, Livni and Moran (2020); Cohen, Lyu, Nelson, Sarlós and Stemmer (2023).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Booleans, Floats, Integers, ParameterError
from dpcore.limits.bounds.median import log_others
from dpcore.limits.chance import check_loss

MAX_QUERIES = 64
"""Queries of a class whose Littlestone dimension is searched."""


def rows_without_delta(bits: ArrayLike, *, epsilon: float) -> Integers:
    """Return the rows below which no ε-private median is right half of the time on all constant data: ln(N - 1)/ε."""
    check_loss(epsilon=epsilon)
    rows: Integers = np.maximum(1, np.ceil(log_others(bits) / epsilon)).astype(np.int64)
    return rows


def log_star(value: float) -> int:
    """Return how often log2 is taken of a value until 1 or less is left.

    >>> [log_star(value) for value in (1, 2, 4, 16, 17, 65536, 65537)]
    [0, 1, 2, 3, 4, 4, 5]
    """
    times = 0
    while value > 1:
        value, times = math.log2(value), times + 1
    return times


def log_star_of_grid(bits: ArrayLike) -> Floats:
    """Return log* of 2^bits, elementwise: one more than that of the bits."""
    lengths = np.atleast_1d(np.asarray(bits, dtype=np.float64))
    return np.array([1.0 + log_star(each) for each in lengths.tolist()])


def littlestone(queries: Booleans) -> int:
    """Return the Littlestone dimension of distinct yes/no queries (Q, points); -1 of none.

    A tree of depth d + 1 has a point at its root, and queries of dimension d among those that say yes, and no.
    """
    if len(queries) > MAX_QUERIES:
        raise ParameterError(f"The Littlestone dimension is computed of at most {MAX_QUERIES} queries.")
    distinct = np.unique(queries, axis=0)
    points = [frozenset(np.flatnonzero(column).tolist()) for column in distinct.T]
    known: dict[frozenset[int], int] = {}

    def dimension(class_: frozenset[int]) -> int:
        if class_ not in known:
            halves = [(class_ & yes, class_ - yes) for yes in points]
            known[class_] = max((1 + min(dimension(yes), dimension(no)) for yes, no in halves if yes and no), default=0)
        return known[class_]

    return dimension(frozenset(range(len(distinct)))) if len(distinct) else -1
