"""Query classes: each query is the fraction of rows inside a set of cells.

Worst errors over a whole class are closed forms, so they are exact however large the class is; plots use a fixed
batch. A difference of histograms D - D' enters as ``difference`` (T, size); its cumulative sums G (with G_0 = 0)
give thresholds max |G| and intervals max G - min G (Blum, Ligett and Roth 2013, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Domain, Floats, Integers, ParameterError, Queries
from dpcore.domains import Categories, Line


def _cumulative(values: NDArray[Any], ordered: int) -> NDArray[Any]:
    """Running sums of the ordered cells with a leading zero, shape (T, ordered + 1)."""
    sums = np.zeros((len(values), ordered + 1), dtype=values.dtype)
    np.cumsum(values[:, :ordered], axis=1, out=sums[:, 1:])
    return sums


def _spread(count: int, most: int) -> Integers:
    """At most ``most`` evenly spread whole numbers from 0 to count - 1, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class Thresholds(Queries):
    """How many rows are at most b? One query per ordered cell."""

    key: ClassVar[str] = "thresholds"
    title: ClassVar[str] = "Thresholds: how many are at most b?"
    one: ClassVar[str] = "threshold"
    domains: ClassVar[tuple[type[Domain], ...]] = (Line,)
    domain: Domain

    @property
    def count(self) -> int:
        """One per ordered cell."""
        return self.domain.ordered

    @property
    def vc_dimension(self) -> int:
        """1: a threshold cannot take the larger of two points without the smaller."""
        return 1

    def ends(self, indices: Integers) -> tuple[Integers, Integers]:
        """First and last cell of each query, both included."""
        return np.zeros_like(indices), indices

    def describe(self, index: int) -> str:
        """The threshold in words."""
        return f"at most {self.domain.describe(index).split(' to ')[-1]}"

    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Sums of the cells of each query, shape (T, Q)."""
        sums: Floats = np.cumsum(histogram, axis=1, dtype=np.float64)[:, indices]
        return sums

    def max_error(self, difference: NDArray[Any]) -> Floats:
        """max |G|, shape (T,)."""
        sums = _cumulative(difference, self.domain.ordered)
        worst: Floats = np.maximum(sums.max(axis=1), -sums.min(axis=1)).astype(np.float64)
        return worst

    def batch(self, most: int) -> Integers:
        """Evenly spread thresholds."""
        return _spread(self.count, most)


@dataclass(frozen=True, kw_only=True)
class Intervals(Queries):
    """How many rows lie between a and b? One query per pair a <= b of ordered cells.

    Query number i of U(U+1)/2: those that start at cell 0 first (by end), then those that start at 1, and so on.
    """

    key: ClassVar[str] = "intervals"
    title: ClassVar[str] = "Intervals: how many lie between a and b?"
    one: ClassVar[str] = "interval"
    domains: ClassVar[tuple[type[Domain], ...]] = (Line,)
    domain: Domain

    @property
    def count(self) -> int:
        """All pairs of ends, U(U+1)/2."""
        return self.domain.ordered * (self.domain.ordered + 1) // 2

    @property
    def vc_dimension(self) -> int:
        """2: an interval cannot take the outer two of three points. On two cells 1: no interval leaves out both."""
        return min(2, self.domain.ordered - 1)

    def ends(self, indices: Integers) -> tuple[Integers, Integers]:
        """First and last cell of each query, both included."""
        size = self.domain.ordered
        # Row a starts at a*U - a(a-1)/2; solve for a. At a row's start the discriminant is an odd square k^2, its root
        # exact; elsewhere it is at most k^2 - 8, so its root is off k by 4/k, far more than rounding (k < 2^18).
        first = np.floor(((2 * size + 1) - np.sqrt((2 * size + 1.0) ** 2 - 8.0 * indices)) / 2).astype(np.int64)
        return first, first + indices - (first * size - first * (first - 1) // 2)

    def index(self, first: int, last: int) -> int:
        """Number of the query from cell first to cell last, both included."""
        if not 0 <= first <= last < self.domain.ordered:
            raise ParameterError(f"An interval needs 0 <= first <= last < {self.domain.ordered}.")
        return first * self.domain.ordered - first * (first - 1) // 2 + last - first

    def describe(self, index: int) -> str:
        """The interval in words."""
        first, last = (int(end[0]) for end in self.ends(np.array([index], dtype=np.int64)))
        start, stop = self.domain.describe(first).split(" to ")[0], self.domain.describe(last).split(" to ")[-1]
        return f"{start} to {stop}"

    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Sums of the cells of each query, shape (T, Q)."""
        first, last = self.ends(indices)
        sums = _cumulative(np.asarray(histogram, dtype=np.float64), self.domain.ordered)
        answers: Floats = sums[:, last + 1] - sums[:, first]
        return answers

    def max_error(self, difference: NDArray[Any]) -> Floats:
        """max G - min G, shape (T,)."""
        sums = _cumulative(difference, self.domain.ordered)
        worst: Floats = (sums.max(axis=1) - sums.min(axis=1)).astype(np.float64)
        return worst

    def batch(self, most: int) -> Integers:
        """All pairs of evenly spread ends, about ``most`` of them at the most."""
        edges = _spread(self.domain.ordered, max(1, int((np.sqrt(8 * most + 1) - 1) / 2)))
        first, last = np.meshgrid(edges, edges, indexing="ij")
        keep = first <= last
        first, last = first[keep], last[keep]
        indices: Integers = first * self.domain.ordered - first * (first - 1) // 2 + last - first
        return np.sort(indices)


@dataclass(frozen=True, kw_only=True)
class Cells(Queries):
    """How many rows are in one cell? One query per fitting cell; the class that serves categories."""

    key: ClassVar[str] = "cells"
    title: ClassVar[str] = "Cells: how many in each bar?"
    one: ClassVar[str] = "cell"
    domains: ClassVar[tuple[type[Domain], ...]] = (Line, Categories)
    domain: Domain

    @property
    def count(self) -> int:
        """One per fitting cell."""
        return self.domain.ordered

    @property
    def vc_dimension(self) -> int:
        """1: a cell cannot take two points at once. A single cell is a single query: 0."""
        return min(1, self.domain.ordered - 1)

    def ends(self, indices: Integers) -> tuple[Integers, Integers]:
        """First and last cell of each query: the cell itself."""
        return indices, indices

    def describe(self, index: int) -> str:
        """The cell in words."""
        return self.domain.describe(index)

    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """The cells' counts, shape (T, Q)."""
        return np.asarray(histogram[:, indices], dtype=np.float64)

    def max_error(self, difference: NDArray[Any]) -> Floats:
        """Largest absolute difference in one cell, shape (T,)."""
        inside = difference[:, : self.domain.ordered]
        worst: Floats = np.maximum(inside.max(axis=1), -inside.min(axis=1)).astype(np.float64)
        return worst

    def batch(self, most: int) -> Integers:
        """Evenly spread cells."""
        return _spread(self.count, most)


QUERY_CLASSES: tuple[type[Queries], ...] = (Thresholds, Intervals, Cells)
"""The classes a page offers, in the order it offers them."""


def classes_for(domain: Domain) -> tuple[type[Queries], ...]:
    """The query classes that make sense on a domain."""
    return tuple(kind for kind in QUERY_CLASSES if isinstance(domain, kind.domains))
