"""Small databases near ordered data, for thresholds and intervals: lattice paths in a band, counted and drawn.

The gap of a path S to n rows of data, C_i of them in the first i cells, is the whole number G_i = m C_i - n S_i. The
worst threshold errs by max |G|, the worst interval by max G - min G (with G_0 = 0), in units of 1/(m n). Limits on G
leave each S_i a few values: a band. The paths in it are counted by running sums, cell by cell; and the same sums,
walked backwards, give a path of the band at random.

A count adds positive numbers only, so nothing cancels: in doubles its relative error stays below (cells) x (values a
cell) x 2^-53. Nor does any number that matters underflow: bands never fall, so the highest value after a cell, which
has the most ways to it, always leads on to the end. Many bands advance together: arrays are (values, bands).

Notation: U = cells; m = points; n = rows; C = cumulative; G = gap, lead - n S.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Integers
from dpcore.mechanisms.net.kernel import Kernel, Sums, Uniform

FAR = np.iinfo(np.int64).max // 2
FEW = 256
"""Bands: numpy walks through fewer of them one after the other faster than we call it for each value."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Bands(Kernel):
    """The extent is max |G|: thresholds."""

    @cached_property
    def lead(self) -> Integers:
        """m C, shape (U + 1,)."""
        return self.points * np.concatenate([[0], np.cumsum(self.counts)])

    @override
    @property
    def effort(self) -> int:
        return 2 * self.points

    @override
    def widest(self) -> Integers:
        """Limits that no database exceeds, (sides,)."""
        over = max(0, int(self.rows * self.points - self.lead[1:].min()))
        return self._sides(np.array(over), np.array(max(0, int(self.lead[1:].max()))))

    @override
    def extent(self, points: Integers) -> Integers:
        """The extent of each database, from its points in order (T, m): (T, sides).

        Between two neighbouring points S is constant and C grows, so G is smallest just behind the left one and largest
        at the right one. (Where both are in one cell, neither number is beyond those of the points around.)
        """
        steps = self.rows * np.arange(self.points + 1)
        lead = np.append(self.lead, FAR)  # behind a point in the cell for missing values there is nothing to compare
        first, last = np.zeros((len(points), 1), dtype=np.int64), np.full((len(points), 1), self.cells)
        top = (lead[np.concatenate([points, last], axis=1)] - steps).max(axis=1)
        bottom = (lead[np.concatenate([first, points + np.int64(1)], axis=1)] - steps).min(axis=1)
        return self._sides(np.maximum(0, -bottom), np.maximum(0, top))

    @override
    def values(self, limits: Integers) -> int:
        """How many values of a path are told apart after a cell, at most, within the widest of limits (B, sides)."""
        return self.window(limits)[1]

    @override
    def sums(self, limits: Integers, *, keep: bool, exact: bool = False) -> BandSums:
        """The forward pass within each of these limits (B, sides)."""
        return BandSums(self, limits, keep=keep, exact=exact)

    def window(self, limits: Integers) -> tuple[Integers, int]:
        """Lowest value of a path after each cell within any of the limits, (U + 1,), and how many values are enough."""
        over, under = limits.max(axis=0)[[0, -1]]
        low = np.clip(-((under - self.lead) // self.rows), 0, self.points)
        high = np.clip((self.lead + over) // self.rows, 0, self.points)
        return low, max(1, int((high - low).max()) + 1)

    @staticmethod
    def _sides(over: Integers, under: Integers) -> Integers:
        """Return the extent of paths whose largest -G is ``over`` and whose largest G is ``under``, both at least 0."""
        return np.maximum(over, under)[..., None]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TwoSidedBands(Bands):
    """The extent is (max -G, max G), both at least 0, and their sum max G - min G: intervals."""

    sides: ClassVar[int] = 2

    @override
    @staticmethod
    def _sides(over: Integers, under: Integers) -> Integers:
        return np.stack([over, under], axis=-1)


class BandSums(Sums):
    """Running sums in some bands, kept cell by cell if paths are to be drawn."""

    def __init__(self, bands: Bands, limits: Integers, *, keep: bool, exact: bool) -> None:
        self._bands = bands
        self._low, values = bands.window(limits)
        super().__init__(bands, limits, values=values, exact=exact)
        low, lead = self._low.tolist(), bands.lead.tolist()
        over, under = limits[:, 0], -limits[:, -1]
        rise = bands.rows * np.arange(values)[:, None]
        self._stored_ways: list[NDArray[Any]] = []
        inside = np.ones(self._ways.shape, dtype=np.bool_)
        for cell in range(bands.cells):
            ways = self._ways
            # From the ways to reach each value to those to reach at most it: what the next cell starts from.
            if len(limits) < FEW:
                np.add.accumulate(ways, axis=0, out=ways)
            else:
                for value in range(1, values):
                    np.add(ways[value], ways[value - 1], out=ways[value])
            if self._due(cell):
                self._scale()
            up = min(values, low[cell + 1] - low[cell])
            if keep:
                self._stored_ways.append(ways)
            if keep or up:
                self._ways = np.concatenate([ways[up:], np.broadcast_to(ways[-1], (up, len(limits)))])
            if up or cell == 0 or lead[cell + 1] != lead[cell]:
                surplus = rise + (bands.rows * low[cell + 1] - lead[cell + 1])  # -G
                inside = surplus <= over
                inside &= under <= surplus
                inside[max(0, bands.points + 1 - low[cell + 1]) :] = False
            self._ways *= inside
        if not bands.free_end:
            end = bands.points - low[-1]
            # With fewer rows than the public n, narrow limits may keep every path below m at the end: none is left.
            self._ways = self._ways[end][None] if end < values else np.zeros_like(self._ways[:1])
        self.totals = self._ways.sum(axis=0)

    @override
    def paths(self, which: Integers, uniform: Uniform) -> Integers:
        """A path drawn evenly in each of the bands ``which`` (T,), as values after each cell: (T, U)."""
        bands, trial = self._bands, np.arange(len(which))
        paths = np.empty((bands.cells, len(which)), dtype=np.int64)
        value = np.full(len(which), bands.points)
        if bands.free_end:
            ends = np.cumsum(self._ways[:, which], axis=0)
            value = (ends <= uniform(ends[-1])).sum(axis=0).astype(np.int64) + self._low[-1]
        paths[-1] = value
        for cell in range(bands.cells - 1, 0, -1):
            ways = self._stored_ways[cell][:, which]
            # The value before is at most this one, with a chance in proportion to the ways that lead to it.
            last = np.minimum(value - self._low[cell], len(ways) - 1)
            value = (ways <= uniform(ways[last, trial])).sum(axis=0).astype(np.int64) + self._low[cell]
            paths[cell - 1] = value
        return paths.T
