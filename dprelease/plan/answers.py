"""Simulated errors of statistics that are not counts of cells: tables, sums of their cells, synthetic rows and values.

All are simulated on mock data. A table's error is that of its worst measured cell; for lines of text, of the worst
line; for synthetic rows, of the worst cell of their tables. A quantile's error is the number of rows between it and the
answer, that of the most common category the difference of its count to the answer's, both as shares of n. A mean's
error is a share of the declared range. Rows without a number do not count in a quantile or a mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Booleans, Dataset, Floats, Integers, Mechanism, Release, ValueRelease, finish
from dpcore.data.columns import is_number
from dpcore.data.product import is_table
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.counted_mean import MeanRelease
from dpcore.mechanisms.subsamples.aggregate import CommonestCategory
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.mechanisms.tables.release import TablesRelease, marginals_of
from dpcore.mechanisms.tables.rows_release import RowsRelease
from dpcore.queries.marginals import Set
from dpcore.randomness import Preview
from dplab.measure import quantile_of_errors
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.predicates import cells_of
from dprelease.plan.questions import Plan

if TYPE_CHECKING:
    import pandas as pd

MIN_TRIALS = 20
"""Smallest number of simulated releases, for any number of cells."""
MAX_NUMBERS = 1 << 25
"""Largest number of simulated values of all releases together."""
MAX_SIMULATED_ROWS = 50_000
"""Largest number of synthetic rows in a simulation; with more rows the errors are smaller."""
ROWS_TRIALS = 2
"""Number of simulated releases with synthetic rows, which are slow."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Errors:
    """Errors of the releases that answered.

    Attributes:
        worst: largest error over the queries of each release, (T,).
        typical: mean error over them, (T,).
        single: error that one query stays below with the plan's confidence, over queries and releases.
    """

    worst: Floats
    typical: Floats
    single: float


def answer_errors(
    plan: Plan, question: PlannedQuestion, mechanism: Mechanism, rows: Dataset, *, trials: int, seed: int
) -> Errors:
    """Simulate releases of these rows and compute their errors.

    Args:
        plan: the plan with the declared table.
        question: a question about tables or a value.
        mechanism: the mechanism at some ε.
        rows: rows in the question's reading.
        trials: largest number of releases.
        seed: seed of the simulations.
    """
    problem = replace(plan.problem(question), n=rows.n)
    state = mechanism.prepare(rows, problem)
    if question.releases == "value":
        release = mechanism.run(state, Preview(seed), trials)
        assert isinstance(release, ValueRelease)
        answered = ~release.refused
        if isinstance(release, MeanRelease):
            off = mean_errors(release.means[answered], rows)
        else:
            off = value_errors(mechanism, release.values[answered], rows)
        return Errors(worst=off, typical=off, single=quantile_of_errors([off], 1 - plan.beta))
    if question.entry_key == WHOLE_TABLE:
        trials = min(trials, ROWS_TRIALS)
    trials = min(trials, max(MIN_TRIALS, MAX_NUMBERS // marginals_of(problem).count))
    tables = mechanism.run(state, Preview(seed), trials)
    assert isinstance(tables, TablesRelease)
    parts = list(_off(tables, rows, _sums(plan, question)))
    worst = np.max([np.abs(part).max(axis=1) for part in parts], axis=0)
    total = np.sum([np.abs(part).sum(axis=1) for part in parts], axis=0)
    typical, single = total / sum(part.shape[1] for part in parts), quantile_of_errors(parts, 1 - plan.beta)
    return Errors(worst=worst / rows.n, typical=typical / rows.n, single=single / rows.n)


def lines_frame(plan: Plan, question: PlannedQuestion, release: Release, rows: Dataset) -> pd.DataFrame:
    """Return one row for each line of text: the line, its true count on these rows, and the released count."""
    import pandas as pd

    assert isinstance(release, TablesRelease)
    [(counts, tables)], sums = _tables(release, _truth(release, rows)), _sums(plan, question)
    assert sums is not None
    true, released = sums @ counts.reshape(-1), sums @ tables[0].reshape(-1)
    return pd.DataFrame({"line": question.lines, "mock data": true, "released rows": released})


def max_summed_cells(plan: Plan, question: PlannedQuestion) -> int:
    """Return the largest number of cells that a line sums; 1 without lines."""
    sums = _sums(plan, question) if question.lines else None
    return 1 if sums is None else int(sums.sum(axis=1).max())


def _sums(plan: Plan, question: PlannedQuestion) -> Booleans | None:
    """Return the cells that each line sums; None without lines."""
    domain = plan.reading(question).domain
    assert is_table(domain)
    return cells_of(question.lines, plan.table, domain) if question.lines else None


def _off(release: TablesRelease, rows: Dataset, sums: Booleans | None) -> Iterator[Floats]:
    """Compute the signed errors of the queries of each table in rows, (T, queries)."""
    for counts, tables in _tables(release, _truth(release, rows)):
        off = (tables - counts).reshape(release.trials, -1)
        yield off if sums is None else off @ sums.T.astype(np.float64)


def _truth(release: TablesRelease, rows: Dataset) -> dict[Set, Integers]:
    """Return the number of rows in each cell of each table."""
    return finish(count_tables(rows.records, release.domain.sizes, ways=marginals_of(release.problem).ways))


def _tables(release: TablesRelease, truth: dict[Set, Integers]) -> Iterator[tuple[Integers, Floats]]:
    """Iterate over the tables as pairs of true counts and released ones, (T, *sizes)."""
    if not isinstance(release, RowsRelease):
        yield from ((counts, release.unbiased(chosen)) for chosen, counts in truth.items())
        return
    sizes, ways = release.domain.sizes, marginals_of(release.problem).ways
    drawn = (release.rows(trial=trial).astype(np.uint16) for trial in range(release.trials))
    counted = [finish(count_tables(rows, sizes, ways=ways)) for rows in drawn]
    for chosen, counts in truth.items():
        yield counts, np.array([each[chosen] for each in counted], dtype=np.float64)


def mean_errors(means: Floats, rows: Dataset) -> Floats:
    """Return the errors of released means, (T,), of the rows that have a number, as shares of the declared range."""
    domain = rows.domain
    assert is_number(domain)
    counts = rows.histogram[: domain.ordered]
    off: Floats = np.abs(means - counts @ domain.points() / counts.sum()) / (domain.high - domain.low)
    return off


def value_errors(mechanism: Mechanism, values: Integers, rows: Dataset) -> Floats:
    """Return the errors of released cells of these rows, (T,)."""
    domain = rows.domain
    counts = rows.histogram[: domain.ordered]
    if isinstance(mechanism, ClippedMean):
        assert is_number(domain)
        off: Floats = mean_errors(domain.points()[values], rows)
    elif isinstance(mechanism, CommonestCategory):
        off = (counts.max() - counts[values]) / rows.n
    else:
        upto = np.cumsum(counts)
        rank = getattr(mechanism, "quantile", 0.5) * upto[-1]
        off = np.maximum(np.maximum(upto - counts - rank, rank - upto), 0)[values] / rows.n
    return off
