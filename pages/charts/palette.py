"""The colours of both themes, with the tints, hatching and shades made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MIN_CONTRAST = 3.0
"""Of graphical objects with the page (WCAG 2.2, 1.4.11)."""


@dataclass(frozen=True, kw_only=True)
class Palette:
    """The colours of one theme.

    Attributes:
        paper: background of the page.
        ink: text, and the rule at a control's value.
        quiet: secondary text.
        grid: grid lines.
        roles: marks, by role.
        others: mechanisms and other series, distinct from each other and from the roles, and legible as text.
        shades: from few to many rows, by role; under "error" from negative to positive.
    """

    paper: str
    ink: str
    quiet: str
    grid: str
    roles: Mapping[str, str]
    others: tuple[str, ...]
    shades: Mapping[str, tuple[str, ...]]


LIGHT = Palette(
    paper="#ffffff",
    ink="#1b1e23",
    quiet="#5a616b",
    grid="#e3e6eb",
    roles={
        "true": "#2b2f36",
        "released": "#1b68cb",
        "theory": "#b85c00",
        "impossible": "#7a808a",
        "vacuous": "#5a616b",
        "guess": "#a8418f",
    },
    others=(
        *("#006400", "#82005a", "#787800", "#6e32a0", "#960000", "#3c5082", "#643c00"),
        *("#8264c8", "#002882", "#82505a", "#460064", "#003c00", "#5a0a1e", "#d82850"),
        *("#2838c0", "#9c30d8", "#6054fc", "#d800a8", "#245448", "#6800e0", "#008800", "#000858"),
        *("#607090", "#00806b"),
    ),
    shades={
        "true": ("#f1f2f5", "#8b919b", "#16191d"),
        "released": ("#eef3fb", "#5b9be6", "#0d2f63"),
        "error": ("#8c4a2f", "#f4f5f7", "#1b68cb"),
        "other-0": ("#e9f3f1", "#4aa797", "#003d33"),
    },
)
DARK = Palette(
    paper="#030508",
    ink="#e9ecf0",
    quiet="#a5acb8",
    grid="#262c36",
    roles={
        "true": "#d5d9e0",
        "released": "#6aa9f5",
        "theory": "#f59a3c",
        "impossible": "#8d95a1",
        "vacuous": "#a5acb8",
        "guess": "#e38fcd",
    },
    others=(
        *("#96fa82", "#a06482", "#788232", "#b450be", "#c8640a", "#0a82f0", "#fad250"),
        *("#aa82fa", "#4682aa", "#dc4678", "#7864dc", "#6ed2aa", "#fa7878", "#b89078"),
        *("#c0b8f8", "#f0fc24", "#60b424", "#fc48b4", "#18fce4", "#e800fc", "#009828", "#f8f8b8"),
        *("#68d0f8", "#00aa82"),
    ),
    shades={
        "true": ("#12151b", "#737a86", "#f2f4f7"),
        "released": ("#0d1622", "#3f7fcb", "#e3effd"),
        "error": ("#d79a7d", "#161a21", "#6aa9f5"),
        "other-0": ("#0d1a18", "#2b8e78", "#d5f5ec"),
    },
)


def palette(*, dark: bool) -> Palette:
    """Return the colours of a theme."""
    return DARK if dark else LIGHT


def parts(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a hexadecimal colour, each 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def faint(colour: str, opacity: float) -> str:
    """Return a colour with an opacity."""
    return f"rgba({','.join(map(str, parts(colour)))},{opacity:g})"


def luminance(colour: ArrayLike) -> float:
    """Return the relative luminance of red, green and blue, 0 to 255 (WCAG 2.2)."""
    shares = np.asarray(colour, dtype=np.float64) / 255
    light = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(light @ (0.2126, 0.7152, 0.0722))


def contrast(one: ArrayLike, other: ArrayLike) -> float:
    """Return the contrast of two colours of red, green and blue, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@cache
def visible_opacity(colour: str, paper: str, opacity: float) -> float:
    """Return the given opacity, or the smallest larger one at which an area contrasts with the page by 3:1.

    An area without an edge is a graphical object whose filling alone shows where it ends (WCAG 2.2, 1.4.11).
    """
    front, back = np.array(parts(colour)), np.array(parts(paper))
    steps = (step / 100 for step in range(round(100 * opacity), 100))
    mixed = ((step, np.rint(step * front + (1 - step) * back)) for step in steps)
    return next((step for step, colour in mixed if contrast(colour, back) >= MIN_CONTRAST), 1.0)


def hatched(colour: str) -> dict[str, Any]:
    """Return the fill of an impossible region: stripes on a tint, so that it does not depend on colour alone."""
    pattern = {"shape": "/", "size": 9, "solidity": 0.18, "fgcolor": colour, "bgcolor": faint(colour, 0.13)}
    return {"fillpattern": {**pattern, "fillmode": "overlay"}, "fillcolor": faint(colour, 0.13)}


def scale(shades: tuple[str, ...], *, root: bool) -> list[list[Any]]:
    """Return the stops of a colour scale: linear, or by the square root, which separates small counts."""
    places = np.linspace(0, 1, 17)
    mixed = np.array([parts(shade) for shade in shades], dtype=np.float64)
    at = np.sqrt(places) if root else places
    colours = np.stack([np.interp(at, np.linspace(0, 1, len(shades)), part) for part in mixed.T], axis=1)
    return [
        [float(place), f"rgb({red:.0f},{green:.0f},{blue:.0f})"]
        for place, (red, green, blue) in zip(places, colours, strict=True)
    ]
