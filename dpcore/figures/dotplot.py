"""Geometry of a quantile dot plot: fifty dots, each two releases in a hundred (Kay et al. 2016), and hatching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Floats

DOTS = 50
COLUMNS = 44
"""Dots that fit side by side; the dots' size follows from it."""
HATCHES = 60
"""Lines of hatching across the whole picture."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The horizontal axis of one picture: from left to right, equal steps or equal factors."""

    left: float
    right: float
    log: bool

    def along(self, values: Floats) -> Floats:
        """Where values lie on the axis, 0 at the left end and 1 at the right."""
        if self.log:
            share: Floats = np.log(values / self.left) / np.log(self.right / self.left)
        else:
            share = (values - self.left) / (self.right - self.left)
        return share

    def value(self, share: Floats) -> Floats:
        """The inverse of along()."""
        if self.log:
            value: Floats = self.left * (self.right / self.left) ** share
        else:
            value = self.left + share * (self.right - self.left)
        return value


def axis_for(answered: Floats, marks: list[float]) -> Axis:
    """An axis that holds the observed errors and every mark.

    Equal factors where equal steps would press the dots together: a promise can be a hundred times what happens.
    """
    seen = [float(answered.min()), float(answered.max())] if len(answered) else []
    shown = [value for value in [*seen, *marks] if value > 0]
    if not shown:
        return Axis(left=0.0, right=1.0, log=False)
    if seen and seen[0] > 0 and max(shown) > 4 * seen[1]:
        return Axis(left=min(shown) / 1.5, right=max(shown) * 2, log=True)
    return Axis(left=0.0, right=max(shown) * 1.1, log=False)


def dots(answered: Floats, axis: Axis, *, threshold: float) -> tuple[list[dict[str, Any]], int]:
    """Quantiles stacked where they would overlap (Wilkinson 1999), and the height of the tallest stack.

    A dot knows whether its error is beyond the threshold.
    """
    quantiles = np.quantile(answered, (np.arange(DOTS) + 0.5) / DOTS)
    places = axis.along(quantiles)
    beyond = (quantiles > threshold).tolist()
    values: list[dict[str, Any]] = []
    tallest = start = 0
    while start < DOTS:
        stop = int(np.searchsorted(places, places[start] + 1 / COLUMNS, side="left"))
        stop = max(stop, start + 1)
        middle = float(f"{float(axis.value(places[start:stop].mean())):.4g}")
        values += [
            {"x": middle, "y": height + 0.5, "error": float(f"{quantiles[start + height]:.4g}"),
             "beyond": beyond[start + height]}
            for height in range(stop - start)
        ]  # fmt: skip
        tallest, start = max(tallest, stop - start), stop
    return values, tallest


def hatching(axis: Axis, *, until: float, top: float) -> list[dict[str, float]]:
    """Slanted lines over the region from the left end to a value, bottom to top."""
    edge = float(np.clip(axis.along(np.array([until]))[0], 0, 1))
    slant = 10 / HATCHES
    lines = []
    for foot in np.arange(-slant, edge, 1 / HATCHES):
        low, high = max(foot, 0.0), min(foot + slant, edge)
        x, x2 = axis.value(np.array([low, high])).tolist()
        lines.append({
            "x": float(f"{x:.5g}"), "x2": float(f"{x2:.5g}"),
            "y": round(top * (low - foot) / slant, 3), "y2": round(top * (high - foot) / slant, 3),
        })  # fmt: skip
    return lines
