"""What sparing empty cells gains, as cells grow in number, and what it gives away: the person alone in a cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened, significant
from dpcore.figures.limits_layers import hatched
from dpcore.figures.sparse import PRIVATE, RANDOM, by_mechanism
from dpcore.limits.minimax import best_pairs
from dpcore.mechanisms.sparse_histogram import lone_row_chance
from dpcore.projection import project_counts

MOST_CELLS = 1024
"""How far the number of cells grows, if there are not more already."""


def expected_noise(*, cells: int, n: int, epsilon: float) -> float:
    """Mean L1 loss of noise in so many cells before any projection: E|Z| = 2p/(1 - p^2), p = e^(-epsilon/2)."""
    p = math.exp(-epsilon / 2)
    return cells * 2 * p / (1 - p * p) / n


def projected_losses(noise: Integers, *, cells: int, full: int, n: int) -> tuple[float, float]:
    """Mean L1 loss after the projection, with noise in every cell and in the non-empty ones only, as shares of n.

    Args:
        noise: of simulations, (T, at least cells); the same columns serve every number of cells.
        cells: k.
        full: r, the first cells, as evenly full as can be.
        n: rows.
    """
    histogram = np.zeros(cells, dtype=np.int64)
    histogram[:full] = n // full + (np.arange(full) < n % full)
    noisy = histogram + noise[:, :cells]

    def loss(counts: Integers) -> float:
        return float(np.abs(counts - histogram[: counts.shape[1]]).sum(axis=1).mean()) / n

    return loss(project_counts(noisy, total=n)), loss(project_counts(noisy[:, :full], total=n))


def growth(
    *,
    cells: int,
    full: int,
    n: int,
    epsilon: float,
    gamma: float,
    condition: str,
    badge: str,
    dark: bool,
    noise: Integers | None = None,
) -> Figure:
    """Mean loss against all cells k, and against the non-empty ones r: exact before the projection, or after it.

    Before it a loss is the same on all data, and beside it stands what no private histogram of k cells stays below on
    all. After it, these data may be easier than the hardest.

    Args:
        cells: k where r grows.
        full: r where k grows.
        n: rows.
        epsilon: privacy loss of both mechanisms.
        gamma: share of data without promise.
        condition: which condition spares empty cells.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
        noise: for losses after the projection, simulated noise of this epsilon, (T, MOST_CELLS or cells if more).
    """
    colours, steps = palette(dark=dark), 40 if noise is None else 9

    def losses(k: int, r: int) -> tuple[float, float]:
        """The private and the random-private one's."""
        if noise is None:
            private, random = (expected_noise(cells=size, n=n, epsilon=epsilon) for size in (k, r))
        else:
            private, random = projected_losses(noise, cells=k, full=r, n=n)
        return private, random if spared(k) else private

    def spared(k: int) -> bool:
        return lone_row_chance(cells=k, n=n, condition=condition) <= gamma

    most = max(MOST_CELLS, cells)
    end, beyond = 0, most + 1
    while beyond - end > 1:
        middle = (end + beyond) // 2
        end, beyond = (middle, beyond) if spared(middle) else (end, middle)
    # Both sides of the edge, so that the step is drawn as one.
    edge = [k for k in (end, end + 1) if full <= k <= most]
    all_cells = sorted({*np.geomspace(full, most, steps).round().astype(int).tolist(), *edge})
    full_cells = np.unique(np.geomspace(1, min(cells, n), steps).round().astype(int)).tolist()
    found = {
        "k grows": [(k, *losses(k, full)) for k in all_cells],
        "r grows": [(r, *losses(cells, r)) for r in full_cells],
    }
    table: dict[str, list[Any]] = {"histogram": [], "what grows": [], "cells": [], "mean L1 loss": []}
    values: Records = []
    for column, who in ((1, PRIVATE), (2, RANDOM)):
        for grows, rows in found.items():
            for place, value in zip([row[0] for row in rows], shortened([row[column] for row in rows]), strict=True):
                values.append({"x": place, "y": value, "who": who, "grows": grows})
                for name, cell in zip(table, (who, grows, place, value), strict=True):
                    table[name].append(cell)
    by_k = found["k grows"]
    wall = _impossible(all_cells, n=n, epsilon=epsilon) if noise is None else []
    for row in wall:
        for name, cell in zip(table, ("no private histogram below", "k grows", row["x"], row["y"]), strict=True):
            table[name].append(cell)
    text = _growth_sentence(
        (by_k[0][0], by_k[-1][0]), (by_k[0][1], by_k[-1][1]), end=end, most=most, projected=noise is not None
    )
    if wall:
        least = significant(wall[-1]["y"])
        text += f" Hatched: on its hardest data no private histogram has less, at k = {most:,} {least}."
    body = _growth_body("mean L1 loss, share of n", logarithmic=noise is None, colours=colours)
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=300, datasets={"lines": values, "wall": wall}),
        sentence=text,
        table=table,
        title="Mean loss against the number of cells",
    )


