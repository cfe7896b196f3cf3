"""Which mechanism to take where nobody has looked at the data: a rule of public numbers, so that it costs nothing.

For prefixes and ranges of a line: private tree and windows where there are few rows for the cells, windows where there
are many. The tree pays once its stretches have fewer cells than the line; with more than about ten rows a cell, each
worth ε, there are not enough fewer to pay for it. A replaced row needs twice the noise, so twice the rows. What this
loses against the best mechanism for each data set is measured by `python -m benchmarks regret`. For whatever else,
noise on every cell.
"""

from __future__ import annotations

from dpcore.core import Problem
from dpcore.data.domains import Line
from dpcore.mechanisms import serving
from dpcore.queries.ranges import Intervals, Thresholds

ENOUGH = 10
"""Rows a cell, times ε and over what a neighbour moves, from which windows alone are taken."""
TREE, WINDOWS, IDENTITY = "tree-windows", "windows", "identity"


def usual(problem: Problem, *, epsilon: float) -> str:
    """The key of the entry to take, of those with a guarantee of ε alone.

    >>> from dpcore import Neighbours
    >>> asked = Intervals(domain=Line(bits=10))
    >>> [usual(Problem(domain=asked.domain, queries=asked, n=n, neighbours=Neighbours.REPLACE_ONE), epsilon=1.0)
    ...  for n in (20_000, 21_000)]
    ['tree-windows', 'windows']
    """
    domain, moved = problem.domain, sum(problem.neighbours.histogram_shift)
    if isinstance(domain, Line) and isinstance(problem.queries, Thresholds | Intervals):
        return TREE if epsilon * problem.n <= ENOUGH * moved * domain.ordered else WINDOWS
    keys = [entry.key for entry in serving(problem.queries)]
    return IDENTITY if IDENTITY in keys else keys[0]
