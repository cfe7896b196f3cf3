"""Bisection: where a condition that fails at one end of a range and holds at the other begins to hold.

A condition is monotone: where it holds for a number, it holds for every larger one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

MAX_STEPS = 2_000
"""Halvings, after which any two doubles are neighbours."""


def least_whole(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least whole number above ``low`` for which a condition holds; it must hold for ``high``.

    >>> least_whole(lambda number: number**2 >= 50, 0, 100)
    8
    """
    return low + 1 + bisect_left(range(low + 1, high), True, key=holds)


def bisect_range(
    holds: Callable[[float], bool],
    low: float,
    high: float,
    *,
    close: float = 0.0,
    relative: float = 0.0,
    steps: int = MAX_STEPS,
) -> tuple[float, float]:
    """Return the narrow part of a range in which a condition begins to hold; at its upper end it does.

    >>> bisect_range(lambda number: number**2 >= 50, 0.0, 128.0, close=1.0)
    (7.0, 8.0)

    Args:
        holds: whether the condition holds.
        low: lower end of the range.
        high: upper end, for which it must hold.
        close: width of the part.
        relative: width of the part as a share of its upper end, which is added to ``close``.
        steps: largest number of halvings.
    """
    for _ in range(steps):
        if high - low <= close + relative * high:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
