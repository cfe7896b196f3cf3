"""The pictures of the Marginals page: their numbers are the core's, their sentences true, specs whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Preview, Problem
from dpcore.cube import Cube
from dpcore.figures.marginals import ADDED, SPENT, between, level_bars, step_curve
from dpcore.figures.marginals_errors import BY_POLYNOMIAL, DIRECTLY, PREDICTED, SHARES, WORST, error_curves
from dpcore.figures.marginals_lists import shares_scatter
from dpcore.figures.marginals_map import row_grid, winners_map
from dpcore.marginals.plans import Budget, direct_plan, plan_for, polynomial_plan
from dpcore.marginals.polynomials import minimax
from dpcore.marginals.preview import DIRECT, NEITHER, best_along, crossover, direct_answers, released_counts, sampled
from dpcore.marginals.queries import AtLeast
from tests.test_figures_robust_sparse import sound

SHOWN: dict[str, Any] = {"badge": "simulated: test", "dark": False}


def problem_of(*, attributes: int = 20, width: int = 4, n: int = 30_000, signed: bool = False) -> Problem:
    domain = Cube(names=tuple(f"a{i}" for i in range(attributes)))
    return Problem(domain=domain, queries=AtLeast(domain=domain, width=width, signed=signed), n=n)


def test_the_curve_goes_through_the_polynomial_s_values() -> None:
    polynomial = minimax(width=5, least=1, degree=2, basis="ones")
    places = np.arange(6, dtype=np.float64)
    np.testing.assert_allclose(between(np.array(polynomial.values), places), polynomial.values)
    halves = between(np.array(polynomial.values), places + 0.5)
    np.testing.assert_allclose(np.polynomial.Polynomial.fit(places, polynomial.values, 2)(places + 0.5), halves)
    figure = sound(step_curve(polynomial=polynomial, used=True, **SHOWN))
    assert "degree 2" in figure.sentence and "γ = 0.222" in figure.sentence and "not used" not in figure.sentence
    assert figure.table["wanted"] == [0, 1, 1, 1, 1, 1]
    exact = step_curve(polynomial=minimax(width=3, least=1, degree=3, basis="ones"), used=False, **SHOWN)
    assert "without any bias. It is not used here" in sound(exact).sentence


@pytest.mark.parametrize("budget", [Budget(epsilon=1.0), Budget(epsilon=1.0, delta=1e-6)], ids=["laplace", "gaussian"])
def test_levels_share_the_budget_and_the_variance(budget: Budget) -> None:
    problem = problem_of()
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    plan = polynomial_plan(problem, budget, minimax(width=4, least=1, degree=3, basis="ones"))
    figure = sound(level_bars(plan=plan, counts=released_counts(plan, queries), **SHOWN))
    assert figure.table["counts"] == [20, 190, 1140]
    for share in (SPENT, ADDED):
        assert sum(figure.table[share]) == pytest.approx(1, abs=1e-3)
    # The best split of Laplace noise spends on each level what it adds to the variance; of Gaussian noise too.
    np.testing.assert_allclose(figure.table[SPENT], figure.table[ADDED], rtol=2e-2)
    empty = polynomial_plan(problem, budget, minimax(width=4, least=1, degree=0, basis="ones"))
    assert "Nothing is released" in sound(level_bars(plan=empty, counts=[], **SHOWN)).sentence


def test_errors_are_drawn_as_quantiles() -> None:
    problem = problem_of()
    budget = Budget(epsilon=1.0)
    plan, direct = plan_for(problem, budget), direct_plan(problem, budget)
    random = np.random.Generator(np.random.SFC64(5))
    errors, others = np.abs(random.normal(0, 0.01, 500)), np.abs(random.normal(0, 0.2, 500))
    figure = sound(
        error_curves(
            polynomial=errors, middle=errors / 2, direct=others, plan=plan, direct_plan=direct, laplace=True, **SHOWN
        )
    )
    np.testing.assert_allclose(figure.table[f"error, {BY_POLYNOMIAL}"], np.quantile(errors, SHARES), rtol=1e-3)
    np.testing.assert_allclose(figure.table[f"error, {DIRECTLY}"], np.quantile(others, SHARES), rtol=1e-3)
    assert f"{100 * np.quantile(errors, 0.95):.3g}% by the polynomial" in figure.sentence
    assert f"{50 * np.quantile(errors, 0.95):.3g}% between its bounds" in figure.sentence


@pytest.mark.parametrize(
    ("error", "n", "left"), [(0.02, 20_000, 1e-4), (3e-5, 10**6, 1e-6), (1e-9, 10**6, 1e-7), (0.0, 10**6, 1e-7)]
)
def test_the_axis_reaches_as_far_as_errors_and_the_legend_names_the_rule(error: float, n: int, left: float) -> None:
    problem = problem_of(n=n)
    budget = Budget(epsilon=10.0)
    plan, direct = plan_for(problem, budget, method="minimax"), direct_plan(problem, budget)
    errors = np.full(100, error)
    figure = sound(error_curves(polynomial=errors, direct=errors, plan=plan, direct_plan=direct, laplace=True, **SHOWN))
    curves, rule = figure.spec["layer"]
    for layer in (curves, rule):
        x, domain = layer["encoding"]["x"], layer["encoding"]["color"]["scale"]["domain"]
        assert x["scale"]["domain"] == [pytest.approx(left), 1] and min(x["axis"]["values"]) >= 0.99 * left
        assert len(x["axis"]["values"]) <= 6 and WORST in domain
    [mark] = figure.spec["datasets"]["marks"]
    assert mark == {"x": pytest.approx(plan.predicted), "curve": WORST}
    assert min(each["error"] for each in figure.spec["datasets"]["curves"]) >= 0.99 * left


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("signed", [False, True])
def test_predicted_direct_errors_are_those_of_direct_previews(delta: float, signed: bool) -> None:
    """50,000 answers: their quantiles within 3% of the curve (whole noise is rounded, so not the smallest)."""
    problem = problem_of(n=20_000, signed=signed)
    direct = direct_plan(problem, Budget(epsilon=1.0, delta=delta))
    truth = np.full(50_000, 0.5)
    errors = np.abs(direct_answers(direct, truth, n=problem.n, sampler=Preview(3)) - truth)
    assert errors.std() > 0
    figure = error_curves(polynomial=None, direct=errors, plan=direct, direct_plan=direct, laplace=not delta, **SHOWN)
    drawn, seen = np.array(figure.table[f"error, {PREDICTED}"]), np.array(figure.table[f"error, {DIRECTLY}"])
    kept = (SHARES > 0.2) & (SHARES < 0.98) & (drawn < 1)
    assert kept.sum() > 10
    np.testing.assert_allclose(seen[kept], drawn[kept], rtol=0.03)


def test_the_map_says_who_wins() -> None:
    problem, budget = problem_of(attributes=32, width=5, n=100_000), Budget(epsilon=1.0)
    places = crossover(problem, budget, rows=row_grid(), widths=list(range(1, 9)), degree=3)
    found, errors_here = best_along(problem, budget, rows=np.array([100_000]), degree=3)
    here, error = found[0], float(errors_here[0])
    figure = sound(winners_map(places=places, n=problem.n, width=5, here=here, **SHOWN))
    assert len(places) == 8 * len(row_grid()) and here == "degree 2"
    assert "the least predicted error is by polynomial, degree 2" in figure.sentence
    winners = {(place["n"], place["width"]): place["winner"] for place in places}
    assert winners[1e8, 1.0] == winners[1e8, 2.0] == DIRECT, "few attributes, many rows: nothing is extrapolated"
    assert winners[1e3, 8.0] in (NEITHER, "degree 1")
    errors = {(place["n"], place["width"]): float(place["error"]) for place in places}
    for width in range(1, 9):
        along = [errors[n, float(width)] for n in row_grid().astype(float).tolist()]
        assert along == sorted(along, reverse=True), "more rows never hurt"
    # The noise-aware polynomial can only be better than the minimax ones of the map.
    assert plan_for(problem, budget).predicted <= error + 1e-6
    assert plan_for(problem, budget).predicted == pytest.approx(error, rel=0.1)


def test_all_of_stays_all_of_on_the_map() -> None:
    domain = Cube(names=tuple(f"a{i}" for i in range(12)))
    queries = AtLeast(domain=domain, width=4, least=4)
    problem = Problem(domain=domain, queries=queries, n=10_000, neighbours=Neighbours.ADD_REMOVE_ONE)
    mirrored = Problem(domain=domain, queries=AtLeast(domain=domain, width=4), n=10_000)
    budget = Budget(epsilon=1.0)
    rows, widths = np.array([1_000, 10_000]), [2, 4, 6]
    all_of = crossover(problem, budget, rows=rows, widths=widths, degree=3)
    any_of = crossover(mirrored, budget, rows=rows, widths=widths, degree=3)
    for one, other in zip(all_of, any_of, strict=True):
        assert float(one["error"]) == pytest.approx(float(other["error"]), rel=1e-9)


def test_fewer_queries_are_sampled_from_more_rows() -> None:
    queries = problem_of().queries
    assert isinstance(queries, AtLeast)
    assert [len(sampled(queries, rows=rows)) for rows in (1_000, 1_000_000)] == [4845, 2_000]


def test_lists_are_drawn_beside_their_true_shares() -> None:
    truth, released = np.array([0.2, 0.5, 0.9]), np.array([0.25, 0.5, 0.7])
    figure = sound(shares_scatter(truth=truth, released=released, chosen=2, name="top ten", gamma=0.1, **SHOWN))
    assert figure.spec["datasets"]["chosen"] == [{"true": 0.9, "released": 0.7, "name": "this one"}]
    assert (
        "the worst by 20%" in figure.sentence
        and "For top ten the lists say yes in 90%, released 70%" in figure.sentence
    )
