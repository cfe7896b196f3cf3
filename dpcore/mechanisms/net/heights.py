"""Small databases near data cell by cell, for queries about single cells: counted and drawn.

Cell j holds h_j of n rows and k_j of m points; the worst cell errs by max |m h_j - n k_j|, in units of 1/(m n). A limit
on it leaves each k_j a few whole numbers next to each other, and the k_j add up to m (to at most m where points may
lie in a cell for missing values, which no query sees). Ways to reach each total so far, cell by cell, count the
databases; the same numbers, walked backwards, give one at random. Only positive numbers are added, as in bands.py.
Totals that leave too few points for what the cells ahead need lead nowhere, but can have so many ways that doubles
lose those of the others beside them (10^324 for 100 points on 65,536 cells): they are struck out.

Notation: U = cells; m = points; n = rows; h = counts; k = multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Integers
from dpcore.mechanisms.net.kernel import Kernel, Sums, Uniform

BLOCK = 1 << 20
"""Differences computed at once."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Heights(Kernel):
    """The extent is max |m h_j - n k_j|."""

    @override
    @property
    def effort(self) -> int:
        """A difference a cell, or what _sparse() compares."""
        return min(self.cells, 2 * self.points * (self.points + 1))

    @override
    def widest(self) -> Integers:
        """A limit that no database exceeds, (1,)."""
        m, h = self.points, self.counts
        return np.array([max(m * int(h.max()), m * (self.rows - int(h.min())))])

    @override
    def extent(self, points: Integers) -> Integers:
        """The extent of each database, from its points (T, m): (T, 1)."""
        if self.effort < self.cells:
            return self._sparse(points)
        extents, block = np.empty((len(points), 1), dtype=np.int64), max(1, BLOCK // (self.cells + 1))
        for start in range(0, len(points), block):
            part = points[start : start + block].astype(np.int64)
            places = (part + (self.cells + 1) * np.arange(len(part))[:, None]).reshape(-1)
            k = np.bincount(places, minlength=len(part) * (self.cells + 1)).reshape(len(part), -1)[:, : self.cells]
            extents[start : start + block, 0] = np.abs(self.points * self.counts - self.rows * k).max(axis=1)
        return extents

    def _sparse(self, points: Integers) -> Integers:
        """The same on many cells: those that hold points, and the highest of the others."""
        worst = np.zeros(len(points), dtype=np.int64)
        for place in points.T.astype(np.int64):
            k = (points == place[:, None]).sum(axis=1)
            fits = place < self.cells  # a point in the cell for missing values is in no query
            height = self.counts[np.where(fits, place, 0)]
            np.maximum(worst, np.where(fits, np.abs(self.points * height - self.rows * k), 0), out=worst)
        # One of the m + 1 highest cells holds no point; the highest such cell errs by all its rows.
        empty = np.ones(len(points), dtype=np.bool_)
        for cell in np.argsort(-self.counts, kind="stable")[: self.points + 1]:
            holds = (points == cell).any(axis=1)
            np.maximum(worst, np.where(empty & ~holds, self.points * self.counts[cell], 0), out=worst)
            empty &= holds
        return worst[:, None]

    @override
    def values(self, limits: Integers) -> int:
        """Every total from 0 to m is told apart."""
        return self.points + 1

    @override
    def sums(self, limits: Integers, *, keep: bool, exact: bool = False) -> HeightSums:
        """The forward pass within each of these limits (B, 1)."""
        return HeightSums(self, limits, keep=keep, exact=exact)


class HeightSums(Sums):
    """Ways to reach each total, kept cell by cell if databases are to be drawn."""

    def __init__(self, heights: Heights, limits: Integers, *, keep: bool, exact: bool) -> None:
        super().__init__(heights, limits, values=heights.points + 1, exact=exact)
        self._heights, self._limits = heights, limits[:, 0]
        self._stored_ways: list[NDArray[Any]] = []
        totals, needed = np.arange(heights.points + 1)[:, None], self._needed()
        for cell in range(heights.cells):
            if keep:
                self._stored_ways.append(self._ways)
            smallest, largest = self._range(int(heights.counts[cell]), self._limits)
            ways = np.zeros_like(self._ways)
            for k in range(int(smallest.min()), int(largest.max()) + 1):
                ways[k:] += self._ways[: len(ways) - k] * ((smallest <= k) & (k <= largest))
            self._ways = ways
            needed -= smallest
            if self._due(cell):
                self._ways *= totals <= heights.points - needed
                self._scale()
        if not heights.free_end:
            self._ways = self._ways[-1:]
        self.totals = self._ways.sum(axis=0)

    def _range(self, height: int, limits: Integers) -> tuple[Integers, Integers]:
        """Return the fewest and most points that a cell of so many rows may hold within each of the limits."""
        m, n, lead = self._heights.points, self._heights.rows, self._heights.points * height
        return np.maximum(0, -((limits - lead) // n)), np.minimum(m, (lead + limits) // n)

    def _needed(self) -> Integers:
        """Return the fewest points that all cells together may hold within each of the limits, (B,)."""
        needed = np.zeros_like(self._limits)
        for height, many in zip(*np.unique(self._heights.counts, return_counts=True), strict=True):
            needed += many * self._range(int(height), self._limits)[0]
        return needed

    @override
    def paths(self, which: Integers, uniform: Uniform) -> Integers:
        """A path drawn evenly within each of the limits ``which`` (T,), as totals after each cell: (T, U)."""
        heights, trial = self._heights, np.arange(len(which))
        paths = np.empty((heights.cells, len(which)), dtype=np.int64)
        ends = np.cumsum(self._ways[:, which], axis=0)
        total = (ends <= uniform(ends[-1])).sum(axis=0).astype(np.int64) + heights.points + 1 - len(self._ways)
        paths[-1] = total
        for cell in range(heights.cells - 1, 0, -1):
            smallest, largest = self._range(int(heights.counts[cell]), self._limits[which])
            k = np.arange(int(smallest.min()), int(min(largest.max(), total.max())) + 1)[:, None]
            fits = (smallest <= k) & (k <= np.minimum(largest, total))
            before = self._stored_ways[cell][np.maximum(total - k, 0), which[trial]] * fits
            reached = np.cumsum(before, axis=0)
            total = total - (reached <= uniform(reached[-1])).sum(axis=0).astype(np.int64) - k[0]
            paths[cell - 1] = total
        return paths.T
