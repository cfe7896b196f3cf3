"""What the pictures of the limits share: curves and measured dots, a hatched impossible region, the reader's guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened

STRIPES = 48
"""Of a hatched region, from corner to corner of the box around it."""
LEGEND_ROW = 13
"""Pixels that each name in the legend takes from the picture."""
GUESS = 1
"""The colour among the others that is kept for what the reader guessed."""
DASHES: tuple[list[int], ...] = ([1, 0], [8, 3], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4])


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis: its title, whether logarithmic, where it ends (None: where the data do), how numbers are written."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    form: str = ""
    ticks: tuple[float, ...] = ()

    def channel(self, field: str) -> dict[str, Any]:
        """The encoding of a field on this axis."""
        ends = {"domainMin": self.low, "domainMax": self.high}
        scale: dict[str, Any] = {name: end for name, end in ends.items() if end is not None}
        scale |= {"type": "log"} if self.log else {"zero": False}
        axis: dict[str, Any] = {"labelOverlap": True}
        if self.form or self.log:
            axis["format"] = self.form or "~g"
        if self.ticks:
            axis["values"] = list(self.ticks)
        return {
            "field": field, "type": "quantitative", "title": self.title, "axis": axis,
            "scale": {**scale, "nice": False, "clamp": True},
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """Numbers of one name: a curve, or dots with intervals where ``low`` and ``high`` are given; all of shape (K,)."""

    name: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    role: Literal["theory", "released", "other"] = "other"


@dataclass(frozen=True, kw_only=True, eq=False)
class Wall:
    """The impossible side of a curve: from ``y`` to ``end``, with a label in one corner of the picture."""

    x: ArrayLike
    y: ArrayLike
    end: float
    label: str
    corner: Literal["top left", "top right", "bottom left", "bottom right"] = "top right"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A rule across the picture, at ``x`` or at ``y``: the reader's guess, or where the controls are."""

    label: str
    x: float | None = None
    y: float | None = None
    guess: bool = False


def chance(value: float) -> str:
    """A chance in per cent, without pretending to tell one hopeless (or sure) thing from another."""
    if 0 < value < 0.001:
        return "under 0.1%"
    return "over 99.9%" if 0.999 < value < 1 else percent(value)


