"""Layers of the chance of an answer: what is impossible, tint, curves, threshold, what was seen, marks."""

from __future__ import annotations

from typing import Any

from dpcore.figures.figure import Palette, haloed


def chance_body(names: list[str], *, fractions: bool, title: str, colours: Palette) -> dict[str, Any]:
    """What is impossible, tint, curves, threshold, what was seen, marks; all that moves is in the data sets."""
    x = {
        "field": "x", "type": "quantitative", "title": title, "scale": {"zero": not fractions, "nice": False},
        "axis": {"format": "~p"} if fractions else {"tickMinStep": 1},
    }  # fmt: skip
    y = {
        "field": "chance", "type": "quantitative", "title": "chance of an answer",
        "scale": {"domain": [0, 1]}, "axis": {"format": "~p", "tickCount": 5},
    }  # fmt: skip
    legend: dict[str, Any] = {"legend": {} if len(names) > 1 else None}
    hues = {"domain": names, "range": [colours.released, colours.theory][: len(names)]}
    dashes = {"domain": names, "range": [[1, 0], [6, 3]][: len(names)]}
    tooltip = [{"field": "name", "title": "data"}, {"field": "chance", "format": ".3p", "title": "chance of an answer"}]
    kinds = {"domain": ["first", "other"], "range": ["circle", "diamond"]}
    return {
        "layer": [
            *_impossible(colours, x=x, y=y),
            {
                "data": {"name": "curves"},
                "transform": [{"filter": "datum.first"}],
                "mark": {"type": "area", "color": colours.released, "opacity": 0.15},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"name": "curves"},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x, "y": y,
                    "color": {"field": "curve", "type": "nominal", "scale": hues, **legend},
                    "strokeDash": {"field": "curve", "type": "nominal", "scale": dashes, **legend},
                },
            },
            {
                "data": {"name": "threshold"},
                "layer": [
                    {"mark": {"type": "rule", "color": colours.theory, "strokeWidth": 2, "strokeDash": [5, 4]}},
                    {
                        "mark": {"type": "text", "color": colours.theory, "align": "left", "dx": 5, "fontSize": 12},
                        "encoding": {"text": {"field": "name"}, "y": {"datum": 0.04}},
                    },
                ],
                "encoding": {"x": x},
            },
            {
                "data": {"name": "seen"},
                "layer": [
                    {
                        "mark": {"type": "rule", "color": colours.released, "strokeWidth": 3},
                        "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
                    },
                    *(
                        {
                            "mark": {"type": "tick", "orient": "horizontal", "color": colours.released, "size": 20,
                                     "thickness": 2},
                            "encoding": {"y": {**y, "field": end}},
                        }
                        for end in ("low", "high")
                    ),
                ],
                "encoding": {"x": x},
            },
            {
                "data": {"name": "marks"},
                "layer": [
                    {
                        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "color": colours.true},
                        "encoding": {
                            "tooltip": tooltip,
                            "shape": {"field": "kind", "type": "nominal", "scale": kinds, "legend": None},
                        },
                    },
                    # Only beside the reader's data: their neighbours are often on the same spot.
                    *haloed({
                        "transform": [{"filter": "datum.kind == 'first'"}],
                        "mark": {
                            "type": "text", "align": {"expr": "datum.side"}, "dx": {"expr": "datum.shift"},
                            "dy": {"expr": "datum.lift"}, "fontSize": 12, "fontWeight": "bold", "color": colours.true,
                        },
                        "encoding": {"text": {"field": "name"}},
                    }, colours),
                ],
                "encoding": {"x": x, "y": y},
            },
        ]
    }  # fmt: skip


def _impossible(colours: Palette, *, x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    """The hatched region above the wall, and the wall of those who may be wrong, dotted."""
    return [
        {
            "data": {"name": "wall"},
            "mark": {"type": "area", "color": colours.impossible, "opacity": 0.14},
            "encoding": {"x": x, "y": y, "y2": {"datum": 1}},
        },
        {
            "data": {"name": "hatches"},
            "mark": {"type": "rule", "color": colours.impossible, "strokeWidth": 1, "opacity": 0.6},
            "encoding": {"x": x, "x2": {"field": "x2"}, "y": {**y, "field": "y"}, "y2": {"field": "y2"}},
        },
        {
            "data": {"name": "wall"},
            "mark": {"type": "line", "color": colours.ink, "strokeWidth": 1.5, "strokeDash": [1, 4]},
            "encoding": {"x": x, "y": {**y, "field": "anybody"}},
        },
        *haloed({
            "data": {"name": "impossible"},
            "mark": {"type": "text", "align": "left", "baseline": "top", "fontSize": 12, "fontWeight": 600,
                     "color": colours.quiet},
            "encoding": {"x": {"value": 8}, "y": {"value": 40}, "text": {"field": "text"}},
        }, colours),
    ]  # fmt: skip
