"""Layers of the possible/impossible map: what is impossible, observed, promised and vacuous, on one axis."""

from __future__ import annotations

from typing import Any

from dpcore.figures.dotplot import COLUMNS
from dpcore.figures.figure import Palette, haloed, rows_axis

Spec = dict[str, Any]

DIAMETER = f"max(6, 0.94 * min(width / {COLUMNS}, height / max(1, domain('y')[1])))"
"""Of a dot, in pixels: as large as the picture's size and the tallest stack allow. Sooner they overlap than vanish."""


def worst_body(colours: Palette, *, n: int, log: bool, run: str, over: str) -> Spec:
    """Regions, then dots, then the promise, then words; the axes reach as far as the data sets say.

    Args:
        colours: of the theme.
        n: rows, for the axis in rows.
        log: whether the axis has equal factors instead of equal steps.
        run: what a dot stands for two in a hundred of.
        over: which queries the worst is taken over.
    """
    scale: Spec = {"type": "log", "nice": False} if log else {"zero": True, "nice": False}
    # What a dot is stands below the axis: within, the words would cross the promise or the dots on some data.
    title = [f"worst error over {over}, share of n" + (" (log)" if log else ""), f"(a dot is 2 in 100 {run}s)"]
    bottom = {"format": ".3~p", "tickCount": 6, "labelOverlap": True, "grid": False}
    x: Spec = {"field": "x", "type": "quantitative", "scale": scale, "axis": None}
    y: Spec = {"field": "y", "type": "quantitative", "scale": {"nice": False, "zero": True}, "axis": None}
    shape = {
        "field": "beyond", "type": "nominal", "legend": None,
        "scale": {"domain": [False, True], "range": [colours.released, "transparent"]},
    }  # fmt: skip
    return {
        "layer": [
            {
                "data": {"name": "reach"}, "mark": {"type": "point", "opacity": 0, "aria": False},
                "encoding": {
                    "x": {**x, "title": title, "axis": bottom}, "y": y,
                },
            },
            {
                "data": {"name": "reach"}, "mark": {"type": "point", "opacity": 0, "aria": False},
                "encoding": {"x": {**x, "axis": rows_axis(n, orient="top")}},
            },
            _region("vacuous", x, colour=colours.quiet, opacity=0.16),
            _region("impossible", x, colour=colours.impossible, opacity=0.14),
            {
                "data": {"name": "impossible"},
                "mark": {"type": "rule", "color": colours.impossible, "strokeWidth": 2, "aria": False},
                "encoding": {"x": {**x, "field": "x2"}},
            },
            {
                "data": {"name": "hatches"},
                "mark": {"type": "rule", "color": colours.impossible, "strokeWidth": 1, "aria": False},
                "encoding": {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}},
            },
            {
                "data": {"name": "dots"},
                "mark": {
                    "type": "point", "shape": "circle", "opacity": 1, "stroke": colours.released, "strokeWidth": 1.5,
                    "size": {"expr": f"pow({DIAMETER} - 1.5, 2)"}, "aria": False,
                },
                "encoding": {
                    "x": x, "y": y, "fill": shape,
                    "tooltip": [{"field": "error", "title": "worst error", "format": ".3~p"}],
                },
            },
            *_promise(colours, x),
            *_words(colours, x),
        ],
        "resolve": {"axis": {"x": "independent"}},
    }  # fmt: skip


def _region(name: str, x: Spec, *, colour: str, opacity: float) -> Spec:
    """A shaded part of the axis, bottom to top."""
    return {
        "data": {"name": name},
        "mark": {"type": "rect", "color": colour, "opacity": opacity, "aria": False},
        "encoding": {"x": x, "x2": {"field": "x2"}},
    }


def _promise(colours: Palette, x: Spec) -> list[Spec]:
    """The promised error: solid where it is a guarantee, dashed where it is not."""
    dash = {
        "field": "sure", "type": "nominal", "legend": None,
        "scale": {"domain": [True, False], "range": [[1, 0], [6, 4]]},
    }  # fmt: skip
    rule = {
        "data": {"name": "promise"},
        "mark": {"type": "rule", "color": colours.theory, "strokeWidth": 3, "aria": False},
        "encoding": {"x": x, "y": {"value": 24}, "y2": {"value": {"expr": "height"}}, "strokeDash": dash},
    }
    sides = [
        {
            "data": {"name": "promise"}, "transform": [{"filter": which}],
            "mark": {"type": "text", "color": colours.theory, "align": align, "dx": shift, "fontSize": 13,
                     "fontWeight": 600, "baseline": "top"},
            "encoding": {"x": x, "y": {"value": 26}, "text": {"field": "label"}},
        }
        for which, align, shift in (("datum.right", "left", 7), ("!datum.right", "right", -7))
    ]  # fmt: skip
    return [rule, *sides]


def _words(colours: Palette, x: Spec) -> list[Spec]:
    """Names of the regions, and how many runs are beyond the open dots or refused."""
    small = {"type": "text", "fontSize": 12, "baseline": "top"}
    across: Spec = {"value": {"expr": "width - 2"}}
    return [
        {
            "data": {"name": "typical"}, "mark": {**small, "align": "right", "fontSize": 13, "color": colours.released},
            "encoding": {"x": across, "y": {"value": 4}, "text": {"field": "text"}},
        },
        {
            "data": {"name": "refused"}, "mark": {**small, "align": "left", "color": colours.ink},
            "encoding": {"x": {"value": 4}, "y": {"value": 4}, "text": {"field": "text"}},
        },
        *(
            layer
            for which, align, shift in (("!datum.inside", "left", 4), ("datum.inside", "right", -4))
            for layer in haloed({
                "data": {"name": "impossible"}, "transform": [{"filter": which}],
                "mark": {**small, "align": align, "dx": shift, "color": colours.quiet, "fontWeight": 600},
                "encoding": {"x": {**x, "field": "x2"}, "y": {"value": 46}, "text": {"field": "label"}},
            }, colours)
        ),
        {
            # Upright, for the region can be narrow and the promise at its edge.
            "data": {"name": "vacuous"},
            "mark": {**small, "align": "right", "angle": 270, "baseline": "bottom", "dy": -1, "color": colours.quiet},
            "encoding": {"x": {**x, "field": "x2"}, "y": {"value": 30},
                         "text": {"value": "vacuous"}},
        },
    ]  # fmt: skip
