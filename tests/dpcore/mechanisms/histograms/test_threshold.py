"""Threshold histogram: δ is exact, the tie at the threshold counts, and persons may be alone in several cells."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from typing_extensions import override

from dpcore.core import (
    Dataset,
    Floats,
    Guarantee,
    HistogramRelease,
    HistogramState,
    Integers,
    Neighbours,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.mechanisms.histograms.threshold import ThresholdHistogram, ThresholdMechanism, least_threshold, person_delta
from dpcore.randomness import NoisyCounts, Preview, Sampler
from dpcore.randomness.laws import compositions, laplace_mass, laplace_tail
from dplab.audit import exact_delta
from dplab.sparse import expected_noise, grid_example, line_example
from tests.kit.problems import labels_problem

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
MANY = ThresholdHistogram(epsilon=3.0, delta=0.1)


class AtTheTie(ThresholdHistogram):
    """Control: a count that is the threshold is published too."""

    @override
    def threshold(self, problem: Problem) -> int:
        return super().threshold(problem) - 1


class QuietWhereEmpty(ThresholdHistogram):
    """Control: noise of the scale for one cell, where a replaced row changes two."""

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        counts = sampler.draw(NoisyCounts(state.histogram[None, :], epsilon=self.epsilon, sensitivity=1), trials)
        shown = (counts > self.threshold(state.problem)) & (state.histogram > 0)
        return self.release(HistogramRelease, state, sampler, trials, counts=np.where(shown, counts, 0))


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("mechanism", [MANY, ThresholdHistogram(epsilon=6.0, delta=0.01)])
def test_delta_is_that_of_a_lone_row(mechanism: ThresholdHistogram, neighbours: Neighbours) -> None:
    """Over all neighbours and both directions, no more and no less than one row's chance to be published."""
    setting = labels_problem(3, n=3, neighbours=neighbours)
    lone = float(laplace_tail(mechanism.threshold(setting), scale=mechanism.scale(setting)))
    assert 0.2 * mechanism.delta < lone <= mechanism.delta == mechanism.guarantee(setting).delta
    finding = exact_delta(mechanism, setting, window=(-1, mechanism.threshold(setting) + 4))
    assert finding.delta == pytest.approx(lone, rel=1e-9)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_tie_at_the_threshold_is_caught(neighbours: Neighbours) -> None:
    setting = labels_problem(2, n=2, neighbours=neighbours)
    assert exact_delta(AtTheTie(epsilon=3.0, delta=0.1), setting, window=(-1, 8)).delta > 0.1


def test_noise_for_one_cell_is_caught_where_two_change() -> None:
    broken = QuietWhereEmpty(epsilon=3.0, delta=0.1)
    assert exact_delta(broken, labels_problem(2, n=8), window=(-4, 12)).delta > 0.1


@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-12])
@pytest.mark.parametrize("scale", [0.2, 1.0, 20.0, 333.3])
def test_the_threshold_is_the_least(delta: float, scale: float) -> None:
    threshold = least_threshold(delta=delta, scale=scale)
    assert laplace_tail(threshold, scale=scale) <= delta
    assert threshold == 1 or laplace_tail(threshold - 1, scale=scale) > delta * (1 - 1e-9)


def cell_law(rows: int, *, threshold: int, scale: float, most: int) -> Floats:
    """Probabilities of what is published of one cell: nothing, then each count above the threshold."""
    law = np.zeros(most + 1)
    if rows:
        law[1:] = laplace_mass(threshold + np.arange(1, most + 1) - rows, scale=scale)
    law[0] = 1 - law[1:].sum()
    return law


def divergence(one: Integers, other: Integers, *, epsilon: float, threshold: int, scale: float) -> float:
    """Hockey-stick divergence of the releases of two histograms of three cells, by all their outcomes."""
    laws = []
    for histogram in (one, other):
        cells = [cell_law(int(rows), threshold=threshold, scale=scale, most=60) for rows in histogram]
        laws.append(np.einsum("a,b,c->abc", *cells))
    return float(np.maximum(laws[0] - np.exp(epsilon) * laws[1], 0).sum())


