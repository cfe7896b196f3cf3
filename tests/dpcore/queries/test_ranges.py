"""Query classes against brute force over all their queries."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import Cells, Intervals, Labels, Number, ParameterError, Product, Rectangles, Thresholds
from dpcore.core import Domain, Integers, Queries
from dpcore.queries.ranges import QUERY_CLASSES, classes_for

TINY: list[Domain] = [Number(bits=b, missing=m) for b in (1, 2, 3) for m in (False, True)]
TINY += [Labels(labels=tuple("abc")[:k], missing=m) for k in (1, 2, 3) for m in (False, True)]
TINY += [
    Product.map(Number(bits=a, missing=a == b), Number(bits=b)) for a, b in ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3))
]
MAX_CELLS = 6
"""Of the domains on which `run.py test` answers queries by brute force."""


def cases(*, full_beyond: int) -> list[Any]:
    """Every class on every tiny domain; those on domains of more cells are in `run.py test full`."""
    return [
        pytest.param(
            kind(domain=domain),
            id=f"{kind.__name__}-{type(domain).__name__}-{place}-{domain.size}",
            marks=[pytest.mark.full] * (domain.size > full_beyond),
        )
        for place, domain in enumerate(TINY)
        for kind in classes_for(domain)
    ]


every_class = pytest.mark.parametrize("queries", cases(full_beyond=100))


def members(queries: Queries) -> list[set[int]]:
    """The cells of every query, by what the class is said to ask."""
    cells = range(queries.domain.ordered)
    if isinstance(queries, Thresholds):
        return [set(range(b + 1)) for b in cells]
    if isinstance(queries, Intervals):
        return [set(range(a, b + 1)) for a in cells for b in cells if a <= b]
    if isinstance(queries, Rectangles):
        rows, columns = queries.domain.shape
        return [
            {row * columns + column for row in range(a, b + 1) for column in range(c, d + 1)}
            for a in range(rows)
            for b in range(a, rows)
            for c in range(columns)
            for d in range(c, columns)
        ]
    return [{cell} for cell in cells]


@pytest.mark.slow
@pytest.mark.parametrize("queries", cases(full_beyond=MAX_CELLS))
@given(data=st.data())
def test_answers_and_worst_errors_by_brute_force(queries: Queries, data: st.DataObject) -> None:
    size = queries.domain.size
    rows = st.lists(st.integers(-9, 9), min_size=size, max_size=size)
    difference = np.array(data.draw(st.lists(rows, min_size=1, max_size=3)))
    wanted = np.array([[sum(row[list(cells)]) for cells in members(queries)] for row in difference])
    assert queries.count == wanted.shape[1]
    np.testing.assert_array_equal(queries.answer(difference, np.arange(queries.count)), wanted)
    worst = queries.max_error(difference)
    assert worst.shape == (len(difference),)
    assert worst.dtype == np.float64
    np.testing.assert_array_equal(worst, np.abs(wanted).max(axis=1))
    np.testing.assert_allclose(queries.max_error(difference / 7), np.abs(wanted / 7).max(axis=1), rtol=1e-12)


@every_class
def test_a_refusal_has_no_worst_error(queries: Queries) -> None:
    assert np.isnan(queries.max_error(np.full((1, queries.domain.size), np.nan))).all()


@every_class
def test_vc_dimension_by_brute_force(queries: Queries) -> None:
    """The largest set of cells, the reserved one among them, whose every subset some query picks out."""
    masks = [sum(1 << cell for cell in query) for query in members(queries)]
    largest = 0
    while any(
        len({query & points for query in masks}) == 2 ** (largest + 1)
        for points in map(sum, combinations([1 << cell for cell in range(queries.domain.size)], largest + 1))
    ):
        largest += 1  # a set is shattered only if its parts are
    assert queries.vc_dimension == largest


@every_class
@pytest.mark.parametrize("most", [1, 2, 5, 1000])
def test_batches(queries: Queries, most: int) -> None:
    batch = queries.batch(most)
    assert 1 <= len(batch) <= most
    assert (np.diff(batch) > 0).all()
    assert batch.min() >= 0
    assert batch.max() < queries.count
    if most >= queries.count:
        assert len(batch) == queries.count


def test_batches_of_large_classes_are_spread() -> None:
    line = Number(bits=16, missing=True)
    np.testing.assert_allclose(Thresholds(domain=line).batch(3), [0, 32767.5, 65535], atol=0.5)
    batch = Intervals(domain=line).batch(2000)
    assert 1800 < len(batch) <= 2000
    first, last = Intervals(domain=line).ends(batch)
    assert first.min() == 0
    assert last.max() == 65535
    assert (first <= last).all()


def test_rectangles_have_their_numbers_and_spread_batches() -> None:
    queries = Rectangles(domain=Product.map(Number(bits=3), Number(bits=5, missing=True)))
    left, right, low, high = queries.ends(np.arange(queries.count))
    for index in range(0, queries.count, 131):
        across, up = (int(left[index]), int(right[index])), (int(low[index]), int(high[index]))
        assert queries.index(across, up) == index
    assert len(set(zip(*(end.tolist() for end in (left, right, low, high)), strict=True))) == queries.count
    batch = queries.batch(2000)
    assert 1500 < len(batch) <= 2000
    left, right, low, high = queries.ends(batch)
    assert (left.min(), right.max(), low.min(), high.max()) == (0, 7, 0, 31)


@pytest.mark.parametrize("factor", [1, 1 / 7, 2**19])
def test_worst_rectangles_by_answering_all_of_them(factor: float, seed: int) -> None:
    """200 trials, more than are searched together; whole and broken numbers, and ones too long to be shortened."""
    queries = Rectangles(domain=Product.map(Number(bits=3, missing=True), Number(bits=2)))
    difference = np.random.Generator(np.random.SFC64(seed)).integers(-9, 10, (200, 33)) * factor
    wanted = np.abs(queries.answer(difference, np.arange(queries.count))).max(axis=1)
    np.testing.assert_allclose(queries.max_error(difference), wanted, rtol=1e-12)
    if factor != 1 / 7:
        np.testing.assert_array_equal(queries.max_error(difference), wanted)


def round_trip(queries: Intervals, indices: Integers) -> None:
    """Fail unless ends() inverts index() at these queries."""
    first, last = queries.ends(indices)
    size = queries.domain.ordered
    assert (first >= 0).all()
    assert (first <= last).all()
    assert (last < size).all()
    np.testing.assert_array_equal(first * size - first * (first - 1) // 2 + last - first, indices)
    for index in (0, len(indices) // 2, -1):
        assert queries.index(int(first[index]), int(last[index])) == indices[index]


@pytest.mark.parametrize("size", range(1, 41))
def test_every_interval_has_its_number(size: int) -> None:
    queries = Intervals(domain=Labels(labels=tuple(map(str, range(size))), missing=False))
    round_trip(queries, np.arange(queries.count))
    assert len({tuple(np.array(queries.ends(np.array([i]))).ravel()) for i in range(queries.count)}) == queries.count


def test_intervals_of_the_longest_line_have_their_numbers() -> None:
    queries = Intervals(domain=Number(bits=16))
    size, last = 65536, queries.count - 1
    starts = np.arange(size) * size - np.arange(size) * (np.arange(size) - 1) // 2
    for near in (starts, starts[1:] - 1, starts[:-1] + 1, np.arange(1000), last - np.arange(1000)):
        round_trip(queries, near)


@given(st.integers(0, 65536 * 65537 // 2 - 1))
def test_any_interval_of_the_longest_line_has_its_number(index: int) -> None:
    round_trip(Intervals(domain=Number(bits=16)), np.array([index]))


def test_there_are_no_other_intervals() -> None:
    queries = Intervals(domain=Number(bits=2))
    for first, last in ((-1, 2), (2, 1), (0, 4)):
        with pytest.raises(ParameterError):
            queries.index(first, last)


def test_queries_say_what_they_ask() -> None:
    line = Number(low=0, high=8, bits=3, missing=True)
    assert Thresholds(domain=line).describe(2) == "below 3", "3 is in the next cell"
    assert Thresholds(domain=line).describe(7) == "at most 8", "a number at the upper bound is in the last cell"
    assert Intervals(domain=line).describe(Intervals(domain=line).index(2, 4)) == "2 to 5"
    assert Cells(domain=line).describe(7) == "7 to 8"
    assert Cells(domain=Labels(labels=("red", "blue"))).describe(1) == "blue"
    grid = Product.map(line, Number(low=-1, high=1, bits=1))
    assert Rectangles(domain=grid).describe(Rectangles(domain=grid).index((2, 4), (1, 1))) == "2 to 5 × 0 to 1"
    assert Cells(domain=grid).describe(4) == "2 to 3 × -1 to 0"


def test_classes_of_a_domain() -> None:
    assert (Thresholds, Intervals, Rectangles, Cells) == QUERY_CLASSES
    assert classes_for(Number()) == (Thresholds, Intervals, Cells)
    assert classes_for(Product.map(Number(bits=5), Number(bits=5))) == (Rectangles, Cells)
    assert classes_for(Labels()) == (Cells,)
