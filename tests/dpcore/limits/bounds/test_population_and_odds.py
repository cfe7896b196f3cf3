"""Distributional privacy and odds: exact laws against enumeration, bounds attained by their witness."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpcore.core import Floats, ParameterError
from dpcore.limits.bounds import distributional, odds
from dpcore.limits.chance import confusion


def test_the_fold_of_the_paper() -> None:
    np.testing.assert_array_equal(distributional.fold(np.arange(8), modulus=3), [0, 1, 2, 2, 1, 0, 0, 1])


@pytest.mark.parametrize("modulus", [1, 2, 3, 8, 21])
def test_one_row_moves_the_fold_by_one_at_most(modulus: int) -> None:
    folded = distributional.fold(np.arange(10 * modulus), modulus=modulus)
    assert set(folded) == set(range(modulus))
    assert np.abs(np.diff(folded)).max() <= 1


@pytest.mark.parametrize(("n", "modulus"), [(1, 1), (1, 2), (3, 2), (4, 4), (6, 3)])
def test_infinite_population_by_enumeration(n: int, modulus: int) -> None:
    samples = [distributional.fold(sum(rows), modulus=modulus) for rows in itertools.product((0, 1), repeat=n)]
    gaps = Counter(abs(int(a) - int(b)) for a, b in itertools.product(samples, repeat=2))
    separation = distributional.separation(n=n, epsilon=2 / modulus, modulus=modulus)
    np.testing.assert_allclose(separation.gap, [gaps[g] / 4**n for g in range(modulus)], atol=1e-12)
    assert separation.answer.sum() == pytest.approx(1) and separation.gap.sum() == pytest.approx(1)


@pytest.mark.parametrize(("n", "population", "modulus"), [(2, 4, 2), (3, 6, 2), (3, 8, 4), (4, 4, 2)])
def test_finite_population_by_enumeration(n: int, population: int, modulus: int) -> None:
    # Both samples without replacement from one population, half of it ones: Definition 7.1.
    people = [0, 1] * (population // 2)
    samples = [distributional.fold(sum(rows), modulus=modulus) for rows in itertools.combinations(people, n)]
    gaps = Counter(abs(int(a) - int(b)) for a, b in itertools.product(samples, repeat=2))
    separation = distributional.separation(n=n, epsilon=2 / modulus, modulus=modulus, population=population)
    np.testing.assert_allclose(separation.gap, [gaps[g] / len(samples) ** 2 for g in range(modulus)], atol=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 0.5, 0.1, 0.02])
def test_the_limit_of_theorem_7_5(epsilon: float) -> None:
    limit = distributional.limit_far(epsilon)
    assert limit == (1 + epsilon) / 4
    assert distributional.separation(n=round(100 / epsilon**2), epsilon=epsilon).far == pytest.approx(limit, abs=1e-6)
    if epsilon < 1:  # for small n far less
        assert distributional.separation(n=round(1 / epsilon), epsilon=epsilon).far < limit / 2
    with pytest.raises(ParameterError, match="even whole number"):
        distributional.limit_far(2 / 3)


def test_a_gap_that_cannot_be_has_chance_0_and_one_that_hardly_can_be_its_own() -> None:
    ten = distributional.separation(n=10, epsilon=0.1)
    assert ten.modulus == 20 and not ten.gap[11:].any() and ten.beta(1.0) == 0
    assert ten.gap[10] == pytest.approx(2 * 0.25**10, rel=1e-9)
    # None against 99 or all 100, which are folded onto each other.
    hundred = distributional.separation(n=100, epsilon=0.02)
    assert hundred.gap[99] == pytest.approx(2 * (100 + 1) * 0.25**100, rel=1e-9, abs=0)


def test_loss_and_beta_are_two_sides() -> None:
    separation = distributional.separation(n=1000, epsilon=0.3)
    assert separation.modulus == 7
    assert separation.beta(0.3) + separation.gap[:2].sum() == pytest.approx(1)
    assert separation.loss_reaches(0.3) == pytest.approx(separation.gap[1:].sum())
    # Differential privacy holds with loss ε between neighbours, distributional privacy only with a β near one.
    assert separation.beta(separation.epsilon) > 0.5
    assert separation.beta(0.3 * 6) == 0


def test_the_law_is_that_of_released_answers() -> None:
    # Two answers g apart, with Laplace noise of scale 1/ε: the densities' ratio reaches e^(εg), and no more.
    z = np.linspace(-50, 50, 10_001)
    for gap in range(4):
        ratio = np.exp(-0.5 * np.abs(z)) / np.exp(-0.5 * np.abs(z - gap))
        assert np.log(ratio.max()) == pytest.approx(0.5 * gap)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_pair_of_neighbours_comes_up_that_often(n: int) -> None:
    population = range(n + 1)
    samples = list(itertools.combinations(population, n))
    pairs = Counter(itertools.product(samples, repeat=2))
    chosen = (samples[0], samples[-1])
    assert pairs[chosen] / sum(pairs.values()) == pytest.approx(distributional.differential_from(n=n))


def test_large_samples_are_exact_and_quick() -> None:
    law = distributional.count_law(n=1_000_000)
    assert law.sum() == pytest.approx(1, abs=1e-9)
    assert (law * np.arange(1_000_001)).sum() == pytest.approx(500_000, abs=1e-3)
    with pytest.raises(ParameterError, match="population"):
        distributional.count_law(n=5, population=4)


# Odds.


@pytest.mark.parametrize("prior", [0.001, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_the_witness_attains_the_odds(prior: float, epsilon: float, delta: float) -> None:
    law = odds.witness(epsilon=epsilon, delta=delta)
    assert law.min() >= 0 and law.sum(axis=1) == pytest.approx([1, 1])
    for one, other in (law, law[::-1]):
        assert np.maximum(one - math.exp(epsilon) * other, 0).sum() <= delta * (1 + 1e-9) + 1e-12
    joint = np.array([[prior], [1 - prior]]) * law
    assert joint.max(axis=0).sum() == pytest.approx(float(odds.best_guess(prior, epsilon=epsilon, delta=delta)))
    posterior = joint[0, 1:3] / joint[:, 1:3].sum(axis=0)
    low, high = odds.posterior_range(prior, epsilon=epsilon)
    assert posterior == pytest.approx([float(high), float(low)])


@pytest.mark.slow
@given(
    chances=arrays(np.float64, (2, 5), elements=st.floats(0.001, 1)),
    prior=st.floats(0.01, 0.99),
    slack=st.floats(0, 1),
)
def test_no_mechanism_beats_the_odds(chances: Floats, prior: float, slack: float) -> None:
    # Any two laws are (ε, δ)-close for some ε and its exact δ: the guess cannot beat what these allow.
    law = chances / chances.sum(axis=1, keepdims=True)
    loss = float(np.abs(np.log(law[0] / law[1])).max()) + 1e-9
    joint = np.array([[prior], [1 - prior]]) * law
    guess = joint.max(axis=0).sum()
    epsilon = max(1e-6, slack * loss)
    delta = max(float(np.maximum(one - math.exp(epsilon) * other, 0).sum()) for one, other in (law, law[::-1]))
    assert guess <= float(odds.best_guess(prior, epsilon=epsilon, delta=min(delta, 0.999999))) + 1e-9
    low, high = odds.posterior_range(prior, epsilon=loss)
    posterior = joint[0] / joint.sum(axis=0)
    assert (posterior <= high + 1e-9).all() and (posterior >= low - 1e-9).all()


def test_odds_in_words() -> None:
    posterior = odds.posterior_odds(prior=0.1, epsilon=1.0)
    assert posterior.high == pytest.approx(0.1 * math.e / (0.1 * math.e + 0.9))
    assert "10%" in posterior.sentence and "23.2%" in posterior.sentence
    slack = odds.posterior_odds(prior=0.1, epsilon=1.0, delta=1e-6)
    assert (slack.low, slack.high) == (0.0, 1.0) and "1e-06" in slack.sentence
    assert slack.sentence.startswith("Except with probability about 1e-06, in which anything may be released: ")
    even = odds.posterior_odds(prior=0.5, epsilon=1.0)
    assert even.guess_after == pytest.approx(1 - confusion(epsilon=1.0, steps=1))
    with pytest.raises(ParameterError, match="prior"):
        odds.posterior_odds(prior=0.0, epsilon=1.0)
    assert np.isfinite(odds.posterior_range(0.3, epsilon=1000.0)).all()
