"""Rows in the plane of a great circle: the side a direction points to, the line between, and what lies near it.

The arrow can be dragged. While it is, the browser alone turns everything that turns with it, and sends the new angle
when it is let go.
"""

from __future__ import annotations

import numpy as np

from dpcore.core import Booleans, Floats
from dpcore.figures.figure import Figure, Records, framed, palette, percent, shortened
from dpcore.figures.halfspaces_body import EDGE, EVENTS, side_body

MOST_ROWS = 800
MOST_TICKS = 64
"""Directions and their opposites that are marked on the circle; more would run into one another."""
CORNERS = 90
"""Corners of a drawn circle."""
HEAD = np.array([[0.9, 0.05], [1.0, 0.0], [0.9, -0.05], [0.9, 0.05]])
"""The tip of an arrow along the first axis."""


def some(count: int) -> slice:
    """Evenly spaced rows, at most MOST_ROWS of them."""
    return slice(0, count, max(1, -(-count // MOST_ROWS)))


def side_view(
    *,
    places: Floats,
    inside: Booleans,
    angle: int,
    drawn: int,
    margin: float,
    near: float,
    share: float,
    measured: Floats,
    axes: tuple[str, str],
    flat: bool,
    badge: str,
    dark: bool,
) -> Figure:
    """The rows seen along the plane's normal: <x, y> is a row's height over the line, and so is its margin.

    Dragging selects "drag": an angle, and the ``drawn`` of the picture it was dragged on.

    Args:
        places: coordinates of rows in the plane, (P, 2); all of them, some are drawn.
        inside: which of them lie on the side of the direction, (P,).
        angle: the direction y, in whole degrees from the first axis.
        drawn: another number for another angle: what was dragged on an earlier picture no longer counts.
        margin: half the width of the band around the line.
        near: share of all rows inside the band.
        share: share of all rows on the side.
        measured: angles in degrees of the net's directions, to be marked on the circle; none outside the plane.
        axes: what the axes mean.
        flat: whether rows have two dimensions, so that all lie on the circle.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, kept = palette(dark=dark), some(len(places))
    x, y = shortened(places[kept, 0]), shortened(places[kept, 1])
    datasets: dict[str, Records] = {
        "rows": [{"x": east, "y": north} for east, north in zip(x, y, strict=True)],
        "circle": _path(_arc(0, 360)),
        "half": _path(_arc(-90, 90)),
        "band": _path(_band(margin)),
        "line": _path(np.array([[0.0, -EDGE], [0.0, EDGE]])),
        "shaft": _path(np.array([[0.0, 0.0], [HEAD[0, 0], 0.0]])),
        "head": _path(HEAD),
        "arrow": [{"angle": angle, "drawn": drawn}],
        "net": _path(_ticks(measured if len(measured) <= MOST_TICKS else measured[:0])),
    }
    seen = f"{len(x):,} of {len(places):,} rows are drawn. " if len(x) < len(places) else ""
    ticks = "The strokes outside the circle are the directions measured. " if len(measured) else ""
    if len(measured) > MOST_TICKS:
        ticks = f"{2 * len(measured):,} directions are measured, too close to one another to be drawn. "
    close = f"{percent(near)} lie nearer to the line than γ = {margin:g} (the band): of them nothing is promised. "
    if not near:
        close = f"No row lies nearer to the line than γ = {margin:g} (the band): this direction has that margin. "
    sentence = (
        f"{percent(share)} of the rows lie on the side the arrow y points to: drag it to turn it. {close}{ticks}{seen}"
        f"Across: {axes[0]}; up: {axes[1]}."
    )
    spec = framed(side_body(axes, colours, flat=flat), badge=badge, colours=colours, height=400, datasets=datasets)
    spec["config"]["events"] = EVENTS
    return Figure(
        spec=spec,
        sentence=sentence,
        table={axes[0]: x, axes[1]: y, "on the side": inside[kept].tolist()},
        title="Rows, and the side a direction points to",
    )


def _path(points: Floats) -> Records:
    """Corners in the order they are joined in."""
    return [
        {"x": x, "y": y, "order": order}
        for order, (x, y) in enumerate(zip(shortened(points[:, 0]), shortened(points[:, 1]), strict=True))
    ]


def _arc(start: float, stop: float) -> Floats:
    """Points of the unit circle between two angles in degrees."""
    turn = np.radians(np.linspace(start, stop, CORNERS))
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _band(margin: float) -> Floats:
    """What lies nearer to the line than the margin, inside the circle, for a direction along the first axis."""
    height = np.linspace(-margin, margin, CORNERS // 2)
    width = np.sqrt(1 - height**2)
    right, left = np.stack([height, width], axis=1), np.stack([height[::-1], -width[::-1]], axis=1)
    return np.concatenate([right, left, right[:1]])


def _ticks(measured: Floats) -> Floats:
    """A short stroke outside the circle at each angle; nothing is drawn between two strokes."""
    turn = np.radians(np.concatenate([measured, measured + 180]))
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    strokes = np.stack([1.02 * around, 1.08 * around, np.full_like(around, np.nan)], axis=1)
    return strokes.reshape(-1, 2)
