"""Fitted tables moved until those that share attributes agree on them: post-processing, at no cost in ε.

Three tables of two attributes may be the margins of no table of three, though each pair of them agrees. So the margins
are moved to the mean of the larger tables' sums, then to agree with each other on what they share in turn,
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
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.shape_groups import Shape, ShapeGroups, Stacks, cells, shape_groups_of

NOTHING = 1e-100
"""Sums below are no rows: dividing by them would overflow."""
OVERSHOOT = 1.6
"""Factor of the step of margins towards the mean of the tables' sums."""
SWEEPS = 4
"""Times the tables are scaled to all their margins in a round: with fewer, margins move too soon."""
ROUNDS = 200
"""Maximal number of rounds."""
MAX_CACHED = 1 << 22
"""Cells times axes up to which the lists of sums are cached for the next release: 32 MB."""
WORK = 1 << 27
"""Maximal cells times axes in all rounds together: where there are very many tables, they agree less closely."""
ROW_TOLERANCE = 0.5
"""Rows by which two tables' shared margins may still differ."""
NOISE_TOLERANCE = 0.01
"""The same tolerance as a share of the least noise deviation in such a margin's cells; the larger one counts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AxisSums:
    """Index of the sums over one axis, for all tables of one number of attributes.

    Attributes:
        sums: the number of the sum to which each cell adds, (cells,).
        targets: the cell of the tables of one attribute fewer that each sum is, (sums,).
        lengths: how many cells each sum adds up, (sums,).
    """

    sums: Integers
    targets: Integers
    lengths: Integers

    def summed(self, tables: Floats) -> Floats:
        """Return the sums of tables (cells,) over this axis, (sums,)."""
        totals: NDArray[Any] = np.bincount(self.sums, weights=tables, minlength=len(self.targets))
        return totals


class Level:
    """All tables of one number of attributes, end to end in a vector."""

    def __init__(self, groups: ShapeGroups, *, order: int, below: Level | None = None) -> None:
        self.groups = [group for shape, group in groups.groups.items() if len(shape) == order]
        ends = np.cumsum([0] + [len(group.sets) * cells(group.shape) for group in self.groups]).tolist()
        self.starts: dict[Shape, int] = {group.shape: end for group, end in zip(self.groups, ends[:-1], strict=True)}
        self.below, self.size = below, int(ends[-1])
        self.around = len(groups.cliques.sizes) - order + 1  # tables of this level that hold one of the level below
        self.axes = tuple(self._axis(groups, axis, below) for axis in range(order)) if below else ()

    def _axis(self, groups: ShapeGroups, axis: int, below: Level) -> AxisSums:
        sums, targets, lengths, first = [], [], [], 0
        for group in self.groups:
            shape = group.shape
            smaller, places = groups.inside(group, tuple(a for a in range(len(shape)) if a != axis))
            target = below.starts[smaller] + places[:, None] * cells(smaller) + np.arange(cells(smaller))
            numbers = np.expand_dims(first + np.arange(target.size).reshape(-1, *smaller), axis + 1)
            sums.append(np.broadcast_to(numbers, (len(places), *shape)).reshape(-1))
            targets.append(target.reshape(-1))
            lengths.append(np.full(target.size, shape[axis]))
            first += target.size
        return AxisSums(sums=np.concatenate(sums), targets=np.concatenate(targets), lengths=np.concatenate(lengths))

    def flat(self, stacks: Stacks) -> Floats:
        """Return tables by shape, end to end."""
        return np.concatenate([stacks[shape].reshape(-1) for shape in self.starts])

    def stacked(self, tables: Floats) -> Stacks:
        """Return tables end to end, by shape."""
        stacks = {}
        for group in self.groups:
            start = self.starts[group.shape]
            stop = start + len(group.sets) * cells(group.shape)
            stacks[group.shape] = tables[start:stop].reshape(-1, *group.shape)
        return stacks

    def means(self, tables: Floats, margins: Floats) -> tuple[Floats, float]:
        """Return the level below as means of sums of these tables, and the largest difference from ``margins``."""
        assert self.below is not None
        total, difference = np.zeros(self.below.size), 0.0
        for axis in self.axes:
            sums = axis.summed(tables)
            difference = max(difference, float(np.abs(sums - margins[axis.targets]).max()))
            total += np.bincount(axis.targets, weights=sums, minlength=self.below.size)
        return total / self.around, difference

    def scaled(self, tables: Floats, margins: Floats) -> Floats:
        """Return tables scaled to one margin after the other (iterative proportional fitting)."""
        for _ in range(SWEEPS):
            for axis in self.axes:
                factors = margins[axis.targets] / np.maximum(axis.summed(tables), NOTHING)
                tables = tables * factors[axis.sums]
        return tables

    def reconciled(self, tables: Floats, *, total: Floats) -> Floats:
        """Return tables with the same sums over what they share: each moved by as much in all cells of a sum.

        Their shared tables are the means of their sums, reconciled first. So moving the sums over one axis leaves those
        over another unchanged.
        """
        if self.below is None:
            return total
        shared = self.below.reconciled(self.means(tables, np.zeros(self.below.size))[0], total=total)
        for axis in self.axes:
            missing = (shared[axis.targets] - axis.summed(tables)) / axis.lengths
            tables = tables + missing[axis.sums]
        return tables


def levels_of(cliques: CliqueTypes) -> tuple[Level, ...]:
    """Return the tables of no attribute, of one, ..., of k."""
    groups = shape_groups_of(cliques)
    levels = [Level(groups, order=0)]
    for order in range(1, cliques.ways + 1):
        levels.append(Level(groups, order=order, below=levels[-1]))
    return tuple(levels)


_cached_levels = lru_cache(maxsize=4)(levels_of)


def reconciled(plan: ResidualPlan, fitted: Stacks) -> Stacks:
    """Return the tables of k attributes moved until they agree, and smaller ones as means of their sums."""
    ways = plan.cliques.ways
    places = ways * sum(tables.size for shape, tables in fitted.items() if len(shape) == ways)
    rounds = min(ROUNDS, WORK // (SWEEPS * places))
    if ways < 2 or rounds < 1:
        return fitted
    levels, total = (_cached_levels if places <= MAX_CACHED else levels_of)(plan.cliques), fitted[()]
    top, below = levels[-1], levels[-2]
    tables, margins = top.flat(fitted), below.flat(fitted)
    noise = min(plan.cell_sigma(group.sets[0]) for group in below.groups)
    for _ in range(rounds):
        means, difference = top.means(tables, margins)
        if difference <= max(ROW_TOLERANCE, NOISE_TOLERANCE * noise):
            break
        moved = below.reconciled(margins + OVERSHOOT * (means - margins), total=total)
        margins = np.maximum(moved, 0.0)
        tables = top.scaled(tables, margins)
    fitted = fitted | top.stacked(tables)
    for level in levels[:1:-1]:
        assert level.below is not None
        tables, _ = level.means(tables, level.below.flat(fitted))
        fitted = fitted | level.below.stacked(tables)
    return fitted
