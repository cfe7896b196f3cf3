"""The lesson on histograms: exact risks above the wall, everything in its role and place, simulations as computed."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import Floats, rounded_down
from dpcore.limits.bounds import minimax
from dplab.limits.histogram_risk import total_errors
from pages.charts.picture import Curve, Dots, Picture, Rule, Wall, numbers
from pages.charts.words import significant
from pages.learn.histogram import figure
from pages.learn.pictures import epsilon_grid
from tests.pages.learn.test_lessons import lesson
from tests.pages.lessons import sound
from tests.pages.opening import texts

FEW = np.array([0.1, 0.2])


def picture(
    *,
    cells: int = 64,
    occupied: int = 8,
    rows: int = 1000,
    epsilon: float = 1.0,
    guess: float = 10,
    measured: Floats = FEW,
) -> Picture:
    seen = minimax.risks(cells=cells, occupied=occupied, rows=rows, epsilons=epsilon_grid(epsilon))
    return sound(figure.risks(exact=seen, occupied=occupied, epsilon=epsilon, guess=guess, measured=measured))


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "rows"), [(2, 50), (1024, 50), (64, 100_000)])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_no_exact_risk_of_a_private_histogram_is_below_the_wall(cells: int, rows: int, epsilon: float) -> None:
    shown = picture(cells=cells, occupied=1, rows=rows, epsilon=epsilon)
    wall = shown.one(Wall, role="impossible")
    assert (numbers(wall.y) >= wall.end).all() and shown.y.low == wall.end  # the hatched side is the lower one
    edge = dict(zip(numbers(wall.x).tolist(), numbers(wall.y).tolist(), strict=True))
    for name in ("noise in every bar (exact)", "Laplace noise (exact)"):
        curve = shown.one(Curve, name=name)
        for at, risk in zip(numbers(curve.x).tolist(), numbers(curve.y).tolist(), strict=True):
            assert risk >= edge.get(at, 0) * (1 - 1e-9)
    assert (
        "every private method has at least "
        f"{rounded_down(minimax.best_pairs(cells=cells, rows=rows, epsilon=epsilon).risk)}, " in shown.sentence
    )


def test_each_risk_is_drawn_as_what_it_is() -> None:
    shown = picture(measured=np.array([0.1, 0.3]))
    exact = minimax.geometric_risk(cells=64, rows=1000, epsilon=1.0)
    curve, dot = shown.one(Curve, role="mechanism:identity"), shown.one(Dots, role="mechanism:identity")
    at = numbers(curve.x).tolist().index(1.0)
    assert numbers(curve.y)[at] == pytest.approx(exact)
    assert (numbers(dot.x).tolist(), numbers(dot.y)[0]) == ([1.0], pytest.approx(0.2))
    assert dot.low is not None and dot.high is not None
    assert numbers(dot.high)[0] - 0.2 == pytest.approx(1.96 * 0.1 / np.sqrt(2))
    spared = shown.one(Curve, role="mechanism:sparse_histogram")
    assert numbers(spared.y)[at] == pytest.approx(exact / 8) and "8 non-empty bars" in spared.name
    assert shown.one(Curve, role="theory").name == "paper, whole rows"
    printed = shown.one(Curve, name="paper, as printed (wrong for large ε)")
    assert numbers(printed.y)[at] == pytest.approx(minimax.printed_risk(cells=64, rows=1000, epsilon=1.0))
    assert shown.one(Rule, role="guess").y == pytest.approx(exact / 10)
    assert shown.one(Rule, role="ink").x == 1.0 and shown.one(Rule, role="quiet").y == 2.0
    assert shown.one(Wall, role="impossible").end == shown.y.low
    assert not shown.find(Curve, role="released") and shown.y.log and shown.x.log
    assert f"{significant(exact)} of n (0.2 in 2 releases)" in shown.sentence and "you guessed 10" in shown.sentence


def test_a_curve_of_zeros_ends_on_a_logarithmic_axis() -> None:
    # 64 bars, 50 rows: the paper's hypercube has no whole row for each bar.
    whole = picture(rows=50).one(Curve, role="theory")
    assert np.isnan(numbers(whole.y)).all()
    some = numbers(picture().one(Curve, role="theory").y)
    assert (some > 0).all()


def test_releases_without_any_error_are_told_not_drawn() -> None:
    shown = picture(measured=np.zeros(5))
    assert not shown.find(Dots) and "(0 in 5 releases)" in shown.sentence


@pytest.mark.parametrize("guess", [1, 1000])
def test_a_guess_far_off_is_within_the_picture(guess: float) -> None:
    shown = picture(epsilon=10.0, guess=guess)
    low, place = shown.y.low, shown.one(Rule, role="guess").y
    assert low is not None and place is not None and low < place


def test_measured_errors_are_those_of_the_exact_law(seed: int) -> None:
    errors = total_errors(key="identity", cells=16, occupied=16, rows=500, epsilon=0.5, seed=seed, trials=2000)
    exact = minimax.geometric_risk(cells=16, rows=500, epsilon=0.5)
    assert errors.mean() == pytest.approx(exact, abs=6 * errors.std() / np.sqrt(2000))
    # Projection to n rows helps where few cells hold rows: noise in the empty ones is cut away.
    few = total_errors(key="projected_histogram", cells=64, occupied=2, rows=500, epsilon=0.5, seed=seed, trials=200)
    assert few.mean() < minimax.geometric_risk(cells=64, rows=500, epsilon=0.5) / 2


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_the_least_risk_is_of_order_k_over_epsilon_n_where_it_is_said(epsilon: float) -> None:
    """Some constant c for all k up to εn; an order of k/(ε²n) or of √k/(εn) has none."""
    assert "For ε up to about 1, k up to about εn, a constant c and every ε-private method" in texts(
        lesson("histogram")
    )
    constants = []
    for rows in (1000, 20_000, 100_000):
        for cells in (2, 8, 64, 256, 1024):
            if cells <= epsilon * rows:
                risk = minimax.best_pairs(cells=cells, rows=rows, epsilon=epsilon).risk
                constants.append(risk * epsilon * rows / cells)
    assert len(constants) > 5 and min(constants) > 0.2 and max(constants) < 1.3 * min(constants)
    assert 0.2 < min(constants) < 1
