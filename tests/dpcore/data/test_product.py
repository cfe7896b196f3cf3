"""Rows of several categories, and the questions about tables of a few of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import dpcore
from dpcore import DataError, Dataset, Labels, ParameterError
from dpcore.core import DomainType
from dpcore.data.columns import Number, is_labels
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn
from dpcore.data.product import Product
from dpcore.queries.marginals import Marginals
from tests.kit.attribute_tables import GENERATED, domain_of

SEX = Labels(labels=("f", "m"), missing=False)
REGION = Labels(labels=("north", "south"))
DOMAIN = Product(names=("sex", "region"), columns=(SEX, REGION))


def test_sizes_count_the_cell_for_anything_else() -> None:
    assert DOMAIN.sizes == (2, 3)
    assert DOMAIN.size == 6
    assert DOMAIN.depth == 3
    assert not DOMAIN.listed


def test_cells_in_words() -> None:
    assert [DOMAIN.describe(cell) for cell in (0, 2, 4)] == [
        "sex f, region north",
        "sex f, region any other value",
        "sex m, region south",
    ]
    with pytest.raises(ParameterError, match="too many"):
        DOMAIN.points()


def test_labels_that_are_not_listed_have_a_cell() -> None:
    rows = DOMAIN.encode([np.array([0, 1, 2, -1]), np.array([0, 1, 2, 7])])
    assert rows.tolist() == [[0, 0], [1, 1], [0, 2], [0, 2]]
    dataset = Dataset(DOMAIN, rows, GENERATED)
    assert dataset.n == 4
    with pytest.raises(ParameterError, match="too many cells"):
        _ = dataset.histogram
    with pytest.raises(DataError, match="2 columns"):
        DOMAIN.encode([np.array([0])])


@pytest.mark.parametrize(
    "rows", [np.array([0, 1]), np.array([[0, 1, 1]]), np.array([[0.0, 1.0]]), np.array([[2, 0]]), np.array([[0, -1]])]
)
def test_rows_that_do_not_fit(rows: np.ndarray[Any, Any]) -> None:
    with pytest.raises(DataError) as raised:
        Dataset(DOMAIN, rows, GENERATED)
    assert "-1" not in str(raised.value)


@pytest.mark.parametrize(
    "told",
    [
        {"names": (), "columns": ()},
        {"names": ("a", "a"), "columns": (SEX, SEX)},
        {"names": ("a",), "columns": (SEX, SEX)},
        {"names": ("a",), "columns": (Labels(labels=("x",), missing=False),)},
    ],
)
def test_attributes_that_make_no_sense(told: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Product(**told)


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_queries_are_the_cells_of_all_tables(ways: int) -> None:
    domain = domain_of((2, 3, 4))
    queries = Marginals(domain=domain, ways=ways)
    cells = [
        ", ".join(f"{domain.names[a]} {value}" for a, value in zip(table, values, strict=True))
        for table in queries.sets()
        for values in product(*(range(domain.sizes[a]) for a in table))
    ]
    assert queries.count == len(cells) == sum(prod(domain.sizes[a] for a in table) for table in queries.sets())
    assert [queries.describe(index) for index in range(queries.count)] == cells
    assert len(list(queries.sets())) == queries.tables
    assert queries.batch(5).tolist() == sorted(set(queries.batch(5).tolist()))
    assert queries.vc_dimension == int(np.log2(queries.count))
    with pytest.raises(ParameterError, match="no query"):
        queries.describe(queries.count)


def test_queries_know_no_histogram() -> None:
    queries = Marginals(domain=DOMAIN, ways=1)
    with pytest.raises(ParameterError, match="rows"):
        queries.answer(np.zeros((1, 6)), np.array([0]))
    with pytest.raises(ParameterError, match="no closed form"):
        queries.max_error(np.zeros((1, 6)))
    for ways in (0, 3):
        with pytest.raises(ParameterError, match="1 to 2"):
            Marginals(domain=DOMAIN, ways=ways)


AGES = Number(high=120, bins=12, missing=True)
INCOMES = Number(high=100_000, cuts=(1.0, 1_000.0, 10_000.0), missing=True, clamp=False)
MONTHS = Dates(step="month", first="2024-01", last="2024-12", missing=True)
QUARTERS = Dates(step="month", first="2024-01", last="2024-12", missing=True, cuts=(651.0, 654.0, 657.0))
SMOKES = Labels(yes_no=True)
COLUMNS: tuple[Number | Labels, ...] = (
    *(AGES, INCOMES, MONTHS, QUARTERS, SMOKES, REGION, SEX),
    *(Number(bits=3), Number(low=-5, high=5, bins=7, missing=True, clamp=False), Labels(labels=("one",))),
)
every_column = pytest.mark.parametrize("column", COLUMNS, ids=[f"{place}" for place in range(len(COLUMNS))])
some_cells = st.lists(st.integers(0, 10_000), min_size=1, max_size=30)


def middles(column: Number | Labels) -> NDArray[Any]:
    """A value of each fitting cell, as a table's column has them."""
    edges = column.edges
    return np.arange(column.ordered) if is_labels(column) else (edges[:-1] + edges[1:]) / 2


