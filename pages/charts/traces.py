"""Converts each kind of mark to Plotly's traces, annotations or shapes."""

from __future__ import annotations

import json
from functools import singledispatch
from typing import Any

import numpy as np

from pages.charts.axes import escape_text
from pages.charts.palette import faint, hatched, scale, visible_opacity
from pages.charts.pen import LINE_OF_WORDS, SHADES_ABOVE, Numbers, Pen, Trace, form
from pages.charts.picture import (
    Area,
    Band,
    Bars,
    Cloud,
    Curve,
    Dots,
    Heat,
    Mark,
    Outline,
    Region,
    Rule,
    Wall,
    Words,
    numbers,
)
from pages.charts.roles import BADGES
from pages.charts.words import short_numbers

TRANSPARENT = "rgba(0,0,0,0)"
TEXT_GAP = 2
"""Pixels between a rule and its label, whose background must not cover it."""
NO_HOVER: Trace = {"showlegend": False, "hoverinfo": "skip"}
"""Keys of a trace that is only part of a mark."""


def lines(x: Numbers, y: Numbers, line: dict[str, Any], **more: Any) -> Trace:
    """Return a line trace."""
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, **more}


@singledispatch
def traces(mark: Mark, pen: Pen) -> list[Trace]:
    """Return the traces of a mark; words, rules and outlines have none and are added to the pen's layout."""
    raise TypeError(f"no way to draw a {type(mark).__name__}")


@traces.register
def _(mark: Curve, pen: Pen) -> list[Trace]:
    style, xs, ys = pen.style(mark), pen.places(mark.x, across=True), pen.places(mark.y, across=False)
    line = {"color": style.colour, "dash": mark.dash or style.dash, "width": mark.width}
    line["shape"] = "hv" if mark.step else "linear"
    return [lines(xs, ys, line, **pen.named(mark), **pen.hover(mark, xs, ys))]


@traces.register
def _(mark: Band, pen: Pen) -> list[Trace]:
    colour, xs = pen.style(mark).colour, pen.places(mark.x, across=True)
    edge = {"width": 0, "color": colour, "shape": "hv" if mark.step else "linear"}
    low = lines(xs, pen.places(mark.low, across=False), edge, **NO_HOVER)
    fill = {"fill": "tonexty", "fillcolor": faint(colour, mark.opacity)}
    return [low, {**low, "y": pen.places(mark.high, across=False), **fill, **pen.named(mark)}]


@traces.register
def _(mark: Area, pen: Pen) -> list[Trace]:
    colour = pen.style(mark).colour
    fill = {"fill": "toself", "fillcolor": faint(colour, mark.opacity), **pen.named(mark), "hoverinfo": "skip"}
    return [
        lines(short_numbers(numbers(mark.x)), short_numbers(numbers(mark.y)), {"width": 0, "color": colour}, **fill)
    ]


@traces.register
def _(mark: Wall, pen: Pen) -> list[Trace]:
    colour = pen.style(mark).colour
    xs = pen.places(mark.x, across=True)
    floor = lines(xs, [mark.end] * len(xs), {"width": 0}, **NO_HOVER)
    ys = pen.places(mark.y, across=False)
    edge = lines(xs, ys, {"color": colour, "width": 2}, **NO_HOVER, fill="tonexty", **hatched(colour))
    pen.corner(mark.label, mark.corner)
    return [floor, edge]


@traces.register
def _(mark: Dots, pen: Pen) -> list[Trace]:
    style, xs, ys = pen.style(mark), pen.places(mark.x, across=True), pen.places(mark.y, across=False)
    marker: dict[str, Any] = {
        "symbol": mark.shape or style.shape,
        "size": mark.size,
        "color": style.colour,
        "opacity": mark.opacity,
        "line": {"color": style.colour, "width": 1.5},
    }
    if mark.hollow and all(mark.hollow):
        marker["color"] = TRANSPARENT
    elif any(mark.hollow):
        marker["color"] = [TRANSPARENT if empty else style.colour for empty in mark.hollow]
    trace: Trace = {"type": "scatter", "mode": "markers", "x": xs, "y": ys, "marker": marker}
    trace |= {"unselected": {"marker": {"opacity": 1}}, **pen.named(mark), **pen.hover(mark, xs, ys)}
    if mark.pick:
        trace["ids"] = [json.dumps(each) for each in mark.pick]
    if mark.low is not None and mark.high is not None:
        at = numbers(mark.x if mark.across else mark.y)
        up, down = short_numbers(numbers(mark.high) - at), short_numbers(at - numbers(mark.low))
        bar = {"type": "data", "symmetric": False, "color": style.colour, "thickness": 2, "width": 0}
        trace["error_x" if mark.across else "error_y"] = {**bar, "array": up, "arrayminus": down}
    return [trace]


