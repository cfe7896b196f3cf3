"""Reconstruction of a secret half, seen closely: one run point by point, and the two worlds of a swap."""

from __future__ import annotations

import numpy as np

from dpcore.core import Booleans, Floats, exactly
from dpcore.figures.figure import Figure, Records, framed, palette, percent
from dpcore.limits.halves import TwoWorlds

SHOWN = 48
"""Points of one run that are drawn."""


def one_run(*, truth: Booleans, released: Floats, chosen: Booleans, refused: bool, badge: str, dark: bool) -> Figure:
    """The true half, the released rows, the reconstructed half, point by point; all arguments of shape (d,)."""
    colours, points = palette(dark=dark), len(truth)
    strips = ("secret half", "released rows", "attacker's guess")
    values = []
    for point in range(min(points, SHOWN)):
        values += [
            {"point": point, "strip": strips[0], "kind": "in" if truth[point] else "out"},
            {"point": point, "strip": strips[2], "kind": "in" if chosen[point] else "out"},
        ]  # fmt: skip
    amounts = [
        {"point": point, "strip": strips[1], "rows": float(released[point])} for point in range(len(values) // 2)
    ]
    wrong = [
        {"point": point, "strip": strips[2]}
        for point in np.flatnonzero(chosen != truth)[:SHOWN].tolist()
        if point < SHOWN
    ]
    x = {"field": "point", "type": "ordinal", "title": None, "axis": None}
    y = {"field": "strip", "type": "nominal", "sort": list(strips), "title": None, "axis": {"ticks": False}}
    shade = {
        "field": "rows", "type": "quantitative", "scale": {"range": [colours.grid, colours.released]},
        "legend": None,
    }  # fmt: skip
    body = {
        "layer": [
            {
                "data": {"name": "sets"},
                "mark": {"type": "rect", "stroke": colours.quiet, "strokeWidth": 0.5},
                "encoding": {
                    "x": x, "y": y,
                    "fill": {
                        "field": "kind", "type": "nominal", "legend": None,
                        "scale": {"domain": ["in", "out"], "range": [colours.true, "transparent"]},
                    },
                },
            },
            {
                "data": {"name": "amounts"},
                "mark": {"type": "rect", "stroke": colours.quiet, "strokeWidth": 0.5},
                "encoding": {"x": x, "y": y, "fill": shade},
            },
            {
                "data": {"name": "wrong"},
                "mark": {"type": "text", "text": "×", "color": colours.theory, "fontSize": 16, "fontWeight": "bold"},
                "encoding": {"x": x, "y": y},
            },
        ],
        "resolve": {"scale": {"fill": "independent"}},
    }  # fmt: skip
    datasets = {"sets": values, "amounts": amounts, "wrong": wrong}
    found = int((truth & chosen).sum())
    part = f"; the first {SHOWN} of {points:,} points are drawn" if points > SHOWN else ""
    sentence = (
        "The mechanism refused: there is nothing to reconstruct from."
        if refused
        else f"One release: the attacker finds {found:,} of the {points // 2:,} secret points "
        f"({percent(2 * found / points)}; "
        f"a blind guess finds half). × marks what is wrong{part}."
    )
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=150, datasets=datasets),
        sentence=sentence,
        table={
            "point": list(range(points)), "secret": truth.tolist(), "released rows": np.round(released, 3).tolist(),
            "guessed": chosen.tolist(),
        },
    )  # fmt: skip


def worlds(*, told: TwoWorlds, epsilon: float, claimed: bool, badge: str, dark: bool) -> Figure:
    """How often the point is found in both worlds, exact intervals, and what ε would allow."""
    colours = palette(dark=dark)
    seen = {
        "its row is in the data": (told.inside, told.inside_interval),
        "its row was swapped out": (told.outside, told.outside_interval),
    }
    values: Records = [
        {"world": world, "share": share, "low": low, "high": high} for world, (share, (low, high)) in seen.items()
    ]
    x = {
        "field": "share", "type": "quantitative", "title": "releases that name the point",
        "axis": {"format": ".0%", "tickCount": 5}, "scale": {"domain": [0, 1]},
    }  # fmt: skip
    y = {"field": "world", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 170}}
    body = {
        "layer": [
            {
                "data": {"name": "allowed"},
                "mark": {"type": "rect", "color": colours.impossible, "opacity": 0.25},
                "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y},
            },
            {
                "data": {"name": "worlds"},
                "mark": {"type": "rule", "strokeWidth": 3, "color": colours.released},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
            },
            {
                "data": {"name": "worlds"},
                "mark": {"type": "point", "filled": True, "size": 90, "color": colours.released, "opacity": 1},
                "encoding": {"x": x, "y": y},
            },
        ]
    }
    allowed = [{"world": values[0]["world"], "from": told.allowed, "to": 1.0}]
    verdict = (
        f"a promise of ε = {exactly(epsilon)} allows {percent(told.allowed)} at most: **this cannot be ε-DP**"
        if told.impossible
        else f"ε = {exactly(epsilon)} allows up to {percent(told.allowed)}, grey beyond: no contradiction"
    )
    text = (
        f"The point is guessed in {percent(told.inside)} of releases with its row in the data and in "
        f"{percent(told.outside)} "
        f"without; {verdict.replace('**', '')}."
    )
    if not claimed:
        text += " Publishing true counts is private at no ε at all."
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=130, datasets={"worlds": values, "allowed": allowed}),
        sentence=text,
        table={
            "world": [str(row["world"]) for row in values], "share": [row["share"] for row in values],
            "from": [row["low"] for row in values], "to": [row["high"] for row in values],
        },
    )  # fmt: skip
