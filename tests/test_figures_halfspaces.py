"""The pictures of the halfspace page: their numbers are the core's, their sentences true, specifications whole."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats
from dpcore.figures.figure import Figure
from dpcore.figures.halfspaces import MOST_ROWS, MOST_TICKS, side_view
from dpcore.figures.halfspaces_angles import errors_around
from dpcore.figures.halfspaces_circle import EXPECTED, great_circle
from dpcore.figures.halfspaces_parts import error_parts
from dpcore.halfspace_parts import Circle

SHOWN: dict[str, Any] = {"badge": "simulated: test", "dark": False}


def sound(figure: Figure) -> Figure:
    """It is JSON, carries its badge, and every data set that is named is there."""
    text = json.dumps(figure.spec)
    assert "NaN" not in text and "Infinity" not in text
    assert SHOWN["badge"] in text and figure.sentence.endswith(".") and figure.title != "Chart"
    names = {part.split('"')[0] for part in text.split('"data": {"name": "')[1:]}
    assert names == set(figure.spec["datasets"])
    assert len({len(column) for column in figure.table.values()}) == 1
    return figure


def turned(figure: Figure, name: str) -> Floats:
    """A path's corners as the browser turns them: by the expressions of its layer, at the angle that was sent."""
    layer = next(each for each in figure.spec["layer"] if each.get("data") == {"name": name})
    turn = np.radians(figure.spec["datasets"]["arrow"][0]["angle"])
    known = {"cos": np.cos, "sin": np.sin, "turn": turn}
    ends = {each["as"]: each["calculate"].replace("datum.", "") for each in layer["transform"]}
    assert layer["encoding"]["x"]["field"] == "turned_x" and layer["encoding"]["y"]["field"] == "turned_y"
    return np.array([
        [eval(ends[place], {**known, **corner}) for place in ("turned_x", "turned_y")]  # our own expressions
        for corner in figure.spec["datasets"][name]
    ])  # fmt: skip


@pytest.mark.parametrize("angle", [0, 30, 200])
@pytest.mark.parametrize("count", [5, 3000])
def test_heights_over_the_line_are_products_with_the_direction(angle: int, count: int, seed: int) -> None:
    places = np.random.default_rng(seed).uniform(-0.7, 0.7, size=(count, 2))
    towards = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    inside = places @ towards > 0
    figure = sound(
        side_view(
            places=places, inside=inside, angle=angle, drawn=3, margin=0.25, near=0.4, share=0.5,
            measured=np.array([10.0, 70.0]), axes=("east", "north"), flat=False, **SHOWN,
        )
    )  # fmt: skip
    data = figure.spec["datasets"]
    drawn = data["rows"]
    assert len(drawn) <= MOST_ROWS and (len(drawn) == count or count > MOST_ROWS)
    assert data["arrow"] == [{"angle": angle, "drawn": 3}]
    side = next(each for each in figure.spec["layer"] if each.get("data") == {"name": "rows"})["transform"][0]
    condition = side["calculate"].replace("datum.", "").split("?")[0]
    known = {"cos": np.cos, "sin": np.sin, "turn": np.radians(angle)}
    for row, told in zip(drawn, figure.table["on the side"], strict=True):
        height = row["x"] * towards[0] + row["y"] * towards[1]
        assert abs(height) < 1e-3 or bool(eval(condition, {**known, **row})) is told is bool(height > 0)
    assert (turned(figure, "half") @ towards > -1e-3).all()
    heights = turned(figure, "band") @ towards
    assert heights.max() == pytest.approx(0.25, abs=1e-3) and heights.min() == pytest.approx(-0.25, abs=1e-3)
    assert np.abs(turned(figure, "line") @ towards).max() < 1e-3
    np.testing.assert_allclose(turned(figure, "head")[1], towards, atol=1e-3)
    strokes = [np.degrees(np.arctan2(end["y"], end["x"])) % 180 for end in data["net"] if end["x"] is not None]
    assert {round(stroke) for stroke in strokes} == {10, 70}
    assert ("rows are drawn" in figure.sentence) is (count > MOST_ROWS)
    assert "40% lie nearer" in figure.sentence and "0.25" in figure.sentence