@traces.register
def _(mark: Bars, pen: Pen) -> list[Trace]:
    start, end, value = numbers(mark.start), numbers(mark.end), numbers(mark.value)
    base = np.zeros_like(value) if mark.base is None else numbers(mark.base)
    place, size = ("y", "x") if mark.across else ("x", "y")
    middles, values = pen.places((start + end) / 2, across=not mark.across), short_numbers(value)
    trace: Trace = {
        "type": "bar",
        "orientation": "h" if mark.across else "v",
        place: pen.places(start, across=not mark.across),
        size: short_numbers(value - base),
        "width": short_numbers(end - start),
        "offset": 0,
        "marker": {**_bar_fill(mark, pen), "line": {"width": 0}},
        "unselected": {"marker": {"opacity": 1}},
    }
    if mark.base is not None:
        trace["base"] = short_numbers(base)
    hover = pen.hover(mark, *((values, middles) if mark.across else (middles, values)))
    return [{**trace, **pen.named(mark), **hover}]


def _bar_fill(mark: Bars, pen: Pen) -> Trace:
    """Return the fill of bars: stripes for the role "impossible"."""
    colour = pen.style(mark).colour
    if mark.role != "impossible":
        opacity = mark.opacity if mark.tiles else visible_opacity(colour, pen.colours.paper, mark.opacity)
        return {"color": faint(colour, opacity)}
    fill = hatched(colour)
    return {"color": fill["fillcolor"], "pattern": {**fill["fillpattern"], "size": 6}}


@traces.register
def _(mark: Heat, pen: Pen) -> list[Trace]:
    values = numbers(mark.value)
    # The colour bar is between the badge and the picture.
    bar = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1 - (pen.under_badge + LINE_OF_WORDS) / pen.picture.height,
        "yanchor": "top",
        "len": 0.6,
        "thickness": 8,
        "tickformat": mark.form,
        "nticks": 4,
        "outlinewidth": 0,
        "xpad": 0,
        "ypad": 2,
    }
    unit: Trace = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
    unit["yshift"] = SHADES_ABOVE - 8
    if not any(unit.items() <= words.items() for words in pen.words):  # frames are drawn, too
        pen.draw_text(mark.unit, colour=pen.colours.quiet, size=11, **unit)
    return [
        {
            "type": "heatmap",
            "x": pen.places(mark.x, across=True),
            "y": pen.places(mark.y, across=False),
            "z": [short_numbers(row) for row in values],
            "zmin": mark.low,
            "zmax": mark.high,
            "colorscale": scale(pen.colours.shades[mark.role], root=mark.root),
            "colorbar": bar,
            "xgap": mark.gap,
            "ygap": mark.gap,
            "showlegend": False,
            **_heat_hover(mark, pen),
        }
    ]


def _heat_hover(mark: Heat, pen: Pen) -> Trace:
    """Return the hover text of a shaded cell: the mark's own, or its position and value."""
    values = numbers(mark.value)
    if mark.hover is not None:
        trace = pen.hover(mark)
        texts = np.asarray(trace.pop("hovertext"), dtype=object).reshape(values.shape)
        return {**trace, "hovertext": texts.tolist()}
    lines_of_text = [f"<b>{escape_text(mark.name)}</b>"] if mark.name else []
    for side, axis in (("x", pen.picture.x), ("y", pen.picture.y)):
        lines_of_text.append(f"{escape_text(axis.title) or side}: %{{{side}{form(axis)}}}")
    lines_of_text.append(f"{mark.unit}: %{{z:{mark.form}}}" + (" (%{customdata:,.3~r} rows)" if mark.rows else ""))
    badge = BADGES["released"] if mark.role == "error" else BADGES.get(mark.role, "")
    trace = {"hovertemplate": "<br>".join([*lines_of_text, badge] if badge else lines_of_text) + "<extra></extra>"}
    return {**trace, "customdata": [short_numbers(row * mark.rows) for row in values]} if mark.rows else trace


