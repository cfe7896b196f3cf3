"""Weights of a partition of unity: what one row adds to the counters of its group, in whole numbers.

A number in cell j of s lies at the share i/m of its range, i = 2j + 1 and m = 2s; one of two labels lies at 0 or 1 (m =
1). At degree k it adds the Bernstein weights C(k, j) i^j (m - i)^(k - j), j = 0..k, which sum to m^k by the binomial
theorem. Two numbers add the products of their weights. A row without a number adds zeros. All are exact: a weight that
were rounded by itself would move the sum.

References:
    Fitzsimons et al. (2024) and Kulesza, Suresh and Wang (2024) for k = 1.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Integers, ParameterError, check_memory
from dpcore.core.sizes import MAX_COUNT, MAX_SENSITIVITY
from dpcore.data.columns import Column
from dpcore.queries.groups import GroupQueries, GroupStatistics

DENSE = 1 << 22
"""Combinations of a group and cells up to which rows are counted in an array of all of them."""


def row_weight(queries: GroupStatistics) -> int:
    """Return what one row adds to all counters together: m^k, or the product of both."""
    return math.prod(scale.steps for scale in queries.scales for _ in range(queries.degree))


def counters_per_group(queries: GroupStatistics) -> int:
    """Return the number of counters of a group: k + 1, or its square for two numbers."""
    return math.prod(queries.degree + 1 for _ in queries.numbers)


def check_whole_weights(queries: GroupStatistics, *, n: int, shift: int) -> None:
    """Raise ParameterError where counters of n rows would not fit, by public numbers alone.

    Args:
        queries: statistics.
        n: rows that must fit; public.
        shift: how many times its own weight a neighbour moves the counters.
    """
    each = row_weight(queries)
    if each * shift > MAX_SENSITIVITY or each * n > MAX_COUNT:
        fitting = MAX_COUNT // each if each * shift <= MAX_SENSITIVITY else 0
        raise ParameterError(
            f"Whole numbers have room for {fitting:,} rows at this degree and with these cells, and n is {n:,}: take "
            "fewer cells or a lower degree."
        )
    numbers = queries.count * counters_per_group(queries)
    check_memory(numbers, what=f"The {numbers:,} counters", smaller="take fewer groups", each=64)


def column_weights(column: Column, degree: int) -> Integers:
    """Return the weights of each cell, (size, degree + 1); zeros for the reserved cell."""
    scale = column.scale
    m, along = scale.steps, scale.positions
    table = np.zeros((column.size, degree + 1), dtype=np.int64)
    for j in range(degree + 1):
        table[: column.ordered, j] = math.comb(degree, j) * (along**j * (m - along) ** (degree - j))
    return table


def weights(cells: Integers, queries: GroupStatistics) -> Integers:
    """Return what rows in these cells of the numbers add, (len, numbers) to (len, counters).

    >>> from dpcore.data.columns import Number
    >>> from dpcore.data.product import Product
    >>> line = Product(names=("x",), columns=(Number(bins=3),))
    >>> weights(np.array([[0], [2]]), GroupStatistics(domain=line)).tolist()
    [[5, 1], [1, 5]]
    """
    tables = [column_weights(queries.domain.columns[place], queries.degree) for place in queries.numbers]
    if len(tables) == 1:
        return tables[0][cells[:, 0]]
    first, second = (table[column] for table, column in zip(tables, cells.T, strict=True))
    products: Integers = (first[:, :, None] * second[:, None, :]).reshape(len(cells), counters_per_group(queries))
    return products


def counters(groups: Integers, cells: Integers, counts: Integers, queries: GroupStatistics) -> Integers:
    """Return all counters, (groups, counters), from rows counted by group and cells: what an engine's GROUP BY gives.

    A counter ends at MAX_COUNT. That moves no two data sets further apart, and is reached only by more than ``n`` rows
    (see ``check_whole_weights``); an error there would tell how many there are.

    Args:
        groups: number of a group, (len,).
        cells: cells of the numbers, (len, numbers).
        counts: rows in this group and these cells, (len,).
        queries: statistics.
    """
    added, sums = weights(cells, queries), np.zeros((queries.count, counters_per_group(queries)), dtype=np.int64)
    if int(counts.sum()) * row_weight(queries) >= 1 << 63:  # whole numbers of any length, which are slow
        added, sums, counts = (array.astype(object) for array in (added, sums, counts))
    for j in range(sums.shape[1]):
        np.add.at(sums[:, j], groups, added[:, j] * counts)
    limited: Integers = np.minimum(sums, MAX_COUNT).astype(np.int64)
    return limited


def counters_of_rows(records: Integers, queries: GroupStatistics, times: Integers | None = None) -> Integers:
    """Return all counters, (groups, counters), of rows of cells (n, d)."""
    return counters(*count_rows(records, queries, times), queries)


def count_rows(
    records: Integers, queries: GroupQueries, times: Integers | None = None
) -> tuple[Integers, Integers, Integers]:
    """Count rows of cells (n, d) by group and cells of the numbers: as ``counters`` takes them, each place once.

    Args:
        records: rows of cells.
        queries: their groups and numbers.
        times: how many rows each record stands for, (n,); once each where it is None.
    """
    columns = (*queries.group_columns, *queries.numbers)
    sizes = tuple(queries.domain.sizes[place] for place in columns)
    codes = np.zeros(len(records), dtype=np.int64)
    for place, size in zip(columns, sizes, strict=True):
        codes = codes * size + records[:, place]
    if math.prod(sizes) <= DENSE:
        # Sums of whole numbers below 2^53 are exact in doubles.
        rows = np.bincount(codes, times, minlength=math.prod(sizes)).astype(np.int64)
        found = np.flatnonzero(rows)
        counts = rows[found]
    else:
        found, places = np.unique(codes, return_inverse=True)
        counts = np.bincount(places, times).astype(np.int64)
    per_group = math.prod(sizes[len(queries.group_columns) :])
    in_group = np.unravel_index(found % per_group, sizes[len(queries.group_columns) :])
    return found // per_group, np.stack(in_group, axis=1), counts
