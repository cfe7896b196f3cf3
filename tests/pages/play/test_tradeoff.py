"""Error against privacy loss: colours, promise, wall, clicks, and what the sentence says of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.mechanisms import serving
from dplab.measure import finish
from dplab.recipe import DEFAULT_RECIPE
from dplab.sweep import Sweep, sweep
from pages.charts.palette import LIGHT
from pages.charts.picture import Band, Curve, Dots, Picture, Region, Rule, Wall, Words, numbers
from pages.charts.roles import style_for
from pages.play.figures.tradeoff import tradeoff
from tests.pages.reports import HOSTILE, SETTINGS, check, reported

LABEL = "impossible"
ONE = np.array([[[0.05, 0.1, 0.2], [0.005, 0.01, 0.02]], [[0.5, 0.6, 0.7], [np.nan] * 3]])
CURVE = Sweep(
    n=1000,
    keys=("gaussian", "identity"),
    epsilons=np.array([0.1, 1.0]),
    worst=ONE,
    typical=ONE / 2,
    promised=np.array([[0.4, 0.04], [np.inf, np.inf]]),
)
WALL = (np.array([0.05, 0.1, 1.0]), np.array([1e-9, 0.3, 0.08]))


def drawn(
    curve: Sweep = CURVE,
    *,
    chosen: str = "gaussian",
    epsilon: float = 1.0,
    alpha: float | None = None,
    impossible: tuple[Floats, Floats] | None = WALL,
    titles: dict[str, str] | None = None,
    weaker: str = "",
    every: bool = True,
) -> Picture:
    picture = tradeoff(
        sweep=curve,
        titles=titles or {key: key.capitalize() for key in curve.keys},
        weaker={key: weaker for key in curve.keys},
        chosen=chosen,
        epsilon=epsilon,
        alpha=alpha,
        impossible=impossible,
        every=every,
    )
    check(picture)
    return picture


def test_a_mechanism_has_its_own_colour_and_one_name_for_all_its_marks() -> None:
    picture = drawn()
    for key in CURVE.keys:
        own = [mark for mark in picture.marks if mark.role == f"mechanism:{key}" and not isinstance(mark, Words)]
        assert {mark.name for mark in own} == {key.capitalize()}
        assert sum(mark.legend for mark in own) == 1, "one line in the legend, which hides them all"
    traces = check(picture).data
    for key in CURVE.keys:
        dots = next(t for t in traces if t.get("legendgroup") == key.capitalize() and t.get("mode") == "markers")
        assert dots["marker"]["color"] == style_for(f"mechanism:{key}", LIGHT).colour
    other = check(drawn(chosen="identity")).data
    uid = {trace["uid"] for trace in traces if trace.get("name") == "Identity"}
    assert uid <= {trace.get("uid") for trace in other}, "what is hidden stays hidden when another is chosen"


def test_a_name_that_says_the_kind_of_guarantee_does_not_say_it_twice() -> None:
    titles = dict.fromkeys(CURVE.keys, "Sparse histogram (random privacy)") | {"identity": "Identity"}
    picture = drawn(titles=titles, weaker="random privacy, γ = 0.1")
    named = picture.find(Dots, role="mechanism:gaussian")[0].name
    assert named == "Sparse histogram (random, γ = 0.1)"


def test_words_of_an_error_of_no_rows_stand_in_the_picture() -> None:
    exact = replace(CURVE, typical=np.zeros_like(CURVE.typical))
    picture = drawn(exact)
    (word,) = (mark for mark in picture.find(Words) if mark.text == "mean error")
    assert picture.y.low is not None and float(word.y) >= 2.5 * picture.y.low


def test_a_click_on_a_point_says_its_mechanism_and_epsilon() -> None:
    picture = drawn()
    dots = {mark.role: mark for mark in picture.find(Dots)}
    assert dots["mechanism:gaussian"].pick == [{"key": "gaussian", "epsilon": e} for e in (0.1, 1.0)]
    # A curve through the points would take their clicks.
    lines = [trace for trace in check(picture).data if trace.get("mode") == "lines" and trace.get("name") == "Gaussian"]
    assert [trace.get("hoverinfo") for trace in lines].count("skip") == len(lines) - 1  # the typical error is elsewhere
    # Where it refused to answer there is no point.
    assert dots["mechanism:identity"].pick == [{"key": "identity", "epsilon": 0.1}]
    assert numbers(dots["mechanism:gaussian"].x).tolist() == [0.1, 1.0]
    assert numbers(dots["mechanism:gaussian"].y).tolist() == [0.1, 0.01]
    assert dots["mechanism:gaussian"].hover == [
        "Gaussian, worst error, median at ε = 0.1: 10% (100 of 1,000 rows), simulated",
        "Gaussian, worst error, median at ε = 1: 1% (10 of 1,000 rows), simulated",
    ]
    assert "Click a point to select its mechanism and ε." in picture.sentence


def test_only_the_chosen_one_has_a_band_a_typical_error_and_a_promise() -> None:
    picture = drawn()
    band = picture.one(Band)
    assert band.role == "mechanism:gaussian"
    assert numbers(band.low).tolist() == [0.05, 0.005] and numbers(band.high).tolist() == [0.2, 0.02]
    (typical,) = (mark for mark in picture.find(Curve, role="mechanism:gaussian") if mark.dash == "dash")
    assert numbers(typical.y).tolist() == [0.05, 0.005]
    promise = picture.one(Curve, role="theory")
    assert promise.name == "guaranteed" and numbers(promise.y).tolist() == [0.4, 0.04]
    assert "Orange, dashed" in picture.sentence
    assert not drawn(chosen="identity").find(Curve, role="theory"), "nothing is promised by it"
    assert not drawn(chosen="net").find(Band)


def test_errors_are_shares_with_whole_rows_beside() -> None:
    picture = drawn(alpha=0.2, epsilon=30.0)
    assert picture.y.rows == 1000 and picture.y.log and picture.x.log and not picture.find(Region)
    assert (picture.y.low or 1) >= 0.5 / 1000 and picture.y.high == 1
    upright, lying = (next(r for r in picture.find(Rule) if (r.x is None) is flat) for flat in (False, True))
    assert upright.x == 30 and lying.y == 0.2 and lying.dash == "dot"


def test_more_than_everything_stands_in_a_strip_and_keeps_its_value() -> None:
    """An error of 10,000% once pressed all that is worth looking at into a corner."""
    far = drawn(replace(CURVE, worst=7 * ONE, promised=np.array([[40.0, 0.04], [np.inf, np.inf]])))
    strip = far.one(Region)
    assert strip.role == "vacuous" and strip.label == "no guarantee" and strip.y is not None
    assert strip.corner == "top left"
    assert drawn(replace(CURVE, worst=7 * ONE), epsilon=0.1).one(Region).corner == "top right"
    assert strip.y[0] == 1 < strip.y[1] == far.y.high == drawn(replace(CURVE, worst=700 * ONE)).y.high
    beyond = far.one(Dots, role="mechanism:identity")
    assert strip.y[0] < numbers(beyond.y)[0] < strip.y[1], "4.2 of n"
    assert beyond.hover and ": 4.2·n (4,200 rows)" in beyond.hover[0]
    assert 4.2 in far.table["worst error"] and 40.0 in far.table["guaranteed"]
    assert numbers(far.one(Curve, role="theory").y).tolist() == [40, 0.04], "a promise leaves the picture"
    assert numbers(far.one(Dots, role="mechanism:gaussian").y) == pytest.approx([0.7, 0.07]), "below, nothing moves"


THREE = Sweep(
    n=1000,
    keys=("net", "gaussian", "identity"),
    epsilons=np.array([0.1, 1.0]),
    worst=np.array([[[9.0] * 3, [0.3] * 3], [[0.1] * 3, [0.02] * 3], [[0.2] * 3, [0.2] * 3]]),
    typical=np.full((3, 2, 3), 0.01),
    promised=np.full((3, 2), np.inf),
)


def test_those_that_another_beats_everywhere_are_drawn_on_demand_or_when_chosen() -> None:
    def seen(**settings: Any) -> set[str]:
        return {mark.role.removeprefix("mechanism:") for mark in drawn(THREE, **settings).find(Dots)}

    # Among all, the Gaussian is best; it promises less, and of the others identity is.
    picture = tradeoff(
        sweep=THREE,
        titles={key: key for key in THREE.keys},
        weaker={key: "δ = 1e-6" * (key == "gaussian") for key in THREE.keys},
        chosen="gaussian",
        epsilon=1.0,
        alpha=None,
        every=False,
    )
    assert {mark.role for mark in picture.find(Dots)} == {"mechanism:gaussian", "mechanism:identity"}
    assert picture.y.high == 1, "the axis is that of what is drawn"
    assert "The picture shows the selected mechanism and those with the smallest error at some ε." in picture.sentence
    assert picture.table["mechanism"].count("net") == 2, "the table has all"
    assert seen(every=False) == {"gaussian"} and seen(every=False, chosen="net") == {"net", "gaussian"}
    assert seen() == {"net", "gaussian", "identity"} and "The picture shows the selected" not in drawn(THREE).sentence


@pytest.mark.parametrize(
    ("epsilon", "told"),
    [
        (0.9, "near ε = 1 errors below 8%."),
        (20.0, "at ε = 1, where the curve ends, errors below 8%."),
        (0.001, "at ε = 0.05, where the curve ends, errors below 0.0000001%."),
    ],
)
def test_a_page_beyond_the_wall_is_told_where_the_wall_ends(epsilon: float, told: str) -> None:
    assert drawn(epsilon=epsilon).sentence.endswith(told)


def test_what_nobody_can_promise_is_hatched_and_named_where_it_is_first_seen() -> None:
    picture = drawn(epsilon=0.001)
    wall = picture.one(Wall)
    # The edge is cut at the floor, not laid along it.
    assert wall.role == "impossible" and numbers(wall.y).tolist() == [1e-9, 0.3, 0.08] and wall.end == picture.y.low
    (words,) = (each for each in picture.find(Words) if each.text == LABEL)
    assert (words.x, words.y, words.inside) == (0.1, wall.end, False)
    assert picture.table["guaranteed"][-3:] == [1e-9, 0.3, 0.08]
    # Out of sight it has no name; where nothing is known there is nothing.
    low = drawn(impossible=(np.array([0.1]), np.array([1e-9])))
    assert low.find(Wall) and not [each for each in low.find(Words) if each.text == LABEL]
    without = drawn(impossible=None)
    assert not without.find(Wall) and "Hatched" not in without.sentence


@pytest.mark.parametrize("worst", [np.nan, 0.0, 7.0])
@pytest.mark.parametrize(("chosen", "weaker"), [("gaussian", ""), ("absent", ""), ("gaussian", "δ = 1e-6")])
def test_a_sweep_without_answers_or_with_zeros_is_a_picture_too(worst: float, chosen: str, weaker: str) -> None:
    errors = np.full((1, 2, 3), worst)
    curve = Sweep(
        n=1,
        keys=("gaussian",),
        epsilons=np.array([0.1, 1.0]),
        worst=errors,
        typical=errors,
        promised=np.array([[np.inf, 3.0]]),
    )
    drawn(curve, chosen=chosen, weaker=weaker, epsilon=0.3, alpha=0.1)


def test_the_sentence_names_who_errs_least() -> None:
    said = "Near ε = 0.1, Gaussian has the smallest median of the worst error"
    assert drawn(epsilon=0.1).sentence.startswith(f"{said}: 10%. 2 pure ε mechanisms are compared.")


def test_titles_are_words_and_those_alike_stay_apart() -> None:
    picture = drawn(titles={"gaussian": HOSTILE[3], "identity": HOSTILE[3]})
    assert len({mark.name for mark in picture.find(Dots)}) == 2


@pytest.mark.slow
def test_a_true_sweep_is_drawn_whole() -> None:
    dataset, report = reported(*SETTINGS[0])
    entries = serving(report.problem.queries)
    curve = finish(sweep(entries, dataset, report.problem, shared={"alpha": 0.5}, trials=3, epsilons=(0.1, 1.0)))
    titles: dict[str, Any] = {entry.key: entry.title for entry in entries}
    wall = lower_curve(report.problem, entries[0].make(), epsilons=(0.1, 1.0, 3.0), beta=0.05)
    picture = drawn(curve, chosen="identity", titles=titles, impossible=wall)
    low, high = picture.y.low, picture.y.high
    assert low is not None and high is not None
    for mark in picture.find(Dots):
        assert low <= numbers(mark.y).min() and numbers(mark.y).max() <= high
    assert len(picture.find(Dots)) == len(curve.keys)


def test_a_report_of_the_page_takes_the_place_of_the_sweep_where_both_speak() -> None:
    recipe = replace(DEFAULT_RECIPE, trials=100)
    dataset = recipe.source.dataset()
    problem = recipe.problem(dataset)
    report = finish(recipe.report(dataset, recipe.mechanism().prepare(dataset, problem)))
    other = np.full((2, 2, 3), 0.1)
    curve = Sweep(
        n=problem.n,
        keys=("gaussian", "identity"),
        epsilons=np.array([0.1, 1.0]),
        worst=other,
        typical=other,
        promised=other[:, :, 0],
    )
    told = curve.with_report(report, key="identity", epsilon=1.0)
    assert told.worst[1, 1, 1] == np.median(report.worst) and told.typical[1, 1, 1] == np.median(report.typical)
    assert (np.delete(told.worst.reshape(4, 3), 3, axis=0) == 0.1).all() and (curve.worst == 0.1).all()
    assert curve.with_report(report, key="identity", epsilon=0.7) is curve
    assert curve.with_report(report, key="net", epsilon=1.0) is curve


def test_where_no_mechanism_of_epsilon_alone_answered_it_is_said() -> None:
    silent = replace(CURVE, worst=np.full_like(CURVE.worst, np.nan))
    said = "Every mechanism with a pure ε guarantee gave no answer (⊥) here."
    assert said in drawn(silent).sentence and said not in drawn().sentence
    assert said in drawn(weaker="random privacy, γ = 0.1").sentence, "their guarantees are weaker"
