"""Pictures of the limits: their numbers are the core's, the wall is on the right side, sentences are true."""

from __future__ import annotations

import json
import math
from typing import Any

import altair
import numpy as np
import pytest

from dpcore.core import Neighbours
from dpcore.figures import (
    limits_dimension,
    limits_fat,
    limits_halves,
    limits_histogram,
    limits_lowbits,
    limits_median,
    limits_odds,
    limits_population,
    limits_subset,
    limits_vc,
)
from dpcore.figures.figure import Figure, significant
from dpcore.figures.limits_layers import hatched, mark_records
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall, chance
from dpcore.figures.limits_plot import plot
from dpcore.limits import distributional, low_bits, median, minimax, walk
from dpcore.limits.halves import TwoWorlds
from dpcore.limits.named_classes import NAMED
from dpcore.limits.shattering import fat_shattering_dimension, vc_dimension

BADGE = "badge of this picture"


def drawn(figure: Figure) -> dict[str, Any]:
    """The specification, after checking what every picture owes its reader."""
    text = json.dumps(figure.spec, allow_nan=False)
    assert BADGE in text and len(text) < 200_000
    altair.Chart.from_dict(figure.spec, validate=True)
    assert figure.sentence.endswith(".") and "nan" not in figure.sentence and "inf" not in figure.sentence
    assert "**" not in figure.sentence
    assert len({len(column) for column in figure.table.values()}) == 1
    named: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            if set(node) == {"name"} and isinstance(node["name"], str):
                named.add(node["name"])
            for each in node.values():
                visit(each)
        elif isinstance(node, list):
            for each in node:
                visit(each)

    visit(figure.spec["layer"])
    assert named <= set(figure.spec["datasets"])
    return figure.spec


def median_picture(**changes: Any) -> Figure:
    seen = walk.MeasuredWalk(chance=np.array([1.0, 0.5]), low=np.array([0.9, 0.4]), high=np.array([1.0, 0.6]))
    settings: dict[str, Any] = {
        "n": 101, "epsilon": 0.5, "delta": 1e-6, "bits": 100.0, "guess": 50.0, "measured": (np.array([1, 4]), seen),
        "badge": BADGE, "dark": False,
    }  # fmt: skip
    return limits_median.success(**{**settings, **changes})


@pytest.mark.parametrize("epsilon", [0.01, 10.0])
@pytest.mark.parametrize("bits", [1.0, 10_000.0])
def test_no_curve_of_a_private_median_is_above_the_wall(epsilon: float, bits: float) -> None:
    figure = median_picture(epsilon=epsilon, bits=bits)
    spec = drawn(figure)
    ceiling = {row["x"]: row["y"] for row in spec["datasets"]["wall"]}
    for row in spec["datasets"]["lines"]:
        if "stable" not in row["series"]:
            assert row["y"] <= ceiling[row["x"]] + 1e-3
    assert f"{median.wall(n=101, epsilon=epsilon):,.1f} bits" in figure.sentence


def test_the_walk_draws_every_step_it_must() -> None:
    steady = walk.exponential_walk(bits=9000.0, n=2001, epsilon=0.3)
    drawn(limits_median.climb(walk=steady, bits=9000.0, badge=BADGE, dark=True))
    figure = limits_median.factors(walk=steady, badge=BADGE, dark=True)
    assert np.abs([row["y"] for row in drawn(figure)["datasets"]["lines"]]).max() <= 0.3 + 1e-9
    jump = walk.stable_walk(n=201, epsilon=0.3, delta=1e-6)
    figure = limits_median.climb(walk=jump, bits=10.0, badge=BADGE, dark=False)
    drawn(figure)
    assert "exactly 0" in figure.sentence
    figure = limits_median.factors(walk=jump, badge=BADGE, dark=False)
    drawn(figure)
    assert "δ = 1e-6 covers it" in figure.sentence


