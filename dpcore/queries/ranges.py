"""Query classes: each query is the fraction of rows inside a set of cells.

Worst errors over a whole class are closed forms, so they are exact however large the class is; plots use a fixed
batch. A difference of histograms D - D' enters as ``difference`` (T, size); its cumulative sums G (with G_0 = 0)
give thresholds max |G| and intervals max G - min G (Blum, Ligett and Roth 2013, section 4). A rectangle is an interval
of what two edges of the first line leave between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Domain, DomainType, Floats, Integers, ParameterError, Queries
from dpcore.core.problem import spread
from dpcore.data.columns import Column
from dpcore.data.product import Product

TRIALS_AT_ONCE = 128
"""Trials whose rectangles are searched together: their running sums stay in the processor's cache."""
EXACT_IN_SHORT = 1 << 21
"""Sums and differences of four whole numbers below it are exact in half the memory."""
MILLIONTHS = 10**6
"""Quantiles are whole numbers of millionths, so that ranks and scores are exact."""


def rank(rows: int, *, quantile: float) -> int:
    """Return the number, counted from 1, of the lower quantile among so many rows."""
    return -(-round(quantile * MILLIONTHS) * rows // MILLIONTHS)


def _cumulative(values: NDArray[Any], ordered: int) -> NDArray[Any]:
    """Return the running sums of the ordered cells with a leading zero, shape (T, ordered + 1)."""
    sums = np.zeros((len(values), ordered + 1), dtype=values.dtype)
    np.cumsum(values[:, :ordered], axis=1, out=sums[:, 1:])
    return sums


@dataclass(frozen=True, kw_only=True)
class Thresholds(Queries):
    """Number of rows below b, the end of a cell; one query per ordered cell, the last of which counts all."""

    key: ClassVar[str] = "thresholds"
    title: ClassVar[str] = "Thresholds: rows below b"
    one: ClassVar[str] = "threshold"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.NUMBER,)
    domain: Column

    @override
    @property
    def count(self) -> int:
        return self.domain.ordered

    @override
    @property
    def vc_dimension(self) -> int:
        """1: a threshold cannot take the larger of two points without the smaller."""
        return 1

    def ends(self, indices: Integers) -> tuple[Integers, Integers]:
        """Return the first and last cell of each query, both included."""
        return np.zeros_like(indices), indices

    @override
    def describe(self, index: int) -> str:
        # A cell holds no number that equals its end, but the last one and a date's unit do.
        holds = self.domain.closed or index == self.domain.ordered - 1
        return f"{'at most' if holds else 'below'} {self.domain.ends(index, index)[1]}"

    @override
    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Sums of the cells of each query, shape (T, Q)."""
        sums: Floats = np.cumsum(histogram, axis=1, dtype=np.float64)[:, indices]
        return sums

    @override
    def max_error(self, difference: NDArray[Any]) -> Floats:
        """max |G|, shape (T,)."""
        sums = _cumulative(difference, self.domain.ordered)
        worst: Floats = np.maximum(sums.max(axis=1), -sums.min(axis=1)).astype(np.float64)
        return worst


@dataclass(frozen=True, kw_only=True)
class Intervals(Queries):
    """Number of rows between a and b; one query per pair a <= b of ordered cells.

    Query number i of U(U+1)/2: those that start at cell 0 first (by end), then those that start at 1, and so on.
    """

    key: ClassVar[str] = "intervals"
    title: ClassVar[str] = "Intervals: rows between a and b"
    one: ClassVar[str] = "interval"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.NUMBER,)
    domain: Column

    @override
    @property
    def count(self) -> int:
        """All pairs of ends, U(U+1)/2."""
        return self.domain.ordered * (self.domain.ordered + 1) // 2

    @override
    @property
    def vc_dimension(self) -> int:
        """2: an interval cannot take the outer two of three points. On two cells 1: no interval leaves out both."""
        return min(2, self.domain.ordered - 1)

    def ends(self, indices: Integers) -> tuple[Integers, Integers]:
        """Return the first and last cell of each query, both included."""
        size = self.domain.ordered
        # Row a starts at a*U - a(a-1)/2; solve for a. At a row's start the discriminant is an odd square k^2, its root
        # exact; elsewhere it is at most k^2 - 8, so its root is off k by 4/k, far more than rounding (k < 2^18).
        first = np.floor(((2 * size + 1) - np.sqrt((2 * size + 1.0) ** 2 - 8.0 * indices)) / 2).astype(np.int64)
        return first, first + indices - (first * size - first * (first - 1) // 2)

    def index(self, first: int, last: int) -> int:
        """Return the number of the query from cell first to cell last, both included."""
        if not 0 <= first <= last < self.domain.ordered:
            raise ParameterError(f"An interval needs 0 <= first <= last < {self.domain.ordered}.")
        return first * self.domain.ordered - first * (first - 1) // 2 + last - first

    @override
    def describe(self, index: int) -> str:
        first, last = (int(end[0]) for end in self.ends(np.array([index], dtype=np.int64)))
        return self.domain.between(first, last)

    @override
    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Sums of the cells of each query, shape (T, Q)."""
        first, last = self.ends(indices)
        sums = _cumulative(np.asarray(histogram, dtype=np.float64), self.domain.ordered)
        answers: Floats = sums[:, last + 1] - sums[:, first]
        return answers

    @override
    def max_error(self, difference: NDArray[Any]) -> Floats:
        """max G - min G, shape (T,)."""
        sums = _cumulative(difference, self.domain.ordered)
        worst: Floats = (sums.max(axis=1) - sums.min(axis=1)).astype(np.float64)
        return worst

    @override
    def batch(self, limit: int) -> Integers:
        """All pairs of evenly spread ends, about ``limit`` of them at the most."""
        edges = spread(self.domain.ordered, max(1, int((np.sqrt(8 * limit + 1) - 1) / 2)))
        first, last = np.meshgrid(edges, edges, indexing="ij")
        keep = first <= last
        first, last = first[keep], last[keep]
        indices: Integers = first * self.domain.ordered - first * (first - 1) // 2 + last - first
        return np.sort(indices)


