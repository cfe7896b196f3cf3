"""What sparing empty cells gains and gives away: exact means are the simulated ones, growth in k or in r alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Cells, Dataset, Labels, Preview, Problem, Provenance, ProvenanceKind
from dpcore.data.bundled import bundled
from dpcore.limits.bounds.minimax import best_pairs
from dpcore.mechanisms.histograms.sparse import ProjectedHistogram, SparseHistogram, lone_row_chance
from dpcore.mechanisms.histograms.threshold import ThresholdHistogram
from dpcore.randomness import NoisyCounts
from dplab.sparse import (
    DELTA,
    MAX_CELLS,
    expected_noise,
    grid_example,
    growth,
    line_example,
    lone_row,
    projected_losses,
    rows_needed,
    shown_chances,
    simulate,
    simulated_noise,
)

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")
SETTINGS: dict[str, Any] = {"cells": 25, "full": 2, "n": 500, "epsilon": 1.0, "gamma": 0.1}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_exact_mean_before_projection_is_the_simulated_one(epsilon: float) -> None:
    figure = simulate(line_example(), epsilon=epsilon, gamma=0.1, condition="sharper", seed=5, times=4000)
    for cells, noise in ((25, figure.private_noise), (2, figure.random_noise)):
        error = 5 * noise.std() / np.sqrt(len(noise))
        assert expected_noise(cells=cells, n=500, epsilon=epsilon) == pytest.approx(noise.mean(), abs=error)


def test_growth_follows_k_for_one_and_r_for_the_other() -> None:
    curves = growth(**SETTINGS, condition="paper")
    by_k, by_r = curves.by_k, curves.by_r
    assert curves.last == 25 and curves.max_cells == MAX_CELLS == by_k.cells[-1] and not curves.projected
    met = by_k.cells <= 25
    assert {25, 26} <= set(by_k.cells.tolist()), "both sides of the edge"
    assert len(set(by_k.random[met])) == 1 and (by_k.random[~met] == by_k.private[~met]).all()
    assert len(set(by_r.private)) == 1 and (np.diff(by_r.random) > 0).all()
    assert by_k.private == pytest.approx(expected_noise(cells=1, n=500, epsilon=1.0) * by_k.cells)
    at = np.isin(by_k.cells, curves.lower_bound_cells)
    assert (by_k.private[at] >= curves.lower_bound).all() and len(curves.lower_bound) > 20
    assert curves.lower_bound[-1] == best_pairs(cells=MAX_CELLS, rows=500, epsilon=1.0).risk
    never = growth(cells=25, full=2, n=2, epsilon=1.0, gamma=0.001, condition="paper")
    assert never.last == 0 and (never.by_k.private == never.by_k.random).all()
    noise = simulated_noise(25, epsilon=1.0, seed=1, simulations=20)
    projected = growth(cells=400, full=16, n=8000, epsilon=1.0, gamma=1e-6, condition="sharper", noise=noise)
    assert projected.last < 16 and (projected.by_k.private == projected.by_k.random).all(), "no edge is in the picture"


def test_after_the_projection_the_private_loss_grows_about_as_log_k(seed: int) -> None:
    """Sixteen times the cells cost sixteen times the loss before it, about twice after; random privacy goes with r."""
    noise = simulated_noise(25, epsilon=1.0, seed=seed, simulations=400)
    assert noise.shape == (400, MAX_CELLS)
    curves = growth(**SETTINGS, condition="sharper", noise=noise)
    private, random = (
        dict(zip(curves.by_k.cells.tolist(), losses.tolist(), strict=True))
        for losses in (curves.by_k.private, curves.by_k.random)
    )
    assert curves.projected and not len(curves.lower_bound) and curves.last == 69
    assert max(private) == 1024 and private[1024] == random[1024]
    assert 69 in random and random[70] == private[70] > random[69]
    small = [k for k in random if k <= 69]
    assert len(small) > 3 and len({random[k] for k in small}) == 1
    # A straight line in log k: each doubling costs about as much as the last; a loss that grows with k would double.
    loss = [projected_losses(noise, cells=k, full=2, n=500)[0] for k in (64, 128, 256, 512, 1024)]
    steps = np.diff(loss)
    assert steps.min() > 0 and steps.max() < 2 * steps.min() and loss[-1] < 3 * loss[0]
    # Simulated by the page's own figure on the same data: the same means, up to five standard errors.
    histogram = np.zeros(64, dtype=np.int64)
    histogram[:2] = 250
    again = simulate(histogram, epsilon=1.0, gamma=0.1, condition="sharper", seed=seed + 1, times=400)
    mine = projected_losses(noise, cells=64, full=2, n=500)
    for mean, observed in zip(mine, (again.private_loss, again.random_loss), strict=True):
        assert mean == pytest.approx(observed.mean(), abs=5 * observed.std() * np.sqrt(2 / 400))
    # More non-empty cells cost both of them.
    assert (np.diff(curves.by_r.random) >= 0).all()


def test_simulated_noise_is_that_of_a_replaced_row(seed: int) -> None:
    noise = simulated_noise(2000, epsilon=1.0, seed=seed)
    assert noise.shape[1] == 2000
    same = Preview(seed).draw(NoisyCounts(np.zeros((1, 2000), dtype=np.int64), epsilon=1.0, sensitivity=2), 40)
    assert np.array_equal(noise, same)
    mean = expected_noise(cells=1, n=1, epsilon=1.0)
    assert np.abs(noise).mean() == pytest.approx(mean, abs=5 * np.abs(noise).std() / np.sqrt(noise.size))


@pytest.mark.parametrize("condition", ["paper", "sharper"])
@pytest.mark.parametrize("cells", [1, 25, 5000])
@pytest.mark.parametrize("gamma", [0.5, 0.1, 0.001])
def test_rows_needed_is_the_first_n_that_meets_the_condition(condition: str, cells: int, gamma: float) -> None:
    n = rows_needed(cells=cells, gamma=gamma, condition=condition)
    assert lone_row_chance(cells=cells, n=n, condition=condition) <= gamma
    assert n == 1 or lone_row_chance(cells=cells, n=n - 1, condition=condition) > gamma


def test_a_person_alone_in_a_cell_is_shown_only_if_there() -> None:
    dataset = bundled("pets", "zip_code").dataset()
    cell, elsewhere = lone_row(dataset.histogram)
    assert dataset.histogram[cell] == 1 and elsewhere[cell] == 0 and elsewhere.sum() == dataset.n
    assert np.abs(elsewhere - dataset.histogram).sum() == 2
    shown = shown_chances(dataset, epsilon=1.0, gamma=0.1, condition="sharper", seed=1, trials=500)
    assert shown[1, 1] == 0 < shown[1, 0] and 0 < shown[0, 1] < shown[0, 0] < np.e * shown[0, 1] + 0.1
    spread = shown_chances(dataset, epsilon=1.0, gamma=0.001, condition="paper", seed=1, trials=500)
    assert np.array_equal(spread[0], spread[1])


@pytest.mark.parametrize("condition", ["sharper", "paper"])
def test_the_paper_figures(condition: str, seed: int) -> None:
    for histogram, cells in ((line_example(), 25), (grid_example(8000), 400)):
        figure = simulate(histogram, epsilon=1.0, gamma=0.1, condition=condition, seed=seed)
        again = simulate(histogram, epsilon=1.0, gamma=0.1, condition=condition, seed=seed)
        assert (figure.private == again.private).all()
        assert (figure.random == again.random).all()
        assert figure.private.shape == figure.random.shape == (100, cells)
        assert figure.spared
        assert (figure.random[:, histogram == 0] == 0).all()
        r = int((histogram > 0).sum())
        # Mean absolute discrete Laplace noise of scale 2 is 1.92 rows; 100 means of k or r of them.
        mean = 2 * np.exp(-0.5) / (1 - np.exp(-1))
        for noise, count in ((figure.private_noise, cells), (figure.random_noise, r)):
            deviation = 2.2 * np.sqrt(count / 100)
            assert abs(noise.mean() * histogram.sum() - count * mean) < 5 * deviation
        assert np.median(figure.random_loss) < np.median(figure.private_loss)
        assert max(figure.private_loss.max(), figure.random_loss.max()) <= 2


def test_the_figure_draws_what_the_mechanisms_release(seed: int) -> None:
    """Same seed, same coins: simulate is ProjectedHistogram; random DP differs in which cells get them."""
    histogram = line_example()
    domain = Labels(labels=tuple(map(str, range(25))), missing=False)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=500)
    dataset = Dataset(domain, np.repeat(np.arange(25), histogram), GENERATED)
    for gamma in (0.05, 0.01):
        figure = simulate(histogram, epsilon=1.0, gamma=gamma, condition="sharper", seed=seed)
        whole, sparse = ProjectedHistogram(epsilon=1.0), SparseHistogram(epsilon=1.0, gamma=gamma)
        released = whole.run(whole.prepare(dataset, problem), Preview(seed), 100).counts
        assert (figure.private == released).all()
        assert figure.spared == sparse.spares_empty_cells(problem) == (gamma == 0.05)
        spared = sparse.run(sparse.prepare(dataset, problem), Preview(seed), 100).counts
        assert ((spared > 0).any(axis=0) <= (histogram > 0)).all() == figure.spared


def test_figure_shapes() -> None:
    assert (line_example() > 0).sum() == 2
    assert line_example().sum() == 500
    assert (grid_example(8003) > 0).sum() == 16
    assert grid_example(8003).sum() == 8003


def test_above_a_threshold_the_loss_is_that_of_the_mechanism_and_near_that_of_random_privacy(seed: int) -> None:
    """At ε = 1 the paper's first figure loses as little under (ε, δ), for all data; few rows in a cell cost it all."""
    figure = simulate(line_example(), epsilon=1.0, gamma=0.1, condition="paper", seed=seed, times=400)
    line = Labels(labels=tuple(map(str, range(25))), missing=False)
    problem = Problem(domain=line, queries=Cells(domain=line), n=500)
    data = Dataset(line, np.repeat(np.arange(25), figure.histogram), GENERATED)
    mechanism = ThresholdHistogram(epsilon=1.0, delta=DELTA)
    released = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 400)
    losses = np.abs(released.histogram() - figure.histogram).sum(axis=1) / 500
    assert figure.threshold_noise.mean() == pytest.approx(losses.mean(), rel=0.15)
    assert figure.threshold_loss.mean() == pytest.approx(figure.random_loss.mean(), rel=0.15)
    assert figure.random_loss.mean() < 0.009
    alone = simulate(np.array([499, 1, 0]), epsilon=1.0, gamma=0.1, condition="paper", seed=seed, times=400)
    assert (alone.threshold_loss == 2 / 500).mean() > 0.99, "the lone row is not published"
