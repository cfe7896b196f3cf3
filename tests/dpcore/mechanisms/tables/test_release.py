"""Counting, fitting and synthetic rows, against brute force and against what must hold of any tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, ParameterError, Preview
from dpcore.core import Floats, Integers, finish
from dpcore.data.product import Product
from dpcore.mechanisms.tables import consistency, counting, fitting
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import contrasts
from dpcore.mechanisms.tables.counting import count_contrasts, count_tables, smaller_tables
from dpcore.mechanisms.tables.fitting import on_simplex
from dpcore.mechanisms.tables.release import ContrastsRelease, Tables, marginals_of
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.shape_groups import shape_groups_of, total_variation
from dpcore.mechanisms.tables.tree import answers_only, synthetic_rows, widest_tree
from dpcore.queries.marginals import Marginals
from tests.kit.attribute_tables import correlated, dataset_on, problem_of, table_of

SHAPES = [(2, 3, 4, 2), (2,) * 6, (3, 3, 3, 2, 5)]
every_shape = pytest.mark.parametrize("sizes", SHAPES)


@pytest.mark.slow
@every_shape
@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 63, 64, 700])
def test_counts_by_brute_force(
    sizes: tuple[int, ...], ways: int, n: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BLOCK", 100)
    monkeypatch.setattr(counting, "WORDS", 3)
    records = correlated(sizes, n=n, seed=seed)
    cliques = CliqueTypes(sizes=sizes, ways=ways)
    contrasts_by_type = finish(count_contrasts(records, cliques))
    for key in cliques.keys:
        expected = [
            contrasts(table_of(records, sizes, chosen), tuple(sizes[a] for a in chosen)) for chosen in cliques.sets[key]
        ]
        np.testing.assert_array_equal(contrasts_by_type[key], np.concatenate(expected))
    tables = finish(count_tables(records, sizes, ways=ways))
    for chosen, table in tables.items():
        np.testing.assert_array_equal(table, table_of(records, sizes, chosen))
    for chosen, table in smaller_tables(tables, attributes=len(sizes)).items():
        np.testing.assert_array_equal(table, table_of(records, sizes, chosen))


@every_shape
def test_counting_tells_its_progress(sizes: tuple[int, ...], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BLOCK", 64)
    monkeypatch.setattr(counting, "WORDS", 1)
    shares = list(count_contrasts(correlated(sizes, n=640, seed=seed), CliqueTypes(sizes=sizes, ways=2)))
    assert len(shares) == 10
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def released(
    sizes: tuple[int, ...], *, ways: int, n: int, seed: int, neighbours: Neighbours, epsilon: float = 1.0
) -> tuple[ContrastsRelease, Tables]:
    """A release, and the true tables."""
    problem = problem_of(sizes, ways=ways, n=n, neighbours=neighbours)
    records = correlated(sizes, n=n, seed=seed)
    mechanism = ResidualPlanner(epsilon=epsilon, delta=1e-6)
    state = mechanism.prepare(dataset_on(problem, records), problem)
    truth = {chosen: table.astype(float) for chosen, table in finish(count_tables(records, sizes, ways=ways)).items()}
    release = mechanism.run(state, Preview(seed))
    assert isinstance(release, ContrastsRelease)
    return release, truth


def without_noise(release: ContrastsRelease, records: Integers) -> ContrastsRelease:
    """The same release with true values."""
    contrasts_by_type = finish(count_contrasts(records, release.plan.cliques))
    values = np.concatenate([contrasts_by_type[part.key] for part in release.plan.parts])[None, :]
    return dataclasses.replace(release, values=values)


def mean_distance(one: Tables, other: Tables, chosen: Sequence[Any]) -> float:
    """Mean total variation over some tables."""
    return float(np.mean([total_variation(one[c][None], other[c][None])[0] for c in chosen]))


@pytest.mark.parametrize("neighbours", list(Neighbours))
@every_shape
def test_tables_without_noise_are_the_true_ones(sizes: tuple[int, ...], neighbours: Neighbours, seed: int) -> None:
    release, truth = released(sizes, ways=3, n=500, seed=seed, neighbours=neighbours)
    exact = without_noise(release, correlated(sizes, n=500, seed=seed))
    for fit in ("unbiased", "simplex"):
        tables = exact.tables(fit=fit)
        assert set(tables) == set(truth)
        for chosen, table in truth.items():
            np.testing.assert_allclose(tables[chosen], table, atol=1e-6)
            np.testing.assert_allclose(exact.unbiased(chosen)[0], table, atol=1e-6)


@pytest.mark.parametrize("neighbours", list(Neighbours))
@every_shape
@pytest.mark.parametrize("ways", [2, 3])
def test_fitted_tables_are_tables(sizes: tuple[int, ...], ways: int, neighbours: Neighbours, seed: int) -> None:
    release, truth = released(sizes, ways=ways, n=2_000, seed=seed, neighbours=neighbours)
    tables = release.tables()
    for table in tables.values():
        assert (table >= 0).all()
        assert np.isfinite(table).all()
    top = [chosen for chosen in tables if len(chosen) == ways]
    assert set(top) == set(truth)
    total = 2_000.0 if neighbours is Neighbours.REPLACE_ONE else float(release.values[0, 0])
    for chosen in top:
        assert tables[chosen].sum() == pytest.approx(total, abs=2.0)
        for place in range(ways):
            inside = chosen[:place] + chosen[place + 1 :]
            np.testing.assert_allclose(tables[chosen].sum(axis=place), tables[inside], atol=1.0)
    assert fitting.disagreement(release.plan, {
        shape: np.stack([tables[chosen] for chosen in group.sets])
        for shape, group in shape_groups_of(release.plan.cliques).groups.items() if shape
    } | {(): np.array([total])}) <= 2 * consistency.ROW_TOLERANCE  # fmt: skip


@every_shape
def test_fitting_brings_tables_closer_to_the_truth(sizes: tuple[int, ...], seed: int) -> None:
    """Where noise matters, each step of post-processing helps: 5 releases, mean total variation."""
    errors: dict[str, list[float]] = {"unbiased": [], "simplex": [], "consistent": []}
    for turn in range(5):
        release, truth = released(sizes, ways=3, n=2_000, seed=seed + turn, neighbours=Neighbours.REPLACE_ONE)
        for fit, distances in errors.items():
            distances.append(mean_distance(release.tables(fit=fit), truth, list(truth)))
    unbiased, simplex, consistent = (float(np.mean(distances)) for distances in errors.values())
    assert consistent < 0.99 * simplex <= 0.99 * unbiased


@every_shape
def test_little_noise_leaves_little_to_fit(sizes: tuple[int, ...], seed: int) -> None:
    release, truth = released(sizes, ways=3, n=100_000, seed=seed, neighbours=Neighbours.REPLACE_ONE, epsilon=10.0)
    assert mean_distance(release.tables(), truth, list(truth)) < 0.002


def test_margins_that_no_table_has_are_moved_until_tables_agree() -> None:
    """a = b, b = c and a = not c cannot be all true of many rows; the noise here says they are."""
    release, _ = released((2, 2, 2), ways=3, n=1_000, seed=1, neighbours=Neighbours.REPLACE_ONE)
    release = without_noise(release, correlated((2, 2, 2), n=1_000, seed=1))
    values = dict(zip([part.key for part in release.plan.parts], ([0, 0, 0], [900, -900, 900], [0]), strict=True))
    forced = dataclasses.replace(release, values=np.concatenate(list(values.values()))[None, :].astype(np.int64))
    tables = forced.tables()
    for place in range(3):
        inside = tuple(a for a in range(3) if a != place)
        np.testing.assert_allclose(tables[0, 1, 2].sum(axis=place), tables[inside], atol=0.6)
    assert tables[0, 1, 2].min() >= 0


def test_scaling_makes_no_rows_where_a_table_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A margin may ask for rows where a table's cells are zero, or so small that dividing by them overflows."""
    tables = np.array([[[0.0, 0.0], [1e-320, 1e-320], [1.0, 3.0]]])
    margins = [np.full((1, 1, 2), 4.0), np.array([[[2.0], [2.0], [4.0]]])]
    monkeypatch.setattr(fitting, "SWEEPS", 1)
    scaled = fitting._scaled(tables, margins)
    np.testing.assert_allclose(scaled[0], [[0, 0], [0, 0], [2, 2]], atol=1e-12)


