"""Worst errors of many releases of marginals: few counts are drawn, and the law is that of whole releases."""

from __future__ import annotations

import numpy as np
import pytest

import dplab.marginals_worst as worst
from dpcore import Dataset, Preview, Problem
from dpcore.data.product import Product
from dpcore.mechanisms.marginals.plans import Budget, plan_for
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.queries.at_least import AtLeast
from dplab.marginals_worst import MAX_TRIALS, MIN_TRIALS, queries_read, readings, trials_for, worst_errors
from dplab.measure import finish
from tests.kit.attribute_tables import GENERATED


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_blocks_and_unread_counts_do_not_change_the_law(noise: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few queries, noise only where they read, release by release: moments as in whole releases of everything."""
    domain, n, trials = Product.yes_no([f"a{i}" for i in range(12)]), 4_000, 3_000
    queries = AtLeast(domain=domain, width=5)
    problem = Problem(domain=domain, queries=queries, n=n)
    mechanism = PolynomialMarginals(noise=noise, method="minimax", degree=2)
    plan, few = mechanism.plan(problem), queries.batch(1 << 20)[::100]
    assert plan.polynomial is not None
    no_attributes = Dataset(domain, np.zeros((n, 12), dtype=np.bool_), GENERATED)
    release = mechanism.run(mechanism.prepare(no_attributes, problem), Preview(seed), trials)
    noises = release.answers(*queries.sets(few)) - plan.polynomial.values[0]
    whole = np.abs(np.clip(0.5 + noises, 0.0, 1.0) - 0.5).max(axis=1)

    read, half = readings(plan, queries, few), np.full(len(few), 0.5)
    assert len(read[-1].counts) < 12 * 11 // 2, "some counts are read by none of the few"
    monkeypatch.setattr(worst, "AT_ONCE", 700)
    found = finish(worst_errors(plan, read, middle=half, truth=half, n=n, seed=seed + 1, trials=trials))
    np.testing.assert_allclose([found.mean(), found.std()], [whole.mean(), whole.std()], rtol=0.08)


@pytest.mark.slow
def test_few_releases_and_few_queries_where_much_is_added_up() -> None:
    domain = Product.yes_no([f"a{i}" for i in range(40)])
    queries = AtLeast(domain=domain, width=12)
    problem = Problem(domain=domain, queries=queries, n=1_000_000)
    plan = plan_for(problem, Budget(epsilon=10.0, delta=1e-6), method="minimax", degree=4, basis="ones")
    indices = queries.batch(10_000)
    places = queries_read(plan, indices)
    assert len(places) == worst.MAX_READ // sum(plan.parts) < 10_000 and len(np.unique(places)) == len(places)
    read = readings(plan, queries, indices[places])
    assert sum(each.matrix.nnz for each in read) <= worst.MAX_READ
    assert trials_for(read) == MIN_TRIALS and trials_for(readings(plan, queries, indices[:20])) <= MAX_TRIALS
