"""Parts of the limits' pictures: axes, curves and measured dots, walls, marks; what they are, not how they look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Booleans, Floats
from dpcore.figures.figure import percent


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis: its title, whether logarithmic, where it ends (None: where the data do), how numbers are written."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    form: str = ""
    ticks: tuple[float, ...] = ()

    def channel(self, field: str) -> dict[str, Any]:
        """The encoding of a field on this axis."""
        ends = {"domainMin": self.low, "domainMax": self.high}
        scale: dict[str, Any] = {name: end for name, end in ends.items() if end is not None}
        scale |= {"type": "log"} if self.log else {"zero": False}
        axis: dict[str, Any] = {"labelOverlap": True}
        if self.form or self.log:
            axis["format"] = self.form or "~g"
        if self.ticks:
            axis["values"] = list(self.ticks)
        return {
            "field": field, "type": "quantitative", "title": self.title, "axis": axis,
            "scale": {**scale, "nice": False},
        }  # fmt: skip

    def within(self, values: ArrayLike) -> Floats:
        """Values beyond an end moved to it: for dots and rules; a curve leaves the picture instead."""
        low, high = (-np.inf if self.low is None else self.low), (np.inf if self.high is None else self.high)
        return np.clip(np.asarray(values, dtype=np.float64), low, high)

    def has(self, values: ArrayLike) -> Booleans:
        """Which values have a place on the axis, were it long enough: a logarithmic one has no zero."""
        numbers = np.asarray(values, dtype=np.float64)
        return numbers > 0 if self.log else np.full(numbers.shape, True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """Numbers of one name: a curve, or dots with intervals where ``low`` and ``high`` are given; all of shape (K,)."""

    name: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    role: Literal["theory", "released", "other"] = "other"


@dataclass(frozen=True, kw_only=True, eq=False)
class Wall:
    """The impossible side of a curve: from ``y`` to ``end``, with a label in one corner of the picture."""

    x: ArrayLike
    y: ArrayLike
    end: float
    label: str
    corner: Literal["top left", "top right", "bottom left", "bottom right"] = "top right"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A rule across the picture, at ``x`` or at ``y``: the reader's guess, or where the controls are.

    The words at a ``y`` stand above it unless they are to stand ``below``.
    """

    label: str
    x: float | None = None
    y: float | None = None
    guess: bool = False
    below: bool = False


def chance(value: float) -> str:
    """A chance in per cent, without pretending to tell one hopeless (or sure) thing from another."""
    if 0 < value < 0.001:
        return "under 0.1%"
    return "over 99.9%" if 0.999 < value < 1 else percent(value)
