"""Unit vectors on their grid, row by row, and halfspaces against brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpcore.core import DataError, Dataset, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.sphere import STEP, Halfspaces, Sphere

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")
numbers = st.floats(width=64) | st.sampled_from([0.0, 1.0, -1.0, 1e308, -1e-308, 5e-324])


@pytest.mark.slow
@given(rows=arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=numbers))
def test_rows_become_unit_vectors_each_by_itself(rows: np.ndarray) -> None:
    domain = Sphere(dimensions=rows.shape[1])
    records = domain.checked(rows)
    lost = ~np.isfinite(rows).all(axis=1) | (rows == 0).all(axis=1)
    np.testing.assert_array_equal(records == 0, (records == 0) | lost[:, None])
    np.testing.assert_allclose(np.linalg.norm(records[~lost], axis=1), 1, atol=np.sqrt(rows.shape[1]) * STEP)
    np.testing.assert_array_equal(np.rint(records / STEP), records / STEP)
    for row, kept in zip(rows, records, strict=True):
        np.testing.assert_array_equal(domain.checked(row[None]), kept[None])
        largest = np.abs(row).max()
        if np.isfinite(largest) and largest > 0:
            shrunk = row / largest
            np.testing.assert_allclose(kept, shrunk / np.linalg.norm(shrunk), atol=STEP)
    np.testing.assert_array_equal(domain.checked(records), records)


def test_a_row_does_not_depend_on_the_others_in_many_dimensions(seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(500, 64))
    whole = Sphere(dimensions=64).checked(np.asfortranarray(rows))
    for chosen in (slice(0, 1), slice(3, 10), slice(100, 499)):
        np.testing.assert_array_equal(Sphere(dimensions=64).checked(rows[chosen]), whole[chosen])
    np.testing.assert_array_equal(Sphere(dimensions=64).checked(whole), whole)


@pytest.mark.parametrize("records", [np.zeros(3), np.zeros((2, 4)), np.array([["1", "2", "3"]]), np.zeros((2, 3, 1))])
def test_other_shapes_are_refused(records: np.ndarray) -> None:
    with pytest.raises(DataError, match="3 numbers per row"):
        Dataset(Sphere(dimensions=3), records, GENERATED)


def test_rows_without_direction_stay_in_n_and_on_no_side() -> None:
    domain = Sphere(dimensions=2)
    dataset = Dataset(domain, np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 0]], dtype=np.float64), GENERATED)
    assert dataset.n == 4
    queries = Halfspaces(domain=domain)
    np.testing.assert_array_equal(queries.truth(dataset.records, np.array([[1.0, 0.0], [-1.0, 0.0]])), [0.25, 0])
    np.testing.assert_allclose(dataset.records[0], [0.6, 0.8], atol=STEP)
    with pytest.raises(ParameterError, match="too many cells"):
        _ = dataset.histogram


def test_truth_margins_and_shares_by_brute_force(seed: int) -> None:
    generator = np.random.default_rng(seed)
    domain = Sphere(dimensions=4)
    records, towards = domain.checked(generator.normal(size=(50, 4))), generator.normal(size=(7, 4))
    queries = Halfspaces(domain=domain)
    products = [[sum(a * b for a, b in zip(x, y / np.linalg.norm(y), strict=True)) for x in records] for y in towards]
    np.testing.assert_allclose(queries.truth(records, towards), [np.mean([p > 0 for p in row]) for row in products])
    np.testing.assert_allclose(queries.margins(records, towards), [min(map(abs, row)) for row in products])
    np.testing.assert_allclose(
        queries.near(records, towards, width=0.3), [np.mean([abs(p) < 0.3 for p in row]) for row in products]
    )


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_vc_dimension(dimensions: int) -> None:
    queries = Halfspaces(domain=Sphere(dimensions=dimensions))
    axes = np.eye(dimensions)
    towards = np.array(list(product((1.0, -1.0), repeat=dimensions)))
    assert len({tuple(side) for side in towards @ axes.T > 0}) == 2**queries.vc_dimension


def test_what_cannot_be_numbered_says_so() -> None:
    domain = Sphere(dimensions=3)
    queries = Halfspaces(domain=domain)
    calls: list[Callable[[], object]] = [
        lambda: domain.size,
        domain.points,
        lambda: domain.describe(0),
        lambda: queries.count,
        lambda: queries.describe(0),
        lambda: queries.answer(np.zeros((1, 1)), np.zeros(1, dtype=np.int64)),
        lambda: queries.max_error(np.zeros((1, 1))),
        lambda: queries.batch(3),
    ]
    for ask in calls:
        with pytest.raises(ParameterError, match=r"ask by directions|too many|not numbered|no closed form"):
            ask()
    assert repr(domain) == "Sphere(dimensions=3)"


def test_parameters_are_checked() -> None:
    from dpcore import Number

    for dimensions in (0, 1025):
        with pytest.raises(ParameterError, match="Dimensions"):
            Sphere(dimensions=dimensions)
    with pytest.raises(ParameterError, match="unit vectors"):
        Halfspaces(domain=Number())
    with pytest.raises(ParameterError, match="margin"):
        Halfspaces(domain=Sphere(), margin=1.5)
    with pytest.raises(ParameterError, match="different domains"):
        Problem(domain=Sphere(dimensions=2), queries=Halfspaces(domain=Sphere(dimensions=3)), n=3)
    for towards in (np.zeros((1, 3)), np.array([[np.nan, 0, 1]]), np.ones((1, 2))):
        with pytest.raises(ParameterError, match="direction needs"):
            Sphere(dimensions=3).unit(towards)
