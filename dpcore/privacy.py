"""Guarantees added up and converted, and the exact delta of discrete Gaussian noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpcore.core import Guarantee, Neighbours, ParameterError


def compose(guarantees: Sequence[Guarantee], *, fixed_in_advance: bool = True) -> Guarantee:
    """Several releases of the same data: epsilon and delta add up; so does gamma, for releases fixed in advance only.

    Choosing a random-DP release after seeing another breaks its product argument (Hall, Rinaldo and Wasserman 2013,
    Proposition 4.2), so that is refused.
    """
    if not guarantees:
        raise ParameterError("Composition needs at least one guarantee.")
    if len({guarantee.neighbours for guarantee in guarantees}) > 1:
        raise ParameterError("Guarantees under different neighbouring relations must be converted before they compose.")
    if not fixed_in_advance and any(guarantee.gamma for guarantee in guarantees):
        raise ParameterError("Random differential privacy composes only for releases fixed in advance.")
    delta = math.fsum(guarantee.delta for guarantee in guarantees)
    gamma = math.fsum(guarantee.gamma for guarantee in guarantees)
    if delta >= 1 or gamma >= 1:
        raise ParameterError("Delta or gamma would add up to 1 or more: no guarantee is left.")
    blocked = [guarantee.why_not for guarantee in guarantees if not guarantee.releasable]
    return Guarantee(
        epsilon=math.fsum(guarantee.epsilon for guarantee in guarantees),
        delta=delta,
        gamma=gamma,
        neighbours=guarantees[0].neighbours,
        releasable=not blocked,
        why_not=" ".join(blocked),
    )


def compose_disjoint(parts: Sequence[Guarantee]) -> Guarantee:
    """Releases on disjoint parts of the data, all ADD_REMOVE_ONE: a row is in one part only, so the maximum counts."""
    if any(part.neighbours is not Neighbours.ADD_REMOVE_ONE for part in parts):
        raise ParameterError("Only add-or-remove guarantees compose in parallel: a replaced row may change parts.")
    whole = compose([dataclasses.replace(part, delta=0.0) for part in parts])
    return dataclasses.replace(
        whole, epsilon=max(part.epsilon for part in parts), delta=max(part.delta for part in parts)
    )


def as_replace_one(guarantee: Guarantee) -> Guarantee:
    """A replacement is a removal and an addition: (2 epsilon, (1 + e^epsilon) delta)."""
    if guarantee.neighbours is Neighbours.REPLACE_ONE:
        return guarantee
    if guarantee.gamma:
        raise ParameterError("A random-DP guarantee cannot be converted between relations.")
    delta = (1 + math.exp(guarantee.epsilon)) * guarantee.delta
    if delta >= 1:
        raise ParameterError("The converted delta would be 1 or more: no guarantee is left.")
    return Guarantee(
        epsilon=2 * guarantee.epsilon,
        delta=delta,
        neighbours=Neighbours.REPLACE_ONE,
        releasable=guarantee.releasable,
        why_not=guarantee.why_not,
    )


def gaussian_delta(epsilon: float, *, sigma: float, shift: tuple[int, ...]) -> float:
    """Exact delta of independent discrete Gaussian noise when a neighbour moves one cell by 1, or two cells by 1 each.

    With S the sum of the moved cells' noise, the privacy loss is (S + k/2)/sigma^2, k = 1 or 2 cells, and
    delta = E[(1 - e^(epsilon - loss))+]. For two cells Pr[S = s] = e^(-s^2/(4 sigma^2)) * theta(s mod 2)/Z^2, theta the
    sum of e^(-x^2/sigma^2) over whole (s even) or half-odd (s odd) x: completing the square.
    """
    if shift not in ((1,), (1, 1)):
        raise ParameterError("The exact law is known for one or two cells moved by 1 each.")
    cells = len(shift)
    # From the first loss above epsilon, for as long as doubles see terms beside it (10 standard deviations, and more).
    first = math.floor(max(epsilon * sigma**2 - cells / 2, -12 * sigma * math.sqrt(cells)))
    s = first + np.arange(math.ceil(max(0, -first) + 12 * sigma * math.sqrt(cells)) + 2, dtype=np.float64)
    mass = np.exp(-s * s / (2 * cells * sigma * sigma)) / _gaussian_sum(sigma) ** cells
    if cells == 2:
        narrow = sigma / math.sqrt(2)
        mass *= np.where(s % 2 == 0, _gaussian_sum(narrow), _gaussian_sum(narrow, offset=0.5))
    loss = (s + cells / 2) / sigma**2
    return float(-(mass * np.expm1(np.minimum(epsilon - loss, 0.0))).sum())


def _gaussian_sum(sigma: float, *, offset: float = 0.0) -> float:
    """The sum of e^(-(x - offset)^2/(2 sigma^2)) over whole x; from sigma = 2 on, to the last digit the integral."""
    if sigma >= 2:
        return sigma * math.sqrt(2 * math.pi)
    x = np.arange(-80, 81) - offset
    return float(np.exp(-((x / sigma) ** 2) / 2).sum())


@lru_cache(maxsize=4096)
def gaussian_sigma(*, epsilon: float, delta: float, shift: tuple[int, ...]) -> float:
    """Smallest noise found whose exact delta (see gaussian_delta) is within the target.

    The continuous formula (Balle and Wang 2018) is not enough: at epsilon = 8 discrete noise of that sigma has up to
    1.8 times its delta where a row is replaced, and 3.2 times where one is added. Below sigma = 1 the exact delta does
    not always fall as sigma grows; the sigma returned is one at which it is within the target.
    """
    if not (epsilon > 0 and 0 < delta < 1):
        raise ParameterError("Gaussian noise needs epsilon above 0 and delta between 0 and 1.")
    low, high = 1e-3, 1.0
    while gaussian_delta(epsilon, sigma=high, shift=shift) > delta:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if gaussian_delta(epsilon, sigma=middle, shift=shift) <= delta:
            high = middle
        else:
            low = middle
    return high


def zcdp_delta(epsilon: float, *, rho: float) -> float:
    """Delta of rho zero-concentrated privacy at epsilon (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    if rho <= 0:
        return 0.0
    order = 1 + np.logspace(-6, 6, 4001)
    logs = (order - 1) * (order * rho - epsilon) - np.log(order - 1) + order * np.log1p(-1 / order)
    return float(min(1.0, np.exp(logs.min())))
