"""Layers of the histogram: bars for the truth, a step line or ticks for a release, and controls to play releases."""

from __future__ import annotations

from typing import Any

from dpcore.domains import Line
from dpcore.figures.figure import Palette

MISSING_WIDTH = 74
"""Pixels at the right for the bar of missing values, apart from the numbers."""
TICK = 600
"""Milliseconds a release is shown while playing."""

Spec = dict[str, Any]


def playback(count: int) -> list[Spec]:
    """Which release is shown: a slider, or the clock while the box is ticked; neither needs the server.

    "on" is Vega's, and Vega-Lite hands it through although its own schema only knows timers of charts without layers.
    """
    if count < 2:
        return [{"name": "shown", "value": 1}]
    bind = {"input": "range", "min": 1, "max": count, "step": 1, "name": "release "}
    return [
        {"name": "playing", "value": False, "bind": {"input": "checkbox", "name": "play releases "}},
        {"name": "frame", "value": 1, "bind": bind},
        {"name": "tick", "value": 0, "on": [
            {"events": {"type": "timer", "throttle": TICK}, "update": f"playing ? (tick + 1) % {count} : tick"},
        ]},
        {"name": "shown", "expr": "playing ? tick + 1 : frame"},
    ]  # fmt: skip


RELEASED = {"calculate": "datum['f' + shown]", "as": "released"}
"""The count of the release that is shown."""


def _named(name: str) -> Spec:
    """A column that says which of the two series a layer draws, for the legend."""
    return {"calculate": f"'{name}'", "as": "series"}


def _series(colours: Palette) -> Spec:
    """Colour and legend of the two series."""
    return {
        "field": "series", "type": "nominal",
        "scale": {"domain": ["true", "released"], "range": [colours.true, colours.released]},
        "legend": {"orient": "top", "symbolType": "square", "symbolOpacity": 1},
    }  # fmt: skip


def _words(colours: Palette, *, across: Spec, down: Spec | int, align: str) -> Spec:
    """What to say of the release that is shown."""
    return {
        "data": {"name": "said"},
        "transform": [{"filter": "datum.frame == shown"}],
        "mark": {"type": "text", "align": align, "baseline": "bottom", "color": colours.released, "fontSize": 12},
        "encoding": {"x": {"value": across}, "y": {"value": down}, "text": {"field": "text"}},
    }


def on_a_line(domain: Line, *, colours: Palette, brush: bool) -> Spec:
    """Bars and a step line over the data's unit; missing values at the right, off the axis."""
    title = f"value ({domain.unit})" if domain.unit else "value"
    axis = {"grid": False, "labelOverlap": True}
    scale: Spec = {"domain": [domain.low, domain.high], "nice": False, "clamp": True}
    if domain.missing:
        scale["range"] = [0, {"expr": f"width - {MISSING_WIDTH}"}]
    x = {"field": "x", "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    y = {"type": "quantitative", "title": "rows in a bar", "scale": {"nice": False}, "axis": {"tickCount": 6}}
    tip = [
        {"field": "x", "title": "from"}, {"field": "x2", "title": "to"}, {"field": "true"},
        {"field": "released", "format": ",.4~r"},
    ]  # fmt: skip
    zero = {"datum": 0}
    truth: Spec = {
        "transform": [{"filter": "!datum.apart && !datum.end"}, RELEASED, _named("true")],
        "mark": {"type": "rect", "opacity": 0.38, "aria": False},
        "encoding": {"x": x, "x2": {"field": "x2"}, "y": {"field": "true", **y}, "y2": zero,
                     "color": _series(colours), "tooltip": tip},
    }  # fmt: skip
    if brush:
        truth["params"] = [{"name": "brush", "select": {"type": "interval", "encodings": ["x"]}}]
    release = {
        "transform": [{"filter": "!datum.apart"}, RELEASED, _named("released")],
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2.5, "aria": False},
        "encoding": {"x": x, "y": {"field": "released", **y}, "color": _series(colours)},
    }
    reach = {
        "data": {"name": "reach"}, "mark": {"type": "rule", "opacity": 0, "aria": False},
        "encoding": {"y": {"field": "rows", **y}},
    }  # fmt: skip
    layers = [truth, release, reach, _words(colours, across={"expr": "width - 4"}, down=-4, align="right")]
    if domain.missing:
        layers += _apart(colours, y=y, tip=tip)
    return {"data": {"name": "bars"}, "layer": layers}


def _apart(colours: Palette, *, y: Spec, tip: list[Spec]) -> list[Spec]:
    """The bar of missing values, at the right of the axis of numbers."""
    ends = {"x": {"value": {"expr": "width - 48"}}, "x2": {"value": {"expr": "width - 20"}}}
    apart = [{"filter": "datum.apart"}, RELEASED]
    name = {"type": "text", "color": colours.ink, "fontSize": 12, "baseline": "top"}
    place = {"x": {"value": {"expr": "width - 34"}}, "y": {"value": {"expr": "height + 8"}}}
    tip = tip[2:]
    return [
        {
            "transform": apart, "mark": {"type": "rect", "opacity": 0.38, "color": colours.true, "aria": False},
            "encoding": {**ends, "y": {"field": "true", **y}, "y2": {"datum": 0}, "tooltip": tip},
        },
        {
            "transform": apart,
            "mark": {"type": "rule", "strokeWidth": 3, "color": colours.released, "aria": False},
            "encoding": {**ends, "y": {"field": "released", **y}},
        },
        {"transform": apart, "mark": name, "encoding": {**place, "text": {"value": "missing"}}},
    ]  # fmt: skip


def on_labels(colours: Palette, *, brush: bool) -> Spec:
    """Bars for the truth, ticks for a release. Labels are data, never part of an expression."""
    y = {
        "field": "label", "type": "nominal", "title": None, "sort": {"field": "place", "op": "min"},
        "axis": {"labelLimit": 130, "ticks": False, "domain": False},
    }  # fmt: skip
    x = {"type": "quantitative", "title": "rows", "scale": {"nice": False}, "axis": {"tickCount": 5}}
    tip = [{"field": "label"}, {"field": "true"}, {"field": "released", "format": ",.4~r"}]
    truth: Spec = {
        "transform": [RELEASED, _named("true")],
        "mark": {"type": "bar", "opacity": 0.38, "aria": False},
        "encoding": {"y": y, "x": {"field": "true", **x}, "color": _series(colours), "tooltip": tip},
    }
    if brush:
        truth["params"] = [{"name": "brush", "select": {"type": "interval", "encodings": ["y"]}}]
    release = {
        "transform": [RELEASED, _named("released")],
        "mark": {"type": "tick", "thickness": 3.5, "aria": False},
        "encoding": {"y": y, "x": {"field": "released", **x}, "color": _series(colours), "tooltip": tip},
    }
    reach = {
        "data": {"name": "reach"}, "mark": {"type": "rule", "opacity": 0, "aria": False},
        "encoding": {"x": {"field": "rows", **x}},
    }  # fmt: skip
    said = _words(colours, across={"expr": "width - 4"}, down=-4, align="right")
    return {"data": {"name": "bars"}, "layer": [truth, release, reach, said]}
