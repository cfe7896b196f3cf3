"""The promises of statistics by group: means of groups that have barely as many rows as was declared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from dpcore import Dataset, Labels, Neighbours, Number, Preview, Problem
from dpcore.core import Entry, Floats, Mechanism
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.quantiles import GroupQuantilesRelease
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from tests.kit.promises.cases import Case, Grid, made, releases, row_counts, tried

LINE = Number(low=-3, high=5, bins=100)
DOMAIN = Product(
    names=("group", "first", "second"), columns=(Labels(labels=("a", "b", "c"), missing=False), LINE, Number(bins=80))
)
ONE = Product(names=DOMAIN.names[:2], columns=DOMAIN.columns[:2])


def means_off(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Preview, trials: int) -> Floats:
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
        data = f"three groups of {rows:,} rows in cell {cell}, {len(numbers)} numbers, degree {degree}"
        meets = ("rows with a number",)
        yield tried(means_off, mechanism, dataset, problem, data=data, trials=grid.trials, meets=meets)


def ranks_off(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Preview, trials: int) -> Floats:
    """Most rows between a released quantile and the true one, of any group, as a share of n; inf where none is told."""
    queries, release = problem.queries, releases(mechanism, dataset, problem, sampler, trials)
    assert isinstance(release, GroupQuantilesRelease) and isinstance(queries, GroupQuantiles)
    cells = queries.domain.sizes[1]
    # A value is in the cell that ends at or above it; the last digits are those of its interpolation.
    place = np.ceil(np.round(release.quantiles() * cells, 9)) - 1
    off = np.zeros(trials)
    for group in range(queries.count):
        rows = np.bincount(dataset.records[dataset.records[:, 0] == group, 1], minlength=cells)
        sums = np.concatenate([[0], np.cumsum(rows)])
        for quantile, share in enumerate(queries.quantiles):
            found = np.clip(np.nan_to_num(place[:, group, quantile]), 0, cells - 1).astype(np.int64)
            missed = np.maximum(sums[found] - share * sums[-1], share * sums[-1] - sums[found + 1])
            off = np.maximum(off, np.where(np.isnan(place[:, group, quantile]), np.inf, missed))
    return off / problem.n


def group_quantiles(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Three groups of rows spread evenly over many cells, so that all noise is seen."""
    for cells, rows, neighbours, epsilon in product(grid.of(150, 100), grid.of(1500), Neighbours, grid.epsilons):
        columns = (Labels(labels=("a", "b", "c"), missing=False), Number(bins=cells))
        domain = Product(names=("group", "number"), columns=columns)
        queries = GroupQuantiles(domain=domain, quantiles=(0.1, 0.5, 0.9))
        problem = Problem(domain=domain, queries=queries, n=rows, neighbours=neighbours)
        mechanism = entry.make(epsilon=epsilon)
        for many, meets in row_counts(problem):
            records = np.stack([np.arange(many) % 3, np.arange(many) * cells // many], axis=1)
            dataset = made(problem, records, "groups")
            data = f"three groups, {many:,} rows evenly over {cells} cells"
            yield tried(ranks_off, mechanism, dataset, problem, data=data, trials=grid.trials, meets=meets)
