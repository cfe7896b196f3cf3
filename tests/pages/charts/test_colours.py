"""Colours: a mechanism has its own in every picture, none is like another, and words in all of them can be read."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcore.core import Floats
from dpcore.mechanisms import catalogue
from pages.charts.palette import DARK, LIGHT, Palette, parts
from pages.charts.roles import SHAPES, style_for

THEMES = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
ON_ONE_PAGE = {"halfspaces", "intervals-anchored", "intervals-recursive"}
"""They release different kinds of things, and stand in one picture of the Halfspaces page."""
CONES = ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
OPPONENTS = ((0.2105, 0.7936, -0.0041), (1.9780, -2.4286, 0.4506), (0.0259, 0.7828, -0.8087))


def light(colour: str) -> Floats:
    """How much red, green and blue light a colour is (sRGB)."""
    shares = np.array(parts(colour)) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def seen(colour: str) -> Floats:
    """A place where equally far colours look equally different (OKLab, Ottosson 2020)."""
    place: Floats = np.array(OPPONENTS) @ np.cbrt(np.array(CONES) @ light(colour))
    return place


def luminance(colour: str) -> float:
    """Relative luminance, as in the Web Content Accessibility Guidelines."""
    return float(np.dot((0.2126, 0.7152, 0.0722), light(colour)))


@THEMES
def test_mechanisms_that_can_stand_in_one_picture_differ_in_colour_and_shape(colours: Palette) -> None:
    entries = catalogue()
    for one, other in itertools.combinations(entries, 2):
        if one.mechanism.releases == other.mechanism.releases or {one.key, other.key} <= ON_ONE_PAGE:
            first, second = (style_for(f"mechanism:{each.key}", colours) for each in (one, other))
            assert first.colour != second.colour and first.shape != second.shape, (one.key, other.key)
    theirs = {style_for(f"mechanism:{each.key}", colours).colour for each in entries}
    assert not theirs & {style_for(role, colours).colour for role in (*colours.roles, "other-0", "other-1")}


@THEMES
def test_colours_are_told_apart_and_words_in_them_can_be_read(colours: Palette) -> None:
    told = [*colours.others, *(colours.roles[role] for role in ("true", "released", "theory", "guess"))]
    assert len(colours.others) == len(SHAPES) == len(set(SHAPES))
    for one, other in itertools.combinations(told, 2):
        assert np.linalg.norm(seen(one) - seen(other)) > 0.1, (one, other)
    for colour in told:
        low, high = sorted((luminance(colour), luminance(colours.paper)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour
