"""Sampled sensitivity: (ε, γ) by exact enumeration of finite populations, the statistics, and what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpcore.core import Floats, Integers, ParameterError
from dpcore.mechanisms.robust.sampled_sensitivity import (
    PENALTY,
    STATISTICS,
    TUNING,
    UNITS,
    SampledNoise,
    least_sensitivity,
    order_needed,
    paper_samples,
    public_distribution,
    values,
)
from dpcore.privacy.composition import compose
from dpcore.randomness import Preview, Secure
from tests.kit.statistics import assert_law, assert_other_law

POPULATIONS = [
    np.array(each) / sum(each)
    for each in ((1, 1, 1, 1), (8, 4, 2, 1), (20, 1, 1, 1), (1, 0, 0, 1), (6, 1, 0, 1), (97, 1, 1, 1), (5, 3, 1, 9))
]
ROWS = 4


def law_of_differences(statistic: str, population: Floats, *, rows: int = ROWS) -> dict[int, float]:
    """Chance of every difference of the statistic, over all ordered samples of n + 1 rows: (X, x_n), (X, x_(n+1))."""
    cells, law = len(population), dict[int, float]()
    samples = np.array(list(itertools.product(range(cells), repeat=rows + 1)))
    one, other = samples[:, :rows], np.concatenate([samples[:, : rows - 1], samples[:, rows:]], axis=1)
    counted = [np.stack([np.bincount(each, minlength=cells) for each in side]) for side in (one, other)]
    differences = np.abs(values(statistic, counted[0]) - values(statistic, counted[1]))
    for difference, chance in zip(differences.tolist(), population[samples].prod(axis=1).tolist(), strict=True):
        law[difference] = law.get(difference, 0.0) + chance
    return law


def log_ratio(difference: int, *, scale: int, epsilon: float) -> float:
    """The largest log ratio of the laws of two noisy whole numbers so far apart, noise being discrete Laplace."""
    if not difference:
        return 0.0
    places = np.round(np.linspace(-difference, 2 * difference, 31))
    one, other = (-np.abs(places - at) * epsilon / scale for at in (0, difference))
    return float(np.abs(one - other).max())


def failing_chance(law: dict[int, float], *, samples: int, order: int, epsilon: float) -> float:
    """Exact chance that a pair of data sets, hidden by the k-th smallest of m sampled differences, loses above ε."""
    levels = sorted(law)
    up_to = np.minimum(1.0, np.cumsum([law[level] for level in levels]))
    at_most = binom.sf(order - 1, samples, up_to)  # the k-th smallest is at most a level: k or more samples are
    chances = np.diff(np.concatenate([[0.0], at_most]))
    return sum(
        float(chance) * law[difference]
        for scale, chance in zip(levels, chances, strict=True)
        for difference in levels
        if log_ratio(difference, scale=max(1, scale), epsilon=epsilon) > epsilon * (1 + 1e-9)
    )


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_exact_gamma_of_finite_populations_is_within_the_claim_and_fewer_samples_break_it(statistic: str) -> None:
    laws = [law_of_differences(statistic, population) for population in POPULATIONS]
    for gamma, samples in ((0.05, 19), (0.05, 60), (0.2, 30), (0.5, 1), (0.5, 9)):
        order = order_needed(samples=samples, gamma=gamma)
        exact = [failing_chance(law, samples=samples, order=order, epsilon=1.0) for law in laws]
        assert max(exact) <= gamma * (1 + 1e-12)
        # Controls: half of k, and (below) too few samples.
        smaller = [failing_chance(law, samples=samples, order=max(1, order // 2), epsilon=1.0) for law in laws]
        assert max(smaller) > gamma or gamma == 0.5
    few = [failing_chance(law, samples=3, order=3, epsilon=1.0) for law in laws]
    assert max(few) > 0.05


@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.3])
def test_the_paper_s_theorem_holds_and_takes_many_more_samples_than_ranks(gamma: float) -> None:
    samples, order = paper_samples(gamma)
    fewest = math.ceil(1 / gamma) - 1
    assert order_needed(samples=fewest, gamma=gamma) == fewest
    with pytest.raises(ParameterError, match=rf"at least {fewest} are needed"):
        order_needed(samples=fewest - 1, gamma=gamma)
    for statistic, population in itertools.product(STATISTICS, POPULATIONS[:4]):
        law = law_of_differences(statistic, population)
        assert failing_chance(law, samples=samples, order=order, epsilon=1.0) <= gamma
    assert samples > 5 * fewest


def test_the_paper_s_samples_are_the_fewest_over_rho() -> None:
    """Recomputed from Theorem 15 by a plain search."""
    for gamma in (0.05, 0.1, 0.4):
        tried = [
            math.ceil(math.log(1 / rho) / (2 * (gamma - rho) ** 2)) for rho in np.linspace(1e-5, gamma - 1e-5, 20_000)
        ]
        assert paper_samples(gamma)[0] == min(tried)
    assert paper_samples(0.1)[0] == 285


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_differences_are_sampled_from_their_exact_law(statistic: str, seed: int) -> None:
    population, other = POPULATIONS[1], POPULATIONS[0]
    law = law_of_differences(statistic, population)
    levels = sorted(law)
    noise = SampledNoise(
        statistic=statistic, distribution=population, rows=ROWS, epsilon=1.0, samples=20_000, seed=seed
    )

    def tally(shares: Floats) -> Integers:
        drawn = SampledNoise(**{**vars(noise), "distribution": shares}).differences()
        return np.array([(drawn == level).sum() for level in levels])

    expected = np.array([law[level] for level in levels])
    assert_law(tally(population), expected)
    assert_other_law(tally(other), expected)


def test_the_statistics_are_those_of_the_rows(seed: int) -> None:
    """Against the rows one by one: the mean of all pairs, the zero of the pulls, the minimum of the penalised loss."""
    rows = np.random.Generator(np.random.SFC64(seed)).integers(0, 16, 31)
    counts, places = np.bincount(rows, minlength=16)[None], rows / 15
    pairs = [abs(a - b) for a, b in itertools.combinations(places.tolist(), 2)]
    assert values("gini", counts)[0] / UNITS == pytest.approx(np.mean(pairs), abs=1e-6)
    middle = values("huber", counts)[0] / UNITS
    assert np.clip(places - middle, -TUNING, TUNING).sum() == pytest.approx(0, abs=1e-4)
    theta, signs = values("logistic", counts)[0] / UNITS, np.where(rows >= 8, 1, -1)

    def loss(at: float) -> float:
        return float(np.log1p(np.exp(-signs * at)).mean() + PENALTY * at**2 / 2)

    assert loss(theta) <= min(loss(theta - 0.01), loss(theta + 0.01))
    # Chaudhuri and Monteleoni: one row moves the minimum by at most 2/(nλ); a global sensitivity is no less than ours.
    assert least_sensitivity("logistic", rows=100) / UNITS <= 2 / (100 * PENALTY)
    assert least_sensitivity("gini", rows=100) / UNITS == pytest.approx(2 / 100, abs=2e-6)
    assert least_sensitivity("huber", rows=101) / UNITS > 0.75
    assert least_sensitivity("huber", rows=5001) / UNITS > 0.75


def test_the_noise_covers_the_typical_row_and_not_the_worst_data() -> None:
    for statistic in STATISTICS:
        distribution = public_distribution("bell", 64)
        noise = SampledNoise(statistic=statistic, distribution=distribution, rows=400, epsilon=1.0, gamma=0.05)
        differences = noise.differences()
        scale = noise.sensitivity(differences)
        assert (differences > scale).mean() <= 0.05
        assert least_sensitivity(statistic, rows=400) > 2 * scale


def test_it_is_never_released_and_public_numbers_alone_set_the_noise(seed: int) -> None:
    noise = SampledNoise(statistic="gini", distribution=public_distribution("even", 8), rows=40, epsilon=1.0)
    promised = noise.guarantee()
    assert promised.gamma == 0.1 and not promised.releasable
    assert "previews only" in promised.why_not
    assert not compose([promised, promised]).releasable
    differences, histogram = noise.differences(), np.full(8, 5)
    with pytest.raises(ParameterError, match="previews only"):
        noise.previews(histogram, Secure(), differences=differences, trials=1)
    with pytest.raises(ParameterError, match="not as many"):
        noise.previews(histogram + 1, Preview(seed), differences=differences, trials=1)
    noisy = noise.previews(histogram, Preview(seed), differences=differences, trials=4000)
    truth, scale = values("gini", histogram[None])[0] / UNITS, noise.sensitivity(differences) / UNITS
    # The mean size of Laplace noise is its scale Δ/ε; its own standard error is a 63rd of it.
    assert np.abs(noisy - truth).mean() == pytest.approx(scale, rel=0.1)


@pytest.mark.parametrize(
    "wrong",
    [{"statistic": "mean"}, {"rows": 1}, {"epsilon": 0.0}, {"samples": 10**6}, {"samples": 3}, {"gamma": 1.0}],
)
def test_settings_that_mean_nothing_get_a_sentence(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "statistic": "gini", "distribution": public_distribution("even", 8), "rows": 9, "epsilon": 1.0,
    }  # fmt: skip
    with pytest.raises(ParameterError):
        SampledNoise(**{**usual, **wrong})
    with pytest.raises(ParameterError, match="public distribution"):
        public_distribution("private", 4)
