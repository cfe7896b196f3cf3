"""The lesson on odds: beliefs between two walls, and the best guess below one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpcore.limits.bounds import odds
from pages.charts.picture import Curve, Rule, Wall, numbers
from pages.charts.words import percent_up
from pages.learn.odds import figure
from tests.pages.learn.test_lessons import lesson
from tests.pages.lessons import sound
from tests.pages.opening import texts


def test_belief_stays_between_two_walls() -> None:
    shown = sound(figure.belief(prior=0.1, epsilon=1.0, delta=0.0, guess=0.5))
    most, least = (shown.one(Curve, role="theory", name=name) for name in ("at most", "at least"))
    at = numbers(most.x).tolist().index(0.1)
    # Odds of 1 to 9, times e and over e.
    assert numbers(most.y)[at] == pytest.approx(math.e / (math.e + 9))
    assert numbers(least.y)[at] == pytest.approx(1 / (1 + 9 * math.e))
    above, below = shown.find(Wall, role="impossible")
    assert (above.end, below.end) == (1.0, 0.0)
    np.testing.assert_array_equal(numbers(above.y), numbers(most.y))
    np.testing.assert_array_equal(numbers(below.y), numbers(least.y))
    same = shown.one(Curve, role="quiet")
    np.testing.assert_array_equal(numbers(same.x), numbers(same.y))
    assert (numbers(least.y) < numbers(same.y)).all() and (numbers(same.y) < numbers(most.y)).all()
    assert shown.one(Rule, role="ink").x == 0.1 and shown.one(Rule, role="guess").y == 0.5
    assert "at most 23.2%" in shown.sentence and "You guessed at most 50%" in shown.sentence
    assert "δ" not in shown.sentence and "ε = 1" in below.label
    assert not above.label, "the rule of the belief before would cross it"


def test_a_slack_is_said_where_the_picture_says_impossible() -> None:
    shown = sound(figure.belief(prior=0.1, epsilon=1.0, delta=1e-6, guess=0.5))
    assert any("impossible if δ = 0" in wall.label for wall in shown.find(Wall))
    assert shown.sentence.endswith(
        "This holds for δ = 0. With probability up to δ = 1e-6, a release may reveal everything."
    )


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("epsilon", [0.02, 1.0, 10.0])
def test_the_best_attacker_is_at_the_wall(epsilon: float, delta: float) -> None:
    shown = sound(figure.guessing(prior=0.5, epsilon=epsilon, delta=delta))
    curve, wall = shown.one(Curve, role="theory"), shown.one(Wall, role="impossible")
    assert wall.end == 1.0
    np.testing.assert_array_equal(numbers(curve.y), numbers(wall.y))
    place = shown.one(Rule, role="ink").x
    assert place == epsilon
    at = numbers(curve.x).tolist().index(epsilon)
    # Randomised response attains it: right unless it lies.
    attained = odds.witness(epsilon=epsilon, delta=delta)
    assert numbers(curve.y)[at] == pytest.approx(attained.max(axis=0).sum() / 2)
    assert f"at most {percent_up(float(numbers(curve.y)[at]))} with it." in shown.sentence


def test_an_attacker_no_better_off_is_told_so() -> None:
    same = sound(figure.guessing(prior=0.1, epsilon=1.0, delta=0.0))
    better = sound(figure.guessing(prior=0.4, epsilon=1.0, delta=0.0))
    assert "90% of the time without the release, and no more often with it." in same.sentence
    assert "60% of the time without the release, and at most 73.2% with it." in better.sentence
    rule = better.one(Rule, role="quiet")
    assert rule.y == pytest.approx(0.6) and rule.below


@pytest.mark.parametrize(("epsilon", "named"), [(1.0, True), (3.0, True), (5.0, False)])
def test_what_is_impossible_is_named_where_its_name_fits_in(epsilon: float, named: bool) -> None:
    shown = sound(figure.belief(prior=0.1, epsilon=epsilon, delta=0.0, guess=0.5))
    assert any(each.label for each in shown.marks if isinstance(each, Wall)) == named


def test_much_is_learned_about_people_and_bad_odds_stay_bad() -> None:
    assert (
        "ε does **not** guarantee that nothing is learned about people like "
        "you. It does not improve odds that were bad before."
    ) in texts(lesson("odds"))
    # Randomised response of 100,000 people at ε = 0.1 says almost surely whether 30% or 70% of them do it.
    (true, lie), people = odds.witness(epsilon=0.1)[0, 1:3], 100_000
    few, many = (share * true + (1 - share) * lie for share in (0.3, 0.7))
    assert binom.sf(people // 2, people, few) < 1e-6 > binom.cdf(people // 2, people, many)
    # Nothing that is released at ε = 1 brings a belief of 99% below 97%.
    low, high = odds.posterior_range([0.99], epsilon=1.0)
    assert low[0] > 0.97 and high[0] > 0.99
