"""The hierarchy: its nodes, its branches, its exact law, and how it stands beside other trees and the windows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import Intervals, Neighbours, Number, Problem, Thresholds
from dpcore.core import HistogramState
from dpcore.mechanisms.ranges.hierarchy import Hierarchy, best_branches, tree
from dpcore.mechanisms.ranges.nodes import levels_of
from dpcore.mechanisms.ranges.windows import Windows, WindowsRelease
from dpcore.randomness import Sampler
from tests.kit.contract import check_privacy


@pytest.mark.parametrize(("cells", "branches"), [(1, 2), (2, 2), (5, 2), (8, 2), (9, 3), (10, 3), (64, 4), (5000, 16)])
def test_nodes_are_those_of_a_tree(cells: int, branches: int) -> None:
    """Every node above the cells but the root, with weight 1: by brute force."""
    nodes, width = [], branches
    while width < cells:
        nodes += [range(first, min(first + width, cells)) for first in range(0, cells, width)]
        width *= branches
    plan = tree(cells, branches=branches)
    windows = plan.windows if isinstance(plan.windows, np.ndarray) else plan.windows.toarray()
    assert (plan.own == 1).all()
    assert [set(np.flatnonzero(row)) for row in windows] == [set(node) for node in nodes]
    assert windows.max(initial=1) == 1 and plan.steps == levels_of(cells, branches=branches)


def test_branches_are_the_best_by_the_papers_equation() -> None:
    for cells in (2, 10, 300):
        levels = {b: math.ceil(round(math.log(cells, b), 9)) for b in range(2, max(3, cells + 1))}
        least = min(levels, key=lambda b: (b - 1) * levels[b] ** 3 - 2 * (b + 1) * levels[b] ** 2 / 3)
        assert best_branches(cells) == least


class Louder(Hierarchy):
    """The positive control: noise for a tree of one level."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> WindowsRelease:
        levels = self.plan(state.problem).steps
        return Hierarchy(epsilon=levels * self.epsilon, branches=self.branches).run(state, sampler, trials)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_exact_law_keeps_the_guarantee_where_there_are_nodes(neighbours: Neighbours) -> None:
    domain = Number(bins=3)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=2, neighbours=neighbours)
    assert len(tree(3, branches=2).windows) == 2
    check_privacy(Hierarchy(epsilon=1.0, branches=2), problem)
    with pytest.raises(AssertionError, match="exact delta"):
        check_privacy(Louder(epsilon=1.0, branches=2), problem)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Thresholds, Intervals])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_it_errs_more_than_windows_and_less_than_two_branches(
    kind: type[Thresholds | Intervals], neighbours: Neighbours
) -> None:
    domain = Number(bits=10)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=10_000, neighbours=neighbours)
    batch = problem.queries.batch(500)
    windows, best, two = (
        mechanism.variance(problem, batch).mean() for mechanism in (Windows(), Hierarchy(), Hierarchy(branches=2))
    )
    assert 1.05 * windows < best < 0.8 * two


@pytest.mark.parametrize(("cells", "branches", "used"), [(4096, 2, 2), (4097, 2, 16), (4097, 16, 16), (4097, 17, 17)])
def test_a_node_has_sixteen_branches_or_more_on_many_cells(cells: int, branches: int, used: int) -> None:
    domain = Number(bins=cells)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=100, neighbours=Neighbours.REPLACE_ONE)
    assert Hierarchy(branches=branches).used(problem) == used
    sentence = "0 and 1: the number from the authors' formula for ranges. At least 16 on more than 4,096 cells."
    assert sentence in Hierarchy.parameters()["branches"].help
