"""Sparse histograms: true, private and random-private side by side, and their losses over many simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.core import Integers
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened, significant
from dpcore.mechanisms.sparse_histogram import LossFigure

PRIVATE, RANDOM = "differentially private", "random privacy"
SIDE = 20
"""Cells along each side of the paper's second figure."""
BINS = 40
DOTS = 50
"""Each stands for 2 in 100 simulations."""


def panel(*, counts: Integers, name: str, top: int, grid: bool, badge: str, dark: bool) -> Figure:
    """One histogram as bars or as a map; a square-root scale, so that single rows can be seen beside full cells.

    Args:
        counts: rows in each cell, (k,).
        name: what it is: "true", PRIVATE or RANDOM.
        top: the end of the scale, the same for the panels to be compared.
        grid: whether the cells are a square map in row order.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    hue = {"true": colours.true, PRIVATE: colours.others[1]}.get(name, colours.released)
    scale = {"type": "sqrt", "domainMin": 0, "nice": False}
    values: Records
    if grid:
        values = [{"x": i % SIDE, "y": i // SIDE, "rows": rows} for i, rows in enumerate(counts.tolist())]
        place = {"type": "ordinal", "axis": None}
        body: dict[str, Any] = {
            "data": {"name": "cells"},
            "mark": {"type": "rect", "stroke": colours.grid, "strokeWidth": 0.5},
            "encoding": {
                "x": {"field": "x", **place}, "y": {"field": "y", **place},
                "color": {
                    "field": "rows", "type": "quantitative", "legend": None,
                    "scale": {**scale, "domain": [0, top], "range": [colours.grid, hue]},
                },
                "tooltip": [{"field": "rows"}],
            },
        }  # fmt: skip
        height = 260
    else:
        values = [{"x": i, "x2": i + 1, "rows": rows} for i, rows in enumerate(counts.tolist())]
        body = {
            "data": {"name": "cells"},
            "mark": {"type": "rect", "color": hue},
            "encoding": {
                "x": {
                    "field": "x", "type": "quantitative", "title": "cell",
                    "scale": {"domain": [0, len(counts)], "nice": False}, "axis": {"grid": False, "tickMinStep": 1},
                },
                "x2": {"field": "x2"},
                "y": {
                    "field": "rows", "type": "quantitative", "title": "rows (square-root scale)",
                    "scale": {**scale, "domain": [0, top]},
                },
                "y2": {"datum": 0},
                "tooltip": [{"field": "x", "title": "cell"}, {"field": "rows"}],
            },
        }  # fmt: skip
        height = 220
    filled = int((counts > 0).sum())
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=height, datasets={"cells": values}),
        sentence=f"{name[0].upper()}{name[1:]}: {filled:,} of {len(counts):,} cells hold rows.",
        table={"cell": list(range(len(counts))), "rows": counts.tolist()},
        title=f"Histogram, {name}",
    )


def losses(*, found: LossFigure, projected: bool, badge: str, dark: bool) -> Figure:
    """L1 losses of all simulations: dots of 2%, the private ones upwards, the random-private downwards.

    Args:
        found: the simulations.
        projected: of the projected histograms, or of the noisy counts before the projection.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    private, random = (
        (found.private_loss, found.random_loss) if projected else (found.private_noise, found.random_noise)
    )
    right = float(max(private.max(), random.max(), 1e-9)) * 1.02
    values: Records = []
    for name, loss, up in ((PRIVATE, private, 1), (RANDOM, random, -1)):
        height = np.zeros(BINS, dtype=int)
        for each in np.quantile(loss, (np.arange(DOTS) + 0.5) / DOTS):
            column = min(int(each / right * BINS), BINS - 1)
            height[column] += 1
            place = float(f"{(column + 0.5) * right / BINS:.4g}")
            values.append({"x": place, "y": int(up * height[column]), "who": name, "loss": float(f"{each:.4g}")})
    means = [{"x": float(f"{loss.mean():.4g}"), "who": name} for name, loss in ((PRIVATE, private), (RANDOM, random))]
    x = {
        "field": "x", "type": "quantitative", "title": "L1 loss, share of n (each dot 2 in 100)",
        "scale": {"zero": True, "nice": False},
    }  # fmt: skip
    body = {
        "layer": [
            {
                "data": {"name": "means"},
                "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [5, 4]},
                "encoding": {"x": x, "color": by_mechanism(colours)},
            },
            {
                "data": {"name": "losses"},
                "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": {"field": "y", "type": "quantitative", "axis": None},
                    "color": by_mechanism(colours),
                    "shape": {
                        "field": "who", "type": "nominal",
                        "scale": {"domain": [PRIVATE, RANDOM], "range": ["triangle-up", "circle"]},
                    },
                    "tooltip": [{"field": "who", "title": "histogram"}, {"field": "loss", "title": "L1 loss"}],
                },
            },
        ]
    }  # fmt: skip
    ratio = private.mean() / random.mean() if random.mean() > 0 else math.inf
    text = "both mechanisms are one here: the condition is not met."
    if found.spared:
        text = "the same here." if ratio < 1.005 else f"{significant(ratio)} times as much as with random privacy."
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=260, datasets={"losses": values, "means": means}),
        sentence=f"Mean loss over {len(private)} simulations {'after' if projected else 'before'} the projection: "
        f"{significant(float(private.mean()))} for the private histogram, {significant(float(random.mean()))} for the "
        f"random-private one; {text}",
        table={PRIVATE: shortened(np.sort(private)), RANDOM: shortened(np.sort(random))},
        title="L1 losses of the simulations",
    )


def by_mechanism(colours: Palette) -> dict[str, Any]:
    """The colour of each mechanism."""
    scale = {"domain": [PRIVATE, RANDOM], "range": [colours.others[1], colours.released]}
    return {"field": "who", "type": "nominal", "scale": scale}
