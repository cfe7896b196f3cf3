"""The promises of statistics by group: means of groups that have barely as many rows as was declared."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from dpcore import Dataset, Labels, Neighbours, Number, Preview, Problem
from dpcore.core import Entry, Floats, Mechanism
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.queries.groups import GroupStatistics
from tests.kit.promises.cases import Case, Grid, made, releases

LINE = Number(low=-3, high=5, bins=100)
DOMAIN = Product(
    names=("group", "first", "second"), columns=(Labels(labels=("a", "b", "c"), missing=False), LINE, Number(bins=80))
)
ONE = Product(names=DOMAIN.names[:2], columns=DOMAIN.columns[:2])


def means_off(dataset: Dataset, problem: Problem, mechanism: Mechanism, sampler: Preview, trials: int) -> Floats:
    """Largest error of a group's mean of the first number, whose rows lie at the start of their cells, per range."""
    release = releases(mechanism, dataset, problem, sampler, trials)
    assert isinstance(release, GroupRelease)
    found = release.statistics()
    means = found["mean"] if "mean" in found else found["mean of first"]
    groups, cells = dataset.records[:, 0], dataset.records[:, 1]
    true = np.array([LINE.edges[cells[groups == group]].mean() for group in range(problem.queries.count)])
    off: Floats = np.abs(means - true).max(axis=1) / (LINE.high - LINE.low)
    return np.where(np.isnan(off), np.inf, off)


def grouped(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Three groups of as many rows as was declared, all in one cell, of one number and of two."""
    kinds = grid.of(*((ONE, (1,), degree) for degree in (3, 2)), (DOMAIN, (1, 2), 2), (ONE, (1,), 1))
    cases = product(kinds, grid.of(60, 2_000, 300), grid.of(50, 0), Neighbours, grid.epsilons)
    for (domain, numbers, degree), rows, cell, neighbours, epsilon in cases:
        queries = GroupStatistics(domain=domain, numbers=numbers, degree=degree, min_rows=rows)
        problem = Problem(domain=domain, queries=queries, n=3 * rows, neighbours=neighbours)
        columns = [np.arange(3 * rows) % 3, *(np.full(3 * rows, cell) for _ in numbers)]
        dataset, mechanism = made(problem, np.stack(columns, axis=1), "groups"), entry.make(epsilon=epsilon)
        yield Case(
            mechanism=mechanism,
            problem=problem,
            data=f"three groups of {rows:,} rows in cell {cell}, {len(numbers)} numbers, degree {degree}",
            errors=partial(means_off, dataset, problem, mechanism),
            trials=grid.trials,
            meets=("rows with a number",),
        )
