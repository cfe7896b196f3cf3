"""What a neighbour moves, against brute force; optimal noise; exact laws of what is added."""

from __future__ import annotations

import dataclasses
from itertools import product
from math import comb

import numpy as np
import pytest

from dpcore import Neighbours, ParameterError
from dpcore.core import Floats, Integers
from dpcore.mechanisms.marginals.noise import (
    gaussian_levels,
    gaussian_variance,
    joint_factor,
    laplace_levels,
    least_sigma,
    moved,
)
from dpcore.privacy.composition import gaussian_sigma
from dpcore.queries.attribute_sets import all_sets
from dpcore.randomness.laws import gaussian_masses, laplace_mass, laplace_variance


def held(row: Integers, *, level: int, signed: bool) -> Integers:
    """The counts of a level on this one row: 1 where it has all of a set, or all literals of a signed set."""
    values = row[all_sets(len(row), size=level)]
    patterns = (values << np.arange(level)).sum(axis=1)
    cells = np.asarray(patterns[:, None] == np.arange(1 << level), dtype=np.int64)
    return cells.reshape(-1) if signed else cells[:, -1]


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("attributes", [1, 2, 3, 4])
def test_what_a_neighbour_moves(attributes: int, signed: bool, neighbours: Neighbours) -> None:
    """Over all pairs of rows, level by level and for any weights of the levels together; L1 and squared L2."""
    rows = [np.array(row) for row in product((0, 1), repeat=attributes)]
    levels = range(1, attributes + 1)
    changes = []
    for one in rows:
        others = rows if neighbours is Neighbours.REPLACE_ONE else [None]
        for other in others:
            distances = []
            for level in levels:
                mine = held(one, level=level, signed=signed)
                theirs = 0 * mine if other is None else held(other, level=level, signed=signed)
                difference = np.abs(mine - theirs)
                assert difference.max() <= 1, "so that L1 and squared L2 are one number"
                distances.append(int(difference.sum()))
            changes.append(distances)
    shifts = [moved(attributes=attributes, level=level, signed=signed, neighbours=neighbours) for level in levels]
    assert np.array(changes).max(axis=0).tolist() == shifts
    assert shifts in changes, "one pair reaches all levels at once, so any weighted sum is tight too"


def test_the_best_split_of_a_laplace_budget(seed: int) -> None:
    """Shares add up to epsilon; moving budget between levels only adds variance; the closed form of the deviation."""
    moves, weights = [16, 120, 560], np.array([2.0, 0.7, 1.9])
    levels = laplace_levels(levels=(1, 2, 3), moves=moves, weights=weights, epsilon=0.8)
    shares = np.array([level.epsilon for level in levels])
    assert shares.sum() == pytest.approx(0.8, rel=1e-12)
    np.testing.assert_allclose([level.scale for level in levels], moves / shares)

    def variance(split: Floats) -> float:
        return float((weights * 2 * (moves / split) ** 2).sum())

    closed = np.sqrt(2) / 0.8 * ((np.array(moves) ** (2 / 3)) * np.cbrt(weights)).sum() ** 1.5
    assert np.sqrt(variance(shares)) == pytest.approx(closed)
    random = np.random.Generator(np.random.SFC64(seed))
    for _ in range(200):
        other = shares * np.exp(random.normal(0, 0.2, 3))
        assert variance(other * 0.8 / other.sum()) >= variance(shares)


def test_the_best_split_of_a_gaussian_budget(seed: int) -> None:
    moves, weights = np.array([16, 120, 560]), np.array([2.0, 0.7, 1.9])
    levels = gaussian_levels(
        levels=(1, 2, 3), moves=moves.tolist(), counts=moves.tolist(), weights=weights, epsilon=1.0, delta=1e-6
    )
    squares = np.array([level.scale**2 for level in levels])
    spent = (moves / squares).sum()
    assert 0.99 / least_sigma(epsilon=1.0, delta=1e-6) ** 2 < spent <= 1 / least_sigma(epsilon=1.0, delta=1e-6) ** 2
    assert np.sqrt((weights * squares).sum()) == pytest.approx(np.sqrt(moves * weights).sum() / np.sqrt(spent))
    random = np.random.Generator(np.random.SFC64(seed))
    for _ in range(200):
        other = squares * np.exp(random.normal(0, 0.2, 3))
        other *= (moves / other).sum() / spent  # spends as much
        assert (weights * other).sum() >= (weights * squares).sum() * (1 - 1e-12)


