"""How far noise may stray: promises against the exact law of the sums, where a union bound is nearly the truth."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from dpcore import Dataset, Neighbours, Preview, Problem, Provenance, ProvenanceKind
from dpcore.core import Floats
from dpcore.data.lists import DecisionLists
from dpcore.data.product import Product
from dpcore.mechanisms.marginals import bounds
from dpcore.mechanisms.marginals.bounds import corners
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.list_polynomials import SCALE
from dpcore.mechanisms.marginals.plans import MarginalsPlan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.polynomials import BASES, minimax, target
from dpcore.mechanisms.marginals.tails import allowances, worst_laplace, worst_noise
from dpcore.mechanisms.tables.direct_and_fourier import FourierTables
from dpcore.queries.at_least import AtLeast
from dpcore.queries.inputs import Inputs
from dpcore.randomness.laws import gaussian_masses, laplace_mass, laplace_tail
from tests.kit.attribute_tables import problem_of

FINE = 64
"""Weights are multiples of 1/64, so that every sum is a whole number of these."""


def chance_beyond(level: float, draws: list[tuple[float, int, float]], *, kind: str) -> float:
    """Pr[sum > level], exactly: draws are (weight, how many, scale) of discrete Laplace or Gaussian noise."""
    law = np.ones(1)
    for weight, many, scale in draws:
        step = round(weight * FINE)
        assert step == pytest.approx(weight * FINE)
        reach = int(50 * scale) if kind == "laplace" else int(12 * scale) + 2
        if kind == "laplace":
            masses = laplace_mass(np.arange(-reach, reach + 1), scale=scale)
        else:
            centre, every = gaussian_masses(scale)
            masses = every[centre - reach : centre + reach + 1]
        for _ in range(many):
            wider = np.zeros(len(law) + 2 * reach * step)
            for place, mass in enumerate(masses):
                wider[place * step : place * step + len(law)] += mass * law
            law = wider
    sums = (np.arange(len(law)) - len(law) // 2) / FINE
    return float(law[sums > level + 1e-9].sum())


DRAWS = [(1.0, 2, 3.0), (0.75, 3, 2.0)]


@pytest.mark.parametrize("beta", [0.2, 1e-5])
def test_no_sum_of_many_exceeds_what_is_told(beta: float) -> None:
    """Of independent sums nearly the whole union bound is used: each must stay within its share of beta."""
    for queries in (1, 20_000):
        level = worst_laplace(DRAWS, queries=queries, beta=beta)
        share = 2 * queries * chance_beyond(level, DRAWS, kind="laplace")
        assert 0.005 * beta < share <= beta
    few = worst_laplace(DRAWS, queries=100, beta=beta)
    assert 2 * 20_000 * chance_beyond(few, DRAWS, kind="laplace") > beta, "the control: told for fewer sums"


def polynomial_plan(noise: str) -> tuple[MarginalsPlan, AtLeast]:
    """Any of three of twenty attributes at degree two, with noise of few rows."""
    cube = Product.yes_no([f"a{place}" for place in range(20)])
    queries = AtLeast(domain=cube, width=3, least=1)
    problem = Problem(domain=cube, queries=queries, n=1_000)
    mechanism = PolynomialMarginals(epsilon=20.0, delta=1e-3, noise=noise, method="minimax", degree=2, basis="ones")
    return mechanism.plan(problem), queries


def exact_draws(plan: MarginalsPlan, weights: Floats) -> list[tuple[float, int, float]]:
    """One answer's noise, level by level."""
    parts = zip(weights, plan.parts, plan.noise, strict=True)
    return [(abs(float(weight)), part, noise.scale) for weight, part, noise in parts if weight]


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.2, 1e-6])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_worst_answer_strays_no_further_than_told(noise: str, beta: float) -> None:
    plan, queries = polynomial_plan(noise)
    draws = exact_draws(plan, np.array(plan.weights))
    assert len(draws) == 2
    level = worst_noise(plan, queries, laplace=noise == "laplace", beta=beta)
    share = 2 * queries.count * chance_beyond(level, draws, kind=noise)
    assert 0.005 * beta < share <= beta
    closer = 2 * queries.count * chance_beyond(0.7 * level, draws, kind=noise)
    assert closer > beta, "the control: less room than told"


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.1, 1e-6])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_all_combinations_share_what_is_allowed(noise: str, beta: float) -> None:
    """One side of three combinations of every query: their chances of straying add up to beta at most."""
    plan, queries = polynomial_plan(noise)
    combinations = np.array([[1.0, -0.5], [0.25, 0.0], [0.5, -1.0]])
    allowed = allowances(combinations, plan, queries, beta=beta)
    chances = [
        chance_beyond(level, exact_draws(plan, weights), kind=noise)
        for level, weights in zip(allowed, combinations, strict=True)
    ]
    assert 0.005 * beta < queries.count * sum(chances) <= beta
    single = allowances(combinations[:1], plan, queries, beta=beta)[0]
    assert single < allowed[0], "one combination has all of beta to itself"
    assert allowances(np.zeros((1, 2)), plan, queries, beta=beta).tolist() == [0.0]


