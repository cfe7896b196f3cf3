"""Words of a picture that lie on each other, on dots or on the axis below: read off its layout, without a browser."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from pages.charts.picture import Dots, Picture, numbers
from pages.charts.plotly import BELOW, PlotlyFigure

WIDTH = 470
"""Pixels between the axes of a lesson on a screen of 1280."""
LETTER, BOLD, LINE = 0.52, 0.58, 1.2
"""Widths of a letter and height of a line, in font sizes."""
NEAR = 2
"""Pixels that boxes may share: letters do not fill theirs."""
Box = tuple[float, float, float, float]
"""Left, right, top, bottom in pixels from the upper left corner between the axes."""


def overlaps(picture: Picture, drawn: PlotlyFigure) -> list[str]:
    """Which words lie on others or on the axis below."""
    height = _height(picture, drawn)
    words = [(each["text"], _box(each, drawn, height)) for each in drawn.layout["annotations"]]
    found = [f"“{one}” lies on “{other}”" for (one, a), (other, b) in combinations(words, 2) if _share(a, b)]
    return found + [f"“{text}” lies on the axis" for text, box in words if box[3] > height + NEAR]


def on_dots(picture: Picture, drawn: PlotlyFigure) -> list[str]:
    """Which words hide a dot."""
    height = _height(picture, drawn)
    words = [(each["text"], _box(each, drawn, height)) for each in drawn.layout["annotations"]]
    found = []
    for mark in picture.find(Dots):
        half = mark.size / 2
        for x, y in np.broadcast(numbers(mark.x), numbers(mark.y)):
            at = _along(x, drawn, "x", WIDTH), height - _along(y, drawn, "y", height)
            dot = at[0] - half, at[0] + half, at[1] - half, at[1] + half
            found += [f"“{text}” lies on a dot of “{mark.name}”" for text, box in words if _share(box, dot)]
    return found


def _height(picture: Picture, drawn: PlotlyFigure) -> float:
    """Pixels from the axis below to the upper edge."""
    return float(picture.height - drawn.layout["margin"]["t"] - BELOW)


def _box(words: dict[str, Any], drawn: PlotlyFigure, height: float) -> Box:
    """Where words of the layout stand."""
    size, lines = words["font"]["size"], words["text"].split("<br>")
    wide = max(map(len, lines)) * size * (BOLD if words["font"]["weight"] > 400 else LETTER)
    high = len(lines) * size * LINE
    across = _place(words, drawn, "x", WIDTH) + words.get("xshift", 0)
    down = height - _place(words, drawn, "y", height) - words.get("yshift", 0)
    left = across - wide * {"left": 0, "center": 0.5, "right": 1}[words.get("xanchor", "center")]
    top = down - high * {"top": 0, "middle": 0.5, "bottom": 1}[words.get("yanchor", "middle")]
    return left, left + wide, top, top + high


def _place(words: dict[str, Any], drawn: PlotlyFigure, side: str, length: float) -> float:
    """Pixels from the left or from below; on a logarithmic axis words have the exponent."""
    if words[f"{side}ref"] == "paper":
        return float(words[side]) * length
    start, end = drawn.layout[f"{side}axis"]["range"]
    return float((words[side] - start) / (end - start) * length)


def _along(value: float, drawn: PlotlyFigure, side: str, length: float) -> float:
    """The same of a mark's value."""
    axis = drawn.layout[f"{side}axis"]
    start, end = axis["range"]
    return float(((math.log10(value) if axis["type"] == "log" else value) - start) / (end - start) * length)


def _share(one: Box, other: Box) -> bool:
    """Whether two boxes share more than their edges."""
    across = min(one[1], other[1]) - max(one[0], other[0])
    return across > NEAR and min(one[3], other[3]) - max(one[2], other[2]) > NEAR
