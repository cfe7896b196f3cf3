"""How often a release shows the cell of somebody alone as taken, and the reader's guess."""

from __future__ import annotations

from dataclasses import replace

from dpcore.core import Floats
from pages.charts.picture import Axis, Picture
from pages.learn.pictures import guessed
from pages.learn.random_privacy.charts import lone_pet


def shown(shares: Floats, *, guess: float) -> Picture:
    """Shares of releases (2, 2), private then random privacy, the pet there then elsewhere; and the guess."""
    picture = lone_pet(shares)
    promises = Axis(labels=("full promise", "weaker promise"))
    return replace(picture, y=promises, marks=[*picture.marks, guessed(x=guess)], height=320)
