"""Largest chances of an answer: bounds against the best of all mechanisms, and no mechanism of the catalogue above."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core import Floats, Integers, Mechanism, Neighbours, ParameterError, Problem
from dpcore.data.columns import Labels, Number
from dpcore.limits.bounds.refusal import max_answer_chance, max_right_chance
from dpcore.limits.chance import after_steps, confusion
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.stable_median import StableMedian, answer_chance, stability
from dpcore.mechanisms.subsamples.aggregate import CommonestCategory
from dpcore.queries.ranges import Cells, Thresholds, rank
from dpcore.randomness import Enumerate
from dpcore.randomness.laws import compositions
from tests.dpcore.limits.best_mechanism import best_gain
from tests.kit.problems import dataset_of

BOTH = pytest.mark.parametrize("neighbours", list(Neighbours))
LOSSES = [(0.3, 0.0), (0.3, 0.02), (1.0, 0.001), (1.0, 0.3)]


def world(
    *, cells: int, n: int, neighbours: Neighbours, quantile: float = 0.5
) -> tuple[Integers, Integers, Integers, Integers]:
    """Data sets of n rows (or of at most n), their medians, their stabilities, and the steps between any two."""
    sizes = [n] if neighbours is Neighbours.REPLACE_ONE else range(n + 1)
    data = np.concatenate([compositions(size, cells) for size in sizes])
    line = Number(bits=int(math.log2(cells)))
    medians, stabilities = np.array(
        [stability(each, domain=line, neighbours=neighbours, quantile=quantile) for each in data]
    ).T
    moved = np.abs(data[:, None] - data[None]).sum(axis=2)
    return data, medians, stabilities, moved // 2 if neighbours is Neighbours.REPLACE_ONE else moved


def best(right: Integers, steps: Integers, *, epsilon: float, delta: float, among: Integers, silent: bool) -> float:
    """Largest p with which some (ε, δ)-private mechanism is right on all of these data: a linear program.

    Args:
        right: the answer of every data set, (D,).
        steps: neighbouring steps between any two, (D, D).
        epsilon: of all mechanisms.
        delta: of all mechanisms.
        among: the data sets on which it is to be right.
        silent: whether a wrong answer is never given, to any data.
    """
    named = np.arange(int(right.max()) + 2) == right[:, None]  # the last outcome is a refusal
    allowed = named | (np.arange(named.shape[1]) == named.shape[1] - 1) if silent else None
    gains = np.eye(len(right))[among][:, :, None] * named
    return best_gain(np.argwhere(steps == 1), gains, epsilon=epsilon, delta=delta, allowed=allowed)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
@pytest.mark.parametrize(("cells", "n"), [(2, 3), (2, 4), (2, 7), (4, 3)])
def test_nobody_who_is_never_wrong_answers_more_often_and_somebody_as_often(
    cells: int, n: int, epsilon: float, delta: float, neighbours: Neighbours
) -> None:
    _, medians, stabilities, steps = world(cells=cells, n=n, neighbours=neighbours)
    # Where rows come and go, the way to another answer may need more rows than these few data sets have.
    distance = np.where(medians[:, None] == medians[None], np.iinfo(np.int64).max, steps).min(axis=1)
    assert (distance >= stabilities).all()
    reached = {}
    for each in np.unique(stabilities):
        among = np.flatnonzero((stabilities == each) & (distance == each))
        if len(among):
            optimum = best(medians, steps, epsilon=epsilon, delta=delta, among=among[:1], silent=True)
            wall = float(max_answer_chance(int(each), epsilon=epsilon, delta=delta))
            assert optimum == pytest.approx(wall, abs=1e-7)
            reached[int(each)] = optimum
    assert reached[1] == pytest.approx(delta, abs=1e-9)
    assert len(reached) >= 2


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
@pytest.mark.parametrize(("cells", "n"), [(2, 3), (2, 5), (2, 6), (4, 3)])
def test_nobody_at_all_is_right_more_often(cells: int, n: int, epsilon: float, delta: float) -> None:
    _, medians, stabilities, steps = world(cells=cells, n=n, neighbours=Neighbours.REPLACE_ONE)
    tried = 0
    for each in range(1, int(stabilities.max()) + 1):
        apart = (medians[:, None] != medians[None]) & (steps == 2 * each - 1)
        pairs = np.argwhere(apart & (stabilities[:, None] == each) & (stabilities[None] == each))
        assert len(pairs) or n % 2 == 0
        for pair in pairs[:1]:
            optimum = best(medians, steps, epsilon=epsilon, delta=delta, among=pair, silent=False)
            wall = max_right_chance(each, epsilon=epsilon, delta=delta)
            assert optimum <= wall + 1e-7
            if cells == 2:  # the way between is all there is, so the wall is the best possible
                assert optimum == pytest.approx(wall, abs=1e-7)
            tried += 1
    assert tried >= 2


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("n", [3, 6, 9])
def test_two_worlds_are_as_near_as_told_and_where_there_are_none_nothing_follows(n: int, quantile: float) -> None:
    _, medians, stabilities, steps = world(cells=2, n=n, neighbours=Neighbours.REPLACE_ONE, quantile=quantile)
    place = rank(n, quantile=quantile)
    for each in range(1, int(stabilities.max()) + 1):
        so_stable = stabilities == each
        pairs = (medians[:, None] != medians[None]) & so_stable[:, None] & so_stable[None]
        assert bool(pairs.any()) is (each <= min(place, n - place + 1))
        if pairs.any():
            assert steps[pairs].min() == 2 * each - 1
        else:
            among = np.flatnonzero(so_stable)
            assert best(medians, steps, epsilon=0.3, delta=0.0, among=among, silent=False) == pytest.approx(1)
            assert max_right_chance(each, epsilon=0.3, delta=0.0) < 1


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 20.0, 800.0])
@pytest.mark.parametrize("delta", [0.0, 1e-24, 1e-12, 1e-6, 0.2])
def test_the_closed_form_is_the_walk(epsilon: float, delta: float) -> None:
    stable = np.concatenate([np.arange(50), [200, 1000]])
    walked = [float(after_steps(0.0, epsilon=epsilon, steps=int(each), delta=delta)) for each in stable]
    np.testing.assert_allclose(max_answer_chance(stable, epsilon=epsilon, delta=delta), walked, rtol=1e-9)
    assert float(max_answer_chance(10**7, epsilon=epsilon, delta=delta)) == (1.0 if delta else 0.0)


@pytest.mark.parametrize("bad", [-1, 0.5])
def test_a_stability_is_a_whole_number(bad: float) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        max_answer_chance(bad, epsilon=1.0, delta=0.1)
    with pytest.raises(ParameterError, match="whole number"):
        max_right_chance(0, epsilon=1.0, delta=0.1)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("slack", [1e-15, 1e-6])
def test_the_stable_median_is_below_at_every_stability_and_on_the_wall_at_the_edge(
    epsilon: float, slack: float
) -> None:
    mechanism = StableMedian(epsilon=epsilon, delta=slack, rule="threshold")
    stable = np.arange(1, 4 * mechanism.threshold)
    delta = float(answer_chance(1, epsilon=epsilon, threshold=mechanism.threshold))
    answered = answer_chance(stable, epsilon=epsilon, threshold=mechanism.threshold)
    wall = max_answer_chance(stable, epsilon=epsilon, delta=delta)
    assert (answered <= wall * (1 + 1e-9)).all()
    assert answered[0] == pytest.approx(wall[0], abs=0)
    # A threshold one row lower, with the slack of the right one, is beyond what is possible.
    assert (answer_chance(stable, epsilon=epsilon, threshold=mechanism.threshold - 1) > wall).any()


def chances_of(mechanism: Mechanism, problem: Problem, data: Integers) -> Floats:
    """Exact chance of each answer on each data set, (D, cells); refusals are in no column."""
    chances = np.zeros((len(data), problem.domain.size))
    sampler = Enumerate(window=(-4, problem.n + 8))
    for place, histogram in enumerate(data):
        dataset = dataset_of(problem, np.repeat(np.arange(problem.domain.size), histogram))
        outcomes, masses = sampler.law(mechanism, mechanism.prepare(dataset, problem))
        answered = np.isfinite(outcomes[:, 0])
        np.add.at(chances[place], outcomes[answered, 0].astype(np.int64), masses[answered])
    return chances


def too_often(chances: Floats, right: Integers, steps: Integers, *, epsilon: float, delta: float) -> bool:
    """Return whether two data sets with different right answers get theirs more often than their distance allows."""
    mine = chances[np.arange(len(right)), right]
    return any(
        min(mine[one], mine[other]) > 1 - confusion(epsilon=epsilon, steps=int(steps[one, other]), delta=delta) + 1e-9
        for one, other in itertools.combinations(range(len(right)), 2)
        if right[one] != right[other]
    )


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize(("bits", "n"), [(1, 5), (2, 3)])
def test_no_median_of_the_catalogue_is_above(bits: int, n: int, epsilon: float, neighbours: Neighbours) -> None:
    data, medians, stabilities, steps = world(cells=2**bits, n=n, neighbours=neighbours)
    if neighbours is Neighbours.ADD_REMOVE_ONE:  # no rows have no median
        data, medians, stabilities, steps = data[1:], medians[1:], stabilities[1:], steps[1:, 1:]
    line = Number(bits=bits)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=n, neighbours=neighbours)
    stable = [StableMedian(epsilon=epsilon, delta=0.05, rule=rule) for rule in ("threshold", "optimal")]
    for mechanism in (*stable, ExponentialMedian(epsilon=epsilon)):
        guarantee = mechanism.guarantee(problem)
        chances = chances_of(mechanism, problem, data)
        assert not too_often(chances, medians, steps, epsilon=epsilon, delta=guarantee.delta)
        mine = chances[np.arange(len(data)), medians]
        if isinstance(mechanism, StableMedian):
            np.testing.assert_allclose(chances.sum(axis=1), mine)  # it is never wrong
            assert (mine <= max_answer_chance(stabilities, epsilon=epsilon, delta=guarantee.delta) + 1e-12).all()
        # The same claimed at a fifth of its loss is beyond what is possible, so the wall would see a cheat.
        claimed = max_answer_chance(stabilities, epsilon=epsilon / 5, delta=guarantee.delta / 5)
        assert (mine > claimed).any()
    # Not private at all: the exact median, always.
    exact = np.eye(line.size)[medians]
    assert too_often(exact, medians, steps, epsilon=epsilon, delta=0.05)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("subsamples", [3, 9])
@pytest.mark.parametrize("n", [3, 5])
def test_subsample_and_aggregate_is_not_above(n: int, subsamples: int, epsilon: float) -> None:
    labels = Labels(labels=("a", "b"), missing=False)
    problem = Problem(domain=labels, queries=Cells(domain=labels), n=n)
    mechanism = CommonestCategory(epsilon=epsilon, delta=0.1, rows=1, subsamples=subsamples)
    data = compositions(n, 2)
    right = data.argmax(axis=1)
    steps = np.abs(data[:, None] - data[None]).sum(axis=2) // 2
    chances = chances_of(mechanism, problem, data)
    assert chances.max() > 0.05, "it answers now and then"
    delta = mechanism.guarantee(problem).delta
    assert not too_often(chances, right, steps, epsilon=epsilon, delta=delta)
    # Without noise it answers whenever subsamples agree: that cannot have this loss.
    assert too_often(np.eye(2)[right], right, steps, epsilon=epsilon, delta=delta)
