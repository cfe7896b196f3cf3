"""Group counters: their exact law under both relations and for persons, faults that are caught, and what they spend."""

from __future__ import annotations

import dataclasses
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcore import Account, Enumerate, Labels, Neighbours, Number, ParameterError, Preview, Thresholds
from dpcore.core import Dataset, Integers, Mechanism, Problem, per_person
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.release import GroupState
from dpcore.mechanisms.grouped.weights import row_weight, weights
from dpcore.queries.groups import GroupStatistics
from dplab.audit import ROUNDING, aligned, exact_delta
from tests.dpcore.mechanisms.grouped.tables import dataset_of, every_record, problem_of, queries_of, released
from tests.kit.contract import check_tiny_law

ADD, REPLACE = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
RELATIONS = pytest.mark.parametrize("neighbours", list(Neighbours))
YES, TWO = Labels(missing=False), Labels(labels=("x", "y"), missing=False)
HALVES = Number(bits=1)

TINY: tuple[tuple[GroupStatistics, tuple[int, int]], ...] = (
    (queries_of(HALVES), (-14, 26)),
    (queries_of(Number(bins=3, missing=True)), (-14, 26)),
    (queries_of(TWO, Labels(labels=("no", "yes"))), (-5, 7)),
    (queries_of(TWO, HALVES), (-4, 10)),
    (queries_of(Number(bits=1, missing=True), degree=2), (-18, 40)),
    (queries_of(YES, degree=3), (-5, 7)),
    (queries_of(YES, YES, numbers=(0, 1)), (-5, 7)),
    (queries_of(HALVES, YES, numbers=(0, 1)), (-4, 10)),
)
"""Statistics of every kind on few cells, and windows of their counters; with and without groups and missing values."""
tiny = pytest.mark.parametrize(
    ("queries", "window"), TINY, ids=[f"{len(q.shape)} groups, {q.numbers}, degree {q.degree}" for q, _ in TINY]
)


@RELATIONS
@tiny
def test_exact_privacy_over_all_neighbours(
    queries: GroupStatistics, window: tuple[int, int], neighbours: Neighbours
) -> None:
    mechanism, problem = GroupCounters(epsilon=1.0), problem_of(queries, 2, neighbours)
    for rows in (2, 0) if neighbours is ADD else (2,):
        found = exact_delta(mechanism, problem, window=window, universe=every_record(queries), rows=rows)
        assert found.pairs > 0 and found.delta <= ROUNDING


@RELATIONS
@pytest.mark.parametrize("queries", [queries_of(TWO, YES), queries_of(HALVES), queries_of(YES, YES, numbers=(0, 1))])
def test_exact_privacy_of_gaussian_noise(queries: GroupStatistics, neighbours: Neighbours) -> None:
    mechanism, problem = GaussianGroupCounters(epsilon=3.0, delta=0.05), problem_of(queries, 2, neighbours)
    window = (-4, 7) if queries.count > 1 or len(queries.numbers) > 1 else (-30, 40)
    for rows in (2, 0) if neighbours is ADD else (2,):
        found = exact_delta(mechanism, problem, window=window, universe=every_record(queries), rows=rows)
        assert 0 < found.delta <= mechanism.delta


# Planted faults.


