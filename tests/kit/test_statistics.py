"""The statistical assertions themselves: right samples pass as often as they should, wrong ones do not."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, chdtrc, gammaincc

from dpcore.core import Floats
from dpcore.randomness import Preview, Sampler, Secure
from tests.kit.statistics import (
    FEWEST_EXPECTED,
    SECURE_SAMPLES,
    SIGNIFICANCE,
    assert_chance_at_most,
    assert_law,
    assert_law_from,
    assert_other_law,
    binomial_chances,
    binomial_tail,
    chi_square_tail,
    clopper_pearson,
    surprise,
    tally,
    tally_rows,
)

LAW = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.04, 0.01])


def pearson(observed: NDArray[Any], expected: Floats) -> float:
    """Chance of a chi-square number of one degree fewer than outcomes, at least as large as Pearson's statistic."""
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(gammaincc((len(observed) - 1) / 2, statistic / 2))


def test_chi_square_tail_is_pearsons() -> None:
    observed = np.array([5100, 1950, 1000, 950, 510, 390, 100])
    assert chi_square_tail(observed, LAW) == pytest.approx(pearson(observed, 10_000 * LAW), rel=1e-9)


def test_rare_outcomes_are_pooled() -> None:
    observed = np.array([460, 170, 95, 85, 50, 30, 10])  # 90 of each 10% are too few, as are 90 of the last three
    pooled, law = np.array([460, 170, 270]), np.array([0.5, 0.2, 0.3])
    assert chi_square_tail(observed, LAW) == pytest.approx(pearson(pooled, 900 * law), rel=1e-9)
    with pytest.raises(ValueError, match="tests nothing"):
        chi_square_tail(np.array([60, 40]), np.array([0.6, 0.4]))
    with pytest.raises(ValueError, match="add up to 1"):
        chi_square_tail(observed, LAW / 2)


@pytest.mark.slow
def test_right_samples_are_rejected_at_the_stated_rate(seed: int) -> None:
    """Of 20,000 samples of 5,000 draws about 20 fall below a tail of 1e-3; an exact binomial tail says how many may."""
    generator = np.random.Generator(np.random.PCG64(seed))
    samples = generator.multinomial(5_000, LAW, size=20_000)
    rejected = sum(chi_square_tail(sample, LAW) < 1e-3 for sample in samples)
    assert_chance_at_most(rejected, trials=20_000, chance=1.3e-3)
    assert rejected >= 5


def test_wrong_samples_are_rejected(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    right, wrong = generator.multinomial(20_000, LAW), generator.multinomial(20_000, LAW[[1, 0, 2, 3, 4, 5, 6]])
    assert_law(right, LAW)
    assert_other_law(wrong, LAW)
    with pytest.raises(AssertionError, match="do not have the exact law"):
        assert_law(wrong, LAW)
    with pytest.raises(AssertionError, match="wrong law pass"):
        assert_other_law(right, LAW)
    assert chi_square_tail(np.array([500, 499, 1]), np.array([0.5, 0.5, 0.0])) == 0


def test_entropy_fails_after_three_wrong_samples_in_a_row_and_a_seed_after_one(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    right, wrong = generator.multinomial(20_000, LAW), generator.multinomial(20_000, LAW[[1, 0, 2, 3, 4, 5, 6]])
    for samples in ([right], [wrong, right], [wrong, wrong, right]):
        assert_law_from(Secure(), partial(next, iter(samples)), LAW)
    sampler: Sampler
    for sampler, samples in ((Secure(), [wrong, wrong, wrong, right]), (Preview(seed), [wrong, right])):
        with pytest.raises(AssertionError, match="do not have the exact law"):
            assert_law_from(sampler, partial(next, iter(samples)), LAW)


@pytest.mark.parametrize("draws", [4_000, 20_000, 400_000])
def test_three_samples_of_a_right_sampler_fail_hardly_ever(draws: int) -> None:
    """The pools whose tail is heaviest, one of FEWEST_EXPECTED draws and the rest, by their exact law."""
    chance = FEWEST_EXPECTED / draws
    counts = np.arange(draws + 1)
    expected = FEWEST_EXPECTED
    statistics = (counts - expected) ** 2 * (1 / expected + 1 / (draws - expected))
    fails = float(binomial_chances(draws, chance)[chdtrc(1, statistics) < SIGNIFICANCE].sum())
    assert SIGNIFICANCE < fails < 3 * SIGNIFICANCE
    assert 100 * fails**SECURE_SAMPLES < 1e-14, "of a hundred such tests together"


def test_tallies() -> None:
    assert tally(np.array([-9, 0, 1, 1, 7]), low=0, high=2).tolist() == [2, 2, 1]
    known = np.array([[0.0, 2.0], [np.inf, np.inf], [0.0, 1.0]])
    assert tally_rows(known[[0, 0, 1, 2, 0]], known).tolist() == [3, 1, 1]
    with pytest.raises(AssertionError, match="no chance"):
        tally_rows(np.array([[5.0, 5.0]]), known)


@pytest.mark.parametrize(("successes", "trials", "chance"), [(0, 9, 0.2), (3, 9, 0.2), (500, 2000, 0.2), (9, 9, 0.5)])
def test_binomial_tails(successes: int, trials: int, chance: float) -> None:
    wanted = binomial_chances(trials, chance)[successes:].sum()
    assert binomial_tail(successes, trials=trials, chance=chance) == pytest.approx(wanted, rel=1e-9)
    low, high = clopper_pearson(successes, trials=trials, significance=0.02)
    assert successes == 0 or bdtrc(successes - 1, trials, low) == pytest.approx(0.01)
    assert successes == trials or bdtr(successes, trials, high) == pytest.approx(0.01)
    assert low <= successes / trials <= high


def test_a_broken_promise_of_a_chance_is_seen() -> None:
    assert_chance_at_most(450, trials=2_000, chance=0.2)
    with pytest.raises(AssertionError, match="promised"):
        assert_chance_at_most(500, trials=2_000, chance=0.2)


def test_surprise_bounds_the_binomial_tail() -> None:
    """For coins the tail is known exactly; the bound must lie above it, and not far."""
    trials, limit = 40, 0.3
    for heads in range(13, 41):
        tail = binomial_tail(heads, trials=trials, chance=limit)
        assert tail <= surprise(heads / trials, limit=limit, trials=trials) * (1 + 1e-12) <= 30 * tail
    assert surprise(0.2, limit=0.3, trials=5) == 1.0
    assert surprise(0.1, limit=0.0, trials=5) == 0.0
