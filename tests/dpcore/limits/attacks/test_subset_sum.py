"""Subset-sum reconstruction: fits against other solvers, certificates against the worst noise, times."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from dpcore.core import Booleans, Floats, ParameterError, rounded_down
from dpcore.limits.attacks import curator, subset_sum
from dpcore.randomness import Preview, PublicCoins
from tests.kit.statistics import surprise


def secret(sampler: Preview, people: int) -> Booleans:
    bits: Booleans = sampler.draw(PublicCoins(2, columns=people), 1)[0] == 1
    return bits


@pytest.mark.parametrize(("people", "groups"), [(1, 1), (6, 3), (6, 6), (20, 100), (40, 30)])
def test_least_squares_is_the_nearest_fit(people: int, groups: int, seed: int) -> None:
    sampler = Preview(seed)
    masks = subset_sum.random_groups(sampler, people=people, groups=groups)
    answers = curator.BoundedNoise(bits=secret(sampler, people), error=2, sampler=sampler, trials=3)(masks)
    guess = subset_sum.least_squares(masks, answers)
    matrix = masks.astype(float)
    for trial in range(3):
        centred = np.linalg.lstsq(matrix, answers[trial] - matrix.sum(axis=1) / 2, rcond=None)[0] + 0.5
        np.testing.assert_allclose(guess.estimates[trial], centred, atol=1e-7)
        np.testing.assert_allclose(guess.residuals[trial], answers[trial] - matrix @ centred, atol=1e-6)
    np.testing.assert_array_equal(guess.bits, guess.estimates > 0.5)


def all_bits(people: int) -> Iterator[tuple[int, ...]]:
    return itertools.product((0, 1), repeat=people)


@pytest.mark.parametrize("cost", ["largest", "sum"])
@pytest.mark.parametrize(("people", "groups"), [(5, 8), (8, 40)])
def test_linear_programs_fit_no_worse_than_any_bits(people: int, groups: int, cost: str, seed: int) -> None:
    sampler = Preview(seed)
    masks = subset_sum.random_groups(sampler, people=people, groups=groups)
    answers = curator.BoundedNoise(bits=secret(sampler, people), error=2, sampler=sampler)(masks)[0]
    *_, guess = subset_sum.linear_program(masks, answers, cost=cost)
    assert guess.groups == groups and guess.done == 1
    assert guess.estimates.min() >= 0 and guess.estimates.max() <= 1
    np.testing.assert_allclose(guess.residuals[0], answers - masks @ guess.estimates[0], atol=1e-9)

    def paid(residuals: Floats) -> float:
        return float(np.abs(residuals).max() if cost == "largest" else np.abs(residuals).sum())

    best = min(paid(answers - masks @ np.array(bits)) for bits in all_bits(people))
    assert paid(guess.residuals[0]) <= best + 1e-6


@pytest.mark.parametrize("cost", ["largest", "sum"])
def test_exact_answers_give_every_bit_away(cost: str, seed: int) -> None:
    # On few people a brute-force search says that the bits are the only ones that fit; every attack finds them.
    sampler = Preview(seed)
    bits = secret(sampler, 10)
    masks = subset_sum.random_groups(sampler, people=10, groups=30)
    answers = curator.BoundedNoise(bits=bits, error=0, sampler=sampler)(masks)
    fitting = [guess for guess in all_bits(10) if (masks @ np.array(guess) == answers[0]).all()]
    assert len(fitting) == 1
    np.testing.assert_array_equal(np.array(fitting[0], dtype=bool), bits)
    assert subset_sum.recovered(subset_sum.least_squares(masks, answers), bits)[0] == 1
    *_, guess = subset_sum.linear_program(masks, answers[0], cost=cost)
    assert subset_sum.recovered(guess, bits)[0] == 1


def test_progress_comes_before_the_end_and_can_be_left(seed: int) -> None:
    sampler = Preview(seed)
    masks = subset_sum.random_groups(sampler, people=30, groups=200)
    answers = curator.BoundedNoise(bits=secret(sampler, 30), error=1, sampler=sampler)(masks)[0]
    guesses = list(subset_sum.linear_program(masks, answers))
    assert len(guesses) >= 3
    done = [guess.done for guess in guesses]
    assert done == sorted(done) and done[0] < 0.3 and done[-1] == 1
    assert [guess.groups for guess in guesses][-2:] == [100, 200]
    work = iter(subset_sum.linear_program(masks, answers))
    assert next(work).groups < 50


@pytest.mark.parametrize("error", [0, 1, 2, 3])
def test_the_certificate_holds_for_the_worst_noise(error: int, seed: int) -> None:
    # Noise along the weakest direction of the groups, as large as allowed, hurts least squares most.
    sampler = Preview(seed)
    people, groups = 24, 2_000
    bits = secret(sampler, people)
    masks = subset_sum.random_groups(sampler, people=people, groups=groups)
    left, singular, _ = np.linalg.svd(masks.astype(float), full_matrices=False)
    assert subset_sum.strength(masks) == pytest.approx(singular[-1], rel=1e-6)
    limit = subset_sum.max_wrong_bits(masks, error=error)
    assert limit == min(people, math.floor(4 * groups * error**2 / singular[-1] ** 2 * (1 + 1e-6)))
    noises = [error * np.sign(left[:, k]) for k in range(people)]
    answers = masks @ bits.astype(int) + np.array(noises)
    wrong = (subset_sum.least_squares(masks, answers).bits != bits).sum(axis=1)
    assert wrong.max() <= limit
    if error <= 1:
        assert limit < people  # the certificate says something here


def test_few_groups_prove_nothing(seed: int) -> None:
    masks = subset_sum.random_groups(Preview(seed), people=20, groups=10)
    assert subset_sum.strength(masks) == 0
    assert subset_sum.max_wrong_bits(masks, error=1) == 20
    bound = subset_sum.error_bound(masks, epsilon=1.0)
    assert bound.value == 0 and not bound.applies
    assert "any error" in bound.statement and "less than 0" not in bound.statement


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_private_answers_protect_the_bits(epsilon: float, seed: int) -> None:
    # Fresh random bits each time: the share found is e^ε/(1 + e^ε) at most in expectation, and the error bound holds.
    sampler, people, groups, runs = Preview(seed), 20, 60, 200
    shares, errors = [], []
    masks = subset_sum.random_groups(sampler, people=people, groups=groups)
    bound = subset_sum.error_bound(masks, epsilon=epsilon, beta=0.02)
    # Somebody may do better by luck: only a promise is impossible.
    assert (
        bound.value > 0
        and f"cannot guarantee all answers within less than {rounded_down(bound.value * people)}" in bound.statement
    )
    assert "with failure probability 0.02" in bound.statement
    for _ in range(runs):
        bits = secret(sampler, people)
        answers = curator.PrivateNoise(bits=bits, epsilon=epsilon, sampler=sampler)(masks)
        shares.append(subset_sum.recovered(subset_sum.least_squares(masks, answers), bits)[0])
        errors.append(np.abs(answers[0] - masks @ bits.astype(int)).max() / people)
    ceiling = 1 / (1 + math.exp(-epsilon))
    assert surprise(float(np.mean(shares)), limit=ceiling, trials=runs) > 1e-6
    accurate = float(np.mean(np.array(errors) < bound.value))
    assert surprise(accurate, limit=0.98, trials=runs) > 1e-6


@pytest.mark.slow
def test_bounded_noise_is_caught(seed: int) -> None:
    # The control: a curator who errs by 1 at most beats the bound, and the attack shows that it is not private.
    sampler, people, groups, runs = Preview(seed), 100, 2_000, 30
    masks = subset_sum.random_groups(sampler, people=people, groups=groups)
    assert subset_sum.error_bound(masks, epsilon=0.1).value > 1 / people
    shares = []
    for _ in range(runs):
        bits = secret(sampler, people)
        answers = curator.BoundedNoise(bits=bits, error=1, sampler=sampler)(masks)
        shares.append(subset_sum.recovered(subset_sum.least_squares(masks, answers), bits)[0])
    assert surprise(float(np.mean(shares)), limit=1 / (1 + math.exp(-0.1)), trials=runs) < 1e-6


@pytest.mark.slow
def test_each_cost_wins_on_its_noise(seed: int) -> None:
    sampler, people, groups = Preview(seed), 60, 240
    bits = secret(sampler, people)
    masks = subset_sum.random_groups(sampler, people=people, groups=groups)
    bounded = curator.BoundedNoise(bits=bits, error=4, sampler=sampler)(masks)[0]
    wild = curator.BoundedNoise(bits=bits, error=1, sampler=sampler)(masks)[0]
    wild[::4] = sampler.draw(PublicCoins(people, columns=60), 1)[0]  # a quarter of the answers is made up
    shares = {
        (name, cost): subset_sum.recovered(list(subset_sum.linear_program(masks, answers, cost=cost))[-1], bits)[0]
        for name, answers in (("bounded", bounded), ("wild", wild))
        for cost in ("largest", "sum")
    }
    assert shares["bounded", "largest"] >= shares["bounded", "sum"]
    assert shares["wild", "sum"] > 0.9 > shares["wild", "largest"]


@pytest.mark.full
@pytest.mark.slow
def test_five_hundred_people(seed: int) -> None:
    sampler = Preview(seed)
    bits = secret(sampler, 500)
    masks = subset_sum.random_groups(sampler, people=500, groups=2_000)
    answers = curator.BoundedNoise(bits=bits, error=8, sampler=sampler)(masks)
    assert subset_sum.recovered(subset_sum.least_squares(masks, answers), bits)[0] > 0.93
    guesses = list(subset_sum.linear_program(masks, answers[0]))
    assert len(guesses) >= 4 and guesses[0].done < 0.1
    assert subset_sum.recovered(guesses[-1], bits)[0] > 0.98


def test_bad_input_is_refused(seed: int) -> None:
    masks = subset_sum.random_groups(Preview(seed), people=4, groups=5)
    with pytest.raises(ParameterError, match="one answer to each"):
        subset_sum.least_squares(masks, np.zeros((1, 4)))
    with pytest.raises(ParameterError, match="finite"):
        subset_sum.least_squares(masks, np.full((1, 5), np.nan))
    with pytest.raises(ParameterError, match="cost"):
        next(subset_sum.linear_program(masks, np.zeros(5), cost="mean"))
    with pytest.raises(ParameterError, match="At most 500"):
        subset_sum.random_groups(Preview(seed), people=501, groups=5)
