"""The attack on a secret attribute of the page's rows: marks at their numbers, and the bound only where it holds."""

from __future__ import annotations

import numpy as np
import pytest

from dplab.limits.secret_attribute import LOSSES, SecretRows, SecretShares
from pages.charts.picture import Curve, Dots, Rule, numbers
from pages.charts.plotly import render
from pages.tables.shares.secret_attribute import over_epsilon, over_noise
from tests.pages.drawn_charts import drawn
from tests.pages.label_overlap import on_dots
from tests.pages.lessons import checked
from tests.pages.opening import sound
from tests.pages.tables.opening import opened, texts

ATTACKED = SecretRows(masks=np.ones((3, 4), dtype=np.bool_), secret=np.array([True, False, False, False]), distinct=4)
SEEN = SecretShares(
    errors=np.array([0.0, 2.0, 8.0]),
    by_noise=np.array([[[1.0, 1.0], [0.8, 0.9], [0.4, 0.6]], [[1.0, 1.0], [0.9, 1.0], [0.7, 0.8]]]),
    levels=np.array([0.0, 4.0, 8.0]),
    proved=np.array([1.0, 0.25, 0.0]),
    sigmas=np.linspace(90, 1, len(LOSSES)),
    by_epsilon=np.stack([np.linspace(0.5, 1, len(LOSSES)), np.linspace(0.7, 1, len(LOSSES))])[:, :, None]
    + np.array([-0.01, 0.01]),
)
UNPROVED = SecretShares(**{**vars(SEEN), "proved": np.zeros(3)})


def test_shares_stand_at_their_noise_above_what_is_proved() -> None:
    shown = over_noise(SEEN, ATTACKED)
    checked(shown)
    squares, known = shown.find(Dots)
    np.testing.assert_allclose(numbers(squares.x), [0, 1, 4])  # in units of √n
    np.testing.assert_allclose(numbers(squares.y), [1, 0.85, 0.5])
    np.testing.assert_allclose(numbers(known.y), [1, 0.95, 0.75])
    proved = shown.one(Curve, role="theory")
    np.testing.assert_allclose(numbers(proved.x), [0, 2, 4])
    np.testing.assert_allclose(numbers(proved.y), [1, 0.25, 0])
    assert shown.one(Rule, role="quiet").y == 0.75
    assert "finds 100% of the bits" in shown.sentence and "with known noise 75%" in shown.sentence


def test_no_bound_is_drawn_where_nothing_is_proved() -> None:
    shown = over_noise(UNPROVED, ATTACKED)
    checked(shown)
    assert not shown.find(Curve)


def test_shares_stand_at_their_epsilon_beside_a_constant_guess() -> None:
    shown = over_epsilon(SEEN, ATTACKED, epsilon=1.0)
    checked(shown)
    squares, known = shown.find(Dots)
    assert numbers(squares.x).tolist() == numbers(known.x).tolist() == list(LOSSES)
    np.testing.assert_allclose(numbers(known.y), np.linspace(0.7, 1, len(LOSSES)))
    assert shown.one(Rule, role="ink").x == 1.0 and shown.one(Rule, role="quiet").y == 0.75
    assert "find 62.5% and 77.5% of the bits; a constant guess finds 75%" in shown.sentence


def test_the_name_of_the_constant_guess_hides_no_dot() -> None:
    errors, seen = np.array([0, 0.25, 0.5, 2, 4, 6, 8]), np.array([0.95, 0.82, 0.7, 0.65, 0.6, 0.6, 0.6])
    by_noise = np.stack([seen, seen])[:, :, None] + np.array([-0.01, 0.01])
    by_epsilon = np.stack([np.linspace(0.6, 0.74, len(LOSSES))] * 2)[:, :, None] + np.array([-0.01, 0.01])
    shares = SecretShares(**{**vars(UNPROVED), "errors": errors, "by_noise": by_noise, "by_epsilon": by_epsilon})
    for shown in (over_noise(shares, ATTACKED), over_epsilon(shares, ATTACKED, epsilon=1.0)):
        assert not (hidden := on_dots(shown, render(shown, badge="", dark=False))), hidden


@pytest.mark.parametrize(("attributes", "proved"), [("24", False), ("64", True)])
def test_the_page_attacks_its_own_rows_and_says_what_is_proved_of_them(attributes: str, proved: bool) -> None:
    app = sound(opened(cube_rows="3000", cube_attributes=attributes, secret_people="20", secret_k="2"))
    charts = drawn(app)
    assert {"secret_epsilon_chart", "secret_noise_chart"} <= charts.keys()
    assert ("least squares gets at most 4mE²/s² bits wrong" in texts(app)) is proved
    assert ("These marginals do not determine all bits" in texts(app)) is not proved
    assert ("proved: at least" in str(charts["secret_noise_chart"])) is proved
