"""Means of groups in many releases: which groups are declared, which intervals hold, and the population's means."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import Preview
from dpcore.core import Dataset, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.release import GroupState
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.group_means import declared_groups, intervals_hold, released_means, true_means
from dplab.intervals.interval import Kind, level_each
from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.population import population_mean
from dplab.measure import finish
from tests.dplab.intervals.coverage import refuted, released
from tests.dplab.intervals.test_coverage import bernstein

GROUPS = 32
TABLE = Product(
    names=("region", "sex", "pay"),
    columns=(Labels(labels=tuple(map(str, range(GROUPS // 2)))), Labels(yes_no=True), Number(high=32, bins=32)),
)


def prepared(mechanism: GroupMechanism, *, degree: int, rows: int = 80, seed: int = 1) -> GroupState:
    """Counters of so many rows in each declared group, and of none in the others."""
    groups = np.repeat(np.arange(GROUPS), rows)
    pay = np.random.default_rng(seed).binomial(31, 0.3, len(groups))
    records = np.stack([groups // 2, groups % 2, pay], axis=1).astype(np.int64)
    dataset = Dataset(TABLE, records, Provenance(kind=ProvenanceKind.GENERATED, title="pay"))
    queries = GroupStatistics(domain=TABLE, degree=degree)
    problem = Problem(domain=TABLE, queries=queries, n=dataset.n, neighbours=Neighbours.ADD_REMOVE_ONE)
    return mechanism.prepare(dataset, problem)


def test_declared_groups_are_in_order_and_reserved_cells_are_none() -> None:
    queries = GroupStatistics(domain=TABLE)
    names = [queries.describe(int(group)) for group in declared_groups(queries)]
    assert len(names) == GROUPS < queries.count and names[:3] == ["0, no", "0, yes", "1, no"]


@pytest.mark.parametrize("mechanism", [GroupCounters(epsilon=1.0), GaussianGroupCounters(epsilon=1.0, delta=1e-6)])
def test_intervals_of_32_groups_hold_together_far_more_rarely_than_each_one(
    mechanism: GroupMechanism, seed: int
) -> None:
    state = prepared(mechanism, degree=1, rows=120)
    queries = state.problem.queries
    assert isinstance(queries, GroupStatistics)
    groups = declared_groups(queries)
    held = finish(intervals_hold(mechanism, state, Preview(seed), trials=100, level=0.95))[:, groups]
    assert not refuted(held, level=0.95) and refuted(held.all(axis=1), level=0.95), "the control"
    each = level_each(0.95, independent=GROUPS)
    together = finish(intervals_hold(mechanism, state, Preview(seed), trials=100, level=each))[:, groups]
    assert not refuted(together.all(axis=1), level=0.95)


def test_a_group_without_rows_has_no_mean_to_miss() -> None:
    mechanism = GroupCounters(epsilon=1.0)
    state = prepared(mechanism, degree=1)
    rows, means = true_means(state)
    held = finish(intervals_hold(mechanism, state, Preview(1), trials=60, level=0.9))
    assert (rows == 0).sum() == len(rows) - GROUPS and np.isnan(means[rows == 0]).all()
    assert held.shape == (60, len(rows)) and held[:, rows == 0].all() and not held[:, rows > 0].all()


def test_the_population_s_intervals_come_with_the_variance_of_degree_2() -> None:
    mechanism = GroupCounters(epsilon=1.0)
    alone = prepared(mechanism, degree=1)
    assert released_means(mechanism, mechanism.run(alone, Preview(1), 2), level=0.95).sampling is None
    state = prepared(mechanism, degree=2)
    release = mechanism.run(state, Preview(1), 100)
    found = released_means(mechanism, release, level=0.95)
    assert found.sampling is not None and found.sampling.kind is Kind.ASYMPTOTIC
    said = ~found.noise.says_nothing
    ratio = found.sampling.half_width[said] / found.noise.half_width[said]
    assert ratio.min() > 0.97 and np.median(ratio) > 1.01
    lost = said & ~(release.statistics()["variance"] > 0)
    assert lost.any(), "noise hides the variance of some groups, which are given the largest one"
    assert (found.sampling.half_width > 1.02 * found.noise.half_width)[lost].all()


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_means_of_a_population_are_covered_by_bernstein_counters(epsilon: float, seed: int) -> None:
    rows, weight, mean, variance = 400, 64, 1 / 3, 1 / 18
    generator = np.random.default_rng(seed)
    samples = [bernstein(generator.beta(1, 2, rows), weight) for _ in range(200)]
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=weight**2)
    drawn = np.concatenate([released(each, noise, seed=seed + place, trials=20) for place, each in enumerate(samples)])

    def covered(of_row: float) -> float:
        found = population_mean(drawn, noise, weight=weight**2, level=0.95, variance=np.array(of_row))
        return float(found.contains(mean).mean())

    assert 0.93 < covered(variance) < 0.975 and covered(0.0) < 0.9, "the control leaves sampling out"
    with pytest.raises(ParameterError):
        population_mean(np.ones((3, 1)), noise, weight=1, level=0.95)
