"""Polynomials in the number of set attributes that approximate "at least r of these k".

p(s) is written in binomials, because a row's C(s, i) counts the sets of i of the query's attributes that the row has
all of: averaged over rows, p needs nothing but the marginals of sets of up to deg p attributes (Thaler, Ullman and
Vadhan 2012, section 4). From the other end, C(k - s, i) counts the sets of which a row has none.

Notation: the paper's k = width, t = degree, gamma = γ, the largest |p(s) - target(s)| over s = 0 .. k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev as chebyshev_series

from dpcore.core import Floats, ParameterError

BASES = ("ones", "zeros")
NEGLIGIBLE = 1e-9
"""Coefficients below this share of the largest possible are rounding of the linear program."""
ROUNDS = 6
NEAR = 1.3
"""Starts this much worse than the best one are not improved: each step takes a linear program."""


@dataclass(frozen=True, kw_only=True)
class Polynomial:
    """A polynomial on 0 .. width, in the binomials of one basis.

    Attributes:
        width: k, the attributes of a query.
        least: r: the target is 1 where s >= r.
        basis: "ones": coefficients of C(s, i); "zeros": of C(k - s, i).
        coefficients: of level 0 .. k.
        values: p(0) .. p(k).
    """

    width: int
    least: int
    basis: str
    coefficients: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def gamma(self) -> float:
        """Largest distance from the target: what noise-free answers may be off by."""
        return float(np.abs(np.array(self.values) - target(width=self.width, least=self.least)).max())

    @property
    def degree(self) -> int:
        """Highest level with a coefficient."""
        return max((level for level, a in enumerate(self.coefficients) if a), default=0)

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels that must be released."""
        return tuple(level for level, a in enumerate(self.coefficients) if level and a)

    def at(self, places: Floats) -> Floats:
        """Return its values anywhere between 0 and k, also between whole numbers: Newton's forward differences."""
        differences, curve, binomial = np.array(self.values), np.zeros(len(places)), np.ones(len(places))
        for level in range(self.width + 1):
            curve += differences[0] * binomial
            differences = np.diff(differences)
            binomial *= (places - level) / (level + 1)
        return curve

    def narrowed(self, width: int) -> Floats:
        """Return the coefficients for a query of fewer attributes (the others never set): level 0 .. width.

        In zeros, C(z + k - w, j) is the sum of C(z, i) C(k - w, j - i) over i (Vandermonde).
        """
        if not 1 <= width <= self.width:
            raise ParameterError(f"A query has between 1 and {self.width} attributes, got {width}.")
        if self.basis == "ones":
            return np.array(self.coefficients[: width + 1])
        more = self.width - width
        return np.array(
            [
                sum(a * math.comb(more, j - i) for j, a in enumerate(self.coefficients) if i <= j <= i + more)
                for i in range(width + 1)
            ]
        )


def target(*, width: int, least: int) -> Floats:
    """1 where at least ``least`` of ``width`` attributes are set: shape (width + 1,)."""
    if not 1 <= least <= width:
        raise ParameterError(f"At least r of {width} attributes needs r between 1 and {width}, got {least}.")
    return (np.arange(width + 1) >= least).astype(np.float64)


@lru_cache(maxsize=64)
def _binomials(width: int, basis: str) -> Floats:
    """C(s, i), or C(k - s, i) for zeros: rows s, columns i."""
    if basis not in BASES:
        raise ParameterError(f"The basis must be one of {', '.join(BASES)}.")
    counted = range(width + 1) if basis == "ones" else range(width, -1, -1)
    return np.array([[math.comb(s, i) for i in range(width + 1)] for s in counted], dtype=np.float64)


def _cleaned(coefficients: Floats, *, width: int, least: int, basis: str) -> Polynomial:
    """Return the polynomial with coefficients that are rounding errors set to 0."""
    largest = float(np.abs(coefficients).max())
    significant = np.where(np.abs(coefficients) > NEGLIGIBLE * max(1.0, largest), coefficients, 0.0)
    return Polynomial(
        width=width,
        least=least,
        basis=basis,
        coefficients=tuple(significant.tolist()),
        values=tuple((_binomials(width, basis) @ significant).tolist()),
    )


def through(values: Floats, *, least: int, basis: str) -> Polynomial:
    """Return the polynomial with these values on 0 .. k; its coefficients are forward differences at either end."""
    width = len(values) - 1
    coefficients = np.array(values if basis == "ones" else values[::-1], dtype=np.float64)
    for level in range(1, width + 1):
        coefficients[level:] = np.diff(coefficients[level - 1 :])
    return _cleaned(coefficients, width=width, least=least, basis=basis)


