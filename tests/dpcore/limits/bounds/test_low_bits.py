"""The low-bits attack: it breaks naive floating-point noise and not the secure sampler."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import Floats, ParameterError
from dpcore.limits.bounds import low_bits
from dpcore.limits.chance import binomial_interval
from dpcore.randomness import NoisyCounts, Preview, Sampler, Secure
from tests.kit.statistics import HARDLY_EVER

TRIALS = 5_000  # of each count: 10,000 in all


def drawn(sampler: Sampler, value: int, *, epsilon: float) -> Floats:
    counts = sampler.draw(NoisyCounts(np.array([[value]]), epsilon=epsilon, sensitivity=1), TRIALS)
    return counts[:, 0].astype(np.float64)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_naive_noise_is_broken(epsilon: float, seed: int) -> None:
    low, high = (low_bits.naive_laplace(v, scale=1 / epsilon, trials=TRIALS, seed=seed + v) for v in (0, 1))
    verdict = low_bits.score(low, high, low=0, high=1, epsilon=epsilon, confidence=1 - 1e-6)
    assert verdict.trials == 10_000
    assert verdict.broken
    assert verdict.interval[0] > verdict.allowed + 0.05
    assert verdict.certain > 0.5


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_secure_sampler_stays_within_what_is_allowed(epsilon: float) -> None:
    # No seed repeats the system's entropy, so it is given room: chance has to be improbable, not only unlikely.
    sampler, confidence = Secure(), 1 - HARDLY_EVER
    low, high = (drawn(sampler, value, epsilon=epsilon) for value in (0, 1))
    verdict = low_bits.score(low, high, low=0, high=1, epsilon=epsilon, confidence=confidence)
    assert not verdict.broken
    # Nor does the best attack on discrete noise, the nearer count, do better than allowed.
    right = int((low <= 0).sum() + (high >= 1).sum())
    interval = binomial_interval(right, 2 * TRIALS, confidence=confidence)
    assert interval[0] <= verdict.allowed <= interval[1]


def test_previews_of_discrete_noise_resist_as_well(seed: int) -> None:
    sampler = Preview(seed)
    low, high = (drawn(sampler, value, epsilon=0.5) for value in (0, 1))
    assert not low_bits.score(low, high, low=0, high=1, epsilon=0.5, confidence=1 - 1e-6).broken


@pytest.mark.slow
@pytest.mark.parametrize("value", [0, 1, -3, 1000])
@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
def test_what_comes_out_is_reachable(value: int, scale: float, seed: int) -> None:
    outputs = low_bits.naive_laplace(value, scale=scale, trials=20_000, seed=seed)
    assert low_bits.reachable(outputs, value, scale=scale).all()


def test_the_witness_is_recomputed(seed: int) -> None:
    # For outputs declared out of reach, try a hundred times as many uniforms around the one that fits best.
    outputs = low_bits.naive_laplace(1, scale=2.0, trials=300, seed=seed)
    guesses = low_bits.attack(outputs, low=0, high=1, scale=2.0)
    ruled_out = outputs[guesses.certain]
    assert guesses.high[guesses.certain].all() and len(ruled_out) > 100
    window = np.arange(-2_000, 2_001)
    for output in ruled_out:
        centre = np.rint(np.exp(-abs(output) / 2.0) * 2.0**53)
        candidates = centre + window
        candidates = candidates[(candidates >= 1) & (candidates <= 2.0**53)]
        made = np.sign(output) * -(2.0 * np.log(candidates / 2.0**53))
        assert made.min() <= abs(output) * np.sign(output) <= made.max()
        assert not (made == output).any()


def test_small_outputs_are_searched_in_full() -> None:
    # Near the value 0 few uniforms exist: every one of the largest 4,096 is reachable, and the doubles between are not.
    uniforms = 1 - np.arange(1, 4097) * 2.0**-53
    outputs = -np.log(uniforms)
    assert low_bits.reachable(outputs, 0.0, scale=1.0).all()
    between = np.nextafter(outputs, np.inf)
    assert not np.isin(between, outputs).any()
    assert not low_bits.reachable(between, 0.0, scale=1.0).any()


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="scale"):
        low_bits.naive_laplace(0, scale=0.0, trials=1, seed=1)
    with pytest.raises(ParameterError, match="lower one first"):
        low_bits.attack(np.zeros(1), low=1, high=1, scale=1.0)
    with pytest.raises(ParameterError, match="equally many"):
        low_bits.score(np.zeros(1), np.zeros(2), low=0, high=1, epsilon=1.0)
