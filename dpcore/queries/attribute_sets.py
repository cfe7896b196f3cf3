"""Sets of attributes by number: all sets of one size, ordered by their largest member first (colexicographic order).

The number of {c_1 < c_2 < ... < c_m} is C(c_1, 1) + C(c_2, 2) + ... + C(c_m, m). It does not depend on how many
attributes there are, and all sets that share their larger members stand side by side.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers
from dpcore.core.sizes import MAX_ATTRIBUTES

MAX_WIDTH = 12
"""Numbers of sets of up to 12 of 64 attributes, with a sign each, fit 64 bits."""


@lru_cache(maxsize=1)
def _binomials() -> Integers:
    """C(c, m) for c up to MAX_ATTRIBUTES and m up to MAX_WIDTH; column m."""
    rows = [[comb(c, m) for m in range(MAX_WIDTH + 1)] for c in range(MAX_ATTRIBUTES + 1)]
    return np.array(rows, dtype=np.int64)


def ranks(sets: NDArray[Any]) -> Integers:
    """Return the number of each set, members ascending along the last axis (..., m): shape (...).

    >>> ranks(np.array([[0, 1], [0, 2], [1, 2], [0, 3]])).tolist()
    [0, 1, 2, 3]
    """
    numbers: Integers = _binomials()[sets, np.arange(1, sets.shape[-1] + 1)].sum(axis=-1)
    return numbers


def unrank(numbers: Integers, *, size: int) -> Integers:
    """Return the set of each number (Q,), members ascending: shape (Q, size).

    >>> unrank(np.array([3]), size=2).tolist()
    [[0, 3]]
    """
    left = np.array(numbers, dtype=np.int64)
    members = np.empty((len(left), size), dtype=np.int64)
    for place in range(size, 0, -1):
        column = _binomials()[:, place]
        members[:, place - 1] = np.searchsorted(column, left, side="right") - 1
        left -= column[members[:, place - 1]]
    return members


def all_sets(attributes: int, *, size: int) -> Integers:
    """Return every set of this size, in order: shape (C(attributes, size), size)."""
    return unrank(np.arange(comb(attributes, size), dtype=np.int64), size=size)


@lru_cache(maxsize=256)
def places(width: int, *, size: int) -> Integers:
    """Return every way to take ``size`` of ``width`` places, ascending: shape (C(width, size), size), read-only."""
    choices = np.array(list(combinations(range(width), size)), dtype=np.int64).reshape(comb(width, size), size)
    choices.setflags(write=False)
    return choices
