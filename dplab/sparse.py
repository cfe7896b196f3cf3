"""Sparse histograms: the gain from no noise in empty cells as cells grow in number, and the risk to a lone row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Dataset, Floats, Integers, Problem
from dpcore.core.bisection import least_whole
from dpcore.limits.bounds.minimax import best_pairs
from dpcore.mechanisms import entry
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.mechanisms.histograms.threshold import least_threshold
from dpcore.queries.ranges import Cells
from dpcore.randomness import NoisyCounts, Preview

MAX_CELLS = 1024
"""Largest number of cells shown, unless there are more already."""
SIMULATIONS = 40
"""Simulations for each number of cells."""
DELTA = 1e-6
"""δ of the histogram above a threshold."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LossFigure:
    """Data of a figure of the paper: releases of one histogram and their L1 losses, DP and random DP on the same noise.

    Projected losses are at most 2. They depend on the tie rule of the projection, which the paper leaves open; the
    losses of the noisy counts before it do not, and show the growth with k and with r.

    Attributes:
        histogram: true counts, (k,).
        private: differentially private releases, (simulations, k).
        random: random-DP releases, (simulations, k).
        private_loss: sum |released - true| / n of each, (simulations,).
        random_loss: the same for random DP.
        private_noise: sum |noisy - true| / n before the projection, (simulations,).
        random_noise: the same for random DP.
        threshold_loss: the same of counts above a threshold at (epsilon, DELTA), for all data, projected likewise.
        threshold_noise: the same before the projection.
        spared: whether the condition on gamma holds, so that empty cells get no noise (else both are equal).
    """

    histogram: Integers
    private: Integers
    random: Integers
    private_loss: Floats
    random_loss: Floats
    private_noise: Floats
    random_noise: Floats
    threshold_loss: Floats
    threshold_noise: Floats
    spared: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Losses:
    """Mean L1 losses at different numbers of cells, shares of n, (C,) each."""

    cells: Integers
    private: Floats
    random: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Growth:
    """L1 losses against the number of cells and of non-empty cells.

    Attributes:
        by_k: losses against all cells k, at the current number of non-empty cells.
        by_r: losses against the non-empty cells r, at the current number of cells.
        last: largest k at which empty cells may stay empty; beyond it both histograms are equal.
        max_cells: the largest k shown.
        lower_bound_cells: numbers of cells with a lower bound, (W,).
        lower_bound: lower bound for private histograms on all data, (W,); empty after the projection.
        projected: whether the losses are those after the projection.
    """

    by_k: Losses
    by_r: Losses
    last: int
    max_cells: int
    lower_bound_cells: Integers
    lower_bound: Floats
    projected: bool


def line_example(rows: int = 500) -> Integers:
    """Return Figure 1's data: 25 cells, all but two empty (which two, and their counts, are our choice)."""
    histogram = np.zeros(25, dtype=np.int64)
    histogram[[8, 15]] = rows * 3 // 5, rows - rows * 3 // 5
    return histogram


def grid_example(rows: int) -> Integers:
    """Return Figure 2's data: 20 x 20 cells in row order, all but 16 empty; the paper does not state n.

    The 16 cells are a block in the middle with equal counts, which is our choice.
    """
    grid = np.zeros((20, 20), dtype=np.int64)
    grid[8:12, 8:12] = rows // 16 + (np.arange(16) < rows % 16).reshape(4, 4)
    return grid.reshape(-1)


def simulate(
    histogram: Integers, *, epsilon: float, gamma: float, condition: str, seed: int, times: int = 100
) -> LossFigure:
    """Simulate both mechanisms on one histogram as in the paper's section 8, with one row replaced.

    The third is newer: noise in full cells alone, of which what is above a threshold is published.
    """
    n = int(histogram.sum())
    noisy = Preview(seed).draw(NoisyCounts(histogram[None, :], epsilon=epsilon, sensitivity=2), times)
    spared = lone_row_chance(cells=len(histogram), n=n, condition=condition) <= gamma
    noisy_cells = (histogram > 0) | (not spared)
    random = np.zeros_like(noisy)
    private, random[:, noisy_cells] = project_counts(noisy, total=n), project_counts(noisy[:, noisy_cells], total=n)

    threshold = least_threshold(delta=DELTA, scale=2 / epsilon)
    above = np.where((histogram > 0) & (noisy > threshold), noisy, 0)

    def loss(released: Integers, cells: Booleans) -> Floats:
        losses: Floats = np.abs(released - histogram)[:, cells].sum(axis=1) / n
        return losses

    everywhere = np.ones_like(noisy_cells)
    return LossFigure(
        histogram=histogram,
        private=private,
        random=random,
        private_loss=loss(private, everywhere),
        random_loss=loss(random, everywhere),
        private_noise=loss(noisy, everywhere),
        random_noise=loss(noisy, noisy_cells),
        threshold_loss=loss(_projected_above(above, total=n), everywhere),
        threshold_noise=loss(above, everywhere),
        spared=spared,
    )


def _projected_above(above: Integers, *, total: int) -> Integers:
    """Return the nearest histograms of so many rows that are 0 wherever these are, (T, k); all 0 where these are."""
    projected = np.zeros_like(above)
    for place, counts in enumerate(above):
        shown = counts > 0
        if shown.any():
            projected[place, shown] = project_counts(counts[None, shown], total=total)[0]
    return projected


def rows_needed(*, cells: int, gamma: float, condition: str) -> int:
    """Return the smallest number of rows at which empty cells may stay empty."""

    def is_enough(n: int) -> bool:
        return lone_row_chance(cells=cells, n=n, condition=condition) <= gamma

    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
    return least_whole(is_enough, low, high)


