"""Interval: two ends, a level, how the level is known, and where nothing can be said."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.core import Booleans, Floats, ParameterError


class Kind(enum.StrEnum):
    """How the level of an interval is known."""

    PROVED = "proved"  # at least the level, for all data
    APPROXIMATE = "approximate"  # a heuristic, measured
    ASYMPTOTIC = "asymptotic"  # approached as the number of people grows


@dataclass(frozen=True, kw_only=True, eq=False)
class Interval:
    """Intervals of one level, arrays of one shape.

    Attributes:
        low: lower ends.
        high: upper ends.
        level: share of releases whose interval contains the true value.
        kind: how the level is known.
        says_nothing: where the release does not bound the value: the interval is the whole range.
        enters_at: level at which the reported point would enter an otherwise empty interval; NaN elsewhere. Such an
            interval is that point; at its own level no value is compatible with the release.
    """

    low: Floats
    high: Floats
    level: float
    kind: Kind
    says_nothing: Booleans
    enters_at: Floats = field(default_factory=lambda: np.array(np.nan))

    @property
    def half_width(self) -> Floats:
        """Half the distance between the ends."""
        half: Floats = (self.high - self.low) / 2
        return half

    def contains(self, truth: ArrayLike) -> Booleans:
        """Return whether each interval contains the true value, up to rounding of the last digits."""
        true = np.asarray(truth, dtype=np.float64)
        room = 1e-12 * np.maximum(1.0, np.abs(true))
        inside: Booleans = (self.low - room <= true) & (true <= self.high + room)
        return inside

    def reshaped(self, shape: tuple[int, ...]) -> Interval:
        """Return the same intervals in another shape."""
        silent, enters = self.says_nothing.reshape(shape), np.broadcast_to(self.enters_at, self.low.shape)
        low, high = self.low.reshape(shape), self.high.reshape(shape)
        return replace(self, low=low, high=high, says_nothing=silent, enters_at=enters.reshape(shape))

    def rescaled(self, low: float, high: float) -> Interval:
        """Return the same intervals on another range: 0 becomes ``low`` and 1 becomes ``high``."""
        return replace(self, low=low + (high - low) * self.low, high=low + (high - low) * self.high)


def around(
    center: NDArray[Any], half_width: float | Floats, *, level: float, kind: Kind = Kind.PROVED, least: float = -np.inf
) -> Interval:
    """Return intervals of a half-width around released values; both ends are at least ``least``."""
    middle = np.asarray(center, dtype=np.float64)
    low, high = np.maximum(middle - half_width, least), np.maximum(middle + half_width, least)
    return Interval(low=low, high=high, level=level, kind=kind, says_nothing=np.zeros(middle.shape, dtype=np.bool_))


def check_level(level: float) -> float:
    """Return α = 1 - level.

    Raises:
        ParameterError: the level is not between 0.5 and 0.999999.
    """
    if not 0.5 <= level <= 0.999_999:
        raise ParameterError(f"The level of an interval must lie between 0.5 and 0.999999, got {level!r}.")
    return 1 - level


def level_each(level: float, *, independent: int = 1, dependent: int = 1) -> float:
    """Return the level of each interval so that all hold together with the given one.

    Args:
        level: level of all together.
        independent: number of groups whose noise is independent: each takes the root.
        dependent: number of statistics of the same counters: α is divided among them (Bonferroni).

    >>> round(level_each(0.95, independent=32), 4), round(level_each(0.95, dependent=5), 4)
    (0.9984, 0.99)
    """
    check_level(level)
    if independent < 1 or dependent < 1:
        raise ParameterError(f"There is at least one interval, got {independent!r} and {dependent!r}.")
    return float(1 + np.expm1(np.log(level) / independent) / dependent)
