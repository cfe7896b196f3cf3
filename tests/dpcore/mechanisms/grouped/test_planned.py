"""Group counters from the residual planner: exact privacy, faults that are caught, noise, and files that are none."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations, product

import numpy as np
import pytest

from dpcore import Account, Labels, Neighbours, Number, ParameterError, Preview
from dpcore.core import Floats, Integers, Problem
from dpcore.core.sizes import MAX_COUNT
from dpcore.mechanisms.grouped import planned
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.planned import PlannedGroupCounters
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState
from dpcore.mechanisms.grouped.weights import row_weight, weights
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import record_contrasts
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.queries.groups import GroupStatistics
from dplab.audit import exact_delta
from tests.dpcore.mechanisms.grouped.tables import dataset_of, every_record, problem_of, queries_of, released
from tests.kit.contract import check_tiny_law

ADD, REPLACE = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
RELATIONS = pytest.mark.parametrize("neighbours", list(Neighbours))
YES, TWO = Labels(missing=False), Labels(labels=("x", "y"), missing=False)
THREE = Labels(labels=("x", "y", "z"), missing=False)
HALVES = Number(bits=1)
SMALL = queries_of(THREE, TWO, Number(bins=10))
LARGE = queries_of(
    Labels(labels=tuple("abcdefgh"), missing=False), Labels(labels=tuple("abcdef"), missing=False), TWO, Number(bins=50)
)


@RELATIONS
@pytest.mark.parametrize(
    ("queries", "window", "rows"),
    [
        (queries_of(TWO, YES), (-4, 5), 2),
        (queries_of(TWO, HALVES), (-3, 6), 1),
        (queries_of(YES), (-25, 30), 2),
        (queries_of(TWO, TWO, YES), (-1, 2), 1),
        (queries_of(THREE, YES), (-2, 1), 1),
    ],
    ids=["two groups", "a number", "no groups", "two columns", "three groups"],
)
def test_exact_privacy_over_all_neighbours(
    queries: GroupStatistics, window: tuple[int, int], rows: int, neighbours: Neighbours
) -> None:
    mechanism, problem = PlannedGroupCounters(epsilon=3.0, delta=0.05), problem_of(queries, rows, neighbours)
    for size in (rows, 0) if neighbours is ADD else (rows,):
        found = exact_delta(mechanism, problem, window=window, universe=every_record(queries), rows=size)
        assert found.pairs > 0 and 0 < found.delta <= mechanism.delta


@RELATIONS
def test_half_of_the_noise_is_caught(neighbours: Neighbours) -> None:
    """A control: draws of half of each sigma."""

    class HalfSigma(PlannedGroupCounters):
        def plan(self, problem: Problem) -> ResidualPlan:
            plan = super().plan(problem)
            return dataclasses.replace(
                plan, parts=tuple(dataclasses.replace(each, sigma=each.sigma / 2) for each in plan.parts)
            )

    queries = queries_of(TWO, YES)
    problem = problem_of(queries, 1, neighbours)
    mechanism = HalfSigma(epsilon=3.0, delta=0.05)
    found = exact_delta(mechanism, problem, window=(-4, 5), universe=every_record(queries))
    assert found.delta > 1.2 * 0.05


def test_the_shifts_of_added_rows_do_not_serve_for_replaced_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A control: noise for rows that are added or removed, where they are replaced."""
    queries = queries_of(TWO, YES)
    problem = problem_of(queries, 1, REPLACE)
    mechanism = PlannedGroupCounters(epsilon=3.1, delta=0.05)  # at an epsilon of its own: plans are kept
    assert exact_delta(mechanism, problem, window=(-4, 5), universe=every_record(queries)).delta <= 0.05

    def added_alone(cliques: CliqueTypes, neighbours: Neighbours) -> Floats:
        return cliques.squared_shifts(ADD)

    monkeypatch.setattr(planned, "unit_shifts", added_alone)
    mechanism = PlannedGroupCounters(epsilon=3.2, delta=0.05)
    assert exact_delta(mechanism, problem, window=(-4, 5), universe=every_record(queries)).delta > 1.2 * 0.05
    planned.counter_plan.cache_clear()  # of noise that is too small


