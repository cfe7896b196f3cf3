"""Domains: every value lands in a legal cell, in order, within its cell's bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpcore import Labels, Number, ParameterError, Product
from dpcore.core import DomainType
from dpcore.data.frames import frame_of
from dpcore.data.reading.tables import read_table
from dpcore.queries.ranges import Thresholds
from tests import ROOT

anything = st.floats(allow_nan=True, allow_infinity=True)
bounds = st.floats(-1e300, 1e300)


@st.composite
def lines(draw: st.DrawFn) -> Number:
    """Any line the constructor takes."""
    low, high = sorted((draw(bounds), draw(bounds)))
    assume(low < high)
    assume((high - low) / 2**16 > 0)
    assume(math.isfinite(high - low))
    missing = draw(st.booleans())
    clamp = draw(st.booleans()) or not missing
    return Number(low=low, high=high, bits=draw(st.integers(1, 16)), missing=missing, clamp=clamp)


@pytest.mark.slow
@given(lines(), st.lists(anything, min_size=1))
def test_every_number_has_a_cell(line: Number, numbers: list[float]) -> None:
    cells = line.encode(np.array(numbers))
    assert cells.shape == (len(numbers),)
    assert cells.dtype == np.int64
    for number, cell in zip(numbers, cells.tolist(), strict=True):
        inside = line.low <= number <= line.high
        if not math.isfinite(number) or not (inside or line.clamp):
            assert cell == (line.ordered if line.missing else 0)
        elif not inside:
            assert cell == (0 if number < line.low else line.ordered - 1)
        else:
            assert 0 <= cell < line.ordered


@pytest.mark.slow
@given(lines(), st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2))
def test_larger_numbers_have_no_lower_cell(line: Number, numbers: list[float]) -> None:
    fitting = [number for number in sorted(numbers) if line.clamp or line.low <= number <= line.high]
    assume(fitting)
    assert (np.diff(line.encode(np.array(fitting))) >= 0).all()


@pytest.mark.slow
@given(lines(), st.floats(0, 1))
def test_a_number_lies_between_its_cells_edges(line: Number, share: float) -> None:
    number = min(max(line.low + share * (line.high - line.low), line.low), line.high)
    cell = int(line.encode(np.array([number]))[0])
    # The edges themselves are rounded numbers, as is the position of a number on the line.
    slack = 4 * np.spacing(max(abs(line.low), abs(line.high))) + 1e-12 * line.width
    assert line.low + cell * line.width - slack <= number <= line.low + (cell + 1) * line.width + slack


@pytest.mark.slow
@given(lines())
def test_bounds_fall_in_the_end_cells(line: Number) -> None:
    assert line.encode(np.array([line.low, line.high])).tolist() == [0, line.ordered - 1]
    assert line.size == line.ordered + line.missing == 2**line.bits + line.missing


@pytest.mark.slow
@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(1, 12), st.booleans())
def test_midpoints_and_descriptions_find_their_cells(low: int, length: int, bits: int, missing: bool) -> None:
    line = Number(low=low, high=low + length, bits=bits, missing=missing)
    points = line.points()
    np.testing.assert_array_equal(line.encode(points), np.arange(line.ordered))
    assert len(points) == line.ordered
    assert len({line.describe(cell) for cell in range(line.size)}) == line.size
    for cell in {0, line.ordered // 2, line.ordered - 1}:
        start, stop = map(float, line.describe(cell).split(" to "))
        assert start < points[cell] < stop
        assert start == pytest.approx(low + cell * line.width, abs=line.width / 10)


@pytest.mark.parametrize("low", [0.0, 1e6, 1.7e9, -273.15])
def test_neighbouring_cells_read_differently(low: float) -> None:
    line = Number(low=low, high=low + 1, bits=4)
    edges = [line.describe(cell).split(" to ") for cell in range(16)]
    assert all(start != stop for start, stop in edges)
    assert [stop for _, stop in edges[:-1]] == [start for start, _ in edges[1:]]


def test_depth_is_the_length_of_a_binary_search() -> None:
    assert [Number(bits=bits).size for bits in (1, 2, 16)] == [2, 4, 1 << 16]
    assert [Number(bits=bits).depth for bits in (1, 2, 16)] == [1, 2, 16]
    assert [Number(bits=bits, missing=True).depth for bits in (1, 2, 16)] == [2, 3, 17]
    assert Labels(labels=("a",), missing=False).depth == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 1.0, "high": 1.0},
        {"low": 2.0, "high": 1.0},
        {"low": math.nan},
        {"high": math.inf},
        {"low": -1.7e308, "high": 1.7e308},
        {"low": 0.0, "high": 5e-324},
        {"bits": 0},
        {"bits": 17},
        {"clamp": False},
    ],
)
def test_lines_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Number(**wrong)


labels = st.lists(st.text(max_size=5), min_size=1, max_size=6, unique=True).map(tuple)


@pytest.mark.slow
@given(labels, st.booleans(), st.lists(st.integers(-3, 9), min_size=1))
def test_every_code_has_a_cell(names: tuple[str, ...], missing: bool, codes: list[int]) -> None:
    domain = Labels(labels=names, missing=missing)
    assert domain.size == domain.ordered + missing == len(names) + missing
    for code, cell in zip(codes, domain.encode(np.array(codes)).tolist(), strict=True):
        if 0 <= code < len(names):
            assert domain.describe(cell) == names[code]
        else:
            assert cell == (domain.ordered if missing else 0)
    assert domain.points() == list(names)
    if missing:
        assert domain.describe(domain.ordered) == "any other value"


def test_categories_that_make_no_sense() -> None:
    for names in ((), ("a", "a")):
        with pytest.raises(ParameterError):
            Labels(labels=names)


@pytest.mark.slow
@given(lines(), lines(), st.lists(st.tuples(anything, anything), min_size=1))
def test_a_pair_has_the_cell_of_both_its_numbers(one: Number, other: Number, pairs: list[tuple[float, float]]) -> None:
    assume(one.bits + other.bits <= 16)
    grid = Product.map(one, other)
    assert grid.size == one.ordered * other.ordered + (one.missing or other.missing)
    first, second = (np.array(numbers) for numbers in zip(*pairs, strict=True))
    for cell, row, column in zip(
        grid.encode([first, second]).tolist(), one.encode(first).tolist(), other.encode(second).tolist(), strict=True
    ):
        if row == one.ordered or column == other.ordered:
            assert cell == grid.ordered == grid.size - 1
        else:
            assert divmod(cell, other.ordered) == (row, column)


def test_midpoints_of_a_grid_find_their_cells_and_each_reads_differently() -> None:
    grid = Product.map(Number(low=-3, high=5, bits=3), Number(low=0, high=1, bits=2, missing=True))
    np.testing.assert_array_equal(grid.encode([*np.array(grid.points()).T]), np.arange(grid.ordered))
    assert len({grid.describe(cell) for cell in range(grid.size)}) == grid.size
    assert grid.shape == (8, 4) and grid.listed
    assert repr(grid).startswith("Product(names=(")
    same: Product = eval(repr(grid), {"Product": Product, "Number": Number})  # the code on a page is made of it
    assert same == grid and hash(same) == hash(grid)


def test_grids_that_make_no_sense() -> None:
    with pytest.raises(ParameterError, match="together"):
        Product.map(Number(bits=9), Number(bits=8))
    with pytest.raises(ParameterError, match="as many"):
        Product.map(Number(bits=5), Number(bits=5)).encode([np.zeros(2), np.zeros(3)])


def test_a_group_and_a_number_share_a_cell() -> None:
    domain = Product.map(
        Labels(labels=("a", "b")), Number(low=0, high=4, bits=2, missing=True), names=("group", "number")
    )
    assert (domain.size, domain.ordered, domain.missing) == (9, 8, True)
    codes, numbers = np.array([0, 1, 1, 2, -1, 0]), np.array([0.5, 0.5, 9.0, 1.0, 1.0, np.nan])
    assert domain.encode([codes, numbers]).tolist() == [0, 4, 7, 8, 8, 8]
    assert domain.points()[4] == ("b", 0.5) and domain.describe(4) == "b × 0 to 1"
    assert domain.describe(8) == "missing or out of bounds" and {DomainType.MAP, DomainType.GROUPS} == domain.types
    assert len(domain.points()) == domain.ordered
    with pytest.raises(ParameterError, match="together"):
        Product.map(Labels(labels=tuple(f"{i}" for i in range(100))), Number(bits=10), names=("group", "number"))
    with pytest.raises(ParameterError, match="listed once"):
        Product.map(Labels(labels=("a", "a")), Number(), names=("group", "number"))


SCORES = read_table(ROOT / "tests" / "kit" / "field" / "R02_edges.csv", name="scores.csv", header=True)
TENTHS = SCORES.numbers("score")


@pytest.mark.parametrize(
    "line",
    [
        *(Number(high=high, bins=round(10 * high)) for high in (6.4, 10.0, 12.8, 25.6)),
        Number(low=-6.4, high=6.4, bits=7),
        Number(low=0.1, high=12.9, bits=7),
        Number(high=10.0, bins=1000),
    ],
    ids=lambda line: f"{line.low:g} to {line.high:g} in {line.ordered}",
)
def test_a_number_on_an_edge_lies_in_the_cell_that_begins_there(line: Number) -> None:
    assert len(TENTHS) > 40
    for number, cell in zip(TENTHS.tolist(), line.encode(TENTHS).tolist(), strict=True):
        if line.low <= number < line.high:
            assert float(line.describe(cell).split(" to ")[0]) == number, line.describe(cell)


@pytest.mark.parametrize("bins", [64, 100, 128, 127])
def test_edges_are_the_same_decimals_for_every_number_of_bins(bins: int) -> None:
    line = Number(high=bins / 10, bins=bins)
    assert line.edges.tolist() == [place / 10 for place in range(bins + 1)]
    assert line.encode(line.edges[:-1]).tolist() == list(range(bins))


def test_a_whole_number_is_the_middle_of_its_cell_and_reads_as_itself() -> None:
    """Else a mean of ages from 0 to 120 was off by up to half a year."""
    visits = Number(low=-2.5, high=9.5, bins=12, missing=True)
    values = np.array([-2, 0, 3, 9, 40, np.nan])
    assert visits.points()[visits.encode(values[:4])].tolist() == values[:4].tolist()
    assert visits.encode(values).tolist() == [0, 2, 5, 11, 11, 12]
    assert [visits.describe(0), visits.between(2, 5), visits.describe(12)] == [
        "-2",
        "0 to 3",
        "missing or out of bounds",
    ]
    assert visits.bounds == (-2, 9) and Thresholds(domain=visits).describe(4) == "at most 2"
    ranges = replace(visits, cuts=(-0.5, 4.5))
    assert ranges.cell_names == ("-2 to -1", "0 to 4", "5 to 9")
    assert not Number(low=-0.5, high=9.5, bins=5).whole and not Number(high=10, bins=10).whole


def test_mock_rows_of_whole_numbers_are_whole() -> None:
    visits = Number(low=-0.5, high=9.5, bins=10)
    domain = Product(names=("visits", "age"), columns=(visits, replace(visits, cuts=(4.5,))))
    frame = frame_of(domain, np.array([[3, 0], [9, 1]]), seed=1)
    assert frame["visits"].tolist() == [3, 9] and frame["age"][0] in range(5) and frame["age"][1] in range(5, 10)
