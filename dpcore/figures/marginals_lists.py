"""Decision lists: the released share of lists that say yes to each input, against the true one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened

HEIGHT = 320


def shares_scatter(
    *, truth: Floats, released: Floats, chosen: int, name: str, gamma: float, badge: str, dark: bool
) -> Figure:
    """A dot for each input, the diagonal, and the band of the bias.

    Args:
        truth: true shares, (Q,); not private.
        released: released shares, (Q,).
        chosen: the reader's input, a place in both.
        name: what that input is.
        gamma: largest bias.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    pairs = list(zip(shortened(truth), shortened(released), strict=True))
    datasets: dict[str, Records] = {
        "inputs": [{"true": true, "released": found} for true, found in pairs],
        "chosen": [{"true": pairs[chosen][0], "released": pairs[chosen][1], "name": "this one"}],
        "band": [{"x": x, "low": x - gamma, "high": x + gamma} for x in (0.0, 1.0)],
    }
    errors = np.abs(released - truth)
    sentence = (
        f"Of {len(truth):,} inputs 95 in 100 are off by at most {percent(float(np.quantile(errors, 0.95)))}, the worst "
        f"by {percent(float(errors.max()))}; the band is the bias of at most {percent(gamma)}. For {name} the lists "
        f"say yes in {percent(float(truth[chosen]))}, released {percent(float(released[chosen]))}."
    )
    table: dict[str, list[Any]] = {"true share": shortened(truth), "released share": shortened(released)}
    return Figure(
        spec=framed(_body(colours), badge=badge, colours=colours, height=HEIGHT, datasets=datasets),
        sentence=sentence,
        table=table,
        title="Released against true shares",
    )


def _body(colours: Palette) -> dict[str, Any]:
    """Band, diagonal, dots, and the chosen one."""
    axis = {"format": "~p", "tickCount": 5}
    scale = {"domain": [0, 1], "nice": False}
    x = {"type": "quantitative", "title": "true share", "scale": scale, "axis": axis}
    y = {"type": "quantitative", "title": "released share", "scale": scale, "axis": axis}
    tip = [
        {"field": "true", "format": ".3~p", "title": "true share"},
        {"field": "released", "format": ".3~p", "title": "released share"},
    ]
    return {
        "layer": [
            {
                "data": {"name": "band"},
                "mark": {"type": "area", "color": colours.theory, "opacity": 0.15, "clip": True},
                "encoding": {"x": {"field": "x", **x}, "y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "data": {"name": "band"},
                "mark": {"type": "line", "color": colours.quiet, "strokeWidth": 1, "strokeDash": [4, 3]},
                "encoding": {"x": {"field": "x", **x}, "y": {"field": "x", **y}},
            },
            {
                "data": {"name": "inputs"},
                "mark": {
                    "type": "point", "filled": True, "size": 28, "opacity": 0.6, "color": colours.released,
                    "aria": False,
                },
                "encoding": {"x": {"field": "true", **x}, "y": {"field": "released", **y}, "tooltip": tip},
            },
            {
                "data": {"name": "chosen"},
                "layer": [
                    {
                        "mark": {
                            "type": "point", "filled": False, "size": 190, "strokeWidth": 2.5, "color": colours.ink,
                            "opacity": 1,
                        }
                    },
                    {
                        "mark": {
                            "type": "text", "dy": -15, "fontSize": 12, "fontWeight": "bold", "color": colours.ink,
                        },
                        "encoding": {"text": {"field": "name"}},
                    },
                ],
                "encoding": {"x": {"field": "true", **x}, "y": {"field": "released", **y}},
            },
        ]
    }  # fmt: skip
