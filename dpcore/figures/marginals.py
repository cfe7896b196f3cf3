"""A polynomial bent toward a step, and what each level of marginals costs and adds to an answer's noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened, significant
from dpcore.marginals.plans import Plan
from dpcore.marginals.polynomials import Polynomial, target

STEPS = 120
"""Places of the curve between 0 and k."""
HEIGHT = 270
EXACT = 1e-9
"""A bias below this is rounding."""


def between(values: Floats, places: Floats) -> Floats:
    """The polynomial through values at 0 .. k, anywhere: Newton's forward differences."""
    differences, curve, binomial = np.array(values), np.zeros(len(places)), np.ones(len(places))
    for level in range(len(values)):
        curve += differences[0] * binomial
        differences = np.diff(differences)
        binomial *= (places - level) / (level + 1)
    return curve


def step_curve(*, polynomial: Polynomial, used: bool, badge: str, dark: bool) -> Figure:
    """The target and the polynomial on 0 .. k, and the band of the bias.

    Args:
        polynomial: what is drawn.
        used: whether the release rests on it, or the marginals themselves are released.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, width = palette(dark=dark), polynomial.width
    wanted = target(width=width, least=polynomial.least)
    values = np.array(polynomial.values)
    places = np.linspace(0, width, STEPS)
    datasets: dict[str, Records] = {
        "curve": [
            {"s": s, "p": p} for s, p in zip(shortened(places), shortened(between(values, places)), strict=True)
        ],
        "places": [
            {"s": s, "target": aim, "p": p, "low": low, "high": high}
            for s, aim, p, low, high in zip(
                range(width + 1), wanted.tolist(), shortened(values),
                shortened(wanted - polynomial.gamma), shortened(wanted + polynomial.gamma), strict=True,
            )
        ],
    }  # fmt: skip
    worst = int(np.abs(values - wanted).argmax())
    near = (
        f"stays within γ = {significant(polynomial.gamma)} (orange) of the step from no to yes at {polynomial.least} "
        f"of {width}; furthest at {worst}, where it is {significant(float(values[worst]))} instead of {wanted[worst]:g}"
        if polynomial.gamma > EXACT
        else f"takes the step from no to yes at {polynomial.least} of {width} without any bias"
    )
    sentence = f"A polynomial of degree {polynomial.degree} in the number of attributes that a row has {near}."
    if not used:
        sentence += " It is not used here: the marginals themselves are released, with noise of their own."
    table: dict[str, list[Any]] = {
        "attributes set": list(range(width + 1)), "wanted": wanted.tolist(), "polynomial": shortened(values),
        "level": list(range(width + 1)), "coefficient": shortened(list(polynomial.coefficients)),
    }  # fmt: skip
    return Figure(
        spec=framed(_step_body(width, colours), badge=badge, colours=colours, height=HEIGHT, datasets=datasets),
        sentence=sentence,
        table=table,
        title="Polynomial against the step",
    )


def _step_body(width: int, colours: Palette) -> dict[str, Any]:
    """Band, curve, and both kinds of places; what moves is in the data sets."""
    x = {
        "field": "s", "type": "quantitative", "title": "attributes of the query that a row has",
        "scale": {"domain": [-0.25, width + 0.25], "nice": False},
        "axis": {"tickMinStep": 1, "format": "d", "grid": False},
    }  # fmt: skip
    y: dict[str, Any] = {"type": "quantitative", "title": "counted as", "axis": {"tickCount": 5}}
    kinds = {"domain": ["wanted: no or yes", "polynomial"], "range": [colours.true, colours.released]}
    shapes = {"domain": ["wanted: no or yes", "polynomial"], "range": ["square", "circle"]}
    tip = [
        {"field": "s", "title": "attributes set"},
        {"field": "target", "title": "wanted"},
        {"field": "p", "title": "polynomial"},
    ]
    return {
        "layer": [
            {
                "data": {"name": "places"},
                "mark": {"type": "rule", "color": colours.theory, "strokeWidth": 9, "opacity": 0.3},
                "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "data": {"name": "curve"},
                "mark": {"type": "line", "strokeWidth": 2, "color": colours.released, "clip": True},
                "encoding": {"x": x, "y": {"field": "p", **y}},
            },
            {
                "data": {"name": "places"},
                "transform": [
                    {"calculate": "['wanted: no or yes', 'polynomial']", "as": "both"},
                    {"flatten": ["both"], "as": ["kind"]},
                    {"calculate": "datum.kind == 'polynomial' ? datum.p : datum.target", "as": "value"},
                ],
                "mark": {"type": "point", "filled": True, "size": 85, "opacity": 1},
                "encoding": {
                    "x": x, "y": {"field": "value", **y}, "tooltip": tip,
                    "color": {"field": "kind", "type": "nominal", "scale": kinds},
                    "shape": {"field": "kind", "type": "nominal", "scale": shapes},
                },
            },
        ]
    }  # fmt: skip


SPENT, ADDED = "share of the privacy budget", "share of an answer's variance"


def level_bars(*, plan: Plan, counts: list[int], badge: str, dark: bool) -> Figure:
    """For each released level: its share of the budget and of the noise in an answer.

    Args:
        plan: what is released.
        counts: counts in each level.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    spent = np.array([noise.epsilon or noise.moved / (2 * noise.scale**2) for noise in plan.noise])
    added = np.array([
        part * weight**2 * noise.variance
        for part, weight, noise in zip(plan.parts, plan.weights, plan.noise, strict=True)
    ])  # fmt: skip
    spent, added = spent / max(spent.sum(), 1e-300), added / max(added.sum(), 1e-300)
    names = [f"{noise.level} attribute{'s' if noise.level > 1 else ''}" for noise in plan.noise]
    bars: Records = [
        {"level": name, "kind": kind, "share": share}
        for kind, shares in ((SPENT, spent), (ADDED, added))
        for name, share in zip(names, shortened(shares), strict=True)
    ]
    rows = [float(np.sqrt(noise.variance)) for noise in plan.noise]
    if not names:
        sentence = "Nothing is released: every answer is a constant, because noise would cost more than it tells."
    else:
        most = int(spent.argmax())
        each = "; ".join(
            f"{count:,} counts of {name}, each with noise of {significant(row)} rows"
            for count, name, row in zip(counts, names, rows, strict=True)
        )
        sentence = f"Released are {each}. The level of {names[most]} gets {100 * spent[most]:.0f}% of the budget."
    table: dict[str, list[Any]] = {
        "level": names, "counts": counts, "moved by one row": [noise.moved for noise in plan.noise],
        "noise, rows": shortened(rows), SPENT: shortened(spent), ADDED: shortened(added),
    }  # fmt: skip
    return Figure(
        spec=framed(_level_body(colours), badge=badge, colours=colours, height=HEIGHT, datasets={"bars": bars}),
        sentence=sentence,
        table=table,
        title="Noise budget of each level",
    )


def _level_body(colours: Palette) -> dict[str, Any]:
    """Two bars a level."""
    kinds = {"domain": [SPENT, ADDED], "range": [colours.theory, colours.released]}
    return {
        "data": {"name": "bars"},
        "mark": {"type": "bar", "aria": False},
        "encoding": {
            "x": {"field": "level", "type": "nominal", "title": "sets of", "sort": None, "axis": {"labelAngle": 0}},
            "xOffset": {"field": "kind", "sort": [SPENT, ADDED]},
            "y": {
                "field": "share", "type": "quantitative", "title": "share", "scale": {"domain": [0, 1]},
                "axis": {"format": "~p", "tickCount": 5},
            },
            "color": {"field": "kind", "type": "nominal", "scale": kinds, "legend": {"columns": 1}},
            "tooltip": [{"field": "level"}, {"field": "kind"}, {"field": "share", "format": ".3p"}],
        },
    }  # fmt: skip
