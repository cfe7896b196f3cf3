"""Picture of the share of releases that show the cell of a lone row as occupied, with the user's guess."""

from __future__ import annotations

from dataclasses import replace

from dpcore.core import Floats
from pages.charts.picture import Axis, Picture
from pages.learn.pictures import guess_rule
from pages.learn.random_privacy.charts import lone_pet


def lone_row_shares(shares: Floats, *, guess: float, spared: bool) -> Picture:
    """Return shares of releases (2 guarantees, 2 places of the pet), with the guess."""
    picture = lone_pet(shares, spared=spared)
    promises = Axis(labels=("full guarantee", "weaker guarantee"))
    return replace(picture, y=promises, marks=[*picture.marks, guess_rule(x=guess)], height=320)
