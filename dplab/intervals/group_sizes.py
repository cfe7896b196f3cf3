"""People a group needs for a margin, and the half-width to expect.

To first order the interval of a mean is h/(weight N) to both sides, h the half-width of (1 - p) b - p a at the share p.
It is largest where one counter is empty, p = 0 or 1: whatever the data, h is at most that of a single counter. Noise of
the released N is left out: these are predictions, which measured half-widths confirm.
"""

from __future__ import annotations

import math

from dpcore.core import ParameterError
from dplab.intervals.combinations import half_width
from dplab.intervals.noise import CounterNoise


def predicted_half_width(
    people: int, noise: CounterNoise, *, weight: int, level: float, share: float = 0.0, width: float = 1.0
) -> float:
    """Return the half-width to expect of the mean of so many rows on a line of a width; infinity for none.

    Args:
        people: rows of the group.
        noise: of one counter.
        weight: what a row adds to both counters together.
        level: of the interval.
        share: position of the mean on the line; 0 stands for the largest half-width of all.
        width: distance of the line's bounds.
    """
    if people < 0 or weight < 1 or not 0 <= share <= 1 or not 0 < width < math.inf:
        raise ParameterError("A prediction needs people, a weight of at least 1, a share and a finite width above 0.")
    return width * half_width([1 - share, share], noise, level) / (weight * people) if people else math.inf


def people_needed(margin: float, noise: CounterNoise, *, weight: int, level: float, width: float = 1.0) -> int:
    """Return the least number of rows whose predicted half-width is within the margin, whatever the data."""
    if not 0 < margin < math.inf:
        raise ParameterError(f"A margin is a finite number above 0, got {margin!r}.")
    return max(1, math.ceil(width * half_width([1.0], noise, level) / (weight * margin) * (1 - 1e-12)))
