"""Which columns of the bundled samples become vectors, and the plane their pictures show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.data.vectors.encoding import Measure

COORDINATES = ("first coordinate", "second coordinate", "third coordinate")


@dataclass(frozen=True, kw_only=True)
class VectorRecipe:
    """A sample's columns as coordinates, and the plane its pictures show.

    Attributes:
        sample_key: the bundled sample.
        title: what the rows are.
        story: one line on what a direction asks.
        measures: one per dimension.
        plane: two directions at right angles, (2, d); none for the first two axes.
        axes: what the first and the second direction of the plane mean, in words.
        space: what the coordinates mean, where there are three.
    """

    sample_key: str
    title: str
    story: str
    measures: tuple[Measure, ...]
    plane: tuple[tuple[float, ...], ...] = ()
    axes: tuple[str, str] = ("first coordinate", "second coordinate")
    space: tuple[str, str, str] = COORDINATES


_LEVELS = tuple(float(each) for each in np.arange(8) - 3.5)
RECIPES = {
    "cities": VectorRecipe(
        sample_key="cities",
        title="Cities on the globe",
        story="How many places of more than 15,000 people lie in the hemisphere around a point of the globe?",
        measures=tuple(Measure(column=column) for column in ("ux", "uy", "uz")),
        axes=("towards 0° N 0° E", "a quarter turn on"),
        space=("0° N 0° E", "0° N 90° E", "north pole"),
    ),
    "penguins": VectorRecipe(
        sample_key="penguins",
        title="Penguins, two measurements",
        story="Bill length against flipper length, each from the middle of its declared range: which penguins lean to "
        "long bills, which to long flippers?",
        measures=(
            Measure(column="bill_length_mm", low=30, high=60),
            Measure(column="flipper_length_mm", low=170, high=230),
        ),
        axes=("longer bill", "longer flipper"),
    ),
    "penguins-raw": VectorRecipe(
        sample_key="penguins",
        title="Penguins, the same as they come",
        story="Both lengths in millimetres, nothing taken off: all rows crowd into a few degrees, and a direction at a "
        "right angle to them cuts the crowd.",
        measures=(
            Measure(column="bill_length_mm", low=-60, high=60),
            Measure(column="flipper_length_mm", low=-230, high=230),
        ),
        axes=("longer bill", "longer flipper"),
    ),
    "digits": VectorRecipe(
        sample_key="digits",
        title="Handwritten digits, 64 pixels",
        story="Has a digit more ink on one side than on the other? The direction turns the line through its middle.",
        measures=tuple(Measure(column=f"p{pixel:02d}", low=-16, high=16) for pixel in range(64)),
        plane=(_LEVELS * 8, tuple(level for level in _LEVELS for _ in range(8))),
        axes=("more ink on the right", "more ink below"),
    ),
}
