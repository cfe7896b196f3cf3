"""What every picture owes its reader: it can be drawn, it says what it shows, roles differ, nothing is cut off."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from pages.charts.axes import axis_range
from pages.charts.palette import DARK, LIGHT
from pages.charts.picture import Band, Bars, Dots, Heat, Mark, Outline, Picture, numbers
from pages.charts.plotly import PlotlyFigure, render
from pages.charts.roles import style_for

LONG_BADGE = "true: generated secret · released: simulated, preview sampler, seed 1"
"""A badge of two lines."""
NAME = 13
"""Pixels of a name beside a picture."""
BACKGROUND = {"ink", "quiet", "paper", "impossible", "vacuous", "error"}
"""Roles of what is written or lies behind the data."""


def valid(picture: Picture, *, badge: str = "badge of this picture", dark: bool = False) -> PlotlyFigure:
    """The picture as drawn, which Plotly and JSON take: nothing in it is markup or no number."""
    found = render(picture, badge=badge, dark=dark)
    layout = {name: value for name, value in found.layout.items() if name != "uirevision"}
    go.Figure(data=found.data, layout=layout)  # raises where a name or a value is not Plotly's
    sent = json.dumps([found.data, found.layout, found.frames], allow_nan=False)
    assert "<script" not in sent and found.layout["title"]["text"]
    return found


def whole(picture: Picture) -> Picture:
    """The same picture, sound in every way.

    It is valid, has a title, whole sentences and a table of even columns; no two of its roles share a colour in either
    theme, and no dot, bar, band or cell leaves its axes.
    """
    layout = valid(picture, badge=LONG_BADGE).layout  # the other theme has other colours, no other parts
    upright = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    assert upright >= NAME * sum(map(bool, picture.y.labels)), "names beside the picture lie on each other"
    sentences = [picture.sentence, *(frame.sentence for frame in picture.frames)]
    assert picture.title and all(each.endswith(".") and "nan" not in each and "**" not in each for each in sentences)
    assert len({len(column) for column in picture.table.values()}) == 1
    assert len(picture.frame()) == len(next(iter(picture.table.values())))
    roles = {mark.role for mark in picture.marks} - BACKGROUND
    for colours in (LIGHT, DARK):
        assert len({style_for(role, colours).colour for role in roles}) == len(roles), roles
    every = [*picture.marks, *(mark for frame in picture.frames for mark in frame.marks.values())]
    for axis, across in ((picture.x, True), (picture.y, False)):
        low, high = axis_range(axis, every, across=across)
        for mark in every:
            for values in _places(mark, across=across):
                known = numbers(values)[np.isfinite(numbers(values))]
                if axis.log and isinstance(mark, Bars):
                    known = known[known > 0]  # a bar of no rows is none
                close = 1e-9 * (high - low)
                assert (known >= low - close).all() and (known <= high + close).all(), (axis.title, mark.name)
    return picture


def _places(mark: Mark, *, across: bool) -> list[ArrayLike]:
    """Where a mark lies along an axis, ends and all; nothing of one that may leave the picture."""
    match mark:
        case Dots():
            ends = [mark.low, mark.high] if mark.across == across else []
            return [mark.x if across else mark.y, *(end for end in ends if end is not None)]
        case Bars():
            lying = mark.across == across
            return [mark.value] if lying else [mark.start, mark.end]
        case Band():
            return [mark.x] if across else [mark.low, mark.high]
        case Heat() | Outline():
            return [mark.x if across else mark.y]
        case _:
            return []