@pytest.mark.parametrize("rows", [2, 3])
def test_a_person_of_several_rows_is_protected_over_all_partitions(rows: int) -> None:
    """All ways to put the person's rows into three cells, beside all small tables of others, in both directions."""
    setting = labels_problem(3, n=3, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = ThresholdHistogram(epsilon=1.0, delta=0.001)
    threshold, scale = mechanism.threshold(setting), mechanism.scale(setting)
    promised = mechanism.person_guarantee(setting, rows)
    worst = 0.0
    for added in compositions(rows, 3):
        for others in itertools.product((0, 1, 4), repeat=3):
            pair = np.array(others), np.array(others) + added
            for one, other in (pair, pair[::-1]):
                found = divergence(one, other, epsilon=promised.epsilon, threshold=threshold, scale=scale)
                worst = max(worst, found)
    assert promised.epsilon == rows
    assert worst == pytest.approx(promised.delta, rel=1e-9)
    # Group privacy of a row's delta would be larger by far, and a cell of all rows alone need not be the worst.
    group = super(ThresholdMechanism, mechanism).person_guarantee(setting, rows)
    assert isinstance(group, Guarantee)
    assert promised.delta < 0.8 * group.delta


def test_three_cells_of_one_row_can_be_worse_than_one_of_three() -> None:
    threshold = least_threshold(delta=2.5e-7, scale=3.0)
    one_cell = float(laplace_tail(threshold - 2, scale=3.0))
    assert person_delta(3, threshold=threshold, scale=3.0) > 1.5 * one_cell
    # With little noise, it is the other way round.
    threshold = least_threshold(delta=1e-9, scale=0.5)
    assert person_delta(3, threshold=threshold, scale=0.5) == pytest.approx(
        float(laplace_tail(threshold - 2, scale=0.5)), rel=1e-6
    )


@pytest.mark.parametrize(
    ("histogram", "epsilon", "seed"), [(line_example(), 1.0, 3), (grid_example(8000), 0.2, 4)], ids=["line", "grid"]
)
def test_it_is_as_accurate_as_random_privacy_on_the_papers_figures(
    histogram: Integers, epsilon: float, seed: int
) -> None:
    """Random privacy's loss before the projection, and the lone row is protected; noise everywhere has ten times it."""
    setting = labels_problem(len(histogram), n=int(histogram.sum()))
    data = Dataset(setting.domain, np.repeat(np.arange(len(histogram)), histogram), MADE)
    mechanism = ThresholdHistogram(epsilon=epsilon, delta=1e-6)
    release = mechanism.run(mechanism.prepare(data, setting), Preview(seed), 2000)
    assert isinstance(release, HistogramRelease)
    loss = float(np.abs(release.counts - histogram).sum(axis=1).mean()) / setting.n
    random, everywhere = (
        expected_noise(cells=cells, n=setting.n, epsilon=epsilon)
        for cells in (int((histogram > 0).sum()), len(histogram))
    )
    assert loss == pytest.approx(random, rel=0.06)
    assert loss < 0.1 * everywhere


def test_labels_of_few_rows_are_hidden_and_the_rest_is_published_with_its_noise() -> None:
    setting = labels_problem(3, n=1003)
    data = Dataset(setting.domain, np.repeat([0, 1], [3, 1000]), MADE)
    mechanism = ThresholdHistogram(epsilon=1.0, delta=1e-6)
    release = mechanism.run(mechanism.prepare(data, setting), Preview(1), 50)
    assert isinstance(release, HistogramRelease)
    assert mechanism.possible(release)
    assert not release.counts[:, 2].any()
    assert not release.counts[:, 0].any()
    assert len(set(release.counts[:, 1])) > 3
    assert not mechanism.possible(dataclasses.replace(release, counts=release.counts + 1))