@every_column
def test_a_cell_is_encoded_named_and_drawn_alike(column: Number | Labels) -> None:
    cells, edges = np.arange(column.ordered), column.edges
    assert column.encode(middles(column)).tolist() == cells.tolist()
    assert (len(edges), edges[0], edges[-1]) == (column.ordered + 1, column.low, column.high)
    assert (np.diff(edges) > 0).all() and column.size == column.ordered + int(column.missing)
    assert column.cell_names == tuple(map(column.describe, range(column.ordered)))
    assert len({*column.cell_names, column.describe(column.ordered)}) == column.ordered + 1
    for cell in range(column.ordered):
        start, stop = column.ends(cell, cell)
        assert column.describe(cell) == column.between(cell, cell) == (start if start == stop else f"{start} to {stop}")
    assert column.between(0, column.ordered - 1).startswith(column.ends(0, 0)[0])
    assert column.columns == (column,) and eval(repr(column)) == column


@every_column
def test_what_fits_nowhere_has_the_reserved_cell_or_the_first(column: Number | Labels) -> None:
    values = np.array([-1, column.ordered + 3]) if is_labels(column) else np.array([np.nan, np.inf])
    assert column.encode(values).tolist() == [column.ordered if column.missing else 0] * 2


EVEN = tuple(column for column in COLUMNS if is_labels(column) or not column.cuts)


@given(st.lists(st.sampled_from(EVEN), min_size=2, max_size=2), some_cells)
def test_listed_cells_number_every_pair_once(columns: list[Number | Labels], picks: list[int]) -> None:
    domain = Product.map(*columns, names=("a", "b"))
    assert domain.size == prod(column.ordered for column in columns) + any(column.missing for column in columns)
    chosen = np.array(picks) % domain.ordered
    places = np.unravel_index(chosen, domain.shape)
    values = [middles(column)[place] for column, place in zip(columns, places, strict=True)]
    assert domain.encode(values).tolist() == chosen.tolist()
    for cell, *place in zip(chosen.tolist(), *places, strict=True):
        named = [column.describe(int(each)) for column, each in zip(columns, place, strict=True)]
        assert domain.describe(cell) == " × ".join(named)
    if columns[0].missing:  # one that does not fit takes the row with it
        values[0] = np.full(len(chosen), -1 if is_labels(columns[0]) else np.nan)
        assert set(domain.encode(values).tolist()) == {domain.ordered} == {domain.size - 1}
        assert domain.describe(domain.ordered) == "missing or out of bounds"


@pytest.mark.parametrize("columns", [(AGES,), (AGES, AGES, REGION), (AGES, INCOMES), (QUARTERS, REGION)])
def test_a_map_has_two_columns_of_even_cells(columns: tuple[Number | Labels, ...]) -> None:
    with pytest.raises(ParameterError, match="two columns"):
        Product(names=tuple("abc"[: len(columns)]), columns=columns, listed=True)


