"""The lesson on tracing: bars back to back, the threshold where it is, and a sentence with the shares."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dplab.limits.tracing import LOSSES, Traced, TracedShares, ceilings
from pages.charts.histogram import traced_scores
from pages.charts.picture import Bars, Curve, Dots, Rule, Wall, numbers
from pages.learn.tracing import figure
from pages.tables.shares import tracing as on_tables
from tests.pages.learn.test_lessons import lesson, told
from tests.pages.lessons import checked, sound
from tests.pages.opening import texts

TRACED = Traced(members=np.array([1.0, 2.0, 3.0, 3.5]), outside=np.array([-1.0, 0.0, 0.5, 2.5, 0.1]), threshold=2.2)
SEEN = TracedShares(
    losses=np.linspace(0.05, 0.9, len(LOSSES))[:, None] * np.array([0.9, 1.1]),
    strangers=np.full((len(LOSSES), 2), 0.05),
    attributes=np.array([16.0, 256.0, 1024.0]),
    exact=np.array([[0.1, 0.12], [0.5, 0.5], [0.9, 1.0]]),
    private=np.array([[0.05, 0.06], [0.05, 0.06], [0.06, 0.07]]),
)


def test_members_stand_above_and_others_below_as_shares_of_their_group() -> None:
    shown = sound(traced_scores(TRACED))
    up, down = shown.one(Bars, name="in the data"), shown.one(Bars, name="not in the data")
    assert numbers(up.value).sum() == pytest.approx(1) and numbers(down.value).sum() == pytest.approx(-1)
    assert (numbers(up.value) >= 0).all() and (numbers(down.value) <= 0).all() and up.role != down.role
    at_three = (numbers(up.start) <= 3.0) & (numbers(up.end) > 3.0)
    assert numbers(up.value)[at_three] == pytest.approx(0.25)
    assert shown.one(Rule).x == 2.2
    assert shown.sentence.startswith("50% of 4 members and 20% of 5 others")


def test_shares_stand_at_their_epsilon_below_the_best_of_any_attack() -> None:
    for shown in (
        checked_over_epsilon := sound(figure.over_epsilon(SEEN, delta=1e-6, epsilon=1.0, guess=0.2)),
        on_tables.over_epsilon(SEEN, delta=1e-6),
    ):
        checked(shown)
        dots, curve, wall = shown.one(Dots, role="released"), shown.one(Curve, role="theory"), shown.one(Wall)
        assert numbers(dots.x).tolist() == list(LOSSES)
        np.testing.assert_allclose(numbers(dots.y), SEEN.losses.mean(axis=1))
        np.testing.assert_allclose(numbers(curve.y), ceilings(numbers(curve.x), delta=1e-6))
        np.testing.assert_array_equal(numbers(curve.y), numbers(wall.y))
    assert checked_over_epsilon.one(Rule, role="guess").y == 0.2
    exact = on_tables.over_epsilon(SEEN, delta=1e-6).one(Rule, role="ink")
    assert exact.y == pytest.approx(0.95)


def test_attributes_are_along_the_axis_with_n_marked() -> None:
    shown = sound(figure.over_attributes(SEEN, members=100, epsilon=1.0, guess=0.2))
    exact, private = shown.find(Dots)
    assert numbers(exact.x).tolist() == numbers(private.x).tolist() == [16, 256, 1024]
    np.testing.assert_allclose(numbers(exact.y), [0.11, 0.5, 0.95])
    assert shown.one(Rule, role="ink").x == 100 and "finds 11% of 100 members" in shown.sentence


def test_private_averages_stay_below_what_is_said_and_exact_ones_go_beyond() -> None:
    app = lesson("tracing")
    most = float(re.findall(r"no attack finds more than ([\d.]+)% of members", texts(app))[0])
    found = float(re.findall(r"finds \*\*([\d.]+)%", told(app))[0])
    assert most == pytest.approx(100 * 0.05 * np.e, abs=0.1) and found > 5 * most
    app.selectbox(key="tracing-means").set_value("noisy")
    private = told(app.run())
    assert "averages at ε = 1" in private and float(re.findall(r"finds \*\*([\d.]+)%", private)[0]) < most
