"""Layers of a map: shaded cells, an outline, and what to say of the release that is shown."""

from __future__ import annotations

from typing import Any

from dpcore.domains import Grid, Line
from dpcore.figures.figure import Palette
from dpcore.figures.labels import drawable

Spec = dict[str, Any]


def map_body(
    domain: Grid,
    *,
    sides: tuple[tuple[float, float, int], tuple[float, float, int]],
    shades: tuple[str, str, str],
    colours: Palette,
    brush: bool,
) -> Spec:
    """Cells over both units; the axes and the places of cells follow from the grid, everything else is data.

    Args:
        domain: the grid.
        sides: start, width and number of the cells along either side; cells are numbered row by row.
        shades: few to many rows.
        colours: of the theme.
        brush: whether a rectangle can be drawn; the selection is called "brush".
    """
    (left, width, _), (low, height, rows) = sides
    x, y = (
        {"field": field, "type": "quantitative", **_axis(line, name)}
        for field, line, name in zip("xy", (domain.first, domain.second), drawable(domain.names), strict=True)
    )
    shade = {
        "field": "shade", "type": "quantitative",
        "scale": {"type": "sqrt", "range": list(shades), "nice": False, "clamp": True},
        "legend": {
            "title": "rows in a square", "orient": "top", "gradientLength": 150, "gradientThickness": 10,
            "tickCount": 4,
            "format": ",.3~r", "titleFontWeight": "normal", "type": "gradient",
        },
    }  # fmt: skip
    # Whole numbers and bounds are all that enters an expression.
    made: list[Spec] = [
        {"calculate": f"{left!r} + {width!r} * floor(datum.i / {int(rows)})", "as": "x"},
        {"calculate": f"{low!r} + {height!r} * (datum.i % {int(rows)})", "as": "y"},
        {"calculate": f"datum.x + {width!r}", "as": "x2"},
        {"calculate": f"datum.y + {height!r}", "as": "y2"},
        {"calculate": "datum['f' + shown]", "as": "rows"},
        {"calculate": "max(0, datum.rows)", "as": "shade"},
    ]
    places = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    cells: Spec = {
        "transform": made,
        "mark": {"type": "rect", "aria": False, "strokeWidth": 0, "clip": True},
        "encoding": {
            **places, "color": shade,
            "tooltip": [
                {"field": "x", "title": "across, from"}, {"field": "x2", "title": "to"},
                {"field": "y", "title": "up, from"}, {"field": "y2", "title": "to"},
                {"field": "rows", "format": ",.4~r"},
            ],
        },
    }  # fmt: skip
    if brush:
        mark = {"fill": colours.theory, "fillOpacity": 0.12, "stroke": colours.theory, "strokeWidth": 2}
        cells["params"] = [{"name": "brush", "select": {"type": "interval", "encodings": ["x", "y"], "mark": mark}}]
    # Below the cells, and a rectangle as they are: another kind of mark would make the legend one of symbols.
    reach = {
        "data": {"name": "reach"}, "mark": {"type": "rect", "opacity": 0, "aria": False},
        "encoding": {"color": shade},
    }  # fmt: skip
    said = {
        "data": {"name": "said"}, "transform": [{"filter": "datum.frame == shown"}],
        "mark": {"type": "text", "align": "right", "baseline": "bottom", "fontSize": 12, "color": colours.ink},
        "encoding": {"x": {"value": {"expr": "width - 2"}}, "y": {"value": -5}, "text": {"field": "text"}},
    }  # fmt: skip
    layers = [reach, cells, said]
    if not brush:
        outline = {
            "type": "rect", "fill": None, "stroke": colours.theory, "strokeWidth": 2.5, "clip": True, "aria": False,
        }  # fmt: skip
        layers.append({"data": {"name": "asked"}, "mark": outline, "encoding": places})
    return {"data": {"name": "cells"}, "layer": layers}


def _axis(line: Line, name: str) -> Spec:
    """Name and unit of a number, over its declared bounds. A name is data, never part of an expression."""
    title = f"{name} ({line.unit})" if line.unit and line.unit not in name else name
    scale = {"domain": [line.low, line.high], "nice": False}
    return {"title": title, "scale": scale, "axis": {"grid": False, "labelOverlap": True, "tickCount": 6}}
