"""Choose a mechanism from public numbers alone, without access to the data: the choice costs no privacy.

For prefixes and ranges of a line: private tree and windows where there are few rows for the cells, else what measures
the same of all data with the least error. The tree pays while its stretches are far fewer than the cells; from about
forty rows a cell, each worth ε, they are not. A replaced row needs twice the noise, so twice the rows. Where noise is
at least one row wide, no hierarchy and no identity has a smaller mean error than the windows, which are the cells alone
where that is better; where it is narrower the rounding to whole numbers decides, and the errors are compared. δ is no
reason to choose otherwise: Gaussian noise has a smaller error than windows only where there are few rows for the cells,
and there the tree has a smaller error than both, or hardly a larger one. For all other queries, noise on every cell.
`python -m benchmarks regret` measures what the rule loses against the best mechanism for each data set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpcore.core import Problem
from dpcore.data.columns import is_number
from dpcore.mechanisms import entry, serving
from dpcore.mechanisms.ranges.strategy import MAX_FREE
from dpcore.mechanisms.ranges.windows import StrategyMechanism
from dpcore.queries.ranges import Intervals, Thresholds
from dpcore.randomness.laws import laplace_variance
from dplab.solve import Need

ENOUGH = 40
"""Largest value of rows per cell, times ε, over the histogram's sensitivity, at which the tree is recommended."""
MIN_TREE_CELLS = 32
"""Smallest number of cells for the tree: on fewer cells it mostly has a larger error than windows."""
TREE, WINDOWS, HIERARCHY, IDENTITY = "tree-windows", "windows", "hierarchy", "identity"
SHOWN = 200
"""Number of queries over which errors are compared."""


def recommended_entry(problem: Problem, *, epsilon: float) -> str:
    """Return the key of the recommended entry, among those with pure ε-differential privacy.

    >>> from dpcore import Neighbours, Number
    >>> queries = Intervals(domain=Number(bits=9))
    >>> problem = Problem(domain=queries.domain, queries=queries, n=20_000, neighbours=Neighbours.REPLACE_ONE)
    >>> [recommended_entry(problem, epsilon=epsilon) for epsilon in (1.0, 2.1, 8.0, 15.0)]
    ['tree-windows', 'windows', 'hierarchy', 'identity']
    """
    domain, moved = problem.domain, sum(problem.neighbours.histogram_shift)
    if is_number(domain) and isinstance(problem.queries, Thresholds | Intervals):
        tree_pays = domain.ordered >= MIN_TREE_CELLS and epsilon * problem.n <= ENOUGH * moved * domain.ordered
        if epsilon <= moved:
            return TREE if tree_pays else WINDOWS
        return _least_variance(problem, epsilon)
    keys = [each.key for each in serving(problem.queries)]
    return IDENTITY if IDENTITY in keys else keys[0]


def recommended_for_target(problem: Problem, needs: Sequence[Need], *, epsilon: float) -> str:
    """Return the recommended entry at the smallest ε that meets the target with data-independent noise.

    Args:
        problem: the public problem.
        needs: ε that each entry needs for the target.
        epsilon: ε to use where no such entry meets the target.
    """
    known = [need.least for need in needs if need.key in (WINDOWS, HIERARCHY, IDENTITY)]
    least = min(known, default=math.inf)
    return recommended_entry(problem, epsilon=least if math.isfinite(least) else epsilon)


def _least_variance(problem: Problem, epsilon: float) -> str:
    """Return the key with the smallest mean variance among entries with data-independent error."""
    keys = (WINDOWS, HIERARCHY) if problem.domain.ordered <= MAX_FREE else (WINDOWS, HIERARCHY, IDENTITY)
    return min(keys, key=lambda key: _mean_variance(key, problem, epsilon))


def _mean_variance(key: str, problem: Problem, epsilon: float) -> float:
    """Return the mean variance over SHOWN queries, in rows²."""
    queries = problem.queries.batch(SHOWN)
    mechanism = entry(key).make(epsilon=epsilon)
    if isinstance(mechanism, StrategyMechanism):
        return float(mechanism.variance(problem, queries).mean())
    assert key == IDENTITY and isinstance(problem.queries, Thresholds | Intervals)
    first, last = problem.queries.ends(queries)
    noise = laplace_variance(sum(problem.neighbours.histogram_shift) / epsilon)
    return float((last - first + 1).mean()) * noise