@pytest.mark.parametrize("scale", [0.2, 1.0, 7.0, 300.0])
def test_variances_are_those_of_discrete_noise(scale: float) -> None:
    z = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    assert laplace_variance(scale) == pytest.approx((z**2 * laplace_mass(z, scale=scale)).sum(), rel=1e-9)
    reach, masses = gaussian_masses(scale)
    exact = (np.arange(-reach, reach + 1) ** 2 * masses).sum()
    assert gaussian_variance(scale) == pytest.approx(exact, rel=1e-9)


def summed(sigma: float, terms: int) -> tuple[Integers, Floats]:
    """The exact law of a sum of so many discrete Gaussian draws."""
    reach, masses = gaussian_masses(sigma)
    limit = min(reach, int(10 * sigma) + 3)
    one = masses[reach - limit : reach + limit + 1]
    law = np.ones(1)
    for _ in range(terms):
        law = np.convolve(law, one)
    return np.arange(-limit * terms, limit * terms + 1), law


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-2), (2.0, 1e-6), (4.0, 1e-5), (12.0, 1e-9)])
def test_the_exact_delta_of_two_levels_is_within_the_promise(epsilon: float, delta: float) -> None:
    """d = 8: 8 and 28 counts moved. The loss is the sum over levels of (S_i + m_i/2)/sigma_i^2, S_i a sum of noise."""

    def exact(factor: float) -> float:
        told = gaussian_levels(
            levels=(1, 2), moves=(8, 28), counts=(8, 28), weights=np.array([1.0, 0.4]), epsilon=epsilon, delta=delta
        )
        levels = [dataclasses.replace(level, scale=factor * level.scale) for level in told]
        (first, one), (second, other) = (summed(level.scale, level.moved) for level in levels)
        loss = np.add.outer(
            (first + levels[0].moved / 2) / levels[0].scale ** 2, (second + levels[1].moved / 2) / levels[1].scale ** 2
        )
        return float((np.outer(one, other) * -np.expm1(np.minimum(epsilon - loss, 0.0))).sum())

    assert 0.1 * delta < exact(1.0) <= delta
    assert exact(0.9) > delta, "the control: a tenth less noise is too little"


def test_discrete_noise_costs_little_more_than_continuous() -> None:
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-9), (1.0, 1e-6), (5.0, 1e-6)):
        unit = least_sigma(epsilon=epsilon, delta=delta)
        one = joint_factor(sigmas=(unit,), moves=(1,), counts=(1,), epsilon=epsilon, delta=delta)
        assert one * unit == pytest.approx(gaussian_sigma(epsilon=epsilon, delta=delta, shift=(1,)), rel=1e-12)
        sigmas = (unit * np.sqrt(2 * 32), unit * np.sqrt(2 * 496))
        both = joint_factor(sigmas=sigmas, moves=(32, 496), counts=(32, 496), epsilon=epsilon, delta=delta)
        assert 1 < both < 1.03
    for epsilon, delta in ((0.0, 1e-6), (1.0, 0.0), (1.0, 1.0)):
        with pytest.raises(ParameterError):
            least_sigma(epsilon=epsilon, delta=delta)


def test_where_negation_is_allowed_few_literals_are_moved() -> None:
    """Not the C(2d, i) sets of 2d columns: a row has one of the two literals of each attribute."""
    shift = moved(attributes=64, level=2, signed=True, neighbours=Neighbours.REPLACE_ONE)
    assert shift == 2 * comb(64, 2) < comb(128, 2)
