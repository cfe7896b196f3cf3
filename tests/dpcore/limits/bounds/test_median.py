"""The median wall: bounds against all mechanisms on tiny grids, curves and walks against exact laws."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats, Integers, ParameterError
from dpcore.limits.bounds import median, walk
from dpcore.limits.chance import after_steps
from dpcore.randomness.laws import compositions, exponential_law, laplace_tail
from tests.dpcore.limits.best_mechanism import best_gain, neighbouring

TINY = [(1, 2), (1, 5), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (3, 4), (4, 3)]


def optimum(*, n: int, points: int, epsilon: float) -> float:
    """Largest p with Pr[answer v | all rows at v] >= p for every v, over all ε-private mechanisms, by linear program.

    Mechanisms are laws on the points, one for each histogram: other outputs can be mapped to a point, row order cannot
    help. Variables are the laws, row by row, and p.
    """
    histograms = compositions(n, points)
    gains = (histograms == n).T[:, :, None] * np.eye(points)[:, None]
    return best_gain(neighbouring(histograms), gains, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
@pytest.mark.parametrize(("n", "points"), TINY)
def test_bounds_hold_for_the_best_mechanism(n: int, points: int, epsilon: float) -> None:
    best = optimum(n=n, points=points, epsilon=epsilon)
    settings: dict[str, Any] = {"bits": math.log2(points), "n": n, "epsilon": epsilon}
    simple = math.exp(median.any_private(**settings))
    stepwise = math.exp(median.any_private_stepwise(**settings))
    assert best <= stepwise + 1e-8
    assert stepwise <= simple * (1 + 1e-12)
    assert best >= math.exp(median.refusing(**settings)) - 1e-8
    if n == 1:
        assert best == pytest.approx(simple, abs=1e-8)
        assert best == pytest.approx(math.exp(median.refusing(**settings)), abs=1e-8)
    if points == 2 or n == 1:
        assert best == pytest.approx(stepwise, abs=1e-8)
    if n % 2:
        assert best >= math.exp(median.exponential(**settings)) - 1e-8
        assert best >= math.exp(median.permute_and_flip(**settings)) - 1e-8


@pytest.mark.parametrize(("n", "bits", "epsilon"), [(5, 3.0, 0.4), (9, 4.0, 1.0), (20, 12.0, 0.7), (7, 10.0, 1.5)])
def test_the_stepwise_bound_is_where_the_walk_closes(n: int, bits: float, epsilon: float) -> None:
    # The witness: from (1 - p)/(N - 1) at "all at 0", n steps reach p, and would miss anything larger.
    p = math.exp(median.any_private_stepwise(bits=bits, n=n, epsilon=epsilon))
    others = 2**bits - 1

    def reach(p: float) -> float:
        return float(after_steps((1 - p) / others, epsilon=epsilon, steps=n))

    assert p - 1e-9 <= reach(p) <= p + 1e-9


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
@pytest.mark.parametrize(("n", "points"), TINY)
def test_the_refusing_mechanism_is_private(n: int, points: int, epsilon: float) -> None:
    histograms = compositions(n, points)
    p = math.exp(median.refusing(bits=math.log2(points), n=n, epsilon=epsilon))
    answers = p * np.exp(-epsilon * (n - histograms))
    refusal = 1 - answers.sum(axis=1, keepdims=True)
    assert refusal.min() >= -1e-12
    law = np.concatenate([answers, np.where(refusal < 1e-12, 0, refusal)], axis=1)
    before, after = (law[list(side)] for side in neighbouring(histograms).T)
    assert (before <= math.exp(epsilon) * after * (1 + 1e-9) + 1e-12).all()
    if n > 1:  # a larger p would not do: the pair of a constant data set and its neighbour is tight
        assert np.max(before[:, -1] / after[:, -1]) == pytest.approx(math.exp(epsilon), rel=1e-9)
    else:
        assert (law[:, -1] == 0).all()


@pytest.mark.parametrize("bits", [1, 2, 10, 145.7, 1000, 10_000])
@pytest.mark.parametrize("n", [1, 101, 10_001])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 20.0])
def test_the_wall_stands_for_every_length(bits: float, n: int, epsilon: float) -> None:
    settings: dict[str, Any] = {"bits": bits, "n": n, "epsilon": epsilon}
    simple, stepwise, refusing = (
        float(f(**settings)) for f in (median.any_private, median.any_private_stepwise, median.refusing)
    )
    assert np.isfinite([simple, stepwise, refusing]).all()
    assert refusing - 1e-9 <= stepwise <= simple <= 0
    # The bound is nowhere twice as large as what a private mechanism does.
    assert simple - refusing <= math.log(2)
    for curve in (median.exponential, median.permute_and_flip):
        assert float(curve(**settings)) <= stepwise + 1e-9
    assert float(median.permute_and_flip(**settings)) >= float(median.exponential(**settings)) - 1e-9


def test_half_is_right_at_the_wall() -> None:
    bits = median.wall(n=101, epsilon=0.5)
    assert math.exp(median.any_private(bits=bits, n=101, epsilon=0.5)) == pytest.approx(0.5)
    assert bits == pytest.approx(101 * 0.5 / math.log(2), rel=1e-9)
    bound = median.impossibility(bits=bits + 30, n=101, epsilon=0.5)
    assert bound.applies and bound.value > 1 - 1e-8


def test_a_bound_that_forbids_nothing_says_so() -> None:
    free = median.impossibility(bits=100, n=1001, epsilon=0.1)
    assert "this theorem excludes nothing yet" in free.statement and free.note == "The limit is at 144.4 bits."
    near = median.impossibility(bits=142, n=1001, epsilon=0.1)
    tight = median.impossibility(bits=200, n=1001, epsilon=0.1)
    for bound in (free, near, tight):
        assert "at most 1," not in bound.statement and "gives 1;" not in bound.note
    assert "with a probability above 0." in near.statement and "row by row" in near.note
    assert f"probability above {1 - tight.value:.3g}" in tight.statement or tight.value == 1


def test_curves_take_arrays() -> None:
    bits = np.linspace(1, 10_000, 500)
    for curve in (
        median.any_private,
        median.any_private_stepwise,
        median.refusing,
        median.exponential,
        median.permute_and_flip,
    ):
        values = curve(bits=bits, n=401, epsilon=1.0)
        assert values.shape == bits.shape and np.isfinite(values).all() and (np.diff(values) <= 1e-9).all()
    assert (np.ptp(median.stable(bits=bits, n=401, epsilon=1.0, delta=1e-6))) == 0


def median_scores(data: Integers, points: int) -> Integers:
    """Minus the rows to replace before each point is a median, by trying."""
    n = len(data)
    scores = []
    for point in range(points):
        for moved in range(n + 1):
            tries = itertools.combinations(range(n), moved)
            if any(np.median(np.where(np.isin(np.arange(n), rows), point, data)) == point for rows in tries):
                scores.append(-moved)
                break
    return np.array(scores)


@pytest.mark.parametrize("rule", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize(("n", "bits"), [(1, 1), (3, 2), (5, 2), (5, 3), (7, 1)])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_walks_are_the_mechanisms_exact_laws(rule: str, n: int, bits: int, epsilon: float) -> None:
    points = 2**bits
    walked = (walk.exponential_walk if rule == "exponential" else walk.permute_and_flip_walk)(
        bits=bits, n=n, epsilon=epsilon
    )
    chances: list[float] = []
    for moved in range(n + 1):
        data = np.repeat([0, points - 1], [n - moved, moved])
        scores = median_scores(data, points)
        law = exponential_law(scores, np.ones(points, dtype=np.bool_), rate=epsilon / 2, rule=rule)
        chances.append(float(law[-1]))
    np.testing.assert_allclose(np.exp(walked.log_chance), chances, rtol=1e-6)
    assert np.abs(walked.ratios).max() <= epsilon + 1e-9
    curve = median.exponential if rule == "exponential" else median.permute_and_flip
    assert walked.log_chance[-1] == pytest.approx(float(curve(bits=bits, n=n, epsilon=epsilon)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bits", [1, 8, 60, 2000])
@pytest.mark.parametrize("make", [walk.exponential_walk, walk.permute_and_flip_walk, walk.refusing_walk])
def test_no_private_walk_takes_a_step_above_epsilon(make: object, bits: float) -> None:
    assert callable(make)
    walked: walk.Walk = make(bits=bits, n=301, epsilon=0.3)
    assert np.abs(walked.ratios).max() <= 0.3 + 1e-6
    assert walked.excess <= 1e-9
    # The end to end step of the proof.
    assert walked.log_chance[-1] <= walked.log_chance[0] + 301 * 0.3 + 1e-6


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
def test_the_stable_median_is_private_with_its_threshold(epsilon: float, delta: float) -> None:
    n, points = 5, 4
    threshold = median.stable_threshold(epsilon=epsilon, delta=delta)
    assert threshold == 1 or laplace_tail(threshold - 2, scale=1 / epsilon) > delta  # one less would not do
    histograms = compositions(n, points)
    laws: list[Floats] = []
    for histogram in histograms:
        data = np.repeat(np.arange(points), histogram)
        middle = int(np.median(data))
        stability = (n + 1) // 2 - max((data > middle).sum(), (data < middle).sum())
        law = np.zeros(points + 1)
        law[middle] = laplace_tail(threshold - stability, scale=1 / epsilon)
        law[-1] = 1 - law[middle]
        laws.append(law)
    worst = max(np.maximum(laws[a] - math.exp(epsilon) * laws[b], 0).sum() for a, b in neighbouring(histograms))
    exact = float(laplace_tail(threshold - 1, scale=1 / epsilon))
    assert worst <= delta * (1 + 1e-9)
    assert worst == pytest.approx(exact, rel=1e-9)  # the formula is not slack
    assert exact == pytest.approx(math.exp(-epsilon * (threshold - 1)) / (1 + math.exp(-epsilon)), rel=1e-9)


def test_the_stable_median_walks_through_the_wall() -> None:
    walked = walk.stable_walk(n=101, epsilon=1.0, delta=1e-6)
    assert np.isneginf(walked.log_chance[:51]).all()
    assert 0 < walked.excess <= 1e-6 * (1 + 1e-9)
    assert walked.ratios[50] == np.inf
    success = float(median.stable(bits=10_000, n=101, epsilon=1.0, delta=1e-6))
    assert success == pytest.approx(float(walked.log_chance[-1])) and success > -1e-9
    assert float(median.any_private(bits=10_000, n=101, epsilon=1.0)) < -6000


def test_binary_search_ends_at_the_half() -> None:
    generator = np.random.default_rng(5)
    for cells in (1, 2, 3, 7, 64, 1000):
        steps = np.sort(generator.random((20, cells)), axis=1)
        steps[:, -1] = 1.0

        def at_most(cell: Integers, steps: Floats = steps) -> Floats:
            answers: Floats = steps[np.arange(20), cell]
            return answers

        medians = walk.median_by_search(at_most, cells=cells, trials=20)
        np.testing.assert_array_equal(medians, (steps >= 0.5).argmax(axis=1))


def test_measured_walk_counts() -> None:
    measured = walk.measured_walk(np.array([[3, 3, 1, 0], [3, 3, 3, 3]]), target=3)
    np.testing.assert_allclose(measured.chance, [0.5, 1.0])
    assert (measured.low <= measured.chance).all() and (measured.chance <= measured.high).all()


@pytest.mark.parametrize("bad", [{"bits": 0.5}, {"bits": math.inf}, {"n": 0}, {"n": 4}, {"epsilon": 0}])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        median.exponential(**{"bits": 3, "n": 5, "epsilon": 1.0, **bad})


@pytest.mark.parametrize("bits", [1.0, 2.0, 8.0, 100.0, 5000.0])
@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_whether_a_mechanism_may_be_right_needs_no_search(bits: float, n: int) -> None:
    answers = set()
    for epsilon in (0.01, 0.1, 0.5, 2.0, 10.0):
        log_chance = float(median.any_private_stepwise(bits=bits, n=n, epsilon=epsilon))
        for beta in (1e-9, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.99, 0.9999):
            is_possible = median.may_be_right(bits=bits, n=n, epsilon=epsilon, beta=beta)
            assert is_possible == (log_chance >= math.log1p(-beta))
            answers.add(is_possible)
        assert not median.may_be_right(bits=bits, n=n, epsilon=epsilon, beta=0.0)
    assert True in answers or bits > n