def chebyshev(*, width: int, least: int, degree: int, basis: str, scaled: bool) -> Polynomial:
    """Return the paper's polynomial for any-of, and its mirror image for all-of.

    p(s) = 1 - T((k+1-2s)/(k-1)) / T((k+1)/(k-1)), T of the given degree: 0 at s = 0 and within
    gamma = 1/T((k+1)/(k-1)) of 1 elsewhere. ``scaled`` divides the T term by 1 + gamma, which is not the paper's: gamma
    becomes gamma/(1 + gamma), and p(0) that instead of 0.
    """
    if least not in (1, width):
        raise ParameterError("Chebyshev's closed form is for any-of and all-of: choose another polynomial.")
    if not 1 <= degree <= width:
        raise ParameterError(f"The degree must lie between 1 and {width}, got {degree}.")
    if width == 1:
        return through(target(width=1, least=1), least=1, basis=basis)
    series = np.zeros(degree + 1)
    series[degree] = 1.0
    s = np.arange(width + 1) if least == 1 else np.arange(width, -1, -1)
    ends = float(chebyshev_series.chebval((width + 1) / (width - 1), series))
    bent = chebyshev_series.chebval((width + 1 - 2 * s) / (width - 1), series) / (ends + 1 if scaled else ends)
    values: Floats = np.asarray(1 - bent if least == 1 else bent, dtype=np.float64)
    return through(values, least=least, basis=basis)


def nearest_combination(table: Floats, wanted: Floats, *, costs: Floats) -> Floats:
    """Minimise gamma + sum of costs |a| over (a, gamma) with |table a - wanted| <= gamma: coefficients a.

    Args:
        table: a column for each coefficient.
        wanted: what the combination of columns is to be near.
        costs: of each coefficient.
    """
    from scipy.optimize import linprog

    limit, size = -np.ones((len(table), 1)), table.shape[1]
    solution = linprog(
        np.concatenate([costs, costs, [1.0]]),
        A_ub=np.block([[table, -table, limit], [-table, table, limit]]),
        b_ub=np.concatenate([wanted, -wanted]),
        bounds=(0, None),
    )
    coefficients: Floats = solution.x[:size] - solution.x[size:-1]
    return coefficients


def _program(*, width: int, least: int, basis: str, degree: int, costs: Floats) -> Floats:
    """Return the coefficients (k + 1,) of the polynomial of this degree with the smallest gamma and costs."""
    levels, wanted = degree + 1, target(width=width, least=least)
    coefficients = np.zeros(width + 1)
    table = _binomials(width, basis)[:, :levels]
    coefficients[:levels] = nearest_combination(table, wanted, costs=costs[:levels])
    return coefficients


@lru_cache(maxsize=1024)
def minimax(*, width: int, least: int, degree: int, basis: str) -> Polynomial:
    """Return the polynomial of this degree with the smallest gamma."""
    if not 0 <= degree <= width:
        raise ParameterError(f"The degree must lie between 0 and {width}, got {degree}.")
    coefficients = _program(width=width, least=least, basis=basis, degree=degree, costs=np.zeros(width + 1))
    return _cleaned(coefficients, width=width, least=least, basis=basis)


def spread(coefficients: Any, costs: Floats, *, power: float) -> float:
    """Return the noise of an answer: the quasi-norm (sum of (cost |a|)^power)^(1/power) over the levels released."""
    return float((np.abs(costs * np.asarray(coefficients)) ** power).sum() ** (1 / power))


def noise_aware(
    *, width: int, least: int, basis: str, degree: int, costs: Floats, power: float
) -> tuple[Polynomial, float]:
    """Return a polynomial of at most this degree with small gamma + spread, and that sum.

    Args:
        width: k.
        least: r.
        basis: see Polynomial.
        degree: highest level that may be released.
        costs: what a unit of each level's coefficient costs, (k + 1,), level 0 free.
        power: 1 for Gaussian noise: one linear program, exact. 2/3 for Laplace noise: the spread is concave in |a|, so
            it is replaced by its tangent until nothing improves, from a start of each degree.
    """

    def scored(coefficients: Floats) -> tuple[Polynomial, float]:
        polynomial = _cleaned(coefficients, width=width, least=least, basis=basis)
        return polynomial, polynomial.gamma + spread(polynomial.coefficients, costs, power=power)

    def solved(top: int, weights: Floats) -> tuple[Polynomial, float]:
        return scored(_program(width=width, least=least, basis=basis, degree=top, costs=weights))

    if power == 1:
        return solved(min(degree, width), costs)
    constant = scored(np.append(0.5, np.zeros(width)))
    starts = [(top, solved(top, costs)) for top in range(1, min(degree, width) + 1)]
    limit = NEAR * min(constant[1], *(start[1] for _, start in starts))
    best = constant
    for top, start in starts:
        current, rounds = start, 0
        while rounds < ROUNDS and current[1] <= limit:
            following = solved(top, _tangent(current[0].coefficients, costs, power=power))
            if following[1] >= current[1] - 1e-6:
                break
            current, rounds = following, rounds + 1
        best = min(best, current, key=lambda pair: pair[1])
    return best


def _tangent(coefficients: tuple[float, ...], costs: Floats, *, power: float) -> Floats:
    """Return the slope of the spread in |a|; where a is 0 the slope is infinite: the level stays out."""
    paid = np.abs(costs * np.array(coefficients))
    total = (paid**power).sum() ** (1 / power - 1)
    with np.errstate(divide="ignore"):
        slope = np.where(paid > 0, total * costs * np.where(paid > 0, paid, 1.0) ** (power - 1), 1e6)
    slope[0] = 0.0
    return slope
