"""Yes/no attributes from real columns, and what a cube accepts as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import DataError, Dataset, ParameterError, Provenance, ProvenanceKind
from dpcore.data.predicates import Predicate, evaluate_predicates
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table

TABLE = read_table(
    b"age,job,smokes\n31,clerk,1\n,farmer,0\n17,,\nabc,clerk, 1 \n65,cook,yes\n",
    name="people.csv",
)
PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def test_predicates_judge_each_row_and_missing_is_false() -> None:
    predicates = (
        Predicate(column="smokes"),
        *(Predicate(column="job", value=job) for job in ("clerk", "cook")),
        *(Predicate(column="age", kind="at least", value=age) for age in (18, 65)),
        Predicate(column="age", kind="below", value=18, name="a minor"),
    )
    domain = Product.yes_no([each.name for each in predicates])
    assert domain.names == (
        "smokes is 1",
        "job is clerk",
        "job is cook",
        "age at least 18",
        "age at least 65",
        "a minor",
    )
    rows = evaluate_predicates(TABLE, predicates)
    assert rows.astype(int).tolist() == [
        [1, 1, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 1, 0],
    ]
    assert Dataset(domain, rows, PUBLIC).n == 5, "a row that fits nothing stays"


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match="no column named “wage”"):
        evaluate_predicates(TABLE, [Predicate(column="wage", kind="at least", value=3)])


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"column": "a", "kind": "above"}, "A predicate must be one of is, at least, below"),
        ({"column": "a", "kind": "below", "value": "many"}, "needs a number"),
        ({"column": "a", "kind": "at least", "value": float("nan")}, "needs a number"),
    ],
)
def test_a_predicate_says_what_it_needs(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Predicate(**values)


CUBE = Product.yes_no(("a", "b", "c"))


def test_a_cube_keeps_rows_of_zeros_and_ones() -> None:
    rows = np.array([[0, 1, 1], [0, 0, 0]])
    dataset = Dataset(CUBE, rows, PUBLIC)
    assert dataset.records.dtype == np.bool_
    assert dataset.records.tolist() == rows.astype(bool).tolist()
    assert (CUBE.size, CUBE.depth, CUBE.describe(3), CUBE.describe(0)) == (8, 3, "b, c", "none")
    assert "0" not in repr(dataset)
    with pytest.raises(ParameterError, match="too many cells"):
        _ = dataset.histogram


@pytest.mark.parametrize(
    "rows", [np.array([0, 1, 1]), np.zeros((4, 2), dtype=int), np.array([[0, 1, 2]]), np.array([[0.0, 1.0, 1.0]])]
)
def test_other_rows_are_refused(rows: Any) -> None:
    with pytest.raises(DataError, match="Every"):
        Dataset(CUBE, rows, PUBLIC)


@pytest.mark.parametrize("names", [(), ("a", "a"), tuple(f"a{i}" for i in range(65))])
def test_a_cube_has_1_to_64_different_attributes(names: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError):
        Product.yes_no(names)
