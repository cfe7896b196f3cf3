"""What a conversation believes of the whole data by now, beside the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Records, framed, palette, percent, shortened


def belief(
    *,
    places: Floats | list[str],
    believed: Floats,
    truth: Floats,
    far: float,
    title: str,
    unit: str,
    badge: str,
    dark: bool,
) -> Figure:
    """Believed and true answers to questions spread over the class.

    Args:
        places: where each question stands, (Q,): numbers on a line, or labels.
        believed: what would be guessed, fractions of n, (Q,).
        truth: true answers, (Q,); public data only.
        far: how far off a guess may be before it is paid for, a fraction of n.
        title: what the places are.
        unit: of the places, empty where they have none.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, labels = palette(dark=dark), isinstance(places, list)
    at: list[Any] = list(places) if isinstance(places, list) else shortened(places)
    lines: Records = [
        {"place": place, "share": share, "what": what}
        for what, shares in (("true", shortened(truth)), ("believed", shortened(believed)))
        for place, share in zip(at, shares, strict=True)
    ]
    scale = {"domain": ["true", "believed"]}
    kind = {"type": "point", "filled": True, "size": 70} if labels else {"type": "line", "interpolate": "step-after"}
    place: dict[str, Any] = {"field": "place", "title": f"{title} ({unit})" if unit else title}
    share = {"field": "share", "type": "quantitative", "title": "share of all rows", "axis": {"format": "~%"}}
    if labels:  # names read from left to right, one below the other
        axis = {"labelLimit": 150, "labelOverlap": True}
        axes = {"x": share, "y": place | {"type": "nominal", "sort": None, "axis": axis}}
    else:
        axes = {"x": place | {"type": "quantitative", "scale": {"nice": False}}, "y": share}
    telling = "shape" if labels else "strokeDash"
    ranges: list[Any] = ["square", "circle"] if labels else [[1, 0], [6, 3]]
    body = {
        "data": {"name": "lines"},
        "mark": kind,
        "encoding": {
            **axes,
            "color": {
                "field": "what", "type": "nominal", "legend": {},
                "scale": {**scale, "range": [colours.true, colours.released]},
            },
            telling: {"field": "what", "type": "nominal", "legend": {}, "scale": {**scale, "range": ranges}},
            "tooltip": [{"field": "place"}, {"field": "what"}, {"field": "share", "format": ".2~%"}],
        },
    }  # fmt: skip
    gap = np.abs(believed - truth)
    near = int((gap < far).sum())
    return Figure(
        spec=framed(
            body,
            badge=badge,
            colours=colours,
            height=min(760, 90 + 24 * len(at)) if labels else 260,
            datasets={"lines": lines},
        ),
        sentence=f"If these {len(gap):,} questions were asked now, {near:,} guesses would be off by less than "
        f"{percent(far)} of all rows: near enough to be free, unless the noise of the check says otherwise. The worst "
        f"guess would be off by {percent(float(gap.max()))}.",
        table={title: at, "believed": shortened(believed), "true": shortened(truth)},
        title="What is believed, and what is true",
    )
