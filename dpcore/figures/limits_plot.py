"""One picture of a limit: curves and measured dots, a hatched impossible region, the reader's guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.figures.figure import Figure, Records, framed, palette, shortened
from dpcore.figures.limits_layers import dots, lines, mark_records, region, rules, wall_label
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall

LEGEND_ROW = 13
"""Pixels that each name in the legend takes from the picture."""


def plot(
    *,
    x: Axis,
    y: Axis,
    series: Sequence[Series],
    sentence: str,
    badge: str,
    dark: bool,
    wall: Wall | None = None,
    marks: Sequence[Mark] = (),
    height: int = 300,
) -> Figure:
    """Curves, dots, the wall and the marks. What a slider moves lies in named data sets, so it repaints in place."""
    colours = palette(dark=dark)
    across, up = x.channel("x"), y.channel("y")
    curves, measured = [one for one in series if one.low is None], [one for one in series if one.low is not None]
    marks = [_inside(mark, x, y) for mark in marks]
    body = {
        "layer": [
            *([region(wall, across, up, colours)] if wall else []),
            *([lines(series, across, up, colours)] if curves else []),
            *(dots(series, across, up, colours) if measured else []),
            *rules(across, up, colours, marks),
            *([wall_label(wall, colours)] if wall else []),
        ]
    }
    datasets: dict[str, Records] = {
        "lines": [row for one in curves for row in _curve(one, y)],
        "dots": [row for one in measured for row in _dots(one, x, y)],
        "wall": _wall_records(wall, y) if wall else [],
        **mark_records(marks),
    }
    used = {name: rows for name, rows in datasets.items() if rows}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=height + LEGEND_ROW * len(series), datasets=used),
        sentence=sentence,
        table=_table(series, wall, x=x.title, y=y.title),
    )


def _curve(one: Series, y: Axis) -> Records:
    """A curve where the axis has a place for it; beyond the picture it is cut, never laid along its edge."""
    pairs = zip(shortened(np.asarray(one.x)), shortened(np.asarray(one.y)), y.has(one.y).tolist(), strict=True)
    return [{"series": one.name, "x": across, "y": up} for across, up, placed in pairs if placed]


def _dots(one: Series, x: Axis, y: Axis) -> Records:
    """Dots with their intervals; those beyond the picture stand at its edge."""
    columns = {"x": x.within(one.x), **{name: y.within(getattr(one, name)) for name in ("y", "low", "high")}}
    numbers = {name: shortened(column) for name, column in columns.items()}
    rows = [dict(zip(numbers, values, strict=True)) for values in zip(*numbers.values(), strict=True)]
    return [{"series": one.name, **row} for row in rows]


def _inside(mark: Mark, x: Axis, y: Axis) -> Mark:
    """A mark beyond the picture, at its edge."""
    if mark.x is not None:
        return replace(mark, x=float(x.within(mark.x)))
    return mark if mark.y is None else replace(mark, y=float(y.within(mark.y)))


def _wall_records(wall: Wall, y: Axis) -> Records:
    edges = zip(shortened(np.asarray(wall.x)), shortened(np.asarray(wall.y)), y.has(wall.y).tolist(), strict=True)
    return [{"x": across, "y": edge, "end": wall.end} for across, edge, placed in edges if placed]


def _table(series: Sequence[Series], wall: Wall | None, *, x: str, y: str) -> dict[str, list[Any]]:
    """All numbers, one row each; empty intervals where there are none."""
    interval = any(one.low is not None for one in series)
    table: dict[str, list[Any]] = {"what": [], x: [], y: []} | ({"from": [], "to": []} if interval else {})
    rows = [(one.name, one.x, one.y, one.low, one.high) for one in series]
    if wall:
        rows.append((wall.label, wall.x, wall.y, None, None))
    for name, place, value, low, high in rows:
        places = shortened(np.asarray(place))
        table["what"] += [name] * len(places)
        table[x] += places
        table[y] += shortened(np.asarray(value))
        if interval:
            for column, ends in (("from", low), ("to", high)):
                table[column] += [None] * len(places) if ends is None else shortened(np.asarray(ends))
    return table
