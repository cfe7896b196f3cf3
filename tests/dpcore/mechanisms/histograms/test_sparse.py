"""Random differential privacy by enumerating the product measure, under both conditions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from dpcore.core import Dataset, Floats, Guarantee, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.mechanisms.histograms.sparse import ProjectedHistogram, SparseHistogram, lone_row_chance, total_noise
from dpcore.privacy.composition import compose
from dpcore.randomness import Account, NoisyCounts, Preview
from dpcore.randomness.laws import compositions
from dplab.audit import exact_delta, exact_gamma
from dplab.sparse import line_example
from tests.kit.problems import labels_problem

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
CONDITIONS = ("sharper", "paper")


def populations(cells: int) -> Iterator[Floats]:
    """Cell chances: a grid of the simplex, and those at which being alone is likeliest."""
    for parts in compositions(12, cells):
        yield parts / 12
    for lone in range(1, cells):
        for chance in (0.01, 0.02, 0.05, 0.1, 0.15):
            if lone * chance < 1:
                yield np.array([chance] * lone + [0.0] * (cells - 1 - lone) + [1 - lone * chance])


class Bare(SparseHistogram):
    """Control: spares empty cells without asking whether it may."""

    def spares_empty_cells(self, problem: Problem) -> bool:
        return True


class Quiet(SparseHistogram):
    """Control: claims less than its noise gives."""

    def guarantee(self, problem: Problem) -> Guarantee:
        return dataclasses.replace(super().guarantee(problem), epsilon=0.8 * self.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "cells", "n", "gamma"),
    [
        ("sharper", 2, 4, 0.5),
        ("sharper", 2, 6, 0.2),
        ("sharper", 3, 7, 0.3),
        ("paper", 2, 8, 0.5),
        ("paper", 3, 12, 0.5),
    ],
)
def test_bad_pairs_are_at_most_a_share_gamma(condition: str, cells: int, n: int, gamma: float) -> None:
    """The exact law of run() itself, both directions, over every pair of the product measure."""
    mechanism = SparseHistogram(epsilon=1.0, gamma=gamma, condition=condition)
    setting = labels_problem(cells, n=n)
    assert mechanism.spares_empty_cells(setting)
    assert mechanism.guarantee(setting).gamma == gamma
    chances = exact_gamma(mechanism, setting, masses=list(populations(cells)), window=(-2, n + 2))
    assert 0 < chances.max() <= lone_row_chance(cells=cells, n=n, condition=condition) <= gamma
    # What enumeration finds is the event of the proof: one of the two rows is alone.
    exact_chances = [exactly_alone(population, n) for population in populations(cells)]
    assert chances == pytest.approx(exact_chances, abs=1e-12)


def test_sparing_empty_cells_where_the_condition_fails_is_caught() -> None:
    """Control: 3 rows on 3 cells."""
    mechanism, setting = Bare(epsilon=1.0, gamma=0.3), labels_problem(3, n=3)
    assert not SparseHistogram(epsilon=1.0, gamma=0.3).spares_empty_cells(setting)
    assert exact_gamma(mechanism, setting, masses=[np.full(3, 1 / 3)])[0] > 0.3


def test_noise_too_small_is_caught() -> None:
    """Control: at 0.8 of the true epsilon every pair that differs is bad."""
    mechanism, setting = Quiet(epsilon=1.0, gamma=0.2), labels_problem(2, n=6)
    assert exact_gamma(mechanism, setting, masses=[np.full(2, 0.5)])[0] > 0.4


def exactly_alone(population: Floats, n: int) -> float:
    """Chance that row n or row n + 1 is alone in its cell among n + 1 independent draws."""
    one = (population * (1 - population) ** n).sum()
    pairs = population[:, None] * population[None, :]
    rest: Floats = np.maximum(1 - population[:, None] - population[None, :], 0) ** (n - 1)
    return float(2 * one - (pairs * rest)[~np.eye(len(population), dtype=bool)].sum())


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "n"), [(2, 3), (3, 3), (3, 8), (5, 4), (6, 4), (9, 4), (4, 40), (25, 500)])
def test_both_bounds_hold_for_thousands_of_populations(cells: int, n: int) -> None:
    rng = np.random.default_rng(cells * 1000 + n)
    tried = [rng.dirichlet(np.full(cells, weight)) for weight in (0.05, 0.3, 1, 5, 100) for _ in range(400)]
    peak = min(1 / (n + 1), 1 / cells)
    tried += [np.array([peak] * lone + [0.0] * (cells - 1 - lone) + [1 - lone * peak]) for lone in range(cells)]
    tried.append(np.full(cells, 1 / cells))
    worst = max(exactly_alone(population, n) for population in tried)
    twice = max(2 * (population * (1 - population) ** n).sum() for population in tried)
    sharper = lone_row_chance(cells=cells, n=n)
    assert worst <= twice <= sharper * (1 + 1e-12)
    # Not loose: some population comes near (the two terms cannot both be largest when there are two cells).
    assert twice > (0.95 if cells > 3 else 0.7) * sharper
    assert worst <= lone_row_chance(cells=cells, n=n, condition="paper")


def test_numbers_of_the_sharper_condition() -> None:
    assert lone_row_chance(cells=25, n=500) == pytest.approx(0.0353, abs=5e-5)
    assert lone_row_chance(cells=25, n=500, condition="paper") == 0.1
    # The two branches agree where they meet, and more rows or fewer cells never hurt.
    assert lone_row_chance(cells=9, n=8) == pytest.approx(2 * (8 / 9) ** 8)
    for n in (3, 20):
        values = [lone_row_chance(cells=cells, n=n) for cells in range(1, 60)]
        assert values == sorted(values)


def test_without_its_condition_it_is_the_projected_histogram() -> None:
    mechanism, setting = SparseHistogram(epsilon=1.0, gamma=0.1), labels_problem(3, n=3)
    assert mechanism.guarantee(setting) == Guarantee(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)
    assert exact_delta(mechanism, setting).delta < 1e-12


def test_adaptive_composition_is_refused() -> None:
    promised = SparseHistogram(gamma=0.2).guarantee(labels_problem(3, n=300))
    assert compose([promised, promised]).gamma == pytest.approx(0.4)
    with pytest.raises(ParameterError, match="fixed in advance"):
        compose([promised, promised], fixed_in_advance=False)


@pytest.mark.parametrize("mechanism", [ProjectedHistogram(epsilon=0.5), SparseHistogram(epsilon=0.5)])
def test_promise_holds_and_spending_is_the_claim(mechanism: ProjectedHistogram, seed: int) -> None:
    """At beta = 0.05 at most 5% of 2,000 releases may err more: 158 failures have chance below 1e-6 then."""
    setting = labels_problem(25, n=500)
    account = Account(Preview(seed))
    state = mechanism.prepare(Dataset(setting.domain, np.repeat(np.arange(25), line_example()), MADE), setting)
    counts = mechanism.run(state, account, 2000).counts
    assert account.epsilon == 0.5
    assert (counts.sum(axis=1) == 500).all()
    assert (counts >= 0).all()
    worst = np.abs(counts - line_example()).sum(axis=1) / 2 / 500
    assert (worst > mechanism.accuracy(setting, 0.05).value).sum() < 158


def test_total_noise_is_exceeded_no_more_often_than_promised(seed: int) -> None:
    noise = np.abs(
        Preview(seed).draw(NoisyCounts(np.zeros((1, 10), dtype=np.int64), epsilon=0.5, sensitivity=2), 40_000)
    )
    for beta in (0.5, 0.1, 0.01):
        share = float((noise.sum(axis=1) > total_noise(cells=10, scale=4.0, beta=beta)).mean())
        assert share <= beta
    # Not loose by much more than a Chernoff bound is: at 1% the level is within a third of the true quantile.
    assert total_noise(cells=10, scale=4.0, beta=0.01) < 1.35 * float(np.quantile(noise.sum(axis=1), 0.99))
