"""How the limits' pictures look: lines, dots, the hatched region behind a wall, rules with their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcore.figures.figure import Palette, Records
from dpcore.figures.limits_parts import Mark, Series, Wall

STRIPES = 48
"""Of a hatched region, from corner to corner of the box around it."""
GUESS = 1
"""The colour among the others that is kept for what the reader guessed."""
FIRST_LINE, LINE = 40, 18
"""Where words at an x stand, in pixels from the top: those of the first rule, and how much lower the next one's."""
DASHES: tuple[list[int], ...] = ([1, 0], [8, 3], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4])


def hatched(colour: str) -> dict[str, Any]:
    """Diagonal stripes as a gradient: Vega-Lite has no pattern, but a gradient may change its mind at once."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    stops = []
    for stripe in range(STRIPES):
        opacity = 0.55 if stripe % 2 else 0.14
        rgba = f"rgba({red},{green},{blue},{opacity})"
        stops += [{"offset": (stripe + side) / STRIPES, "color": rgba} for side in (0, 1)]
    return {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 1, "stops": stops}


def region(wall: Wall, across: dict[str, Any], up: dict[str, Any], colours: Palette) -> dict[str, Any]:
    """The impossible side, hatched, with its edge."""
    return {
        "data": {"name": "wall"},
        "mark": {
            "type": "area", "color": hatched(colours.impossible), "clip": True,
            "line": {"color": colours.impossible, "strokeWidth": 2},
        },
        "encoding": {"x": across, "y": up, "y2": {"field": "end"}},
    }  # fmt: skip


def wall_label(wall: Wall, colours: Palette) -> dict[str, Any]:
    """What the region is called, in its corner."""
    bottom, right = wall.corner.startswith("bottom"), wall.corner.endswith("right")
    return {
        "data": {"values": [{"label": wall.label}]},
        "mark": {
            "type": "text", "color": colours.ink, "fontSize": 12, "fontWeight": "bold",
            "align": "right" if right else "left", "dx": -8 if right else 8, "dy": -10 if bottom else 12,
        },
        "encoding": {
            "text": {"field": "label"},
            "x": {"value": "width" if right else 0},
            "y": {"value": "height" if bottom else 0},
        },
    }  # fmt: skip


def lines(series: Sequence[Series], across: dict[str, Any], up: dict[str, Any], colours: Palette) -> dict[str, Any]:
    """Curves, told apart by colour and dash."""
    colour, dash = _look(series, colours)
    tooltip = [{"field": "series"}, {**across, "format": ".3~g"}, {**up, "format": ".3~g"}]
    for each in tooltip[1:]:
        each.pop("scale"), each.pop("axis")
    return {
        "data": {"name": "lines"},
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
        "encoding": {
            "x": across, "y": up, "color": colour, "tooltip": tooltip,
            "strokeDash": dash,
        },
    }  # fmt: skip


def dots(
    series: Sequence[Series], across: dict[str, Any], up: dict[str, Any], colours: Palette
) -> list[dict[str, Any]]:
    """Measured dots with their intervals."""
    colour, _ = _look(series, colours)
    encoding = {"x": across, "color": colour}
    return [
        {
            "data": {"name": "dots"},
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {**encoding, "y": {**up, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "data": {"name": "dots"},
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {**encoding, "y": up},
        },
    ]


def _look(series: Sequence[Series], colours: Palette) -> tuple[dict[str, Any], dict[str, Any]]:
    """Colour and dash of every series, by name, with one legend."""
    others = iter([hue for place, hue in enumerate(colours.others) if place != GUESS] * 3)
    roles = {"theory": colours.theory, "released": colours.released}
    names = [one.name for one in series]
    # One column: names are long and phones are narrow.
    legend: dict[str, Any] = {"columns": 1}
    if any(one.low is None for one in series):
        legend |= {"symbolType": "stroke", "symbolStrokeWidth": 3}
    hues = [roles[one.role] if one.role in roles else next(others) for one in series]
    dashes = [DASHES[place % len(DASHES)] if one.low is None else DASHES[0] for place, one in enumerate(series)]
    return (
        {"field": "series", "type": "nominal", "scale": {"domain": names, "range": hues}, "legend": legend},
        {"field": "series", "type": "nominal", "scale": {"domain": names, "range": dashes}, "legend": legend},
    )


def rules(across: dict[str, Any], up: dict[str, Any], colours: Palette, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    """Rules with their words; the reader's guess is dashed and has its own colour."""
    colour = {"condition": {"test": "datum.guess", "value": colours.others[GUESS]}, "value": colours.ink}
    dash = {"condition": {"test": "datum.guess", "value": [6, 4]}, "value": [1, 0]}
    text: dict[str, Any] = {"type": "text", "fontSize": 12, "baseline": "bottom"}
    # Words at an x stand on a line each: two rules may be at the same place.
    line = {"field": "line", "type": "quantitative", "scale": None}
    kinds = (
        ("upright", {"x": across}, {**text, "align": "left", "dx": 5}, {"y": line}),
        ("expected", {"x": across}, {**text, "align": "left", "dx": 5}, {"y": line}),
        ("guessed", {"y": up}, {**text, "align": "left", "dx": 5, "dy": -3}, {"x": {"value": 0}}),
        ("levels", {"y": up}, {**text, "align": "right", "dx": -5, "dy": -3}, {"x": {"value": "width"}}),
        ("floors", {"y": up}, {**text, "align": "right", "dx": -5, "dy": 15}, {"x": {"value": "width"}}),
    )
    layers: list[dict[str, Any]] = []
    for name, channel, words, place in kinds:
        if not mark_records(marks)[name]:
            continue
        look = {**channel, "color": colour}
        rule = {"type": "rule", "strokeWidth": 2}
        layers += [
            {"data": {"name": name}, "mark": rule, "encoding": {**look, "strokeDash": dash}},
            {"data": {"name": name}, "mark": words, "encoding": {**look, **place, "text": {"field": "label"}}},
        ]
    return layers


def mark_records(marks: Sequence[Mark]) -> dict[str, Records]:
    """Marks at an x and guesses at an x, guesses at a y and other marks at a y, above or below it."""
    found: dict[str, Records] = {"upright": [], "expected": [], "guessed": [], "levels": [], "floors": []}
    line = FIRST_LINE
    for mark in sorted(marks, key=lambda mark: mark.guess):
        row: dict[str, Any] = {"label": mark.label, "guess": mark.guess}
        if mark.x is not None:
            found["expected" if mark.guess else "upright"].append({"x": mark.x, "line": line, **row})
            line += LINE
        else:
            found["guessed" if mark.guess else "floors" if mark.below else "levels"].append({"y": mark.y, **row})
    return found
