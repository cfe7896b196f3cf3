"""Whole table: synthetic rows with nearly the released tables of all pairs of columns, numbers and dates among them.

The residual planner releases tables of k columns, with more of the privacy loss on single columns, from which pairs
are predicted. Where noise would drown the tables of k columns, tables of fewer are released; where it would drown most
pairs, only those that a private score finds furthest from independence (``chosen_pairs``); or single columns alone. A
rule of public numbers alone (sizes, n, epsilon, delta) decides. Then rows are made: from a tree of the tables first,
then moved until they fit all measured tables. Wherever a table has too few rows of some kind and too many of another,
as many rows as both say change hands: some become copies of rows of the kind that lacks, the others change only in the
columns of that table. No rows need have all released tables; how far these are from them is known from the release
alone.

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
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    Integers,
    ParameterError,
    Problem,
    check_memory,
    delta_param,
    param,
)
from dpcore.data.product import Product
from dpcore.mechanisms.tables.chosen_pairs import SCORES_SHARE, ChosenPairs, chosen_pairs
from dpcore.mechanisms.tables.fitting import fitted_pair, on_simplex
from dpcore.mechanisms.tables.plan import ResidualPlan, residual_plan
from dpcore.mechanisms.tables.release import ContrastsRelease, ContrastState, Tables, marginals_of
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner, noisy_contrasts, worst_cell
from dpcore.mechanisms.tables.tree import Tree, synthetic_rows, widest_tree
from dpcore.queries.marginals import Marginals, Set
from dpcore.randomness import Sampler

if TYPE_CHECKING:
    import pandas as pd

SYNTHETIC_ROWS = "rows_of_nobody"
"""Name of the file of synthetic rows."""
DISTANCES = "distances"
"""Name of the file of distances between the rows and the released tables."""
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
ROUNDS = 6
"""Number of passes over all tables."""
DECAY = 0.8
"""Factor by which the moved share of the remaining difference shrinks from pass to pass."""
COPIED_SHARE = 0.6
"""Share of the moved rows that become copies of rows already in the target cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsRelease(ContrastsRelease):
    """Noisy contrasts, and the synthetic rows made from them."""

    def rows(self, *, trial: int = 0) -> Integers:
        """Return the cells of the synthetic rows, (rows, d): the same each time.

        They are as many as the released total says, and at most n, which is nominal where rows are added or removed.
        """
        check_rows(self.problem)
        tables, attributes = self.tables(trial=trial), len(self.domain.names)
        ways, n = max(map(len, tables)), min(max(round(float(self.residuals(trial)[()][0])), 1), self.problem.n)
        if ways == 1:
            tree = Tree(steps=tuple((attribute, ()) for attribute in range(attributes)))
        else:
            tree = widest_tree(tables, attributes=attributes, ways=ways)
        rows = synthetic_rows(tables, tree, rows=n, seed=self._seed(trial))
        return fitted_rows(rows, {each: tables[each] for each in self.fitted_sets(trial)}, seed=self._seed(trial))

    def fitted_sets(self, trial: int) -> list[Set]:
        """Return the tables towards which rows are moved: those measured, unless rows have single columns anyway."""
        ways = self.plan.cliques.ways
        return list(Marginals(domain=self.domain, ways=ways).sets()) if ways > 1 else []

    def off_by(self, table: Set, rows: Sequence[Integers] | Integers, *, beta: float) -> Floats:
        """Return the rows by which no cell of a table of the synthetic rows is wrong, (T,), except with chance beta.

        The bound is for all tables of k columns at once, k being that of the measured tables, and follows from what was
        released: how far the rows are from the unbiased table, and how far that may be from the true one, by noise. A
        table of fewer columns is not in that union. Infinity for a table that was not measured.

        Args:
            table: at most k columns.
            rows: of each release, T times (rows, d).
            beta: failure probability.
        """
        if len(table) > self.plan.cliques.ways:
            return np.full(self.trials, math.inf)
        measured, shape = self.unbiased(table), tuple(self.domain.sizes[a] for a in table)
        codes = (np.ravel_multi_index(tuple(each[:, a] for a in table), shape) for each in rows)
        counts = np.array([np.bincount(each, minlength=math.prod(shape)) for each in codes])
        distances: Floats = np.abs(counts - measured.reshape(counts.shape)).max(axis=1)
        return distances + self.noise_within(table, beta=beta)

    def noise_within(self, table: Set, *, beta: float) -> float:
        """Return the rows by which noise moves no cell of a measured table, except with chance beta: a union bound."""
        cells = Marginals(domain=self.domain, ways=self.plan.cliques.ways).count
        return self.plan.cell_sigma(table) * math.sqrt(2 * math.log(2 * cells / beta))

    def distances(self, rows: Integers, *, beta: float) -> pd.DataFrame:
        """Return how far the rows are from what was released, a line for each measured table; post-processing.

        Args:
            rows: those of the first release, (rows, d).
            beta: failure probability of the last column, for all tables at once.

        Returns:
            Columns ``table`` (names joined by ×), ``apart`` (rows by which the worst cell of the rows' table differs
            from the released table, before that was made consistent) and ``within`` (rows by which it is off the true
            one, except with chance beta: ``apart`` and what noise may add).
        """
        import pandas as pd

        sets = [chosen for chosen in self.tables(trial=0) if len(chosen) == self.plan.cliques.ways]
        within = [float(self.off_by(chosen, rows[None], beta=beta)[0]) for chosen in sets]
        noise = [self.noise_within(chosen, beta=beta) for chosen in sets]
        names = [" × ".join(self.domain.names[attribute] for attribute in chosen) for chosen in sets]
        distances = [total - part for total, part in zip(within, noise, strict=True)]
        columns = {"table": names, "apart": np.round(distances, 3), "within": np.ceil(within)}
        return pd.DataFrame(columns)

    def table(self, *, trial: int = 0, rows: Integers | None = None) -> pd.DataFrame:
        """Return the rows with the table's own column names, types and labels; ``rows`` saves making them again."""
        from dpcore.data.frames import frame_of

        cells = self.rows(trial=trial) if rows is None else rows
        return frame_of(self.domain, cells, seed=self._seed(trial))

    @override
    def frame(self) -> pd.DataFrame:
        """The rows of every release, after the number of the trial."""
        import pandas as pd

        tables = [self.table(trial=trial) for trial in range(self.trials)]
        numbers = np.repeat(np.arange(self.trials), [len(each) for each in tables])
        together = pd.concat(tables, ignore_index=True)
        together.insert(0, "trial", numbers, allow_duplicates=True)
        return together

    def _seed(self, trial: int) -> int:
        """Return the seed for post-processing, a function of the released numbers alone."""
        return int.from_bytes(hashlib.sha256(self.values[trial].tobytes()).digest()[:8], "big") >> 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenPairsRelease(RowsRelease):
    """Noisy contrasts of single columns, noisy scores of all pairs, the tables of the chosen ones, and rows.

    Attributes:
        choice: how many pairs are chosen and the noise of all draws; public.
    """

    choice: ChosenPairs

    @override
    def tables(self, *, trial: int = 0, fit: str = "consistent") -> Tables:
        """Also of pairs where they are to be consistent: fitted to what was measured, else products of columns."""
        tables = super().tables(trial=trial, fit=fit)
        if fit != "consistent":
            return tables
        measured = self._measured(trial)
        for pair in self.choice.pairs:
            one, other = (tables[(attribute,)] for attribute in pair)
            tables[pair] = np.outer(one, other) / one.sum()
            if pair in measured:
                table, variance = measured[pair]
                tables[pair] = fitted_pair(table, one, other, variance=variance)
        return tables

    def _measured(self, trial: int) -> dict[Set, tuple[Floats, float]]:
        return self.choice.measured(self.values[trial, self.plan.numbers :])

    @override
    def fitted_sets(self, trial: int) -> list[Set]:
        return list(self._measured(trial))


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


