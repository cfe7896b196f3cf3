"""Halving: a private tree of stretches of a line, cut finer where there are more rows, for a few units of noise in all.

The stretch of all cells is halved, and so is each half, wherever max(c - kδ, -δ) + Z >= 1: c its rows, k how often it
was halved, Z discrete Laplace noise of scale λ, δ = ⌈λ ln 2⌉. What is released is which stretches are halved.

Why it is private: let a row come, and be in the stretches v_0 > v_1 > … . Their scores b_k = c_k - kδ fall by at least
δ a step, for rows in a part are rows in the whole. One row more makes each halving likelier by a factor e^f(b),

    f(b) = ln(Pr[Z >= -b]/Pr[Z >= 1 - b]) for b >= -δ, which never grows with b; below -δ nothing changes,

and the one stretch that is not halved less likely, by at most e^(1/λ). So of D tests the halvings lose at most
S(D) = f(-δ) + f(0) + f(δ) + …, D terms: 2/λ and a few halves of one another, about 2.607/λ, whatever D. Rows that come
lose no more than S(D) in all, and rows that go no more than that or 1/λ, which is less. A row that is replaced leaves
one path and joins another. They share the first test at least, where no count changes, unless it leaves the line or
comes from beyond it; so it loses at most S(D - 1) + 1/λ or S(D). All of this is attained, and λ is the least that a
bisection finds with a loss of at most ε.

Notation: epsilon = ε; λ, scale; δ, decay; D, levels.

References:
    Zhang, Xiao and Xie (2016), PrivTree; the discrete noise, the exact loss and replaced rows are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, Integers, Neighbours, ParameterError
from dpcore.core.bisection import bisect_range
from dpcore.randomness import NoisyComparisons, Sampler
from dpcore.randomness.counts import NEVER
from dpcore.randomness.laws import laplace_tail
from dpcore.randomness.sampler import Charge, Draw, check_whole

BISECTIONS = 50
ROUNDING = 1e-9
"""Of the loss, relative: what doubles may have lost."""


def levels(cells: int) -> int:
    """Return the number of times that a stretch of cells can be halved, D."""
    return (cells - 1).bit_length()


def edges(cells: int, level: int) -> Integers:
    """Return the starts of the stretches of a level, and the end of the last, (2^level + 1,)."""
    return (np.arange((1 << level) + 1) * cells) >> level


def decay(scale: float) -> int:
    """δ: by how much a score falls with each level, in rows."""
    return math.ceil(scale * math.log(2))


def loss(scale: float, depth: int, neighbours: Neighbours) -> float:
    """Return the largest privacy loss of all halvings, exactly but for rounding.

    >>> round(1000 * loss(1000.0, 60, Neighbours.ADD_REMOVE_ONE), 2)
    2.61
    """
    scores = (np.arange(depth) - 1) * decay(scale)
    halved = np.cumsum(np.log(laplace_tail(-scores, scale=scale) / laplace_tail(1 - scores, scale=scale)))
    if neighbours is Neighbours.ADD_REMOVE_ONE or depth < 2:
        return float(halved[-1])
    return float(max(halved[-1], halved[-2] + 1 / scale))


@lru_cache(maxsize=1024)
def least_scale(epsilon: float, depth: int, neighbours: Neighbours) -> float:
    """Return a scale, nearly the least, at which all halvings lose at most epsilon."""

    def is_enough(scale: float) -> bool:
        return loss(scale, depth, neighbours) * (1 + ROUNDING) <= epsilon

    if not is_enough(8 / epsilon):
        raise ParameterError(f"The noise of a private tree is not worked out at an epsilon of {epsilon:g}.")
    return bisect_range(is_enough, 0.5 / epsilon, 8 / epsilon, steps=BISECTIONS)[1]


@dataclass(frozen=True, eq=False, repr=False)
class Halving(Draw[tuple[Booleans, ...]]):
    """Which stretches of each level are halved, ((T, 1), (T, 2), (T, 4), …); only parts of halved ones ever are.

    ``counts`` (cells,) are rows in order; what is beyond the line is in no stretch.
    """

    counts: Integers
    epsilon: float = field(kw_only=True)
    neighbours: Neighbours = field(kw_only=True)

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf) or len(self.counts) < 2:
            raise ParameterError("Halving needs a finite epsilon above 0 and two cells at least.")
        check_whole(self.counts)

    @property
    def scale(self) -> float:
        """Scale of the noise, λ."""
        return least_scale(self.epsilon, levels(len(self.counts)), self.neighbours)

    @override
    @property
    def charge(self) -> Charge:
        return Charge(type(self).__name__, epsilon=self.epsilon)

    @override
    def composed(self, sampler: Sampler, trials: int) -> tuple[Booleans, ...]:
        """A noisy comparison for every stretch there could be; those of what is not there come out negative."""
        cells, scale = len(self.counts), self.scale
        before = np.concatenate([[0], np.cumsum(self.counts)])
        reached = np.ones((trials, 1), dtype=np.bool_)
        halved = []
        for level in range(levels(cells)):
            cuts = edges(cells, level)
            scores = np.maximum(np.diff(before[cuts]) - level * decay(scale), -decay(scale))
            needed = np.where(reached & (np.diff(cuts) > 1), 1, NEVER)
            draw = NoisyComparisons(scores[None, :], needed, epsilon=1.0, sensitivity=scale)
            halved.append(sampler.draw(draw, trials))
            reached = np.repeat(halved[-1], 2, axis=1)
        return tuple(halved)
