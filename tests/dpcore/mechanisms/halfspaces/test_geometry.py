"""Nets cover, counts are exact, projections keep what the formula says, the paper's parameters are what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.data.sphere import STEP, Sphere
from dpcore.mechanisms.halfspaces.agreement import agreement
from dpcore.mechanisms.halfspaces.counting import side_counts
from dpcore.mechanisms.halfspaces.directions import SIZES, directions, nearest, reach
from dpcore.mechanisms.halfspaces.printed import printed
from tests.kit.statistics import clopper_pearson

NETS = [(1, 1), (2, 1), (2, 2), (2, 5), (2, 64)]
NETS += [(t, k) for t, sizes in SIZES.items() for k in sizes]


@pytest.mark.slow
@pytest.mark.parametrize(("dimensions", "pairs"), NETS)
def test_a_net_reaches_every_direction(dimensions: int, pairs: int, seed: int) -> None:
    net = directions(dimensions=dimensions, limit=pairs)
    assert net.shape == (pairs, dimensions)
    np.testing.assert_allclose(np.linalg.norm(net, axis=1), 1, atol=2 * STEP)
    np.testing.assert_array_equal(np.rint(net / STEP), net / STEP)
    between = np.abs(net @ net.T - np.eye(pairs) * (1 + STEP))
    assert between.max(initial=0, where=~np.eye(pairs, dtype=bool)) < 1 - 1e-5, "a direction is listed twice"
    points = np.random.default_rng(seed).normal(size=(20_000, dimensions))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    furthest = np.arccos(np.clip(np.abs(points @ net.T).max(axis=1), 0, 1)).max()
    angle = reach(dimensions=dimensions, limit=pairs)
    assert furthest <= angle + 1e-5 + 2 * np.sqrt(STEP) * (dimensions == 1)
    if dimensions > 1:
        assert furthest > 0.9 * angle, "a smaller angle would do"


def test_a_net_has_at_most_so_many_pairs() -> None:
    assert [len(directions(dimensions=3, limit=most)) for most in (1, 3, 5, 6, 20, 512)] == [3, 3, 3, 6, 16, 501]
    assert [len(directions(dimensions=4, limit=most)) for most in (1, 11, 12, 59, 512)] == [4, 4, 12, 24, 60]
    for dimensions, most in ((5, 3), (0, 3), (2, 0)):
        with pytest.raises(ParameterError):
            directions(dimensions=dimensions, limit=most)


def test_the_nearest_by_brute_force(seed: int) -> None:
    net = directions(dimensions=3, limit=6)
    points = np.random.default_rng(seed).normal(size=(200, 3))
    place, sign = nearest(points, net)
    both = np.concatenate([net, -net])
    distances = np.linalg.norm(points[:, None, :] - both[None], axis=2)
    np.testing.assert_array_equal(place + 6 * (sign < 0), distances.argmin(axis=1))
    assert tuple(int(each[0]) for each in nearest(np.zeros((1, 3)), net)) == (0, 1)


@pytest.mark.parametrize("dimensions", [2, 3, 64, 1024])
def test_counts_are_exact_whatever_the_other_rows(dimensions: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    domain = Sphere(dimensions=dimensions)
    rows = domain.checked(np.concatenate([generator.normal(size=(40, dimensions)), np.eye(dimensions)[:20]]))
    # An even number of coordinates of one size adds up to exactly zero under many signs.
    even = np.sign(generator.normal(size=(40, dimensions))) * (np.arange(dimensions) < dimensions - dimensions % 2)
    rows = np.concatenate([rows, domain.checked(even)])
    signs = (2 * generator.integers(0, 2, (5, 3, dimensions)) - 1).astype(np.int8)
    net = directions(dimensions=3, limit=3)
    exact = np.zeros((5, 3), dtype=np.int64)
    steps, sides = (np.rint(each / STEP).astype(object) for each in (rows, net))
    ties = 0
    for matrix in range(5):
        inner = (steps @ signs[matrix].T.astype(object)) @ sides.T
        exact[matrix] = (inner > 0).sum(axis=0)
        ties += int((inner == 0).sum())
    assert ties > 0
    np.testing.assert_array_equal(side_counts(rows, signs, net), exact)
    np.testing.assert_array_equal(sum(side_counts(rows[i : i + 1], signs, net) for i in range(len(rows))), exact)


COSINES = (-0.9, -0.5, 0.0, 0.2, 0.5, 0.8, 0.99)
TIMES = 40_000


def projected_agreements(x: np.ndarray, y: np.ndarray, *, dimensions: int, gaussian: bool, seed: int) -> int:
    """Return the number of TIMES projections in which x is on the positive side of y."""
    generator, count = np.random.default_rng(seed), 0
    for _ in range(10):
        shape = (TIMES // 10, dimensions, len(x))
        matrices = generator.normal(size=shape) if gaussian else 2.0 * generator.integers(0, 2, shape) - 1
        count += int((((matrices @ x) * (matrices @ y)).sum(axis=1) > 0).sum())
    return count


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@pytest.mark.parametrize("gaussian", [True, False], ids=["gaussian", "dense-signs"])
def test_the_formula_agrees_with_projections(dimensions: int, gaussian: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    width = 5 if gaussian else 100
    rejected = 0
    for place, cosine in enumerate(COSINES):
        x, other = generator.normal(size=(2, width))
        x /= np.linalg.norm(x)
        other -= (other @ x) * x
        y = cosine * x + np.sqrt(1 - cosine**2) * other / np.linalg.norm(other)
        agreements = projected_agreements(x, y, dimensions=dimensions, gaussian=gaussian, seed=seed + place)
        low, high = clopper_pearson(agreements, trials=TIMES)
        # Signs agree in the limit of many dimensions; at 100 they are off by a little.
        slack = 0.0 if gaussian else 0.01
        expected = float(agreement(cosine, dimensions=dimensions))
        assert low - slack <= expected <= high + slack, (cosine, agreements / TIMES, expected)
        wrong = float(agreement(cosine, dimensions=dimensions + 1))
        rejected += not low - slack <= wrong <= high + slack
    assert rejected >= 2, "the test does not tell one number of dimensions from the next"


def test_sign_matrices_disagree_for_sparse_vectors(seed: int) -> None:
    x, y = np.array([1.0, 1.0]) / np.sqrt(2), np.array([1.0, 0.0])
    agreements = projected_agreements(x, y, dimensions=1, gaussian=False, seed=seed)
    low, high = clopper_pearson(agreements, trials=TIMES)
    assert low <= 0.5 <= high  # and never on the other side: half of the matrices give an exact tie
    assert float(agreement(np.sqrt(0.5), dimensions=1)) == pytest.approx(0.75)
    assert high < 0.75


def test_the_formula_s_known_values() -> None:
    from scipy.special import fdtrc

    cosines = np.linspace(-0.99, 0.99, 41)
    np.testing.assert_allclose(agreement(cosines, dimensions=1), 1 - np.arccos(cosines) / np.pi, atol=1e-12)
    np.testing.assert_allclose(agreement(cosines, dimensions=2), (1 + cosines) / 2, atol=1e-12)
    for dimensions in (1, 2, 3, 4, 100):
        upper = fdtrc(dimensions, dimensions, (1 - cosines) / (1 + cosines))
        np.testing.assert_allclose(agreement(cosines, dimensions=dimensions), upper, atol=1e-10)


def test_the_printed_parameters() -> None:
    constants = printed(margin=0.5, alpha=0.1, dimensions=10, beta=0.05, epsilon=1.0)
    assert (constants.distortion, constants.lost) == (0.125, 0.0125)
    assert constants.dimensions == 5_609
    assert constants.projections == 99_624
    assert round(constants.log10_directions) == 15_579
    # Two signs of a coordinate: 2^T times as many, which the claim leaves out and the theorem has.
    assert constants.log10_directions_both_signs == pytest.approx(constants.log10_directions + 5_609 * np.log10(2))
    assert constants.log10_counts == pytest.approx(constants.log10_directions + np.log10(99_624))
    # n >= m (8 sqrt(T)/margin)^T/epsilon * ln(2 m (sqrt(T)/margin)^T/beta), written out again in logarithms.
    power = 5_609 * np.log10(8 * np.sqrt(5_609) / 0.5)
    last = np.log10(np.log(2 * 99_624 / 0.05) + 5_609 * np.log(np.sqrt(5_609) / 0.5))
    assert constants.log10_rows == pytest.approx(np.log10(99_624) + power + last)
    assert printed(margin=0.5, alpha=0.1, dimensions=10, beta=0.05, epsilon=0.1).log10_rows == pytest.approx(
        constants.log10_rows + 1
    )
    right: dict[str, Any] = {"margin": 0.5, "alpha": 0.1, "dimensions": 10, "beta": 0.05, "epsilon": 1.0}
    for wrong in ({"margin": 0.0}, {"alpha": 2.0}, {"beta": 0.0}, {"dimensions": 0}, {"epsilon": 0.0}):
        with pytest.raises(ParameterError):
            printed(**right | wrong)
