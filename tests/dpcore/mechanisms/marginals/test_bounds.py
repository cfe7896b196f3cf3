"""Bounds on marginals: the tightest that released levels allow, held by every answer at once."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from dpcore import Neighbours, ParameterError
from dpcore.core import Floats
from dpcore.mechanisms.marginals import bounds
from dpcore.mechanisms.marginals.bounds import corners
from dpcore.mechanisms.marginals.plans import MarginalsPlan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.polynomials import BASES, minimax, target
from dpcore.queries.at_least import AtLeast
from tests.dpcore.mechanisms.marginals.test_release import problem_of, released, rows_of, true_answers
from tests.kit.statistics import assert_chance_at_most


@pytest.mark.slow
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(
    ("width", "least", "degree"), [(3, 1, 2), (4, 1, 2), (5, 1, 3), (4, 2, 2), (5, 5, 3), (3, 2, 1)]
)
def test_corners_give_the_tightest_bounds(width: int, least: int, degree: int, basis: str, seed: int) -> None:
    """For 40 laws of the number of set attributes: the extremes over all laws with the same sums, by linear program."""
    polynomial = minimax(width=width, least=least, degree=degree, basis=basis)
    above, below = corners(polynomial)
    counted = range(width + 1) if basis == "ones" else range(width, -1, -1)
    table = np.array([[comb(s, level) for level in (0, *polynomial.levels)] for s in counted], dtype=float)
    wanted = target(width=width, least=least)
    assert (table @ above.T >= wanted[:, None] - 1e-8).all()
    assert (table @ below.T <= wanted[:, None] + 1e-8).all()
    random = np.random.Generator(np.random.SFC64(seed))
    for _ in range(40):
        law = random.dirichlet(np.full(width + 1, 0.5))
        sums = law @ table
        high, low = (above @ sums).min(), (below @ sums).max()
        for sign, found in ((-1, high), (1, low)):
            extreme = linprog(sign * wanted, A_eq=table.T, b_eq=sums, bounds=(0, None))
            assert sign * extreme.fun == pytest.approx(found, abs=1e-6)
        assert low - 1e-9 <= law @ wanted <= high + 1e-9
        assert (high - low) / 2 <= polynomial.gamma + 1e-7, "no worse than the released polynomial's bias"


CASES: list[dict[str, Any]] = [
    {"noise": "laplace", "least": 1, "signed": False},
    {"noise": "laplace", "least": 3, "signed": True},
    {"noise": "gaussian", "least": 1, "signed": False},
    {"noise": "gaussian", "least": 2, "signed": True},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_answer_lies_between_its_bounds(case: dict[str, Any], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 400 releases at most beta have an answer outside; without room for noise nearly all do."""
    rows = rows_of(seed, n=4_000, attributes=8)
    problem = problem_of(8, n=4_000, width=4, least=case["least"], signed=case["signed"])
    mechanism = PolynomialMarginals(epsilon=4.0, noise=case["noise"], method="minimax", degree=2)
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    sets, negated = queries.sets(queries.batch(300))
    truth = true_answers(rows, sets, negated, case["least"])
    release = released(mechanism, problem, rows, seed=seed, trials=400)
    low, high = release.bounds(sets, negated, beta=0.2)
    assert (low <= high + 1e-9).mean() > 0.8
    outside = ((truth < low) | (truth > high)).any(axis=1)
    assert_chance_at_most(int(outside.sum()), trials=400, chance=0.2)
    middle = (low + high) / 2
    assert np.abs(middle - truth).mean() < 0.8 * np.abs(release.answers(sets, negated) - truth).mean()
    # Where degree 3 leaves little room for bias, noise decides.
    closer = PolynomialMarginals(epsilon=1.0, noise=case["noise"], method="minimax", degree=3)
    release = released(closer, problem, rows, seed=seed, trials=400)
    low, high = release.bounds(sets, negated, beta=0.2)
    assert_chance_at_most(int(((truth < low) | (truth > high)).any(axis=1).sum()), trials=400, chance=0.2)
    monkeypatch.setattr(bounds, "_allowed", nothing_allowed)
    low, high = release.bounds(sets, negated, beta=0.2)
    assert ((truth < low) | (truth > high)).any(axis=1).mean() > 0.9, "the control: noise that is not allowed for"


def nothing_allowed(plan: MarginalsPlan, queries: AtLeast, beta: float) -> tuple[Floats, Floats]:
    """Return the bounds without allowances for noise."""
    assert plan.polynomial is not None
    above, below = corners(plan.polynomial)
    return np.zeros(len(above)), np.zeros(len(below))


def test_bounds_need_a_polynomial_and_whole_queries(seed: int) -> None:
    rows = rows_of(seed, n=500, attributes=5)
    problem = problem_of(5, n=500, width=3, neighbours=Neighbours.ADD_REMOVE_ONE)
    direct = released(PolynomialMarginals(method="direct"), problem, rows, seed=seed, trials=2)
    ours = released(PolynomialMarginals(method="minimax", degree=1), problem, rows, seed=seed, trials=2)
    for release, sets in ((direct, np.array([[0, 1, 2]])), (ours, np.array([[0, 1]]))):
        with pytest.raises(ParameterError, match="queries of 3 attributes"):
            release.bounds(sets)
    low, high = ours.bounds(np.array([[0, 1, 2]]))
    assert low.shape == high.shape == (2, 1)
    constant = released(PolynomialMarginals(epsilon=0.001), problem, rows, seed=seed, trials=2)
    assert not constant.levels
    assert [float(each[0, 0]) for each in constant.bounds(np.array([[0, 1, 2]]))] == [0.0, 1.0]
