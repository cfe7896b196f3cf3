"""In the plane: errors around the circle of a halfspace release and of releases of the angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened
from dpcore.figures.halfspaces_circle import TICKS
from dpcore.halfspace_parts import Circle

DASHES = ([1, 0], [6, 3], [2, 2])


def errors_around(*, circle: Circle, badge: str, dark: bool) -> Figure:
    """What 90 in 100 releases err by at most, in each direction, for each mechanism.

    Args:
        circle: measured errors.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, names = palette(dark=dark), list(circle.errors)
    around = np.append(circle.degrees, 360.0)
    levels = {name: np.quantile(each, 0.9, axis=0) for name, each in circle.errors.items()}
    closed = {name: np.append(level, level[0]) for name, level in levels.items()}
    values: Records = [
        {"angle": at, "error": error, "who": name}
        for name, level in closed.items()
        for at, error in zip(around.tolist(), shortened(level), strict=True)
    ]
    best = min(names, key=circle.worst)
    told = ", ".join(f"{name} {percent(circle.worst(name))}" for name in names)
    table: dict[str, list[Any]] = {"angle in degrees": shortened(around)}
    table |= {name: shortened(level) for name, level in closed.items()}
    return Figure(
        spec=framed(_body(names, colours), badge=badge, colours=colours, height=300, datasets={"lines": values}),
        sentence=f"The largest error around the circle, at {len(circle.degrees)} directions, in the mean "
        f"over releases: {told}. Here the best is {best}. The lines show what 90 in 100 releases err by at most in "
        "each direction.",
        table=table,
        title="Error in each direction, three ways",
    )


def _body(names: list[str], colours: Palette) -> dict[str, Any]:
    """One line each."""
    hues = {"domain": names, "range": [colours.released, *colours.others[:2]][: len(names)]}
    dashes = {"domain": names, "range": list(DASHES[: len(names)])}
    return {
        "data": {"name": "lines"},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "angle", "type": "quantitative", "title": "direction, degrees around the circle",
                  "scale": {"domain": [0, 360], "nice": False}, "axis": {"values": TICKS, "labelOverlap": True}},
            "y": {"field": "error", "type": "quantitative", "title": "90% err by at most",
                  "axis": {"format": "~p", "tickCount": 5}},
            "color": {"field": "who", "type": "nominal", "scale": hues, "legend": {"columns": 1}},
            "strokeDash": {"field": "who", "type": "nominal", "scale": dashes, "legend": {"columns": 1}},
            "tooltip": [{"field": "who", "title": "release"}, {"field": "angle", "title": "degrees"},
                        {"field": "error", "title": "90% err by at most", "format": ".3~p"}],
        },
    }  # fmt: skip