def test_one_run_crosses_what_is_wrong() -> None:
    truth, guess = np.array([True, True, False, False]), np.array([True, False, True, False])
    figure = limits_halves.one_run(
        truth=truth, released=truth * 1.0, chosen=guess, refused=False, badge=BADGE, dark=False
    )
    assert [row["point"] for row in drawn(figure)["datasets"]["wrong"]] == [1, 2]
    assert "finds 1 of the 2" in figure.sentence


def test_recovery_and_accuracy_know_the_impossible_side() -> None:
    epsilons = (0.1, 1.0, 10.0)
    shares = {"one": np.full((3, 5), 0.5), "two": np.ones((3, 5))}
    figure = limits_vc.recovered(
        epsilons=epsilons, shares=shares, repeats=1, delta=0.0, epsilon=1.0, guess=0.9, badge=BADGE, dark=False
    )
    wall = drawn(figure)["datasets"]["wall"]
    assert all(row["y"] < row["end"] for row in wall)
    assert wall[0]["y"] < 0.55 and wall[-1]["y"] > 0.99
    assert "find 50% of the secret half (you guessed 90%)" in figure.sentence
    errors = {"one": np.array([[0.4, math.inf], [0.2, 0.3], [0.0, 0.0]])}
    figure = limits_vc.accuracy(
        epsilons=epsilons, errors=errors, repeats=1, points=8, delta=0.0, badge=BADGE, dark=False
    )
    # Where nothing is impossible the wall leaves the picture: its edge along the floor would deny the floor's error.
    assert all(row["y"] != row["end"] for row in drawn(figure)["datasets"]["wall"])


def test_worlds_say_what_is_impossible() -> None:
    def told(inside: float) -> TwoWorlds:
        return TwoWorlds(
            inside=inside,
            inside_interval=(inside - 0.01, inside),
            outside=0.0,
            outside_interval=(0.0, 0.01),
            allowed=0.03,
        )

    caught = limits_halves.worlds(told=told(1.0), epsilon=1.0, claimed=True, badge=BADGE, dark=False)
    drawn(caught)
    assert "this cannot be ε-DP" in caught.sentence
    assert "no contradiction" in limits_halves.worlds(
        told=told(0.02), epsilon=1.0, claimed=True, badge=BADGE, dark=False
    ).sentence  # fmt: skip


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_corrected_constant_is_never_above_the_paper_s(neighbours: Neighbours) -> None:
    figure = limits_fat.unavoidable(
        points=8, scale=0.1, spread=0.05, epsilon=1.0, neighbours=neighbours,
        measured=((0.1, 1.0), np.ones((2, 4))), badge=BADGE, dark=False,
    )  # fmt: skip
    spec = drawn(figure)
    rows = spec["datasets"]["lines"]
    assert all(row["y"] != row["end"] for row in spec["datasets"]["wall"])
    curves = {name: [row["y"] for row in rows if row["series"] == name] for name in {row["series"] for row in rows}}
    assert all(np.array(curves["corrected constant"]) <= np.array(curves["the paper's constant"]))


@pytest.mark.parametrize(("points", "told"), [(32, "of 32 (×)."), (64, "of 64 (×); the first 32 of 64 are drawn.")])
def test_people_who_are_not_drawn_are_counted(points: int, told: str) -> None:
    truth = np.arange(points) % 2 == 0
    figure = limits_fat.weights(
        levels=np.full(points, 0.5), scale=0.1, truth=truth, chosen=truth, badge=BADGE, dark=False
    )
    assert figure.sentence.endswith(told) and len(drawn(figure)["datasets"]["people"]) == 32