class HalfSensitivity(GroupCounters):
    """Half the noise that the guarantee needs."""

    def sensitivity(self, problem: Problem) -> int:
        return max(1, super().sensitivity(problem) // 2)


class OneCounter(GroupCounters):
    """Takes the largest weight of one counter for what a row moves."""

    def sensitivity(self, problem: Problem) -> int:
        queries = problem.queries
        assert isinstance(queries, GroupStatistics)
        cells = every_record(queries)[:, list(queries.numbers)]
        return len(self.shift(problem)) * int(weights(cells, queries).max())


class RoundedApart(GroupCounters):
    """Rounds the shares A and B of a row by themselves: half and half become 1 and 1."""

    def sensitivity(self, problem: Problem) -> int:
        return len(self.shift(problem))

    def prepare(self, dataset: Dataset, problem: Problem) -> GroupState:
        queries = problem.queries
        assert isinstance(queries, GroupStatistics)
        group, number = dataset.records.astype(np.int64).T
        shares = weights(number[:, None], queries) / row_weight(queries)
        rounded = np.zeros((queries.count, 2), dtype=np.int64)
        np.add.at(rounded, group, np.floor(shares + 0.5).astype(np.int64))
        return GroupState(problem=problem, counters=rounded)


class HalfSigma(GaussianGroupCounters):
    """Half of sigma."""

    def scale(self, problem: Problem) -> float:
        return super().scale(problem) / 2


@RELATIONS
@pytest.mark.parametrize("kind", [HalfSensitivity, OneCounter, RoundedApart])
def test_planted_faults_are_caught(kind: type[GroupCounters], neighbours: Neighbours) -> None:
    queries = queries_of(TWO, Number(bins=3))
    options: dict[str, Any] = {"window": (-3, 9), "universe": every_record(queries)}
    problem = problem_of(queries, 1, neighbours)
    assert exact_delta(GroupCounters(epsilon=1.0), problem, **options).delta <= ROUNDING
    assert exact_delta(kind(epsilon=1.0), problem, **options).delta > 0.01


@RELATIONS
def test_half_of_sigma_is_caught(neighbours: Neighbours) -> None:
    queries = queries_of(TWO, YES)
    found = exact_delta(
        HalfSigma(epsilon=3.0, delta=0.05),
        problem_of(queries, 1, neighbours),
        window=(-3, 4),
        universe=every_record(queries),
    )
    assert found.delta > 1.2 * 0.05


@RELATIONS
@pytest.mark.parametrize("queries", [each for each, _ in TINY], ids=lambda queries: f"{queries.numbers}")
def test_a_neighbour_reaches_the_sensitivity_and_none_exceeds_it(
    queries: GroupStatistics, neighbours: Neighbours
) -> None:
    problem = problem_of(queries, 1, neighbours)
    mechanism = GroupCounters(epsilon=1.0)
    rows = [state.counters.reshape(-1) for state in states(mechanism, problem, every_record(queries)[:, None])]
    rows += [0 * rows[0]] if neighbours is ADD else []
    apart = [np.abs(one - other) for one, other in product(rows, rows)]
    if neighbours is ADD:
        apart = [np.abs(one) for one in rows]
    squared = GaussianGroupCounters(epsilon=1.0).squared_shift(problem)
    assert max(int(each.sum()) for each in apart) <= mechanism.sensitivity(problem)
    assert max(int((each**2).sum()) for each in apart) <= squared
    if neighbours is ADD or queries.count > 1:
        assert max(int(each.sum()) for each in apart) == mechanism.sensitivity(problem)


def states(mechanism: Mechanism, problem: Problem, data: NDArray[Any]) -> list[GroupState]:
    """The state of each of these sets of records."""
    assert isinstance(problem.queries, GroupStatistics)
    return [mechanism.prepare(dataset_of(problem.queries, records), problem) for records in data]


# Persons.


@pytest.mark.parametrize("cap", [2, 3])
@pytest.mark.parametrize("kind", [GroupCounters, GaussianGroupCounters])
def test_exact_privacy_of_a_person_with_several_rows(kind: type[Mechanism], cap: int) -> None:
    """All sets of up to a cap of rows that a person adds to any other row, and to none."""
    queries, window = queries_of(TWO, YES), (-4, 7)
    values = {"epsilon": 1.0} | ({"delta": 0.02} if kind is GaussianGroupCounters else {})
    mechanism, problem = kind(**values), problem_of(queries, 3)
    guarantee = mechanism.guarantee(dataclasses.replace(problem, person_rows=cap))
    group = per_person(mechanism.guarantee(problem), cap)
    assert guarantee.person_rows == cap and guarantee.delta == pytest.approx(group.delta)
    assert guarantee.epsilon == group.epsilon if kind is GroupCounters else guarantee.epsilon < group.epsilon
    records, sampler = every_record(queries), Enumerate(window=window)

    def law(rows: Integers) -> Any:
        return sampler.law(mechanism, mechanism.prepare(dataset_of(queries, rows), problem))

    worst = {1.0: 0.0, 0.7: 0.0}
    for start in (records[:0], records[:1]):
        before = law(start)
        for added in combinations_with_replacement(range(len(records)), cap):
            p, q = aligned(before, law(np.concatenate([start, records[list(added)]])))
            for share in worst:
                factor = np.exp(share * guarantee.epsilon)
                both = np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum()
                worst[share] = max(worst[share], *map(float, both))
    assert worst[1.0] <= guarantee.delta + ROUNDING < worst[0.7], "the control: less epsilon is not enough"


def test_persons_are_not_protected_where_rows_are_replaced() -> None:
    queries = queries_of(TWO, YES)
    mechanism, records = GroupCounters(epsilon=1.0), np.zeros((4, 2))
    with pytest.raises(ParameterError, match="Persons can be protected only if rows are added or removed"):
        mechanism.prepare(dataset_of(queries, records, person_rows=2), problem_of(queries, 4, REPLACE))
    assert not mechanism.guarantee(problem_of(queries, 4, REPLACE, person_rows=2)).releasable
    state = mechanism.prepare(dataset_of(queries, records, person_rows=2), problem_of(queries, 4))
    assert mechanism.run(state, Preview(1)).guarantee.epsilon == 2


# Samplers, and what is spent.


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["preview", "secure"])
@pytest.mark.parametrize("kind", [GroupCounters, GaussianGroupCounters])
def test_samplers_have_the_exact_law(
    kind: type[GroupCounters] | type[GaussianGroupCounters], sampler: str, seed: int
) -> None:
    queries = queries_of(TWO, YES)
    problem, dataset = problem_of(queries, 4), dataset_of(queries, np.array([[0, 1], [0, 1], [1, 0]]))
    check_tiny_law(kind(epsilon=3.0), dataset, problem, sampler, window=(-2, 4), seed=seed)