def test_bounds_share_beta_between_their_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, queries = polynomial_plan("laplace")
    shares: list[float] = []

    def noted(combinations: Floats, *told: Any, beta: float) -> Floats:
        shares.append(beta)
        return np.zeros(len(combinations))

    monkeypatch.setattr(bounds, "allowances", noted)
    bounds._allowed.__wrapped__(plan, queries, 0.1)
    assert len(shares) == 2
    assert sum(shares) <= 0.1


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(("width", "least", "degree"), [(8, 1, 3), (10, 3, 4), (12, 12, 2), (12, 1, 5)])
def test_no_corner_crosses_the_target_of_wide_queries(width: int, least: int, degree: int, basis: str) -> None:
    polynomial = minimax(width=width, least=least, degree=degree, basis=basis)
    counted = range(width + 1) if basis == "ones" else range(width, -1, -1)
    table = np.array([[comb(s, level) for level in (0, *polynomial.levels)] for s in counted], dtype=float)
    wanted = target(width=width, least=least)[:, None]
    above, below = corners(polynomial)
    assert len(above) > 1 and len(below) > 1
    assert (table @ above.T - wanted).min() > -1e-8
    assert (table @ below.T - wanted).max() < 1e-8


@pytest.mark.parametrize("beta", [0.2, 1e-6])
def test_no_coefficient_exceeds_what_fourier_tables_are_told(beta: float) -> None:
    """A cell is a mean of coefficients, so that the worst coefficient decides: its chance is exact."""
    for ways in (1, 3):
        problem = problem_of((2,) * 10, ways=ways, n=1_000, neighbours=Neighbours.REPLACE_ONE)
        mechanism = FourierTables(epsilon=1.0, noise="laplace")
        numbers = mechanism.plan(problem).numbers
        sensitivity = mechanism._plan(problem)[1]
        rows = mechanism.accuracy(problem, beta).value * 1_000
        chance = numbers * 2 * float(laplace_tail(np.floor(rows) + 1, scale=sensitivity / mechanism.epsilon))
        assert 0.1 * beta < chance <= beta


def test_all_inputs_of_decision_lists_share_beta() -> None:
    domain = DecisionLists(names=tuple(f"v{place}" for place in range(10)), rules=2)
    problem = Problem(domain=domain, queries=Inputs(domain=domain), n=1_000)
    mechanism = DecisionListMarginals(epsilon=1.0, degree=1)
    plan = mechanism.plan(problem)
    terms = [(1.0, comb(10, noise.level), noise.scale) for noise in plan.noise]
    told = mechanism.accuracy(problem, 0.01).value - plan.gamma
    assert told == pytest.approx(worst_laplace(terms, queries=1 << 10, beta=0.01) / (SCALE * 1_000))


def test_lists_of_more_rules_than_variables_need_fewer_levels() -> None:
    domain = DecisionLists(names=("v0", "v1"), rules=4)
    problem = Problem(domain=domain, queries=Inputs(domain=domain), n=1)
    mechanism = DecisionListMarginals(epsilon=20.0, degree=4, noise_aware=False)
    assert [noise.level for noise in mechanism.plan(problem).noise] == [0, 1, 2]
    row = np.array([[4, 1, 4, 2, 0, 1, 0, 0, 1]])  # else if v1: yes; else if not v0: no; else yes
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="test")
    release = mechanism.run(mechanism.prepare(Dataset(domain, row, provenance), problem), Preview(1), 4_000)
    answers = release.answers(np.arange(4))
    spread = answers.std(axis=0) / np.sqrt(4_000)
    assert (np.abs(answers.mean(axis=0) - [0, 1, 1, 1]) <= 6 * spread).all()
    assert (np.abs(answers - [0, 1, 1, 1]).max(axis=1) > mechanism.accuracy(problem, 0.2).value).mean() < 0.2