@dataclass(frozen=True, kw_only=True)
class Rectangles(Queries):
    """Number of rows in a rectangle; one query per interval of the first line with one of the second.

    Query number i·(intervals of the second line) + j asks interval i of the first line with interval j of the second.
    """

    key: ClassVar[str] = "rectangles"
    title: ClassVar[str] = "Rectangles: rows between a and b, and between c and d"
    one: ClassVar[str] = "rectangle"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.MAP,)
    domain: Product

    @property
    def sides(self) -> tuple[Intervals, Intervals]:
        """The intervals along the first and along the second line."""
        across, up = self.domain.columns
        return Intervals(domain=across), Intervals(domain=up)

    @override
    @property
    def count(self) -> int:
        return self.sides[0].count * self.sides[1].count

    @override
    @property
    def vc_dimension(self) -> int:
        """4, the points furthest left, right, down and up; on a side of two cells left and right are one."""
        return sum(min(3, cells) for cells in self.domain.shape) - 2

    def ends(self, indices: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """Return the first and last cell along the first line, first and last along the second, all included."""
        across, up = self.sides
        i, j = np.divmod(indices, up.count)
        return *across.ends(i), *up.ends(j)

    def index(self, across: tuple[int, int], up: tuple[int, int]) -> int:
        """Return the number of the rectangle of these first and last cells along either line, all included."""
        return self.sides[0].index(*across) * self.sides[1].count + self.sides[1].index(*up)

    @override
    def describe(self, index: int) -> str:
        across, up = self.sides
        return f"{across.describe(index // up.count)} × {up.describe(index % up.count)}"

    def _corners(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sums over the cells below and left of each corner of the grid, shape (T, rows + 1, columns + 1)."""
        rows, columns = self.domain.shape
        sums = np.zeros((len(values), rows + 1, columns + 1), dtype=values.dtype)
        inside = sums[:, 1:, 1:]
        np.cumsum(values[:, : rows * columns].reshape(-1, rows, columns), axis=2, out=inside)
        np.cumsum(inside, axis=1, out=inside)
        return sums

    @override
    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Sums of the cells of each query, shape (T, Q)."""
        sums = self._corners(np.asarray(histogram, dtype=np.float64))
        left, right, low, high = self.ends(indices)
        right, high = right + 1, high + 1
        answers: Floats = sums[:, right, high] - sums[:, left, high] - sums[:, right, low] + sums[:, left, low]
        return answers

    @override
    def max_error(self, difference: NDArray[Any]) -> Floats:
        """Over all pairs of edges of the shorter side, max G - min G of the running sums between them, shape (T,)."""
        worst = np.zeros(len(difference))
        sideways = self.domain.shape[0] > self.domain.shape[1]
        for start in range(0, len(difference), TRIALS_AT_ONCE):
            largest = worst[start : start + TRIALS_AT_ONCE]
            sums = self._corners(difference[start : start + TRIALS_AT_ONCE])
            # Trials last, so that every step works on whole rows of memory.
            sums = np.ascontiguousarray(sums.transpose((2, 1, 0) if sideways else (1, 2, 0)))
            if (np.abs(sums) < EXACT_IN_SHORT).all() and (sums == np.rint(sums)).all():
                sums = sums.astype(np.float32)
            strips = np.empty(sums[1:].shape, dtype=sums.dtype)
            for edge in range(len(sums) - 1):
                strip = np.subtract(sums[edge + 1 :], sums[edge], out=strips[edge:])
                np.maximum(largest, (strip.max(axis=1) - strip.min(axis=1)).max(axis=0), out=largest)
        return worst

    @override
    def batch(self, limit: int) -> Integers:
        """Spread intervals of the first line with spread intervals of the second."""
        across, up = self.sides
        some = across.batch(math.isqrt(limit))
        others = up.batch(limit // len(some))
        some = across.batch(limit // len(others))
        return (some[:, None] * up.count + others[None, :]).reshape(-1)


@dataclass(frozen=True, kw_only=True)
class Cells(Queries):
    """Number of rows in one cell; one query per fitting cell, the class for categories."""

    key: ClassVar[str] = "cells"
    title: ClassVar[str] = "Cells: rows in each cell"
    one: ClassVar[str] = "cell"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.NUMBER, DomainType.MAP, DomainType.LABELS)
    domain: Domain

    @override
    @property
    def count(self) -> int:
        return self.domain.ordered

    @override
    @property
    def vc_dimension(self) -> int:
        """1: a cell cannot take two points at once. A single cell is a single query: 0."""
        return min(1, self.domain.ordered - 1)

    def ends(self, indices: Integers) -> tuple[Integers, Integers]:
        """Return the first and last cell of each query: the cell itself."""
        return indices, indices

    @override
    def describe(self, index: int) -> str:
        return self.domain.describe(index)

    @override
    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """The cells' counts, shape (T, Q)."""
        return np.asarray(histogram[:, indices], dtype=np.float64)

    @override
    def max_error(self, difference: NDArray[Any]) -> Floats:
        """Largest absolute difference in one cell, shape (T,)."""
        inside = difference[:, : self.domain.ordered]
        worst: Floats = np.maximum(inside.max(axis=1), -inside.min(axis=1)).astype(np.float64)
        return worst


QUERY_CLASSES: tuple[type[Queries], ...] = (Thresholds, Intervals, Rectangles, Cells)
"""The classes a page offers, in the order it offers them."""


def classes_for(domain: Domain) -> tuple[type[Queries], ...]:
    """Return the query classes that make sense on a domain."""
    return tuple(kind for kind in QUERY_CLASSES if kind.fits(domain))
