"""Pictures of the rows: beside a direction that can be dragged, in the plane it turns in; and on the sphere."""

from __future__ import annotations

import numpy as np

from dpcore.core import Booleans, Floats
from dplab.halfspace_parts import Sides
from pages.charts.picture import Area, Axis, Cloud, Curve, Dots, Handle, Mark, Picture
from pages.charts.words import percent, short_numbers

MAX_ROWS, MAX_IN_SPACE = 800, 400
MAX_TICKS = 64
"""Directions and their opposites that are marked on the circle; more would run into one another."""
CORNERS = 90
"""Corners of a drawn circle."""
EDGE, GRIP = 1.25, 1.14
"""How far the picture goes, and where the arrow is taken hold of, in radii."""
HEAD = np.array([[0.9, 0.05], [1.0, 0.0], [0.9, -0.05], [0.9, 0.05]])
"""The tip of an arrow along the first axis."""
SIDES = ("on its side", "on the other")
HALF, BAND, BETWEEN, ARROW, TIP = "the side", "nearer than γ", "between the sides", "direction y", "tip"


def some(count: int, limit: int) -> slice:
    """Return a slice of evenly spaced rows, no more than `limit`."""
    return slice(0, count, max(1, -(-count // limit)))


def rows_in_the_plane(
    *, places: Floats, sides: Sides, angle: int, margin: float, measured: Floats, axes: tuple[str, str], flat: bool
) -> Picture:
    """Draw the rows along the plane's normal: <x, y> is a row's height over the line, and so is its margin.

    Args:
        places: coordinates of rows in the plane, (n, 2); all of them, some are drawn.
        sides: what lies on the sides of the direction.
        angle: the direction y, in whole degrees from the first axis.
        margin: half the width of the band around the line.
        measured: angles in degrees of the net's directions, to be marked on the circle; none outside the plane.
        axes: what the axes mean.
        flat: whether rows have two dimensions, so that all lie on the circle.
    """
    selected = some(len(places), MAX_ROWS)
    shown, inside = places[selected], sides.inside[selected]
    grip = GRIP * _turned(np.array([[1.0, 0.0]]), angle)[0]
    # On the circle itself rows lie over one another: large and faint, they show where most are.
    size, opacity = (8.0, 0.25) if flat else (5.0, 0.6)
    marks: list[Mark] = [
        _area(HALF, _arc(-90, 90), angle, role="released", opacity=0.1),
        _area(BAND, _band(margin), angle, role="theory", opacity=0.22, legend=margin > 0),
        _line("unit circle", _arc(0, 360), role="quiet", width=1),
        *(
            Dots(
                role="true",
                name=name,
                x=shown[chosen, 0],
                y=shown[chosen, 1],
                shape=shape,
                size=size,
                opacity=opacity,
                hollow=[hollow] * int(chosen.sum()),
            )
            for name, chosen, shape, hollow in zip(
                SIDES, (inside, ~inside), ("circle", "triangle-down"), (False, True), strict=True
            )
        ),
    ]
    few = 0 < len(measured) <= MAX_TICKS
    if few:
        marks.append(_line("directions measured", _ticks(measured), role="released", width=2, legend=True))
    marks += [
        _line(BETWEEN, _turned(np.array([[0.0, -EDGE], [0.0, EDGE]]), angle), role="ink", width=1.5, dash="dash"),
        _line(ARROW, _turned(np.array([[0.0, 0.0], [HEAD[0, 0], 0.0]]), angle), role="ink"),
        _area(TIP, HEAD, angle, role="ink", opacity=1),
    ]
    how_many = f"{len(shown):,} of {len(places):,} rows are shown. " if len(shown) < len(places) else ""
    ticks = "The strokes outside the circle are the directions measured. " if few else ""
    if len(measured) > MAX_TICKS:
        ticks = f"{2 * len(measured):,} directions are measured, too close to each other to be shown. "
    close = f"No row lies nearer to the line than γ = {margin:g} (the band), so this direction has that margin. "
    if sides.near:
        nearer = f"{percent(sides.near)} lie nearer to the line than γ = {margin:g} (the band)"
        close = f"{nearer}: their side is not guaranteed. "
    along, up = (Axis(title=f"{title} →", low=-EDGE, high=EDGE, ticks=(-1.0, 0.0, 1.0)) for title in axes)
    return Picture(
        title="Rows, and the side a direction points to",
        x=along,
        y=up,
        marks=marks,
        sentence=f"{percent(sides.share)} of the rows lie on the side of the arrow y. Drag the arrow, or click "
        f"where it should point. {close}{ticks}{how_many}Horizontal: {axes[0]}; vertical: {axes[1]}.",
        table={
            axes[0]: short_numbers(shown[:, 0]),
            axes[1]: short_numbers(shown[:, 1]),
            "on the side": inside.tolist(),
        },
        height=420,
        equal=True,
        clicks=True,
        handle=Handle(
            x=float(grip[0]),
            y=float(grip[1]),
            label=f"Direction y, {angle} degrees: drag it, or turn it by the arrow keys",
            letter="y",
            step=float(GRIP * np.radians(1)),
            turned=True,
            turns=(HALF, BAND, BETWEEN, ARROW, TIP),
            sides=SIDES,
        ),
    )


def degrees_of(x: float, y: float) -> int:
    """The angle of a place, in whole degrees from 0 to 359."""
    return round(float(np.degrees(np.arctan2(y, x)))) % 360


def rows_on_the_sphere(
    *, records: Floats, inside: Booleans, direction: Floats, plane: Floats, space: tuple[str, str, str]
) -> Picture:
    """Rows with three coordinates where they are, the direction, and the circle between its two sides.

    Args:
        records: unit vectors (n, 3); all of them, some are drawn.
        inside: which lie on the direction's side, (n,).
        direction: unit vector (3,).
        plane: two unit directions at right angles, (2, 3), of the great circle the direction turns in.
        space: what the coordinates mean.
    """
    selected = some(len(records), MAX_IN_SPACE)
    shown, chosen = records[selected], inside[selected]
    tangent = np.linalg.svd(direction[None])[2][1:]
    arrow, shares = np.outer([0.0, 1.3], direction), percent(float(inside.mean()))
    return Picture(
        title="Rows on the sphere, and the side a direction points to",
        x=Axis(),
        y=Axis(),
        marks=[
            _cloud("", _globe(), role="quiet", size=0.4, lines=True),
            _cloud(SIDES[0], shown[chosen], role="true", size=4),
            _cloud(SIDES[1], shown[~chosen], role="true", size=4, shape="circle-open", opacity=0.6),
            _cloud("where y turns", _arc(0, 360) @ plane, role="quiet", size=1.2, lines=True),
            _cloud(BETWEEN, _arc(0, 360) @ tangent, role="released", size=2.5, lines=True),
            _cloud(ARROW, arrow, role="ink", size=4, lines=True),
        ],
        sentence=f"The same on a sphere that you can turn: {shares} of the rows lie on the side of the direction y. "
        f"{len(shown):,} of {len(records):,} rows are shown, hollow on the other side.",
        table={name: short_numbers(column) for name, column in zip(space, shown.T, strict=True)}
        | {"on the side": chosen.tolist()},
        height=440,
        space=space,
    )


def _turned(points: Floats, angle: float) -> Floats:
    """Return places (K, 2) turned by an angle in degrees."""
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turned: Floats = points @ np.array([[cos, sin], [-sin, cos]])
    return turned


def _area(name: str, points: Floats, angle: float, *, role: str, opacity: float, legend: bool = False) -> Area:
    """Return a filled area that turns with the direction."""
    x, y = _turned(points, angle).T
    return Area(role=role, name=name, x=x, y=y, opacity=opacity, legend=legend)


def _line(name: str, points: Floats, *, role: str, width: float = 2.5, dash: str = "", legend: bool = False) -> Curve:
    """Return a line with its name on hover."""
    x, y = points.T
    return Curve(role=role, name=name, x=x, y=y, width=width, dash=dash, legend=legend, hover=[name] * len(points))


def _cloud(
    name: str,
    points: Floats,
    *,
    role: str,
    size: float,
    lines: bool = False,
    shape: str = "circle",
    opacity: float = 0.9,
) -> Cloud:
    """Return points or a line in space."""
    x, y, z = points.T
    return Cloud(role=role, name=name, x=x, y=y, z=z, size=size, lines=lines, shape=shape, opacity=opacity)


def _arc(start: float, stop: float) -> Floats:
    """Return points of the unit circle between two angles in degrees."""
    turn = np.radians(np.linspace(start, stop, CORNERS))
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _band(margin: float) -> Floats:
    """Return the corners of the band nearer to the line than the margin, for a direction along the first axis."""
    height = np.linspace(-margin, margin, CORNERS // 2)
    width = np.sqrt(1 - height**2)
    right, left = np.stack([height, width], axis=1), np.stack([height[::-1], -width[::-1]], axis=1)
    return np.concatenate([right, left, right[:1]])


def _ticks(measured: Floats) -> Floats:
    """Return a short stroke outside the circle at each angle; nothing is drawn between two strokes."""
    turn = np.radians(np.concatenate([measured, measured + 180]))
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    strokes = np.stack([1.02 * around, 1.08 * around, np.full_like(around, np.nan)], axis=1)
    return strokes.reshape(-1, 2)


def _globe() -> Floats:
    """Return three circles of latitude and six of longitude, (K, 3), interrupted by NaN."""
    circle, gap = _arc(0, 360), np.full((1, 3), np.nan)
    parts = []
    for latitude in np.radians([-45, 0, 45]):
        level = np.full((len(circle), 1), np.sin(latitude))
        parts += [np.hstack([circle * np.cos(latitude), level]), gap]
    for longitude in np.radians(np.arange(0, 180, 30)):
        east = np.array([[np.cos(longitude), np.sin(longitude), 0.0], [0.0, 0.0, 1.0]])
        parts += [circle @ east, gap]
    return np.concatenate(parts)
