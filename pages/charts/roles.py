"""The styles of roles: a mark's role determines its colour in both themes, its shape and its dash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from dpcore.mechanisms import catalogue
from pages.charts.palette import LIGHT, Palette

BADGES: Mapping[str, str] = {
    "true": "true",
    "released": "simulated",
    "theory": "theory",
    "impossible": "theory",
    "vacuous": "theory",
    "guess": "your guess",
}
"""The kind of number that each role shows. Marks of other roles have a name of their own."""

DASHES = ("solid", "longdash", "dot", "dashdot", "dash", "longdashdot")
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "star"),
    *("hexagon", "x", "pentagon", "bowtie", "hourglass", "star-diamond", "hexagram"),
    *(
        "triangle-left",
        "octagon",
        "diamond-wide",
        "star-square",
        "triangle-ne",
        "triangle-se",
        "triangle-nw",
        "triangle-sw",
        "triangle-right",
        "diamond-tall",
    ),
)
MECHANISM, OTHER = "mechanism:", "other-"
RESERVED_COLOURS = 2
"""Number of colours that no mechanism has: those of other-0 and other-1."""


@dataclass(frozen=True, kw_only=True)
class MarkStyle:
    """Colour of a mark, with a shape and a dash that identify it without colour."""

    colour: str
    shape: str = "circle"
    dash: str = "solid"


def style_for(role: str, colours: Palette) -> MarkStyle:
    """Return the style of a role.

    Args:
        role: "true", "released", "theory", "impossible", "vacuous", "guess", "ink", "quiet", "paper", "other-0" and
            on, or "mechanism:" and a key of the catalogue.
        colours: of the theme.

    Raises:
        KeyError: for an unknown role.
    """
    if role.startswith(MECHANISM):
        return _style_at(*_mechanism_places()[role.removeprefix(MECHANISM)], colours)
    if role.startswith(OTHER):
        return _style_at(-1 - int(role.removeprefix(OTHER)), 0, colours)
    words = {"ink": colours.ink, "quiet": colours.quiet, "paper": colours.paper}
    return MarkStyle(colour=words[role] if role in words else colours.roles[role])


def _style_at(place: int, lap: int, colours: Palette) -> MarkStyle:
    """Return the style at an index of the palette's other colours, negative from the end.

    Each lap moves on by a shape and a dash, so that two marks of one colour differ in both.
    """
    marked = (place + lap) % len(SHAPES)
    return MarkStyle(
        colour=colours.others[place % len(colours.others)], shape=SHAPES[marked], dash=DASHES[marked % len(DASHES)]
    )


@cache
def _mechanism_places() -> dict[str, tuple[int, int]]:
    """Return the palette index and the lap of every mechanism of the catalogue, the same in every picture.

    Mechanisms that release the same kind of result may share a picture, so their colours differ. Those that release
    data are counted from the first index, all others from the last that is not reserved. After the last colour begins
    another lap: the same colours with other shapes and dashes.
    """
    places: dict[str, tuple[int, int]] = {}
    counts_by_kind: Counter[str] = Counter()
    colours = len(LIGHT.others) - RESERVED_COLOURS
    for entry in catalogue():
        kind = entry.mechanism.releases
        lap, step = divmod(counts_by_kind[kind], colours)
        places[entry.key] = (step if kind == "data" else -1 - step) % colours, lap
        counts_by_kind[kind] += 1
    return places
