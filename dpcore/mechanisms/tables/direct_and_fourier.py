"""The classical mechanisms for tables of k attributes: noise on every cell, or on every Fourier coefficient.

Direct: each table's counts get noise of their own. One row is in a cell of every table, so the noise grows with the
number of tables, and tables that overlap contradict each other.

Fourier (yes/no attributes): each set of at most k attributes is released once, as the number of rows with an even
number of its attributes less those with an odd number; every table is a sum of these. There are fewer of them than
cells, and tables agree.

Why it is private: adding a row moves one cell of every table, or every coefficient, by 1; replacing one moves two
cells of every table by 1, or by 2 those coefficients whose set has an odd number of the differing attributes (the
worst number of differing attributes counts). Laplace noise pays for the sum of these moves, Gaussian noise for the
sum of their squares, with a slack delta proved for discrete noise (dpcore/privacy/gaussian_vectors.py).

Notation: epsilon = ε, delta = δ; k attributes to a table; n rows.

References:
    Barak, Chaudhuri, Dwork, Kale, McSherry and Talwar (2007), Privacy, Accuracy, and Consistency Too.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Booleans,
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Guarantee,
    Neighbours,
    ParameterError,
    Problem,
    delta_param,
    epsilon_param,
    finish,
    param,
    rows_up,
)
from dpcore.mechanisms.tables.cliques import MAX_NUMBERS, CliqueTypes
from dpcore.mechanisms.tables.plan import ResidualPlan, build_parts, clique_types_of, draws_of, gaussian_plan
from dpcore.mechanisms.tables.release import (
    ContrastsRelease,
    ContrastState,
    DirectRelease,
    TableState,
    check_lines,
    contrast_state,
    marginals_of,
    table_seconds,
    table_state,
)
from dpcore.mechanisms.tables.residual_planner import GAUSSIAN_CELLS, noisy_contrasts, worst_cell
from dpcore.privacy.gaussian_vectors import sigma_of_draw
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.marginals import Marginals
from dpcore.randomness import GaussianCounts, NoisyCounts, Sampler

NOISES = ("gaussian", "laplace")


def _are_drawn(cliques: CliqueTypes, neighbours: Neighbours) -> Booleans:
    if set(cliques.sizes) != {2}:
        raise ParameterError("Fourier coefficients are for attributes of two values each; use the residual planner.")
    drawn: Booleans = cliques.squared_shifts(neighbours).max(axis=0) > 0
    return drawn


@lru_cache(maxsize=64)
def fourier_gaussian(
    *, sizes: tuple[int, ...], ways: int, neighbours: Neighbours, epsilon: float, delta: float
) -> ResidualPlan:
    """Return the plan with Gaussian noise of one sigma on all coefficients.

    Raises:
        ParameterError: an attribute has more than two cells.
    """
    cliques = clique_types_of(sizes, ways)
    drawn = _are_drawn(cliques, neighbours)
    relative = np.ones(int(drawn.sum()))
    return gaussian_plan(cliques, neighbours, drawn=drawn, relative=relative, epsilon=epsilon, delta=delta)


@lru_cache(maxsize=64)
def fourier_laplace(
    *, sizes: tuple[int, ...], ways: int, neighbours: Neighbours, epsilon: float
) -> tuple[ResidualPlan, int]:
    """Return the plan with Laplace noise, and the L1 sensitivity of all coefficients together.

    A record moves each coefficient by 1; replacing one moves by 2 those with an odd number of differing attributes.

    Raises:
        ParameterError: an attribute has more than two cells.
    """
    cliques = clique_types_of(sizes, ways)
    drawn = _are_drawn(cliques, neighbours)
    step = 1 if neighbours is Neighbours.ADD_REMOVE_ONE else 2
    sensitivity = round(cliques.squared_shifts(neighbours).sum(axis=1).max() / step)
    share = np.exp(-epsilon / sensitivity)
    sigma = np.sqrt(2 * share) / (1 - share)  # of discrete Laplace noise
    parts = build_parts(cliques, drawn=drawn, sigmas=np.full(int(drawn.sum()), sigma))
    return ResidualPlan(cliques=cliques, neighbours=neighbours, parts=parts, delta=0.0), sensitivity


@dataclass(frozen=True, kw_only=True)
class _Classic(GaussianMechanism):
    """Base class of the direct and the Fourier mechanism."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()
    delta: float = delta_param(1e-9)
    noise: str = param(
        "gaussian",
        label="Noise",
        choices=NOISES,
        help="Laplace noise needs no δ, and is larger if one row is in many numbers.",
    )

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP with Gaussian noise, epsilon-DP with Laplace noise; either relation."""
        delta = self.delta if self.noise == "gaussian" else 0.0
        return Guarantee(epsilon=self.epsilon, delta=delta, neighbours=problem.neighbours)

    @override
    def check_size(self, problem: Problem) -> None:
        """A line for each cell of each table."""
        check_lines(problem)

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        return 0.0, table_seconds(problem)

    def _all_within(self, problem: Problem, rows: float, *, beta: float, formula: str) -> Bound:
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Before fitting, none of {marginals_of(problem).count:,} cells has an error above "
            f"{rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=formula,
            reference="union bound",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
        )


@dataclass(frozen=True, kw_only=True)
class DirectTables(_Classic):
    """Every cell of every table plus noise."""

    def moves(self, problem: Problem) -> int:
        """Return the number of cells that a neighbour moves by 1: one of every table, two where a row is replaced."""
        return marginals_of(problem).tables * len(problem.neighbours.histogram_shift)

    def sigma(self, problem: Problem) -> float:
        """Return the parameter of the Gaussian noise."""
        numbers, moves = marginals_of(problem).count, self.moves(problem)
        return sigma_of_draw(epsilon=self.epsilon, delta=self.delta, numbers=numbers, squared_shift=moves)

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw, a number for each cell of each table; none with Laplace noise."""
        if self.noise == "laplace":
            return ()
        return ((self.sigma(problem), marginals_of(problem).count, self.moves(problem)),)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        if self.noise == "gaussian":
            rows = self.sigma(problem) * math.sqrt(2 * math.log(2 * marginals_of(problem).count / beta))
            return self._all_within(problem, rows, beta=beta, formula=GAUSSIAN_CELLS)
        rows = self.moves(problem) / self.epsilon * math.log(2 * marginals_of(problem).count / beta)
        formula = r"\alpha\le\frac{\Delta}{\varepsilon n}\ln\frac{2\cdot\#\mathrm{cells}}{\beta}"
        return self._all_within(problem, rows, beta=beta, formula=formula)

    def counting(self, dataset: Dataset, problem: Problem) -> Generator[float, None, TableState]:
        """Count the numbers as ``prepare`` does; yields the share done."""
        if marginals_of(problem).count > MAX_NUMBERS:
            raise ParameterError(
                f"These tables have {marginals_of(problem).count:,} cells; at most {MAX_NUMBERS:,} fit."
            )
        return table_state(dataset, problem)

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> TableState:
        return finish(self.counting(dataset, problem))

    @override
    def run(self, state: TableState, sampler: Sampler, trials: int = 1) -> DirectRelease:
        problem, counts = state.problem, state.counts[None, :]
        if self.noise == "laplace":
            values = sampler.draw(NoisyCounts(counts, epsilon=self.epsilon, sensitivity=self.moves(problem)), trials)
        else:
            draw = GaussianCounts(counts, sigma=self.sigma(problem), squared_shift=self.moves(problem))
            values = sampler.draw(draw, trials)
        return self.release(DirectRelease, state, sampler, trials, values=values)


