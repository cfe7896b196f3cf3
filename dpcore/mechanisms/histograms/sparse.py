"""Sparse histogram: empty cells stay exactly empty, the others get noise; private for data drawn at random.

A differentially private histogram with δ = 0 must blur empty cells too: with many of them the noise adds up until the
few full cells drown. Random differential privacy asks less. Rows are taken to be independent draws from one population,
and the promise may fail for a share gamma of the draws of n rows and one more that replaces one of them.

Why it is private in that sense: the empty cells of neighbours differ only if the replaced row or the one that replaces
it is alone in its cell among the n + 1. Otherwise both histograms have the same empty cells, and noise hides the change
as always. The chance of being alone is small when there are few cells for so many rows, and that is the condition under
which empty cells are left empty; it is public. Where it fails, every cell gets noise and the promise is the usual one.
- paper's condition: at most k of the n + 1 rows are alone, so the chance is below 2k/n;
- sharper: it is at most 2 (sum of p (1 - p)^n over cells). For k <= n + 1 the cells' terms are largest at
  p = 1/(n + 1), except one cell's that has p >= 1/k; for k > n + 1 uniform cells are worst.

The authors' warning: an attacker who knows all rows but one, where that one is alone in its cell, learns it for
certain. Nor may such a release be chosen after seeing another: gammas add up only for releases fixed in advance.

Noisy counts are projected to the nearest histogram of n rows, which costs nothing. The same projection without the
empty cells' privilege is the differentially private histogram to compare with.

Notation: epsilon = ε (Hall et al. write α), gamma = γ; k cells, r of them not empty.

References:
    Hall, Rinaldo and Wasserman (2013), Definition 1, equations 2 and 5, Propositions 4.2 and 5.1, sections 7 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Booleans,
    Bound,
    BoundKind,
    DomainType,
    Entry,
    Guarantee,
    HistogramRelease,
    HistogramState,
    Integers,
    Neighbours,
    ParameterError,
    Problem,
    PureMechanism,
    Release,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Sampler


def lone_row_chance(*, cells: int, n: int, condition: str = "sharper") -> float:
    """Bound, over all populations, the chance that one of two given rows among n + 1 is alone in its cell."""
    if condition == "paper":
        return 2 * cells / n
    if cells > n + 1:
        return 2 * (1 - 1 / cells) ** n
    return 2 * ((cells - 1) / (n + 1) * (n / (n + 1)) ** n + (1 - 1 / cells) ** n / cells)


def total_noise(*, cells: int, scale: float, beta: float) -> float:
    """Level that the sum of |Z| over so many discrete Laplace draws exceeds with chance at most beta (Chernoff)."""
    p = math.exp(-1 / scale)
    grown = p * np.exp(np.linspace(0, 1, 400, endpoint=False)[1:] / scale)
    logs = np.log1p(-p) - np.log1p(p) + np.log1p(grown) - np.log1p(-grown)
    return float(((cells * logs + math.log(1 / beta)) / np.log(grown / p)).min())


@dataclass(frozen=True, kw_only=True)
class ProjectedHistogram(PureMechanism):
    """Every cell's count plus discrete Laplace noise, then the nearest histogram of n rows."""

    epsilon: float = epsilon_param()

    def noisy_cells(self, histogram: Integers, problem: Problem) -> Booleans:
        """Return the cells that get noise; the others stay unchanged."""
        return np.ones(problem.domain.size, dtype=np.bool_)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Half the L1 distance bounds any query; projecting at most doubles the noise's."""
        scale = sum(problem.neighbours.histogram_shift) / self.epsilon
        rows = total_noise(cells=problem.domain.size, scale=scale, beta=beta)
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Noise of scale {scale:g} rows in at most {problem.domain.size:,} cells, then a projection. "
            f"No query has an error above {rows:,.0f} rows, with confidence 1 − {rounded_up(beta)}.",
            formula=r"\alpha\le\frac1n\min_{\lambda>0}\frac{|X|\ln\mathbb{E}e^{\lambda|Z|}+\ln\frac1\beta}{\lambda},"
            r"\quad Z\sim\mathrm{DLap}(\Delta/\varepsilon)",
            reference="triangle inequality and Chernoff bound; see Hall, Rinaldo and Wasserman (2013), Theorem 5.2",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
            assumptions=problem.unchecked_n,
            note="The bound is for all data. The expected error grows with the number of cells that get noise.",
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        """One draw on the noisy cells, one projection."""
        problem = state.problem
        self.guarantee(problem)  # refuses before anything is drawn
        noisy = self.noisy_cells(state.histogram, problem)
        counts = np.zeros((trials, problem.domain.size), dtype=np.int64)
        sensitivity = sum(problem.neighbours.histogram_shift)
        draw = NoisyCounts(state.histogram[None, noisy], epsilon=self.epsilon, sensitivity=sensitivity)
        counts[:, noisy] = project_counts(sampler.draw(draw, trials), total=problem.n)
        return self.release(HistogramRelease, state, sampler, trials, counts=counts)

    @override
    def possible(self, release: Release) -> bool:
        """Counts of n rows, none below 0."""
        assert isinstance(release, HistogramRelease)
        return bool((release.counts >= 0).all() and (release.counts.sum(axis=1) == release.problem.n).all())