def test_subset_sums_draw_estimates_and_shares() -> None:
    truth = np.array([True, False, True])
    figure = limits_subset.bits(
        truth=truth, estimates=np.array([0.9, 0.8, 7.0]), words=("no", "yes"), badge=BADGE, dark=False
    )
    assert [row["person"] for row in drawn(figure)["datasets"]["wrong"]] == [1]
    assert "66.7% of 3" in figure.sentence
    shares = np.array([[1.0, 1.0], [0.8, 0.9], [0.5, 0.6]])
    figure = limits_subset.by_noise(
        people=100, error=5, errors=np.array([0, 5, 30]), shares=shares, proved=np.array([1.0, 0.2, 0.0]), forced=2.0,
        blind=0.5, guess=0.7, badge=BADGE, dark=False,
    )  # fmt: skip
    drawn(figure)
    assert "finds 85% of the bits (you guessed 70%)" in figure.sentence
    drawn(
        limits_subset.by_questions(people=100, questions=[5, 50, 500], shares=shares, asked=500, badge=BADGE, dark=True)
    )


@pytest.mark.parametrize(("cells", "rows"), [(2, 50), (1024, 50), (64, 100_000)])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_no_exact_risk_of_a_private_histogram_is_below_the_wall(cells: int, rows: int, epsilon: float) -> None:
    figure = limits_histogram.risks(
        cells=cells, occupied=1, rows=rows, epsilon=epsilon, guess=10, measured=np.array([0.1, 0.2]), badge=BADGE,
        dark=False,
    )  # fmt: skip
    spec = drawn(figure)
    wall = {row["x"]: row["y"] for row in spec["datasets"]["wall"]}
    for row in spec["datasets"]["lines"]:
        if row["series"].startswith(("identity", "Laplace")):
            assert row["y"] >= wall.get(row["x"], 0) * (1 - 1e-3)
    assert significant(minimax.best_pairs(cells=cells, rows=rows, epsilon=epsilon).risk) in figure.sentence


def test_odds_populations_and_low_bits() -> None:
    figure = limits_odds.belief(prior=0.1, epsilon=1.0, delta=1e-6, guess=0.5, badge=BADGE, dark=False)
    drawn(figure)
    assert "at most 23.2%" in figure.sentence and "You guessed at most 50%" in figure.sentence
    drawn(limits_odds.guessing(prior=0.5, epsilon=1.0, delta=0.0, badge=BADGE, dark=True))
    apart = distributional.separation(n=10_000, epsilon=0.1)
    figure = limits_population.told_apart(apart=apart, n=10_000, limit=0.275, guess=0.0, badge=BADGE, dark=False)
    drawn(figure)
    assert "27.5% of all pairs (you guessed 0%)" in figure.sentence
    broken = low_bits.Verdict(success=0.83, interval=(0.82, 0.84), allowed=0.62, certain=0.6, trials=10_000)
    sound = low_bits.Verdict(success=0.61, interval=(0.6, 0.62), allowed=0.62, certain=0.3, trials=10_000)
    figure = limits_lowbits.verdicts(naive=broken, secure=sound, epsilon=0.5, guess=0.5, badge=BADGE, dark=False)
    assert [row["verdict"] for row in drawn(figure)["datasets"]["samplers"]] == ["broken", "within ε"]
    assert "nothing is shown" not in figure.sentence
    astride = low_bits.Verdict(success=0.64, interval=(0.61, 0.66), allowed=0.62, certain=0.3, trials=100)
    figure = limits_lowbits.verdicts(naive=astride, secure=sound, epsilon=0.5, guess=0.5, badge=BADGE, dark=False)
    assert figure.sentence.endswith(
        "The bar of the naive floating point reaches into the hatching, but below the limit too: nothing is shown "
        "against it."
    )


