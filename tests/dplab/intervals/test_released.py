"""Intervals of releases: exchangeable noise, quantiles, counted means, populations, and predicted half-widths."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpcore import Dataset, Labels, Neighbours, Number, ParameterError, Preview, Problem, Thresholds, catalogue
from dpcore.core import DataRelease, Floats, Integers, Mechanism, Provenance, ProvenanceKind
from dpcore.data.product import Product
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.ranges.windows import Windows
from dpcore.mechanisms.robust.counted_mean import CountedMean
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.mechanisms.tables.release import DirectRelease
from dpcore.queries.marginals import Marginals
from dplab.intervals.exchangeable import half_widths, noise_draws, seed_of
from dplab.intervals.interval import Kind, check_level, level_each
from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.planned_margins import people_needed, predicted_half_width
from dplab.intervals.population import population_mean
from dplab.intervals.quantiles import centred_counts, quantile_cells
from dplab.intervals.ratios import mean
from dplab.intervals.released import interval, noise_law, quantile, ranges
from tests.dplab.intervals.coverage import TRIALS, refuted, released

DIGEST = "0123456789abcdef" * 4
LINE = Number(low=0, high=16, bins=16, missing=True)
EPSILONS = pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])


def data(seed: int, rows: int = 120) -> tuple[Dataset, Problem]:
    cells = np.random.default_rng(seed).binomial(16, 0.4, rows)
    dataset = Dataset(LINE, cells.astype(np.int64), Provenance(kind=ProvenanceKind.GENERATED, title="binomial"))
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=rows, neighbours=Neighbours.ADD_REMOVE_ONE)
    return dataset, problem


def releases(mechanism: Mechanism, seed: int, trials: int) -> tuple[DataRelease, Integers]:
    dataset, problem = data(seed)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)
    assert isinstance(release, DataRelease)
    return release, dataset.histogram


@pytest.mark.slow
@pytest.mark.parametrize("make", [IdentityHistogram, Windows], ids=lambda make: make.__name__)
def test_noise_drawn_again_covers_with_fresh_draws_for_each_release(
    make: type[IdentityHistogram | Windows], seed: int
) -> None:
    mechanism, trials, draws, q = make(epsilon=0.4), 4000, 199, 0.3
    release, truth = releases(mechanism, seed, trials)
    exact = centred_counts(truth[None].astype(np.float64), q, ordered=LINE.ordered)
    true_cell = int(np.argmax(exact[0] >= 0))

    def centred(histogram: Floats) -> Floats:
        return centred_counts(histogram, q, ordered=LINE.ordered)

    noisy, covered = centred(release.histogram()), np.zeros((trials, 2), dtype=np.bool_)
    for trial in range(trials):
        errors = noise_draws(mechanism, release.problem, centred, digest=f"{seed + trial:015x}", draws=draws)
        off = np.abs(noisy[trial] - exact[0])
        widths = half_widths(errors, level=0.9)
        covered[trial, 0] = off[4] <= widths[4]
        covered[trial, 1] = quantile_cells(noisy[trial : trial + 1], widths, level=0.9).contains(true_cell)[0]
    assert not any(refuted(covered[:, place], level=0.9) for place in range(2))
    assert covered[:, 0].mean() < 0.94, "so it is not by being wide"
    pointwise = np.abs(noisy[:, :15] - exact[0, :15]) <= widths[:15]
    assert refuted(pointwise.all(axis=1), level=0.9), "pointwise half-widths do not hold together"


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("ways", [1, 2])
def test_every_count_of_direct_tables_has_the_noise_that_is_named(noise: str, ways: int, seed: int) -> None:
    domain = Product(columns=(LINE, Labels(labels=("f", "m"))), names=("age", "sex"))
    problem = Problem(
        domain=domain, queries=Marginals(domain=domain, ways=ways), n=90, neighbours=Neighbours.REPLACE_ONE
    )
    cells = np.random.default_rng(seed).integers(0, 2, (90, 2))
    dataset = Dataset(domain, cells, Provenance(kind=ProvenanceKind.GENERATED, title="uniform"))
    mechanism = DirectTables(epsilon=0.5, delta=1e-6, noise=noise)
    state = mechanism.prepare(dataset, problem)
    drawn = mechanism.run(state, Preview(seed), TRIALS)
    assert isinstance(drawn, DirectRelease)
    off, law = np.abs(drawn.values - state.counts), noise_law(mechanism, problem)
    covered = off[:, :: off.shape[1] - 1] <= law.half_width(0.05)
    assert not any(refuted(each, level=0.95) for each in covered.T)
    assert np.sqrt((off**2).mean()) == pytest.approx(law.deviation, rel=0.05)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantiles_of_a_release_are_covered(q: float, seed: int) -> None:
    release, truth = releases(IdentityHistogram(epsilon=1.0), seed, 3000)
    up_to = np.cumsum(truth[: LINE.ordered])
    true_cell = int(np.argmax(up_to >= q * up_to[-1]))
    found = quantile(IdentityHistogram(epsilon=1.0), release, q, level=0.95, digest=DIGEST)
    # The half-widths' own level differs by about 0.0035 from one digest to the next.
    assert not refuted(found.contains(true_cell), level=0.935)
    assert np.median(found.high - found.low) <= 3


def test_quantiles_on_few_cells_by_hand() -> None:
    centred = centred_counts(np.array([[4.0, 0.0, 6.0, 10.0]]), 0.5, ordered=4)
    np.testing.assert_allclose(centred, [[-6, -6, 0, 10]])
    for width, low, high in ((0.0, 2, 3), (1.0, 2, 3), (6.0, 0, 3)):
        found = quantile_cells(centred, np.full(4, width), level=0.9)
        assert (found.low[0], found.high[0]) == (low, high), width
    impossible = quantile_cells(centred, np.full(4, -20.0), level=0.9)
    assert impossible.says_nothing[0] and (impossible.low[0], impossible.high[0]) == (0, 3)


def test_half_widths_are_the_right_order_statistic() -> None:
    errors = np.arange(1.0, 100.0)[:, None] * [1, -2]
    np.testing.assert_array_equal(half_widths(errors, level=0.9), [90, 180])
    assert np.isinf(half_widths(errors[:9], level=0.95)).all()
    assert half_widths(errors, level=0.9).base is None, "it would keep all errors in memory"


def test_the_draws_follow_from_the_digest_alone() -> None:
    mechanism, (_, problem) = IdentityHistogram(epsilon=1.0), data(1)
    one, again, other = (
        noise_draws(mechanism, problem, lambda rows: rows[:, :3], digest=digest, draws=50)
        for digest in (DIGEST, DIGEST, DIGEST[::-1])
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    replaced = dataclasses.replace(problem, neighbours=Neighbours.REPLACE_ONE, n=10**6)
    wider = noise_draws(mechanism, replaced, lambda rows: rows[:, :3], digest=DIGEST)
    assert abs(wider.std() / noise_draws(mechanism, problem, lambda rows: rows[:, :3], digest=DIGEST).std() - 2) < 0.2
    for digest in ("", "xyz" * 9, "0123"):
        with pytest.raises(ParameterError, match="hexadecimal"):
            seed_of(digest)


def test_only_data_independent_mechanisms_are_drawn_again() -> None:
    _, problem = data(1)
    refused = [
        entry.make() for entry in catalogue() if entry.serves(problem.queries) and not entry.mechanism.data_independent
    ]
    assert refused
    for mechanism in refused:
        with pytest.raises(ParameterError, match="depend on the data"):
            noise_draws(mechanism, problem, lambda rows: rows, digest=DIGEST)


@pytest.mark.parametrize("mechanism", [IdentityHistogram(epsilon=0.3), GaussianHistogram(epsilon=0.5)], ids=repr)
def test_cells_and_ranges_of_a_histogram_are_covered(mechanism: Mechanism, seed: int) -> None:
    release, truth = releases(mechanism, seed, 4000)
    cells = interval(mechanism, release, "cells")
    assert cells.kind is Kind.PROVED and not refuted(cells.contains(truth), level=0.95)
    assert cells.contains(truth).mean() < 0.975
    edges = ((0, 5), (3, 3), (0, 15))
    found = ranges(mechanism, release, edges, level=0.95, digest=DIGEST)
    sums = [truth[first : last + 1].sum() for first, last in edges]
    assert not refuted(found.contains(sums), level=0.935)
    with pytest.raises(ParameterError, match="range of cells"):
        ranges(mechanism, release, ((3, 17),), level=0.95, digest=DIGEST)
    with pytest.raises(ParameterError, match="no statistic"):
        interval(mechanism, release, "mean")


@EPSILONS
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_counted_mean_and_its_rows_are_covered(epsilon: float, neighbours: Neighbours, seed: int) -> None:
    dataset, problem = data(seed)
    problem = dataclasses.replace(problem, neighbours=neighbours)
    mechanism = CountedMean(epsilon=epsilon)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 4000)
    present = dataset.records[dataset.records < LINE.ordered]
    found = interval(mechanism, release, "mean")
    kept = ~release.refused
    assert not refuted(found.contains((present + 0.5).mean())[kept], level=0.95)
    assert not refuted(interval(mechanism, release, "rows").contains(len(present))[kept], level=0.95)
    assert (found.low >= LINE.low).all() and (found.high <= LINE.high).all()


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_mean_of_the_population_is_covered_and_the_sample_interval_misses_it(
    epsilon: float, share: float, seed: int
) -> None:
    rows, noise = 400, LaplaceNoise.of(epsilon=epsilon, sensitivity=1)
    above = np.random.default_rng(seed).binomial(rows, share, TRIALS)
    counters = np.stack([rows - above, above], axis=1) + released([0, 0], noise, seed=seed)
    found = population_mean(counters, noise, weight=1, level=0.95)
    covered = found.contains(share).mean()
    assert found.kind is Kind.ASYMPTOTIC and 0.94 < covered < 0.965
    assert mean(counters, noise, level=0.95).contains(share).mean() < covered - 0.01


def test_a_population_of_numbers_takes_their_variance(seed: int) -> None:
    rows, weight, low, high = 300, 256, -1.0, 3.0
    noise = LaplaceNoise.of(epsilon=0.5, sensitivity=weight)
    generator = np.random.default_rng(seed)
    above = np.rint(generator.beta(4, 4, (TRIALS, rows)) * weight).astype(np.int64).sum(axis=1)
    counters = np.stack([rows * weight - above, above], axis=1) + released([0, 0], noise, seed=seed)
    true_variance = 16 / 36
    found = population_mean(
        counters, noise, weight=weight, level=0.95, variance=np.array(true_variance), low=low, high=high
    )
    assert 0.94 < found.contains(1.0).mean() < 0.96
    careful = population_mean(counters, noise, weight=weight, level=0.95, low=low, high=high)
    assert (careful.half_width >= found.half_width - 1e-9).all()
    exact = population_mean(counters, noise, weight=weight, level=0.95, variance=np.array(0.0), low=low, high=high)
    of_sample = mean(counters, noise, level=0.95, low=low, high=high)
    np.testing.assert_allclose(exact.half_width, of_sample.half_width, rtol=0.01)


@EPSILONS
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_the_predicted_half_width_is_within_three_percent(epsilon: float, share: float, seed: int) -> None:
    weight, people = 512, round(300 / epsilon)
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=weight)
    above = round(people * weight * share)
    found = mean(released([people * weight - above, above], noise, seed=seed), noise, level=0.95, high=40.0)
    predicted = predicted_half_width(people, noise, weight=weight, level=0.95, share=share, width=40.0)
    assert float(np.median(found.half_width)) == pytest.approx(predicted, rel=0.03)


@EPSILONS
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_people_a_group_needs_follow_from_the_law_at_each_level(epsilon: float, level: float) -> None:
    weight, width, margin = 1024, 50.0, 0.5
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=weight)
    needed = people_needed(margin, noise, weight=weight, level=level, width=width)
    assert needed == pytest.approx(-math.log(1 - level) * width / (epsilon * margin), rel=0.002, abs=1)
    assert predicted_half_width(needed, noise, weight=weight, level=level, width=width) <= margin
    assert predicted_half_width(needed - 1, noise, weight=weight, level=level, width=width) > margin
    for share in np.linspace(0, 1, 9).tolist():
        half = predicted_half_width(needed, noise, weight=weight, level=level, share=share, width=width)
        assert half <= margin * 1.002, "the largest half-width is that of an empty counter"
    assert predicted_half_width(0, noise, weight=1, level=level) == math.inf


def test_what_makes_no_sense_is_refused() -> None:
    noise = LaplaceNoise(1.0)
    with pytest.raises(ParameterError, match="margin"):
        people_needed(0.0, noise, weight=1, level=0.95)
    with pytest.raises(ParameterError, match="quantile"):
        centred_counts(np.ones((1, 3)), 1.0, ordered=3)
    with pytest.raises(ParameterError, match="at least one"):
        level_each(0.95, independent=0)
    for level in (0.4, 1.0, math.nan):
        with pytest.raises(ParameterError, match="level"):
            check_level(level)
