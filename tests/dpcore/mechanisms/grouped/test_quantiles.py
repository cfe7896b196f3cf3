"""Quantiles by group: their exact law, what they are without noise, and how far they are off."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dpcore import Dataset, Labels, Neighbours, Number, ParameterError, Preview, Problem
from dpcore.core import Integers
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.ranges.strategy import Strategy, strategy
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.randomness.laws import exponential_law
from dplab.audit import ROUNDING, exact_delta
from tests.dpcore.mechanisms.grouped.tables import REGION
from tests.kit.problems import PROVENANCE

RELATIONS = pytest.mark.parametrize("neighbours", list(Neighbours))
TWO = Labels(labels=("x", "y"), missing=False)


def problem_of(
    *columns: Number | Labels, n: int = 2, neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE, **values: Any
) -> Problem:
    domain = Product(names=tuple("abcd"[: len(columns)]), columns=columns)
    return Problem(domain=domain, queries=GroupQuantiles(domain=domain, **values), n=n, neighbours=neighbours)


def released(problem: Problem, records: Integers, *, epsilon: float = 1.0, trials: int = 1) -> GroupQuantilesRelease:
    mechanism = GroupQuantileCounts(epsilon=epsilon)
    state = mechanism.prepare(Dataset(problem.domain, records, PROVENANCE), problem)
    return mechanism.run(state, Preview(7), trials)


class WithWindows(GroupQuantileCounts):
    """Measures windows on few cells too, in few steps."""

    def plan(self, problem: Problem) -> Strategy:
        return strategy(2, prefixes=True, known=False, steps=2)


class HalfSensitivity(WithWindows):
    """Half the noise that the guarantee needs."""

    def sensitivity(self, problem: Problem) -> int:
        return super().sensitivity(problem) // 2


@RELATIONS
@pytest.mark.parametrize("columns", [(TWO, Number(bits=1)), (Number(bins=3, missing=True),)])
def test_exact_privacy_over_all_neighbours(columns: tuple[Number | Labels, ...], neighbours: Neighbours) -> None:
    problem = problem_of(*columns, neighbours=neighbours)
    universe = np.indices([column.size for column in columns]).reshape(len(columns), -1).T
    for rows in (2, 0) if neighbours is Neighbours.ADD_REMOVE_ONE else (2,):
        found = exact_delta(GroupQuantileCounts(epsilon=1.0), problem, window=(-4, 6), universe=universe, rows=rows)
        assert found.pairs > 0 and found.delta <= ROUNDING


@RELATIONS
def test_exact_privacy_with_windows_and_half_the_sensitivity_is_caught(neighbours: Neighbours) -> None:
    problem = problem_of(TWO, Number(bits=1), n=1, neighbours=neighbours)
    universe = np.indices((2, 2)).reshape(2, -1).T
    one, other = (
        exact_delta(kind(epsilon=1.0), problem, window=(-2, 3), universe=universe)
        for kind in (WithWindows, HalfSensitivity)
    )
    assert one.delta <= ROUNDING and other.delta > 0.01


@RELATIONS
@pytest.mark.parametrize("cells", [100, 130])
def test_a_row_moves_what_is_measured_by_the_sensitivity(cells: int, neighbours: Neighbours) -> None:
    """The same steps in every cell of every group; without a number, nothing; identity alone below 128 cells."""
    problem = problem_of(REGION, Number(bins=cells, missing=True), n=1, neighbours=neighbours)
    mechanism = GroupQuantileCounts(epsilon=1.0)
    universe = np.indices((3, cells + 1)).reshape(2, -1).T
    release = released(problem, universe[:1])
    assert (release.measured.shape[-1] == cells) is (cells < 128)
    shifts = []
    for row in universe[:: cells // 9]:
        state = mechanism.prepare(Dataset(problem.domain, row[None], PROVENANCE), problem)
        shifts.append(int(release.solver.measured(state.rows).sum()))
        assert shifts[-1] == (0 if row[1] == cells else release.solver.plan.steps)
    assert max(shifts) * len(neighbours.histogram_shift) == mechanism.sensitivity(problem)


@pytest.mark.parametrize("cells", [60, 150])
def test_with_hardly_any_noise_they_are_numpys_up_to_a_cell(cells: int, seed: int) -> None:
    shares = (0.05, 0.5, 0.9)
    problem = problem_of(REGION, TWO, Number(low=-3, high=9, bins=cells, missing=True), n=30_000, quantiles=shares)
    generator = np.random.Generator(np.random.SFC64(seed))
    hidden = generator.beta(2, 5, 30_000)
    group = generator.integers(0, 5, 30_000)  # the last of six has none
    number = np.where(generator.random(30_000) < 0.1, cells, (hidden * (1 + group) / 5 * cells).astype(np.int64))
    release = released(problem, np.stack([group // 2, group % 2, number], axis=1), epsilon=20.0)
    [found] = release.quantiles()
    for place in range(5):
        values = -3 + 12 * (number[(group == place) & (number < cells)] + 0.5) / cells
        np.testing.assert_allclose(found[place], np.quantile(values, shares), atol=1.5 * 12 / cells)
    assert (np.diff(found[:5], axis=1) > 0).all()
    table, frame = release.table(), release.frame()
    assert [*table] == ["trial", "refused", "group a", "group b", "rows", *(f"quantile {share:g}" for share in shares)]
    assert table["group a"].tolist() == ["north", "north", "south", "south", "any other value", "any other value"]
    assert table["rows"][0] == pytest.approx(((group == 0) & (number < cells)).sum(), abs=30)
    assert [*frame] == ["trial", "refused", "group a", "group b", "value", "rows"] and len(frame) == 6 * cells
    np.testing.assert_array_equal(release.quantiles((0.5,))[..., 0], release.quantiles()[..., 1])


def test_a_group_without_rows_is_told_a_quantile_or_none_and_it_lies_within_the_bounds() -> None:
    problem = problem_of(REGION, Number(low=5, high=7, bins=30), n=10)
    release = released(problem, np.zeros((10, 2), dtype=np.int64), epsilon=0.3, trials=600)
    found = release.quantiles()[:, 1:]
    silent = np.isnan(found)
    assert 0.3 < silent.mean() < 0.7 and (found[~silent] >= 5).all() and (found[~silent] <= 7).all()
    assert (np.diff(found, axis=-1)[~silent[..., 1:]] >= 0).all()
    assert (silent == (release.rows().sum(axis=-1)[:, 1:, None] <= 0)).all()


def test_the_guaranteed_error_grows_with_groups_and_falls_with_epsilon() -> None:
    few, many = (problem_of(Labels(labels=tuple("abcdefgh"[:groups])), Number(bins=64), n=1000) for groups in (1, 8))
    bounds = [GroupQuantileCounts(epsilon=1.0).accuracy(each, 0.05) for each in (few, many)]
    assert bounds[0].value < bounds[1].value < 2 * bounds[0].value and bounds[0].unit.startswith("rows between")
    assert GroupQuantileCounts(epsilon=2.0).accuracy(few, 0.05).value < 0.6 * bounds[0].value


def test_what_has_no_quantiles_is_refused() -> None:
    for values in ({"quantiles": ()}, {"quantiles": (0.5, 0.2)}, {"quantiles": (0.0, 0.5)}, {"quantiles": (1.0,)}):
        with pytest.raises(ParameterError, match="ascend and lie between 0 and 1"):
            problem_of(REGION, Number(), **values)
    for columns, numbers in (((Number(), REGION), (1,)), ((Number(), Number()), (0, 1))):
        with pytest.raises(ParameterError, match="Quantiles are of one number"):
            problem_of(*columns, numbers=numbers)
    many = Labels(labels=tuple(map(str, range(4000))))
    with pytest.raises(ParameterError, match=r"cells of all groups would take .* take fewer cells or groups"):
        GroupQuantileCounts(epsilon=1.0).accuracy(problem_of(many, Number()), 0.1)
    problem = problem_of(REGION, Number())
    table = Product(names=("a", "b"), columns=(REGION, Number()))
    asked = dataclasses.replace(problem, queries=GroupStatistics(domain=table))
    with pytest.raises(ParameterError, match="quantiles of the groups of a table"):
        GroupQuantileCounts(epsilon=1.0).check_size(asked)
    assert not GroupQuantiles.fits(Product(names=("a", "b"), columns=(REGION, REGION)))
    assert GroupQuantiles.fits(problem.domain) and not GroupQuantiles.fits(Number())


@pytest.mark.parametrize(("shares", "better"), [((0.5,), False), (tuple(np.arange(1, 10) / 10), True)])
def test_one_median_errs_less_by_an_exponential_mechanism_and_nine_deciles_far_more(
    shares: tuple[float, ...], better: bool
) -> None:
    """Its law is exact: an equal part of ε for each quantile, and the score's rows by which a cell is off."""
    cells, rows, epsilon = 64, 4000, 0.1
    line = Number(high=64.0, bins=cells)
    values = np.random.default_rng(3).binomial(cells - 1, 0.25, rows).astype(np.int64)
    found = released(problem_of(line, quantiles=shares), values[:, None], epsilon=epsilon, trials=400).quantiles()
    sums = np.cumsum(np.bincount(values, minlength=cells))
    below, points = np.append(0, sums[:-1]), line.points()
    errors = np.zeros((2, len(shares)))
    for place, share in enumerate(shares):
        truth = points[(sums >= share * rows).argmax()]
        errors[0, place] = np.sqrt(np.mean((found[:, 0, place] - truth) ** 2))
        score, rate = -np.abs((1 - share) * below - share * (rows - sums)), epsilon / len(shares) / 2
        law = exponential_law(
            score[None], np.ones((1, cells), dtype=np.bool_), rate=rate / max(share, 1 - share), rule="exponential"
        )
        errors[1, place] = np.sqrt((law[0] * (points - truth) ** 2).sum())
    counted, chosen = errors.mean(axis=1)
    assert (counted < 0.7 * chosen) if better else (chosen < 0.7 * counted)
