"""All tables of k attributes by several methods: simulations, distances from the truth, noise, and synthetic rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Dataset, Floats, Integers, Mechanism, Problem, finish, scaled
from dpcore.mechanisms.tables.counting import Tables, count_tables
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables, FourierTables
from dpcore.mechanisms.tables.release import ContrastState, DirectRelease, TablesRelease, TableState, marginals_of
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.tree import Tree
from dpcore.queries.marginals import Set
from dpcore.randomness import Preview

PREVIEWS = 3
"""Releases whose tables are fitted and shown."""
TRIALS = 80
"""Releases in which the noise of one unbiased table, and the worst cell of all, are observed."""
AT_ONCE = 20
"""Tables processed between two progress reports."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TablePreviews:
    """Simulated releases of one method.

    Attributes:
        mechanism: the mechanism with its parameters.
        release: TRIALS releases by the selected method, PREVIEWS by others.
        tables: fitted tables of the first PREVIEWS releases.
        distances: distances of those from the truth, (PREVIEWS, tables).
    """

    mechanism: Mechanism
    release: TablesRelease
    tables: list[dict[Set, Floats]]
    distances: Floats

    def predicted_sigma(self, table: Set) -> float:
        """Return the standard deviation of a cell of one table before it is fitted, in rows."""
        problem = self.release.problem
        if isinstance(self.mechanism, DirectTables):
            return self.mechanism.sigma(problem)
        assert isinstance(self.mechanism, ResidualPlanner | FourierTables)
        return self.mechanism.plan(problem).cell_sigma(table)

    def worst_cells(self, truth: Mapping[Set, Integers]) -> Generator[float, None, Floats]:
        """Compute the largest error of each release over all measured cells, (T,); yields the share done."""
        release, n = self.release, self.release.problem.n
        if isinstance(release, DirectRelease):
            true = np.concatenate([table.reshape(-1) for table in truth.values()])
            worst: Floats = np.abs(release.values - true).max(axis=1) / n
            return worst
        largest = np.zeros(release.trials)
        for place, (chosen, counts) in enumerate(truth.items(), start=1):
            errors = np.abs(release.unbiased(chosen) - counts).reshape(release.trials, -1)
            np.maximum(largest, errors.max(axis=1), out=largest)
            if place % AT_ONCE == 0:
                yield place / len(truth)
        return largest / n


def true_tables(counts: TableState) -> dict[Set, Integers]:
    """Return the true number of rows in each cell of each table."""
    queries = marginals_of(counts.problem)
    shapes = {chosen: [queries.domain.sizes[a] for a in chosen] for chosen in queries.sets()}
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    return {
        chosen: flat.reshape(shape)
        for (chosen, shape), flat in zip(shapes.items(), np.split(counts.counts, ends), strict=True)
    }


def table_previews(
    methods: Mapping[str, Mechanism],
    counts: TableState,
    contrasts: ContrastState,
    *,
    problem: Problem,
    fit: str,
    seed: int,
) -> Generator[float, None, dict[str, TablePreviews]]:
    """Simulate several methods, the first of them more often; yields the share done.

    Args:
        methods: mechanisms by key, the selected one first.
        counts: state with the counts of all tables.
        contrasts: state with the contrasts of the same rows.
        problem: the public problem; its n and relation may differ from those of the states.
        fit: method by which the tables are fitted.
        seed: seed of the simulations.
    """
    truth = true_tables(counts)
    previews: dict[str, TablePreviews] = {}
    for number, (key, mechanism) in enumerate(methods.items()):
        state = counts if isinstance(mechanism, DirectTables) else contrasts
        trials = PREVIEWS if previews else TRIALS
        release: Any = mechanism.run(dataclasses.replace(state, problem=problem), Preview(seed), trials=trials)
        work = previewed(release, truth, fit=fit, previews=PREVIEWS)
        tables, away = yield from scaled(work, number, len(methods))
        previews[key] = TablePreviews(mechanism=mechanism, release=release, tables=tables, distances=away)
    return previews


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """Total variation distances between the tables of synthetic rows and the released tables.

    Attributes:
        mean: mean over all tables.
        max_distance: distance of the furthest table.
        furthest: that table.
        inside: mean over the tree's tables, which the rows follow.
        outside: mean over the other tables; None where there are none.
        others: number of other tables.
    """

    mean: float
    max_distance: float
    furthest: Set
    inside: float
    outside: float | None
    others: int