def test_the_matrix_marks_what_each_subset_s_question_takes() -> None:
    weights = np.array([[0.5, 0.2, 0.9], [0.5, 0.8, 0.1], [0.5, 0.9, 0.9], [0.5, 0.1, 0.2]])
    found = fat_shattering_dimension(weights, scale=0.3)
    figure = limits_dimension.matrix(weights=weights, found=found, badge=BADGE, dark=False)
    spec = drawn(figure)
    assert len(spec["datasets"]["cells"]) == 12
    marks = {(row["question"], row["point"]): row["mark"] for row in spec["datasets"]["marks"]}
    assert len(marks) == 8 and {point for _, point in marks} == {1, 2}
    for (question, point), mark in marks.items():
        assert (mark == "●") == (weights[int(question.split()[1]) - 1, point] > 0.5)
    assert "dimension is 2" in figure.sentence and "Points 2, 3 are shattered" in figure.sentence
    assert figure.table["subset"] == ["none", "2", "3", "2, 3"]
    assert any("level 0.5" in name for name in figure.table)
    for flat in ([[0.5]], [[0.0], [1.0]]):
        few = fat_shattering_dimension(flat, scale=0.1)
        drawn(limits_dimension.matrix(weights=np.array(flat), found=few, badge=BADGE, dark=True))


def test_a_large_class_is_drawn_in_part_with_its_shattered_points() -> None:
    weights = np.eye(300, 40)[:, ::-1]
    found = vc_dimension(weights)
    figure = limits_dimension.matrix(weights=weights, found=found, badge=BADGE, dark=False)
    spec = drawn(figure)
    assert len(spec["datasets"]["cells"]) == limits_dimension.MOST_ROWS * limits_dimension.MOST_COLUMNS
    assert len(spec["datasets"]["marks"]) == 2
    assert "268 more questions are not drawn" in figure.sentence


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("key", [named.key for named in NAMED])
def test_no_promise_of_the_net_is_beyond_the_wall(key: str, epsilon: float) -> None:
    named = next(each for each in NAMED if each.key == key)
    weights = named.example(min(5, named.largest)).astype(np.float64)
    figure = limits_dimension.worst_errors(
        weights=weights, found=vc_dimension(weights), scale=None, epsilon=epsilon, neighbours=Neighbours.REPLACE_ONE,
        beta=0.05, badge=BADGE, dark=False,
    )  # fmt: skip
    spec = drawn(figure)
    wall = {row["x"]: row["y"] for row in spec["datasets"].get("wall", [])}
    assert bool(wall) == (named.dimension(min(5, named.largest)) >= 2)
    for row in spec["datasets"]["lines"]:
        if row["x"] in wall and wall[row["x"]] > limits_dimension.FLOOR:
            assert row["y"] >= wall[row["x"]]


def test_a_slider_moves_data_alone() -> None:
    # Then the browser repaints in place instead of drawing anew.
    first, second = (median_picture(bits=bits, guess=guess).spec for bits, guess in ((10.0, 5.0), (500.0, 80.0)))
    assert {**first, "datasets": 0} == {**second, "datasets": 0}


def test_a_curve_leaves_the_picture_and_dots_stay_in_it() -> None:
    # Laid along the edge, "at least 0%" would read as "at least 40%".
    figure = limits_subset.by_noise(
        people=100, error=7, errors=[0, 7, 70], shares=np.array([[1.0], [0.8], [0.2]]), proved=[1.0, 0.5, 0.0],
        forced=3.0, blind=0.5, guess=0.1, badge=BADGE, dark=False,
    )  # fmt: skip
    spec = drawn(figure)
    assert '"clamp"' not in json.dumps(spec)
    assert [row["y"] for row in spec["datasets"]["lines"]] == [1.0, 0.5, 0.0]
    assert [(row["y"], row["low"]) for row in spec["datasets"]["dots"]] == [(1.0, 1.0), (0.8, 0.8), (0.4, 0.4)]
    assert [row["y"] for row in spec["datasets"]["guessed"]] == [0.4]
    assert 0.2 in figure.table["share of bits found"]
    for layer in spec["layer"]:
        assert layer["data"].get("name") not in {"lines", "wall"} or layer["mark"]["clip"]


