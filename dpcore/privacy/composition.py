"""Composition and conversion of guarantees, and the exact delta of discrete Gaussian noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpcore.core import Guarantee, Neighbours, ParameterError
from dpcore.core.bisection import bisect_range
from dpcore.core.sizes import MAX_GAUSSIAN_EPSILON, MAX_SIGMA


def compose(guarantees: Sequence[Guarantee], *, fixed_in_advance: bool = True) -> Guarantee:
    """Return the guarantee of several releases: epsilon and delta add up; so does gamma, for releases fixed in advance.

    Choosing a random-DP release after seeing another breaks its product argument (Hall, Rinaldo and Wasserman 2013,
    Proposition 4.2), so that is refused.
    """
    if not guarantees:
        raise ParameterError("Composition needs at least one guarantee.")
    if len({guarantee.neighbours for guarantee in guarantees}) > 1:
        raise ParameterError("Guarantees under different neighbouring relations must be converted before they compose.")
    if len({guarantee.person_rows for guarantee in guarantees}) > 1:
        raise ParameterError(
            "Guarantees for rows and for persons, or for different maximum rows per person, do not compose."
        )
    if not fixed_in_advance and any(guarantee.gamma for guarantee in guarantees):
        raise ParameterError("Random differential privacy composes only for releases fixed in advance.")
    delta = math.fsum(guarantee.delta for guarantee in guarantees)
    gamma = math.fsum(guarantee.gamma for guarantee in guarantees)
    if delta >= 1 or gamma >= 1:
        raise ParameterError("δ or γ would add up to 1 or more: no guarantee.")
    blocked = [guarantee.why_not for guarantee in guarantees if not guarantee.releasable]
    return Guarantee(
        epsilon=math.fsum(guarantee.epsilon for guarantee in guarantees),
        delta=delta,
        gamma=gamma,
        neighbours=guarantees[0].neighbours,
        releasable=not blocked,
        why_not=" ".join(blocked),
        person_rows=guarantees[0].person_rows,
    )


def compose_disjoint(parts: Sequence[Guarantee]) -> Guarantee:
    """Releases on disjoint parts of the data, all ADD_REMOVE_ONE: a row is in one part only, so the maximum counts."""
    if any(part.neighbours is not Neighbours.ADD_REMOVE_ONE for part in parts):
        raise ParameterError("Parallel composition needs “add or remove one row”: a replaced row may change two parts.")
    if any(part.person_rows > 1 for part in parts):
        raise ParameterError("Guarantees for persons do not compose in parallel: their rows may lie in several parts.")
    whole = compose([dataclasses.replace(part, delta=0.0) for part in parts])
    return dataclasses.replace(
        whole, epsilon=max(part.epsilon for part in parts), delta=max(part.delta for part in parts)
    )


def as_replace_one(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee for a replacement, a removal and an addition: (2 epsilon, (1 + e^epsilon) delta)."""
    if guarantee.neighbours is Neighbours.REPLACE_ONE:
        return guarantee
    if guarantee.gamma:
        raise ParameterError("A random-DP guarantee cannot be converted between relations.")
    if guarantee.person_rows:
        raise ParameterError("A person is added or removed with all rows. Replacing a person would change n.")
    epsilon, delta = guarantee.epsilon, guarantee.delta
    # Where e^epsilon delta would be 1 or more, e^epsilon may be more than a float holds.
    if delta:
        delta = 1.0 if epsilon + math.log(delta) >= 0 else delta + math.exp(epsilon + math.log(delta))
    if delta >= 1:
        raise ParameterError("The converted delta would be 1 or more: no guarantee is left.")
    return Guarantee(
        epsilon=2 * epsilon,
        delta=delta,
        neighbours=Neighbours.REPLACE_ONE,
        releasable=guarantee.releasable,
        why_not=guarantee.why_not,
    )


FAR = 1e100
"""Beyond it products of losses would overflow."""


def check_gaussian(*, epsilon: float, delta: float) -> None:
    """Raise ParameterError unless Gaussian noise can have this epsilon and delta."""
    if not (0 < epsilon <= MAX_GAUSSIAN_EPSILON and 0 < delta < 1):
        raise ParameterError(
            f"Gaussian noise needs epsilon above 0 and at most {MAX_GAUSSIAN_EPSILON:g}, and delta between 0 and 1."
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


def one_cell_delta(epsilon: float, *, sigma: float, steps: int) -> float:
    """Return the exact delta of discrete Gaussian noise when a neighbour moves one cell by a whole number c of steps.

    The privacy loss is (c Z + c^2/2)/sigma^2, Z the cell's noise, and delta = E[(1 - e^(epsilon - loss))+].
    """
    first = math.floor(max((epsilon * sigma**2 - steps**2 / 2) / steps, -12 * sigma))
    z = first + np.arange(math.ceil(max(0, -first) + 12 * sigma) + 2, dtype=np.float64)
    mass = np.exp(-z * z / (2 * sigma * sigma)) / _gaussian_sum(sigma)
    loss = (steps * z + steps**2 / 2) / sigma**2
    return float(-(mass * np.expm1(np.minimum(epsilon - loss, 0.0))).sum())


def _gaussian_sum(sigma: float, *, offset: float = 0.0) -> float:
    """The sum of e^(-(x - offset)^2/(2 sigma^2)) over whole x; from sigma = 2 on, to the last digit the integral."""
    if sigma >= 2:
        return sigma * math.sqrt(2 * math.pi)
    x = np.arange(-80, 81) - offset
    return float(np.exp(-((x / sigma) ** 2) / 2).sum())


@lru_cache(maxsize=4096)
def gaussian_sigma(*, epsilon: float, delta: float, shift: tuple[int, ...]) -> float:
    """Return the smallest noise found whose exact delta (see gaussian_delta) is within the target.

    The continuous formula (Balle and Wang 2018) is not enough: at epsilon = 8 discrete noise of that sigma has up to
    1.8 times its delta where a row is replaced, and 3.2 times where one is added. Below sigma = 1 the exact delta does
    not always fall as sigma grows; the sigma returned is one at which it is within the target.

    Raises:
        ParameterError: epsilon or delta is out of range, or so small that sigma would be above MAX_SIGMA.
    """
    check_gaussian(epsilon=epsilon, delta=delta)

    def within(sigma: float) -> bool:
        return gaussian_delta(epsilon, sigma=sigma, shift=shift) <= delta

    low, high = 1e-3, 1.0
    while not within(high):
        low, high = high, 2 * high
        if high > MAX_SIGMA:
            raise ParameterError(
                f"Gaussian noise of more than {MAX_SIGMA:,} rows would be needed: take a larger epsilon or delta."
            )
    return bisect_range(within, low, high, relative=1e-9)[1]


def zcdp_delta(epsilon: float, *, rho: float) -> float:
    """Delta of rho zero-concentrated privacy at epsilon (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    if not rho >= 0 or math.isnan(epsilon):
        raise ParameterError(f"Concentrated privacy needs rho of at least 0 and epsilon a number, got rho {rho!r}.")
    if rho == 0:
        return max(0.0, -math.expm1(min(epsilon, 0.0)))
    if rho > FAR:
        return 1.0
    epsilon = max(-FAR, min(epsilon, FAR))  # a smaller epsilon has no smaller delta
    order = 1 + np.logspace(-6, 6, 4001)
    logs = (order - 1) * (order * rho - epsilon) - np.log(order - 1) + order * np.log1p(-1 / order)
    return math.exp(min(0.0, float(logs.min())))
