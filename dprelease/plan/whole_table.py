"""Rehearsal of synthetic rows for a whole table on mock data, with the error of each pair. No private row is read."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Blocks, Floats, Guarantee, Neighbours, ParameterError, Problem, finish
from dpcore.data.declarations import DeclaredTable
from dpcore.data.product import is_table
from dpcore.data.twin import twin
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.mechanisms.tables.rows_release import ChosenPairsRelease
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Preview
from dplab.tables import distances

if TYPE_CHECKING:
    import pandas as pd

MAX_REHEARSED = 200_000
"""Largest number of mock rows of a rehearsal."""


@dataclass(frozen=True, kw_only=True)
class WholeRehearsal:
    """One simulated release of mock data.

    Attributes:
        guarantee: guarantee of a release of the true rows.
        ways: number of columns of the measured tables, chosen pairs apart.
        chosen: number of pairs that were chosen and measured in this release; 0 where the rule chooses none.
        n: number of mock rows.
        beta: failure probability of the bounds.
        names: names of the columns of each pair.
        wrong_cell_shares: share of rows in a wrong cell of each pair, (pairs,).
        worst: error of each pair's worst cell, shares of n, (pairs,).
        within: bound on that error with confidence 1 − beta from the release itself; infinity without a guarantee.
        rows: synthetic rows with the table's columns.
    """

    guarantee: Guarantee
    ways: int
    chosen: int
    n: int
    beta: float
    names: tuple[tuple[str, str], ...]
    wrong_cell_shares: Floats
    worst: Floats
    within: Floats
    rows: pd.DataFrame


def rehearse_table(
    table: DeclaredTable,
    names: Sequence[str],
    *,
    mechanism: WholeTable,
    n: int,
    neighbours: Neighbours,
    beta: float,
    seed: int = 1,
) -> Generator[float, None, WholeRehearsal]:
    """Make mock data with these columns, release synthetic rows of them and compare; yields the fraction done.

    Raises:
        ParameterError: fewer than two columns, or too many cells.
    """
    if len(names) < 2:
        raise ParameterError("A synthetic table needs at least two columns.")
    reading, n = table.whole(*names), min(n, MAX_REHEARSED)
    domain = reading.domain
    assert is_table(domain)
    dataset = twin(reading, n=n, seed=seed).dataset()
    problem = Problem(domain=domain, queries=Marginals(domain=domain, ways=2), n=n, neighbours=neighbours)
    yield 0.1
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 1)
    yield 0.2
    work = Blocks(release.make_rows())
    for share in work:
        yield 0.2 + 0.5 * share
    rows = work.result
    yield 0.7
    truth = finish(count_tables(dataset.records, domain.sizes, ways=2))
    synthetic = finish(count_tables(rows.astype(np.uint16), domain.sizes, ways=2))
    pairs = list(truth)
    yield 0.8
    return WholeRehearsal(
        guarantee=mechanism.person_guarantee(problem, table.person_rows if table.person else 0),
        ways=release.plan.cliques.ways,
        chosen=len(release.chosen()) if isinstance(release, ChosenPairsRelease) else 0,
        n=n,
        beta=beta,
        names=tuple((domain.names[first], domain.names[second]) for first, second in pairs),
        wrong_cell_shares=distances(synthetic, truth, sets=pairs, n=n),
        worst=np.array([np.abs(synthetic[pair] - truth[pair]).max() / n for pair in pairs]),
        within=np.array([release.off_by(pair, rows[None], beta=beta)[0] / n for pair in pairs]),
        rows=release.table(rows=rows),
    )
