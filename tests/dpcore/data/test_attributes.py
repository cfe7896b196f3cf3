"""Rows of several categories, and the questions about tables of a few of them."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from dpcore import Categories, DataError, Dataset, ParameterError
from dpcore.data.attributes import Attributes, Marginals
from tests.kit.attribute_tables import GENERATED, domain_of

SEX = Categories(labels=("f", "m"), missing=False)
REGION = Categories(labels=("north", "south"))
DOMAIN = Attributes(names=("sex", "region"), columns=(SEX, REGION))


def test_sizes_count_the_cell_for_anything_else() -> None:
    assert DOMAIN.sizes == (2, 3)
    assert DOMAIN.size == 6
    assert DOMAIN.depth == 3
    assert not DOMAIN.listed


def test_cells_in_words() -> None:
    assert [DOMAIN.describe(cell) for cell in (0, 2, 4)] == [
        "sex f, region north",
        "sex f, region anything else",
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
    with pytest.raises(DataError, match="2 attributes"):
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
        {"names": ("a",), "columns": (Categories(labels=("x",), missing=False),)},
        {"names": ("a",), "columns": (SEX,), "missing": True},
    ],
)
def test_attributes_that_make_no_sense(told: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Attributes(**told)


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
