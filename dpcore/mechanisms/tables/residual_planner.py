"""Residual planner: all tables of k attributes at once, each part counted once with noise planned for all.

A table of three attributes repeats what tables of two and one say. So each set of at most k attributes is released
once: what its table says beyond the tables of fewer attributes (its contrasts, whole numbers). Every table is then
put together from its parts. How wide the noise of each part is follows in closed form from the attributes' sizes: of
all Gaussian noise of the same privacy cost, this has the least squared error. What is known of counts besides (none
is negative, and two tables agree where they overlap) improves the result further, free of privacy cost.

Why it is private: adding a row moves the contrasts of a set of attributes by a vector of known length, whatever the
row; replacing one moves them by a vector whose length depends only on the attributes in which the two rows differ,
and the worst such set of attributes counts. Each contrast gets discrete Gaussian noise; the delta of all of them
together is proved (dpcore/privacy/gaussian_vectors.py), not that of continuous noise. Everything after is
post-processing.

Notation: epsilon = ε, delta = δ; k attributes to a table; n rows.

References:
    Xiao, He, Zhang and Kifer (2023), An Optimal and Scalable Matrix Mechanism for Noisy Marginals under Convex Loss.
    Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy.
    Deming and Stephan (1940), on scaling a table to given margins.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Mechanism,
    Problem,
    delta_param,
    epsilon_param,
    finish,
    param,
    rounded_up,
    rows_up,
)
from dpcore.mechanisms.tables.plan import ResidualPlan, draws_of, residual_plan
from dpcore.mechanisms.tables.release import (
    ContrastsRelease,
    ContrastState,
    check_lines,
    contrast_state,
    marginals_of,
    table_seconds,
)
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.marginals import Marginals
from dpcore.randomness import GaussianCounts, Sampler

ContrastsT = TypeVar("ContrastsT", bound=ContrastsRelease)


@dataclass(frozen=True, kw_only=True)
class ResidualPlanner(GaussianMechanism):
    """Contrasts of every set of attributes plus discrete Gaussian noise planned for all tables of k attributes."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()
    delta: float = delta_param(1e-9)
    lean: float = param(
        2.0,
        1.0,
        16.0,
        label="Weight of small tables",
        log=True,
        stops=(1, 2, 3, 4, 8, 16),
        help="1 is the formula's noise, best before post-processing. A larger weight gives tables of few "
        "attributes less noise; large tables are predicted from them.",
    )

    def plan(self, problem: Problem) -> ResidualPlan:
        """Return the noise of each part: public."""
        queries = marginals_of(problem)
        return residual_plan(
            sizes=queries.domain.sizes,
            ways=queries.ways,
            neighbours=problem.neighbours,
            epsilon=self.epsilon,
            delta=self.delta,
            small_set_weight=self.lean,
        )

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw for each kind of set."""
        return draws_of(self.plan(problem))

    @override
    def check_size(self, problem: Problem) -> None:
        """A line for each cell of each table."""
        check_lines(problem)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Every cell of every unbiased table: see ``worst_cell``."""
        return worst_cell(problem, self.plan(problem), beta=beta)

    def counting(self, dataset: Dataset, problem: Problem) -> Generator[float, None, ContrastState]:
        """Count the contrasts as ``prepare`` does; yields the share done."""
        return contrast_state(dataset, problem)

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> ContrastState:
        return finish(self.counting(dataset, problem))

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: a draw for each number."""
        return 0.0, 1e-7 * self.plan(problem).numbers

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        return 0.0, self.preview_seconds(problem)[1] + table_seconds(problem)

    @override
    def run(self, state: ContrastState, sampler: Sampler, trials: int = 1) -> ContrastsRelease:
        """One draw for each kind of set."""
        return noisy_contrasts(self, state, self.plan(state.problem), sampler, trials=trials, kind=ContrastsRelease)


def noisy_contrasts(
    mechanism: Mechanism,
    state: ContrastState,
    plan: ResidualPlan,
    sampler: Sampler,
    *,
    trials: int,
    kind: type[ContrastsT],
) -> ContrastsT:
    """Return contrasts with the plan's Gaussian noise, as a release of this class."""
    draws = [
        GaussianCounts(state.contrasts[part.key][None, :], sigma=sigma, squared_shift=square)
        for part, (sigma, _, square) in zip(plan.parts, draws_of(plan), strict=True)
    ]
    values = np.concatenate([sampler.draw(draw, trials) for draw in draws], axis=1)
    return mechanism.release(kind, state, sampler, trials, values=values, plan=plan)


GAUSSIAN_CELLS = r"\alpha\le\frac{\sigma}{n}\sqrt{2\ln\frac{2\cdot\#\mathrm{cells}}{\beta}}"
"""Bound on the error of every cell, by a union bound, in TeX."""


def worst_cell(problem: Problem, plan: ResidualPlan, *, beta: float) -> Bound:
    """Return the error that no cell of an unbiased table exceeds, except with chance beta: a union bound.

    Discrete Gaussian noise of parameter sigma is sub-Gaussian with variance sigma^2 (Canonne, Kamath and Steinke 2020),
    and so are sums, with the sum of the variances.
    """
    queries = marginals_of(problem)
    # Tables of one type have the same error.
    by_type = {tuple(sorted(queries.domain.sizes[a] for a in table)): table for table in queries.sets()}
    sigma = max(plan.cell_sigma(table) for table in by_type.values())
    rows = sigma * math.sqrt(2 * math.log(2 * queries.count / beta))
    return Bound(
        value=rows / problem.n,
        kind=BoundKind.GUARANTEE,
        statement=f"Before fitting, each of {queries.count:,} cells has noise of σ = {rounded_up(sigma)} rows at "
        f"most. The worst cell has an error of at most {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
        formula=GAUSSIAN_CELLS,
        reference="union bound, sub-Gaussian noise",
        beta=beta,
        rows_needed=math.floor(rows) + 1,
    )


ENTRIES = (
    Entry(
        key="residual-planner",
        mechanism=ResidualPlanner,
        title="Residual planner",
        story="Measures what each set of attributes adds to smaller sets, optimises the noise of every part, and "
        "fits tables that agree.",
        domains=(DomainType.TABLE,),
        queries=(Marginals,),
        references=("Xiao, He, Zhang and Kifer (2023)", "Canonne, Kamath and Steinke (2020)"),
        tiny={"delta": 0.01},
    ),
)
