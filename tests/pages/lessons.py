"""What every picture of a lesson owes its reader."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from dpcore.core import Floats
from pages.charts.axes import axis_range
from pages.charts.picture import Curve, Dots, Picture, Rule, numbers
from pages.charts.plotly import PlotlyFigure
from tests.pages.label_overlap import overlaps
from tests.pages.picture_checks import valid, whole

BADGE = "badge of this picture"


def checked(picture: Picture) -> PlotlyFigure:
    """The picture as drawn: sound in every way, small, its words apart, and the guess within it.

    A curve and a wall may leave the picture.
    """
    whole(picture)
    assert "inf" not in picture.sentence
    drawn = valid(picture)
    assert not (hidden := overlaps(picture, drawn)), hidden
    assert len(json.dumps([drawn.data, drawn.layout])) < 200_000
    for mark in picture.marks:
        if isinstance(mark, Dots):
            assert mark.hover is None or len(mark.hover) == len(numbers(mark.x))
        if isinstance(mark, Rule) and mark.role == "guess":
            _inside(drawn, "xaxis", [] if mark.x is None else [[mark.x]])
            _inside(drawn, "yaxis", [] if mark.y is None else [[mark.y]])
    return drawn


def sound(picture: Picture) -> Picture:
    """The same picture, of which nothing at all is cut off, curves included."""
    checked(picture)
    for curve in picture.find(Curve):
        for axis, values in ((picture.x, numbers(curve.x)), (picture.y, numbers(curve.y))):
            low, high = axis_range(axis, picture.marks, across=axis is picture.x)
            placed = values[np.isfinite(values)]
            assert (placed >= low - 1e-12).all() and (placed <= high + 1e-12).all(), curve.name
    return picture


def interval(dots: Dots) -> Floats:
    """Lower and upper ends, (2, K)."""
    assert dots.low is not None and dots.high is not None
    return np.array([numbers(dots.low), numbers(dots.high)])


def _inside(drawn: PlotlyFigure, axis: str, values: Sequence[object]) -> None:
    """Fails if a value lies beyond the ends of an axis."""
    ends = sorted(drawn.layout[axis]["range"])
    for each in values:
        found = np.asarray(each, dtype=np.float64)
        if drawn.layout[axis]["type"] == "log":
            found = np.log10(found)
        assert (found >= ends[0] - 1e-9).all() and (found <= ends[1] + 1e-9).all(), axis
