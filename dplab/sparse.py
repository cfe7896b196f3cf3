"""What sparing empty cells gains, as cells grow in number, and what it gives away: the person alone in a cell."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Dataset, Floats, Integers, Problem
from dpcore.limits.bounds.minimax import best_pairs
from dpcore.mechanisms import entry
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.queries.ranges import Cells
from dpcore.randomness import NoisyCounts, Preview

MAX_CELLS = 1024
"""How far the number of cells grows, if there are not more already."""
SIMULATIONS = 40
"""For each number of cells."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LossFigure:
    """A figure of the paper: one histogram, its releases and their L1 losses, DP beside random DP on the same noise.

    Projected losses are at most 2. They depend on the tie rule of the projection, which the paper leaves open; the
    losses of the noisy counts before it do not, and show the growth with k and with r.

    Attributes:
        histogram: true counts, (k,).
        private: differentially private releases, (simulations, k).
        random: random-DP releases, (simulations, k).
        private_loss: sum |released - true| / n of each, (simulations,).
        random_loss: the same.
        private_noise: sum |noisy - true| / n before the projection, (simulations,).
        random_noise: the same.
        spared: whether the condition on gamma let empty cells stay empty (else both mechanisms are one).
    """

    histogram: Integers
    private: Integers
    random: Integers
    private_loss: Floats
    random_loss: Floats
    private_noise: Floats
    random_noise: Floats
    spared: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Losses:
    """Mean L1 losses at different numbers of cells, shares of n, (C,) each."""

    cells: Integers
    private: Floats
    random: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Growth:
    """What the loss grows with.

    Attributes:
        by_k: over all cells k, as many of them filled as now.
        by_r: over the filled ones r, of all cells as now.
        last: the largest k at which empty cells may stay empty; beyond it both histograms are one.
        max_cells: the largest k shown.
        lower_bound_cells: numbers of cells with a wall, (W,).
        lower_bound: what no private histogram stays below on all data there, (W,); empty after the projection.
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
    """Figure 1's data: 25 cells, all but two empty (which two, and how full, is our choice)."""
    histogram = np.zeros(25, dtype=np.int64)
    histogram[[8, 15]] = rows * 3 // 5, rows - rows * 3 // 5
    return histogram


def grid_example(rows: int) -> Integers:
    """Figure 2's data: 20 x 20 cells in row order, all but 16 empty; the paper does not say how many rows.

    A block of 4 x 4 in the middle, equally full: our choice.
    """
    grid = np.zeros((20, 20), dtype=np.int64)
    grid[8:12, 8:12] = rows // 16 + (np.arange(16) < rows % 16).reshape(4, 4)
    return grid.reshape(-1)


def simulate(
    histogram: Integers, *, epsilon: float, gamma: float, condition: str, seed: int, times: int = 100
) -> LossFigure:
    """Both mechanisms on one histogram, previewed so many times as in the paper's section 8; replacing one row."""
    n = int(histogram.sum())
    noisy = Preview(seed).draw(NoisyCounts(histogram[None, :], epsilon=epsilon, sensitivity=2), times)
    spared = lone_row_chance(cells=len(histogram), n=n, condition=condition) <= gamma
    noisy_cells = (histogram > 0) | (not spared)
    random = np.zeros_like(noisy)
    private, random[:, noisy_cells] = project_counts(noisy, total=n), project_counts(noisy[:, noisy_cells], total=n)

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
        spared=spared,
    )


def rows_needed(*, cells: int, gamma: float, condition: str) -> int:
    """The fewest rows at which empty cells may stay empty."""
    low, high = 0, 1
    while lone_row_chance(cells=cells, n=high, condition=condition) > gamma:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        met = lone_row_chance(cells=cells, n=middle, condition=condition) <= gamma
        low, high = (low, middle) if met else (middle, high)
    return high


def expected_noise(*, cells: int, n: int, epsilon: float) -> float:
    """Mean L1 loss of noise in so many cells before any projection: E|Z| = 2p/(1 - p^2), p = e^(-epsilon/2)."""
    p = math.exp(-epsilon / 2)
    return cells * 2 * p / (1 - p * p) / n


def projected_losses(noise: Integers, *, cells: int, full: int, n: int) -> tuple[float, float]:
    """Mean L1 loss after the projection, with noise in every cell and in the non-empty ones only, as shares of n.

    Args:
        noise: of simulations, (T, at least cells); the same columns serve every number of cells.
        cells: k.
        full: r, the first cells, as evenly full as can be.
        n: rows.
    """
    histogram = np.zeros(cells, dtype=np.int64)
    histogram[:full] = n // full + (np.arange(full) < n % full)
    noisy = histogram + noise[:, :cells]

    def loss(counts: Integers) -> float:
        return float(np.abs(counts - histogram[: counts.shape[1]]).sum(axis=1).mean()) / n

    return loss(project_counts(noisy, total=n)), loss(project_counts(noisy[:, :full], total=n))


def simulated_noise(cells: int, *, epsilon: float, seed: int, simulations: int = SIMULATIONS) -> Integers:
    """Noise for histograms of every size up to the largest shown, (simulations, size)."""
    empty = np.zeros((1, max(MAX_CELLS, cells)), dtype=np.int64)
    return Preview(seed).draw(NoisyCounts(empty, epsilon=epsilon, sensitivity=2), simulations)


def growth(
    *, cells: int, full: int, n: int, epsilon: float, gamma: float, condition: str, noise: Integers | None = None
) -> Growth:
    """Mean loss against all cells k, and against the non-empty ones r: exact before the projection, or after it.

    Before it a loss is the same on all data, and beside it stands what no private histogram of k cells stays below on
    all. After it, these data may be easier than the hardest.

    Args:
        cells: k where r grows.
        full: r where k grows.
        n: rows.
        epsilon: privacy loss of both mechanisms.
        gamma: share of data without promise.
        condition: which condition spares empty cells.
        noise: for losses after the projection, simulated noise of this epsilon, (T, MAX_CELLS or cells if more).
    """
    steps = 40 if noise is None else 9

    def spared(k: int) -> bool:
        return lone_row_chance(cells=k, n=n, condition=condition) <= gamma

    def losses(k: int, r: int) -> tuple[float, float]:
        """The private and the random-private one's."""
        if noise is None:
            private, random = (expected_noise(cells=size, n=n, epsilon=epsilon) for size in (k, r))
        else:
            private, random = projected_losses(noise, cells=k, full=r, n=n)
        return private, random if spared(k) else private

    max_cells = max(MAX_CELLS, cells)
    last, beyond = 0, max_cells + 1
    while beyond - last > 1:
        middle = (last + beyond) // 2
        last, beyond = (middle, beyond) if spared(middle) else (last, middle)
    # Both sides of the edge, so that the step is drawn as one.
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
    """The first cell with one row, and the histogram if that row were in the fullest cell."""
    cell = int(np.flatnonzero(histogram == 1)[0])
    elsewhere = histogram.copy()
    elsewhere[[cell, int(histogram.argmax())]] += (-1, 1)
    return cell, elsewhere


def shown_chances(dataset: Dataset, *, epsilon: float, gamma: float, condition: str, seed: int, trials: int) -> Floats:
    """Share of releases with a count above 0 in the lone row's cell: (2 mechanisms, there or elsewhere)."""
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