def test_a_curve_of_zeros_ends_on_a_logarithmic_axis() -> None:
    figure = plot(
        x=Axis(title="across"), y=Axis(title="up", log=True, low=0.01), sentence="One curve.", badge=BADGE, dark=False,
        series=[Series(name="proved", x=[1, 2, 3, 4], y=[1, 0.001, 0, 0])],
    )  # fmt: skip
    assert [(row["x"], row["y"]) for row in drawn(figure)["datasets"]["lines"]] == [(1, 1), (2, 0.001)]
    assert figure.table["up"] == [1, 0.001, 0, 0]
    histogram = limits_histogram.risks(
        cells=64, occupied=1, rows=1000, epsilon=1.0, guess=10, measured=np.array([0.1, 0.2]), badge=BADGE, dark=False
    )
    spec = drawn(histogram)
    whole = [row["y"] for row in spec["datasets"]["lines"] if row["series"] == "paper, whole rows"]
    floor = spec["datasets"]["wall"][0]["end"]
    assert whole and floor not in whole


def test_small_things() -> None:
    assert [chance(value) for value in (0.0, 1e-9, 0.5, 0.99999, 1.0)] == [
        "0%",
        "under 0.1%",
        "50%",
        "over 99.9%",
        "100%",
    ]
    offsets = [stop["offset"] for stop in hatched("#102030")["stops"]]
    assert offsets == sorted(offsets) and offsets[0] == 0 and offsets[-1] == 1
    figure = plot(
        x=Axis(title="across"), y=Axis(title="up"), series=[Series(name="dots", x=[1], y=[2], low=[1], high=[3])],
        wall=Wall(x=[0, 1], y=[1, 1], end=0.0, label="wall"), marks=(Mark(label="here", x=1.0),), sentence="One dot.",
        badge=BADGE, dark=False,
    )  # fmt: skip
    drawn(figure)
    assert figure.table == {
        "what": ["dots", "wall", "wall"], "across": [1, 0, 1], "up": [2, 1, 1], "from": [1, None, None],
        "to": [3, None, None],
    }  # fmt: skip


def test_words_at_two_rules_stand_on_a_line_each() -> None:
    marks = (Mark(label="one", x=1.0), Mark(label="mine", x=1.0, guess=True), Mark(label="two", x=1.1))
    found = mark_records((*marks, Mark(label="high", y=1.0), Mark(label="low", y=1.0, below=True)))
    lines = {row["label"]: row["line"] for name in ("upright", "expected") for row in found[name]}
    assert len(set(lines.values())) == 3 and lines["one"] < lines["two"] < lines["mine"]
    assert [row["label"] for row in found["levels"]] == ["high"] and [row["label"] for row in found["floors"]] == [
        "low"
    ]


def test_a_bit_between_two_others_has_its_own_number_on_the_axis() -> None:
    truth = np.array([True, False])
    figure = limits_subset.bits(
        truth=truth, estimates=np.array([0.9, 0.1]), words=("no", "yes"), badge=BADGE, dark=False
    )
    axes = [layer["encoding"]["y"]["axis"] for layer in drawn(figure)["layer"]]
    # Without a format, Vega writes one half in the digits that whole numbers need: as 1.
    assert all(axis["values"] == [0, 0.5, 1] and axis["format"] == "~g" for axis in axes)


def test_a_share_above_all_rows_is_not_said_to_be_of_n() -> None:
    errors = {"noise": np.full((3, 20), 2.5)}
    figure = limits_vc.accuracy(
        epsilons=(0.5, 1.0, 2.0), errors=errors, repeats=1, points=8, delta=0.0, badge=BADGE, dark=False
    )
    assert "err by at most 2.5 times n on their worst subset" in figure.sentence


def test_an_attacker_no_better_off_is_told_so() -> None:
    same = limits_odds.guessing(prior=0.1, epsilon=1.0, delta=0.0, badge=BADGE, dark=False)
    better = limits_odds.guessing(prior=0.4, epsilon=1.0, delta=0.0, badge=BADGE, dark=False)
    assert "90% of the time without the release, and no more often with it." in same.sentence
    assert "60% of the time without the release, and at most 73.1% with it." in better.sentence
