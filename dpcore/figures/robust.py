"""The chance of an answer against how robust the data are: promised, observed on the reader's data, and impossible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Records, framed, palette, shortened
from dpcore.figures.robust_body import chance_body

STEPS = 160
"""Places of a curve."""
HATCHES = 60
"""Lines of hatching across the picture."""
SLANT = 0.15
"""How far a line of hatching leans over, as a share of the width."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A data set on a curve: where it stands, its chance of an answer, and what to call it."""

    name: str
    x: float
    chance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Wall:
    """What no mechanism can pass, at each place of the curve.

    Attributes:
        silent: largest chance of an answer for whoever never gives a wrong one, (P,), nowhere falling.
        anybody: largest chance of the right answer for whoever may be wrong, (P,).
    """

    silent: Floats
    anybody: Floats


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Share of previews of the reader's data that got an answer, and its 95% interval."""

    share: float
    low: float
    high: float


def places(*, stable: int, threshold: int) -> Floats:
    """Whole stabilities for a curve: from 1 to beyond the threshold, and to the data if they are not too far."""
    right = max(2 * threshold, min(math.ceil(1.15 * stable), 4 * threshold))
    return np.unique(np.linspace(1, right, STEPS).round())


def chance_curve(
    *,
    x: Floats,
    chances: dict[str, Floats],
    marks: list[Mark],
    threshold: int | None,
    title: str,
    sentence: str,
    badge: str,
    dark: bool,
    wall: Wall | None = None,
    seen: Seen | None = None,
) -> Figure:
    """Curves of answer chances; under the first one it is tinted, and above the wall it is hatched.

    Args:
        x: places, (P,): whole rows, or fractions if none is above 1.
        chances: chance of an answer at each place, by the name of the curve; at most two.
        marks: data sets, the reader's first; one beyond the last place is drawn at the edge, with an arrow.
        threshold: where to draw a vertical line, if anywhere.
        title: of the horizontal axis.
        sentence: what the picture says.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
        wall: what is impossible, None where nothing is known.
        seen: what previews of the first mark's data did, if there were any.
    """
    colours, right, names = palette(dark=dark), float(x[-1]), list(chances)
    middle = (float(x[0]) + right) / 2
    datasets: dict[str, Records] = {
        "curves": [
            {"x": place, "chance": chance, "curve": name, "first": name == names[0]}
            for name in names
            for place, chance in zip(shortened(x), shortened(chances[name]), strict=True)
        ],
        "marks": [
            {
                "x": min(mark.x, right), "chance": float(f"{mark.chance:.6g}"), "kind": "other" if index else "first",
                "name": mark.name + (" →" if mark.x > right else ""),
                "side": "right" if min(mark.x, right) > middle else "left",
                "shift": -10 if min(mark.x, right) > middle else 10,
                "lift": 15 if mark.chance > 0.5 else -12,
            }
            for index, mark in enumerate(marks)
        ],
        "threshold": [] if threshold is None else [{"x": threshold, "name": "threshold"}],
        "wall": [] if wall is None else [
            {"x": place, "chance": silent, "anybody": anybody}
            for place, silent, anybody in zip(
                shortened(x), shortened(wall.silent), shortened(wall.anybody), strict=True
            )
        ],
        "hatches": [] if wall is None else hatches_above(x, wall.silent),
        # Where the wall rises at once there is no room for the word, and little to say.
        "impossible": [{"text": "impossible"}] if wall is not None and wall.silent[len(x) // 5] < 0.8 else [],
        "seen": [] if seen is None else [
            {"x": min(marks[0].x, right), "chance": seen.share, "low": seen.low, "high": seen.high}
        ],
    }  # fmt: skip
    table: dict[str, list[Any]] = {title: shortened(x)}
    for name in names:
        table["chance of an answer" + (f", {name}" if len(names) > 1 else "")] = shortened(chances[name])
    if wall is not None:
        table["most for whoever is never wrong"] = shortened(wall.silent)
        table["most for whoever may be wrong"] = shortened(wall.anybody)
    body = chance_body(names, fractions=right <= 1, title=title, colours=colours)
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=280, datasets=datasets),
        sentence=sentence,
        table=table,
        title=f"Chance of an answer against {title}",
    )


def hatches_above(x: Floats, wall: Floats) -> Records:
    """Slanted lines over what lies above a curve that nowhere falls: each leans to the left and so meets it once."""
    reach, left = x[-1] - x[0], x[0]
    height = np.linspace(0, 1, 201)
    lines: Records = []
    for foot in np.arange(0, 1 + SLANT, 1 / HATCHES):
        along = foot - SLANT * height
        free = (along >= 0) & (along <= 1) & (height >= np.interp(left + reach * along, x, wall))
        if free.sum() > 1:
            low, high = np.flatnonzero(free)[[0, -1]]
            ends = [float(f"{left + reach * along[each]:.5g}") for each in (low, high)]
            lines.append({"x": ends[0], "x2": ends[1], "y": float(height[low]), "y2": float(height[high])})
    return lines
