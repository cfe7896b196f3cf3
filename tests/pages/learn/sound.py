"""A picture of which nothing at all is cut off, curves included."""

from __future__ import annotations

import numpy as np

from pages.charts.axes import reach
from pages.charts.picture import Curve, Picture, numbers
from tests.pages.learn.checked import checked


def sound(picture: Picture) -> Picture:
    """The same picture: sound as every lesson's, and its curves stay within it."""
    checked(picture)
    for curve in picture.find(Curve):
        for axis, values in ((picture.x, numbers(curve.x)), (picture.y, numbers(curve.y))):
            low, high = reach(axis, picture.marks, across=axis is picture.x)
            placed = values[np.isfinite(values)]
            assert (placed >= low - 1e-12).all() and (placed <= high + 1e-12).all(), curve.name
    return picture