@dataclass(frozen=True, kw_only=True)
class SparseHistogram(ProjectedHistogram):
    """Noise in non-empty cells only, where the condition on cells and rows allows it."""

    gamma: float = param(
        0.1,
        0.001,
        0.5,
        label="Failing share",
        symbol="γ",
        log=True,
        stops=(0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        help="The probability that the guarantee does not hold, over data sampled from any population.",
    )
    condition: str = param(
        "sharper",
        label="Condition",
        choices=("sharper", "paper"),
        help="Condition for empty cells to stay empty: the paper needs n ≥ 2k/γ, the sharper one about 0.37 of that.",
    )

    def spares_empty_cells(self, problem: Problem) -> bool:
        """Return whether there are few enough cells for so many rows; public."""
        return lone_row_chance(cells=problem.domain.size, n=problem.n, condition=self.condition) <= self.gamma

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, gamma)-random DP where empty cells are spared, else epsilon-DP.

        Raises:
            ParameterError: under ADD_REMOVE_ONE, where the number of rows that the condition needs is not public.
        """
        if problem.neighbours is not Neighbours.REPLACE_ONE:
            raise ParameterError(
                "Random differential privacy is proved here only for replacing one of n rows, n public."
            )
        gamma = self.gamma if self.spares_empty_cells(problem) else 0.0
        return Guarantee(epsilon=self.epsilon, gamma=gamma, neighbours=problem.neighbours)

    @override
    def noisy_cells(self, histogram: Integers, problem: Problem) -> Booleans:
        """All but the empty ones, where the condition holds."""
        return histogram > 0 if self.spares_empty_cells(problem) else super().noisy_cells(histogram, problem)


ENTRIES = (
    Entry(
        key="projected_histogram",
        mechanism=ProjectedHistogram,
        title="Histogram of n rows",
        story="Adds noise to every cell, then takes the nearest histogram with no negative count and total n.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells),
        references=("Hall, Rinaldo and Wasserman (2013), equation 2",),
    ),
    Entry(
        key="sparse_histogram",
        mechanism=SparseHistogram,
        title="Sparse histogram (random privacy)",
        story="Empty cells stay empty if γn is large enough. The guarantee is weaker: it is for randomly sampled "
        "data. A person alone in a cell can be identified.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells),
        references=("Hall, Rinaldo and Wasserman (2013), Proposition 5.1",),
        tiny={"gamma": 0.5},
        tiny_rows=6,  # enough rows for three cells, so that empty cells are spared there
    ),
)
