"""The lesson on ±: what its pictures and sentences say is counted from intervals, laws and rows; with controls."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike

from dpcore import Number
from dpcore.core import Booleans, Floats
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.weights import row_weight
from dplab.intervals.surveys import Surveys, draw_surveys
from pages.charts.picture import Area, Curve, Dots, Picture, Rule, numbers
from pages.charts.words import percent
from pages.learn.margins import figure
from pages.learn.margins.lesson import POPULATION, SURVEYS, VIEWS
from tests.dpcore.mechanisms.grouped.tables import problem_of, queries_of
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.learn.test_lessons import lesson, numbers_in, told
from tests.pages.lessons import interval, sound
from tests.pages.opening import texts

SETTINGS = pytest.mark.parametrize(("n", "epsilon"), [(100, 1.0), (100, 0.1), (20, 0.01), (5000, 10.0)])


def seen(n: int = 100, epsilon: float = 1.0, seed: int = 1) -> Surveys:
    return draw_surveys(n=n, population=POPULATION, epsilon=epsilon, surveys=SURVEYS, seed=seed)


def holding(dots: Dots, values: float | Floats) -> Booleans:
    """Which intervals of the picture hold values, read off their ends."""
    low, high = interval(dots)
    inside: Booleans = (low - 1e-9 <= values) & (values <= high + 1e-9)
    return inside


def counted(shown: Picture) -> list[int]:
    """How many intervals of the noise hold the population's share and that of the people asked, and of the wider."""
    noise, wider = (shown.one(Dots, name=name) for name in ("noise alone", "noise and sampling"))
    asked, line = shown.one(Dots, role="true"), shown.one(Rule, role="true")
    assert line.y == POPULATION and len(numbers(asked.y)) == figure.SHOWN == 20
    assert list(noise.hollow) == (~holding(noise, line.y)).tolist()
    assert list(wider.hollow) == (~holding(wider, line.y)).tolist()
    each = (holding(noise, line.y), holding(noise, numbers(asked.y)), holding(wider, line.y))
    return [int(hits.sum()) for hits in each]


def said(words: str) -> list[int]:
    match = searched(
        r"(\d+) of 20 intervals of the noise hold the population's 30%; (\d+) hold the share of the people asked. With "
        r"the sampling error, (\d+) hold the population's.",
        words,
    )
    return [int(each) for each in match.groups()]


@SETTINGS
def test_how_many_intervals_hold_a_value_is_counted_off_the_picture(n: int, epsilon: float) -> None:
    here = seen(n, epsilon)
    shown = sound(figure.surveys(here))
    assert said(shown.sentence) == counted(shown)
    # A control: with the wider intervals in their place, those of the noise hold as many as these.
    other = figure.surveys(replace(here, of_rows=here.of_population))
    assert said(other.sentence) == counted(other) and said(other.sentence)[0] == said(shown.sentence)[2]


@SETTINGS
def test_the_lesson_says_what_its_settings_give(n: int, epsilon: float) -> None:
    app = lesson("margins", **{"margins-n": str(n), "margins-epsilon": str(epsilon)})
    here, bold = seen(n, epsilon), [int(each) for each in numbers_in(told(app))]
    assert bold == counted(figure.surveys(here))
    shares = [percent(float(each.mean())) for each in here.hits]
    assert (
        f"Of 1,000 surveys, {shares[0]} of the intervals of the noise hold the population's share, and {shares[1]} "
        f"that of the people asked. {shares[2]} of the wider ones hold the population's"
    ) in texts(app)
    # A control: other draws have other shares, so that these are not said whatever happens.
    assert shares != [percent(float(each.mean())) for each in seen(n, epsilon, seed=2).hits]


def exact(epsilon: float, k: int) -> float:
    """The chance that noise is at most k: term by term."""
    q = math.exp(-epsilon)
    return (1 - q) / (1 + q) * (1 + 2 * math.fsum(q**z for z in range(1, k + 1)))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0])