def expected_noise(*, cells: int, n: int, epsilon: float) -> float:
    """Return the mean L1 loss of noise before any projection: cells · E|Z|, E|Z| = 2p/(1 - p^2), p = e^(-epsilon/2)."""
    p = math.exp(-epsilon / 2)
    return cells * 2 * p / (1 - p * p) / n


def projected_losses(noise: Integers, *, cells: int, full: int, n: int) -> tuple[float, float]:
    """Return the mean L1 loss after the projection, with noise in all cells and in non-empty ones only, shares of n.

    Args:
        noise: simulated noise, (T, at least cells); the same columns serve every number of cells.
        cells: number of cells k.
        full: number r of non-empty cells, with nearly equal counts.
        n: number of rows.
    """
    histogram = np.zeros(cells, dtype=np.int64)
    histogram[:full] = n // full + (np.arange(full) < n % full)
    noisy = histogram + noise[:, :cells]

    def loss(counts: Integers) -> float:
        return float(np.abs(counts - histogram[: counts.shape[1]]).sum(axis=1).mean()) / n

    return loss(project_counts(noisy, total=n)), loss(project_counts(noisy[:, :full], total=n))


def simulated_noise(cells: int, *, epsilon: float, seed: int, simulations: int = SIMULATIONS) -> Integers:
    """Draw noise for histograms of every size up to the largest shown, (simulations, size)."""
    empty = np.zeros((1, max(MAX_CELLS, cells)), dtype=np.int64)
    return Preview(seed).draw(NoisyCounts(empty, epsilon=epsilon, sensitivity=2), simulations)


def growth(
    *, cells: int, full: int, n: int, epsilon: float, gamma: float, condition: str, noise: Integers | None = None
) -> Growth:
    """Compute the mean loss against all cells k and non-empty cells r: exact before the projection, or simulated.

    Before the projection the loss is the same on all data, and there is a lower bound for private histograms of k
    cells. After it, these data may be easier than the hardest.

    Args:
        cells: number k where r varies.
        full: number r where k varies.
        n: number of rows.
        epsilon: ε of both mechanisms.
        gamma: probability of data without a guarantee.
        condition: condition under which empty cells get no noise.
        noise: for losses after the projection, simulated noise at this epsilon, (T, MAX_CELLS or cells if more).
    """
    steps = 40 if noise is None else 9

    def spared(k: int) -> bool:
        return lone_row_chance(cells=k, n=n, condition=condition) <= gamma

    def losses(k: int, r: int) -> tuple[float, float]:
        """Return the losses with DP and with random DP."""
        if noise is None:
            private, random = (expected_noise(cells=size, n=n, epsilon=epsilon) for size in (k, r))
        else:
            private, random = projected_losses(noise, cells=k, full=r, n=n)
        return private, random if spared(k) else private

    max_cells = max(MAX_CELLS, cells)
    last = least_whole(lambda k: not spared(k), 0, max_cells + 1) - 1
    # Both sides of the step are points of the curve, so that it is drawn as a vertical step.
    edge = [k for k in (last, last + 1) if full <= k <= max_cells]
    all_cells = np.unique([*np.geomspace(full, max_cells, steps).round().astype(np.int64).tolist(), *edge])
    full_cells = np.unique(np.geomspace(1, min(cells, n), steps).round().astype(np.int64))
    wall_cells = all_cells[all_cells > 1] if noise is None else all_cells[:0]
    return Growth(
        by_k=_losses(all_cells, [losses(k, full) for k in all_cells.tolist()]),
        by_r=_losses(full_cells, [losses(cells, r) for r in full_cells.tolist()]),
        last=last,
        max_cells=max_cells,
        lower_bound_cells=wall_cells,
        lower_bound=np.array([best_pairs(cells=k, rows=n, epsilon=epsilon).risk for k in wall_cells.tolist()]),
        projected=noise is not None,
    )


def _losses(cells: Integers, pairs: list[tuple[float, float]]) -> Losses:
    private, random = np.array(pairs).T
    return Losses(cells=cells, private=private, random=random)


def lone_row(histogram: Integers) -> tuple[int, Integers]:
    """Return the first cell with one row, and the histogram with that row moved into the fullest cell."""
    cell = int(np.flatnonzero(histogram == 1)[0])
    elsewhere = histogram.copy()
    elsewhere[[cell, int(histogram.argmax())]] += (-1, 1)
    return cell, elsewhere


def shown_chances(dataset: Dataset, *, epsilon: float, gamma: float, condition: str, seed: int, trials: int) -> Floats:
    """Return the share of releases with a positive count in the lone row's cell: (2 mechanisms, row there or moved)."""
    problem = Problem(domain=dataset.domain, queries=Cells(domain=dataset.domain), n=dataset.n)
    cell, elsewhere = lone_row(dataset.histogram)
    moved = Dataset(dataset.domain, np.repeat(np.arange(len(elsewhere)), elsewhere), dataset.provenance)
    machines = (
        entry("projected_histogram").make(epsilon=epsilon),
        entry("sparse_histogram").make(epsilon=epsilon, gamma=gamma, condition=condition),
    )
    shares = np.empty((len(machines), 2))
    for row, machine in enumerate(machines):
        for column, data in enumerate((dataset, moved)):
            release = machine.run(machine.prepare(data, problem), Preview(seed), trials)
            shares[row, column] = (release.outcomes()[:, cell] > 0).mean()
    return shares
