"""All small databases of m points beside private data: listed if there are few, else counted by layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpcore.core import Integers, ParameterError, Queries
from dpcore.mechanisms.net.bands import Bands, TwoSidedBands
from dpcore.mechanisms.net.exact import ExactLayers
from dpcore.mechanisms.net.heights import Heights
from dpcore.mechanisms.net.kernel import Kernel
from dpcore.mechanisms.net.layers import Layers
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness.candidates import Candidates

KERNELS: dict[type[Queries], type[Kernel]] = {Thresholds: Bands, Intervals: TwoSidedBands, Cells: Heights}

MAX_LISTED = 3_000_000
"""Candidates listed."""
MAX_EFFORT = 1 << 25
"""Numbers computed to score them, at most: a second or so."""
BLOCK = 1 << 16
"""Candidates scored at once."""


def candidates(*, size: int, points: int) -> int:
    """Multisets of so many points of ``size`` cells, C(size + m - 1, m); the paper's |X|^m counts their orders too.

    >>> candidates(size=5, points=4), candidates(size=16, points=8)
    (70, 490314)
    """
    return math.comb(size + points - 1, points)


def multisets(*, size: int, points: int) -> Integers:
    """Return all of them in order, (K, m), of the smallest whole numbers that hold a cell."""
    rows = np.zeros((1, 0), dtype=np.min_scalar_type(size))
    for place in range(points):
        last = rows[:, -1].astype(np.int64) if place else np.zeros(1, dtype=np.int64)
        repeats = size - last  # the next point is at the last one's cell or beyond
        before = np.repeat(np.cumsum(repeats) - repeats, repeats)
        following = np.arange(int(repeats.sum())) - before + np.repeat(last, repeats)
        rows = np.concatenate([np.repeat(rows, repeats, axis=0), following[:, None].astype(rows.dtype)], axis=1)
    return rows


def listable(queries: Queries, *, points: int) -> bool:
    """Return whether the candidates are few enough to be listed and scored."""
    number = candidates(size=queries.domain.size, points=points)
    # Cells take a comparison of each point with each, or one for each cell; the others two gaps a point.
    effort = min(queries.domain.size, 2 * points * (points + 1)) if isinstance(queries, Cells) else 2 * points
    return number <= MAX_LISTED and number * effort <= MAX_EFFORT


class ScoredNet:
    """Every database of m points with minus its error as score: a whole number, m n times the worst query's error.

    Args:
        queries: thresholds, intervals or cells.
        histogram: the data, rows in each cell, (size,).
        points: m.
        rows: n, public.
    """

    def __init__(self, queries: Queries, histogram: Integers, *, points: int, rows: int) -> None:
        domain = queries.domain
        kernel = next((kernel for kind, kernel in KERNELS.items() if isinstance(queries, kind)), None)
        if kernel is None:
            raise ParameterError(f"No way is known here to count small databases for {queries.title}")
        self.kernel = kernel(counts=histogram[: domain.ordered], points=points, rows=rows, free_end=domain.missing)
        self.layers = Layers(self.kernel)
        self.candidates: Candidates | None = None
        if listable(queries, points=points):
            listed = multisets(size=domain.size, points=points)
            scores = [-self.kernel.extent(listed[at : at + BLOCK]).sum(axis=1) for at in range(0, len(listed), BLOCK)]
            self.candidates = Candidates(listed, np.concatenate(scores))

    def draw(self, generator: np.random.Generator, *, rate: float, trials: int) -> Integers:
        """Return the databases with weights e^(rate * score), as points in order, (trials, m); exact up to rounding."""
        return self.layers.draw(generator, rate=rate, trials=trials)

    def draw_exactly(self, below: Callable[[int], int], *, rate: Fraction) -> Integers:
        """One database (m,) with exactly these weights; ``below`` gives uniform whole numbers below its argument."""
        return ExactLayers(self.kernel, rate=rate).draw(below)