def test_chances_of_a_count_are_sums_of_its_law(epsilon: float) -> None:
    shown = sound(figure.normal(epsilon))
    at = numbers(shown.one(Curve, role="other-0").x).tolist().index(epsilon)
    usual, least = (float(numbers(shown.one(Curve, role=role).y)[at]) for role in ("other-0", "theory"))
    match = searched(r"\(± ([\d.]+)\) holds .* in ([\d.]+)% of releases; ± (\d+) holds it in ([\d.]+)%", shown.sentence)
    assert f"At ε = {epsilon:g}, a count ± 1.96 standard" in shown.sentence
    half, k = float(match[1]), int(match[3])
    q = math.exp(-epsilon)
    assert half == pytest.approx(1.96 * math.sqrt(2 * q) / (1 - q), rel=0.005)
    assert usual == pytest.approx(exact(epsilon, int(half))) == pytest.approx(float(match[2]) / 100, abs=6e-4)
    assert least == pytest.approx(exact(epsilon, k)) == pytest.approx(float(match[4]) / 100, abs=6e-4)
    assert exact(epsilon, k) >= 0.95 and (k == 0 or exact(epsilon, k - 1) < 0.95), "the smallest such k"
    # At ε = 2 alone rounding up makes ± 1.96 deviations enough.
    assert (usual < 0.95) == (epsilon != 2)


def test_no_exact_interval_is_below_its_level_and_normal_ones_are() -> None:
    shown = sound(figure.normal(1.0))
    usual, least = (numbers(shown.one(Curve, role=role).y) for role in ("other-0", "theory"))
    assert least.min() >= 0.95 > usual.min() and (usual < 0.95).mean() > 0.5
    assert shown.one(Rule, role="quiet").y == 0.95 and shown.one(Rule, role="ink").x == 1.0


def turned_back(x: ArrayLike, y: ArrayLike) -> Floats:
    """Changes of the counters A and B from those of A + B and B − A, (K, 2)."""
    people, difference = numbers(x), numbers(y)
    return np.stack([(people - difference) / 2, (people + difference) / 2], axis=1)


def test_rows_fill_two_sides_of_the_square_that_is_the_l1_ball_turned() -> None:
    shown = sound(figure.one_person())
    square, diamond = (shown.one(Area, name=name) for name in ("two counters", "two queries"))
    corners = turned_back(square.x, square.y)
    assert sorted(map(tuple, corners.tolist())) == [(-1, 0), (0, -1), (0, 1), (1, 0)]
    more, less = (shown.one(Dots, name=name) for name in ("a row more", "a row less"))
    for dots, sign in ((more, 1), (less, -1)):
        counters = turned_back(dots.x, dots.y)
        np.testing.assert_allclose(numbers(dots.x), sign)
        np.testing.assert_allclose(np.abs(counters).sum(axis=1), 1)
        assert (sign * counters >= 0).all() and (sign * counters).max() > 0.9
    # Two queries need a ball that holds the square: its corners lie on the diamond's sides, which are twice as far.
    radius = numbers(diamond.x).max()
    assert (np.abs(numbers(square.x)) + np.abs(numbers(square.y))).tolist() == [radius] * 4
    queries = queries_of(Number(bins=figure.CELLS))
    sensitivity = GroupCounters(epsilon=1.0).sensitivity(problem_of(queries, 10)) / row_weight(queries)
    assert sensitivity == 1 and radius == 2
    assert "changes the counters A and B by 1 together: two sides of the square." in shown.sentence
    assert "people A + B and B − A have sensitivity 2: the diamond" in shown.sentence


@pytest.mark.parametrize(("view", "key"), list(zip(VIEWS, ("surveys", "normal", "person"), strict=True)))
def test_each_picture_has_its_sentence_beside_it(view: str, key: str) -> None:
    app = lesson("margins", **{"margins-picture": view})
    chart = drawn(app)[f"margins_{key}_chart"]
    assert key == "surveys" or chart["sentence"] in texts(app).replace(" :orange-badge[theory]", "")
    expected = "simulated: samples and preview sampler, seed 1" if key == "surveys" else "exact theory: nothing sampled"
    assert expected in chart["layout"]["title"]["text"].replace("<br>", " ")


def test_the_button_makes_both_intervals_alike() -> None:
    app = lesson("margins")
    (button,) = (each for each in app.button if each.label)
    before = numbers_in(told(app))
    after = numbers_in(told(button.click().run()))
    assert before[0] < 10 and after[0] >= 17, (before, after)
