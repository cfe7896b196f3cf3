"""Hierarchy (Hb): count every cell, and every node of a tree of b branches above them, and fit them by least squares.

A common baseline for ranges. Searches for strategies are older (Li and others 2010); Hb needs no search. A long
range is made of a few wide nodes, so that little noise adds up; but each level takes its share of ε. The number of
branches is chosen by the number of cells alone, by the authors' approximation of the mean variance over all ranges.

Why it is private: one row is in one node of each of h levels, the cells among them. So a row that comes or goes moves
all counts together by h, one that is replaced by at most 2h; discrete Laplace noise of scale h/ε or 2h/ε hides that.
The tree has no root: where n is public it is known for nothing. Least squares is post-processing.

Notation: b, branches of a node; h, levels of the tree; S = h, what the weights of a cell add up to; X, M as for the
windows, of which this is the case that all weights are 1.

References:
    Qardaji, Yang and Li (2013), section 4; Hay, Rastogi, Miklau and Suciu (2010); Li, Hay, Rastogi, Miklau and McGregor
    (2010) for searched strategies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import DomainType, Entry, Problem, param
from dpcore.mechanisms.ranges.nodes import levels_of, nodes
from dpcore.mechanisms.ranges.strategy import MAX_DENSE, Strategy
from dpcore.mechanisms.ranges.windows import StrategyMechanism
from dpcore.queries.ranges import Intervals, Thresholds

MAX_BRANCHES = 1024
MIN_BRANCHES_ON_MANY = 16
"""Branches on more than MAX_DENSE cells, at least: a worst query is looked for among as many numbers as nodes."""


def best_branches(cells: int) -> int:
    """Return the number of branches with the least mean variance over all ranges, by the authors' equation 3.

    >>> [best_branches(cells) for cells in (2, 64, 1024, 65536)]
    [2, 64, 32, 16]
    """
    least = MIN_BRANCHES_ON_MANY if cells > MAX_DENSE else 2

    def variance(branches: int) -> float:
        levels = levels_of(cells, branches=branches)
        return (branches - 1) * levels**3 - 2 * (branches + 1) * levels**2 / 3

    return min(range(least, max(least, min(cells, MAX_BRANCHES)) + 1), key=variance)


@lru_cache(maxsize=32)
def tree(cells: int, *, branches: int) -> Strategy:
    """Every cell and every node above it with weight 1; kept: sizes alone. A node of one cell is that cell again."""
    above, levels = nodes(cells, branches=branches), levels_of(cells, branches=branches)
    return Strategy(
        own=np.ones(cells, dtype=np.int64), windows=above if cells > MAX_DENSE else above.toarray(), steps=levels
    )


@dataclass(frozen=True, kw_only=True)
class Hierarchy(StrategyMechanism):
    """All nodes of a tree with discrete Laplace noise, estimated by least squares."""

    branches: int = param(
        0, 0, MAX_BRANCHES, label="Branches of a node", symbol="b", stops=(0, 2, 4, 8, 16, 32, 64),
        help="Few branches give many levels, each with a small part of ε. Many branches give long sums on a "
             "level. 0 and 1: the number from the authors' formula for ranges. At least 16 on more than 4,096 "
             "cells.",
    )  # fmt: skip

    def used(self, problem: Problem) -> int:
        """Return the number of branches used, b."""
        cells = problem.domain.ordered
        if self.branches < 2:
            return best_branches(cells)
        return max(self.branches, MIN_BRANCHES_ON_MANY) if cells > MAX_DENSE else self.branches

    @override
    def plan(self, problem: Problem) -> Strategy:
        """The tree on the problem's cells."""
        return tree(problem.domain.ordered, branches=self.used(problem))

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: as for windows, without the search for weights."""
        cells = problem.domain.ordered
        nodes = math.ceil(cells / (self.used(problem) - 1))
        if cells > MAX_DENSE:
            return 1e-4 * cells, 4e-7 * cells
        return 1e-8 * cells * (cells + nodes), 3e-10 * cells * (64 + nodes)


ENTRIES = (
    Entry(
        key="hierarchy",
        mechanism=Hierarchy,
        title="Hierarchy (Hb)",
        story="Counts cells and the nodes of a tree above them, then fits them. A common baseline for ranges: "
        "its error is the same on all data and known in advance.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals),
        references=("Qardaji, Yang and Li (2013)", "Hay, Rastogi, Miklau and Suciu (2010)"),
    ),
)