@RELATIONS
@pytest.mark.parametrize("kind", [GroupCounters, GaussianGroupCounters])
def test_one_draw_spends_what_is_guaranteed(kind: type[Mechanism], neighbours: Neighbours, seed: int) -> None:
    queries = queries_of(TWO, TWO, Number(bins=10), Number(bins=7, missing=True), numbers=(2, 3), degree=2)
    problem, mechanism = problem_of(queries, 60, neighbours), kind()
    records = np.stack([np.arange(60) % size for size in queries.domain.sizes], axis=1)
    account = Account(Preview(seed))
    release = released(mechanism, problem, records, sampler=account, trials=5)
    [charge] = account.charges
    guarantee = mechanism.guarantee(problem)
    if kind is GroupCounters:
        assert charge.epsilon == account.epsilon == guarantee.epsilon and guarantee.delta == 0
    else:
        assert charge.squared_shift == row_weight(queries) ** 2 * (1 if neighbours is ADD else 2)
        assert mechanism.gaussians(problem) == ((charge.sigma, charge.numbers, charge.squared_shift),)
        assert 0.9 * guarantee.delta < account.delta(guarantee.epsilon) <= guarantee.delta
    assert release.counters.shape == (5, 4, 9) and release.guarantee == guarantee
    np.testing.assert_array_equal(release.part(1, 3).outcomes(), release.outcomes()[1:3])
    assert release.outcomes().shape == (5, 36) and not release.refused.any()
    again = released(mechanism, problem, records, sampler=Preview(seed), trials=5)
    np.testing.assert_array_equal(again.counters, release.counters)


def test_a_state_shows_nothing_and_other_queries_are_refused() -> None:
    queries = queries_of(TWO, YES)
    [state] = states(GroupCounters(epsilon=1.0), problem_of(queries, 4), np.zeros((1, 4, 2)))
    assert repr(state) == "<GroupState: private>"
    line = Number(bits=2)
    other = Problem(domain=line, queries=Thresholds(domain=line), n=4)
    with pytest.raises(ParameterError, match="statistics of the groups of a table"):
        GroupCounters(epsilon=1.0).accuracy(other, 0.1)


# Errors.


