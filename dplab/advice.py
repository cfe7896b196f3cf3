"""Which mechanism to take where nobody has looked at the data: a rule of public numbers, so that it costs nothing.

For prefixes and ranges of a line: private tree and windows where there are few rows for the cells, else what measures
the same of all data with the least error. The tree pays while its stretches are far fewer than the cells; from about
forty rows a cell, each worth ε, they are not. A replaced row needs twice the noise, so twice the rows. Windows err less
than a hierarchy wherever noise is wider than a row; where it is narrower whole numbers decide, and both errors are
known beforehand. A slack δ is no reason to choose otherwise: Gaussian noise errs less than windows only where there are
few rows for the cells, and there the tree errs less than both, or hardly more. For whatever else is asked, noise on
every cell. What the rule loses against the best mechanism for each data set is measured by `python -m benchmarks
regret`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpcore.core import Mechanism, Problem
from dpcore.data.domains import Line
from dplab.solve import Need
from dpcore.mechanisms import entry, serving
from dpcore.mechanisms.ranges.windows import Measured
from dpcore.queries.ranges import Intervals, Thresholds

ENOUGH = 40
"""Rows a cell, times ε and over what a neighbour moves, up to which the tree is taken."""
TREE, WINDOWS, HIERARCHY, IDENTITY = "tree-windows", "windows", "hierarchy", "identity"
SHOWN = 200
"""Queries over which two errors are compared."""


def usual(problem: Problem, *, epsilon: float) -> str:
    """The key of the entry to take, of those with a guarantee of ε alone.

    >>> from dpcore import Neighbours
    >>> asked = Intervals(domain=Line(bits=8))
    >>> [usual(Problem(domain=asked.domain, queries=asked, n=20_000, neighbours=Neighbours.REPLACE_ONE), epsilon=loss)
    ...  for loss in (1.0, 1.1, 10.0)]
    ['tree-windows', 'windows', 'hierarchy']
    """
    domain, moved = problem.domain, sum(problem.neighbours.histogram_shift)
    if isinstance(domain, Line) and isinstance(problem.queries, Thresholds | Intervals):
        if epsilon <= moved:
            return TREE if epsilon * problem.n <= ENOUGH * moved * domain.ordered else WINDOWS
        return _less_wrong(problem, epsilon)
    keys = [found.key for found in serving(problem.queries)]
    return IDENTITY if IDENTITY in keys else keys[0]


def for_target(problem: Problem, needs: Sequence[Need], *, epsilon: float) -> str:
    """The rule at the loss that a target takes: the least that one of its choices with one law on all data needs.

    Args:
        problem: what is asked.
        needs: of each entry, for the target.
        epsilon: where none of those reaches it.
    """
    known = [need.least for need in needs if need.key in (WINDOWS, HIERARCHY, IDENTITY)]
    least = min(known, default=math.inf)
    return usual(problem, epsilon=least if math.isfinite(least) else epsilon)


def _less_wrong(problem: Problem, epsilon: float) -> str:
    """Of those with one law on all data the one with the smaller mean variance."""
    return min((WINDOWS, HIERARCHY), key=lambda key: _mean_variance(entry(key).make(epsilon=epsilon), problem))


def _mean_variance(mechanism: Mechanism, problem: Problem) -> float:
    assert isinstance(mechanism, Measured)
    return float(mechanism.variance(problem, problem.queries.batch(SHOWN)).mean())