@traces.register
def _(mark: Region, pen: Pen) -> list[Trace]:
    (left, right), (bottom, top) = mark.x or pen.ends[0], mark.y or pen.ends[1]
    colour = pen.style(mark).colour
    fill = hatched(colour) if mark.role == "impossible" else {"fillcolor": faint(colour, 0.16)}
    pen.corner(mark.label, mark.corner, within=(mark.x, mark.y))
    xs, ys = [left, right, right, left, left], [bottom, bottom, top, top, bottom]
    return [lines(xs, ys, {"width": 0}, fill="toself", **NO_HOVER, **fill)]


@traces.register
def _(mark: Cloud, pen: Pen) -> list[Trace]:
    colour = pen.style(mark).colour
    return [
        {
            "type": "scatter3d",
            "mode": "lines" if mark.lines else "markers",
            **{name: short_numbers(numbers(values)) for name, values in (("x", mark.x), ("y", mark.y), ("z", mark.z))},
            "marker": {"size": mark.size, "color": colour, "opacity": mark.opacity, "symbol": mark.shape},
            "line": {"color": colour, "width": mark.size * 1.5},
            **pen.named(mark),
            "hoverinfo": "name" if mark.name else "skip",
        }
    ]


@traces.register
def _(mark: Rule, pen: Pen) -> list[Trace]:
    colour, right = pen.style(mark).colour, mark.side == "right"
    side = {"yref": "y", "y0": mark.y, "y1": mark.y, "xref": "paper", "x0": 0, "x1": 1}
    place: dict[str, Any] = {"x": float(right), "xref": "paper", "yref": "y", "xanchor": mark.side}
    if mark.x is not None:
        side = {"xref": "x", "x0": mark.x, "x1": mark.x, "yref": "paper", "y0": 0, "y1": mark.reach}
        place = {"x": pen.place(mark.x, across=True), "xref": "x", "y": 1, "yref": "paper", "yanchor": "top"}
        place |= {"xanchor": "left" if right else "right", "xshift": 5 if right else -5}
        place["yshift"] = -LINE_OF_WORDS * mark.line
    elif mark.y is not None:
        place |= {"y": pen.place(mark.y, across=False), "yanchor": "top" if mark.below else "bottom"}
        place["yshift"] = -TEXT_GAP if mark.below else TEXT_GAP
    line = {"color": colour, "width": mark.width, "dash": mark.dash}
    pen.shapes.append({"type": "line", "line": line, "layer": "above", **side})
    if mark.label:
        pen.draw_text(mark.label, colour=colour, size=12, ground=True, **place)
    return []


@traces.register
def _(mark: Words, pen: Pen) -> list[Trace]:
    place: dict[str, Any] = {"x": mark.x, "y": mark.y, "xref": "paper", "yref": "paper"}
    if not mark.inside:
        at = pen.place(mark.x, across=True), pen.place(mark.y, across=False)
        place = {"x": at[0], "y": at[1], "xref": "x", "yref": "y"}
    place |= {"xanchor": mark.align, "yanchor": "middle", "xshift": mark.shift[0], "yshift": mark.shift[1]}
    place["textangle"] = -90 if mark.turned else 0
    ground = mark.ground or (mark.bold and not mark.inside)
    pen.draw_text(mark.text, colour=pen.style(mark).colour, size=mark.size, bold=mark.bold, ground=ground, **place)
    return []


@traces.register
def _(mark: Outline, pen: Pen) -> list[Trace]:
    line = {"color": pen.style(mark).colour, "width": mark.width}
    (left, right), (bottom, top) = mark.x, mark.y
    pen.shapes.append({"type": "rect", "x0": left, "x1": right, "y0": bottom, "y1": top, "line": line})
    return []
