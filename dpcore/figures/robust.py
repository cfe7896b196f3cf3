"""The chance of an answer against how robust the data are, with the reader's data and their neighbours on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened

STEPS = 160
"""Places of a curve."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A data set on a curve: where it stands, its chance of an answer, and what to call it."""

    name: str
    x: float
    chance: float


def places(*, stable: int, threshold: int) -> Floats:
    """Whole stabilities for a curve: from 0 to beyond the threshold, and to the data if they are not too far."""
    right = max(2 * threshold, min(math.ceil(1.15 * stable), 4 * threshold))
    return np.unique(np.linspace(0, right, STEPS).round())


def chance_curve(
    *,
    x: Floats,
    chances: dict[str, Floats],
    marks: list[Mark],
    threshold: int | None,
    title: str,
    sentence: str,
    badge: str,
    dark: bool,
) -> Figure:
    """Curves of answer chances; under the first one it is tinted: above the tint the runs refuse.

    Args:
        x: places, (P,): whole rows, or fractions if none is above 1.
        chances: chance of an answer at each place, by the name of the curve; at most two.
        marks: data sets, the reader's first; one beyond the last place is drawn at the edge, with an arrow.
        threshold: where to draw a vertical line, if anywhere.
        title: of the horizontal axis.
        sentence: what the picture says.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, right, names = palette(dark=dark), float(x[-1]), list(chances)
    middle = (float(x[0]) + right) / 2
    datasets: dict[str, Records] = {
        "curves": [
            {"x": place, "chance": chance, "curve": name, "first": name == names[0]}
            for name in names
            for place, chance in zip(shortened(x), shortened(chances[name]), strict=True)
        ],
        "marks": [
            {
                "x": min(mark.x, right), "chance": float(f"{mark.chance:.6g}"), "kind": "other" if index else "first",
                "name": mark.name + (" →" if mark.x > right else ""),
                "side": "right" if min(mark.x, right) > middle else "left",
                "shift": -10 if min(mark.x, right) > middle else 10,
                "lift": 15 if mark.chance > 0.5 else -12,
            }
            for index, mark in enumerate(marks)
        ],
        "threshold": [] if threshold is None else [{"x": threshold, "name": "threshold"}],
    }  # fmt: skip
    table: dict[str, list[Any]] = {title: shortened(x)}
    for name in names:
        table["chance of an answer" + (f", {name}" if len(names) > 1 else "")] = shortened(chances[name])
    body = _body(names, fractions=right <= 1, title=title, colours=colours)
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=280, datasets=datasets),
        sentence=sentence,
        table=table,
        title=f"Chance of an answer against {title}",
    )


def _body(names: list[str], *, fractions: bool, title: str, colours: Palette) -> dict[str, Any]:
    """Tint, curves, threshold, marks; all that moves is in the data sets."""
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
                "data": {"name": "marks"},
                "layer": [
                    {
                        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "color": colours.true},
                        "encoding": {
                            "tooltip": tooltip,
                            "shape": {"field": "kind", "type": "nominal", "scale": kinds, "legend": None},
                        },
                    },
                    {
                        # Only beside the reader's data: their neighbours are often on the same spot.
                        "transform": [{"filter": "datum.kind == 'first'"}],
                        "mark": {
                            "type": "text", "align": {"expr": "datum.side"}, "dx": {"expr": "datum.shift"},
                            "dy": {"expr": "datum.lift"}, "fontSize": 12, "fontWeight": "bold", "color": colours.true,
                        },
                        "encoding": {"text": {"field": "name"}},
                    },
                ],
                "encoding": {"x": x, "y": y},
            },
        ]
    }  # fmt: skip
