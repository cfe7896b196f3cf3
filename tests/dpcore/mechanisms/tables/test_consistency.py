"""Tables moved until they agree: sums over lists against sums over axes, and when the rounds end."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from dpcore import Neighbours, Preview
from dpcore.core import Floats
from dpcore.mechanisms.tables import consistency, fitting
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.release import ContrastsRelease
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.shape_groups import Stacks, shape_groups_of
from dpcore.queries.marginals import Set
from tests.kit.attribute_tables import correlated, problem_of, release_of

SIZES = ((2, 3, 2, 4), (3, 3, 3, 3), (2, 2, 2, 2, 2))
every_shape = pytest.mark.parametrize("sizes", SIZES, ids=str)


def stacks(cliques: CliqueTypes, *, seed: int) -> Stacks:
    """Any numbers as tables."""
    generator = np.random.Generator(np.random.SFC64(seed))
    groups = shape_groups_of(cliques).groups
    return {shape: generator.normal(9, 3, (len(group.sets), *shape)) for shape, group in groups.items()}


def by_set(cliques: CliqueTypes, tables: Stacks) -> dict[Set, Floats]:
    """Each table by its attributes."""
    groups = shape_groups_of(cliques).groups
    return {
        chosen: each for shape, found in tables.items() for chosen, each in zip(groups[shape].sets, found, strict=True)
    }


def noisy(sizes: tuple[int, ...], *, epsilon: float, seed: int) -> tuple[ResidualPlan, Stacks]:
    """The plan and the noisy parts of one release about 2,000 rows."""
    problem = problem_of(sizes, ways=3, n=2_000, neighbours=Neighbours.REPLACE_ONE)
    mechanism = ResidualPlanner(epsilon=epsilon, delta=1e-6)
    release = release_of(mechanism, problem, correlated(sizes, n=2_000, seed=seed), Preview(seed), 1)
    assert isinstance(release, ContrastsRelease)
    return release.plan, release.residuals(0)


@every_shape
@pytest.mark.parametrize("ways", [2, 3])
def test_means_by_brute_force(sizes: tuple[int, ...], ways: int, seed: int) -> None:
    cliques = CliqueTypes(sizes=sizes, ways=ways)
    tables = stacks(cliques, seed=seed)
    level = consistency.levels_of(cliques)[ways]
    assert level.below is not None
    means, apart = level.means(level.flat(tables), level.below.flat(tables))
    found, each = by_set(cliques, level.below.stacked(means)), by_set(cliques, tables)
    furthest = 0.0
    for small in combinations(range(len(sizes)), ways - 1):
        made = [
            each[large].sum(axis=next(p for p, a in enumerate(large) if a not in small))
            for large in combinations(range(len(sizes)), ways)
            if set(small) <= set(large)
        ]
        np.testing.assert_allclose(found[small], np.mean(made, axis=0))
        furthest = max(furthest, max(float(np.abs(one - each[small]).max()) for one in made))
    assert apart == pytest.approx(furthest)
    again = level.stacked(level.flat(tables))
    assert all(np.array_equal(again[shape], tables[shape]) for shape in again)


@every_shape
def test_scaled_tables_have_the_margins_of_one_table(sizes: tuple[int, ...], seed: int) -> None:
    """Where margins are those of some tables, scaling others to them comes to them; one sweep as by axes."""
    cliques = CliqueTypes(sizes=sizes, ways=3)
    level = consistency.levels_of(cliques)[3]
    assert level.below is not None
    whole = np.random.Generator(np.random.SFC64(seed)).uniform(0.001, 0.009, sizes)
    every = range(len(sizes))
    margins = {}
    for shape, group in shape_groups_of(cliques).groups.items():
        margins[shape] = np.stack([whole.sum(axis=tuple(a for a in every if a not in s)) for s in group.sets])
    tables = np.abs(level.flat(stacks(cliques, seed=seed))) + 1
    for _ in range(100):
        tables = level.scaled(tables, level.below.flat(margins))
    assert level.means(tables, level.below.flat(margins))[1] < 1e-6 * whole.sum()


@every_shape
@pytest.mark.parametrize("order", [1, 2])
def test_margins_made_to_agree(sizes: tuple[int, ...], order: int, seed: int) -> None:
    """All that two of them share is the same, and adds up to the total; those that agree stay as they are."""
    cliques = CliqueTypes(sizes=sizes, ways=3)
    level = consistency.levels_of(cliques)[order]
    total = np.array([100.0])
    moved = level.reconciled(level.flat(stacks(cliques, seed=seed)), total=total)
    tables_by_set = by_set(cliques, level.stacked(moved))
    for one, other in product(tables_by_set, repeat=2):
        shared = set(one) & set(other)
        here, there = (
            tables_by_set[s].sum(axis=tuple(p for p, a in enumerate(s) if a not in shared)) for s in (one, other)
        )
        np.testing.assert_allclose(here, there, atol=1e-9)
        assert tables_by_set[one].sum() == pytest.approx(100.0)
    np.testing.assert_allclose(level.reconciled(moved, total=total), moved, atol=1e-9)


def test_no_tables_that_agree_are_nearer(seed: int) -> None:
    """Attributes of one size: what moves is at right angles to every way of agreeing tables to differ."""
    cliques = CliqueTypes(sizes=(3, 3, 3, 3), ways=3)
    level, total = consistency.levels_of(cliques)[2], np.array([100.0])
    start = level.flat(stacks(cliques, seed=seed))
    moved = level.reconciled(start, total=total)
    for other in range(5):
        elsewhere = level.reconciled(level.flat(stacks(cliques, seed=seed + other + 1)), total=total)
        away = elsewhere - moved
        assert abs((moved - start) @ away) < 1e-9 * np.linalg.norm(moved - start) * np.linalg.norm(away)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("sizes", [(2, 3, 2, 4, 3, 2), (2,) * 9], ids=str)
def test_rounds_end_where_tables_agree(
    sizes: tuple[int, ...], epsilon: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the last round, at half a row or a hundredth of the noise; smaller tables are the means of larger ones."""
    plan, residuals = noisy(sizes, epsilon=epsilon, seed=seed)
    rounds: list[float] = []
    means = consistency.Level.means

    def counted(self: consistency.Level, tables: Floats, margins: Floats) -> tuple[Floats, float]:
        result = means(self, tables, margins)
        if len(self.axes) == 3:
            rounds.append(result[1])
        return result

    monkeypatch.setattr(consistency.Level, "means", counted)
    fitted = fitting.consistent(plan, residuals)
    noise = min(plan.cell_sigma(pair) for pair in combinations(range(len(sizes)), 2))
    enough = max(consistency.ROW_TOLERANCE, consistency.NOISE_TOLERANCE * noise)
    assert len(rounds) < consistency.ROUNDS
    assert rounds[-2] <= enough < min(rounds[:-2], default=np.inf)
    assert fitting.disagreement(plan, fitted) <= 2 * enough
    assert all((tables >= 0).all() for tables in fitted.values())
    for level in consistency.levels_of(plan.cliques)[2:]:
        assert level.below is not None
        smaller = level.below.flat(fitted)
        np.testing.assert_allclose(means(level, level.flat(fitted), smaller)[0], smaller)


