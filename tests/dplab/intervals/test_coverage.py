"""Coverage of proved intervals of counters: 10,000 releases of each, refuted by an exact test; with a control."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import Preview
from dpcore.core import Floats, Integers
from dpcore.randomness import GaussianCounts
from dplab.intervals.combinations import linear, people, single
from dplab.intervals.interval import Interval, Kind, around, level_each
from dplab.intervals.noise import CounterNoise, GaussianNoise, LaplaceNoise
from dplab.intervals.ratios import difference, mean, ratio
from dplab.intervals.spread import powers_of, standard_deviation, variance
from tests.dplab.intervals.coverage import TRIALS, refuted, released

EPSILONS = (0.1, 0.5, 1.0, 3.0)
GROUPS = ((1, 0.0), (1, 1.0), (2, 0.5), (5, 0.0), (20, 0.1), (100, 0.5), (100, 1.0), (1000, 0.03), (1000, 0.5))
"""Rows and the share of the mean, as near to it as whole counters are."""
LEVELS = pytest.mark.parametrize("level", [0.95, 0.8])


def two_ended(rows: int, share: float, weight: int) -> list[int]:
    above = round(rows * weight * share)
    return [rows * weight - above, above]


def bernstein(shares: Floats, weight: int) -> list[int]:
    """Counters of degree 2 of rows at whole numbers of ``weight`` along the line."""
    i = np.rint(shares * weight).astype(np.int64)
    return [int(((weight - i) ** 2).sum()), int((2 * i * (weight - i)).sum()), int((i * i).sum())]


def normal_interval(counters: Integers, deviation: float) -> Interval:
    """Return the released number and 1.96 standard deviations to both sides."""
    return around(counters, 1.96 * deviation, level=0.95, kind=Kind.APPROXIMATE)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("weight", [1, 16, 512, 2048])
def test_means_people_and_counters_are_covered(weight: int, epsilon: float, seed: int) -> None:
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=weight)
    for place, (rows, share) in enumerate(GROUPS):
        true = two_ended(rows, share, weight)
        counters = released(true, noise, seed=seed + place)
        by_mean = mean(counters, noise, level=0.95)
        assert not refuted(by_mean.contains(true[1] / sum(true)), level=0.95), (rows, share)
        assert not refuted(people(counters, noise, weight=weight, level=0.95).contains(rows), level=0.95)
        assert not refuted(single(counters, noise, level=0.95).contains(true), level=0.95)
        total = linear(counters, [2.5 / weight, 7 / weight], noise, level=0.95)
        assert not refuted(total.contains((2.5 * true[0] + 7 * true[1]) / weight), level=0.95)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_control_normal_intervals_are_refuted(epsilon: float, seed: int) -> None:
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=1)
    counters = released([50], noise, seed=seed)
    covered = normal_interval(counters, noise.deviation).contains(50)
    assert refuted(covered, level=0.95) and 0.9 < covered.mean() < 0.94
    assert not refuted(single(counters, noise, level=0.95).contains(50), level=0.95)


def test_control_half_the_noise_is_refuted(seed: int) -> None:
    noise = LaplaceNoise(64.0)
    counters = released([3000, 3400], noise, seed=seed)
    assert refuted(mean(counters, LaplaceNoise(48.0), level=0.95).contains(3400 / 6400), level=0.95)
    assert refuted(people(counters, LaplaceNoise(48.0), weight=64, level=0.95).contains(100), level=0.95)


@LEVELS
@pytest.mark.parametrize("sigma", [0.7, 3.0, 150.0, 5000.0])
def test_gaussian_counters_are_covered_and_hardly_more(sigma: float, level: float, seed: int) -> None:
    noise: CounterNoise = GaussianNoise(sigma)
    true = [round(60 * sigma), round(25 * sigma)]
    draw = GaussianCounts(np.array([true]), sigma=sigma, squared_shift=1)
    counters = Preview(seed).draw(draw, TRIALS)
    found = mean(counters, noise, level=level).contains(true[1] / sum(true))
    assert not refuted(found, level=level)
    assert sigma < 100 or found.mean() < level + 0.02
    covered = people(counters, noise, weight=1, level=level).contains(sum(true))
    assert not refuted(covered, level=level)
    assert sigma < 100 or covered.mean() < level + 0.02


def test_coverage_is_hardly_above_the_level_where_noise_has_many_units(seed: int) -> None:
    noise = LaplaceNoise.of(epsilon=1.0, sensitivity=512)
    for share in (0.1, 0.5):
        true = two_ended(400, share, 512)
        found = mean(released(true, noise, seed=seed), noise, level=0.95).contains(share)
        assert 0.94 < found.mean() < 0.96


def test_where_a_group_may_be_empty_nothing_is_said(seed: int) -> None:
    noise = LaplaceNoise.of(epsilon=0.5, sensitivity=16)
    found = mean(released([0, 0], noise, seed=seed), noise, level=0.95, low=-3.0, high=5.0)
    assert found.says_nothing.mean() > 0.97
    assert (found.low[found.says_nothing] == -3).all() and (found.high[found.says_nothing] == 5).all()
    assert not mean(released([1600, 1600], noise, seed=seed), noise, level=0.95).says_nothing.any()


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1, 2048])
def test_32_groups_hold_together_at_the_root_and_rarely_pointwise(weight: int, seed: int) -> None:
    groups, noise = 32, LaplaceNoise.of(epsilon=1.0, sensitivity=weight)
    shares, rows = np.linspace(0.1, 0.9, groups), 200
    true = np.array([two_ended(rows, share, weight) for share in shares])
    counters = released(true.ravel().tolist(), noise, seed=seed, trials=3000).reshape(3000, groups, 2)
    together = mean(counters, noise, level=level_each(0.95, independent=groups))
    truth = true[:, 1] / true.sum(axis=1)
    assert not refuted(together.contains(truth).all(axis=1), level=0.95)
    pointwise = mean(counters, noise, level=0.95).contains(truth).all(axis=1)
    assert refuted(pointwise, level=0.95)
    if weight > 1:
        assert 0.15 < pointwise.mean() < 0.24
        assert together.contains(truth).all(axis=1).mean() < 0.97


def test_several_statistics_of_the_same_counters_hold_together(seed: int) -> None:
    noise, true = LaplaceNoise.of(epsilon=1.0, sensitivity=128), two_ended(80, 0.3, 128)
    counters, each = released(true, noise, seed=seed), level_each(0.95, dependent=3)
    covered = mean(counters, noise, level=each).contains(true[1] / sum(true))
    covered &= people(counters, noise, weight=128, level=each).contains(80)
    covered &= linear(counters, [0, 1], noise, level=each).contains(true[1])
    assert not refuted(covered, level=0.95)


@pytest.mark.slow
@LEVELS
@pytest.mark.parametrize(("epsilon", "bits"), [(0.1, 5), (1.0, 10), (3.0, 3)])
@pytest.mark.parametrize("rows", [8, 200])
def test_moments_of_bernstein_counters_are_covered(
    rows: int, epsilon: float, bits: int, level: float, seed: int
) -> None:
    weight = 1 << bits
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=weight**2)
    shares = np.random.default_rng(seed).beta(2, 5, rows)
    on_grid = np.rint(shares * weight) / weight
    counters = released(bernstein(shares, weight), noise, seed=seed)
    found = mean(counters, noise, level=level, low=-2.0, high=8.0)
    assert not refuted(found.contains(-2 + 10 * on_grid.mean()), level=level)
    spread = variance(counters[:2000], powers_of(2), noise, level=level, low=-2.0, high=8.0)
    assert not refuted(spread.contains(100 * on_grid.var()), level=level)
    assert not refuted(standard_deviation(spread).contains(10 * on_grid.std()), level=level)
    if rows * epsilon > 100:
        assert found.contains(-2 + 10 * on_grid.mean()).mean() < level + 0.02
        assert np.median(spread.high - spread.low) < 12


def test_ratios_of_sums_are_covered(seed: int) -> None:
    weight, rows = 64, 150
    noise = LaplaceNoise.of(epsilon=1.0, sensitivity=weight**2)
    u, v = np.random.default_rng(seed).integers(0, weight + 1, (2, rows))
    parts = [(weight - u) * (weight - v), u * (weight - v), (weight - u) * v, u * v]
    counters = released([int(part.sum()) for part in parts], noise, seed=seed)
    found = ratio(counters, [0, 0, 1, 1], [0, 1, 0, 1], noise, level=0.95, high=10.0)
    covered = found.contains(v.sum() / u.sum())
    assert not refuted(covered, level=0.95) and covered.mean() < 0.965 and np.median(found.half_width) < 0.1


def test_a_difference_of_two_groups_is_covered_as_measured(seed: int) -> None:
    noise = LaplaceNoise.of(epsilon=1.0, sensitivity=512)
    first, second = two_ended(300, 0.2, 512), two_ended(80, 0.6, 512)
    one, other = (released(true, noise, seed=seed + place) for place, true in enumerate((first, second)))
    points = (one[:, 1] / one.sum(axis=1), other[:, 1] / other.sum(axis=1))
    found = difference(mean(one, noise, level=0.95), mean(other, noise, level=0.95), points)
    covered = found.contains(first[1] / sum(first) - second[1] / sum(second))
    assert found.kind is Kind.APPROXIMATE and not refuted(covered, level=0.95) and covered.mean() < 0.965


@pytest.mark.parametrize("level", [0.6, 0.95, 0.999])
@pytest.mark.parametrize("noise", [LaplaceNoise(400.0), GaussianNoise(400.0)], ids=repr)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_what_is_not_refuted_is_one_interval_and_it_is_found(
    count: int, noise: CounterNoise, level: float, seed: int
) -> None:
    counters = np.random.default_rng(seed).integers(-500, 4000, (40, count))
    found = mean(counters, noise, level=level)
    top, thetas = np.arange(count) / (count - 1), np.linspace(0, 1, 2001)
    weights = top - thetas[:, None]
    for each, low, high, silent in zip(counters, found.low, found.high, found.says_nothing, strict=True):
        if silent:
            continue
        kept = noise.tail(np.abs(weights @ each), weights) >= 1 - level
        inside = (low <= thetas) & (thetas <= high)
        assert not (kept & ~inside).any()
        # At an empty interval's point, and at the ends themselves, rounding decides.
        assert (kept | ~inside | (np.abs(thetas - low) < 1e-9) | (np.abs(thetas - high) < 1e-9)).all()


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_means_of_bernstein_counters_of_degree_3_are_covered(epsilon: float, seed: int) -> None:
    weight, rows = 32, 100
    i = np.random.default_rng(seed).integers(0, weight + 1, rows)
    true = [int((math.comb(3, j) * i**j * (weight - i) ** (3 - j)).sum()) for j in range(4)]
    assert sum(true) == rows * weight**3
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=weight**3)
    covered = mean(released(true, noise, seed=seed), noise, level=0.95).contains(i.mean() / weight)
    assert not refuted(covered, level=0.95) and covered.mean() < 0.965
