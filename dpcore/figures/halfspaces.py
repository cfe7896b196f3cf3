"""Rows in the plane of a great circle: the side a direction points to, the line between, and what lies near it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Booleans, Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened

MOST_ROWS = 800
CORNERS = 90
"""Corners of a drawn circle."""
EDGE = 1.2
"""How far the picture goes, in radii."""


def some(count: int) -> slice:
    """Evenly spaced rows, at most MOST_ROWS of them."""
    return slice(0, count, max(1, -(-count // MOST_ROWS)))


def side_view(
    *,
    places: Floats,
    inside: Booleans,
    angle: float,
    margin: float,
    near: float,
    share: float,
    measured: Floats,
    axes: tuple[str, str],
    flat: bool,
    badge: str,
    dark: bool,
) -> Figure:
    """The rows seen along the plane's normal: <x, y> is a row's height over the line, and so is its margin.

    Args:
        places: coordinates of rows in the plane, (P, 2); all of them, some are drawn.
        inside: which of them lie on the side of the direction, (P,).
        angle: the direction, in degrees from the first axis.
        margin: half the width of the band around the line.
        near: share of all rows inside the band.
        share: share of all rows on the side.
        measured: angles in degrees of the net's directions, to be marked on the circle; none outside the plane.
        axes: what the axes mean.
        flat: whether rows have two dimensions, so that all lie on the circle.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, kept = palette(dark=dark), some(len(places))
    turn = np.radians(angle)
    towards, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    datasets: dict[str, Records] = {
        "rows": [
            {"x": x, "y": y, "side": "on its side" if side else "on the other"}
            for x, y, side in zip(
                shortened(places[kept, 0]), shortened(places[kept, 1]), inside[kept].tolist(), strict=True
            )
        ],
        "circle": _path(_arc(0, 360)),
        "half": _path(_arc(angle - 90, angle + 90)),
        "band": _path(_band(margin, towards, across)),
        "line": _path(np.array([-EDGE * across, EDGE * across])),
        "direction": _path(np.array([np.zeros(2), towards])),
        "tip": [{"x": float(towards[0]), "y": float(towards[1]), "turn": 90 - angle, "name": "y"}],
        "net": _path(_ticks(measured)),
    }
    seen = f"{len(places[kept]):,} of {len(places):,} rows are drawn. " if len(places[kept]) < len(places) else ""
    sentence = (
        f"{percent(share)} of the rows lie on the side the direction points to. "
        f"{percent(near)} lie nearer to the line than {margin:g} (the band): of them nothing is promised. {seen}"
        f"Across: {axes[0]}; up: {axes[1]}."
    )
    return Figure(
        spec=framed(_body(axes, colours, flat=flat), badge=badge, colours=colours, height=400, datasets=datasets),
        sentence=sentence,
        table={
            axes[0]: shortened(places[kept, 0]),
            axes[1]: shortened(places[kept, 1]),
            "on the side": inside[kept].tolist(),
        },
        title="Rows, and the side a direction points to",
    )


def _path(points: Floats) -> Records:
    """Corners in the order they are joined in."""
    return [
        {"x": x, "y": y, "order": order}
        for order, (x, y) in enumerate(zip(shortened(points[:, 0]), shortened(points[:, 1]), strict=True))
    ]


def _arc(start: float, stop: float) -> Floats:
    """Points of the unit circle between two angles in degrees."""
    turn = np.radians(np.linspace(start, stop, CORNERS))
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _band(margin: float, towards: Floats, across: Floats) -> Floats:
    """What lies nearer to the line than the margin, inside the circle."""
    height = np.linspace(-margin, margin, CORNERS // 2)
    width = np.sqrt(1 - height**2)
    right = height[:, None] * towards + width[:, None] * across
    left = height[::-1, None] * towards - width[::-1, None] * across
    return np.concatenate([right, left, right[:1]])


def _ticks(measured: Floats) -> Floats:
    """A short stroke outside the circle at each angle; nothing is drawn between two strokes."""
    turn = np.radians(np.concatenate([measured, measured + 180]))
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    strokes = np.stack([1.02 * around, 1.08 * around, np.full_like(around, np.nan)], axis=1)
    return strokes.reshape(-1, 2)


def _body(axes: tuple[str, str], colours: Palette, *, flat: bool) -> dict[str, Any]:
    """As wide as it is high in rows' units, whatever the chart's shape."""
    wide = {"expr": f"{EDGE} * max(1, width / height)"}, {"expr": f"-{EDGE} * max(1, width / height)"}
    high = {"expr": f"{EDGE} * max(1, height / width)"}, {"expr": f"-{EDGE} * max(1, height / width)"}
    none: dict[str, Any] = {"domain": False, "ticks": False, "labels": False, "grid": False}

    def channel(field: str, title: str, ends: tuple[dict[str, str], dict[str, str]]) -> dict[str, Any]:
        scale = {"domainMax": ends[0], "domainMin": ends[1], "zero": False, "nice": False}
        return {"field": field, "type": "quantitative", "title": f"{title} →", "scale": scale, "axis": none}

    encoding = {"x": channel("x", axes[0], wide), "y": channel("y", axes[1], high)}
    ordered = {"order": {"field": "order", "type": "quantitative"}}

    def path(name: str, **look: Any) -> dict[str, Any]:
        mark = {"type": "line", "clip": True, "aria": False, **look}
        return {"data": {"name": name}, "mark": mark, "encoding": ordered}

    # On the circle itself rows lie over one another: large and faint, they show where most are.
    look = {"size": 60, "opacity": 0.2} if flat else {"size": 14, "opacity": 0.6}
    sides = {"domain": ["on its side", "on the other"], "range": [colours.true, colours.impossible]}
    shapes = {"domain": sides["domain"], "range": ["circle", "triangle-down"]}
    return {
        "encoding": encoding,
        "layer": [
            path("half", fill=colours.released, fillOpacity=0.1, strokeWidth=0),
            path("band", fill=colours.theory, fillOpacity=0.22, strokeWidth=0),
            path("circle", color=colours.quiet, strokeWidth=1),
            {
                "data": {"name": "rows"},
                "mark": {"type": "point", "filled": True, "aria": False, **look},
                "encoding": {
                    "color": {"field": "side", "type": "nominal", "scale": sides, "legend": {}},
                    "shape": {"field": "side", "type": "nominal", "scale": shapes, "legend": {}},
                },
            },
            path("net", color=colours.released, strokeWidth=2),
            path("line", color=colours.ink, strokeWidth=1.5, strokeDash=[5, 4]),
            path("direction", color=colours.ink, strokeWidth=2.5),
            {
                "data": {"name": "tip"},
                "layer": [
                    {
                        "mark": {"type": "point", "shape": "triangle-up", "filled": True, "size": 140, "opacity": 1,
                                 "color": colours.ink, "aria": False},
                        "encoding": {"angle": {"field": "turn", "type": "quantitative",
                                               "scale": {"domain": [0, 360], "range": [0, 360]}}},
                    },
                    {
                        "mark": {"type": "text", "dx": 12, "dy": -10, "fontSize": 14, "fontWeight": "bold",
                                 "color": colours.ink},
                        "encoding": {"text": {"field": "name"}},
                    },
                ],
            },
        ],
    }  # fmt: skip
