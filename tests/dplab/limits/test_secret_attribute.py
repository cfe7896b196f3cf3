"""A secret attribute attacked through marginals: nearly all bits at small noise, no more than by guessing at large."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.core import Booleans, ParameterError, finish
from dpcore.data.bundled import yes_no_of
from dpcore.limits.attacks import subset_sum
from dplab.limits.secret_attribute import ATTACKS, LOSSES, MULTIPLES, RUNS, SecretShares, sample_rows, sweep
from dplab.limits.tracing import noise_of

DELTA = 1e-6


def coins(seed: int, *, attributes: int = 24, people: int = 100) -> Booleans:
    flips: Booleans = np.random.default_rng(seed).random((people, attributes)) < 0.5
    return flips


def swept(rows: Booleans, seed: int, *, people: int = 100, secret: int = 0) -> SecretShares:
    return finish(sweep(sample_rows(rows, secret=secret, size=2, people=people, seed=seed), delta=DELTA, seed=seed))


def test_small_noise_gives_the_bits_away_and_large_noise_does_not(seed: int) -> None:
    shares = swept(coins(seed), seed)
    assert shares.by_noise.shape == (len(ATTACKS), len(MULTIPLES), RUNS)
    assert (shares.by_noise[:, 0] == 1).all() and shares.by_noise[:, 1].mean() > 0.85
    # At 4 √n: a coin for each of 100 bits and 10 runs has a standard deviation of 0.016.
    assert shares.by_noise[:, -1].mean(axis=1).max() < 0.62
    np.testing.assert_allclose(shares.errors, 10 * np.array(MULTIPLES))


def test_private_marginals_are_guessed_no_better_than_by_a_constant_and_a_large_epsilon_reveals_them() -> None:
    rows = yes_no_of("adult").dataset().records
    over = np.stack([
        swept(rows, seed, people=200).by_epsilon.mean(axis=2)
        - sample_rows(rows, secret=0, size=2, people=200, seed=seed).constant_share
        for seed in range(5)
    ])  # fmt: skip
    gain = over.mean(axis=0)
    assert gain[:, LOSSES.index(0.1)].max() < 0.01 and gain[:, LOSSES.index(1.0)].max() < 0.01
    assert gain[:, LOSSES.index(1000.0)].min() > 0.15
    at_ten = gain[:, LOSSES.index(10.0)]
    assert at_ten[1] > at_ten[0] + 0.05 and at_ten[1] > 0.02, "who knows the noise finds more"


def test_no_share_of_least_squares_is_below_what_is_proved(seed: int) -> None:
    rows = coins(seed, attributes=40, people=30)
    shares = swept(rows, seed, people=30)
    masks = sample_rows(rows, secret=0, size=2, people=30, seed=seed).masks
    proved = 1 - subset_sum.max_wrong_bits(masks, error=shares.errors) / 30
    assert proved[0] == 1 and (shares.by_noise[0].min(axis=1) >= proved).all()
    assert proved[1] > 0, "a bound is left at some noise"
    assert shares.proved[0] == 1 and (np.diff(shares.proved) <= 0).all() and shares.levels[-1] == shares.errors[-1]


def test_noise_of_private_marginals_hides_one_row_in_all_of_them(seed: int) -> None:
    attacked = sample_rows(coins(seed), secret=0, size=2, people=100, seed=seed)
    groups = len(attacked.masks)
    shares = finish(sweep(attacked, delta=DELTA, seed=seed))
    for sigma, epsilon in zip(shares.sigmas, LOSSES, strict=True):
        assert sigma == pytest.approx(math.sqrt(noise_of(attributes=groups, epsilon=epsilon, delta=DELTA).variance))
    # A row that is replaced moves each number by 1 at most, so their squared distance is at most m.
    moved = attacked.masks[:, :, None].astype(int) - attacked.masks[:, None, :].astype(int)
    assert (moved**2).sum(axis=0).max() <= groups and groups == 1 + 23 + 253


def test_the_secret_is_among_no_known_attribute_and_rows_are_sampled_once(seed: int) -> None:
    rows = np.arange(64)[:, None] >> np.arange(6) & 1 == 1  # every row once
    attacked = sample_rows(rows, secret=2, size=5 - 1, people=500, seed=seed)
    assert attacked.masks.shape[1] == 64 and attacked.secret.sum() == 32 and attacked.distinct == 32
    assert attacked.constant_share == 0.5
    assert (finish(sweep(attacked, delta=DELTA, seed=seed)).by_noise[:, 0] < 0.7).all(), "pairs of rows are alike"
    assert sample_rows(rows, secret=0, size=2, people=20, seed=seed).secret.shape == (20,)
    for bad in (rows[:0], rows[:, :1]):
        with pytest.raises(ParameterError, match="needs a row, and an attribute besides"):
            sample_rows(bad, secret=0, size=1, people=20, seed=1)
