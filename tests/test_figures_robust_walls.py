"""Walls on the robust page's pictures: hatched where nothing can be, numbers the theorems', intervals exact."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dpcore import Line, Problem, Thresholds
from dpcore.figures.figure import percent
from dpcore.figures.outcomes import nearly, nearly_percent
from dpcore.figures.robust import Mark, Seen, Wall, chance_curve, hatches_above, places
from dpcore.figures.salaries import EPSILONS, Comparison, order_of_interval
from dpcore.figures.salaries_walls import (
    CURVE,
    Scale,
    hardest,
    hatches_below,
    missed,
    ranks_over_epsilon,
    refusals_over_epsilon,
)
from dpcore.limits.refusal import most_answers, most_right
from dpcore.mechanisms.stable_median import StableMedian, answer_chance
from tests.test_figures_robust_sparse import SHOWN, sound


def compared(*, n: int, stable: int) -> Comparison:
    """A comparison as made from data of so many rows."""
    losses = np.array(EPSILONS)
    rank = np.minimum(0.5, 5 / losses / n)
    return Comparison(
        domain=Line(low=0, high=100, bits=10, unit="USD"), n=n, trials=500, exact=(50.0, 50.0, 49.0),
        error=np.ones((3, len(EPSILONS))), refused=np.tile((losses < 0.5).astype(float), (3, 1)), delta=1e-6,
        stable=stable, rank=np.stack([rank, 0.9 * rank, 1.1 * rank]),
    )  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_what_nobody_can_do_stands_above_the_curve(epsilon: float, dark: bool) -> None:
    threshold = StableMedian(epsilon=epsilon).threshold
    delta, stable = float(answer_chance(1, epsilon=epsilon, threshold=threshold)), threshold
    x = places(stable=stable, threshold=threshold)
    wall = Wall(
        silent=most_answers(x, epsilon=epsilon, delta=delta),
        anybody=np.array([most_right(int(each), epsilon=epsilon, delta=delta) for each in x]),
    )
    figure = sound(
        chance_curve(
            x=x, chances={"answer": answer_chance(x.astype(np.int64), epsilon=epsilon, threshold=threshold)},
            marks=[Mark(name="your data", x=stable, chance=0.5)], threshold=threshold, wall=wall,
            seen=Seen(share=0.5, low=0.45, high=0.55), title="stability", sentence="It says so.",
            badge=SHOWN["badge"], dark=dark,
        )
    )  # fmt: skip
    drawn = figure.spec["datasets"]
    for curve, nobody in zip(drawn["curves"], drawn["wall"], strict=True):
        assert curve["x"] == nobody["x"]
        assert curve["chance"] <= nobody["chance"] + 1e-3 * nobody["chance"]  # four digits
        assert curve["chance"] <= nobody["anybody"] + 1e-3
    assert figure.table["most for whoever is never wrong"][-1] == pytest.approx(1, abs=1e-3)
    assert drawn["seen"][0] == {"x": stable, "chance": 0.5, "low": 0.45, "high": 0.55}
    for line in drawn["hatches"]:
        ends = np.array([[line["x"], line["y"]], [line["x2"], line["y2"]]])
        over = ends[:, 1] - np.interp(ends[:, 0], x, wall.silent)
        assert (over >= -0.03).all() and x[0] <= ends.min(axis=0)[0] and ends.max(axis=0)[0] <= x[-1]
    # All of it: no line stops short of the top, but where it leaves the picture at the left.
    assert all(line["y2"] == 1 or line["x2"] < x[0] + 0.02 * (x[-1] - x[0]) for line in drawn["hatches"])


def test_a_chance_is_never_told_as_certain() -> None:
    assert [nearly(each) for each in (0.5, 0.9994, 0.9996, 1.0, 0.0)] == [
        "0.5", "0.999", "above 0.999", "above 0.999", "0",
    ]  # fmt: skip
    assert nearly(0.99999, digits=4) == "above 0.9999" and nearly(0.99994, digits=4) == "0.9999"
    assert nearly(1.0, certain=True) == "1", "only what is proved"
    shares = [nearly_percent(each, digits=5) for each in (0.25, 0.99999, 0.999996, 1.0)]
    assert shares == ["25%", "99.999%", "above 99.999%", "above 99.999%"]


def test_hatching_meets_the_wall() -> None:
    x = np.linspace(0, 10, 11)
    lines = hatches_above(x, x / 10)
    assert min(line["y"] - line["x"] / 10 for line in lines) >= -1e-9
    assert max(line["y"] - line["x"] / 10 for line in lines if line["x"] < 9) < 0.01
    scale = Scale(top=0.1, unit=1e-4)
    wall = 0.05 * CURVE[0] / CURVE
    under = hatches_below(wall, scale)
    for line in under:
        for at, share in ((line["epsilon"], line["y"]), (line["to"], line["y2"])):
            assert share <= float(np.interp(np.log(at), np.log(CURVE), wall)) * 1.03 + 1e-6
    assert len(under) > 40


@pytest.mark.parametrize("unit", [None, 1e-4])
def test_a_scale_goes_there_and_back(unit: float | None) -> None:
    scale = Scale(top=2.0, unit=unit)
    levels = np.linspace(0, 1, 7)
    np.testing.assert_allclose(scale.height(scale.value(levels)), levels, atol=1e-12)
    assert float(scale.height(np.array([2.0]))[0]) == pytest.approx(1)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("n", "stable"), [(300, 1), (61_395, 33)])
def test_refusals_have_their_promise_and_their_wall(n: int, stable: int, dark: bool) -> None:
    figure = sound(
        refusals_over_epsilon(found=compared(n=n, stable=stable), epsilon=0.5, badge=SHOWN["badge"], dark=dark)
    )
    for each in figure.spec["datasets"]["curves"]:
        assert each["promise"] >= each["wall"] - 1e-3
        at = float(each["epsilon"])
        threshold = StableMedian(epsilon=at, delta=1e-6).threshold
        assert each["promise"] == pytest.approx(
            1 - float(answer_chance(stable, epsilon=at, threshold=threshold)), abs=0.02
        )
    assert ("at no ε shown" in figure.sentence) is (stable == 1)
    assert f"stability is {stable}" in figure.sentence
    assert "with δ = 1e-6: the best" in figure.sentence, "δ as its slider has it"
    assert figure.table["refused"] == [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert figure.table["to (95% confidence)"][-1] == pytest.approx(0.007351, abs=1e-5)  # none of 500


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("n", [300, 61_395])
def test_ranks_have_their_promise_and_their_wall(n: int, dark: bool) -> None:
    figure = sound(ranks_over_epsilon(found=compared(n=n, stable=9), epsilon=1.0, badge=SHOWN["badge"], dark=dark))
    drawn = figure.spec["datasets"]
    assert all(each["promise"] > each["wall"] for each in drawn["curves"])
    assert bool(drawn["vacuous"]) is (n == 300)
    # Dots may lie in the hatching: what is hatched is a promise for all data, and both picture and caption say so.
    assert '"impossible to promise"' in json.dumps(figure.spec)
    assert figure.sentence.endswith("dots in the hatched part are no contradiction.")
    assert f"miss by up to {percent(5 / n)} of the rows, 5 rows (dots" in figure.sentence
    # On the data of the proof the mechanism is on the possible side, by hardly more than the wall demands.
    for share, wall in zip(
        figure.table["95 in 100 runs, hard data"], figure.table["impossible below, near"], strict=True
    ):
        assert wall * 0.97 - 1 / n <= share <= 1.1 * wall + 2 / n


def test_no_row_between_is_said_as_the_same_cell() -> None:
    found = compared(n=61_395, stable=9)
    exact = replace(found, rank=np.zeros_like(found.rank))
    sentence = ranks_over_epsilon(found=exact, epsilon=1.0, badge=SHOWN["badge"], dark=False).sentence
    assert "95 in 100 exponential medians fall in the median's own cell (dots" in sentence
    assert "On the hardest data known they miss by up to 0.00977% of the rows, 6 rows (diamonds)" in sentence
    assert "0% " not in sentence.replace("100% ", "")
    assert missed(1 / 300, 300) == "miss by up to 0.333% of the rows, 1 row"


def test_hard_data_are_exact() -> None:
    line = Line(bits=3)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=50)
    assert hardest(problem, epsilon=20.0, wall=0.4) == 0
    found = hardest(problem, epsilon=0.01, wall=0.1)
    assert found == pytest.approx(0.12), "5 or 6 of the 50 rows, as 10 of them are in one cell, and it nearly always is"


@pytest.mark.parametrize("trials", [20, 500, 1000])
def test_the_interval_of_a_quantile_holds_it_as_often_as_told(trials: int) -> None:
    middle, low, high = order_of_interval(trials)
    assert low <= middle <= high < trials
    # Numbers up to the law's quantile are binomial; the interval misses it if they are too few or too many.
    missed = binom.cdf(low, trials, 0.95) if low else 0.0
    beyond = binom.sf(high, trials, 0.95) if high < trials - 1 else 0.0
    assert missed <= 0.025 and beyond <= 0.025
    if trials >= 500:
        assert missed + beyond > 0.02, "not wider than need be"
