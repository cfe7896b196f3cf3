"""All tables of k attributes: how far each is from the true one, method beside method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, framed, haloed, palette, percent, shortened

HEIGHT = 320
SHAPES = ("circle", "square", "triangle-up")


def sorted_dots(
    series: Mapping[str, Floats], *, names: Mapping[str, Sequence[str]], noun: str, badge: str, dark: bool
) -> Figure:
    """A dot for each table, closest to furthest; a line from its closest to its furthest preview; medians ringed.

    Args:
        series: by method, the chosen one first: half the differences as a share of n, (previews, tables), tables > 0.
        names: by method, what each table is of.
        noun: what the dots are, in the plural.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    dots, medians = [], []
    columns: dict[str, list[Any]] = {"method": [], noun: [], "mean": [], "lowest": [], "highest": []}
    for method, found in series.items():
        mean = found.mean(axis=0)
        order = np.argsort(mean, kind="stable")
        numbers = [shortened(each[order]) for each in (mean, found.min(axis=0), found.max(axis=0))]
        places = shortened((np.arange(len(order)) + 0.5) / len(order))
        ordered = [names[method][place] for place in order]
        dots += [
            {"method": method, "place": place, "of": of, "mean": middle, "low": low, "high": high}
            for place, of, middle, low, high in zip(places, ordered, *numbers, strict=True)
        ]
        median = float(np.median(mean))
        medians.append({"method": method, "place": 0.5, "mean": shortened([median])[0], "text": percent(median)})
        for column, values in zip(columns, ([method] * len(order), ordered, *numbers), strict=True):
            columns[column] += values
    return Figure(
        spec=framed(
            _dots_body(list(series), noun, colours), badge=badge, colours=colours, height=HEIGHT,
            datasets={"dots": dots, "medians": medians},
        ),
        sentence=_compared(series, noun),
        table=columns,
        title=f"Distances of all {noun}",
    )  # fmt: skip


def _compared(series: Mapping[str, Floats], noun: str) -> str:
    """Median and mean of the first method, then the others beside it."""
    (first, found), *others = series.items()
    means, count = found.mean(axis=1), found.shape[1]
    text = (
        f"{first}: half of the {count:,} {noun} have at most {percent(float(np.median(found.mean(axis=0))))} of all "
        f"rows in a wrong cell, {percent(float(means.mean()))} on average "
    )
    text += (
        f"({percent(float(means.min()))} to {percent(float(means.max()))} from preview to preview of {len(means)})"
        if len(means) > 1
        else "in one preview"
    )
    for method, other in others:
        text += f"; {method}: {percent(float(other.mean()))} on average"
    return text + "."


def _dots_body(methods: list[str], noun: str, colours: Palette) -> dict[str, Any]:
    """Lines, dots and ringed medians; what moves is in the data sets."""
    hues = {"domain": methods, "range": [colours.released, colours.others[0], colours.others[1]][: len(methods)]}
    shapes = {"domain": methods, "range": list(SHAPES[: len(methods)])}
    legend = {"columns": 1}
    x = {
        "field": "place", "type": "quantitative", "title": f"{noun}, closest to furthest",
        "scale": {"domain": [0, 1], "nice": False}, "axis": {"format": "~p", "tickCount": 5, "grid": False},
    }  # fmt: skip
    y = {"type": "quantitative", "title": "rows in a wrong cell", "scale": {"zero": True},
         "axis": {"format": "~p", "tickCount": 5}}  # fmt: skip
    colour = {"field": "method", "type": "nominal", "scale": hues, "legend": legend}
    tip = [
        {"field": "method"},
        {"field": "of", "title": noun},
        {"field": "mean", "format": ".3~p", "title": "mean of previews"},
    ]
    # Medians may be close to each other: the chosen method's is written to the right, the others' elsewhere.
    anchors: tuple[dict[str, Any], ...] = (
        {"dx": 13, "dy": 9, "align": "left"}, {"dx": -13, "dy": -9, "align": "right"},
        {"dx": 13, "dy": -12, "align": "left"},
    )  # fmt: skip
    layers: list[dict[str, Any]] = [
        {
            "data": {"name": "dots"},
            "mark": {"type": "rule", "opacity": 0.35, "strokeWidth": 2, "aria": False},
            "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}, "color": colour},
        },
        {
            "data": {"name": "dots"},
            "mark": {"type": "point", "filled": True, "size": 26, "opacity": 0.85, "aria": False},
            "encoding": {
                "x": x, "y": {"field": "mean", **y}, "color": colour, "tooltip": tip,
                "shape": {"field": "method", "type": "nominal", "scale": shapes, "legend": legend},
            },
        },
        {
            "data": {"name": "medians"},
            "mark": {"type": "point", "filled": False, "size": 170, "strokeWidth": 2.5, "color": colours.ink,
                     "opacity": 1},
            "encoding": {"x": x, "y": {"field": "mean", **y}},
        },
    ]  # fmt: skip
    for method, hue, anchor in zip(methods, hues["range"], anchors, strict=False):
        layers += haloed(
            {
                "data": {"name": "medians"},
                "transform": [{"filter": {"field": "method", "equal": method}},
                              {"calculate": "'median ' + datum.text", "as": "said"}],
                "mark": {"type": "text", "fontSize": 12, "color": hue, "fontWeight": "bold", **anchor},
                "encoding": {"x": x, "y": {"field": "mean", **y}, "text": {"field": "said"}},
            },
            colours,
        )  # fmt: skip
    return {"layer": layers}