def moved(queries: GroupStatistics, plan: ResidualPlan) -> Floats:
    """What each record adds to all contrasts, in units of their sigma, (records, numbers)."""
    rows = []
    for record in every_record(queries).tolist():
        weight = weights(np.array([[record[place] for place in queries.numbers]]), queries)[0]
        cells = [record[place] for place in queries.group_columns]
        parts = [
            np.outer(
                weight, record_contrasts(tuple(cells[a] for a in columns), tuple(queries.shape[a] for a in columns))
            )
            / part.sigma
            for part in plan.parts
            for columns in part.sets
        ]
        rows.append(np.concatenate([part.reshape(-1) for part in parts]))
    return np.array(rows)


@RELATIONS
@pytest.mark.parametrize(
    "queries",
    [
        queries_of(THREE, TWO, YES),
        queries_of(THREE, THREE, TWO, YES),
        queries_of(Labels(labels=("x", "y"), missing=True), TWO, Number(bins=3, missing=True), degree=2),
        queries_of(THREE, HALVES, YES, numbers=(1, 2)),
        queries_of(YES, degree=3),
    ],
    ids=["2 columns", "3 columns", "missing", "2 numbers", "no groups"],
)
def test_a_neighbour_reaches_the_worst_shift_and_none_exceeds_it(
    queries: GroupStatistics, neighbours: Neighbours
) -> None:
    """Of all pairs of records: the squared length of all moves in units of sigma, which the proved delta is of."""
    problem = problem_of(queries, 1, neighbours)
    mechanism = PlannedGroupCounters(epsilon=1.0)
    plan = mechanism.plan(problem)
    rows = moved(queries, plan)
    apart = rows if neighbours is ADD else (rows[:, None] - rows[None]).reshape(-1, rows.shape[1])
    found = float((apart**2).sum(axis=1).max())
    stated = sum(square / sigma**2 for sigma, _, square in mechanism.gaussians(problem))
    assert found <= stated * (1 + 1e-9)
    if row_weight(queries) == 1:  # weights are at the ends, so that the bound is reached
        assert found == pytest.approx(stated)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["preview", "secure"])
def test_samplers_have_the_exact_law(sampler: str, seed: int) -> None:
    queries = queries_of(TWO, YES)
    problem, dataset = problem_of(queries, 4), dataset_of(queries, np.array([[0, 1], [0, 1], [1, 0]]))
    check_tiny_law(PlannedGroupCounters(epsilon=3.0), dataset, problem, sampler, window=(-2, 4), seed=seed)


@RELATIONS
def test_what_is_drawn_is_what_is_guaranteed(neighbours: Neighbours, seed: int) -> None:
    mechanism, problem = PlannedGroupCounters(), problem_of(SMALL, 60, neighbours)
    account = Account(Preview(seed))
    release = released(mechanism, problem, np.zeros((60, 3)), sampler=account, trials=5)
    assert tuple((c.sigma, c.numbers, c.squared_shift) for c in account.charges) == mechanism.gaussians(problem)
    guarantee = mechanism.guarantee(problem)
    assert 0.9 * guarantee.delta < account.delta(guarantee.epsilon) <= guarantee.delta
    assert release.counters.shape == (5, 6, 2) and release.guarantee == guarantee
    person = mechanism.guarantee(dataclasses.replace(problem_of(SMALL, 60), person_rows=3))
    assert guarantee.epsilon < person.epsilon < 3 * guarantee.epsilon


def records(queries: GroupStatistics, rows: int, seed: int) -> Integers:
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(0, size, rows) for size in queries.domain.sizes], axis=1)


def counters_of(mechanism: PlannedGroupCounters, queries: GroupStatistics, rows: Integers) -> GroupState:
    return mechanism.prepare(dataset_of(queries, rows), problem_of(queries, len(rows)))


@RELATIONS
@pytest.mark.parametrize("lean", [1.0, 16.0])
def test_groups_by_any_columns_have_the_planned_noise_around_the_true_counters(
    lean: float, neighbours: Neighbours, seed: int
) -> None:
    """2,000 releases; coarser groups are sums, and have less noise than so many independent ones."""
    mechanism, rows = PlannedGroupCounters(lean=lean), records(LARGE, 3000, seed)
    problem = problem_of(LARGE, len(rows), neighbours)
    release = released(mechanism, problem, rows, sampler=Preview(seed), trials=2000)
    true = dataclasses.replace(release.part(0, 1), counters=counters_of(mechanism, LARGE, rows).counters[None])
    plan = mechanism.plan(problem)
    for kept in (each for order in range(4) for each in combinations(range(3), order)):
        noise = release.counters_by(kept) - true.counters_by(kept)
        assert noise.std() == pytest.approx(plan.cell_sigma(kept), rel=0.12 if not kept else 0.06)
        assert abs(noise.mean()) < 5 * noise.std() / math.sqrt(len(noise))
    cell, together = plan.cell_sigma((0, 1, 2)), math.sqrt(8 * 6 * 2)
    assert plan.cell_sigma(()) < (0.75 if lean == 1 else 0.3) * together * cell


