"""What pictures of lessons share: words apart from each other, walls on logarithmic axes, one colour for the guess."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.limits.bounds import minimax, odds
from pages.charts.palette import palette
from pages.charts.picture import Axis, Curve, Rule, Wall, numbers
from pages.charts.roles import style_for
from pages.learn.pictures import (
    IMPOSSIBLE,
    OTHERS,
    axis_floor,
    curves,
    epsilon_axis,
    epsilon_grid,
    epsilon_rule,
    error_dots,
    guess_rule,
    impossible_side,
    lesson_picture,
    runs,
)
from tests.pages.lessons import checked, interval

ACROSS, UP = Axis(title="across", low=0, high=10), Axis(title="up", log=True)


def test_words_at_two_upright_rules_stand_on_a_line_each_on_the_side_with_room() -> None:
    marks = [Rule(role="ink", x=9.0, label="one"), guess_rule(x=9.0), Rule(role="ink", x=1.0, label="two")]
    picture = lesson_picture(title="Rules", x=ACROSS, y=UP, marks=marks, sentence="Three rules.")
    rules = picture.find(Rule)
    assert [rule.line for rule in rules] == [0, 1, 2]
    assert [rule.side for rule in rules] == ["left", "left", "right"]
    words = [each["yshift"] for each in checked(picture).layout["annotations"]]
    assert len(set(words)) == 3
    under = [*marks, impossible_side([0, 10], [1, 1], end=2, corner="top left")]
    picture = lesson_picture(title="Rules", x=ACROSS, y=UP, marks=under, sentence="Three rules and a wall.")
    assert [rule.line for rule in picture.find(Rule)] == [1, 2, 3]


def test_a_wall_of_no_error_ends_on_a_logarithmic_axis_and_a_ceiling_of_none_does_not() -> None:
    edge = impossible_side([1, 2, 3], [0.5, 0.1, 0.0], end=0.01, corner="bottom left")
    drawn = lesson_picture(title="Wall", x=ACROSS, y=UP, marks=[edge], sentence="A wall.")
    assert numbers(drawn.one(Wall, role="impossible").y).tolist() == [0.5, 0.1]
    assert drawn.table["up"] == [0.5, 0.1, 0.0] and drawn.table["what"] == [IMPOSSIBLE] * 3
    ceiling = impossible_side([1, 2, 3], [0.5, 0.1, 0.0], end=1.0, corner="top left")
    drawn = lesson_picture(title="Ceiling", x=ACROSS, y=Axis(title="chance"), marks=[ceiling], sentence="A ceiling.")
    assert numbers(drawn.one(Wall).y).tolist() == [0.5, 0.1, 0.0]


def test_the_table_has_intervals_where_there_are_any() -> None:
    marks = [Curve(role="theory", name="promise", x=[0, 1], y=[2, 3]), runs("seen", [1], np.array([[1.0, 3.0]]))]
    picture = lesson_picture(title="Both", x=ACROSS, y=UP, marks=marks, sentence="Both.")
    assert picture.table == {
        "what": ["promise", "promise", "seen"],
        "across": [0, 1, 1],
        "up": [2, 3, 2],
        "from": [None, None, 1.1],
        "to": [None, None, 2.9],
    }
    checked(picture)
    alone = lesson_picture(title="One", x=ACROSS, y=UP, marks=marks[:1], sentence="One.")
    assert set(alone.table) == {"what", "across", "up"}


def test_runs_are_drawn_by_their_mean_and_their_middle_90_percent(seed: int) -> None:
    values = np.random.Generator(np.random.SFC64(seed)).random((3, 101))
    dots = runs("seen", [1, 2, 3], values)
    ordered = np.sort(values, axis=1)
    np.testing.assert_allclose(numbers(dots.y), values.mean(axis=1))
    np.testing.assert_allclose(interval(dots), np.array([ordered[:, 5], ordered[:, 95]]))
    assert dots.role == "released"


def test_errors_of_nothing_stand_at_the_floor_and_say_so() -> None:
    most, half = np.array([0.5, 0.0, np.inf]), np.array([0.25, 0.0, 0.1])
    assert axis_floor(half, 0.01) == 0.01 and axis_floor([0.0, 0.003], 0.01) == 0.002
    assert axis_floor([0.0], 0.01) == 0.01
    places = np.array([0.1, 1.0, 10.0])
    dots = error_dots(
        "seen",
        places,
        quantile_95=most,
        median=half,
        floor=0.01,
        role="released",
        error_words=lambda error: f"{error}!",
    )
    assert numbers(dots.x).tolist() == [0.1, 1.0]
    assert numbers(dots.y).tolist() == [0.5, 0.0125]
    assert interval(dots).tolist() == [[0.25, 0.0125], [0.5, 0.0125]]
    assert dots.hover is not None
    assert "error of 95% of releases at most 0.5!, of half at most 0.25!" in dots.hover[0]
    assert "at most 0.0!" in dots.hover[1]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0, 100.0])
def test_the_reader_stands_on_the_axis_and_on_the_grid(epsilon: float) -> None:
    axis, grid = epsilon_axis(epsilon), epsilon_grid(epsilon)
    assert axis.low is not None and axis.high is not None
    assert axis.low < epsilon < axis.high and {epsilon, 1.0} <= set(grid.tolist())
    assert grid[0] == pytest.approx(axis.low) and grid[-1] == pytest.approx(axis.high)
    assert epsilon_rule(epsilon).x == epsilon


def test_nothing_compared_has_the_colour_of_the_guess_or_of_its_neighbour() -> None:
    for dark in (False, True):
        colours = palette(dark=dark)
        hues = [style_for(role, colours).colour for role in OTHERS]
        assert len(set(hues)) == len(OTHERS) and style_for("guess", colours).colour not in hues
    found = curves([1, 2], {str(place): [1, 2] for place in range(5)})
    assert len({curve.dash for curve in found}) == 5 and len({curve.role for curve in found}) == 5


def test_a_small_epsilon_is_private_and_a_large_one_accurate() -> None:
    """The words at the ends of the axis."""
    axis = epsilon_axis(1.0)
    grid = np.array([0.01, 0.1, 1.0, 10.0])
    assert axis.title.startswith("← private") and axis.title.endswith("accurate →")
    assert float(axis.low or 0) < float(axis.high or 0)
    assert (np.diff(odds.best_guesses(0.5, epsilons=grid)) > 0).all()
    assert (np.diff([minimax.geometric_risk(cells=8, rows=100, epsilon=each) for each in grid]) < 0).all()
