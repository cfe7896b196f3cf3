"""Group quantiles: the median of a number in every group, and any other quantile, from one draw.

The rows in each cell of each group are counted, with noise: cells alone below 128 of them, from 128 on with overlapping
windows, whose estimates of running sums have less noise (``ranges/windows.py``). A quantile lies where the estimated
running sum, made to rise, first reaches that share of the group's estimated rows.

Why it is private: a row lies in one cell of one group, and moves what is measured there by S in L1, S the steps of a
strategy; a row without a number moves nothing. A replaced row moves what is measured in two groups, 2 S together.
Discrete Laplace noise of scale S/epsilon, or 2 S/epsilon, is the Laplace mechanism. The estimates are post-processing.

Notation: epsilon = ε; q the share of a quantile; R rows that the noise of no running sum exceeds, in any group.

Error: the running sums F before noise and G after it, of all N rows too, differ by at most R. Where G first reaches q
times its end, F is at least q (N - R) - R, and before it at most q (N + R) + R: off by at most (1 + q) R rows.

Why not exponential mechanisms, one for each quantile with its part of epsilon: `python -m benchmarks groups` compares.
They err less where few quantiles are wanted, by group too, for a row still lies in one group: of one median six to
twenty times less, of quartiles 1.4 times less on CPS at epsilon = 0.1, and more on RAND; of deciles four to sixty times
more. Yet such a value comes without its rows, and nothing released bounds where the true quantile lies: an error in
ranks becomes one in values by the density, which is private. From counts follow intervals, rows and all other
quantiles, so that the plan keeps them at any number of quantiles.

References:
    Li, Hay, Rastogi, Miklau and McGregor (2010); McKenna, Miklau, Hay and Machanavajjhala (2018), strategies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    Integers,
    ParameterError,
    Problem,
    PureMechanism,
    Release,
    State,
    check_memory,
    epsilon_param,
    rows_up,
)
from dpcore.data.columns import Number, is_number
from dpcore.mechanisms.grouped.release import group_labels
from dpcore.mechanisms.grouped.weights import count_rows
from dpcore.mechanisms.ranges.estimates import Estimate, estimate
from dpcore.mechanisms.ranges.strategy import Strategy, identity_strategy, strategy
from dpcore.mechanisms.ranges.windows import error_tail_bound, worst_query
from dpcore.queries.groups import GroupQuantiles
from dpcore.randomness import NoisyCounts, Sampler

if TYPE_CHECKING:
    import pandas as pd

MIN_WINDOWS_CELLS = 128
"""Cells from which windows are measured besides the cells."""
STEPS = 4096
"""Steps of a weight of windows."""


def quantiles_of(problem: Problem) -> GroupQuantiles:
    """Return the query class of a problem, which must be group quantiles.

    Raises:
        ParameterError: it is another class.
    """
    if not isinstance(problem.queries, GroupQuantiles):
        raise ParameterError("This mechanism releases quantiles of the groups of a table.")
    return problem.queries


def line_of(problem: Problem) -> Number:
    """Return the column of the number."""
    queries = quantiles_of(problem)
    column = queries.domain.columns[queries.numbers[0]]
    assert is_number(column)
    return column


def quantiles_of_rows(rows: Floats, line: Number, *, shares: tuple[float, ...]) -> Floats:
    """Return quantiles from the estimated rows in cells, (..., cells) to (..., shares); NaN where no rows are left.

    Sums are taken term by term, so that they are the same on every machine.
    """
    sums = np.cumsum(rows, axis=-1)
    total = sums[..., -1:]
    rising = np.maximum.accumulate(np.maximum(sums, 0), axis=-1)
    before = np.concatenate([np.zeros_like(total), rising[..., :-1]], axis=-1)
    results = []
    for share in shares:
        # Of a total that is not above 0 no running sum is looked for.
        cell = (rising >= share * np.abs(total)).argmax(axis=-1)[..., None]
        start, end = (np.take_along_axis(each, cell, axis=-1) for each in (before, rising))
        along = (share * total - start) / np.where(end > start, end - start, 1)
        value = line.low + line.width * (cell + np.clip(along, 0, 1))
        results.append(np.where(total > 0, value, np.nan)[..., 0])
    return np.stack(results, axis=-1)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupCountsState(State):
    """Rows in each cell of each group, (groups, cells)."""

    rows: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupQuantilesRelease(Release):
    """Measured values of every group in every trial, (T, groups, numbers), in steps: all follows from them."""

    published = ("measured",)
    measured: Integers
    solver: Estimate

    def rows(self) -> Floats:
        """Return the estimated rows in each cell of each group, (T, groups, cells)."""
        trials, groups, numbers = self.measured.shape
        flat = self.measured.reshape(-1, numbers) / self.solver.plan.steps
        return self.solver.counts(flat, n=self.problem.n).reshape(trials, groups, -1)

    def quantiles(self, shares: tuple[float, ...] = ()) -> Floats:
        """Return quantiles of every group, (T, groups, quantiles), in the number's unit; NaN where no rows are left.

        Args:
            shares: of the group's rows; those of the query where none is named.
        """
        return quantiles_of_rows(
            self.rows(), line_of(self.problem), shares=shares or quantiles_of(self.problem).quantiles
        )

    def table(self) -> pd.DataFrame:
        """Return a row for each trial and group: trial, refused, the group's labels, rows, each quantile."""
        import pandas as pd

        queries, found = quantiles_of(self.problem), self.quantiles()
        trials, groups = (each.reshape(-1) for each in np.indices(found.shape[:2]))
        columns: dict[str, Any] = {"trial": trials, "refused": self.refused[trials], **group_labels(queries, groups)}
        columns["rows"] = self.rows().sum(axis=-1).reshape(-1)
        for place, share in enumerate(queries.quantiles):
            columns[f"quantile {share:g}"] = found[..., place].reshape(-1)
        return pd.DataFrame(columns)

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial, group and cell: trial, refused, the group's labels, the cell's middle, estimated rows."""
        import pandas as pd

        queries, rows = quantiles_of(self.problem), self.rows()
        trials, groups, cells = (each.reshape(-1) for each in np.indices(rows.shape))
        columns: dict[str, Any] = {"trial": trials, "refused": self.refused[trials], **group_labels(queries, groups)}
        columns["value"] = line_of(self.problem).points()[cells]
        return pd.DataFrame(columns | {"rows": rows.reshape(-1)})


@dataclass(frozen=True, kw_only=True)
class GroupQuantileCounts(PureMechanism):
    """Counts of cells, or cells and windows, of every group with discrete Laplace noise."""

    releases: ClassVar[str] = "groups"

    epsilon: float = epsilon_param()

    def plan(self, problem: Problem) -> Strategy:
        """Return the strategy of every group: the same object for the same number of cells."""
        cells = line_of(problem).ordered
        if cells < MIN_WINDOWS_CELLS:
            return identity_strategy(cells)
        return strategy(cells, prefixes=True, known=False, steps=STEPS)

    def sensitivity(self, problem: Problem) -> int:
        """Return the L1 distance by which a neighbour moves the measured values of all groups together."""
        return self.plan(problem).steps * len(problem.neighbours.histogram_shift)

    @override
    def check_size(self, problem: Problem) -> None:
        """Cells of all groups, and their measured values."""
        numbers = 2 * quantiles_of(problem).count * line_of(problem).ordered
        check_memory(numbers, what="The cells of all groups", smaller="take fewer cells or groups", each=1000)

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> GroupCountsState:
        self.check_size(problem)
        queries, cells = quantiles_of(problem), line_of(problem).ordered
        records, times = dataset.counted()
        groups, places, counts = count_rows(records, queries, times)
        rows = np.zeros((queries.count, cells), dtype=np.int64)
        present = places[:, 0] < cells
        rows[groups[present], places[present, 0]] = counts[present]
        return GroupCountsState(problem=problem, rows=rows)

    @override
    def run(self, state: GroupCountsState, sampler: Sampler, trials: int = 1) -> GroupQuantilesRelease:
        problem = state.problem
        solver = estimate(self.plan(problem), spare=0, known=False)
        values = solver.measured(state.rows)
        draw = NoisyCounts(values.reshape(1, -1), epsilon=self.epsilon, sensitivity=self.sensitivity(problem))
        drawn = sampler.draw(draw, trials)
        measured = drawn.reshape(len(drawn), *values.shape)
        return self.release(GroupQuantilesRelease, state, sampler, trials, measured=measured, solver=solver)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Rows between a quantile and the place it stands for, in all groups at once."""
        self.check_size(problem)
        queries, plan = quantiles_of(problem), self.plan(problem)
        worst = worst_query(plan, spare=0, prefixes=True, known=False)
        scale, cells = self.sensitivity(problem) / self.epsilon, line_of(problem).ordered
        noise = error_tail_bound(worst, cells=cells, prefixes=True, scale=scale, beta=beta / queries.count)
        rows = (1 + queries.quantiles[-1]) * noise / plan.steps
        return Bound(
            value=rows / problem.n,
            unit=ErrorUnit.RANKS,
            kind=BoundKind.GUARANTEE,
            statement=f"At most {rows_up(rows)} rows of any group lie between a released quantile and the true one, "
            f"except with chance {beta:g}.",
            formula=r"(1+q)R,\quad R=\min_{\lambda>0}c\,\frac{(v/c^2)\ln\mathbb{E}e^{\lambda Z}+"
            r"\ln\frac{2sG}\beta}{\lambda},\quad Z\sim\mathrm{DLap}(\Delta/\varepsilon)",
            reference="least squares; Chernoff's bound, union bound over cells and groups",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
            note="Of the rows that have a number, by their cells, in a group where noise leaves some.",
        )


ENTRIES = (
    Entry(
        key="group-quantiles",
        mechanism=GroupQuantileCounts,
        title="Quantiles by group",
        story="Quantiles of a number in every group, as many as wanted, from one draw of counts of cells.",
        domains=(DomainType.TABLE,),
        queries=(GroupQuantiles,),
        references=(
            "Li, Hay, Rastogi, Miklau and McGregor (2010)",
            "McKenna, Miklau, Hay and Machanavajjhala (2018)",
        ),
    ),
)
