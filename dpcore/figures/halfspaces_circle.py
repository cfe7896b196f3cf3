"""All directions of a great circle: the true share of rows on each side, the released one, and what to expect."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened

TRUE, RELEASED, EXPECTED = "true", "released, one release", "expected after projection"
BAND = (0.05, 0.95)
TICKS = list(range(0, 361, 45))


def great_circle(
    *,
    degrees: Floats,
    truth: Floats,
    answers: Floats,
    expected: Floats | None,
    angle: float,
    here: tuple[float, float],
    badge: str,
    dark: bool,
) -> Figure:
    """Lines over the angle, a band of 90 in 100 releases, and the reader's direction; a click selects "pick".

    Args:
        degrees: directions around the circle, (Q,); the first is drawn again at 360.
        truth: true share on each side, (Q,).
        answers: released shares, (T, Q); the first release is drawn.
        expected: mean share after Gaussian projection, (Q,), if there is any.
        angle: the reader's direction in degrees.
        here: the true and the released share there.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    around = np.append(degrees, 360.0)

    def closed(values: Floats) -> Floats:
        return np.append(values, values[0])

    lines = {TRUE: closed(truth), RELEASED: closed(answers[0])}
    if expected is not None:
        lines[EXPECTED] = closed(expected)
    low, high = (closed(each) for each in np.quantile(answers, BAND, axis=0))
    datasets: dict[str, Records] = {
        "lines": [
            {"angle": at, "share": share, "what": name}
            for name, values in lines.items()
            for at, share in zip(around.tolist(), shortened(values), strict=True)
        ],
        "band": [
            {"angle": at, "low": bottom, "high": top}
            for at, bottom, top in zip(around.tolist(), shortened(low), shortened(high), strict=True)
        ],
        "here": [
            {"angle": angle, "share": share, "what": name}
            for name, share in zip((TRUE, RELEASED), shortened(list(here)), strict=True)
        ],
    }
    worst = np.abs(answers - truth).max(axis=1)
    sentence = (
        f"Around the whole circle, at {len(degrees)} directions, the first release errs by at most "
        f"{percent(float(worst[0]))} of the rows, and "
        f"{percent(float(worst.mean()))} in the mean over {len(answers)} releases; the band holds 90 in 100 of them "
        "at each direction. Click a place to turn the direction there."
    )
    if expected is not None:
        sentence += " Orange, dashed: what projections to so few dimensions leave in the mean, if rows are dense."
    table: dict[str, list[Any]] = {"angle in degrees": shortened(around)}
    table |= {name: shortened(values) for name, values in lines.items()}
    table |= {"5% of releases below": shortened(low), "95% below": shortened(high)}
    return Figure(
        spec=framed(_body(list(lines), colours), badge=badge, colours=colours, height=400, datasets=datasets),
        sentence=sentence,
        table=table,
        title="Share of rows on the side of each direction of a circle",
    )


def _body(names: list[str], colours: Palette) -> dict[str, Any]:
    """Band, lines, the reader's direction, and places to click on."""
    x = {
        "field": "angle", "type": "quantitative", "title": "direction, degrees around the circle",
        "scale": {"domain": [0, 360], "nice": False}, "axis": {"values": TICKS, "labelOverlap": True},
    }  # fmt: skip
    y = {
        "field": "share", "type": "quantitative", "title": "share of rows on its side",
        "scale": {"zero": False}, "axis": {"format": "~p", "tickCount": 6},
    }  # fmt: skip
    look = {TRUE: (colours.true, [1, 0]), RELEASED: (colours.released, [1, 0]), EXPECTED: (colours.theory, [6, 3])}
    hues = {"domain": names, "range": [look[name][0] for name in names]}
    dashes = {"domain": names, "range": [look[name][1] for name in names]}
    tip = [
        {"field": "angle", "title": "degrees"}, {"field": "what", "title": "share"},
        {"field": "share", "title": "rows", "format": ".3~p"},
    ]  # fmt: skip
    return {
        "layer": [
            {
                "data": {"name": "band"},
                "mark": {"type": "area", "color": colours.released, "opacity": 0.18, "aria": False},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "data": {"name": "lines"},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x, "y": y,
                    "color": {"field": "what", "type": "nominal", "scale": hues, "legend": {}},
                    "strokeDash": {"field": "what", "type": "nominal", "scale": dashes, "legend": {}},
                },
            },
            {
                "data": {"name": "lines"},
                "transform": [{"filter": f"datum.what == '{TRUE}'"}],
                "params": [{
                    "name": "pick",
                    "select": {"type": "point", "fields": ["angle"], "nearest": True, "toggle": False},
                }],
                "mark": {"type": "point", "opacity": 0, "size": 60, "cursor": "pointer", "aria": False},
                "encoding": {"x": x, "y": y, "tooltip": tip},
            },
            {
                "data": {"name": "here"},
                "mark": {"type": "rule", "color": colours.ink, "strokeDash": [5, 4], "aria": False},
                "encoding": {"x": x},
            },
            {
                "data": {"name": "here"},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "aria": False},
                "encoding": {
                    "x": x, "y": y, "tooltip": tip,
                    "color": {"field": "what", "type": "nominal", "scale": hues, "legend": None},
                },
            },
        ]
    }  # fmt: skip
