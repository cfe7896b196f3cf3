"""Several releases of Gaussian noise alone, charged as one vector: less than the sum of what each costs.

A neighbour moves each release's numbers by a vector of known length, and all of them together by the vector of these.
``privacy/gaussian_vectors`` proves the delta of discrete Gaussian noise on all of them at any epsilon, so that the
least epsilon is found at which it is what the deltas of the releases add up to. A person with c rows at most moves each
release by c times as far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.core import Guarantee, Mechanism, Problem, per_person
from dpcore.privacy.composition import compose
from dpcore.privacy.gaussian_vectors import delta_of

STEPS = 10**6
"""Epsilon is rounded up to one of so many steps of 1, so that every machine finds the same."""
ROUNDING = 1 - 1e-12
"""Of the sum of deltas: rounded up to whole units it is no more than these are."""


def total(parts: Sequence[tuple[Mechanism, Problem]], *, person_rows: int = 0) -> Guarantee:
    """What releases fixed in advance cost together: one vector where all noise is Gaussian, else the sums.

    Args:
        parts: mechanisms, and what each is about, of the same rows.
        person_rows: rows of a person at most, or 0 where rows are protected.

    Raises:
        ParameterError: a guarantee is missing, or they do not compose.
    """
    sums = compose([per_person(mechanism.guarantee(problem), person_rows) for mechanism, problem in parts])
    draws = [mechanism.gaussians(problem) for mechanism, problem in parts]
    if len(parts) < 2 or any(len(each) != 1 for each in draws) or not sums.delta:
        return sums
    sigmas, counts, squares = np.array([draw for (draw,) in draws], dtype=np.float64).T
    squares, delta = squares[None, :] * max(1, person_rows) ** 2, sums.delta * ROUNDING

    def within(step: int) -> bool:
        return delta_of(step / STEPS, sigmas=sigmas, counts=counts, squared_shifts=squares) <= delta

    low, high = 0, math.floor(sums.epsilon * STEPS)
    if not within(high):
        return sums
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return replace(sums, epsilon=high / STEPS, delta=delta)