def check_rows(problem: Problem) -> None:
    """Raise ParameterError where n synthetic rows would take too much memory."""
    columns = len(marginals_of(problem).domain.names)
    what, smaller = f"The {problem.n:,} synthetic rows", "take a smaller n or fewer columns"
    check_memory(problem.n * columns, what=what, smaller=smaller, each=64)


def noise_share(plan: ResidualPlan, domain: Product, *, n: int) -> float:
    """Return the mean total variation that noise alone causes in the plan's unbiased tables, as a share of n rows."""
    noises: dict[Set, list[float]] = {}
    for table in Marginals(domain=domain, ways=plan.cliques.ways).sets():
        sizes = tuple(sorted(domain.sizes[a] for a in table))
        if sizes not in noises:
            noises[sizes] = [plan.cell_sigma(table) * math.prod(sizes) / math.sqrt(2 * math.pi) / n, 0.0]
        noises[sizes][1] += 1
    return sum(noise * many for noise, many in noises.values()) / sum(many for _, many in noises.values())


def fitted_rows(rows: Integers, tables: Tables, *, seed: int) -> Integers:
    """Return rows (n, d) moved towards these tables, in ROUNDS passes over all of them in random order.

    Args:
        rows: cells, not changed.
        tables: what the rows' tables should be, up to a factor.
        seed: of the post-processing; it needs no secrecy.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    moved, sets, share = np.array(rows, dtype=np.int64, order="F"), list(tables), 1.0
    for _ in range(ROUNDS):
        for place in generator.permutation(len(sets)):
            _move(moved, sets[place], tables[sets[place]], share=share, generator=generator)
        share *= DECAY
    return moved


def _move(
    rows: Integers, chosen: Sequence[int], table: Floats, *, share: float, generator: np.random.Generator
) -> None:
    """Move a share of the rows that one table has too many of in some cells to cells that lack rows."""
    n = len(rows)
    codes = np.ravel_multi_index(tuple(rows[:, a] for a in chosen), table.shape)
    counts = np.bincount(codes, minlength=table.size)
    lacking = table.reshape(-1) * (n / table.sum()) - counts
    coins = generator.random((2, table.size))
    leaving = np.minimum((np.maximum(-lacking, 0) * share + coins[0]).astype(np.int64), counts)
    coming = (np.maximum(lacking, 0) * share + coins[1]).astype(np.int64)
    many = min(int(leaving.sum()), int(coming.sum()))
    if not many:
        return
    shuffled = generator.permutation(n)
    order = shuffled[
        np.argsort(codes[shuffled].astype(np.uint16 if table.size <= 1 << 16 else np.int64), kind="stable")
    ]
    starts = np.cumsum(counts) - counts
    cells = np.repeat(np.arange(table.size), leaving)
    among = np.arange(len(cells)) - np.repeat(np.cumsum(leaving) - leaving, leaving)
    movers = generator.permutation(order[starts[cells] + among])[:many]
    target = generator.permutation(np.repeat(np.arange(table.size), coming))[:many]
    copied = (generator.random(many) < COPIED_SHARE) & (counts[target] > 0)
    onto = target[copied]
    model = order[starts[onto] + (generator.random(len(onto)) * counts[onto]).astype(np.int64)]
    rows[movers[copied]] = rows[model]
    for attribute, values in zip(chosen, np.unravel_index(target[~copied], table.shape), strict=True):
        rows[movers[~copied], attribute] = values


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