def test_a_turn_sends_the_angle_and_no_row_again(seed: int) -> None:
    """So a picture is repainted in place; and what nobody is near to is said to have the margin."""
    places = np.random.default_rng(seed).uniform(-0.7, 0.7, size=(50, 2))
    figures = [
        side_view(
            places=places, inside=places[:, 0] > 0, angle=angle, drawn=angle, margin=0.25, near=0.0, share=0.5,
            measured=np.empty(0), axes=("east", "north"), flat=True, **SHOWN,
        )
        for angle in (20, 21)
    ]  # fmt: skip
    specs = [sound(figure).spec for figure in figures]
    moved = {name for name in specs[0]["datasets"] if specs[0]["datasets"][name] != specs[1]["datasets"][name]}
    assert moved == {"arrow"}
    assert {**specs[0], "datasets": {}} == {**specs[1], "datasets": {}}
    assert "No row lies nearer to the line than γ = 0.25 (the band): this direction has that margin" in (
        figures[0].sentence
    )


def test_many_measured_directions_are_counted_not_drawn() -> None:
    for count, drawn in ((MOST_TICKS, True), (MOST_TICKS + 1, False)):
        figure = sound(
            side_view(
                places=np.eye(2), inside=np.array([True, False]), angle=5, drawn=1, margin=0.1, near=0.5, share=0.5,
                measured=np.arange(count) * 180 / count, axes=("east", "north"), flat=True, **SHOWN,
            )
        )  # fmt: skip
        assert bool(figure.spec["datasets"]["net"]) is drawn
        assert ("strokes" in figure.sentence) is drawn
        assert (f"{2 * count:,} directions are measured, too close" in figure.sentence) is not drawn


def test_the_circle_closes_and_tells_the_worst(seed: int) -> None:
    degrees = np.arange(0.0, 360.0, 30.0)
    truth = 0.5 + 0.3 * np.cos(np.radians(degrees))
    answers = truth + np.random.default_rng(seed).normal(scale=0.05, size=(50, 12))
    expected = 0.5 + 0.1 * np.cos(np.radians(degrees))
    for shown in (None, expected):
        figure = sound(
            great_circle(
                degrees=degrees, truth=truth, answers=answers, expected=shown, angle=45.0, here=(0.7, 0.72), **SHOWN
            )
        )
        lines: dict[str, list[float]] = {}
        for point in figure.spec["datasets"]["lines"]:
            lines.setdefault(point["what"], []).append(point["share"])
        assert set(lines) == {"true", "released, one release", *([EXPECTED] if shown is not None else [])}
        assert all(len(line) == 13 and line[0] == line[-1] for line in lines.values())
        np.testing.assert_allclose(lines["released, one release"][:-1], answers[0], rtol=1e-3)
        worst = 100 * np.abs(answers[0] - truth).max()
        assert f"errs by at most {worst:.3g}%" in figure.sentence
        assert ("dense" in figure.sentence) is (shown is not None)
        low, high = (np.array(figure.table[name][:-1]) for name in ("5% of releases below", "95% below"))
        assert (((answers >= low - 1e-3) & (answers <= high + 1e-3)).mean(axis=0) > 0.85).all()
        assert [point["share"] for point in figure.spec["datasets"]["here"]] == [0.7, 0.72]


def test_the_parts_name_the_largest(seed: int) -> None:
    generator = np.random.default_rng(seed)
    errors = {"projection": np.full(100, 0.1), "net": np.zeros(100), "noise": generator.normal(scale=0.01, size=100)}
    errors["total"] = errors["projection"] + errors["noise"]
    figure = sound(error_parts(errors=errors, predicted={"projection": (0.1, 0.1), "noise": (-0.02, 0.02)}, **SHOWN))
    assert "Most of this direction's error is the projection's" in figure.sentence
    assert "projection 10%, net 0%" in figure.sentence
    assert [row["part"] for row in figure.spec["datasets"]["told"]] == ["projection", "noise"]
    assert figure.table["predicted from"] == [0.1, None, -0.02, None]
    assert figure.table["mean error"][0] == 0.1
    # The legend shows the shapes that are drawn.
    shapes = [layer["encoding"]["shape"] for layer in figure.spec["layer"] if "shape" in layer["encoding"]]
    assert len(shapes) == 2 and shapes[0] == shapes[1]
    assert shapes[0]["scale"] == {"domain": ["observed", "predicted"], "range": ["circle", "diamond"]}
    noisy = error_parts(errors={**errors, "noise": 50 * errors["noise"]}, predicted={}, **SHOWN)
    assert "error is the noise's" in noisy.sentence


def test_the_best_around_the_circle_is_named() -> None:
    degrees = np.arange(0.0, 360.0, 90.0)
    circle = Circle(
        degrees=degrees, errors={"net": np.full((10, 4), 0.2), "intervals": np.tile([0.1, 0.0, 0.3, 0.0], (10, 1))}
    )
    figure = sound(errors_around(circle=circle, **SHOWN))
    assert "net 20%, intervals 30%. Here the best is net" in figure.sentence
    assert figure.table["intervals"] == [0.1, 0.0, 0.3, 0.0, 0.1]
