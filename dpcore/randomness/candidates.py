"""Small databases to choose from, each with a whole-number score: all of them in a list, or too many for one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from dpcore.core import Floats, Integers

BLOCK = 1 << 20
"""Noises raced at once."""


class Candidates:
    """All candidates, ranked by score once, so that another epsilon only weighs the scores anew.

    Attributes:
        points: cells of each candidate's m points, (K, m); of counted ones, points in each cell, (K, cells).
        scores: (K,).
        counted: whether points are counted by cell, which is shorter on few cells.
    """

    def __init__(self, points: Integers, scores: Integers, *, counted: bool = False) -> None:
        self.points, self.scores, self.counted = points, scores, counted

    def at(self, places: Integers) -> Integers:
        """Return the candidates at these places, as points in order, (T, m)."""
        chosen: Integers = self.points[places].astype(np.int64)
        if not self.counted:
            return chosen
        cells = np.tile(np.arange(chosen.shape[1]), len(chosen))
        return np.repeat(cells, chosen.reshape(-1)).reshape(len(chosen), -1)

    @cached_property
    def ranked(self) -> tuple[Integers, Integers, Integers]:
        """Distinct scores (L,), candidates by score (K,), and where each score begins among them (L + 1,)."""
        order = np.argsort(self.scores, kind="stable")
        levels, starts = np.unique(self.scores[order], return_index=True)
        return levels, order, np.append(starts, len(order))

    def draw(self, generator: np.random.Generator, *, rate: float, rule: str, trials: int) -> Integers:
        """Return the candidates with weights e^(rate * score), by either rule, (trials,); ties are even."""
        levels, order, starts = self.ranked
        sizes, utility = np.diff(starts), rate * (levels - levels[-1])
        if rule == "exponential":
            weights = np.cumsum(sizes * np.exp(utility))
            level = np.searchsorted(weights, generator.random(trials) * weights[-1], side="right")
        else:
            level = np.concatenate(
                [
                    np.argmax(utility + _largest(generator, sizes, min(trials - start, step)), axis=1)
                    for step in (max(1, BLOCK // len(levels)),)
                    for start in range(0, trials, step)
                ]
            )
        chosen: Integers = order[starts[level] + generator.integers(0, sizes[level])]
        return chosen


def _largest(generator: np.random.Generator, sizes: Integers, trials: int) -> Floats:
    """Return the largest of so many exponential noises for each size, (trials, L): 1 - (1 - e^-x)^size, inverted."""
    uniform = np.maximum(generator.standard_exponential((trials, len(sizes))), 1e-300)  # -ln of a uniform number
    largest: Floats = -np.log(-np.expm1(-uniform / sizes))
    return largest


class Net(Protocol):
    """Every database of m points, scored by its error on private data."""

    @property
    def candidates(self) -> Candidates | None:
        """All of them, or None where they are too many to list."""

    def draw(self, generator: np.random.Generator, *, rate: float, trials: int) -> Integers:
        """Return the databases with weights e^(rate * score), as points in order, (trials, m); exact up to rounding."""

    def draw_exactly(self, below: Callable[[int], int], *, rate: Fraction) -> Integers:
        """One database (m,) with exactly these weights; ``below`` gives uniform whole numbers below its argument."""