@given(st.lists(st.sampled_from(COLUMNS[:-1]), min_size=1, max_size=4), some_cells)
def test_rows_keep_each_column_apart(columns: list[Number | Labels], picks: list[int]) -> None:
    domain = Product(names=tuple("abcd"[: len(columns)]), columns=tuple(columns))
    cells = [np.array(picks) % column.ordered for column in columns]
    values = [middles(column)[each] for column, each in zip(columns, cells, strict=True)]
    values[0] = np.full(len(picks), -1 if is_labels(columns[0]) else np.nan)
    rows = domain.encode(values)
    assert rows.T[1:].tolist() == [each.tolist() for each in cells[1:]]
    assert set(rows[:, 0].tolist()) == {columns[0].ordered if columns[0].missing else 0}
    assert domain.size == prod(column.size for column in columns) and not domain.missing


def test_kinds_follow_from_the_columns() -> None:
    kinds = {
        Product.map(AGES, MONTHS): {DomainType.MAP},
        Product.map(REGION, AGES): {DomainType.MAP, DomainType.GROUPS},
        Product.map(AGES, REGION): {DomainType.MAP},
        Product.map(SEX, Number(bits=3)): {DomainType.MAP},
        Product(names=("a", "b"), columns=(AGES, REGION)): {DomainType.TABLE},
        Product.yes_no(("a", "b")): {DomainType.TABLE, DomainType.YES_NO},
        Product(names=("a", "b"), columns=(SMOKES, SMOKES)): {DomainType.TABLE},
        AGES: {DomainType.NUMBER},
        MONTHS: {DomainType.NUMBER},
        INCOMES: {DomainType.LABELS},
        QUARTERS: {DomainType.LABELS},
        REGION: {DomainType.LABELS},
    }
    assert all(domain.types == kind for domain, kind in kinds.items())
    assert all(domain.title for domain in kinds)


def test_yes_no_attributes_are_kept_as_truth_values() -> None:
    rows = Product.yes_no(("a", "b")).checked(np.array([[0, 1], [1, 1]]))
    assert rows.dtype == np.bool_ and rows.tolist() == [[False, True], [True, True]]
    with pytest.raises(DataError, match="0 or 1"):
        Product.yes_no(("a", "b")).checked(np.array([[0, 2]]))


@pytest.mark.parametrize("cuts", [(0.0, 1.0), (5.0, 5.0), (7.0, 3.0), (120.0,), (np.nan,)])
def test_cuts_ascend_inside_the_bounds(cuts: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="ascend"):
        Number(high=120, cuts=cuts)


@pytest.mark.parametrize("cuts", [(651.5,), (651.0, 651.25)])
def test_dates_are_cut_where_a_unit_begins(cuts: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="only at the beginning of a month"):
        replace(MONTHS, cuts=cuts)


def test_two_cuts_are_never_written_alike() -> None:
    with pytest.raises(ParameterError, match="first 10 digits"):
        Number(high=2e9, cuts=(1234567890.25, 1234567890.5))


def test_a_declared_column_has_no_cuts() -> None:
    with pytest.raises(ParameterError, match="equal width"):
        DeclaredColumn(name="income", on=INCOMES)


def test_a_mean_is_of_cells_of_equal_width() -> None:
    assert not any(entry.fits(INCOMES) for entry in dpcore.catalogue() if "mean" in entry.key)
    assert any(entry.fits(AGES) for entry in dpcore.catalogue() if "mean" in entry.key), "the control"


def test_dates_on_a_map_are_told_by_their_names() -> None:
    assert Product.map(REGION, MONTHS).points()[1] == ("north", "2024-02")


def test_a_number_on_a_cut_begins_the_next_cell() -> None:
    assert INCOMES.encode(np.array([0, 1, 999, 1_000, 10_000, 100_000, 100_001])).tolist() == [0, 1, 1, 2, 3, 3, 4]
    assert INCOMES.describe(1) == "1 to 1000" and QUARTERS.describe(3) == "2024-10 to 2024-12"
    assert Number(high=120, bits=7, cuts=(40.0,)) == Number(high=120, bins=9, cuts=(40.0,)), "cuts alone count"


def test_a_yes_or_no_has_no_other_labels() -> None:
    with pytest.raises(ParameterError, match="yes or no"):
        Labels(labels=("ja", "nein"), yes_no=True)
