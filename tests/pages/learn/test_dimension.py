"""A class's pictures: what is taken and left of its shattered points; what is forbidden and promised by rows."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats, Neighbours
from dpcore.limits.attacks import dimension_bounds as core
from dpcore.limits.attacks.named_classes import NAMED
from dpcore.limits.attacks.shattering import Shattering, fat_shattering_dimension, vc_dimension
from dplab.limits.class_errors import MAX_ROWS, ClassErrors, errors_by_rows
from pages.charts.picture import Curve, Dots, Heat, Region, Wall, numbers
from pages.charts.words import percent_down
from pages.learn.dimension import figure
from pages.learn.dimension.lesson import VIEWS
from tests.pages.drawn_charts import drawn
from tests.pages.learn.test_page import opened
from tests.pages.lessons import checked

EVERY_EPSILON = ("thresholds",)
"""Named classes that `run.py test` tries at every ε."""
(INTERVALS,) = (each for each in NAMED if each.key == "intervals")


def test_the_matrix_marks_what_each_subset_s_question_takes() -> None:
    weights = np.array([[0.5, 0.2, 0.9], [0.5, 0.8, 0.1], [0.5, 0.9, 0.9], [0.5, 0.1, 0.2]])
    found = fat_shattering_dimension(weights, scale=0.3)
    picture = figure.matrix(weights=weights, shattering=found)
    checked(picture)
    heat = picture.one(Heat, role="true")
    # Cells lie around the whole numbers at which names stand, each with its own weight.
    assert numbers(heat.x).tolist() == [-0.5, 0.5, 1.5, 2.5] and numbers(heat.y).tolist()[0] == -0.5
    for row, label in enumerate(picture.y.labels):
        np.testing.assert_array_equal(numbers(heat.value)[row], weights[int(label.split()[1]) - 1])
    taken, left = picture.find(Dots, role="theory")
    assert not any(taken.hollow) and all(left.hollow)
    marks = 0
    for dots, takes in ((taken, True), (left, False)):
        for column, row in zip(numbers(dots.x).astype(int), numbers(dots.y).astype(int), strict=True):
            assert picture.x.labels[column] in {"2", "3"}
            assert (numbers(heat.value)[row, column] > 0.5) == takes
            marks += 1
    assert marks == 8
    assert "dimension is 2" in picture.sentence and "Points 2, 3 are shattered" in picture.sentence
    assert picture.table["subset"] == ["none", "2", "3", "2, 3"]
    assert any("level 0.5" in name for name in picture.table)


@pytest.mark.parametrize("flat", [[[0.5]], [[0.0], [1.0]]])
def test_a_class_that_shatters_little_is_drawn(flat: list[list[float]]) -> None:
    picture = figure.matrix(weights=np.array(flat), shattering=fat_shattering_dimension(flat, scale=0.1))
    checked(picture)
    assert ("no point is shattered" in picture.sentence) == (len(flat) == 1)


def test_a_large_class_is_drawn_in_part_with_its_shattered_points() -> None:
    weights = np.eye(300, 40)[:, ::-1]
    found = vc_dimension(weights)
    picture = figure.matrix(weights=weights, shattering=found)
    checked(picture)
    assert numbers(picture.one(Heat).value).shape == (figure.MAX_QUESTIONS, figure.MAX_POINTS)
    assert sum(len(numbers(dots.x)) for dots in picture.find(Dots)) == 2
    assert "268 more queries are not shown" in picture.sentence
    assert sum(label != "" for label in picture.x.labels) <= figure.NAMED_POINTS


def worth(weights: Floats, found: Shattering, *, epsilon: float = 1.0, scale: float | None = None) -> ClassErrors:
    return errors_by_rows(
        weights=weights,
        shattering=found,
        scale=scale,
        epsilon=epsilon,
        neighbours=Neighbours.REPLACE_ONE,
        beta=0.05,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "epsilon"),
    [
        pytest.param(named.key, epsilon, marks=() if epsilon == 1.0 or named.key in EVERY_EPSILON else pytest.mark.full)
        for named in NAMED
        for epsilon in (0.01, 1.0, 10.0)
    ],
)
def test_no_promise_of_the_net_is_beyond_the_wall(key: str, epsilon: float) -> None:
    named = next(each for each in NAMED if each.key == key)
    size = min(5, named.largest)
    weights = named.example(size).astype(np.float64)
    both = worth(weights, vc_dimension(weights), epsilon=epsilon)
    picture = figure.worst_errors(both, dimension=named.dimension(size))
    checked(picture)
    promise = picture.one(Curve, role="theory")
    assert f"{core.different(weights):,} queries" in promise.name
    np.testing.assert_array_equal(numbers(promise.x), both.rows)
    np.testing.assert_array_equal(numbers(promise.y), both.promised)
    walls = picture.find(Wall, role="impossible")
    assert len(walls) == (named.dimension(size) >= 2)
    for wall in walls:
        edge = dict(zip(numbers(wall.x).tolist(), numbers(wall.y).tolist(), strict=True))
        assert wall.end == picture.y.low
        for curve in picture.find(Curve):
            for at, error in zip(numbers(curve.x).tolist(), numbers(curve.y).tolist(), strict=True):
                assert error >= edge.get(at, 0.0)


def test_beyond_all_rows_a_promise_is_vacuous_and_the_sentence_says_both_sides() -> None:
    weights = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)
    found = vc_dimension(weights)
    both = worth(weights, found)
    picture = figure.worst_errors(both, dimension=2)
    vacuous = picture.one(Region, role="vacuous")
    assert vacuous.y == (1.0, picture.y.high)
    assert both.forbidden is not None
    assert f"an error below {percent_down(float(both.forbidden[0]))} of n is impossible." in picture.sentence
    enough = int(both.rows[both.promised <= 0.1][0])
    assert f"guarantees 10% from about n = {enough:,}." in picture.sentence
    assert both.rows[-1] <= MAX_ROWS and both.by_dimension is None  # every question on two points is asked already


def test_a_class_that_hides_no_half_forbids_nothing() -> None:
    weights = np.array([[0.4, 0.5]])
    both = worth(weights, fat_shattering_dimension(weights, scale=0.1), scale=0.1)
    picture = figure.worst_errors(both, dimension=0)
    checked(picture)
    assert both.forbidden is None and not picture.find(Wall) and "No error is impossible" in picture.sentence


@pytest.mark.parametrize(("apart", "shattered"), [(0.19, False), (0.2, True), (0.21, True)])
def test_nothing_is_shattered_where_no_two_questions_are_two_scales_apart_on_a_point(
    apart: float, shattered: bool
) -> None:
    weights = np.array([[0.5, 0.5], [0.5, 0.5 + apart]])
    found = fat_shattering_dimension(weights, scale=0.1 - 1e-9)
    sentence = figure.matrix(weights=weights, shattering=found).sentence
    assert ("No two queries differ by 2γ or more on any point: no point is shattered." in sentence) is not shattered
    assert (len(found.points) == 1) is shattered


@pytest.mark.parametrize(("least", "promised"), [(0.0, True), (0.1, True), (0.1001, False)])
def test_where_no_row_count_of_the_axis_is_enough_it_is_said(least: float, promised: bool) -> None:
    weights = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)
    both = worth(weights, vc_dimension(weights))
    assert both.rows[-1] <= MAX_ROWS < 1.5 * both.rows[-1]  # the axis ends where the sentence says
    both = dataclasses.replace(both, promised=np.maximum(both.promised, least))
    sentence = figure.worst_errors(both, dimension=2).sentence
    assert (f"Up to n = {MAX_ROWS:,} the net mechanism does not guarantee 10%." in sentence) is not promised
    assert ("The net mechanism guarantees 10% from about n = " in sentence) is promised


def test_the_badge_says_the_settings_of_the_curves() -> None:
    app = opened(lesson="dimension", dimension_shown="true", dimension_picture=VIEWS[1], dimension_epsilon="2")
    (chart,) = drawn(app).values()
    title = chart["layout"]["title"]["text"].replace("<br>", " ")
    assert "exact theory · ε = 2 · β = 0.05 · rows replaced" in title
    # The sentence has the numbers of these settings, and of no others.
    size: Any = app.slider(key=f"dimension-{INTERVALS.key}").value
    usual = INTERVALS.example(int(size)).astype(np.float64)
    for epsilon, same in ((2.0, True), (1.0, False)):
        both = worth(usual, vc_dimension(usual), epsilon=epsilon)
        (matches,) = re.findall(r"guarantees 10% from about n = [\d,]+", chart["sentence"])
        enough = both.rows[both.promised <= 0.1][0]
        assert (matches == f"guarantees 10% from about n = {enough:,}") is same