def test_tables_are_scaled_to_margins_that_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Margins moved to the mean of what tables make of them would not agree on what they share in turn."""
    plan, residuals = noisy((2, 3, 2, 4), epsilon=0.5, seed=seed)
    agreed: list[Floats] = []
    agree, scaled = consistency.Level.reconciled, consistency.Level.scaled

    def kept(self: consistency.Level, tables: Floats, *, total: Floats) -> Floats:
        agreed.append(agree(self, tables, total=total))
        return agreed[-1]

    def checked(self: consistency.Level, tables: Floats, margins: Floats) -> Floats:
        np.testing.assert_array_equal(margins, np.maximum(agreed[-1], 0))
        return scaled(self, tables, margins)

    monkeypatch.setattr(consistency.Level, "reconciled", kept)
    monkeypatch.setattr(consistency.Level, "scaled", checked)
    fitting.consistent(plan, residuals)
    assert agreed


def test_where_tables_are_too_many_none_is_moved(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, residuals = noisy((2, 2, 3, 2), epsilon=1.0, seed=seed)
    moved = fitting.consistent(plan, residuals)
    monkeypatch.setattr(consistency, "WORK", 0)
    fitted = fitting.consistent(plan, residuals)
    assert set(fitted) == set(moved)
    assert any(not np.array_equal(fitted[shape], moved[shape]) for shape in fitted)
    monkeypatch.undo()
    monkeypatch.setattr(consistency, "MAX_CACHED", 0)
    again = fitting.consistent(plan, residuals)
    assert all(np.array_equal(again[shape], moved[shape]) for shape in moved)
