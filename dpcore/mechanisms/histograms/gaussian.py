"""Gaussian: add discrete Gaussian noise to every cell, under (epsilon, delta)-differential privacy.

Its tails are lighter than Laplace noise's and its cost counts a row's change in L2, not L1; so it wins when many
numbers are released at once, and pays for it with a slack delta.

Why it is private: replacing a row moves two cells by 1 each (one cell when rows are added or removed). Noise is
calibrated on the exact law of the discrete Gaussian itself: the continuous formula (Balle and Wang 2018) is violated
by discrete noise.

Notation: epsilon = ε, delta = δ; sigma = σ, in rows.

References:
    Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy; Balle and Wang (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    HistogramRelease,
    HistogramState,
    Problem,
    delta_param,
    epsilon_param,
    rows_up,
)
from dpcore.mechanisms.histograms.concentration import worst_error_argument, worst_error_formula, worst_error_gaussian
from dpcore.privacy.composition import gaussian_sigma
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dpcore.randomness import GaussianCounts, Sampler


@dataclass(frozen=True, kw_only=True)
class GaussianHistogram(GaussianMechanism):
    """Every cell's count plus discrete Gaussian noise."""

    data_independent: ClassVar[bool] = True

    epsilon: float = epsilon_param()
    delta: float = delta_param()

    def sigma(self, problem: Problem) -> float:
        """Return the parameter of the Gaussian noise, in rows."""
        return gaussian_sigma(epsilon=self.epsilon, delta=self.delta, shift=problem.neighbours.histogram_shift)

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw, a number for each cell."""
        return ((self.sigma(problem), problem.domain.size, len(problem.neighbours.histogram_shift)),)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Exact tails for cells; Doob's maximal inequality with the sub-Gaussian moment for sums of cells."""
        sigma = self.sigma(problem)
        rows = worst_error_gaussian(problem.queries, sigma=sigma, beta=beta)
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Gaussian noise with σ = {sigma:.3g} rows in each of {problem.domain.size:,} cells. The worst "
            f"{problem.queries.one} has an error of at most {rows_up(rows)} rows, with confidence 1 − "
            f"{beta:g}.",
            formula=worst_error_formula(
                problem.queries, noise=r"\mathcal{N}_{\mathbb{Z}}(0,\sigma^2)", square=r"\tfrac12\lambda^2\sigma^2"
            ),
            reference=worst_error_argument(problem.queries),
            beta=beta,
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        sigma, moved = self.sigma(state.problem), len(state.problem.neighbours.histogram_shift)
        counts = sampler.draw(GaussianCounts(state.histogram[None, :], sigma=sigma, squared_shift=moved), trials)
        return self.release(HistogramRelease, state, sampler, trials, counts=counts)


ENTRIES = (
    Entry(
        key="gaussian",
        mechanism=GaussianHistogram,
        title="Gaussian histogram",
        story="Adds Gaussian noise to every cell. It has lighter tails than Laplace noise, but needs δ above 0.",
        domains=(DomainType.NUMBER, DomainType.MAP, DomainType.LABELS),
        queries=(Thresholds, Intervals, Rectangles, Cells, LinearQueries),
        references=("Canonne, Kamath and Steinke (2020)", "Balle and Wang (2018)"),
        tiny={"delta": 0.01},
    ),
)
