"""Pictures of the One number page: what is exact, seen and impossible stands where its numbers are, in its role."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore import Number
from dplab.robust import Chances, ObservedAnswers
from dplab.sweep import EPSILON_GRID
from pages.charts.picture import Axis, Band, Bars, Curve, Dots, Picture, Rule, Wall, Words, numbers
from pages.one_number.chance import Place, chance_curve, stability_axis
from pages.one_number.mean import over_epsilon
from pages.one_number.runs import MAX_ANSWERS, MAX_BARS, answers, outcomes, votes
from pages.one_number.words import in_100, nearly, nearly_percent
from tests.pages.picture_checks import whole

X = np.arange(1.0, 31)
ANSWER = X / 40
SILENT = np.minimum(1, X / 30)
ANYBODY = np.where(X <= 20, 1 - 0.5 / X, np.nan)
KNOWN = Chances(x=X, answer=ANSWER, never_wrong_bound=SILENT, may_err_bound=ANYBODY)
MINE = Place(name="your data", x=12, chance=0.3)
NEAR = Place(name="one person changed, against it", x=11, chance=0.275)


def stability_picture(*, x: Axis | None = None, **more: Any) -> Picture:
    told: dict[str, Any] = {"curves": {"chance of an answer": KNOWN}, "data": [MINE, NEAR], "sentence": "It says so."}
    return chance_curve(**told | {"x": x or stability_axis(X, threshold=16), "threshold": 16} | more)


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.0, "none of 100"),
        (1e-9, "fewer than 1 in 100"),
        (0.3, "about 30 in 100"),
        (0.999, "more than 99 in 100"),
        (1.0, "all of 100"),
    ],
)
def test_a_chance_is_never_rounded_to_none_or_all(chance: float, words: str) -> None:
    assert in_100(chance) == words


def test_a_chance_is_never_told_as_certain() -> None:
    told = [nearly(each) for each in (0.5, 0.9994, 0.9996, 1.0, 0.0)]
    assert told == ["0.5", "0.999", "above 0.999", "above 0.999", "0"]
    assert nearly(0.99999, digits=4) == "above 0.9999" and nearly(0.99994, digits=4) == "0.9999"
    assert nearly(1.0, certain=True) == "1", "only what is proved"
    assert nearly(3.9681e-6) == "3.97e-6", "written as every δ is"
    shares = [nearly_percent(each, digits=5) for each in (0.25, 0.99999, 0.999996, 1.0)]
    assert shares == ["25%", "99.999%", "above 99.999%", "above 99.999%"]


def test_the_exact_chance_is_theory_the_previews_are_seen_and_the_data_are_true() -> None:
    seen = ObservedAnswers(answered=290, trials=1000, share=0.29, low=0.26, high=0.32)
    picture = whole(stability_picture(seen=seen))
    exact = picture.one(Curve, role="theory")
    assert np.array_equal(exact.x, X) and np.array_equal(exact.y, ANSWER)
    tint = picture.one(Band, role="theory")
    assert np.array_equal(tint.high, ANSWER) and not numbers(tint.low).any()
    dot = picture.one(Dots, role="released")
    assert (dot.x, dot.y, dot.low, dot.high) == ([12.0], [0.29], [0.26], [0.32])
    assert dot.hover == ["290 of 1,000 previews gave an answer: 29% (26% to 32% with 95% confidence)"]
    *others, mine = picture.find(Dots, role="true")
    assert (mine.x, mine.y, mine.shape) == ([12], [0.3], "circle"), "on top of its neighbours"
    assert [(each.x, each.y, each.shape) for each in others] == [([11], [0.275], "diamond")]
    assert mine.hover == ["your data: 12 rows, probability of an answer 0.3"]
    words = picture.one(Words, role="true")
    assert (words.text, words.x, words.y) == ("your data", 12, 0.3)
    assert picture.one(Rule).x == 16 and picture.one(Rule).role == "quiet"
    assert (picture.x.form, picture.x.log, picture.y.form) == (",d", False, "~p"), "whole rows, and shares"


def test_what_is_impossible_is_hatched_up_to_the_top() -> None:
    picture = stability_picture()
    wall = picture.one(Wall)
    assert (wall.role, wall.end, wall.label) == ("impossible", 1, "impossible")
    assert np.array_equal(wall.x, X) and np.array_equal(wall.y, SILENT)
    dotted = picture.one(Curve, role="impossible")
    np.testing.assert_array_equal(dotted.y, ANYBODY)
    assert dotted.dash == "dot"
    assert picture.table["upper bound, if no answer may be wrong"][-1] == 1
    assert picture.table["upper bound, if wrong answers are allowed"][-1] is None
    steep = stability_picture(curves={"chance of an answer": replace(KNOWN, never_wrong_bound=np.ones_like(X))})
    assert steep.one(Wall).label == "", "no room for the word"


@pytest.mark.parametrize(("right", "log"), [(31.0, False), (64.0, False), (5000.0, True)])
def test_data_far_beyond_the_threshold_are_in_the_picture(right: float, log: bool) -> None:
    x = np.geomspace(1, right, 40)
    axis = stability_axis(x, threshold=16)
    assert (axis.log, axis.low, axis.high) == (log, 1, right)


def test_agreement_has_two_curves_and_no_wall() -> None:
    x = np.linspace(0.5, 1, 6)
    none = np.array([])
    curves = {
        "calibrated": Chances(x=x, answer=x, never_wrong_bound=none, may_err_bound=none),
        "paper's parameters": Chances(x=x, answer=x**2, never_wrong_bound=none, may_err_bound=none),
    }
    data = [Place(name="your data", x=0.5, chance=0.5)]
    axis = Axis(title="agreement", low=0.5, high=1, form="~p")
    picture = whole(chance_curve(curves=curves, data=data, x=axis, sentence="It says so."))
    assert not picture.find(Wall) and not picture.find(Rule)
    assert [(curve.name, curve.role) for curve in picture.find(Curve)] == [
        ("calibrated", "theory"),
        ("paper's parameters", "other-0"),
    ]
    assert picture.one(Dots).hover == ["your data: 50%, probability of an answer 0.5"]
    assert list(picture.table) == [
        "agreement",
        "probability of an answer, calibrated",
        "probability of an answer, paper's parameters",
    ]


@pytest.mark.parametrize(("refused", "wrong"), [(0, 0), (1, 0), (0.303, 0.004), (0.333, 0.333), (0.0005, 0.9995)])
def test_a_hundred_dots_add_up(refused: float, wrong: float) -> None:
    picture = whole(outcomes(refused=refused, wrong=wrong))
    dots = {each.name: len(numbers(each.x)) for each in picture.find(Dots)}
    assert sum(dots.values()) == 100
    assert ("all of 100 runs give an answer" in picture.sentence) == (refused == 0)
    assert abs(dots["no answer"] - 100 * refused) < 1 and abs(dots["another answer"] - 100 * wrong) < 1
    places = {(x, y) for each in picture.find(Dots) for x, y in zip(numbers(each.x), numbers(each.y), strict=True)}
    assert len(places) == 100
    right, silent, other = (picture.one(Dots, name=name) for name in dots)
    assert right.role == "released" and len({each.role for each in (right, silent, other)}) == 3
    assert len({each.shape for each in (right, silent, other)}) == 3, "told apart without a colour"


def test_answers_of_one_that_never_refuses_stand_beside_the_exact_one() -> None:
    domain = Number(low=0, high=100, bits=10, unit="USD")
    values = np.array([500] * 900 + [480] * 99 + [3])
    picture = whole(answers(domain=domain, truth=500, values=values))
    bars = picture.one(Bars, role="mechanism:exponential_median")
    start, end, shares = (numbers(each) for each in (bars.start, bars.end, bars.value))
    assert len(shares) <= MAX_BARS and shares.sum() == pytest.approx(1)
    points = domain.points()
    inside, _ = np.histogram(points[values], bins=np.append(start, end[-1]))
    assert shares == pytest.approx(inside / 1000), "each bar is over its own answers, the farthest included"
    assert picture.one(Rule, role="true").x == points[500]
    assert "about 90 in 100" in picture.sentence and picture.x.title == "answer (USD)"
    one = whole(answers(domain=domain, truth=3, values=np.full(10, 3)))
    bar, half = one.one(Bars), domain.width / 2
    assert numbers(bar.start) == pytest.approx([points[3] - half])
    assert numbers(bar.end) == pytest.approx([points[3] + half])


def test_votes_of_many_answers_share_a_bar() -> None:
    law = np.arange(1, 21) / 210
    picture = whole(votes(names=[f"a{i}" for i in range(20)], law=law, truth=19, needed=0.6))
    right, wrong = picture.find(Bars)
    assert right.role == "true" and wrong.role != "true" and right.across and wrong.across
    assert numbers(right.value) == pytest.approx([law[19]])
    assert len(numbers(wrong.value)) == MAX_ANSWERS and numbers(wrong.value).sum() == pytest.approx(1 - law[19])
    middle = [(float(a) + float(b)) / 2 for a, b in zip(numbers(right.start), numbers(right.end), strict=True)]
    assert [picture.y.labels[round(place)] for place in middle] == ["a19"] and middle == pytest.approx([12])
    assert right.hover == ["a19, the data's answer: 9.52%"]
    assert picture.one(Rule, role="theory").x == 0.6 and picture.one(Rule, role="quiet").x == 0.5
    assert "the next, a18" in picture.sentence and "60% of the k votes are needed" in picture.sentence


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        (1.0, "100% of the k votes"),
        (1.72, "1.72 times as many as the k votes are needed"),
        (2000.0, "No number of votes is enough"),
    ],
)
def test_votes_are_shares_of_the_subsamples_not_of_the_rows(needed: float, words: str) -> None:
    picture = whole(votes(names=["a", "b"], law=np.array([0.7, 0.3]), truth=0, needed=needed))
    assert words in picture.sentence and "times n" not in picture.sentence
    assert bool(picture.find(Rule, role="theory")) is (needed <= 1.5)
    assert not picture.x.rows
    assert 0.5 < max(picture.x.ticks) <= 1, "the room for words beyond 100% has no numbers"


def test_both_means_are_drawn_where_they_are_and_what_is_less_than_half_a_cell_as_that() -> None:
    line = Number(low=0, high=100, bits=5, unit="USD")
    errors = np.linspace(9, 0, 2 * len(EPSILON_GRID)).reshape(-1, 2)
    picture = whole(over_epsilon(errors, domain=line, epsilon=0.5))
    for place, key in enumerate(("unbounded_mean", "clipped_mean")):
        dots = picture.one(Dots, role=f"mechanism:{key}")
        assert numbers(dots.y) == pytest.approx(np.maximum(errors[:, place], line.width / 2))
    assert 0 in picture.table["clipped to the declared bounds"], "the table keeps it"
    assert picture.caption == "Errors below half a cell are shown as half a cell."
    assert not over_epsilon(errors + line.width, domain=line, epsilon=0.5).caption
    assert picture.one(Rule).x == 0.5 and "USD" in picture.y.title
    assert "Near ε = 0.5, the error of 95 in 100" in picture.sentence
