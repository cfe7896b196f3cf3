"""Colours with a meaning: what a mark is decides how it looks, in both themes, with a shape and a dash as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from dpcore.mechanisms import catalogue


@dataclass(frozen=True, kw_only=True)
class Palette:
    """The colours of one theme.

    Attributes:
        paper: of the page.
        ink: of words and of a rule where a control stands.
        quiet: of words that are less important.
        grid: of grid lines.
        roles: of marks, by role.
        others: of whatever else a picture compares, in order.
        shades: few to many rows, by role, and below to above zero under "error".
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
    roles=MappingProxyType(
        {
            "true": "#2b2f36",
            "released": "#1b68cb",
            "theory": "#b85c00",
            "impossible": "#7a808a",
            "vacuous": "#5a616b",
            "guess": "#a8418f",
        }
    ),
    others=("#00806b", "#6a51c7", "#8a6d00", "#2a8fae", "#8c4a2f", "#a8418f", "#4a7d1f", "#5d6b8a"),
    shades=MappingProxyType(
        {
            "true": ("#f1f2f5", "#8b919b", "#16191d"),
            "released": ("#eef3fb", "#5b9be6", "#0d2f63"),
            "error": ("#8c4a2f", "#f4f5f7", "#1b68cb"),
            "other-0": ("#e9f3f1", "#4aa797", "#003d33"),
        }
    ),
)
DARK = Palette(
    paper="#030508",
    ink="#e9ecf0",
    quiet="#a5acb8",
    grid="#262c36",
    roles=MappingProxyType(
        {
            "true": "#d5d9e0",
            "released": "#6aa9f5",
            "theory": "#f59a3c",
            "impossible": "#8d95a1",
            "vacuous": "#a5acb8",
            "guess": "#e38fcd",
        }
    ),
    others=("#3cc2a5", "#ab9bf2", "#d9bc4a", "#7cd0e8", "#d79a7d", "#e38fcd", "#9acb6a", "#a9b8d9"),
    shades=MappingProxyType(
        {
            "true": ("#12151b", "#737a86", "#f2f4f7"),
            "released": ("#0d1622", "#3f7fcb", "#e3effd"),
            "error": ("#d79a7d", "#161a21", "#6aa9f5"),
            "other-0": ("#0d1a18", "#2b8e78", "#d5f5ec"),
        }
    ),
)

BADGES: Mapping[str, str] = MappingProxyType(
    {
        "true": "true",
        "released": "simulated",
        "theory": "theory",
        "impossible": "theory",
        "vacuous": "theory",
        "guess": "your guess",
    }
)
"""What a number of each role is, in the product's words. A mark of another role says what it is itself."""

DASHES = ("solid", "longdash", "dot", "dashdot", "dash", "longdashdot")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "star", "hexagon")
MECHANISM, OTHER = "mechanism:", "other-"


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a mark is drawn: its colour, and the shape and dash that tell it apart without one."""

    colour: str
    shape: str = "circle"
    dash: str = "solid"


def palette(*, dark: bool) -> Palette:
    """The colours for a theme."""
    return DARK if dark else LIGHT


def look(role: str, colours: Palette) -> Look:
    """How a role looks.

    Args:
        role: "true", "released", "theory", "impossible", "vacuous", "guess", "ink", "quiet", "paper", "other-0" and
            on, or "mechanism:" and a key of the catalogue.
        colours: of the theme.

    Raises:
        KeyError: for an unknown role.
    """
    if role.startswith(MECHANISM):
        return _other(_mechanisms()[role.removeprefix(MECHANISM)], colours)
    if role.startswith(OTHER):
        return _other(int(role.removeprefix(OTHER)), colours)
    words = {"ink": colours.ink, "quiet": colours.quiet, "paper": colours.paper}
    return Look(colour=words[role] if role in words else colours.roles[role])


def _other(place: int, colours: Palette) -> Look:
    """The place-th of many: colours repeat after a while, shapes and dashes at other times."""
    return Look(
        colour=colours.others[place % len(colours.others)],
        shape=SHAPES[place % len(SHAPES)],
        dash=DASHES[place % len(DASHES)] if place >= len(colours.others) else "solid",
    )


@cache
def _mechanisms() -> dict[str, int]:
    """A place for every mechanism of the catalogue, the same in every picture.

    Each takes the first place that no mechanism of a common question has, so that those drawn together differ.
    The catalogue is public: nothing of anybody's data is kept here.
    """
    places: dict[str, int] = {}
    entries = catalogue()
    for entry in entries:
        taken = {
            places[other.key] for other in entries if other.key in places and set(other.queries) & set(entry.queries)
        }
        places[entry.key] = next(place for place in range(len(entries)) if place not in taken)
    return places
