"""Layers of promise, observation and wall over epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcore.figures.figure import Palette, haloed


def over_epsilon_body(
    colours: Palette, *, scale: dict[str, Any], title: str, promised: str, hatched: str, epsilons: Sequence[float]
) -> dict[str, Any]:
    """What is impossible and vacuous, then the promise, then what was seen; all that moves is in the data sets.

    Args:
        colours: of the theme.
        scale: of the vertical axis.
        title: of the vertical axis.
        promised: what the curve is called.
        hatched: what the region under the wall is called.
        epsilons: losses with a label.
    """
    x: dict[str, Any] = {
        "field": "epsilon", "type": "quantitative", "title": "← more private · privacy loss ε · more accurate →",
        "scale": {"type": "log", "nice": False},
        "axis": {"values": list(epsilons), "format": "~g", "labelOverlap": True},
    }  # fmt: skip
    y: dict[str, Any] = {
        "field": "y", "type": "quantitative", "title": title, "scale": scale,
        "axis": {"format": "~p", "values": [0, 0.2, 0.4, 0.6, 0.8, 1] if "type" not in scale else
                 [0, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]},
    }  # fmt: skip
    small = {"type": "text", "fontSize": 12, "fontWeight": 600}
    return {
        "layer": [
            {
                "data": {"name": "vacuous"},
                "mark": {"type": "rect", "color": colours.quiet, "opacity": 0.16},
                "encoding": {"y": y, "y2": {"field": "y2"}},
            },
            {
                "data": {"name": "vacuous"},
                "mark": {"type": "text", "fontSize": 12, "align": "right", "baseline": "top", "dx": -4, "dy": 4,
                         "color": colours.quiet},
                "encoding": {"x": {"value": {"expr": "width"}}, "y": {**y, "field": "y2"},
                             "text": {"value": "vacuous"}},
            },
            {
                "data": {"name": "curves"},
                "mark": {"type": "area", "color": colours.impossible, "opacity": 0.14},
                "encoding": {"x": x, "y": {**y, "field": "wall"}, "y2": {"datum": 0}},
            },
            {
                "data": {"name": "hatches"},
                "mark": {"type": "rule", "color": colours.impossible, "strokeWidth": 1, "opacity": 0.6},
                "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"field": "y2"}},
            },
            *haloed({
                "data": {"name": "word"},
                "mark": {**small, "align": "left", "dy": -12, "color": colours.quiet},
                "encoding": {"x": x, "y": y, "text": {"value": hatched}},
            }, colours),
            {
                "data": {"name": "curves"},
                "mark": {"type": "line", "color": colours.theory, "strokeWidth": 2},
                "encoding": {"x": x, "y": {**y, "field": "promise"}},
            },
            {
                "data": {"name": "here"},
                "mark": {"type": "rule", "color": colours.ink, "strokeWidth": 1.5},
                "encoding": {"x": x},
            },
            {
                "data": {"name": "seen"},
                "mark": {"type": "rule", "color": colours.released, "strokeWidth": 2},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "data": {"name": "seen"},
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "color": colours.released},
                "encoding": {
                    "x": x, "y": y,
                    "tooltip": [{"field": "epsilon", "title": "ε"}, {"field": "text", "title": "observed"}],
                },
            },
            {
                "data": {"name": "hard"},
                "mark": {"type": "point", "shape": "diamond", "size": 70, "opacity": 1, "strokeWidth": 2,
                         "color": colours.released},
                "encoding": {
                    "x": x, "y": y,
                    "tooltip": [{"field": "epsilon", "title": "ε"}, {"field": "text", "title": "on hard data"}],
                },
            },
            *haloed({
                "data": {"name": "label"},
                "mark": {**small, "align": {"expr": "datum.side"}, "dx": {"expr": "datum.shift"}, "dy": -9,
                         "color": colours.theory},
                "encoding": {"x": x, "y": y, "text": {"value": promised}},
            }, colours),
        ]
    }  # fmt: skip
