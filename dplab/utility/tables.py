"""How far tables of k columns of some rows are from those of others, and how strongly pairs of columns go together.

Rows are cells of a ``Product``, shape (n, d).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from dpcore.core import Floats, Integers, ParameterError, finish
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.queries.marginals import Set


def shares(rows: Integers, sizes: tuple[int, ...], *, ways: int) -> dict[Set, Floats]:
    """Return the share of rows in each cell of each table of ``ways`` columns."""
    if not len(rows):
        raise ParameterError("Without a row there are no shares.")
    counted = finish(count_tables(rows, sizes, ways=ways))
    return {chosen: table / len(rows) for chosen, table in counted.items()}


def total_variations(found: Mapping[Set, Floats], truth: Mapping[Set, Floats]) -> Floats:
    """Return half the sum of absolute differences of shares, table by table, in the order of ``truth``."""
    return np.array([np.abs(found[chosen] - table).sum() / 2 for chosen, table in truth.items()])


def cramers_v(rows: Integers, sizes: tuple[int, ...]) -> Floats:
    """Return Cramér's V of every pair of columns, shape (d, d), 1 on the diagonal; NaN where a column is constant.

    Square root of chi-square over n times one less than the fewer labels that occur; no correction for few rows.
    """
    count = len(sizes)
    strengths = np.eye(count)
    tables = shares(rows, sizes, ways=2)
    for first, second in combinations(range(count), 2):
        table = tables[first, second]
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0))
        fewer = min(table.shape) - 1
        square = ((table - expected) ** 2 / expected).sum() / fewer if fewer else np.nan
        strengths[first, second] = strengths[second, first] = np.sqrt(square)
    return strengths


def shuffled(rows: Integers, *, seed: int) -> Integers:
    """Return rows with each column in an order of its own: the same single columns, and nothing between them."""
    draw = np.random.default_rng(seed)
    return np.stack([draw.permutation(column) for column in rows.T], axis=1)
