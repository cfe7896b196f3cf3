"""Layers of the trade-off: regions, band, lines, points, rules; only the data sets change with epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.figures.figure import Palette, haloed, rows_axis
from dpcore.figures.limits_layers import hatched

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

Spec = dict[str, Any]


def tradeoff_body(colours: Palette, *, names: list[str], has_chosen: bool, bottom: float, top: float, n: int) -> Spec:
    """Regions, band, lines, points, rules. Only the data sets change with epsilon."""
    x: Spec = {
        "field": "epsilon", "type": "quantitative", "title": "← more private · privacy loss ε · more accurate →",
        "scale": {"type": "log", "nice": False},
        "axis": {"values": [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20], "format": "~g",
                 "labelOverlap": True, "grid": False},
    }  # fmt: skip
    powers = [10.0**power for power in range(int(np.floor(np.log10(bottom))), 4) if bottom <= 10.0**power <= top]
    y: Spec = {
        "type": "quantitative", "scale": {"type": "log", "nice": False, "domain": [bottom, top]},
        "axis": None,
    }  # fmt: skip
    left = {"title": "error, share of n", "axis": {"format": ".3~p", "values": powers}}
    hues = [*([colours.released] if has_chosen else []), *colours.others * 3][: len(names)]
    legend = {
        "orient": "bottom", "columns": {"expr": "width > 480 ? 2 : 1"}, "symbolSize": 90, "symbolOpacity": 1,
        "labelLimit": 300,
    }  # fmt: skip
    colour = {
        "field": "mechanism", "type": "nominal", "legend": legend, "scale": {"domain": names, "range": hues},
    }  # fmt: skip
    shape = {**colour, "scale": {"domain": names, "range": [SHAPES[i % len(SHAPES)] for i in range(len(names))]}}
    worst = [
        {
            "transform": [{"filter": which}, _named("worst error")],
            "mark": {"type": "line", "strokeWidth": width, "clip": True, "aria": False},
            "encoding": {
                "x": x, "y": {"field": "worst", **y}, "color": colour, "strokeDash": _dash(),
            },
        }
        for which, width in (("!datum.chosen", 1.8), ("datum.chosen", 3.5))
    ]  # fmt: skip
    band = {"type": "area", "opacity": 0.2, "color": colours.released, "clip": True, "aria": False}
    return {
        "data": {"name": "errors"},
        "layer": [
            {
                "data": {"name": "vacuous"},
                "mark": {"type": "rect", "color": colours.quiet, "opacity": 0.16, "aria": False},
                "encoding": {"y": {"field": "from", **y}, "y2": {"field": "to"}},
            },
            {
                "data": {"name": "impossible"},
                "mark": {
                    "type": "area", "color": hatched(colours.impossible), "clip": True, "aria": False,
                    "line": {"color": colours.impossible, "strokeWidth": 1.5},
                },
                "encoding": {"x": x, "y": {"field": "error", **y}, "y2": {"field": "floor"}},
            },
            {"mark": band, "encoding": {"x": x, "y": {"field": "low", **y, **left}, "y2": {"field": "high"}}},
            {
                "transform": [{"filter": "datum.chosen"}, _named("typical error")],
                "mark": {"type": "line", "strokeWidth": 2, "clip": True, "aria": False},
                "encoding": {
                    "x": x, "y": {"field": "typical", **y}, "color": colour, "strokeDash": _dash(),
                },
            },
            *worst,
            {
                "params": [{
                    "name": "pick",
                    "select": {"type": "point", "fields": ["epsilon"], "nearest": True, "toggle": False},
                }],
                "mark": {"type": "point", "filled": True, "size": 64, "opacity": 1, "cursor": "pointer", "aria": False},
                "encoding": {
                    "x": x, "y": {"field": "worst", **y}, "color": colour, "shape": shape,
                    "tooltip": [
                        {"field": "mechanism"}, {"field": "epsilon", "title": "ε"},
                        {"field": "worst", "title": "worst error, median", "format": ".3~p"},
                                            ],
                },
            },
            *_rules(colours, x=x, y=y, n=n, powers=powers),
        ],
        "resolve": {"axis": {"y": "independent"}},
    }  # fmt: skip


def _named(kind: str) -> Spec:
    """A column that says which error a layer draws, for the legend."""
    return {"calculate": f"'{kind}'", "as": "kind"}


def _dash() -> Spec:
    """Solid for the worst error, dashed for the typical one."""
    return {
        "field": "kind", "type": "nominal",
        "scale": {"domain": ["worst error", "typical error"], "range": [[1, 0], [4, 3]]},
        "legend": {"orient": "top", "columns": 2, "symbolStrokeWidth": 2, "symbolSize": 300},
    }  # fmt: skip


def _rules(colours: Palette, *, x: Spec, y: Spec, n: int, powers: list[float]) -> list[Spec]:
    """What the chosen one promises, where the page is, what is allowed, and an axis in rows."""
    text = {"type": "text", "fontSize": 13, "aria": False}
    orange = {"color": colours.theory, "clip": True, "aria": False}
    end = {"value": {"expr": "width - 4"}}
    rule = {"type": "rule", "strokeWidth": 1.5, "color": colours.ink, "aria": False}
    now, allowed = {"data": {"name": "now"}}, {"data": {"name": "allowed"}}
    side = {**y, "axis": {**rows_axis(n, orient="right"), "values": powers}}
    return [
        {
            "data": {"name": "promised"}, "mark": {"type": "line", "strokeWidth": 2.5, "strokeDash": [9, 3], **orange},
            "encoding": {"x": x, "y": {"field": "promised", **y}},
        },
        *haloed({
            "data": {"name": "named"},
            "mark": {**text, "align": "left", "baseline": "middle", "dx": 10, "fontWeight": 600,
                     "color": colours.theory},
            "encoding": {"x": x, "y": {"field": "promised", **y}, "text": {"field": "label"}},
        }, colours),
        {
            **allowed, "mark": {**rule, "strokeDash": [2, 3], "clip": True},
            "encoding": {"y": {"field": "error", **side}},
        },
        *haloed({
            **allowed, "mark": {**text, "fontSize": 12, "align": "right", "baseline": "bottom", "dy": -2,
                                "color": colours.ink, "clip": True},
            "encoding": {"x": end, "y": {"field": "error", **y}, "text": {"field": "label"}},
        }, colours),
        {
            "data": {"name": "vacuous"},
            "mark": {**text, "fontSize": 12, "align": "right", "baseline": "bottom", "dy": -2, "color": colours.quiet},
            "encoding": {"x": end, "y": {"field": "from", **y}, "text": {"field": "label"}},
        },
        *haloed({
            "data": {"name": "impossible"}, "transform": [{"filter": "datum.label"}],
            "mark": {**text, "fontSize": 12, "align": "left", "baseline": "bottom", "dx": 6, "fontWeight": 600,
                     "color": colours.quiet},
            "encoding": {"x": x, "y": {"value": {"expr": "height - 5"}}, "text": {"field": "label"}},
        }, colours),
        {**now, "mark": rule, "encoding": {"x": x}},
        {
            **now, "mark": {**text, "baseline": "bottom", "color": colours.ink, "fontWeight": 600},
            "encoding": {"x": x, "y": {"value": -4}, "text": {"field": "label"}},
        },
    ]  # fmt: skip
