"""Layers of the error band: quantiles of each query's error, along a line or label by label."""

from __future__ import annotations

from typing import Any

from dpcore.domains import Line
from dpcore.figures.figure import rows_axis

LEVELS = ("q05", "q25", "q50", "q75", "q95")
"""Columns of the quantiles in the data."""

Spec = dict[str, Any]


def _tips(name: str, n: int) -> tuple[list[Spec], list[Spec]]:
    """What pointing at a query says, and the columns made for it; n is all that enters an expression."""
    made: list[Spec] = [
        {"calculate": f"max(abs(datum.q05), abs(datum.q95)) * {int(n)}", "as": "rows"},
    ]
    tip: list[Spec] = [{"field": "x", "title": name}]
    tip += [
        {"field": level, "title": title, "format": "+.3~p"}
        for level, title in zip(LEVELS, ("5%", "25%", "median", "75%", "95%"), strict=True)
    ]
    tip.append({"field": "rows", "title": "90% within, rows", "format": ",.3~r"})
    return made, tip


def along_a_line(domain: Line, *, one: str, n: int, colour: str) -> Spec:
    """Bands over the data's unit, with an axis in rows at the right."""
    unit = f" ({domain.unit})" if domain.unit else ""
    scale = {"domain": [domain.low, domain.high], "nice": False}
    x = {"field": "x", "type": "quantitative", "title": f"{one}{unit}", "scale": scale, "axis": {"grid": False}}
    y = {"type": "quantitative", "scale": {"nice": True}}
    left = {"title": "error, share of n", "axis": {"format": ".3~p", "tickCount": 5}}
    made, tip = _tips(one, n)
    median = {"type": "line", "strokeWidth": 2, "color": colour, "aria": False}
    return {
        "data": {"name": "queries"},
        "transform": made,
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.22, "color": colour, "aria": False},
                "encoding": {"x": x, "y": {"field": "q05", **y, **left}, "y2": {"field": "q95"}},
            },
            {
                "mark": {"type": "area", "opacity": 0.38, "color": colour, "aria": False},
                "encoding": {"x": x, "y": {"field": "q25", **y, "axis": None}, "y2": {"field": "q75"}},
            },
            {"mark": median, "encoding": {"x": x, "y": {"field": "q50", **y, "axis": None}}},
            {
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0, "aria": False},
                "encoding": {
                    "x": x, "y": {"field": "q05", **y, "axis": rows_axis(n, orient="right")},
                    "y2": {"field": "q95"}, "tooltip": tip,
                },
            },
        ],
        "resolve": {"axis": {"y": "independent"}},
    }  # fmt: skip


def along_labels(*, n: int, colour: str) -> Spec:
    """A thin and a thick bar per label, with an axis in rows at the top."""
    y = {
        "field": "x", "type": "nominal", "title": None, "sort": {"field": "place", "op": "min"},
        "axis": {"labelLimit": 130, "ticks": False, "domain": False},
    }  # fmt: skip
    x = {"type": "quantitative", "scale": {"nice": True}}
    bottom = {"title": "error, share of n", "axis": {"format": ".3~p", "tickCount": 5}}
    made, tip = _tips("label", n)
    thin = {"type": "rule", "strokeWidth": 3, "opacity": 0.45, "color": colour, "aria": False}
    thick = {"type": "rule", "strokeWidth": 8, "opacity": 0.6, "color": colour, "aria": False}
    return {
        "data": {"name": "queries"},
        "transform": made,
        "layer": [
            {
                "mark": thin,
                "encoding": {"y": y, "x": {"field": "q05", **x, **bottom}, "x2": {"field": "q95"}, "tooltip": tip},
            },
            {
                "mark": thick,
                "encoding": {
                    "y": {**y, "axis": None}, "x": {"field": "q25", **x, "axis": rows_axis(n, orient="top")},
                    "x2": {"field": "q75"}, "tooltip": tip,
                },
            },
            {
                "mark": {"type": "tick", "thickness": 3, "color": colour, "aria": False},
                "encoding": {"y": {**y, "axis": None}, "x": {"field": "q50", **x, "axis": None}},
            },
        ],
        "resolve": {"axis": {"x": "independent", "y": "independent"}},
    }  # fmt: skip
