"""Losses between halves of a table: exact, by brute force over all small databases and outputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import Neighbours, Number, Preview, Problem, Thresholds, entry
from dpcore.core import ParameterError, PointsRelease
from dpcore.limits.bounds.net_samples import max_extent_difference
from dplab.limits.split_samples import MAX_CELLS, coarse, halves_loss, split_losses
from dplab.measure import finish
from tests.kit.problems import dataset_of

ROWS = np.random.default_rng(2).integers(0, 5, 40)


def law(half: np.ndarray, *, ordered: bool, points: int, epsilon: float) -> np.ndarray:
    """Chance of each database of so many points, from the formula of the mechanism."""
    n, chances = len(half), []
    truth = np.bincount(half, minlength=5) / n
    for database in itertools.combinations_with_replacement(range(5), points):
        gap = truth - np.bincount(database, minlength=5) / points
        worst = np.abs(np.cumsum(gap) if ordered else gap).max()
        chances.append(math.exp(-epsilon * n / 2 * worst))
    return np.array(chances) / sum(chances)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("points", [1, 3])
def test_losses_are_those_of_the_formula_over_all_outputs(ordered: bool, points: int) -> None:
    found = finish(split_losses(ROWS, cells=5, ordered=ordered, points=points, epsilon=0.4, splits=6, seed=9))
    generator = np.random.Generator(np.random.SFC64(9))
    for loss, guess in zip(found.losses, found.guesses, strict=True):
        order = generator.permutation(40)
        one, other = (law(ROWS[half], ordered=ordered, points=points, epsilon=0.4) for half in (order[:20], order[20:]))
        assert loss == pytest.approx(np.abs(np.log(one / other)).max())
        assert guess == pytest.approx(0.5 + np.abs(one - other).sum() / 4)
    assert found.rows == 20 and found.quantile(0.2) == np.sort(found.losses)[4]


def test_the_loss_is_at_least_the_closed_bound_of_the_lesson() -> None:
    """Half the sum of both maxima, where each row has a cell of its own."""
    records = np.arange(32)
    found = finish(split_losses(records, cells=32, ordered=True, points=2, epsilon=0.2, splits=5, seed=3))
    generator = np.random.Generator(np.random.SFC64(3))
    for loss in found.losses:
        order = generator.permutation(32)
        one, other = (np.bincount(half, minlength=32) for half in (order[:16], order[16:]))
        both = max_extent_difference(one, other, points=2) + max_extent_difference(other, one, points=2)
        bound = 0.2 / 4 * both / 2
        assert bound - 1e-9 <= loss <= 4 * bound


def test_a_guess_is_right_as_often_as_it_is_told() -> None:
    """Releases of the mechanism itself on two halves: the likelier half is named, and counted."""
    line = Number(bins=5)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=20, neighbours=Neighbours.REPLACE_ONE)
    halves = np.sort(ROWS)[:20], np.sort(ROWS)[20:]
    laws = [law(half, ordered=True, points=2, epsilon=0.2) for half in halves]
    told = halves_loss(*(np.log(each) for each in laws))[1]
    databases = list(itertools.combinations_with_replacement(range(5), 2))
    right = 0
    for which, half in enumerate(halves):
        mechanism = entry("net").make(epsilon=0.2, points=2)
        release = mechanism.run(mechanism.prepare(dataset_of(problem, half), problem), Preview(5), 20_000)
        assert isinstance(release, PointsRelease)
        for database in release.points.tolist():
            place = databases.index(tuple(database))
            right += (laws[1][place] > laws[0][place]) == which
    assert right / 40_000 == pytest.approx(told, abs=0.01) and told > 0.6


def test_cells_are_merged_in_order_and_sizes_are_limits() -> None:
    places, groups = coarse(np.arange(1024), cells=1024)
    assert groups == MAX_CELLS and (np.bincount(places) == 32).all() and (np.diff(places) >= 0).all()
    few, groups = coarse(np.arange(5), cells=5)
    assert groups == 5 and few.tolist() == [0, 1, 2, 3, 4]
    for values in ({"points": 4}, {"splits": 201}, {"epsilon": 0.0}, {"splits": 0}):
        settings = {"cells": 5, "ordered": True, "points": 2, "epsilon": 0.1, "splits": 2, "seed": 1} | values
        with pytest.raises(ParameterError):
            finish(split_losses(ROWS, **settings))
    with pytest.raises(ParameterError):
        finish(split_losses(ROWS[:1], cells=5, ordered=True, points=1, epsilon=0.1, splits=1, seed=1))
