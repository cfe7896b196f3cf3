"""What a class of weighted sums asks: a line for each query where they are few, else a row of shades."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Domain, Floats, Integers
from dpcore.domains import Line
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened, significant
from dpcore.figures.labels import drawable
from dpcore.linear_queries import UNITS, LinearQueries

MOST_LINES = 8
"""Queries that have a line each."""
MOST_ROWS, MOST_COLUMNS = 50, 64
"""Queries and cells of a map; more cells are drawn in blocks, more queries are spread."""
LINES_HEIGHT, ROWS_HEIGHT = 200, 280
DASHES: tuple[list[int], ...] = ([1, 0], [1, 0], [6, 3], [6, 3], [2, 3], [2, 3], [9, 3, 2, 3], [9, 3, 2, 3])
"""Queries can be told apart without their colours."""


def weights_asked(*, queries: LinearQueries, badge: str, dark: bool) -> Figure:
    """The weight of every cell in every query; lines for a few queries of numbers, a map for others.

    Args:
        queries: the class; public.
        badge: where the weights come from, drawn into the picture.
        dark: for the dark theme.
    """
    colours, domain = palette(dark=dark), queries.domain
    shown = queries.batch(MOST_ROWS)
    names = [f"query {place + 1}" for place in shown.tolist()]
    starts = np.arange(0, domain.ordered, -(-domain.ordered // MOST_COLUMNS))
    drawn = _means(queries.units[shown] / UNITS, starts)
    few = queries.count <= MOST_LINES and isinstance(domain, Line)
    places, x = _across(domain, starts, lines=few)
    # A line ends where its last cell does.
    ends = [{"from": places[-1]["to"]}] if few else []
    drawn_rows = np.concatenate([drawn, drawn[:, -1:]], axis=1) if few else drawn
    records: Records = [
        {**place, "query": name, "place": int(number) + 1, "weight": weight}
        for number, name, row in zip(shown, names, drawn_rows, strict=True)
        for place, weight in zip([*places, *ends], shortened(row), strict=True)
    ]
    body = _lines(colours, names, x) if few else _rows(colours, x)
    where = [place.get("label") or f"{place['from']:.5g} to {place['to']:.5g}" for place in places]
    return Figure(
        spec=framed(
            body, badge=badge, colours=colours, height=LINES_HEIGHT if few else ROWS_HEIGHT,
            datasets={"weights": records},
        ),
        sentence=_sentence(queries, len(shown), len(starts)),
        table={"cells": where, **{name: shortened(row) for name, row in zip(names, drawn, strict=True)}},
        title="Weights of the queries",
    )  # fmt: skip


def _means(weights: Floats, starts: Integers) -> Floats:
    """Mean weight over each block of cells, (queries, blocks)."""
    sizes = np.diff(np.append(starts, weights.shape[1]))
    means: Floats = np.add.reduceat(weights, starts, axis=1) / sizes
    return means


def _across(domain: Domain, starts: Integers, *, lines: bool) -> tuple[Records, dict[str, Any]]:
    """Where each block of cells is drawn, and the axis below: the data's unit, or labels."""
    ends = np.append(starts[1:], domain.ordered)
    if isinstance(domain, Line):
        low, high = domain.low + starts * domain.width, domain.low + ends * domain.width
        places: Records = [{"from": start, "to": end} for start, end in zip(low.tolist(), high.tolist(), strict=True)]
        title = f"value ({domain.unit})" if domain.unit else "value"
        scale = {"domain": [domain.low, domain.high], "nice": False}
        axis = {"grid": False, "labelOverlap": True, "tickCount": 6}
        return places, {"field": "from", "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    first = [domain.describe(int(start)) for start in starts]
    more = [
        f" and {end - start - 1:,} more" if end - start > 1 else "" for start, end in zip(starts, ends, strict=True)
    ]
    labels = drawable([f"{name}{rest}" for name, rest in zip(first, more, strict=True)])
    axis = {"labelLimit": 110, "labelAngle": -40, "labelOverlap": True, "ticks": False, "domain": False}
    return [{"label": label} for label in labels], {
        "field": "label", "type": "nominal", "title": None, "sort": None, "axis": axis,
    }  # fmt: skip


def _lines(colours: Palette, names: list[str], x: dict[str, Any]) -> dict[str, Any]:
    """A step line for each query."""
    hues = (*colours.others, colours.ink, colours.quiet)[: len(names)]
    by_query = {"field": "query", "type": "nominal", "sort": None}
    weight = {
        "field": "weight", "type": "quantitative", "title": "weight",
        "scale": {"domain": [0, 1]}, "axis": {"tickCount": 5},
    }  # fmt: skip
    return {
        "data": {"name": "weights"},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "aria": False},
        "encoding": {
            "x": x, "y": weight,
            "color": {**by_query, "scale": {"domain": names, "range": list(hues)}},
            "strokeDash": {**by_query, "scale": {"domain": names, "range": list(DASHES[: len(names)])}},
        },
    }  # fmt: skip


def _rows(colours: Palette, x: dict[str, Any]) -> dict[str, Any]:
    """A row of shades for each query."""
    spans = x["type"] == "quantitative"
    shade = {
        "field": "weight", "type": "quantitative",
        "scale": {"domain": [0, 1], "range": [colours.grid, colours.others[0]]},
        "legend": {
            "title": "weight", "orient": "top", "gradientLength": 150, "gradientThickness": 10, "tickCount": 3,
            "titleFontWeight": "normal", "type": "gradient",
        },
    }  # fmt: skip
    y = {
        "field": "place", "type": "ordinal", "title": "query",
        "axis": {"labelOverlap": True, "ticks": False, "domain": False},
    }  # fmt: skip
    where = [{"field": "from"}, {"field": "to"}] if spans else [{"field": "label", "title": "cells"}]
    return {
        "data": {"name": "weights"},
        "mark": {"type": "rect", "aria": False, "strokeWidth": 0},
        "encoding": {
            "x": x, **({"x2": {"field": "to"}} if spans else {}), "y": y, "color": shade,
            "tooltip": [{"field": "query"}, *where, {"field": "weight", "format": ".3~f"}],
        },
    }  # fmt: skip


def _sentence(queries: LinearQueries, rows: int, columns: int) -> str:
    """How many queries there are, how much they weigh, and what of them is drawn."""
    cells, totals = queries.domain.ordered, queries.units.sum(axis=1) / UNITS
    light, heavy = (significant(float(end) / cells) for end in (totals.min(), totals.max()))
    text = f"{queries.count:,} weighted sums of {cells:,} cells. A query's mean weight is "
    text += light if light == heavy else f"from {light} to {heavy}"
    text += f", and {significant(100 * float((queries.units > 0).mean()))}% of all weights are above 0"
    if rows < queries.count:
        text += f"; {rows} of the queries are drawn"
    if columns < cells:
        text += f"; each place in the picture is the mean of up to {-(-cells // MOST_COLUMNS)} cells"
    return f"{text}."
