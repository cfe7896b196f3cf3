"""A half of a class's shattered points is found without privacy, and no more of it with privacy than is possible."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import Neighbours
from dpcore.core import finish
from dpcore.limits.attacks.shattering import vc_dimension
from dpcore.limits.attacks.vc import recovery_ceiling
from dplab.limits.own_class import LOSSES, RUNS, attack_class, hidden_points, packing_wall


def subsets(points: int) -> np.ndarray:
    return (np.arange(1 << points)[:, None] >> np.arange(points) & 1).astype(np.float64)


@pytest.mark.parametrize("points", [2, 4, 5])
def test_both_attacks_find_the_half_where_epsilon_is_large_and_no_more_than_is_possible_where_it_is_small(
    points: int,
) -> None:
    weights = subsets(points)
    shattering = vc_dimension(weights)
    assert hidden_points(shattering) == points // 2 * 2
    found = finish(attack_class(weights, shattering, seed=1))
    for shares in (found.brute_force, found.program):
        assert shares[-1].mean() > 0.95
        for loss, share in zip(LOSSES, shares, strict=True):
            most = recovery_ceiling(epsilon=loss, repeats=1, neighbours=Neighbours.REPLACE_ONE)
            assert share.mean() <= most + 4 * 0.5 / math.sqrt(RUNS)
    # The control: answers with a hundredth of their noise, said to be private at ε = 1.
    assert (
        found.brute_force[-1].mean() > recovery_ceiling(epsilon=1.0, repeats=1, neighbours=Neighbours.REPLACE_ONE) + 0.2
    )


def test_the_packing_wall_of_a_class_falls_with_epsilon_and_needs_two_points_apart() -> None:
    values = [packing_wall(subsets(4), n=50, epsilon=epsilon, beta=0.05) for epsilon in (0.05, 0.5)]
    low, high = (wall.value for wall in values if wall is not None)
    assert 0 < high < low <= 0.5
    assert packing_wall(np.ones((3, 4)), n=50, epsilon=0.1, beta=0.05) is None
