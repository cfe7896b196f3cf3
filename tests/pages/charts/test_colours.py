"""Colours: a mechanism has its own in every picture, none is like another, and words in all of them can be read."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dpcore.core import Floats
from dpcore.mechanisms import catalogue, entry
from pages.charts import roles
from pages.charts.palette import DARK, LIGHT, Palette, parts
from pages.charts.picture import BEHIND, Axis, Bars, Picture
from pages.charts.plotly import render
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


def contrast(one: str, other: str) -> float:
    """Of two colours, from 1 to 21, as in the same guidelines."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@THEMES
def test_mechanisms_that_can_stand_in_one_picture_differ_in_colour_and_shape(colours: Palette) -> None:
    entries = catalogue()
    for one, other in itertools.combinations(entries, 2):
        first, second = (style_for(f"mechanism:{each.key}", colours) for each in (one, other))
        if one.mechanism.releases == other.mechanism.releases:
            assert (first.colour, first.shape) != (second.colour, second.shape), (one.key, other.key)
        if {one.key, other.key} <= ON_ONE_PAGE:
            assert first.colour != second.colour and first.shape != second.shape, (one.key, other.key)
    for kind in {each.mechanism.releases for each in entries}:
        used = [
            style_for(f"mechanism:{each.key}", colours).colour for each in entries if each.mechanism.releases == kind
        ]
        assert len(set(used)) == min(len(used), len(colours.others) - roles.RESERVED_COLOURS), kind
    theirs = {style_for(f"mechanism:{each.key}", colours).colour for each in entries}
    assert not theirs & {style_for(role, colours).colour for role in (*colours.roles, "other-0", "other-1")}


@THEMES
def test_a_catalogue_larger_than_the_palette_repeats_a_colour_with_another_shape_and_dash(
    colours: Palette, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = entry("identity")
    many = tuple(replace(usual, key=f"mechanism-{place}") for place in range(2 * len(colours.others)))
    monkeypatch.setattr(roles, "catalogue", lambda: many)
    roles._mechanism_places.cache_clear()
    try:
        styles = [style_for(f"mechanism:{each.key}", colours) for each in many]
    finally:
        roles._mechanism_places.cache_clear()
    same = [(one, other) for one, other in itertools.combinations(styles, 2) if one.colour == other.colour]
    assert same and all(one.shape != other.shape and one.dash != other.dash for one, other in same)
    assert not {each.colour for each in styles} & {style_for(f"other-{place}", colours).colour for place in (0, 1)}


@THEMES
def test_colours_are_told_apart_and_words_in_them_can_be_read(colours: Palette) -> None:
    told = [*colours.others, *(colours.roles[role] for role in ("true", "released", "theory", "guess"))]
    assert len(colours.others) == len(SHAPES) == len(set(SHAPES))
    for one, other in itertools.combinations(told, 2):
        assert np.linalg.norm(seen(one) - seen(other)) > 0.1, (one, other)
    for colour in told:
        assert contrast(colour, colours.paper) >= 4.5, colour


ROLES = ("true", "released", "theory", "vacuous", "guess", "ink", "quiet", "other-0", "other-1")
TILES = (0.34, 0.56, 0.78, 1.0)


def on_paper(fill: str, paper: str) -> str:
    """The colour that a filling has on the page."""
    *front, opacity = map(float, fill.removeprefix("rgba(").removesuffix(")").split(","))
    mixed = (opacity * one + (1 - opacity) * other for one, other in zip(front, parts(paper), strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def bar(role: str, colours: Palette, *, opacity: float = Bars.opacity, tiles: bool = False) -> str:
    """The colour that bars of a role have on the page."""
    mark = Bars(role=role, start=[0], end=[1], value=[1], opacity=opacity, tiles=tiles)
    picture = Picture(title="A test", x=Axis(), y=Axis(), marks=[mark], sentence="A test.", table={})
    [trace] = render(picture, badge="", dark=colours is DARK).data
    return on_paper(trace["marker"]["color"], colours.paper)


@THEMES
def test_every_role_contrasts_with_the_page_as_a_line_and_as_bars_of_any_opacity(colours: Palette) -> None:
    """3:1, as graphical objects need (Web Content Accessibility Guidelines 2.2, 1.4.11)."""
    everything = [*ROLES, *(f"mechanism:{each.key}" for each in catalogue())]
    assert set(colours.roles) <= {*everything, "impossible"}
    for role in (*everything, "impossible"):
        assert contrast(style_for(role, colours).colour, colours.paper) >= 3, role
    for role in everything:  # what is impossible is hatched instead
        for opacity in (0.05, BEHIND, 0.6, 0.8, 1):
            assert contrast(bar(role, colours, opacity=opacity), colours.paper) >= 3, (role, opacity)
    assert contrast(bar("true", colours, opacity=1), colours.paper) > 13, "has an error above enough stays as it is"


@THEMES
def test_true_bars_behind_are_told_apart_from_what_lies_over_them_and_from_other_bars(colours: Palette) -> None:
    behind = bar("true", colours, opacity=BEHIND)
    for role in ("true", "released", "theory", "guess", "other-0", "other-1"):
        assert np.linalg.norm(seen(style_for(role, colours).colour) - seen(behind)) > 0.1, role
    for role in ("released", "theory", "guess", "other-0"):
        assert np.linalg.norm(seen(bar(role, colours)) - seen(behind)) > 0.1, role


@THEMES
def test_tiles_keep_their_shades_which_are_compared_with_each_other(colours: Palette) -> None:
    """Five methods tile a map of Tables; all but one are shades of one colour."""
    shades = [bar("mechanism:marginals-polynomial", colours, opacity=each, tiles=True) for each in TILES]
    shades.append(bar("quiet", colours, opacity=0.12, tiles=True))
    for one, other in itertools.combinations(shades, 2):
        assert np.linalg.norm(seen(one) - seen(other)) > 0.08, (one, other)
