"""Whole table: synthetic rows with nearly the released tables of all pairs of columns, numbers and dates among them.

The residual planner releases tables of k columns, with more of the privacy loss on single columns, from which pairs
are predicted. Where noise would drown the tables of k columns, tables of fewer are released; where it would drown most
pairs, only those that a private score finds furthest from independence (``chosen_pairs``); or single columns alone. A
rule of public numbers alone (sizes, n, epsilon, delta) decides. Then rows are made: from a tree of the tables first,
then moved until they fit all measured tables. Wherever a table has too few rows of some kind and too many of another,
as many rows as both say change hands: some become copies of rows of the kind that lacks, the others change only in the
columns of that table. Columns that no chosen pairs link are taken to be independent, and rows are moved towards their
products, too, as columns of rows that are drawn alone depend on each other by chance. No rows need have all released
tables; how far these are from them is known from the release alone.

Why it is private: what is released are the planner's noisy numbers (``residual_planner``), or those of single columns,
scores and chosen pairs (``chosen_pairs``); the rule sees no data, and rows are post-processing, with coins that follow
from the released numbers.

Notation: epsilon = ε, delta = δ; k columns to a table; n rows.

References:
    Xiao, He, Zhang and Kifer (2023), An Optimal and Scalable Matrix Mechanism for Noisy Marginals under Convex Loss.
    Zhang, Wang, Li, Honorio, Backes, He, Chen and Zhang (2021), PrivSyn: Differentially Private Data Synthesis.
    McKenna, Mullins, Sheldon and Miklau (2022), AIM: An Adaptive and Iterative Mechanism for Differentially Private
    Synthetic Data.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    ErrorUnit,
    ParameterError,
    Problem,
    delta_param,
    param,
)
from dpcore.data.product import Product
from dpcore.mechanisms.tables.chosen_pairs import SCORES_SHARE, ChosenPairs, chosen_pairs
from dpcore.mechanisms.tables.fitting import on_simplex
from dpcore.mechanisms.tables.plan import ResidualPlan, residual_plan
from dpcore.mechanisms.tables.release import ContrastState, marginals_of
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner, noisy_contrasts, worst_cell
from dpcore.mechanisms.tables.rows_release import ChosenPairsRelease, RowsRelease, check_rows
from dpcore.queries.marginals import Marginals, Set
from dpcore.randomness import Sampler

SMALL_TABLE_WEIGHT = 12.0
"""Factor of small_set_weight: times the columns' mean size and the noise of pairs as a share of rows."""
MAX_SMALL_TABLE_WEIGHT = 4.0
"""Maximum of small_set_weight, as a multiple of the columns' mean size."""
MAX_NOISE_SHARE = 1 / 9
"""Noise of pairs (share of rows, times the columns' mean size) beyond which columns are released singly."""
NOISE_SHARE_PER_COLUMN = 3 / 32
"""Factor of MAX_NOISE_SHARE for each further column of a table."""
MIN_CHOSEN_NOISE_SHARE = 1 / 120
"""Noise of pairs (as above) beyond which only chosen pairs are measured: below it that gains little."""
COLUMNS_SHARE, MAX_COLUMNS_SHARE = 3.2, 0.6
"""Single columns get the root of the noise of pairs (as above), times the first, of the squared privacy loss; at most
the second."""


