"""Fitted tables moved until those that share attributes say the same of them: post-processing, free.

Three tables of two attributes may be the margins of no table of three, though each pair of them agrees. So the margins
are moved to the mean of what the larger tables make of them, then to agree with each other on what they share in turn,
and the larger tables are scaled to them; again, until they agree. Going beyond the mean takes fewer rounds.

All tables of so many attributes lie end to end in one vector, so that a round is a few sums over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats, Integers
from dpcore.mechanisms.tables.kinds import Kinds
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.shelves import Shape, Shelves, Stacks, cells, shelves_of

NOTHING = 1e-100
"""Sums below are no rows: dividing by them would overflow."""
OVERSHOOT = 1.6
"""How far margins are moved towards the mean of what tables make of them."""
SWEEPS = 4
"""Times the tables are scaled to all their margins in a round: with fewer, margins are moved on too soon."""
ROUNDS = 200
"""Most rounds."""
KEPT = 1 << 22
"""Cells times axes up to which the lists of sums are kept for the next release: 32 MB."""
WORK = 1 << 27
"""Most cells times axes in all rounds together: where tables are very many, they agree less closely."""
ROWS_APART = 0.5
"""How far apart, in rows, two tables' shared margins may stay."""
NOISE_APART = 0.01
"""The same, if that is more, as a share of the least deviation of the noise in such a margin's cells."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AxisSums:
    """Which cells of the tables of so many attributes add up to which sum over one axis.

    Attributes:
        sums: the number of the sum to which each cell adds, (cells,).
        targets: the cell of the tables of one attribute fewer that each sum is, (sums,).
        lengths: how many cells each sum adds up, (sums,).
    """

    sums: Integers
    targets: Integers
    lengths: Integers

    def summed(self, tables: Floats) -> Floats:
        """The sums of tables (cells,) over this axis, (sums,)."""
        found: NDArray[Any] = np.bincount(self.sums, weights=tables, minlength=len(self.targets))
        return found


class Level:
    """All tables of so many attributes end to end."""

    def __init__(self, shelves: Shelves, *, order: int, below: Level | None = None) -> None:
        self.shelves = [shelf for shape, shelf in shelves.shelves.items() if len(shape) == order]
        ends = np.cumsum([0] + [len(shelf.sets) * cells(shelf.shape) for shelf in self.shelves]).tolist()
        self.starts: dict[Shape, int] = {shelf.shape: end for shelf, end in zip(self.shelves, ends[:-1], strict=True)}
        self.below, self.size = below, int(ends[-1])
        self.around = len(shelves.kinds.sizes) - order + 1  # tables of this level that hold one of the level below
        self.axes = tuple(self._axis(shelves, axis, below) for axis in range(order)) if below else ()

    def _axis(self, shelves: Shelves, axis: int, below: Level) -> AxisSums:
        sums, targets, lengths, first = [], [], [], 0
        for shelf in self.shelves:
            shape = shelf.shape
            smaller, places = shelves.inside(shelf, tuple(a for a in range(len(shape)) if a != axis))
            target = below.starts[smaller] + places[:, None] * cells(smaller) + np.arange(cells(smaller))
            numbers = np.expand_dims(first + np.arange(target.size).reshape(-1, *smaller), axis + 1)
            sums.append(np.broadcast_to(numbers, (len(places), *shape)).reshape(-1))
            targets.append(target.reshape(-1))
            lengths.append(np.full(target.size, shape[axis]))
            first += target.size
        return AxisSums(sums=np.concatenate(sums), targets=np.concatenate(targets), lengths=np.concatenate(lengths))

    def flat(self, stacks: Stacks) -> Floats:
        """Tables by shape, end to end."""
        return np.concatenate([stacks[shape].reshape(-1) for shape in self.starts])

    def stacked(self, tables: Floats) -> Stacks:
        """Tables end to end, by shape."""
        found = {}
        for shelf in self.shelves:
            start = self.starts[shelf.shape]
            stop = start + len(shelf.sets) * cells(shelf.shape)
            found[shelf.shape] = tables[start:stop].reshape(-1, *shelf.shape)
        return found

    def means(self, tables: Floats, margins: Floats) -> tuple[Floats, float]:
        """The tables of the level below as the mean of what these make of them, and how far one is from ``margins``."""
        assert self.below is not None
        total, apart = np.zeros(self.below.size), 0.0
        for axis in self.axes:
            made = axis.summed(tables)
            apart = max(apart, float(np.abs(made - margins[axis.targets]).max()))
            total += np.bincount(axis.targets, weights=made, minlength=self.below.size)
        return total / self.around, apart

    def scaled(self, tables: Floats, margins: Floats) -> Floats:
        """Tables scaled to one margin after the other (iterative proportional fitting)."""
        for _ in range(SWEEPS):
            for axis in self.axes:
                factors = margins[axis.targets] / np.maximum(axis.summed(tables), NOTHING)
                tables = tables * factors[axis.sums]
        return tables

    def agreeing(self, tables: Floats, *, total: Floats) -> Floats:
        """Tables with the same sums over what they share: each moved by as much in all cells of a sum.

        What they share is the mean of what they say of it, made to agree first. So moving the sums over one axis leaves
        those over another what they were.
        """
        if self.below is None:
            return total
        shared = self.below.agreeing(self.means(tables, np.zeros(self.below.size))[0], total=total)
        for axis in self.axes:
            missing = (shared[axis.targets] - axis.summed(tables)) / axis.lengths
            tables = tables + missing[axis.sums]
        return tables


def levels_of(kinds: Kinds) -> tuple[Level, ...]:
    """The tables of no attribute, of one, ..., of k."""
    shelves = shelves_of(kinds)
    levels = [Level(shelves, order=0)]
    for order in range(1, kinds.ways + 1):
        levels.append(Level(shelves, order=order, below=levels[-1]))
    return tuple(levels)


_kept_levels = lru_cache(maxsize=4)(levels_of)


def agreeing(plan: ResidualPlan, fitted: Stacks) -> Stacks:
    """The tables of k attributes moved until they agree, and smaller ones as the mean of what these make of them."""
    ways = plan.kinds.ways
    places = ways * sum(tables.size for shape, tables in fitted.items() if len(shape) == ways)
    rounds = min(ROUNDS, WORK // (SWEEPS * places))
    if ways < 2 or rounds < 1:
        return fitted
    levels, total = (_kept_levels if places <= KEPT else levels_of)(plan.kinds), fitted[()]
    top, below = levels[-1], levels[-2]
    tables, margins = top.flat(fitted), below.flat(fitted)
    noise = min(plan.cell_sigma(shelf.sets[0]) for shelf in below.shelves)
    for _ in range(rounds):
        means, apart = top.means(tables, margins)
        if apart <= max(ROWS_APART, NOISE_APART * noise):
            break
        moved = below.agreeing(margins + OVERSHOOT * (means - margins), total=total)
        margins = np.maximum(moved, 0.0)
        tables = top.scaled(tables, margins)
    fitted = fitted | top.stacked(tables)
    for level in levels[:1:-1]:
        assert level.below is not None
        tables, _ = level.means(tables, level.below.flat(fitted))
        fitted = fitted | level.below.stacked(tables)
    return fitted
