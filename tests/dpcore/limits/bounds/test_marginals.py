"""The wall of marginals: no promise is below it, and noise that knows no data crosses it no oftener than it may."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Preview, Problem, catalogue, entry
from dpcore.core import Dataset, Entry, Floats, ParameterError, Provenance, ProvenanceKind
from dpcore.data.product import Product
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.queries.at_least import AtLeast
from dpcore.queries.marginals import Marginals as Tables
from tests.cases import full_but, one_relation
from tests.kit.attribute_tables import domain_of
from tests.kit.statistics import SIGNIFICANCE, assert_chance_at_most, binomial_tail

BETAS = (0.05, 0.3)
EPSILONS, DELTAS = (0.01, 0.3, 1.0, 10.0), (1e-9, 1e-3)
OF_CUBES = [each for each in catalogue() if AtLeast in each.queries]
OF_TABLES = [each for each in catalogue() if Tables in each.queries]
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def cube(attributes: int) -> Product:
    return Product.yes_no([f"a{i}" for i in range(attributes)])


def settings(chosen: Entry) -> list[dict[str, Any]]:
    """Parameters of a mechanism."""
    varied = {"epsilon": EPSILONS, "delta": DELTAS, "noise": ("laplace", "gaussian")}
    names = [name for name in varied if name in chosen.controls()]
    return [dict(zip(names, values, strict=True)) for values in product(*(varied[name] for name in names))]


def assert_above_the_wall(chosen: Entry, problem: Problem) -> int:
    """No promise of the entry is below the bound, at any setting; how many were compared."""
    compared = 0
    for values, beta in product(settings(chosen), BETAS):
        mechanism = chosen.make(**values)
        bound, lower = mechanism.accuracy(problem, beta), None
        if bound.applies or problem.neighbours is Neighbours.ADD_REMOVE_ONE:
            lower = lower_bound(problem, mechanism.guarantee(problem), beta=beta)
        if lower is not None:
            assert bound.value >= lower.value, (chosen.key, problem, values, beta)
            compared += 1
    return compared


@pytest.mark.slow
@pytest.mark.parametrize("chosen", OF_CUBES, ids=lambda each: each.key)
@one_relation
@pytest.mark.parametrize("n", full_but([3, 1_000_000], 1_000_000))
def test_no_promise_on_queries_is_below(chosen: Entry, neighbours: Neighbours, n: int) -> None:
    compared = 0
    for d, k in ((1, 1), (3, 1), (3, 2), (3, 3), (9, 4), (24, 3)):
        for least, signed in product(sorted({1, (k + 1) // 2, k}), (False, True)):
            domain = cube(d)
            queries = AtLeast(domain=domain, width=k, least=least, signed=signed)
            problem = Problem(domain=domain, queries=queries, n=n, neighbours=neighbours)
            compared += assert_above_the_wall(chosen, problem)
    assert compared > 60


@pytest.mark.slow
@pytest.mark.parametrize("chosen", OF_TABLES, ids=lambda each: each.key)
@one_relation
@pytest.mark.parametrize("n", full_but([3, 1_000_000], 1_000_000))
def test_no_promise_on_tables_is_below(chosen: Entry, neighbours: Neighbours, n: int) -> None:
    compared = 0
    for sizes, ways in (((2,), 1), ((2, 2), 1), ((2, 2, 2), 2), ((2,) * 6, 3), ((3, 5, 4), 2), ((40,), 1)):
        domain = domain_of(sizes)
        problem = Problem(domain=domain, queries=Tables(domain=domain, ways=ways), n=n, neighbours=neighbours)
        try:
            compared += assert_above_the_wall(chosen, problem)
        except ParameterError:
            assert chosen.key == "fourier-tables" and set(sizes) != {2}
    assert compared > 50


def test_a_promise_that_does_not_keep_its_privacy_is_below() -> None:
    """The control: what ε = 10 promises is impossible for a mechanism that claims ε = 0.01."""
    domain = cube(9)
    problem = Problem(domain=domain, queries=AtLeast(domain=domain, width=2), n=1_000_000)
    for key in ("marginals-direct", "marginals-polynomial-gaussian"):
        claimed = lower_bound(problem, entry(key).make(epsilon=0.01).guarantee(problem), beta=0.05)
        assert claimed is not None
        assert entry(key).make(epsilon=10.0).accuracy(problem, 0.05).value < claimed.value


def unmoved(chosen: str, values: dict[str, Any], problem: Problem, *, trials: int, seed: int) -> Floats:
    """Worst errors of releases whose noise knows nothing of the data, before anything is done to answers, (T,)."""
    mechanism: Any = entry(chosen).make(**values)
    queries = problem.queries
    if isinstance(queries, AtLeast):
        records = np.zeros((problem.n, queries.domain.attributes), dtype=np.bool_)
        dataset = Dataset(problem.domain, records, GENERATED)
        sets, negated = queries.sets(np.arange(queries.count))
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)
        truth = (negated.sum(axis=1) >= queries.least).astype(float)
        worst: Floats = np.abs(release.answers(sets, negated) - truth).max(axis=1)
        return worst
    assert isinstance(queries, Tables)
    records = np.zeros((problem.n, len(queries.domain.sizes)), dtype=np.int64)
    release = mechanism.run(
        mechanism.prepare(Dataset(problem.domain, records, GENERATED), problem), Preview(seed), trials
    )
    worst = np.zeros(trials)
    for chosen_set in queries.sets():
        errors = release.unbiased(chosen_set)
        errors[(slice(None), *(0 for _ in chosen_set))] -= problem.n
        worst = np.maximum(worst, np.abs(errors).reshape(trials, -1).max(axis=1) / problem.n)
    return worst


PAIR = domain_of((2, 2))
CASES: list[tuple[str, dict[str, Any], Problem]] = [
    ("marginals-direct", {}, Problem(domain=cube(1), queries=AtLeast(domain=cube(1), width=1), n=1_000)),
    ("marginals-direct", {}, Problem(domain=cube(3), queries=AtLeast(domain=cube(3), width=2, signed=True), n=1_000)),
    (
        "marginals-direct",
        {"noise": "gaussian", "delta": 1e-3},
        Problem(domain=cube(2), queries=AtLeast(domain=cube(2), width=1), n=1_000),
    ),
    *[
        (key, {"delta": 1e-3}, Problem(domain=PAIR, queries=Tables(domain=PAIR, ways=1), n=1_000))
        for key in ("direct-tables", "fourier-tables", "residual-planner")
    ],
]


@pytest.mark.parametrize(("chosen", "values", "problem"), CASES, ids=[f"{each[0]}-{i}" for i, each in enumerate(CASES)])
@pytest.mark.parametrize("beta", [0.05, 0.2])
def test_noise_that_knows_no_data_stays_on_the_possible_side(
    chosen: str, values: dict[str, Any], problem: Problem, beta: float, seed: int
) -> None:
    """Such noise errs alike on all data, so that staying below the wall with chance above 1 - β were a promise."""
    trials = 4_000
    values = {"epsilon": 0.1, **values}
    lower = lower_bound(problem, entry(chosen).make(**values).guarantee(problem), beta=beta)
    assert lower is not None
    below = int((unmoved(chosen, values, problem, trials=trials, seed=seed) < lower.value).sum())
    assert_chance_at_most(below, trials=trials, chance=1 - beta)
    # The control: a hundred times the privacy loss that is claimed.
    louder = {**values, "epsilon": 100 * values["epsilon"]}
    below = int((unmoved(chosen, louder, problem, trials=trials, seed=seed) < lower.value).sum())
    assert binomial_tail(below, trials=trials, chance=1 - beta) < SIGNIFICANCE
