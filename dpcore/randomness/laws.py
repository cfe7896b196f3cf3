"""Exact laws of the noise that every sampler draws: discrete Laplace and discrete Gaussian.

Discrete Laplace of scale b: Pr[Z = z] = (1 - p)/(1 + p) * p^|z| with p = e^(-1/b), the two-sided geometric of
Ghosh, Roughgarden and Sundararajan (2009). Discrete Gaussian of parameter sigma: Pr[Z = z] proportional to
e^(-z^2 / (2 sigma^2)) over the whole numbers (Canonne, Kamath and Steinke 2020).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats, Integers, check_memory

GAUSSIAN_REACH = 40.0
"""Standard deviations kept of a discrete Gaussian: what lies beyond is below the smallest double."""


def laplace_tail(at_least: NDArray[Any] | float, *, scale: NDArray[Any] | float) -> Floats:
    """Pr[Z >= j] for whole j, elementwise: p^j/(1 + p) for j >= 1 and 1 - p^(1-j)/(1 + p) for j <= 0."""
    j = np.asarray(at_least, dtype=np.float64)
    p = np.exp(-1.0 / scale)
    far = np.exp(-np.where(j >= 1, j, 1 - j) / scale) / (1 + p)
    tail: Floats = np.where(j >= 1, far, 1 - far)
    return tail


def laplace_mass(z: NDArray[Any], *, scale: float) -> Floats:
    """Pr[Z = z] for whole z, elementwise."""
    p = np.exp(-1.0 / scale)
    mass: Floats = (1 - p) / (1 + p) * np.exp(-np.abs(np.asarray(z, dtype=np.float64)) / scale)
    return mass


def laplace_variance(scale: float) -> float:
    """Return the variance of discrete Laplace noise of this scale."""
    return 2 * math.exp(-1 / scale) / math.expm1(-1 / scale) ** 2


def laplace_quantile(tail: float, *, scale: float) -> int:
    """Return the smallest whole j >= 1 with Pr[|Z| >= j] <= tail: 2 p^j/(1 + p) solved for j."""
    p = np.exp(-1.0 / scale)
    return max(1, int(np.ceil(scale * np.log(2 / ((1 + p) * tail)))))


@lru_cache(maxsize=8)  # at the largest sigma an entry takes megabytes
def gaussian_masses(sigma: float) -> tuple[int, Floats]:
    """Reach r and Pr[Z = z] for z = -r..r, as far as doubles see them."""
    reach = max(2, int(np.ceil(GAUSSIAN_REACH * sigma)))
    check_memory(2 * reach + 1, what="The exact law of Gaussian noise", smaller="take a larger epsilon", each=32)
    z = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-z * z / (2 * sigma * sigma))
    masses = weights / weights.sum()
    masses.setflags(write=False)
    return reach, masses


def clamped_law(values: NDArray[Any], *, window: tuple[int, int], kind: str, scale: float) -> Floats:
    """Return the law of clamp(value + Z) on low..high, for each value: shape values.shape + (high - low + 1,).

    Clamping is post-processing: it keeps the law exact and finite, and cannot raise a privacy loss.
    """
    low, high = window
    grid = np.arange(low, high + 1)
    shift = grid - np.asarray(values)[..., None]
    if kind == "laplace":
        law = laplace_mass(shift, scale=scale)
        law[..., -1] = laplace_tail(shift[..., -1], scale=scale)
        law[..., 0] = laplace_tail(-shift[..., 0], scale=scale)
        return law
    reach, masses = gaussian_masses(scale)
    inside = np.clip(shift, -reach, reach) + reach
    law = np.where(np.abs(shift) <= reach, masses[inside], 0.0)
    upper = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])  # upper[i] = Pr[Z >= i - reach]
    law[..., -1] = upper[np.clip(shift[..., -1] + reach, 0, 2 * reach + 1)]
    law[..., 0] = upper[np.clip(-shift[..., 0] + reach, 0, 2 * reach + 1)]  # by symmetry
    return law


def exponential_law(scores: NDArray[Any], allowed: NDArray[np.bool_], *, rate: float, rule: str) -> Floats:
    """Return the chance of each candidate, shape (..., K), at weights e^(rate * score); zero where not allowed.

    ``exponential``: McSherry and Talwar (2007). ``permute_and_flip``: McKenna and Sheldon (2020); with
    q = e^(rate (score - best)) its chance of r is q_r * integral over t in [0, 1] of prod over j != r of (1 - q_j t),
    a polynomial that Gauss-Legendre integrates exactly with K/2 nodes.
    """
    best = np.where(allowed, scores, -np.inf).max(axis=-1, keepdims=True)
    q = np.where(allowed, np.exp(rate * (np.where(allowed, scores, best) - best)), 0.0)
    if rule == "exponential":
        law: Floats = q / q.sum(axis=-1, keepdims=True)
        return law
    nodes, weights = np.polynomial.legendre.leggauss(q.shape[-1] // 2 + 1)
    others = np.ones((*q.shape, len(nodes)))
    for j in range(q.shape[-1]):
        factor = 1 - q[..., j, None] * (nodes + 1) / 2
        for r in range(q.shape[-1]):
            if r != j:
                others[..., r, :] *= factor
    flipped: Floats = q * (others @ weights) / 2
    return flipped


def compositions(total: int, parts: int) -> Integers:
    """Return every way to share ``total`` out among ``parts`` places, shape (ways, parts)."""
    dividers = np.array(list(combinations(range(total + parts - 1), parts - 1)), dtype=np.int64)
    edges = np.pad(dividers, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + parts - 1)))
    return np.diff(edges, axis=1) - 1