def hatched(colour: str) -> dict[str, Any]:
    """Diagonal stripes as a gradient: Vega-Lite has no pattern, but a gradient may change its mind at once."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    stops = []
    for stripe in range(STRIPES):
        opacity = 0.55 if stripe % 2 else 0.14
        rgba = f"rgba({red},{green},{blue},{opacity})"
        stops += [{"offset": (stripe + side) / STRIPES, "color": rgba} for side in (0, 1)]
    return {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 1, "stops": stops}


def plot(
    *,
    x: Axis,
    y: Axis,
    series: Sequence[Series],
    sentence: str,
    badge: str,
    dark: bool,
    wall: Wall | None = None,
    marks: Sequence[Mark] = (),
    height: int = 300,
) -> Figure:
    """Curves, dots, the wall and the marks. What a slider moves lies in named data sets, so it repaints in place."""
    colours = palette(dark=dark)
    across, up = x.channel("x"), y.channel("y")
    lines, dots = [one for one in series if one.low is None], [one for one in series if one.low is not None]
    body = {
        "layer": [
            *([_region(wall, across, up, colours)] if wall else []),
            *([_lines(series, across, up, colours)] if lines else []),
            *(_dots(series, across, up, colours) if dots else []),
            *_rules(across, up, colours, marks),
            *([_wall_label(wall, colours)] if wall else []),
        ]
    }
    datasets: dict[str, Records] = {
        "lines": [row for one in lines for row in _records(one)],
        "dots": [row for one in dots for row in _records(one)],
        "wall": _wall_records(wall) if wall else [],
        **_mark_records(marks),
    }
    used = {name: rows for name, rows in datasets.items() if rows}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=height + LEGEND_ROW * len(series), datasets=used),
        sentence=sentence,
        table=_table(series, wall, x=x.title, y=y.title),
    )


def _records(one: Series) -> Records:
    columns = {"x": one.x, "y": one.y} | ({} if one.low is None else {"low": one.low, "high": one.high})
    numbers = {name: shortened(np.asarray(column)) for name, column in columns.items()}
    rows = [dict(zip(numbers, values, strict=True)) for values in zip(*numbers.values(), strict=True)]
    return [{"series": one.name, **row} for row in rows]


def _wall_records(wall: Wall) -> Records:
    pairs = zip(shortened(np.asarray(wall.x)), shortened(np.asarray(wall.y)), strict=True)
    return [{"x": x, "y": y, "end": wall.end} for x, y in pairs]


def _look(series: Sequence[Series], colours: Palette) -> tuple[dict[str, Any], dict[str, Any]]:
    """Colour and dash of every series, by name, with one legend."""
    others = iter([hue for place, hue in enumerate(colours.others) if place != GUESS] * 3)
    roles = {"theory": colours.theory, "released": colours.released}
    names = [one.name for one in series]
    # One column: names are long and phones are narrow.
    legend: dict[str, Any] = {"columns": 1}
    if any(one.low is None for one in series):
        legend |= {"symbolType": "stroke", "symbolStrokeWidth": 3}
    hues = [roles[one.role] if one.role in roles else next(others) for one in series]
    dashes = [DASHES[place % len(DASHES)] if one.low is None else DASHES[0] for place, one in enumerate(series)]
    return (
        {"field": "series", "type": "nominal", "scale": {"domain": names, "range": hues}, "legend": legend},
        {"field": "series", "type": "nominal", "scale": {"domain": names, "range": dashes}, "legend": legend},
    )


def _lines(series: Sequence[Series], across: dict[str, Any], up: dict[str, Any], colours: Palette) -> dict[str, Any]:
    colour, dash = _look(series, colours)
    tooltip = [{"field": "series"}, {**across, "format": ".3~g"}, {**up, "format": ".3~g"}]
    for each in tooltip[1:]:
        each.pop("scale"), each.pop("axis")
    return {
        "data": {"name": "lines"},
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
        "encoding": {
            "x": across, "y": up, "color": colour, "tooltip": tooltip,
            "strokeDash": dash,
        },
    }  # fmt: skip


def _dots(
    series: Sequence[Series], across: dict[str, Any], up: dict[str, Any], colours: Palette
) -> list[dict[str, Any]]:
    colour, _ = _look(series, colours)
    encoding = {"x": across, "color": colour}
    return [
        {
            "data": {"name": "dots"},
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {**encoding, "y": {**up, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "data": {"name": "dots"},
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {**encoding, "y": up},
        },
    ]


def _region(wall: Wall, across: dict[str, Any], up: dict[str, Any], colours: Palette) -> dict[str, Any]:
    return {
        "data": {"name": "wall"},
        "mark": {
            "type": "area", "color": hatched(colours.impossible), "clip": True,
            "line": {"color": colours.impossible, "strokeWidth": 2},
        },
        "encoding": {"x": across, "y": up, "y2": {"field": "end"}},
    }  # fmt: skip


def _wall_label(wall: Wall, colours: Palette) -> dict[str, Any]:
    bottom, right = wall.corner.startswith("bottom"), wall.corner.endswith("right")
    return {
        "data": {"values": [{"label": wall.label}]},
        "mark": {
            "type": "text", "color": colours.ink, "fontSize": 12, "fontWeight": "bold",
            "align": "right" if right else "left", "dx": -8 if right else 8, "dy": -10 if bottom else 12,
        },
        "encoding": {
            "text": {"field": "label"},
            "x": {"value": "width" if right else 0},
            "y": {"value": "height" if bottom else 0},
        },
    }  # fmt: skip


def _rules(across: dict[str, Any], up: dict[str, Any], colours: Palette, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    """Rules with their words; the reader's guess is dashed and has its own colour."""
    colour = {"condition": {"test": "datum.guess", "value": colours.others[GUESS]}, "value": colours.ink}
    dash = {"condition": {"test": "datum.guess", "value": [6, 4]}, "value": [1, 0]}
    text: dict[str, Any] = {"type": "text", "fontSize": 12, "baseline": "bottom"}
    # Words of guesses stand apart from the others': both rules may be at the same place.
    kinds = (
        ("upright", {"x": across}, {**text, "align": "left", "dx": 5}, {"y": {"value": 40}}),
        ("expected", {"x": across}, {**text, "align": "left", "dx": 5}, {"y": {"value": 58}}),
        ("guessed", {"y": up}, {**text, "align": "left", "dx": 5, "dy": -3}, {"x": {"value": 0}}),
        ("levels", {"y": up}, {**text, "align": "right", "dx": -5, "dy": -3}, {"x": {"value": "width"}}),
    )
    layers: list[dict[str, Any]] = []
    for name, channel, words, place in kinds:
        if not _mark_records(marks)[name]:
            continue
        look = {**channel, "color": colour}
        rule = {"type": "rule", "strokeWidth": 2}
        layers += [
            {"data": {"name": name}, "mark": rule, "encoding": {**look, "strokeDash": dash}},
            {"data": {"name": name}, "mark": words, "encoding": {**look, **place, "text": {"field": "label"}}},
        ]
    return layers


def _mark_records(marks: Sequence[Mark]) -> dict[str, Records]:
    """Marks at an x and guesses at an x, guesses at a y and other marks at a y."""
    places = {"upright": ("x", False), "expected": ("x", True), "guessed": ("y", True), "levels": ("y", False)}
    return {
        name: [
            {axis: place, "label": mark.label, "guess": guess}
            for mark in marks
            if mark.guess == guess and (place := mark.x if axis == "x" else mark.y) is not None
        ]
        for name, (axis, guess) in places.items()
    }


def _table(series: Sequence[Series], wall: Wall | None, *, x: str, y: str) -> dict[str, list[Any]]:
    """All numbers, one row each; empty intervals where there are none."""
    interval = any(one.low is not None for one in series)
    table: dict[str, list[Any]] = {"what": [], x: [], y: []} | ({"from": [], "to": []} if interval else {})
    rows = [(one.name, one.x, one.y, one.low, one.high) for one in series]
    if wall:
        rows.append((wall.label, wall.x, wall.y, None, None))
    for name, place, value, low, high in rows:
        places = shortened(np.asarray(place))
        table["what"] += [name] * len(places)
        table[x] += places
        table[y] += shortened(np.asarray(value))
        if interval:
            for column, ends in (("from", low), ("to", high)):
                table[column] += [None] * len(places) if ends is None else shortened(np.asarray(ends))
    return table
