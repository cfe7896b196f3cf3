"""Identity: add discrete Laplace noise to every cell of the histogram, and publish all of it.

The oldest release there is, and the one to beat. It treats every cell alike, so small cells drown, and a query that
adds up many cells adds up their noise too: its error grows with the square root of the number of cells.

Why it is private: replacing a row takes one from a cell and gives one to another, so the counts move by 2 in L1 (by 1
when a row is added or removed), and two-sided geometric noise of scale 2/epsilon makes that invisible up to e^epsilon.

Notation: epsilon = ε; Laplace scale b = sensitivity/ε in rows; p = e^(-1/b).

References:
    Dwork, McSherry, Nissim and Smith (2006), Proposition 1; Ghosh, Roughgarden and Sundararajan (2009).
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
    PureMechanism,
    epsilon_param,
    rows_up,
)
from dpcore.mechanisms.histograms.concentration import worst_error_argument, worst_error_formula, worst_error_laplace
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dpcore.randomness import NoisyCounts, Sampler


@dataclass(frozen=True, kw_only=True)
class IdentityHistogram(PureMechanism):
    """Every cell's count plus discrete Laplace noise."""

    data_independent: ClassVar[bool] = True

    epsilon: float = epsilon_param()

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Union bound for cells; Doob's maximal inequality over the running sums for thresholds and intervals."""
        scale = sum(problem.neighbours.histogram_shift) / self.epsilon
        rows = worst_error_laplace(problem.queries, scale=scale, beta=beta)
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Laplace noise of scale {scale:,.4g} rows in each of {problem.domain.size:,} cells. The worst "
            f"{problem.queries.one} has an error of at most {rows_up(rows)} rows, with confidence 1 − "
            f"{beta:g}.",
            formula=worst_error_formula(
                problem.queries, noise=r"\mathrm{DLap}(\Delta/\varepsilon)", square=r"\ln\mathbb{E}e^{\lambda Z}"
            ),
            reference=worst_error_argument(problem.queries),
            beta=beta,
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        sensitivity = sum(state.problem.neighbours.histogram_shift)
        draw = NoisyCounts(state.histogram[None, :], epsilon=self.epsilon, sensitivity=sensitivity)
        counts = sampler.draw(draw, trials)
        return self.release(HistogramRelease, state, sampler, trials, counts=counts)


ENTRIES = (
    Entry(
        key="identity",
        mechanism=IdentityHistogram,
        title="Identity histogram",
        story="Adds Laplace noise to every cell and publishes all cells. If most cells are empty, projecting to "
        "counts of n rows has a smaller error.",
        domains=(DomainType.NUMBER, DomainType.MAP, DomainType.LABELS),
        queries=(Thresholds, Intervals, Rectangles, Cells, LinearQueries),
        references=("Dwork, McSherry, Nissim and Smith (2006)", "Ghosh, Roughgarden and Sundararajan (2009)"),
    ),
)
