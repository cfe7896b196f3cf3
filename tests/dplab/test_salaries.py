"""Salaries three ways: previews are the laws', intervals hold what they say, hard data are exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from dpcore import Dataset, Number, Problem, Provenance, ProvenanceKind, Thresholds, entry
from dpcore.data.bundled import bundled
from dpcore.data.columns import is_number
from dpcore.mechanisms.robust.stable_median import StableMedian, stability
from dplab.salaries import (
    CURVE,
    EPSILONS,
    KEYS,
    Comparison,
    compare,
    hardest,
    nearest,
    order_of_interval,
    promised_rank,
    ranks,
    refusals,
    some_rows,
)
from tests.kit import in_blocks

PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="test")


@pytest.fixture(scope="module")
def salaries() -> Dataset:
    rng = np.random.Generator(np.random.SFC64(3))
    return Dataset(Number(low=0, high=100, bits=6, unit="USD"), rng.binomial(63, 0.3, 4000), PROVENANCE)


def compared(*, n: int, stable: int) -> Comparison:
    """A comparison as made from data of so many rows."""
    losses = np.array(EPSILONS)
    rank = np.minimum(0.5, 5 / losses / n)
    return Comparison(
        domain=Number(low=0, high=100, bits=10, unit="USD"),
        n=n,
        trials=500,
        exact=(50.0, 50.0, 49.0),
        error=np.ones((3, len(EPSILONS))),
        refused=np.tile((losses < 0.5).astype(float), (3, 1)),
        delta=1e-6,
        stable=stable,
        rank=np.stack([rank, 0.9 * rank, 1.1 * rank]),
    )


def test_salaries_are_compared_at_every_epsilon(salaries: Dataset) -> None:
    comparison, shares = in_blocks(compare(salaries, delta=1e-6, trials=300, seed=1))
    assert len(shares) == len(KEYS) * len(EPSILONS) and shares == sorted(shares) and shares[-1] < 1
    stable = stability(salaries.histogram, domain=salaries.domain)[1]
    for column, epsilon in enumerate(EPSILONS):
        expected = 1 - float(StableMedian(epsilon=epsilon).chance(stable))
        assert comparison.refused[0, column] == pytest.approx(expected, abs=0.12)
    assert (comparison.refused[1:] == 0).all() and np.nanmax(comparison.error[0]) == 0
    assert (np.diff(comparison.error[1:, :6]) <= 0.5).all()
    middle, low, high = comparison.rank
    assert (low <= middle).all() and (middle <= high).all()


def test_some_rows_are_a_seeded_draw_without_replacement(salaries: Dataset) -> None:
    one, same, other = (some_rows(salaries, n=500, seed=seed) for seed in (1, 1, 2))
    assert one.n == 500 and (one.histogram <= salaries.histogram).all()
    assert np.array_equal(one.records, same.records) and not np.array_equal(one.records, other.records)
    assert some_rows(salaries, n=10**6, seed=1) is salaries


@pytest.mark.parametrize("trials", [20, 500, 1000])
def test_the_interval_of_a_quantile_holds_it_as_often_as_told(trials: int) -> None:
    middle, low, high = order_of_interval(trials)
    assert low <= middle <= high < trials
    # Numbers up to the law's quantile are binomial; the interval misses it if they are too few or too many.
    missed = bdtr(low, trials, 0.95) if low else 0.0
    beyond = bdtrc(high, trials, 0.95) if high < trials - 1 else 0.0
    assert missed <= 0.025 and beyond <= 0.025
    if trials >= 500:
        assert missed + beyond > 0.02, "not wider than need be"


@pytest.mark.parametrize("stable", [1, 33])
def test_refusals_are_exact_and_nobody_s_are_fewer_than_the_wall(stable: int) -> None:
    curves = refusals(compared(n=1000, stable=stable))
    assert (curves.promise >= curves.lower_bound - 1e-12).all() and (np.diff(curves.lower_bound) <= 1e-12).all()
    for epsilon, exact in zip(CURVE.tolist()[::20], curves.promise[::20], strict=True):
        assert exact == 1 - float(StableMedian(epsilon=epsilon, delta=1e-6).chance(stable))
    assert curves.observed.tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert curves.high[-1] == pytest.approx(0.007351, abs=1e-5)  # none of 500
    assert not len(curves.hard)


@pytest.mark.parametrize("n", [300, 61_395])
def test_on_the_data_of_the_proof_the_mechanism_is_hardly_above_the_wall(n: int) -> None:
    comparison = compared(n=n, stable=9)
    curves = ranks(comparison)
    assert (curves.promise > curves.lower_bound).all()
    for epsilon, share in zip(EPSILONS, curves.hard, strict=True):
        promised, wall = promised_rank(comparison, epsilon)
        assert wall <= share + 1 / n and share <= 1.1 * wall + 2 / n and share <= promised


def test_hard_data_are_exact() -> None:
    line = Number(bits=3)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=50)
    assert hardest(problem, epsilon=20.0, lower_bound=0.4) == 0
    rank = hardest(problem, epsilon=0.01, lower_bound=0.1)
    assert rank == pytest.approx(0.12), "5 or 6 of the 50 rows, as 10 of them are in one cell, and it nearly always is"


def test_the_nearest_loss_is_so_by_its_factor() -> None:
    assert [EPSILONS[nearest(epsilon)] for epsilon in (1e-4, 0.03, 0.7, 0.72, 99.0)] == [0.01, 0.02, 0.5, 1.0, 5.0]


def test_more_salaries_are_on_average_more_stable_and_their_mean_has_less_noise() -> None:
    salaries, counts = bundled("earnings", "earnings").dataset(), (300, 1000, 3000, 10_000, 30_000, 61_395)
    used = [some_rows(salaries, n=n, seed=1) for n in counts]
    draws = [[some_rows(salaries, n=n, seed=seed) for seed in range(40)] for n in counts]
    stable = [np.mean([stability(each.histogram, domain=each.domain)[1] for each in same]) for same in draws]
    line = salaries.domain
    assert is_number(line)
    problems = [Problem(domain=line, queries=Thresholds(domain=line), n=each.n) for each in used]
    noise = [entry("clipped_mean").make(epsilon=1.0).accuracy(each, 0.05).value for each in problems]
    assert stable == sorted(set(stable)) and noise == sorted(set(noise), reverse=True)
