"""A net that is listed and scored query by query: for classes in which databases cannot be counted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.mechanisms.net.databases import candidates, multisets
from dpcore.mechanisms.net.exact import exponential, flip
from dpcore.randomness.candidates import Candidates

MAX_EFFORT = 1 << 27
"""Numbers computed to score all candidates, at most: a second or so."""
MAX_COUNTED = 2_500_000
"""Candidates held by how many points they have in each cell."""
BLOCK = 1 << 20
"""Numbers computed at once."""
BITS = 64
"""Of the whole numbers that weights are rounded up to before the exact coin."""


def listable_points(*, size: int, queries: int, points: int) -> int:
    """Return the most points, up to ``points`` and at least 1, of which all databases can be listed and scored.

    With more points than cells, candidates are counted by cell, and one matrix product scores them.
    """

    def is_long(m: int) -> bool:
        number = candidates(size=size, points=m)
        if m > size:
            return number > MAX_COUNTED or number * queries > MAX_EFFORT
        return number * queries * (m + 2) > MAX_EFFORT

    for low, high in ((size + 1, points), (1, min(size, points))):
        listable = bisect_left(range(low, high + 1), True, key=is_long)
        if listable:
            return low + listable - 1
    return 1


class ListedNet:
    """Every database of m points with minus its error as score: a whole number, the worst over a matrix of queries.

    Args:
        units: weights of each query, whole numbers, (queries, cells).
        truth: what each query adds up to on the private data, in the same units, (queries,).
        points: m.
        rows: what a database of m points stands for; the score is -max |m * truth - rows * (sum over its points)|.
    """

    def __init__(self, units: Integers, *, truth: Integers, points: int, rows: int) -> None:
        cells = units.shape[1]
        if points != listable_points(size=cells, queries=len(units), points=points):
            raise ParameterError("There are too many databases of so many points to list them.")
        counted = points > cells
        if counted:  # the bars between the cells: points below each
            bars = multisets(size=points + 1, points=cells - 1).astype(np.int32)
            listed = np.diff(bars, axis=1, prepend=np.int32(0), append=np.int32(points))
        else:
            listed = multisets(size=cells, points=points)
        columns = np.ascontiguousarray(units.T)
        block = max(1, BLOCK // len(units))
        scores = np.empty(len(listed), dtype=np.int64)
        for at in range(0, len(listed), block):
            part = listed[at : at + block]
            if counted:  # exact in doubles: whole numbers, n * m * UNITS being far below 2^53
                gaps = part @ (rows * columns).astype(np.float64)
                gaps -= points * truth
            else:
                sums = columns[part[:, 0]]
                for place in range(1, points):
                    sums = sums + columns[part[:, place]]
                gaps = points * truth - rows * sums
            scores[at : at + block] = -np.abs(gaps, out=gaps).max(axis=1)
        self.candidates = Candidates(listed, scores, counted=counted)

    def draw(self, generator: np.random.Generator, *, rate: float, trials: int) -> Integers:
        """Return the databases with weights e^(rate * score), as points in order, (trials, m); exact up to rounding."""
        drawn = self.candidates.draw(generator, rate=rate, rule="exponential", trials=trials)
        return self.candidates.at(drawn)

    def draw_exactly(self, below: Callable[[int], int], *, rate: Fraction) -> Integers:
        """One database (m,) with exactly these weights; ``below`` gives uniform whole numbers below its argument.

        Whole numbers above the weights propose a score, and an exact coin of weight over whole number decides. Floating
        point only says how far above: it changes how often the coin is asked, not what comes out.
        """
        levels, order, starts = self.candidates.ranked
        gaps = [int(gap) for gap in levels[-1] - levels]
        heights = self._above(np.array(gaps, dtype=np.float64) * float(rate))
        reached = list(accumulate(h * int(many) for h, many in zip(heights, np.diff(starts), strict=True)))
        while True:
            level = bisect_right(reached, below(reached[-1]))
            ahead, height = -rate * gaps[level], heights[level]

            def chance(digits: int, ahead: Fraction = ahead, height: int = height) -> tuple[Fraction, Fraction]:
                low, high = exponential(ahead, digits=digits)
                return low * Fraction(2**BITS, height), high * Fraction(2**BITS, height)

            if flip(below, chance):
                among = int(starts[level]) + below(int(starts[level + 1] - starts[level]))
                database: Integers = self.candidates.at(order[[among]])[0]
                return database

    def _above(self, falls: Floats) -> list[int]:
        """Return whole numbers above 2^BITS * e^-fall, by more than the rounding error of doubles."""
        return [int(height) + 2 for height in np.exp(-falls) * (1 + 1e-9) * 2.0**BITS]
