"""The pictures of the Tables page: each mark in its role, at its place, in its unit; sentences that are true."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from dpcore import Neighbours, Preview, Problem
from dpcore.core import Floats
from dpcore.data.product import Product
from dpcore.mechanisms.marginals.plans import Budget, MarginalsPlan, direct_plan, plan_for, polynomial_plan
from dpcore.mechanisms.marginals.polynomials import minimax
from dpcore.mechanisms.marginals.preview import (
    DIRECT,
    NEITHER,
    best_along,
    crossover,
    direct_answers,
    error_quantiles,
    released_counts,
    sampled,
)
from dpcore.queries.at_least import AtLeast
from dplab.marginals_lists import ListShares
from pages.charts.picture import Band, Bars, Curve, Dots, Picture, Rule, numbers
from pages.charts.words import percent_up
from pages.tables.shares.charts import (
    ADDED,
    BETWEEN,
    BY_POLYNOMIAL,
    DIRECTLY,
    PREDICTED,
    SHARES,
    SPENT,
    error_curves,
    level_bars,
    shares_scatter,
    step_curve,
)
from pages.tables.shares.map import WORDS, row_grid, winners_map
from tests.pages.picture_checks import whole

KEY = "marginals-polynomial"
MINE, OTHER = f"mechanism:{KEY}", "mechanism:marginals-direct"


def problem_of(*, attributes: int = 20, width: int = 4, n: int = 30_000, signed: bool = False) -> Problem:
    domain = Product.yes_no([f"a{i}" for i in range(attributes)])
    return Problem(domain=domain, queries=AtLeast(domain=domain, width=width, signed=signed), n=n)


def test_the_curve_goes_through_the_polynomial_s_values() -> None:
    polynomial = minimax(width=5, least=1, degree=2, basis="ones")
    places = np.arange(6, dtype=np.float64)
    np.testing.assert_allclose(polynomial.at(places), polynomial.values)
    halves = polynomial.at(places + 0.5)
    np.testing.assert_allclose(np.polynomial.Polynomial.fit(places, polynomial.values, 2)(places + 0.5), halves)
    picture = whole(step_curve(polynomial=polynomial, key=KEY, used=True))
    curve = picture.one(Curve, role=MINE)
    np.testing.assert_allclose(numbers(curve.y), polynomial.at(numbers(curve.x)))
    assert "degree 2" in picture.sentence and "γ = 0.223" in picture.sentence and "not used" not in picture.sentence
    exact = step_curve(polynomial=minimax(width=3, least=1, degree=3, basis="ones"), key=KEY, used=False)
    assert "without bias. It is not used here" in whole(exact).sentence


def test_wanted_and_polynomial_stand_at_their_places_and_the_bias_around_what_is_wanted() -> None:
    polynomial = minimax(width=5, least=2, degree=2, basis="ones")
    picture = step_curve(polynomial=polynomial, key=KEY, used=True)
    counts, wanted = np.arange(6), np.array([0, 0, 1, 1, 1, 1])
    true, mine, bias = (
        picture.one(Dots, role="true"),
        picture.one(Dots, role=MINE),
        picture.one(Bars, role="theory"),
    )
    assert numbers(true.x).tolist() == numbers(mine.x).tolist() == counts.tolist()
    assert numbers(true.y).tolist() == picture.table["wanted"] == wanted.tolist()
    np.testing.assert_allclose(numbers(mine.y), polynomial.values)
    np.testing.assert_allclose((numbers(bias.start) + numbers(bias.end)) / 2, counts, atol=1e-12)
    assert bias.base is not None
    np.testing.assert_allclose(numbers(bias.base), wanted - polynomial.gamma)
    np.testing.assert_allclose(numbers(bias.value), wanted + polynomial.gamma)
    assert (np.abs(numbers(mine.y) - wanted) <= polynomial.gamma + 1e-9).all()


@pytest.mark.parametrize("budget", [Budget(epsilon=1.0), Budget(epsilon=1.0, delta=1e-6)], ids=["laplace", "gaussian"])
def test_levels_share_the_budget_and_the_variance(budget: Budget) -> None:
    problem = problem_of()
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    plan = polynomial_plan(problem, budget, minimax(width=4, least=1, degree=3, basis="ones"))
    picture = whole(level_bars(plan=plan, counts=released_counts(plan, queries), key=KEY))
    assert picture.table["counts"] == [20, 190, 1140]
    for share in (SPENT, ADDED):
        assert sum(picture.table[share]) == pytest.approx(1, abs=1e-3)
    # The best split of Laplace noise spends on each level what it adds to the variance; of Gaussian noise too.
    np.testing.assert_allclose(picture.table[SPENT], picture.table[ADDED], rtol=2e-2)
    spent, added = picture.one(Bars, role="theory", name=SPENT), picture.one(Bars, role=MINE, name=ADDED)
    places = np.arange(len(picture.x.labels))
    np.testing.assert_allclose((numbers(spent.start) + numbers(added.end)) / 2, places, atol=1e-12)
    assert numbers(spent.end).tolist() == numbers(added.start).tolist()
    if not budget.delta:
        np.testing.assert_allclose(numbers(spent.value), [each.epsilon / budget.epsilon for each in plan.noise])
    empty = polynomial_plan(problem, budget, minimax(width=4, least=1, degree=0, basis="ones"))
    assert "Nothing is released" in whole(level_bars(plan=empty, counts=[], key=KEY)).sentence


def errors_drawn(errors: dict[str, Floats], *, plan: MarginalsPlan, direct: MarginalsPlan, n: int = 30_000) -> Picture:
    return whole(error_curves(errors=errors, plan=plan, direct=direct, n=n, key=KEY))


def test_errors_are_drawn_as_quantiles() -> None:
    problem = problem_of()
    budget = Budget(epsilon=1.0)
    plan, direct = plan_for(problem, budget), direct_plan(problem, budget)
    random = np.random.Generator(np.random.SFC64(5))
    errors, others = np.abs(random.normal(0, 0.01, 500)), np.abs(random.normal(0, 0.2, 500))
    found = {BY_POLYNOMIAL: errors, BETWEEN: errors / 2, DIRECTLY: others}
    picture = errors_drawn(found, plan=plan, direct=direct)
    for name, role, values in (
        (BY_POLYNOMIAL, MINE, np.quantile(errors, SHARES)),
        (BETWEEN, "", np.quantile(errors / 2, SHARES)),
        (DIRECTLY, OTHER, np.quantile(others, SHARES)),
        (PREDICTED, "theory", error_quantiles(direct, SHARES)),
    ):
        curve = picture.one(Curve, role=role, name=name)
        np.testing.assert_allclose(numbers(curve.x), np.maximum(values, picture.x.low or 0))
        np.testing.assert_allclose(numbers(curve.y), SHARES)
        np.testing.assert_allclose(picture.table[f"error, {name}"], values, rtol=1e-3)
    assert len({curve.role for curve in picture.find(Curve)}) == 4
    assert picture.x.rows == problem.n and picture.y.rows == 0, "errors are shares of rows, and queries are none"
    assert f"{percent_up(float(np.quantile(errors, 0.95)))} by the polynomial" in picture.sentence
    assert f"{percent_up(float(np.quantile(errors, 0.95)) / 2)} midpoint of its bounds" in picture.sentence


@pytest.mark.parametrize(
    ("error", "n", "left"), [(0.02, 20_000, 1e-5), (3e-5, 10**6, 1e-6), (1e-9, 10**6, 1e-7), (0.0, 10**6, 1e-6)]
)
def test_the_axis_reaches_as_far_as_errors_do_and_the_prediction_is_on_it(error: float, n: int, left: float) -> None:
    problem = problem_of(n=n)
    budget = Budget(epsilon=10.0)
    plan, direct = plan_for(problem, budget, method="minimax"), direct_plan(problem, budget)
    errors = np.full(100, error)
    picture = errors_drawn({BY_POLYNOMIAL: errors, DIRECTLY: errors}, plan=plan, direct=direct, n=n)
    smallest = np.concatenate([numbers(curve.x) for curve in picture.find(Curve)]).min()
    assert picture.x.low is not None and left <= picture.x.low * 1.001 <= smallest * 1.002
    assert min(picture.x.ticks) >= 0.99 * picture.x.low and max(picture.x.ticks) == 1 and len(picture.x.ticks) <= 7
    assert picture.one(Rule, role="theory").x == pytest.approx(plan.predicted)
    assert f"{100 * plan.predicted:.3g}%" in picture.one(Rule, role="theory").label


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("signed", [False, True])
def test_predicted_direct_errors_are_those_of_direct_previews(delta: float, signed: bool) -> None:
    """50,000 answers: their quantiles within 3% of the curve (whole noise is rounded, so not the smallest)."""
    problem = problem_of(n=20_000, signed=signed)
    direct = direct_plan(problem, Budget(epsilon=1.0, delta=delta))
    truth = np.full(50_000, 0.5)
    errors = np.abs(direct_answers(direct, truth, n=problem.n, sampler=Preview(3)) - truth)
    assert errors.std() > 0
    predicted, seen = error_quantiles(direct, SHARES), np.quantile(errors, SHARES)
    kept = (SHARES > 0.2) & (SHARES < 0.98) & (predicted < 1)
    assert kept.sum() > 10
    np.testing.assert_allclose(seen[kept], predicted[kept], rtol=0.03)


def test_the_map_says_who_wins() -> None:
    problem, budget = problem_of(attributes=32, width=5, n=100_000), Budget(epsilon=1.0)
    places = crossover(problem, budget, rows=row_grid(), widths=list(range(1, 9)), degree=3)
    found, errors_here = best_along(problem, budget, rows=np.array([100_000]), degree=3)
    here, error = found[0], float(errors_here[0])
    picture = whole(winners_map(places=places, n=problem.n, width=5, here=here, key=KEY))
    assert len(places) == 8 * len(row_grid()) and here == "degree 2"
    assert "the smallest predicted error is that of polynomial, degree 2" in picture.sentence
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
    tiles_are_in_place(picture, winners)
    you = picture.one(Dots, role="ink")
    assert (numbers(you.x).tolist(), numbers(you.y).tolist()) == ([100_000], [5])


def tiles_are_in_place(picture: Picture, winners: Mapping[tuple[float | str, float | str], object]) -> None:
    """Every place lies in the middle of one tile of its winner; tiles touch, and cover the axes."""
    seen = {}
    for tiles in picture.find(Bars):
        assert tiles.across and tiles.base is not None
        lows, highs = numbers(tiles.base), numbers(tiles.value)
        middles = np.sqrt(lows * highs)
        for n, width in zip(middles.tolist(), ((numbers(tiles.start) + numbers(tiles.end)) / 2).tolist(), strict=True):
            seen[round(n), width] = tiles.name
        np.testing.assert_allclose(highs / lows, 10 ** (1 / 3))
        np.testing.assert_allclose(numbers(tiles.end) - numbers(tiles.start), 1)
        assert (lows >= 0.999 * (picture.x.low or 0)).all() and (highs <= 1.001 * (picture.x.high or 0)).all()
        assert tiles.role == OTHER if tiles.name == WORDS[DIRECT] else tiles.role in (MINE, "quiet")
    assert seen == {(round(float(n)), width): WORDS[str(winner)] for (n, width), winner in winners.items()}


def test_all_of_stays_all_of_on_the_map() -> None:
    domain = Product.yes_no([f"a{i}" for i in range(12)])
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
    shares = ListShares(truth=np.array([0.2, 0.5, 0.9]), released=np.array([0.25, 0.5, 0.7]), gamma=0.1)
    picture = whole(shares_scatter(shares, n=1_000, chosen=2, name="top ten"))
    dots, ring, band = (
        picture.one(Dots, role="released"),
        picture.one(Dots, role="ink"),
        picture.one(Band, role="theory"),
    )
    assert numbers(dots.x).tolist() == [0.2, 0.5, 0.9] and numbers(dots.y).tolist() == [0.25, 0.5, 0.7]
    assert (numbers(ring.x).tolist(), numbers(ring.y).tolist()) == ([0.9], [0.7])
    assert dots.hover is not None and dots.hover[2] == "true 90% (900 of 1,000 rows), released 70% (700 of 1,000 rows)"
    inside = (numbers(band.x) > 0.1) & (numbers(band.x) < 0.9)
    np.testing.assert_allclose((numbers(band.high) - numbers(band.low))[inside], 0.2)
    assert "; the largest is 20%." in picture.sentence
    assert "For top ten the lists say yes in 90%, released 70%" in picture.sentence
