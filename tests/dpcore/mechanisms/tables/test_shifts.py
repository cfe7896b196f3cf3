"""Contrasts, and how far neighbours move them: against brute force over all records and pairs of records."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours
from dpcore.mechanisms.tables import cliques as cliques_module
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import centred, contrast_rows, contrasts, kappa, record_contrasts
from dpcore.mechanisms.tables.plan import draws_of, residual_plan, worst_shift
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from tests.kit.attribute_tables import dataset_on, every_record, problem_of

REPLACE, ADD_REMOVE = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
some_sizes = pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 2, 4), (2, 2, 3, 2), (2, 2, 2, 2, 2)])


def contrasts_of(record: np.ndarray[Any, Any], cliques: CliqueTypes) -> dict[tuple[int, ...], np.ndarray[Any, Any]]:
    """Every set's contrasts of one record."""
    shifts = {}
    for sets in cliques.sets.values():
        for chosen in sets:
            own = tuple(cliques.sizes[a] for a in chosen)
            shifts[chosen] = record_contrasts(tuple(int(record[a]) for a in chosen), own)
    return shifts


# Contrasts.


def contrast(size: int) -> np.ndarray[Any, Any]:
    """B of one attribute, as it is defined."""
    return np.array([[1, -1]]) if size == 2 else size * np.eye(size, dtype=np.int64) - 1


def test_an_attribute_of_very_many_cells_takes_no_matrix() -> None:
    sizes = (1 << 16, 2)
    assert contrast_rows(sizes) == 1 << 16
    assert kappa(sizes) == 2 << 32
    column = record_contrasts((5, 1), sizes)
    assert column[5] == 1 - (1 << 16)
    assert (np.delete(column, 5) == 1).all()


@pytest.mark.parametrize("size", [2, 3, 5, 16])
def test_contrasts_are_whole_and_rotate_the_centred_counts(size: int) -> None:
    rows, factor = contrast(size), kappa((size,))
    np.testing.assert_array_equal(rows.sum(axis=1), 0)
    np.testing.assert_allclose(rows.T @ rows, factor * (np.eye(size) - 1 / size), atol=1e-9)


@pytest.mark.parametrize("sizes", [(), (2,), (3,), (2, 3), (4, 2, 3)])
def test_contrasts_of_a_table_and_back(sizes: tuple[int, ...], seed: int) -> None:
    tables = np.random.Generator(np.random.SFC64(seed)).integers(0, 50, (7, *sizes))
    direct = np.ones((1, 1), dtype=np.int64)
    for size in sizes:
        direct = np.kron(direct, contrast(size))
    np.testing.assert_array_equal(contrasts(tables, sizes), tables.reshape(7, -1) @ direct.T)
    middle = tables.astype(float)
    for axis in range(1, tables.ndim):
        middle = middle - middle.mean(axis=axis, keepdims=True)
    np.testing.assert_allclose(centred(contrasts(tables, sizes), sizes), middle, atol=1e-9)


# What neighbours move.


@some_sizes
def test_what_a_neighbour_moves_by_brute_force(sizes: tuple[int, ...]) -> None:
    ways = min(3, len(sizes))
    cliques = CliqueTypes(sizes=sizes, ways=ways)
    moved = [contrasts_of(record, cliques) for record in every_record(sizes)]
    added = cliques.squared_shifts(ADD_REMOVE)
    pairs = dict(zip(cliques.differing(), cliques.squared_shifts(REPLACE), strict=True))
    assert len(added) == 1
    differing = set()
    for place, (record, one) in enumerate(zip(every_record(sizes), moved, strict=True)):
        lengths = [sum(int((one[s] ** 2).sum()) for s in cliques.sets[key]) for key in cliques.keys]
        np.testing.assert_allclose(added[0], lengths, rtol=1e-12)
        for other_record, other in zip(every_record(sizes)[:place], moved[:place], strict=True):
            distances = [sum(int(((one[s] - other[s]) ** 2).sum()) for s in cliques.sets[key]) for key in cliques.keys]
            differ = record != other_record
            key = tuple(
                int(sum(d for d, s in zip(differ, sizes, strict=True) if s == size)) for size, _ in cliques.groups
            )
            np.testing.assert_allclose(pairs[key], distances, rtol=1e-9, atol=1e-9)
            differing.add(key)
    assert differing | {(0,) * len(cliques.groups)} == set(pairs), "a kind of pair was not met"


def test_too_many_kinds_of_pairs_are_bounded_one_set_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cliques = CliqueTypes(sizes=(2, 2, 3, 4), ways=3)
    exact = cliques.squared_shifts(REPLACE)
    monkeypatch.setattr(cliques_module, "MAX_PAIRS", 3)
    bound = cliques.squared_shifts(REPLACE)
    assert bound.shape == (1, len(cliques.keys))
    assert (bound >= exact.max(axis=0) * (1 - 1e-12)).all()
    assert (bound[0] <= 4 * cliques.squared_shifts(ADD_REMOVE)[0] * (1 + 1e-12)).all()


def test_where_kinds_of_pairs_are_too_many_to_compare_no_pair_costs_more_than_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Records of yes and no that differ everywhere have the same products, and cost less than others."""
    monkeypatch.setattr(cliques_module, "MAX_PAIRS", 3)
    plan = residual_plan.__wrapped__(
        sizes=(2, 2, 2, 2), ways=2, neighbours=REPLACE, epsilon=1.0, delta=1e-6, small_set_weight=0.01
    )
    told = draws_of.__wrapped__(plan)
    moved = [contrasts_of(record, plan.cliques) for record in every_record(plan.cliques.sizes)]

    def cost(other: dict[tuple[int, ...], np.ndarray[Any, Any]]) -> float:
        return sum(
            sum(int(((moved[0][each] - other[each]) ** 2).sum()) for each in part.sets) / part.sigma**2
            for part in plan.parts
        )

    worst = max(map(cost, moved))
    assert worst > 1.2 * cost(moved[-1]), "the control: these differ everywhere"
    assert worst <= sum(square / sigma**2 for sigma, _, square in told) <= 4 * worst


@every_relation
@some_sizes
def test_every_draw_is_told_what_the_worst_neighbour_moves(sizes: tuple[int, ...], neighbours: Neighbours) -> None:
    """The contrasts that run() hands over, on every neighbour of a data set: the told cost is reached, never passed."""
    problem = problem_of(sizes, ways=min(3, len(sizes)), n=3, neighbours=neighbours)
    mechanism = ResidualPlanner(epsilon=1.0, delta=1e-6)
    plan = mechanism.plan(problem)
    expected = sum(
        sum(s * s for s in shift) / part.sigma**2 for part, shift in zip(plan.parts, worst_shift(plan), strict=True)
    )
    records = every_record(sizes)
    base = records[[0, len(records) // 2, len(records) - 1]]

    def values(rows: Any) -> dict[tuple[int, ...], Any]:
        free = dataclasses.replace(problem, n=len(rows))
        return dict(mechanism.prepare(dataset_on(free, rows), free).contrasts)

    start, reached = values(base), []
    for cell in range(len(records)):
        rows = np.concatenate([base if neighbours is ADD_REMOVE else base[1:], records[[cell]]])
        near = values(rows)
        cost = sum(float(((near[p.key] - start[p.key]) ** 2).sum()) / p.sigma**2 for p in plan.parts)
        assert cost <= expected * (1 + 1e-9)
        reached.append(cost)
        drawn = {part.key for part in plan.parts}
        assert all(key in drawn or np.array_equal(near[key], start[key]) for key in near), "moved, but not drawn"
    assert max(reached) == pytest.approx(expected, rel=1e-9)
