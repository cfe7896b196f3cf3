"""Layers of the rows beside a direction: what turns with the arrow, the arrow, and where it can be taken hold of."""

from __future__ import annotations

from typing import Any

from dpcore.figures.figure import Palette

Spec = dict[str, Any]

EDGE = 1.2
"""How far the picture goes, in radii."""
NAME = 1.12
"""Where the arrow's name stands, in radii."""
RING = (0.55, 1.2)
"""Where a finger or the mouse takes hold of the arrow, in radii; elsewhere a finger scrolls the page."""
AWAY = f"{2 * EDGE} * sqrt(pow(x() - group().width / 2, 2) + pow(y() - group().height / 2, 2))"
"""How far an event is from the circle's centre, in radii, times the shorter side of the picture."""
EVENTS: Spec = {"defaults": {"allow": ["wheel", "touchstart"]}}
"""Left to the browser unless a selection keeps them: a finger off the ring scrolls the page."""
TURN: list[Spec] = [
    {"name": "sent", "expr": "length(data('arrow')) ? data('arrow')[0] : {angle: 0, drawn: -1}"},
    {"name": "turn",
     "expr": "PI / 180 * (drag.drawn && drag.drawn[0] === sent.drawn ? drag.angle[0] : sent.angle)"},
]  # fmt: skip
"""The angle to draw, in radians: what is dragged on this very picture, else what was sent with it."""
TURNED: list[Spec] = [
    {"calculate": "datum.x * cos(turn) - datum.y * sin(turn)", "as": "turned_x"},
    {"calculate": "datum.x * sin(turn) + datum.y * cos(turn)", "as": "turned_y"},
]
SIDES = ("on its side", "on the other")


def side_body(axes: tuple[str, str], colours: Palette, *, flat: bool) -> Spec:
    """As wide as it is high in rows' units, whatever the chart's shape."""
    wide = {"expr": f"{EDGE} * max(1, width / height)"}, {"expr": f"-{EDGE} * max(1, width / height)"}
    high = {"expr": f"{EDGE} * max(1, height / width)"}, {"expr": f"-{EDGE} * max(1, height / width)"}
    none: Spec = {"domain": False, "ticks": False, "labels": False, "grid": False}

    def channel(field: str, title: str, ends: tuple[dict[str, str], dict[str, str]]) -> Spec:
        scale = {"domainMax": ends[0], "domainMin": ends[1], "zero": False, "nice": False}
        return {"field": field, "type": "quantitative", "title": f"{title} →", "scale": scale, "axis": none}

    still = {"x": channel("x", axes[0], wide), "y": channel("y", axes[1], high)}
    turning = {"x": channel("turned_x", axes[0], wide), "y": channel("turned_y", axes[1], high)}

    def path(name: str, *, turns: bool, **look: Any) -> Spec:
        layer: Spec = {
            "data": {"name": name},
            "mark": {"type": "line", "clip": True, "aria": False, **look},
            "encoding": {**(turning if turns else still), "order": {"field": "order", "type": "quantitative"}},
        }
        return {**layer, "transform": TURNED} if turns else layer

    return {
        # A finger that holds the arrow turns it wherever it moves: only a canvas knows what lies under a moved finger.
        "usermeta": {"embedOptions": {"renderer": "canvas"}},
        "params": TURN,
        "layer": [
            path("half", turns=True, fill=colours.released, fillOpacity=0.1, strokeWidth=0),
            path("band", turns=True, fill=colours.theory, fillOpacity=0.22, strokeWidth=0),
            path("circle", turns=False, color=colours.quiet, strokeWidth=1),
            _rows(colours, still, flat=flat),
            path("net", turns=False, color=colours.released, strokeWidth=2),
            path("line", turns=True, color=colours.ink, strokeWidth=1.5, strokeDash=[5, 4]),
            path("shaft", turns=True, color=colours.ink, strokeWidth=2.5),
            path("head", turns=True, fill=colours.ink, strokeWidth=0),
            _name(colours, still),
            _hold(still),
        ],
    }


def _rows(colours: Palette, encoding: Spec, *, flat: bool) -> Spec:
    """Rows by their side of the line."""
    # On the circle itself rows lie over one another: large and faint, they show where most are.
    look = {"size": 60, "opacity": 0.2} if flat else {"size": 14, "opacity": 0.6}
    hues = {"domain": list(SIDES), "range": [colours.true, colours.impossible]}
    shapes = {"domain": list(SIDES), "range": ["circle", "triangle-down"]}
    side = f"datum.x * cos(turn) + datum.y * sin(turn) > 0 ? '{SIDES[0]}' : '{SIDES[1]}'"
    return {
        "data": {"name": "rows"},
        "transform": [{"calculate": side, "as": "side"}],
        "mark": {"type": "point", "filled": True, "aria": False, **look},
        "encoding": {
            **encoding,
            "color": {"field": "side", "type": "nominal", "scale": hues, "legend": {}},
            "shape": {"field": "side", "type": "nominal", "scale": shapes, "legend": {}},
        },
    }


def _name(colours: Palette, encoding: Spec) -> Spec:
    """What the arrow is called, beyond its tip."""
    return {
        "data": {"name": "arrow"},
        "transform": [{"calculate": f"{NAME} * cos(turn)", "as": "x"}, {"calculate": f"{NAME} * sin(turn)", "as": "y"}],
        "mark": {"type": "text", "fontSize": 15, "fontWeight": "bold", "color": colours.ink, "aria": False},
        "encoding": {**encoding, "text": {"value": "y"}},
    }


def _hold(encoding: Spec) -> Spec:
    """A point for each degree, seen by nobody: whoever presses the ring selects the nearest, and so does every move."""
    # Filters of events know no signals: the group they happen in has the picture's sides.
    side = "min(group().width, group().height)"
    ring = f"[{AWAY} > {RING[0]} * {side}][{AWAY} < {RING[1]} * {side}]"
    held = ", ".join(
        f"{begin}, [{begin}, {end}] > pointermove"
        # A touch that begins on the ring is kept (!) from the browser, which would scroll.
        for begin, end in ((f"touchstart!{ring}", "window:touchend"), (f"pointerdown{ring}", "window:pointerup"))
    )
    select = {
        "type": "point", "fields": ["angle", "drawn"], "on": held, "nearest": True, "toggle": False, "clear": False,
    }  # fmt: skip
    return {
        "data": {"sequence": {"start": 0, "stop": 360, "as": "angle"}},
        "transform": [
            {"calculate": "sent.drawn", "as": "drawn"},
            {"calculate": "cos(PI / 180 * datum.angle)", "as": "x"},
            {"calculate": "sin(PI / 180 * datum.angle)", "as": "y"},
        ],
        "params": [{"name": "drag", "select": select}],
        "mark": {"type": "point", "opacity": 0, "size": 60, "cursor": "grab", "aria": False},
        "encoding": encoding,
    }