def test_the_noise_is_the_least_for_all_groups_together_and_a_weight_moves_it() -> None:
    problem = problem_of(LARGE, 3000)
    sets = [each for order in range(4) for each in combinations(range(3), order)]

    def squares(lean: float) -> dict[tuple[int, ...], float]:
        plan = PlannedGroupCounters(lean=lean).plan(problem)
        return {each: plan.cell_sigma(each) ** 2 for each in sets}

    def summed(found: dict[tuple[int, ...], float], *, lean: float) -> float:
        return sum(math.prod(LARGE.shape[a] for a in each) * lean ** (3 - len(each)) * found[each] for each in sets)

    for lean in (0.1, 1.0, 16.0):
        others = [summed(squares(other), lean=lean) for other in (0.01, 0.1, 1.0, 4.0, 16.0, 64.0) if other != lean]
        assert summed(squares(lean), lean=lean) < min(others)
    alone = GaussianGroupCounters().scale(problem)
    assert PlannedGroupCounters(lean=0.01).scale(problem) == pytest.approx(alone, rel=0.02)
    assert PlannedGroupCounters(lean=16.0).scale(problem) > PlannedGroupCounters().scale(problem) > alone


def test_no_groups_are_the_gaussian_counters() -> None:
    problem = problem_of(queries_of(Number(bins=10)), 500)
    assert PlannedGroupCounters().scale(problem) == pytest.approx(GaussianGroupCounters().scale(problem))


def test_totals_of_hundreds_of_groups_have_less_noise_than_sums_of_pure_counters() -> None:
    many = queries_of(*(Labels(labels=tuple(map(str, range(size))), missing=False) for size in (16, 15, 2)), YES)
    problem = problem_of(many, 48_000)
    plan, pure = PlannedGroupCounters(lean=16.0).plan(problem), GroupCounters(epsilon=1.0).noise_deviation(problem)
    assert plan.cell_sigma(()) < 0.4 * math.sqrt(480) * pure
    assert plan.cell_sigma((0, 1, 2)) > 5 * pure, "and single groups have more"


def test_a_file_of_other_counters_is_none_of_its_releases(seed: int) -> None:
    mechanism, rows = PlannedGroupCounters(), records(SMALL, 50, seed)
    release = released(mechanism, problem_of(SMALL, 50), rows, sampler=Preview(seed))
    assert mechanism.possible(release)
    changed = release.counters.astype(np.float64)
    changed[0, 2, 1] += 0.5
    assert not mechanism.possible(dataclasses.replace(release, counters=changed))


def test_rows_that_do_not_fit_are_refused_and_more_rows_than_stated_end_at_the_largest() -> None:
    wide = queries_of(*(Labels(labels=tuple(map(str, range(40))), missing=False) for _ in range(3)), Number(bins=1024))
    with pytest.raises(ParameterError, match="do not fit whole numbers"):
        PlannedGroupCounters().check_numbers(problem_of(wide, 10_000_000))
    mechanism = PlannedGroupCounters()
    problem = problem_of(SMALL, 100)
    sampler = Preview(1)
    full = np.full((1, 12), MAX_COUNT)
    noisy = mechanism.noisy(full, problem, sampler, 3)
    assert noisy.min() > 0 and noisy.max() < MAX_COUNT
    assert isinstance(released(mechanism, problem, np.zeros((0, 3))), GroupRelease)


def test_every_pair_of_relations_and_sizes_has_a_plan() -> None:
    for sizes, neighbours in product(((), (2,), (2, 3), (2, 2, 2), (2, 3, 4)), Neighbours):
        columns = [Labels(labels=tuple(map(str, range(size))), missing=False) for size in sizes]
        problem = problem_of(queries_of(*columns, YES), 10, neighbours)
        plan = PlannedGroupCounters().plan(problem)
        assert 0.9e-6 < plan.delta <= 1e-6 and all(part.sigma > 0 for part in plan.parts)
