"""Which method wins where: rows against attributes of a query."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Integers
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened
from dpcore.marginals.preview import DIRECT, NEITHER, WINNERS

HEIGHT = 380
BLUES = {False: ("#cfe0f7", "#86b4ee", "#2f76cf", "#0d3f86"), True: ("#173256", "#2f63a3", "#6aa9f5", "#d3e6fd")}
"""Polynomials by degree, by whether the theme is dark."""
WORDS = {
    NEITHER: "neither: ½ is as good",
    **{name: f"polynomial, {name}" for name in WINNERS[1:-1]},
    DIRECT: "the marginals themselves",
}


def row_grid() -> Integers:
    """Numbers of rows that the map shows, three to a factor of ten."""
    return np.unique(np.round(10 ** (np.arange(9, 25) / 3)).astype(np.int64))


def winners_map(
    *, places: list[dict[str, float | str]], n: int, width: int, here: str, badge: str, dark: bool
) -> Figure:
    """A tile for each number of rows and attributes, coloured by the method of least predicted error.

    Args:
        places: what preview.crossover found.
        n: the reader's rows.
        width: the reader's attributes in a query.
        here: who wins there.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    half = 10 ** (1 / 6)
    tiles: Records = [
        {
            "left": left, "right": right, "low": float(place["width"]) - 0.5, "high": float(place["width"]) + 0.5,
            "winner": WORDS[str(place["winner"])], "rows": place["n"], "width": place["width"], "error": error,
        }
        for place, left, right, error in zip(
            places, shortened([float(place["n"]) / half for place in places]),
            shortened([float(place["n"]) * half for place in places]),
            shortened([float(place["error"]) for place in places]), strict=True,
        )
    ]  # fmt: skip
    least, most = min(float(p["n"]) for p in places), max(float(p["n"]) for p in places)
    mark: Records = [{"n": float(np.clip(n, least, most)), "width": width, "name": "you"}]
    tally = {name: sum(place["winner"] == name for place in places) for name in WINNERS}
    useful = [place for place in places if place["winner"] not in (NEITHER, DIRECT)]
    sentence = (
        f"At {n:,} rows and {width} attribute{'s' if width > 1 else ''} a query the least predicted error is by "
        f"{WORDS[here]}. Of the {len(places)} places shown, the marginals themselves win {tally[DIRECT]}, polynomials "
        f"{len(useful)}, and at {tally[NEITHER]} nothing beats answering 1/2."
    )
    table: dict[str, list[Any]] = {
        "rows": [int(float(place["n"])) for place in places],
        "attributes": [int(float(place["width"])) for place in places],
        "least error by": [WORDS[str(place["winner"])] for place in places],
        "predicted error": [percent(float(place["error"])) for place in places],
    }
    widths = [float(place["width"]) for place in places]
    body = _body(
        colours, BLUES[dark], low=min(widths) - 0.5, high=max(widths) + 0.5, left=least / half, right=most * half
    )
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=HEIGHT, datasets={"tiles": tiles, "mark": mark}),
        sentence=sentence,
        table=table,
        title="Which method wins where",
    )


def _body(
    colours: Palette, shades: tuple[str, ...], *, low: float, high: float, left: float, right: float
) -> dict[str, Any]:
    """Tiles and a ring where the reader is."""
    x = {
        "type": "quantitative", "title": "rows n", "scale": {"type": "log", "domain": [left, right], "nice": False},
        "axis": {"format": "~s", "grid": False, "values": [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]},
    }  # fmt: skip
    y = {
        "type": "quantitative", "title": "attributes in a query, k",
        "scale": {"domain": [low, high], "nice": False, "zero": False},
        "axis": {"tickMinStep": 1, "format": "d", "grid": False},
    }  # fmt: skip
    hues = {
        "domain": [WORDS[name] for name in WINNERS], "range": [colours.grid, *shades, colours.others[1]]
    }  # fmt: skip
    legend = {"columns": {"expr": "width > 380 ? 2 : 1"}, "labelLimit": 200}
    tip = [
        {"field": "rows", "format": ",d"},
        {"field": "width", "title": "attributes"},
        {"field": "winner", "title": "least error by"},
        {"field": "error", "title": "predicted error", "format": ".3~p"},
    ]
    return {
        "layer": [
            {
                "data": {"name": "tiles"},
                "mark": {"type": "rect", "aria": False, "strokeWidth": 0.5, "stroke": colours.paper},
                "encoding": {
                    "x": {"field": "left", **x}, "x2": {"field": "right"},
                    "y": {"field": "low", **y}, "y2": {"field": "high"}, "tooltip": tip,
                    "color": {"field": "winner", "type": "nominal", "scale": hues, "legend": legend},
                },
            },
            *(
                {
                    "data": {"name": "mark"},
                    "mark": {"type": "point", "filled": False, "size": 170, "strokeWidth": stroke, "color": hue,
                             "opacity": 1},
                    "encoding": {"x": {"field": "n", **x}, "y": {"field": "width", **y}},
                }
                for stroke, hue in ((6, colours.paper), (2.5, colours.ink))
            ),
        ]
    }  # fmt: skip
