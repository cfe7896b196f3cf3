"""Slopes from a released table: those of the rows without noise, exact noise, and intervals that hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore.core import Dataset, Floats, Integers, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.rows_release import count_cells
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Preview
from dplab.utility.models import fit
from dplab.utility.pair_slopes import _factors, fit_pair, number_pairs

DOMAIN = Product(
    names=("age", "town", "pay"),
    columns=(
        Number(low=0, high=80, bits=3, missing=True),
        Labels(labels=("n", "s")),
        Number(low=0, high=160, bits=4, missing=True),
    ),
)
PAIR, SIZES, N, TRIES = (0, 2), (9, 17), 3000, 300
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))


def people(n: int, *, seed: int) -> Integers:
    """Rows of which a fifth lack the age, more often with high pay, and some the pay."""
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 8, n)
    pay = np.clip(np.rint(4 + age + draw.normal(0, 2, n)), 0, 15).astype(np.int64)
    age[draw.random(n) < 0.2 + 0.2 * (pay > 10)] = 8
    pay[draw.random(n) < 0.1] = 16
    return np.stack([age, draw.integers(0, 2, n), pay], axis=1)


def released(
    rows: Integers, mechanism: ResidualPlanner, neighbours: Neighbours, *, seed: int, trials: int = 1
) -> Floats:
    problem = problem_of(len(rows), neighbours)
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="people")
    data = Dataset(domain=DOMAIN, records=rows.astype(np.uint16), provenance=provenance)
    return mechanism.run(mechanism.prepare(data, problem), Preview(seed), trials).unbiased(PAIR)


def problem_of(n: int, neighbours: Neighbours) -> Problem:
    return Problem(domain=DOMAIN, queries=Marginals(domain=DOMAIN, ways=2), n=n, neighbours=neighbours)


@every_relation
def test_without_noise_it_is_the_line_of_the_rows_that_have_both_numbers(neighbours: Neighbours) -> None:
    rows, mechanism = people(N, seed=1), ResidualPlanner(epsilon=1.0, delta=1e-6)
    plan = replace(mechanism.plan(problem_of(N, neighbours)), parts=())
    found = fit_pair(DOMAIN, plan, count_cells(rows, PAIR, SIZES).astype(np.float64), PAIR)
    expected = fit(DOMAIN, rows, outcome=2, regressors=(0,))
    assert found.names == expected.names and found.rows == expected.rows < 0.75 * N
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=0.01)


@every_relation
def test_weighted_sums_have_the_covariance_of_releases(neighbours: Neighbours) -> None:
    """Of 20,000 releases of two rows; without what both columns say together it is another."""
    mechanism = ResidualPlanner(epsilon=0.5, delta=1e-6)
    weights = np.random.default_rng(1).normal(1, 1, (4, *SIZES))
    tables = released(people(2, seed=1), mechanism, neighbours, seed=2, trials=20_000)
    observed = np.cov(np.einsum("kst,nst->kn", weights, tables))
    factors = _factors(weights, mechanism.plan(problem_of(2, neighbours)), PAIR)
    spread = np.sqrt(np.outer(np.diag(observed), np.diag(observed)))
    assert (np.abs(factors.T @ factors - observed) <= 0.05 * spread).all()
    few = factors[: 1 + sum(SIZES)]
    assert (np.abs(few.T @ few - observed) > 0.1 * spread).any()


@pytest.mark.slow
@every_relation
def test_intervals_hold_and_those_that_forget_the_noise_do_not(neighbours: Neighbours) -> None:
    truth = fit(DOMAIN, people(1_000_000, seed=0), outcome=2, regressors=(0,)).values[1]
    mechanism, held = ResidualPlanner(epsilon=0.3, delta=1e-6), np.zeros((2, TRIES))
    plan = mechanism.plan(problem_of(N, neighbours))
    for place in range(TRIES):
        [table] = released(people(N, seed=1000 + place), mechanism, neighbours, seed=5000 + place)
        for kind, known in enumerate((plan, replace(plan, parts=()))):
            low, high = fit_pair(DOMAIN, known, table, PAIR).interval()[1]
            held[kind, place] = low <= truth <= high
    right, wrong = held.mean(axis=1)
    assert right >= 0.92, right
    assert wrong < 0.8, wrong


def test_where_the_noise_hides_the_regressor_nothing_is_said() -> None:
    mechanism, added = ResidualPlanner(epsilon=0.01, delta=1e-6), Neighbours.ADD_REMOVE_ONE
    [table] = released(people(300, seed=1), mechanism, added, seed=1)
    with pytest.raises(ParameterError, match="With this noise nothing can be said"):
        fit_pair(DOMAIN, mechanism.plan(problem_of(300, added)), table, PAIR)
    with pytest.raises(ParameterError, match="one column of numbers given another"):
        fit_pair(DOMAIN, mechanism.plan(problem_of(300, added)), table, (0, 1))
    assert number_pairs(DOMAIN) == [PAIR]