def closeness(
    rows: Integers, released: Mapping[Set, Floats], tree: Tree, *, sizes: tuple[int, ...], ways: int, n: int
) -> Closeness:
    """Compute the distances between the rows' tables and the released ones.

    Args:
        rows: drawn from the tree, (R, d).
        released: consistent tables, in rows of all n.
        tree: the tree of tables that the rows follow.
        sizes: cells of each attribute.
        ways: attributes of a table.
        n: rows the released tables stand for.
    """
    counted = _of_rows(rows, sizes, ways=ways, n=n)
    sets = list(counted)
    away = distances(counted, released, sets=sets, n=n)
    followed = [set(table) for table in tree.tables()]
    inside = np.array([set(s) in followed for s in sets])
    return Closeness(
        mean=float(away.mean()),
        max_distance=float(away.max()),
        furthest=sets[int(away.argmax())],
        inside=float(away[inside].mean()),
        outside=None if inside.all() else float(away[~inside].mean()),
        others=int((~inside).sum()),
    )


def true_pairs(dataset: Dataset, sizes: tuple[int, ...]) -> Tables:
    """Return the true number of rows in each cell of each pair of attributes."""
    return finish(count_tables(dataset.records, sizes, ways=2))


def pair_distances(
    rows: Integers, truth: Tables, tree: Tree, *, sizes: tuple[int, ...], n: int
) -> tuple[dict[Set, float], dict[Set, float]]:
    """Return the distances of the rows' pairs from the true ones: for pairs within the tree, and for the others.

    Args:
        rows: drawn from the tree, (R, d).
        truth: true pairs, in rows of all n.
        tree: the tree of tables that the rows follow.
        sizes: cells of each attribute.
        n: rows the true pairs stand for.
    """
    away = distances(_of_rows(rows, sizes, ways=2, n=n), truth, sets=list(truth), n=n)
    distance_by_pair = dict(zip(truth, away.tolist(), strict=True))
    tree_pairs = {pair for table in tree.tables() for pair in combinations(table, 2)}
    return {p: far for p, far in distance_by_pair.items() if p in tree_pairs}, {
        p: far for p, far in distance_by_pair.items() if p not in tree_pairs
    }


def _of_rows(rows: Integers, sizes: tuple[int, ...], *, ways: int, n: int) -> dict[Set, Floats]:
    """Return the tables of synthetic rows, scaled to n rows."""
    counted = finish(count_tables(rows, sizes, ways=ways))
    return {chosen: counts.astype(np.float64) * (n / len(rows)) for chosen, counts in counted.items()}


def fit_for(release: TablesRelease, fit: str) -> str:
    """Return the fit, or the nearest one this release has: tables of a direct release are not made to agree."""
    return "simplex" if fit == "consistent" and isinstance(release, DirectRelease) else fit


def distances(
    tables: Mapping[Set, NDArray[Any]], truth: Mapping[Set, NDArray[Any]], *, sets: Sequence[Set], n: int
) -> Floats:
    """Return half the L1 distance between tables and true ones, as a share of n rows, (sets,).

    Where both have n rows it is the total variation: the share of rows in a wrong cell.
    """
    released, true = (np.concatenate([each[s].reshape(-1) for s in sets]) for each in (tables, truth))
    starts = np.cumsum([0] + [truth[s].size for s in sets[:-1]])
    halves: Floats = np.add.reduceat(np.abs(released - true), starts) / (2 * n)
    return halves


def previewed(
    release: TablesRelease, truth: Mapping[Set, NDArray[Any]], *, fit: str, previews: int
) -> Generator[float, None, tuple[list[dict[Set, Floats]], Floats]]:
    """Return the tables of the first releases and their distances, (previews, sets); yields the share done."""
    sets, fit = list(truth), fit_for(release, fit)
    releases = []
    for trial in range(previews):
        releases.append(release.tables(trial=trial, fit=fit))
        yield (trial + 1) / previews
    return releases, np.array([distances(each, truth, sets=sets, n=release.problem.n) for each in releases])


def observed_sigma(release: TablesRelease, truth: NDArray[Any], table: Set) -> float:
    """Return the standard deviation of a cell of one unbiased table, in rows, over all its cells and all releases."""
    return float(np.sqrt(np.mean((release.unbiased(table) - truth) ** 2)))