def _impossible(sizes: list[int], *, n: int, epsilon: float) -> Records:
    """What no private histogram stays below on all data, at each number of cells from two."""
    found = [(k, best_pairs(cells=k, rows=n, epsilon=epsilon).risk) for k in sizes if k > 1]
    floor = found[0][1] / 2
    values = shortened([risk for _, risk in found])
    return [{"x": k, "y": risk, "floor": floor} for (k, _), risk in zip(found, values, strict=True)]


def _growth_sentence(k: tuple[int, int], loss: tuple[float, float], *, end: int, most: int, projected: bool) -> str:
    """How both grow; ``end`` is the last k at which empty cells may stay empty."""
    until = f", up to k = {end:,}: beyond, the condition fails and both are one" if end < most else ""
    if projected:
        more, cost = significant(k[1] / k[0]), significant(loss[1] / max(loss[0], 1e-12))
        text = f"After the projection, {more} times as many cells (k = {k[0]:,} to {k[1]:,}) cost the private "
        text += f"histogram {cost} times the loss: it grows about as log k."
        random = f" The random-private one's grows only with the non-empty r{until}."
    else:
        text = "Before the projection, the private histogram's loss grows with all cells, as k/(εn)"
        random = f"; the random-private one's only with the non-empty r{until}."
        text += "" if end else "."
    return text + (random if end else " The condition is met at no k shown: both histograms are one.")


def _growth_body(title: str, *, logarithmic: bool, colours: Palette) -> dict[str, Any]:
    """Two lines each; log against log shows k itself as a straight line, log against plain numbers shows log k so."""
    y_scale = {"type": "log", "nice": False} if logarithmic else {"zero": True}
    x = {
        "field": "x", "type": "quantitative", "title": "cells: all of them (k) or non-empty ones (r)",
        "scale": {"type": "log", "nice": False}, "axis": {"format": "~s", "labelOverlap": True, "grid": False},
    }  # fmt: skip
    y = {
        "field": "y", "type": "quantitative", "title": title, "scale": y_scale,
        "axis": {"format": "~g", "labelOverlap": True, "tickCount": 4},
    }  # fmt: skip
    lines = {
        "data": {"name": "lines"},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": x, "y": y, "color": by_mechanism(colours),
            "strokeDash": {"field": "grows", "type": "nominal",
                           "scale": {"domain": ["k grows", "r grows"], "range": [[1, 0], [5, 4]]},
                           "legend": {"orient": "top"}},
            "tooltip": [{"field": "who", "title": "histogram"}, {"field": "grows", "title": "what grows"},
                        {"field": "x", "title": "cells"}, {"field": "y", "title": "mean L1 loss"}],
        },
    }  # fmt: skip
    area = {
        "type": "area", "color": hatched(colours.impossible), "aria": False,
        "line": {"color": colours.impossible, "strokeWidth": 1.5},
    }  # fmt: skip
    wall = {"data": {"name": "wall"}, "mark": area, "encoding": {"x": x, "y": y, "y2": {"field": "floor"}}}
    return {"layer": [wall, lines]}


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
