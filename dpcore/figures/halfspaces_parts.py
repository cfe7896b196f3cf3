"""Where the error of one direction comes from: projection, net and noise side by side with what was predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened

NAMES = {"projection": "projection", "net": "net", "noise": "noise", "total": "all together"}
QUANTILES = (0.05, 0.95)


def error_parts(
    *, errors: dict[str, Floats], predicted: dict[str, tuple[float, float]], badge: str, dark: bool
) -> Figure:
    """A dot for the mean and a bar for 90 in 100 releases, for each part; predictions below it in orange.

    Args:
        errors: signed errors, shares of n, (T,), by part.
        predicted: where theory says anything, from and to of the same 90 in 100, or of a mean.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    rows = {name: (float(each.mean()), *np.quantile(each, QUANTILES).tolist()) for name, each in errors.items()}
    datasets: dict[str, Records] = {
        "seen": [
            {"part": NAMES[name], "mean": mean, "low": low, "high": high, "what": "observed"}
            for name, (mean, low, high) in ((name, shortened(list(row))) for name, row in rows.items())
        ],
        "told": [
            {"part": NAMES[name], "low": low, "high": high, "middle": middle, "what": "predicted"}
            for name, (low, middle, high) in (
                (name, shortened([ends[0], sum(ends) / 2, ends[1]])) for name, ends in predicted.items()
            )
        ],
    }
    table: dict[str, list[Any]] = {
        "part": [NAMES[name] for name in rows],
        "mean error": shortened([row[0] for row in rows.values()]),
        "5% below": shortened([row[1] for row in rows.values()]),
        "95% below": shortened([row[2] for row in rows.values()]),
        "predicted from": shortened([predicted.get(name, (np.nan,))[0] for name in rows]),
        "predicted to": shortened([predicted.get(name, (np.nan,))[-1] for name in rows]),
    }
    largest = max(("projection", "net", "noise"), key=lambda name: float(np.sqrt((errors[name] ** 2).mean())))
    # Differences of means of fractions: what is left below a billionth is rounding.
    size = {name: percent(round(float(np.sqrt((each**2).mean())), 11)) for name, each in errors.items()}
    sentence = (
        f"Most of this direction's error is the {NAMES[largest]}'s. Root mean squares: projection "
        f"{size['projection']}, net {size['net']}, noise {size['noise']}, all together {size['total']} of the rows. A "
        "bar holds 90 in 100 releases; orange: predicted."
    )
    return Figure(
        spec=framed(_body(list(rows), colours), badge=badge, colours=colours, height=260, datasets=datasets),
        sentence=sentence,
        table=table,
        title="Where the error of one direction comes from",
    )


def _body(parts: list[str], colours: Palette) -> dict[str, Any]:
    """One line per part; what is observed above, what is predicted below."""
    x = {
        "type": "quantitative", "title": "error, share of n (signed)",
        "axis": {"format": "~p", "tickCount": 6, "labelOverlap": True},
    }  # fmt: skip
    y = {"field": "part", "type": "nominal", "sort": [NAMES[name] for name in parts], "title": None,
         "axis": {"grid": False}}  # fmt: skip
    names = ["observed", "predicted"]
    hue = {
        "field": "what", "type": "nominal", "legend": {},
        "scale": {"domain": names, "range": [colours.released, colours.theory]},
    }  # fmt: skip
    shapes = {**hue, "scale": {"domain": names, "range": ["circle", "diamond"]}}
    tip = [
        {"field": "part"}, {"field": "what"}, {"field": "low", "title": "from", "format": ".3~p"},
        {"field": "high", "title": "to", "format": ".3~p"},
    ]  # fmt: skip

    def layer(data: str, middle: str, shift: int) -> list[dict[str, Any]]:
        bar = {"type": "rule", "strokeWidth": 4, "opacity": 0.6, "yOffset": shift, "aria": False}
        dot = {"type": "point", "filled": True, "size": 90, "opacity": 1, "yOffset": shift}
        ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": hue, "tooltip": tip}
        return [
            {"data": {"name": data}, "mark": bar, "encoding": ends},
            {
                "data": {"name": data},
                "mark": {**dot, "aria": False},
                "encoding": {"x": {**x, "field": middle}, "y": y, "color": hue, "shape": shapes, "tooltip": tip},
            },
        ]

    zero = {"mark": {"type": "rule", "color": colours.quiet, "aria": False}, "encoding": {"x": {**x, "datum": 0}}}
    return {"layer": [zero, *layer("seen", "mean", -7), *layer("told", "middle", 7)]}
