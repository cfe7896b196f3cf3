"""MWEM: the exact law of two rounds, what a release is read as, and what more rounds and rows bring."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpcore import Cells, Intervals, Neighbours, Number, Preview, Problem
from dpcore.core import HistogramState
from dpcore.data.generators import generate
from dpcore.mechanisms.online.mwem import MAX_SCORED, RoundsOfWeights, RoundsRelease
from dpcore.queries.linear import generated
from dpcore.randomness import Sampler
from dplab.audit import exact_epsilon
from tests.kit.contract import check_privacy
from tests.kit.problems import dataset_of

EPSILON = 4.0


class Halved(RoundsOfWeights):
    """The positive control: draws with half of the noise."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> RoundsRelease:
        return RoundsOfWeights(epsilon=2 * self.epsilon, rounds=self.rounds).run(state, sampler, trials)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_exact_law_of_two_rounds_keeps_the_guarantee_and_uses_it_up(neighbours: Neighbours) -> None:
    """Ranges of four cells: one row moves some scores up and others down, which two cells alone cannot."""
    domain = Number(bits=2)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=2, neighbours=neighbours)
    check_privacy(RoundsOfWeights(epsilon=EPSILON, rounds=2), problem)
    used, halved = (
        exact_epsilon(kind(epsilon=EPSILON, rounds=2), problem, window=(-1, 3)).epsilon
        for kind in (RoundsOfWeights, Halved)
    )
    assert 0.8 * EPSILON < used <= EPSILON
    assert halved > 1.6 * EPSILON
    with pytest.raises(AssertionError, match="exact delta"):
        check_privacy(Halved(epsilon=EPSILON, rounds=2), problem)


def test_weights_move_towards_what_was_answered(seed: int) -> None:
    """One round, worked out by hand: the cells of the query gain e^(4h), and are released after the second round."""
    domain = Number(bits=2)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=100)
    first = dataclasses.replace(
        RoundsOfWeights(rounds=2).run(HistogramState(problem=problem, histogram=np.full(4, 25)), Preview(seed)),
        chosen=np.array([[1, 0]]),
        answers=np.array([[75, 3]]),
    )
    gained = math.exp(4 * (0.75 - 0.25))
    after = np.array([1, gained, 1, 1]) / (3 + gained)
    np.testing.assert_allclose(first.histogram(), [100 * (0.25 + after) / 2])
    below = dataclasses.replace(first, answers=np.array([[-40, 3]]))  # noise for certain: it is read as 0
    nought = dataclasses.replace(first, answers=np.array([[0, 3]]))
    np.testing.assert_array_equal(below.histogram(), nought.histogram())


def test_with_much_epsilon_more_rounds_err_less_and_the_promise_says_so(seed: int) -> None:
    domain = Number(bits=6)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=20_000)
    data = dataset_of(problem, generate("bimodal", n=20_000, size=64, seed=seed))
    worst, promised = [], []
    for rounds in (1, 5, 50):
        mechanism = RoundsOfWeights(epsilon=20.0, rounds=rounds)
        release = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 50)
        worst.append(float((problem.queries.max_error(release.histogram() - data.histogram) / problem.n).max()))
        promised.append(mechanism.accuracy(problem, 0.05).value)
    assert worst[0] > worst[1] > worst[2] and promised[0] > promised[1] > promised[2]
    assert all(seen <= told for seen, told in zip(worst, promised, strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_rows_it_needs_are_the_least_that_promise_anything(weighted: bool) -> None:
    domain = Number(bits=4)
    queries = generated("waves", queries=5, domain=domain, seed=1) if weighted else Intervals(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=1)
    needed = RoundsOfWeights().accuracy(problem, 0.05).rows_needed
    assert needed is not None
    at, below = (
        RoundsOfWeights().accuracy(dataclasses.replace(problem, n=n), 0.05).value for n in (needed, needed - 1)
    )
    assert at < 1 <= below
    assert RoundsOfWeights(rounds=1).accuracy(problem, 0.05).rows_needed is None


def test_a_class_with_more_queries_than_are_scored_gets_no_promise() -> None:
    domain = Number(bits=7)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=10**6)
    assert problem.queries.count > MAX_SCORED
    assert not RoundsOfWeights().accuracy(problem, 0.05).applies