@dataclass(frozen=True, kw_only=True)
class WholeTable(ResidualPlanner):
    """The planner's noisy contrasts of as many columns at a time as noise leaves room for, and rows that fit them."""

    delta: float = delta_param(1e-9)
    lean: float = param(
        1.0,
        1 / 16,
        16.0,
        label="Weight of single columns",
        log=True,
        stops=(1 / 16, 1 / 4, 1, 4, 16),
        help="1 is a rule that uses public numbers only. The larger the noise, the larger the share of ε for "
        "single columns. Pairs are predicted from single columns.",
    )
    rule: bool = param(
        True,
        label="Smaller tables if the noise is large",
        help="A rule that uses public numbers only: smaller or fewer tables where larger ones would be mostly noise.",
    )

    @override
    def plan(self, problem: Problem) -> ResidualPlan:
        """The noise of each part, of tables of as many columns as the rule says: public."""
        if choice := self.choice(problem):
            return choice.columns
        ways, noise = self._room(problem)
        size = sum(marginals_of(problem).domain.sizes) / len(marginals_of(problem).domain.sizes)
        weight = max(1.0, self.lean * size * min(SMALL_TABLE_WEIGHT * noise, MAX_SMALL_TABLE_WEIGHT))
        return self._plan_of_ways(problem, ways, small_set_weight=weight)

    def choice(self, problem: Problem) -> ChosenPairs | None:
        """Return how many pairs are chosen and the noise of all draws, by the rule; None where none are: public."""
        sizes, (ways, noise) = marginals_of(problem).domain.sizes, self._room(problem)
        share = noise * len(sizes) / sum(sizes)
        if not self.rule or ways != 2 or share <= MIN_CHOSEN_NOISE_SHARE:
            return None
        columns = min(MAX_COLUMNS_SHARE, COLUMNS_SHARE * math.sqrt(share))
        return chosen_pairs(
            sizes=sizes,
            columns_share=(1 - SCORES_SHARE) * self.lean * columns / (1 - columns + self.lean * columns),
            neighbours=problem.neighbours,
            epsilon=self.epsilon,
            delta=self.delta,
        )

    def _room(self, problem: Problem) -> tuple[int, float]:
        """Return of how many columns tables are, by the rule, and the noise of these tables as a share of rows."""
        domain, ways = marginals_of(problem).domain, marginals_of(problem).ways
        size = sum(domain.sizes) / len(domain.sizes)
        while True:
            try:
                noise = noise_share(self._plan_of_ways(problem, ways), domain, n=problem.n)
            except ParameterError:  # too many cells
                if ways == 1 or not self.rule:
                    raise
                noise = math.inf
            if ways == 1 or not self.rule or noise <= size * MAX_NOISE_SHARE * NOISE_SHARE_PER_COLUMN ** (ways - 2):
                return ways, noise
            ways -= 1

    def _plan_of_ways(self, problem: Problem, ways: int, *, small_set_weight: float = 1.0) -> ResidualPlan:
        return residual_plan(
            sizes=marginals_of(problem).domain.sizes,
            ways=ways,
            neighbours=problem.neighbours,
            epsilon=self.epsilon,
            delta=self.delta,
            small_set_weight=small_set_weight,
        )

    @override
    def check_size(self, problem: Problem) -> None:
        """Synthetic rows, at most as many as the public n: see ``check_rows``."""
        check_rows(problem)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Of the tables as they are measured, before rows are made; nothing of tables that are not measured."""
        plan, ways, choice = self.plan(problem), marginals_of(problem).ways, self.choice(problem)
        if plan.cliques.ways == ways:
            return dataclasses.replace(worst_cell(problem, plan, beta=beta), unit=ErrorUnit.TABLES)
        chosen = " and of chosen pairs" if choice else ""
        return Bound(
            value=math.inf,
            kind=BoundKind.ORDER_ONLY,
            statement=f"At this ε and n only tables of {plan.cliques.ways}{chosen} are measured. For tables of {ways} "
            "columns no error is guaranteed.",
            reference="none",
            unit=ErrorUnit.TABLES,
            beta=beta,
        )

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw for each kind of set; where pairs are chosen, one for all scores and one for all chosen tables."""
        choice = self.choice(problem)
        return choice.draws if choice else super().gaussians(problem)

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: a draw for each number."""
        return 0.0, 1e-7 * sum(numbers for _, numbers, _ in self.gaussians(problem))

    @override
    def run(self, state: ContrastState, sampler: Sampler, trials: int = 1) -> RowsRelease:
        """One draw for each kind of set; where pairs are chosen, one for all scores and one for all chosen tables."""
        plan, choice = self.plan(state.problem), self.choice(state.problem)
        columns = noisy_contrasts(self, state, plan, sampler, trials=trials, kind=RowsRelease)
        if choice is None:
            return columns
        totals = np.maximum(columns.unbiased(()), 1.0)
        singles = [on_simplex(columns.unbiased((a,)), total=totals) for a in range(len(columns.domain.names))]
        scores, tables = choice.drawn(sampler, singles, state.contrasts, trials=trials)
        values = np.concatenate([columns.values, scores, tables], axis=1)
        return self.release(ChosenPairsRelease, state, sampler, trials, values=values, plan=plan, choice=choice)


def noise_share(plan: ResidualPlan, domain: Product, *, n: int) -> float:
    """Return the mean total variation that noise alone causes in the plan's unbiased tables, as a share of n rows."""
    noises: dict[Set, list[float]] = {}
    for table in Marginals(domain=domain, ways=plan.cliques.ways).sets():
        sizes = tuple(sorted(domain.sizes[a] for a in table))
        if sizes not in noises:
            noises[sizes] = [plan.cell_sigma(table) * math.prod(sizes) / math.sqrt(2 * math.pi) / n, 0.0]
        noises[sizes][1] += 1
    return sum(noise * many for noise, many in noises.values()) / sum(many for _, many in noises.values())


ENTRIES = (
    Entry(
        key="whole-table",
        mechanism=WholeTable,
        title="Whole table",
        story="Measures tables of a few columns with optimised noise, then makes synthetic rows and moves them "
        "towards all these tables.",
        domains=(DomainType.TABLE,),
        queries=(Marginals,),
        references=(
            "Xiao, He, Zhang and Kifer (2023)",
            "Zhang et al. (2021), PrivSyn",
            "McKenna, Mullins, Sheldon and Miklau (2022)",
        ),
        tiny={"delta": 0.01},
    ),
)
