"""Errors of what is not counts of cells: tables, lines that are sums of their cells, rows made of them, and values.

All are simulated on made-up rows. A table's error is its worst cell as measured, and of lines the worst line; of rows
it is the worst cell that the rows have. A quantile's is the rows between it and the answer, a commonest category's the
rows by which the answer is rarer, both as shares of n; a mean's is a share of the declared range. Rows without a number
have no part in a quantile or a mean.
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
from dpcore.mechanisms.tables.release import TablesRelease, asked
from dpcore.mechanisms.tables.whole_table import RowsRelease
from dpcore.queries.marginals import Set
from dpcore.randomness import Preview
from dprelease.plan.predicates import cells_of
from dprelease.plan.questions import WHOLE_TABLE, Plan, PlannedQuestion

if TYPE_CHECKING:
    import pandas as pd

MIN_TRIALS = 20
"""Releases at least, of however many cells."""
MAX_NUMBERS = 1 << 25
"""Of all releases together."""
MAX_SIMULATED_ROWS = 50_000
"""Rows of a release that are made for a forecast; of more rows the errors are smaller."""
ROWS_TRIALS = 2
"""Releases of which rows are made, which takes a while."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Errors:
    """Of each release that answered: the largest error and the mean error over what is asked, (T,) each."""

    worst: Floats
    typical: Floats


def answer_errors(
    plan: Plan, question: PlannedQuestion, mechanism: Mechanism, rows: Dataset, *, trials: int, seed: int
) -> Errors:
    """Errors of releases of these rows, which have as many rows as they have.

    Args:
        plan: with the declared table.
        question: of tables or of a value.
        mechanism: at some privacy loss.
        rows: as the question reads them.
        trials: releases at most.
        seed: of the previews.
    """
    problem = replace(plan.problem(question), n=rows.n)
    state = mechanism.prepare(rows, problem)
    if question.releases == "value":
        release = mechanism.run(state, Preview(seed), trials)
        assert isinstance(release, ValueRelease)
        kept = ~release.refused
        if isinstance(release, MeanRelease):
            off = mean_errors(release.means[kept], rows)
        else:
            off = value_errors(mechanism, release.values[kept], rows)
        return Errors(worst=off, typical=off)
    if question.entry_key == WHOLE_TABLE:
        trials = min(trials, ROWS_TRIALS)
    trials = min(trials, max(MIN_TRIALS, MAX_NUMBERS // asked(problem).count))
    found = mechanism.run(state, Preview(seed), trials)
    assert isinstance(found, TablesRelease)
    parts = list(_off(found, rows, _sums(plan, question)))
    worst = np.max([np.abs(part).max(axis=1) for part in parts], axis=0)
    total = np.sum([np.abs(part).sum(axis=1) for part in parts], axis=0)
    return Errors(worst=worst / rows.n, typical=total / sum(part.shape[1] for part in parts) / rows.n)


def lines_frame(plan: Plan, question: PlannedQuestion, release: Release, rows: Dataset) -> pd.DataFrame:
    """A row for each line: what it says, how many of these rows it counts, and how many were released."""
    import pandas as pd

    assert isinstance(release, TablesRelease)
    [(counts, tables)], sums = _tables(release, _truth(release, rows)), _sums(plan, question)
    assert sums is not None
    true, released = sums @ counts.reshape(-1), sums @ tables[0].reshape(-1)
    return pd.DataFrame({"line": question.lines, "made-up rows": true, "released rows": released})


def max_summed_cells(plan: Plan, question: PlannedQuestion) -> int:
    """Cells that a line sums at most; 1 where there are no lines."""
    sums = _sums(plan, question) if question.lines else None
    return 1 if sums is None else int(sums.sum(axis=1).max())


def _sums(plan: Plan, question: PlannedQuestion) -> Booleans | None:
    """Which cells each line sums, if there are lines."""
    domain = plan.reading(question).domain
    assert is_table(domain)
    return cells_of(question.lines, plan.table, domain) if question.lines else None


def _off(release: TablesRelease, rows: Dataset, sums: Booleans | None) -> Iterator[Floats]:
    """By how many rows what is asked of each table is off, (T, asked)."""
    for counts, tables in _tables(release, _truth(release, rows)):
        off = (tables - counts).reshape(release.trials, -1)
        yield off if sums is None else off @ sums.T.astype(np.float64)


def _truth(release: TablesRelease, rows: Dataset) -> dict[Set, Integers]:
    """Rows in each cell of each table."""
    return finish(count_tables(rows.records, release.domain.sizes, ways=asked(release.problem).ways))


def _tables(release: TablesRelease, truth: dict[Set, Integers]) -> Iterator[tuple[Integers, Floats]]:
    """Of each table its true counts and the released ones, (T, *sizes)."""
    if not isinstance(release, RowsRelease):
        yield from ((counts, release.unbiased(chosen)) for chosen, counts in truth.items())
        return
    sizes, ways = release.domain.sizes, asked(release.problem).ways
    drawn = (release.rows(trial=trial).astype(np.uint16) for trial in range(release.trials))
    made = [finish(count_tables(rows, sizes, ways=ways)) for rows in drawn]
    for chosen, counts in truth.items():
        yield counts, np.array([each[chosen] for each in made], dtype=np.float64)


def mean_errors(means: Floats, rows: Dataset) -> Floats:
    """Return the errors of released means, (T,), of the rows that have a number, as shares of the declared range."""
    domain = rows.domain
    assert is_number(domain)
    counts = rows.histogram[: domain.ordered]
    off: Floats = np.abs(means - counts @ domain.points() / counts.sum()) / (domain.high - domain.low)
    return off


def value_errors(mechanism: Mechanism, values: Integers, rows: Dataset) -> Floats:
    """Errors of released cells of these rows, (T,)."""
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
