"""What sparing empty cells gains, as cells grow in number, and what it gives away: the person alone in a cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.figures.figure import Figure, Records, framed, palette, shortened
from dpcore.figures.sparse import PRIVATE, RANDOM, by_mechanism
from dpcore.mechanisms.sparse_histogram import lone_row_chance


def expected_noise(*, cells: int, n: int, epsilon: float) -> float:
    """Mean L1 loss of noise in so many cells before any projection: E|Z| = 2p/(1 - p^2), p = e^(-epsilon/2)."""
    p = math.exp(-epsilon / 2)
    return cells * 2 * p / (1 - p * p) / n


def growth(
    *, cells: int, full: int, n: int, epsilon: float, gamma: float, condition: str, badge: str, dark: bool
) -> Figure:
    """Mean loss before the projection, exact: against all cells k, and against the non-empty ones r.

    Args:
        cells: k where r grows.
        full: r where k grows.
        n: rows.
        epsilon: privacy loss of both mechanisms.
        gamma: share of data without promise.
        condition: which condition spares empty cells.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)

    def loss(size: int) -> float:
        return expected_noise(cells=size, n=n, epsilon=epsilon)

    def spared(k: int) -> bool:
        return lone_row_chance(cells=k, n=n, condition=condition) <= gamma

    most = max(1024, cells)
    all_cells = np.unique(np.geomspace(max(full, 1), most, 40).round().astype(int))
    full_cells = np.unique(np.geomspace(1, cells, 40).round().astype(int))
    lines: dict[tuple[str, str], tuple[Integers, Floats]] = {
        (PRIVATE, "k grows"): (all_cells, np.array([loss(k) for k in all_cells])),
        (RANDOM, "k grows"): (all_cells, np.array([loss(full if spared(k) else k) for k in all_cells])),
        (PRIVATE, "r grows"): (full_cells, np.full(len(full_cells), loss(cells))),
        (RANDOM, "r grows"): (full_cells, np.array([loss(r if spared(cells) else cells) for r in full_cells])),
    }
    table: dict[str, list[Any]] = {"histogram": [], "what grows": [], "cells": [], "mean L1 loss": []}
    values: Records = []
    for (who, grows), (x, y) in lines.items():
        for place, value in zip(x.tolist(), shortened(y), strict=True):
            values.append({"x": place, "y": value, "who": who, "grows": grows})
            for column, cell in zip(table, (who, grows, place, value), strict=True):
                table[column].append(cell)
    body = {
        "data": {"name": "lines"},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "cells: all of them (k) or non-empty ones (r)",
                  "scale": {"type": "log", "nice": False},
                  "axis": {"format": "~s", "labelOverlap": True, "grid": False}},
            "y": {"field": "y", "type": "quantitative", "title": "mean L1 loss (unprojected)",
                  "scale": {"type": "log", "nice": False},
                  "axis": {"format": "~g", "labelOverlap": True, "tickCount": 4}},
            "color": by_mechanism(colours),
            "strokeDash": {"field": "grows", "type": "nominal",
                           "scale": {"domain": ["k grows", "r grows"], "range": [[1, 0], [5, 4]]},
                           "legend": {"orient": "top"}},
            "tooltip": [{"field": "who", "title": "histogram"}, {"field": "grows", "title": "what grows"},
                        {"field": "x", "title": "cells"}, {"field": "y", "title": "mean L1 loss"}],
        },
    }  # fmt: skip
    end, beyond = 0, most + 1
    while beyond - end > 1:
        middle = (end + beyond) // 2
        end, beyond = (middle, beyond) if spared(middle) else (end, middle)
    text = "The condition is met at no k shown: both histograms are one, and the loss grows with all cells k."
    if end:
        text = "The private histogram's loss grows with all cells k; the random-private one's only with the non-empty r"
        text += f", up to k = {end:,}: beyond, the condition fails and both are one." if end < most else "."
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=300, datasets={"lines": values}),
        sentence=text,
        table=table,
        title="Mean loss against the number of cells",
    )


def alone(*, shown: Floats, badge: str, dark: bool) -> Figure:
    """How often a release shows somebody in a cell, with its only person there and elsewhere.

    Args:
        shown: share of releases with a count above 0 there; (2, 2): private then random, there then elsewhere.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    cases = ("person there", "person elsewhere")
    values: Records = [
        {
            "who": who,
            "case": case,
            "share": float(f"{shown[row, column]:.4g}"),
            "text": f"{100 * shown[row, column]:.3g}%",
        }
        for row, who in enumerate((PRIVATE, RANDOM))
        for column, case in enumerate(cases)
    ]
    y = {"field": "who", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 150}}
    offset = {"field": "case", "type": "nominal", "sort": list(cases)}
    x = {
        "field": "share", "type": "quantitative", "title": "releases that show somebody",
        "scale": {"domain": [0, 1]}, "axis": {"format": "~p", "tickCount": 5},
    }  # fmt: skip
    hues = {"domain": list(cases), "range": [colours.true, colours.impossible]}
    body = {
        "data": {"name": "shares"},
        "encoding": {"y": y, "yOffset": offset, "x": x},
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {"color": {"field": "case", "type": "nominal", "scale": hues, "sort": list(cases)}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "color": colours.ink, "fontSize": 12},
                "encoding": {"text": {"field": "text"}},
            },
        ],
    }  # fmt: skip
    there, elsewhere = (f"{100 * share:.3g}" for share in shown[1])
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=230, datasets={"shares": values}),
        sentence=f"With random privacy, {there} in 100 releases show somebody there if the person is, {elsewhere} if "
        "not: whoever knows all others and sees a count knows for certain."
        if shown[1, 1] == 0
        else f"The condition is not met, so every cell gets noise: {there} in 100 releases show somebody there if the "
        f"person is there, {elsewhere} if not.",
        table={
            "histogram": [each["who"] for each in values],
            "case": [each["case"] for each in values],
            "share of releases": [each["share"] for each in values],
        },
        title="A person alone in a cell",
    )