@dataclass(frozen=True, kw_only=True)
class FourierTables(_Classic):
    """Every Fourier coefficient of at most k attributes plus the same noise."""

    def plan(self, problem: Problem) -> ResidualPlan:
        """Return the public plan of the noise.

        Raises:
            ParameterError: an attribute has more than two cells.
        """
        return self._plan(problem)[0]

    def _plan(self, problem: Problem) -> tuple[ResidualPlan, int]:
        settings: dict[str, Any] = {
            "sizes": marginals_of(problem).domain.sizes,
            "ways": marginals_of(problem).ways,
            "neighbours": problem.neighbours,
            "epsilon": self.epsilon,
        }
        if self.noise == "laplace":
            return fourier_laplace(**settings)
        return fourier_gaussian(**settings, delta=self.delta), 0

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw for each size of a set of attributes; none with Laplace noise."""
        return () if self.noise == "laplace" else draws_of(self.plan(problem))

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Gaussian: a union bound over cells. Laplace: over coefficients; a cell is off by no more than their mean."""
        plan, sensitivity = self._plan(problem)
        if self.noise == "gaussian":
            return worst_cell(problem, plan, beta=beta)
        # A cell of a table of k attributes is 2^-k times a sum of 2^k coefficients, each plus or minus.
        rows = sensitivity / self.epsilon * math.log(2 * plan.numbers / beta) + 1
        formula = r"\alpha\le\frac{\Delta}{\varepsilon n}\ln\frac{2\cdot\#\mathrm{coefficients}}{\beta}+\frac1n"
        return self._all_within(problem, rows, beta=beta, formula=formula)

    def counting(self, dataset: Dataset, problem: Problem) -> Generator[float, None, ContrastState]:
        """Count the numbers as ``prepare`` does; yields the share done."""
        self._plan(problem)  # refuses attributes of more than two cells before anything is counted
        return contrast_state(dataset, problem)

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> ContrastState:
        return finish(self.counting(dataset, problem))

    @override
    def run(self, state: ContrastState, sampler: Sampler, trials: int = 1) -> ContrastsRelease:
        plan, sensitivity = self._plan(state.problem)
        if self.noise == "gaussian":
            return noisy_contrasts(self, state, plan, sampler, trials=trials, kind=ContrastsRelease)
        values = np.concatenate([state.contrasts[part.key] for part in plan.parts])[None, :]
        noisy = sampler.draw(NoisyCounts(values, epsilon=self.epsilon, sensitivity=sensitivity), trials)
        return self.release(ContrastsRelease, state, sampler, trials, values=noisy, plan=plan)


_SHARED: dict[str, Any] = {
    "domains": (DomainType.TABLE,),
    "queries": (Marginals,),
    "references": ("Barak et al. (2007)",),
    "tiny": {"delta": 0.01},
}

ENTRIES = (
    Entry(
        key="direct-tables",
        mechanism=DirectTables,
        title="Direct tables",
        story="Adds noise to every cell of every table separately. Simple, but the noise is large if there are "
        "many tables.",
        **_SHARED,
    ),
    Entry(
        key="fourier-tables",
        mechanism=FourierTables,
        title="Fourier tables",
        story="For yes/no attributes: adds noise to one number per set of attributes, and computes all tables "
        "from these numbers.",
        **_SHARED,
    ),
)
