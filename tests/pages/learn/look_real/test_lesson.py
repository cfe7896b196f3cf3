"""The lesson on rows that look real: what its pictures and sentences say is counted from the intervals drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dplab.utility.inference import RELEASES, SlopeIntervals, draw_slopes
from pages.charts.picture import Curve, Dots, Picture, Rule, numbers
from pages.charts.words import percent
from pages.learn.look_real import figure
from pages.learn.look_real.lesson import EPSILONS, VIEWS, mean_slope_words
from tests.dplab.utility.test_inference import ended
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.learn.test_lessons import lesson, numbers_in, told
from tests.pages.lessons import interval, sound
from tests.pages.opening import texts

FEW = {"look-real-n": "2000"}


def seen(epsilon: float = 1.0, n: int = 2_000) -> SlopeIntervals:
    return ended(draw_slopes(n=n, epsilon=epsilon, seed=1))


def counted(shown: Picture) -> dict[str, int]:
    """How many intervals of each kind hold the slope, read off the picture."""
    (line,) = shown.find(Rule)
    found = {}
    for dots in shown.find(Dots):
        low, high = interval(dots)
        inside = (low <= line.y) & (line.y <= high)
        assert list(dots.hollow) == (~inside).tolist()
        found[dots.name] = int(inside.sum())
    return found


def test_how_many_hold_and_how_many_say_nothing_is_counted_off_the_picture() -> None:
    here = seen()
    shown = sound(figure.twenty(here))
    match = searched(
        r"(\d+) of 20 intervals from synthetic rows .*, (\d+) from released tables(?:, and (\d+) says? nothing)?\.",
        shown.sentence,
    )
    count = counted(shown)
    assert [int(match[1]), int(match[2])] == [count[figure.AS_REAL], count[figure.FROM_TABLES]]
    silent = RELEASES - len(numbers(shown.one(Dots, name=figure.FROM_TABLES).x))
    assert silent == int(match[3] or 0) > 0
    # A control: intervals of real rows in the place of synthetic ones hold more often.
    assert counted(figure.twenty(replace(here, synthetic=here.real)))[figure.AS_REAL] > count[figure.AS_REAL]


def test_where_nothing_is_said_there_are_no_dots_and_no_word_of_them_in_the_legend() -> None:
    here = seen(0.3)
    shown = sound(figure.twenty(here))
    assert [each.name for each in shown.find(Dots)] == [figure.AS_REAL]
    assert shown.sentence.endswith("0 from released tables, and 20 say nothing.")


def test_shares_by_epsilon_are_those_of_the_releases() -> None:
    each = {epsilon: seen(epsilon) for epsilon in (0.3, 3.0, 10.0)}
    shown = sound(figure.holding(each, epsilon=3.0))
    as_real = numbers(shown.one(Dots, name=figure.AS_REAL).y)
    said, silent = (numbers(shown.one(Dots, name=name).y) for name in (figure.FROM_TABLES, "nothing said"))
    assert as_real.tolist() == [float(one.holds(one.synthetic).mean()) for one in each.values()]
    assert np.isnan(said[0]) and silent[0] == 1 and said[2] > 0.7 and np.isnan(silent[2])
    assert numbers(shown.one(Curve, name=figure.REAL).y).min() >= 0.8
    assert f"{percent(as_real[0])} of intervals hold the slope at ε = 0.3, and {percent(as_real[2])}" in shown.sentence
    apart = sound(figure.alike(each, epsilon=3.0))
    rows = numbers(apart.one(Dots, name="synthetic rows").y)
    assert rows.tolist() == [float(one.distances.mean()) for one in each.values()] and (np.diff(rows) < 0).all()
    labels = {rule.label: rule.y for rule in apart.find(Rule) if rule.y is not None}
    assert labels["another sample"] < labels["columns shuffled"]


@pytest.mark.parametrize("view", [VIEWS[0], pytest.param(VIEWS[1], marks=pytest.mark.slow)])
def test_the_lesson_says_what_its_settings_give(view: str) -> None:
    app = lesson("look-real", **FEW, **{"look-real-epsilon": "1", "look-real-picture": view})
    here = seen()
    counts = [figure.counted(here, each) for each in (here.synthetic, here.released)]
    assert [int(each) for each in numbers_in(told(app))] == counts
    assert f"{percent(float(here.distances.mean()))} off the sample's" in told(app)
    middle = here.synthetic.mean(axis=1)
    assert f"the mean slope of the rows is {middle.mean():.3g} hours" in texts(app)
    (chart,) = drawn(app).values()
    if view == VIEWS[1]:
        assert f"at ε = {EPSILONS[-1]:g}" in chart["sentence"]


def test_at_a_large_epsilon_both_are_right() -> None:
    here = seen(10.0, n=10_000)
    assert min(figure.counted(here, each) for each in (here.synthetic, here.released)) >= 12


def test_rows_that_fit_no_model_are_said_to_and_have_no_dots() -> None:
    here = seen(10.0)
    nothing = replace(here, synthetic=np.full_like(here.synthetic, np.nan))
    assert mean_slope_words(nothing) == "These rows fit no model." != mean_slope_words(here)
    assert [each.name for each in sound(figure.twenty(nothing)).find(Dots)] == [figure.FROM_TABLES]
