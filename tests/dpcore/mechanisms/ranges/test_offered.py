"""The mechanism offered for ranges never has a larger error than a hierarchy or the identity: exact errors."""

from __future__ import annotations

import math

import pytest

from dpcore import Intervals, Neighbours, Number, Problem, Thresholds, entry
from dpcore.core import Integers, Mechanism, Queries
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.ranges.hierarchy import Hierarchy
from dpcore.mechanisms.ranges.mean_error import mean_variance
from dpcore.mechanisms.ranges.strategy import strategy
from dpcore.mechanisms.ranges.windows import StrategyMechanism, Windows
from dplab.advice import recommended_entry

MANY = 10**7
"""Rows at which the offered mechanism has the same error on all data."""
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 15.0)


def queries_of(problem: Problem) -> Integers:
    """All queries of the class; on many cells some thousand of them."""
    return problem.queries.batch(2000)


def mean_over_the_class(mechanism: Mechanism, problem: Problem) -> float:
    """Exact mean variance in rows²; of the identity, the noise of the cells in a query, added up."""
    assert isinstance(problem.queries, Thresholds | Intervals)
    if isinstance(mechanism, StrategyMechanism):
        return float(mechanism.variance(problem, queries_of(problem)).mean())
    assert isinstance(mechanism, IdentityHistogram)
    first, last = problem.queries.ends(queries_of(problem))
    p = math.exp(-mechanism.epsilon / sum(problem.neighbours.histogram_shift))
    return float((last - first + 1).mean()) * 2 * p / (1 - p) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Thresholds, Intervals])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_it_is_never_worse_than_a_hierarchy_or_the_identity(neighbours: Neighbours, kind: type[Queries]) -> None:
    for cells in (*range(2, 41), 64, 80, 100, 300):
        domain = Number(bins=cells)
        problem = Problem(domain=domain, queries=kind(domain=domain), n=MANY, neighbours=neighbours)
        assert cells > 40 or len(queries_of(problem)) == problem.queries.count
        for epsilon in EPSILONS:
            offered = entry(recommended_entry(problem, epsilon=epsilon)).make(epsilon=epsilon)
            trees = (Hierarchy(epsilon=epsilon, branches=branches) for branches in (0, 2, 4, 8))
            others = [mean_over_the_class(each, problem) for each in (*trees, IdentityHistogram(epsilon=epsilon))]
            assert mean_over_the_class(offered, problem) <= min(others) * (1 + 1e-9), (cells, epsilon)
            if epsilon <= sum(neighbours.histogram_shift):  # noise at least one row wide
                assert isinstance(offered, Windows)


@pytest.mark.parametrize(
    ("cells", "prefixes", "known", "best"),
    [
        (6, True, False, 3.5),
        (10, True, False, 5.079),
        (10, False, False, 4.0),
        (12, True, False, 5.612),
        (14, True, False, 6.121),
        (14, True, True, 2.667),
        (16, True, False, 6.613),
        (16, False, False, 6.0),
        (20, True, False, 7.554),
    ],
)
def test_the_search_is_not_left_in_a_local_minimum(cells: int, prefixes: bool, known: bool, best: float) -> None:
    """Mean variances at noise of variance 1; the best of some hundred searches from random weights."""
    plan = strategy(cells, prefixes=prefixes, known=known, steps=1 << 16)
    variance = mean_variance(plan.windows / plan.own, prefixes=prefixes, known=known)[0]
    assert variance <= 1.001 * best
