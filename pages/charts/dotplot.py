"""Geometry of a quantile dot plot: fifty dots, each two releases in a hundred (Kay et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats

DOTS = 50
COLUMNS = 44
"""Dots that fit side by side; the dots' size follows from it."""


@dataclass(frozen=True, kw_only=True)
class Span:
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


def span_for(answered: Floats, marks: list[float]) -> Span:
    """An axis that holds the observed errors and every mark.

    Equal factors where equal steps would press the dots together: a promise can be a hundred times what happens.
    """
    seen = [float(answered.min()), float(answered.max())] if len(answered) else []
    shown = [value for value in [*seen, *marks] if value > 0]
    if not shown:
        return Span(left=0.0, right=1.0, log=False)
    if seen and seen[0] > 0 and max(shown) > 4 * seen[1]:
        return Span(left=min(shown) / 1.5, right=max(shown) * 2, log=True)
    return Span(left=0.0, right=max(shown) * 1.1, log=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Stacks:
    """Fifty dots stacked where they would overlap, shapes (50,): places, heights, what each stands for."""

    x: Floats
    y: Floats
    error: Floats
    beyond: Booleans
    tallest: int


def stacked(answered: Floats, span: Span, *, threshold: float) -> Stacks:
    """Quantiles stacked where they would overlap (Wilkinson 1999); a dot knows whether it is beyond the threshold."""
    quantiles = np.quantile(answered, (np.arange(DOTS) + 0.5) / DOTS)
    places = span.along(quantiles)
    x, y = np.empty(DOTS), np.empty(DOTS)
    tallest = start = 0
    while start < DOTS:
        stop = max(start + 1, int(np.searchsorted(places, places[start] + 1 / COLUMNS, side="left")))
        x[start:stop] = span.value(places[start:stop].mean())
        y[start:stop] = np.arange(stop - start) + 0.5
        tallest, start = max(tallest, stop - start), stop
    return Stacks(x=x, y=y, error=quantiles, beyond=quantiles > threshold, tallest=tallest)