@RELATIONS
@pytest.mark.parametrize("kind", [GroupCounters, GaussianGroupCounters])
def test_the_noise_of_every_group_is_alike_and_no_larger_than_is_said(
    kind: type[Mechanism], neighbours: Neighbours, seed: int
) -> None:
    """Also of a group without rows; all counters of a release stay within J in 80% of 4,000."""
    queries = queries_of(Labels(labels=("x", "y", "z")), Number(bins=10), degree=2)
    problem, mechanism = problem_of(queries, 500, neighbours), kind()
    assert isinstance(mechanism, GroupCounters | GaussianGroupCounters)
    records = np.stack([np.repeat([0, 1], [400, 100]), np.arange(500) % 10], axis=1)
    [state] = states(mechanism, problem, records[None])
    release = mechanism.run(state, Preview(seed), 4000)
    noise = release.counters - state.counters
    deviation = mechanism.noise_deviation(problem)
    np.testing.assert_allclose(noise.std(axis=0), deviation, rtol=0.12)
    largest = np.abs(noise).max(axis=(1, 2))
    beta, within = 0.2, mechanism.largest_noise(problem, 0.2)
    assert (largest > within).mean() < beta + 0.03 and (largest > within / 2).mean() > beta
    assert mechanism.noise_deviation(problem) > row_weight(queries) / mechanism.epsilon


def test_the_guarantee_needs_a_declared_smallest_group() -> None:
    line = Number(bins=10)
    unknown = GroupCounters(epsilon=1.0).accuracy(problem_of(queries_of(TWO, line), 1000), 0.05)
    assert unknown.kind == "order only" and "equally many" in unknown.statement and 0.05 < unknown.value < 0.06
    declared = problem_of(queries_of(TWO, line, min_rows=400), 1000)
    bound = GroupCounters(epsilon=1.0).accuracy(declared, 0.05)
    scale = row_weight(queries_of(TWO, line))
    t = GroupCounters(epsilon=1.0).largest_noise(declared, 0.05) / scale
    assert bound.value == pytest.approx(t / (400 - 2 * t) + 1 / 20) and bound.kind == "guarantee"
    assert not bound.applies and "can check" in bound.assumptions[0].text
    # No more than t = ln(2 * counters / beta) / epsilon persons, and with discrete noise nearly ln(counters / beta).
    assert np.log(4 / 0.05) - 0.1 < t <= np.log(2 * 4 / 0.05)
    tiny_groups = problem_of(queries_of(TWO, line, min_rows=5), 1000)
    assert GroupCounters(epsilon=0.5).accuracy(tiny_groups, 0.05).vacuous
    proportions = problem_of(queries_of(TWO, YES, min_rows=400), 1000)
    assert GroupCounters(epsilon=1.0).accuracy(proportions, 0.05).value < bound.value - 0.04, "no cells, no rounding"


@RELATIONS
@pytest.mark.parametrize("kind", [GroupCounters, GaussianGroupCounters])
@pytest.mark.parametrize(("numbers", "degree"), [((1,), 1), ((1,), 3), ((1, 2), 2)])
def test_the_expected_error_is_that_of_the_mean_at_an_end(
    kind: type[Mechanism], neighbours: Neighbours, numbers: tuple[int, ...], degree: int, seed: int
) -> None:
    """4,000 releases of equal groups, all rows in a cell at the end; the half cell is left out on both sides."""
    columns = (TWO, Number(bins=500), Number(bins=500))[: 1 + len(numbers)]
    queries = queries_of(*columns, numbers=numbers, degree=degree)
    problem, mechanism = problem_of(queries, 20_000, neighbours), kind()
    records = np.stack([np.arange(20_000) % 2, *(np.zeros(20_000) for _ in numbers)], axis=1)
    release = released(mechanism, problem, records, sampler=Preview(seed), trials=4000)
    # Not cut off at the bounds: sums are linear.
    found = release.statistics()
    name = "sum" if "sum" in found else "sum of b"
    off = found[name] / found["rows"] - 0.001
    expected = mechanism.accuracy(problem, 0.1).value - 0.001
    assert np.sqrt((off**2).mean()) == pytest.approx(expected, rel=0.06)
