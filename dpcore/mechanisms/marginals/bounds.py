"""Answers between bounds: polynomials above the target bound an answer from above, those below it from below.

Knowing a query's noisy sums of small marginals, its answer lies below p + noise for each polynomial p >= target and
above q - noise for each q <= target that uses released levels only; the midpoint of the tightest pair is off by at most
half their distance. The released polynomial plus and minus gamma is one such pair, so the bound is never much worse
than gamma and the noise, and where the data leave less room (say, few rows have two of the attributes) it is far
better. At degree 2 these are the inequalities of Dawson and Sankoff (1967) and Kwerel (1975). Post-processing: free.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from dpcore.core import Floats
from dpcore.mechanisms.marginals.plans import MarginalsPlan
from dpcore.mechanisms.marginals.polynomials import Polynomial, target
from dpcore.mechanisms.marginals.tails import allowances
from dpcore.queries.at_least import AtLeast

TOLERANCE = 1e-9


@lru_cache(maxsize=256)
def corners(polynomial: Polynomial) -> tuple[Floats, Floats]:
    """Coefficients (constant first, then each released level) of the extreme polynomials above and below the target.

    Each touches the target at as many places as it has coefficients. The released polynomial, moved by gamma, is the
    first of both.

    Returns:
        Above (V, levels + 1) and below (W, levels + 1), read-only.
    """
    levels = polynomial.levels
    own = np.array([polynomial.coefficients[level] for level in (0, *levels)])
    shift = np.eye(1, len(own))[0] * polynomial.gamma
    above, below = _touching(polynomial.width, polynomial.least, polynomial.basis, levels)
    return np.vstack([own + shift, above]), np.vstack([own - shift, below])


@lru_cache(maxsize=128)
def _touching(width: int, least: int, basis: str, levels: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Polynomials of these levels that touch the target at as many places as they can, and never cross it."""
    counted = range(width + 1) if basis == "ones" else range(width, -1, -1)
    table = np.array([[comb(s, level) for level in (0, *levels)] for s in counted], dtype=np.float64)
    wanted = target(width=width, least=least)
    chosen = np.array(list(combinations(range(width + 1), len(levels) + 1)))
    places = table[chosen]
    regular = np.abs(np.linalg.det(places)) > TOLERANCE
    solutions = np.linalg.solve(places[regular], wanted[chosen][regular][..., None])[..., 0]
    beyond = solutions @ table.T - wanted
    return solutions[(beyond >= -TOLERANCE).all(axis=1)], solutions[(beyond <= TOLERANCE).all(axis=1)]


def between(sums: Floats, plan: MarginalsPlan, queries: AtLeast, *, n: int, beta: float) -> tuple[Floats, Floats]:
    """Lower and upper bounds, (T, Q) each, that hold for all answers at once except with chance beta; within [0, 1].

    Args:
        sums: released level by level, each query's sum of noisy counts, (levels, T, Q).
        n: public number of rows.
        plan: a polynomial's.
        queries: the class.
        beta: failure probability, half of it for either side.
    """
    assert plan.polynomial is not None
    flat = sums.reshape(len(plan.noise), -1)
    high, low = np.full(flat.shape[1], 1.0), np.zeros(flat.shape[1])
    (above, below), (over, under) = corners(plan.polynomial), _allowed(plan, queries.numbered(), beta)
    for coefficients, allowed in zip(above, over, strict=True):
        np.minimum(high, coefficients[0] + (coefficients[1:] @ flat + allowed) / n, out=high)
    for coefficients, allowed in zip(below, under, strict=True):
        np.maximum(low, coefficients[0] + (coefficients[1:] @ flat - allowed) / n, out=low)
    return low.reshape(sums.shape[1:]), high.reshape(sums.shape[1:])


@lru_cache(maxsize=64)
def _allowed(plan: MarginalsPlan, queries: AtLeast, beta: float) -> tuple[Floats, Floats]:
    """Return the noise allowances of each combination, above and below, in rows; cached, for numbered queries."""
    assert plan.polynomial is not None
    above, below = corners(plan.polynomial)
    return (
        allowances(above[:, 1:], plan, queries, beta=beta / 2),
        allowances(below[:, 1:], plan, queries, beta=beta / 2),
    )
