"""Where intervals err: a map over both ends of an interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats
from dpcore.domains import Line
from dpcore.experiment import ErrorReport
from dpcore.figures.figure import Figure, Palette, framed, palette, percent, rows, shortened
from dpcore.queries import Intervals

SHADES = {False: ("#e3edfa", "#5b9be6", "#0d2f63"), True: ("#10223b", "#3f7fcb", "#e3effd")}
"""Small to large errors, by whether the theme is dark: the background's side is always the small one."""


def interval_map(report: ErrorReport, queries: Intervals, domain: Line, *, badge: str, dark: bool) -> Figure:
    """Start against end; the shade is the error that 90 in 100 releases stay within (the larger of |5%| and |95%|)."""
    colours, n = palette(dark=dark), report.problem.n
    first, last = queries.ends(report.indices)
    size = np.abs(report.band[[0, -1]]).max(axis=0)
    start, end = domain.low + first * domain.width, domain.low + (last + 1) * domain.width
    left, right = _tiles(start, domain)
    bottom, top = _tiles(end, domain)
    columns = {"a": left, "a2": right, "b": bottom, "b2": top, "from": start, "to": end, "error": size}
    values = [dict(zip(columns, value, strict=True)) for value in zip(*map(shortened, columns.values()), strict=True)]
    worst = int(np.argmax(size))
    table: dict[str, list[Any]] = {
        "from": shortened(start), "to": shortened(end), "true answer": shortened(report.truth),
        "90% of errors within": shortened(size), "rows": shortened(size * n),
    }  # fmt: skip
    return Figure(
        spec=framed(
            _body(domain, colours=colours, dark=dark, n=n), badge=badge, colours=colours, height=320,
            datasets={"intervals": values, "worst": [values[worst]]},
        ),
        sentence=f"In 90 of 100 releases, the hardest interval shown ({queries.describe(int(report.indices[worst]))}, "
        f"ringed) errs by at most {percent(float(size[worst]))} ({rows(float(size[worst]), n)}), and half of all "
        f"intervals by at most {percent(float(np.median(size)))}; short intervals are at the diagonal.",
        table=table,
        title="Error of every query",
    )  # fmt: skip


def _tiles(middle: NDArray[np.floating], domain: Line) -> tuple[Floats, Floats]:
    """Ends of tiles that touch, one around each of the spread places, inside the domain."""
    places, which = np.unique(middle, return_inverse=True)
    cuts = np.concatenate([[domain.low], (places[1:] + places[:-1]) / 2, [domain.high]])
    return cuts[which], cuts[which + 1]


def _body(domain: Line, *, colours: Palette, dark: bool, n: int) -> dict[str, Any]:
    """Tiles, and a ring around the hardest."""
    scale = {"domain": [domain.low, domain.high], "nice": False}
    axis = {"grid": False, "labelOverlap": True, "tickCount": 6}
    x = {"type": "quantitative", "title": "interval starts at", "scale": scale, "axis": axis}
    y = {"type": "quantitative", "title": "and ends at", "scale": scale, "axis": axis}
    shade = {
        "field": "error", "type": "quantitative",
        "scale": {"range": list(SHADES[dark]), "zero": True, "nice": False},
        "legend": {
            "title": "90 in 100 releases err by at most", "orient": "top", "gradientLength": 240,
            "gradientThickness": 10, "tickCount": 3, "titleLimit": 320, "titleFontWeight": "normal",
            "labelExpr": f"format(datum.value, '.3~p') + ' ≈ ' + format(datum.value * {int(n)}, ',.3~r') + ' rows'",
        },
    }  # fmt: skip
    tip = [
        {"field": "from"}, {"field": "to"}, {"field": "error", "title": "90% err by at most", "format": ".3~p"},
        {"field": "rows", "format": ",.3~r"},
    ]  # fmt: skip
    return {
        "data": {"name": "intervals"},
        "transform": [{"calculate": f"datum.error * {int(n)}", "as": "rows"}],
        "layer": [
            {
                "mark": {"type": "rect", "aria": False, "strokeWidth": 0},
                "encoding": {
                    "x": {"field": "a", **x}, "x2": {"field": "a2"}, "y": {"field": "b", **y}, "y2": {"field": "b2"},
                    "color": shade, "tooltip": tip,
                },
            },
            *(
                {
                    "data": {"name": "worst"},
                    "mark": {"type": "rect", "filled": False, "stroke": stroke, "strokeWidth": width, "aria": False},
                    "encoding": {
                        "x": {"field": "a", **x}, "x2": {"field": "a2"},
                        "y": {"field": "b", **y}, "y2": {"field": "b2"},
                    },
                }
                for stroke, width in ((colours.paper, 6), (colours.ink, 2.5))
            ),
        ],
    }  # fmt: skip