def test_the_nearest_table_without_negative_counts(seed: int) -> None:
    generator = np.random.Generator(np.random.SFC64(seed))
    tables = generator.normal(3, 5, (40, 2, 3))
    nearest = on_simplex(tables, total=10.0)
    assert (nearest >= 0).all()
    np.testing.assert_allclose(nearest.sum(axis=(1, 2)), 10.0)
    # Optimality: the way back makes no acute angle with the way to any corner of the simplex.
    back = (tables - nearest).reshape(40, 6)
    for corner in range(6):
        away = 10.0 * np.eye(6)[corner] - nearest.reshape(40, 6)
        assert ((back * away).sum(axis=1) <= 1e-9).all()


def test_an_unknown_fit_is_refused() -> None:
    release, _ = released((2, 2), ways=2, n=50, seed=1, neighbours=Neighbours.REPLACE_ONE)
    with pytest.raises(ParameterError, match="fit"):
        release.tables(fit="best")


# Synthetic rows.


@pytest.mark.slow
@every_shape
@pytest.mark.parametrize("ways", [2, 3])
def test_rows_have_the_tables_of_the_tree(sizes: tuple[int, ...], ways: int, seed: int) -> None:
    records = correlated(sizes, n=20_000, seed=seed)
    tables: Tables = {c: t.astype(float) for c, t in finish(count_tables(records, sizes, ways=ways)).items()}
    tree = widest_tree(tables, attributes=len(sizes), ways=ways)
    assert sorted(attribute for attribute, _ in tree.steps) == list(range(len(sizes)))
    seeds: set[int] = set()
    for attribute, given in tree.steps:
        assert set(given) <= seeds, "a value is drawn from one that is not there yet"
        assert any(set(given) <= set(table) for table in tables)
        seeds.add(attribute)
    rows = synthetic_rows(tables, tree, rows=20_000, seed=seed)
    assert rows.shape == (20_000, len(sizes))
    followed = [table for table in tree.tables() if len(table) == ways]
    assert len(followed) == len(sizes) - ways + 1
    for chosen in followed:
        counted = table_of(rows, sizes, chosen)
        assert np.abs(counted - tables[chosen]).max() <= 2 * counted.size


