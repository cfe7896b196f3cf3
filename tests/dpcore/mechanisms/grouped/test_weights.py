"""Weights of group counters: exact whole numbers that sum to one total, whatever the row, and what engines count."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcore import Labels, Neighbours, Number, ParameterError
from dpcore.core import DomainType, Integers
from dpcore.core.sizes import MAX_COUNT, MAX_SENSITIVITY
from dpcore.data.dates import Dates
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.weights import (
    check_whole_weights,
    column_weights,
    counters,
    counters_of_rows,
    counters_per_group,
    row_weight,
    weights,
)
from dpcore.queries.groups import GroupStatistics
from tests.dpcore.mechanisms.grouped.tables import REGION, problem_of, queries_of

COLUMNS = [
    Number(bins=3, missing=True),
    Number(bits=7),
    Labels(missing=False),
    Labels(labels=("a", "b")),
]


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("column", COLUMNS, ids=repr)
def test_weights_are_bernstein_polynomials_exactly(column: Number | Labels, degree: int) -> None:
    m, table = column.scale.steps, column_weights(column, degree)
    for cell in range(column.ordered):
        share = Fraction(2 * cell + 1, 2 * column.ordered) if isinstance(column, Number) else Fraction(cell)
        for j in range(degree + 1):
            assert table[cell, j] == math.comb(degree, j) * share**j * (1 - share) ** (degree - j) * m**degree
    assert (table[: column.ordered].sum(axis=1) == m**degree).all() and (table >= 0).all()
    assert not table[column.ordered :].any(), "a row without a number adds nothing"


def test_the_largest_weights_that_fit_are_exact() -> None:
    column = Number(bits=16)
    table, m = column_weights(column, 3), column.scale.steps
    assert (table.sum(axis=1) == m**3).all() and m**3 == 1 << 51
    for cell in (0, 1, 32_767, 65_535):
        i = 2 * cell + 1
        assert table[cell].tolist() == [(m - i) ** 3, 3 * i * (m - i) ** 2, 3 * i * i * (m - i), i**3]


@pytest.mark.parametrize("degree", [1, 2])
def test_a_row_of_two_numbers_adds_the_products_and_nothing_where_one_is_missing(degree: int) -> None:
    first, second = Number(bins=3, missing=True), Number(bits=1, missing=True)
    queries = queries_of(REGION, first, second, numbers=(1, 2), degree=degree)
    assert row_weight(queries) == (6 * 4) ** degree and counters_per_group(queries) == (degree + 1) ** 2
    cells = np.array([(a, b) for a in range(4) for b in range(3)])
    alone = column_weights(first, degree), column_weights(second, degree)
    for cell, added in zip(cells, weights(cells, queries), strict=True):
        assert added.tolist() == [int(one * two) for one in alone[0][cell[0]] for two in alone[1][cell[1]]]
        assert added.sum() == (0 if 3 in cell[:1] or cell[1] == 2 else row_weight(queries))


def brute_force(records: Integers, queries: GroupStatistics) -> list[list[int]]:
    """All counters, row by row."""
    sums = [[0] * counters_per_group(queries) for _ in range(queries.count)]
    for row in records:
        group = 0
        for place, size in zip(queries.group_columns, queries.shape, strict=True):
            group = group * size + int(row[place])
        [added] = weights(np.array([[row[place] for place in queries.numbers]]), queries)
        sums[group] = [one + int(other) for one, other in zip(sums[group], added, strict=True)]
    return sums


@pytest.mark.parametrize(
    "queries",
    [
        queries_of(Number(bins=5, missing=True)),
        queries_of(REGION, Number(bins=5), degree=3),
        queries_of(Number(bins=5, missing=True), REGION, Labels(), numbers=(0,), degree=2),
        queries_of(REGION, Number(bits=12), Number(bits=13), numbers=(2, 1)),
        queries_of(REGION, REGION, REGION, Number(bits=3), Labels(), numbers=(3, 4), degree=2),
    ],
    ids=lambda queries: f"{queries.numbers}, degree {queries.degree}",
)
def test_rows_counted_by_group_and_cells_give_the_counters_of_rows(queries: GroupStatistics, seed: int) -> None:
    """The last but one has more combinations than are counted in one array."""
    generator = np.random.Generator(np.random.SFC64(seed))
    records = np.stack([generator.integers(0, size, 300) for size in queries.domain.sizes], axis=1)
    expected = brute_force(records, queries)
    assert counters_of_rows(records, queries).tolist() == expected
    groups = np.zeros(len(records), dtype=np.int64)
    for place, size in zip(queries.group_columns, queries.shape, strict=True):
        groups = groups * size + records[:, place]
    numbers = records[:, list(queries.numbers)]
    assert counters(groups, numbers, np.ones(300, dtype=np.int64), queries).tolist() == expected
    rows, counts = np.unique(np.column_stack([groups, numbers]), axis=0, return_counts=True)
    assert counters(rows[:, 0], rows[:, 1:], counts, queries).tolist() == expected
    distinct, times = np.unique(records, axis=0, return_counts=True)
    twice, halves = np.concatenate([distinct, distinct]), np.concatenate([times, np.zeros_like(times)])
    assert counters_of_rows(twice, queries, halves).tolist() == expected
    assert counters_of_rows(twice, queries).tolist() != expected, "how often a row stands does matter"
    assert counters_of_rows(records[:0], queries).tolist() == np.zeros_like(expected).tolist()


# Numbers that do not fit.


def test_numbers_that_do_not_fit_are_refused_in_one_sentence_before_any_work() -> None:
    cubic = queries_of(Number(bits=16), degree=3)
    largest = MAX_COUNT // row_weight(cubic)
    assert largest == 1024
    check_whole_weights(cubic, n=largest, shift=1)
    with pytest.raises(ParameterError, match=r"room for 1,024 rows at this degree .* and n is 1,025: take fewer cells"):
        check_whole_weights(cubic, n=largest + 1, shift=1)
    pairs = queries_of(Number(bits=16), Number(bits=16), numbers=(0, 1), degree=2)
    assert row_weight(pairs) == 1 << 68
    with pytest.raises(ParameterError, match="room for 0 rows"):
        check_whole_weights(pairs, n=1, shift=1)
    halves = queries_of(Number(bits=16), Number(bits=9), numbers=(0, 1), degree=2)
    assert row_weight(halves) == 1 << 54 and row_weight(halves) > MAX_SENSITIVITY
    with pytest.raises(ParameterError, match="room for 0 rows"):
        check_whole_weights(halves, n=1, shift=1)
    check_whole_weights(queries_of(Number(bits=16), degree=2), n=1 << 27, shift=2)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_every_step_refuses_what_does_not_fit(neighbours: Neighbours) -> None:
    problem = problem_of(queries_of(Number(bits=16), degree=3), 2000, neighbours)
    mechanism = GroupCounters(epsilon=1.0)
    for step in (mechanism.check_size, lambda problem: mechanism.accuracy(problem, 0.1)):
        with pytest.raises(ParameterError, match="Whole numbers have room"):
            step(problem)
    quiet = problem_of(queries_of(Number(bits=16), degree=3), 100, neighbours)
    with pytest.raises(ParameterError, match="Noise of this scale does not fit"):
        GroupCounters(epsilon=0.01).check_size(quiet)
    many = Labels(labels=tuple(map(str, range(4000))))
    with pytest.raises(ParameterError, match=r"counters would take .* take fewer groups"):
        GroupCounters(epsilon=1.0).check_size(problem_of(queries_of(many, many, Number()), 100, neighbours))


def test_more_rows_than_fit_end_at_the_largest_counter_and_never_wrap() -> None:
    """An error would tell how many rows there are; a limit moves no two counters further apart."""
    queries = queries_of(Number(bits=16), degree=3)
    cells, groups = np.array([[0], [40_000]]), np.zeros(2, dtype=np.int64)
    for counts in ([10**6, 10**6], [10**12, 10**12]):
        [limited] = counters(groups, cells, np.array(counts), queries)
        exact = np.array(counts, dtype=object) @ weights(cells, queries).astype(object)
        assert limited.tolist() == [min(each, MAX_COUNT) for each in exact.tolist()]
    assert max(exact) > 1 << 63


# What statistics may be asked for.


def test_what_has_no_statistics_is_refused() -> None:
    line, cut = Number(bins=4), Number(cuts=(0.5,))
    domain = Product(names=("a", "b", "c", "d", "e"), columns=(line, Labels(labels=("x",)), cut, Dates(), Labels()))
    for numbers, complaint in (
        ((0, 0), "two different"),
        *(((place,), "columns of numbers") for place in (1, 2, 3, 5, -1)),
        ((0,), "at most 3 columns"),
    ):
        with pytest.raises(ParameterError, match=complaint):
            GroupStatistics(domain=domain, numbers=numbers)
    for values in ({"degree": 4}, {"degree": 0}, {"degree": 3, "numbers": (0, 4)}):
        with pytest.raises(ParameterError, match="degree"):
            GroupStatistics(domain=domain, **{"numbers": (0, 4)} | values)
    with pytest.raises(ParameterError, match="smallest group"):
        GroupStatistics(domain=domain, numbers=(0, 4), min_rows=-1)
    with pytest.raises(ParameterError, match="table"):
        GroupStatistics(domain=Product.map(REGION, line))
    assert DomainType.TABLE in domain.types and not GroupStatistics.fits(line)


def test_groups_are_named_with_values_outside_the_labels_as_their_own() -> None:
    queries = queries_of(REGION, Labels(labels=("x", "y"), missing=False), Number(bits=2))
    names = [queries.describe(index) for index in range(queries.count)]
    assert names == [f"{region}, {other}" for region in ("north", "south", "any other value") for other in ("x", "y")]
    assert queries_of(Number(bits=2)).describe(0) == "all rows" and queries_of(Number(bits=2)).count == 1