def chain(n: int, *, seed: int) -> Integers:
    """Five yes/no attributes, each the one before with some changes: a chain out of order."""
    generator = np.random.Generator(np.random.SFC64(seed))
    steps = (np.cumsum(generator.random((n, 5)) < 0.1, axis=1) + generator.integers(0, 2, (n, 1))) % 2
    shuffled: Integers = steps[:, [2, 0, 4, 1, 3]].astype(np.int64)
    return shuffled


def test_a_chain_is_found_and_its_rows_have_all_tables(seed: int) -> None:
    records, sizes = chain(40_000, seed=seed), (2,) * 5
    tables: Tables = {c: t.astype(float) for c, t in finish(count_tables(records, sizes, ways=2)).items()}
    tree = widest_tree(tables, attributes=5, ways=2)
    links = {frozenset((attribute, *given)) for attribute, given in tree.steps if given}
    # Positions of the chain's 1st, 2nd, ... attribute after shuffling: 1, 3, 0, 4, 2.
    assert links == {frozenset(pair) for pair in ((1, 3), (3, 0), (0, 4), (4, 2))}
    rows = synthetic_rows(tables, tree, rows=40_000, seed=seed)
    others: Tables = {c: t.astype(float) for c, t in finish(count_tables(rows, sizes, ways=2)).items()}
    assert mean_distance(others, tables, list(combinations(range(5), 2))) < 0.01


def test_rows_never_seen_together_still_get_values() -> None:
    tables: Tables = {(0, 1): np.array([[5.0, 5.0], [0.0, 0.0]]), (1, 2): np.array([[0.0, 0.0], [3.0, 7.0]])}
    tables[0, 2] = np.array([[3.0, 7.0], [0.0, 0.0]])
    rows = synthetic_rows(tables, widest_tree(tables, attributes=3, ways=2), rows=50, seed=1)
    assert ((rows >= 0) & (rows < 2)).all()
    assert not rows[:, 0].any()


def test_what_is_said_where_rows_do_not_have_all_tables() -> None:
    sentence = answers_only(attributes=8, ways=3)
    assert "follow 6 of the 56 released tables" in sentence and "No synthetic rows" not in sentence
    assert "tables of one attribute do not show how attributes depend on each other" in answers_only(
        attributes=8, ways=1
    )
    assert "all attributes" in answers_only(attributes=2, ways=2)
    singles: dict[Any, Floats] = {(0,): np.ones(2), (1,): np.ones(2)}
    with pytest.raises(ParameterError, match="tables of one attribute do not show"):
        widest_tree(singles, attributes=2, ways=1)


def test_attributes_named_as_columns_of_numbers_keep_columns_of_their_own() -> None:
    names = ("rows", "column rows", "trial", "age")
    usual = problem_of((2, 2, 2, 2), ways=1, n=8, neighbours=Neighbours.ADD_REMOVE_ONE)
    domain = Product(names=names, columns=marginals_of(usual).domain.columns)
    problem = dataclasses.replace(usual, domain=domain, queries=Marginals(domain=domain, ways=1))
    mechanism = ResidualPlanner(epsilon=1.0, delta=1e-6)
    rows = dataset_on(problem, np.zeros((8, 4), dtype=np.int64))
    release = mechanism.run(mechanism.prepare(rows, problem), Preview(0))
    assert isinstance(release, ContrastsRelease)
    columns = ["trial", "refused", "column column rows", "column rows", "column trial", "age", "rows"]
    frame = release.frame()
    assert list(frame) == columns and (frame[columns[2:6]] != "").sum().tolist() == [2, 2, 2, 2]
