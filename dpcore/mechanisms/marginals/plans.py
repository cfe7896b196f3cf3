"""Plans of releases: a polynomial or the marginals themselves, and the noise; chosen by predicted error.

The predicted error of an answer is gamma + kappa * deviation, with kappa = sqrt(2 ln(2 * queries/beta)): what
sub-Gaussian noise stays under on all queries at once, but for chance beta. It depends on public things only, so
choosing is free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import numpy as np

from dpcore.core import Floats, ParameterError, Problem
from dpcore.mechanisms.marginals.noise import LevelNoise, gaussian_levels, laplace_levels, least_sigma, moved
from dpcore.mechanisms.marginals.polynomials import BASES, Polynomial, chebyshev, minimax, noise_aware
from dpcore.queries.at_least import AtLeast

MAX_COUNTS = 1 << 20
"""Counts of one level that a release may hold."""
BETA = 0.05
"""Failure chance for which plans are compared."""


@dataclass(frozen=True, kw_only=True)
class MarginalsPlan:
    """Public plan of a release, with the noise and bias of an answer.

    Attributes:
        polynomial: what stands in for the target; None: the marginals themselves are released.
        noise: one for each level released.
        parts: released counts that one answer adds up, level by level.
        gamma: largest bias of an answer, as a share of rows.
        deviation: standard deviation of an answer's noise, as a share of rows.
        kappa: deviations counted against the plan.
    """

    polynomial: Polynomial | None
    noise: tuple[LevelNoise, ...]
    parts: tuple[int, ...]
    gamma: float
    deviation: float
    kappa: float

    @property
    def weights(self) -> tuple[float, ...]:
        """Factor of each released count of a level in an answer, without its sign."""
        if self.polynomial is None:
            return (1.0,)
        return tuple(abs(self.polynomial.coefficients[level]) for level in self.polynomial.levels)

    @property
    def predicted(self) -> float:
        """Predicted error: gamma + kappa * deviation."""
        return self.gamma + self.kappa * self.deviation

    @property
    def words(self) -> str:
        """The plan in words."""
        if self.polynomial is None:
            return "the answers themselves, each with its own noise"
        counted = [str(level) for level in self.polynomial.levels]
        if not counted:
            return "one constant for all queries, because the noise would be larger than the information"
        some = " and ".join([", ".join(counted[:-1]), counted[-1]]) if len(counted) > 1 else counted[0]
        which = "all" if self.polynomial.basis == "ones" else "none"
        return (
            f"a polynomial of degree {self.polynomial.degree}, computed from noisy counts of rows that "
            f"have {which} of {some} attribute{'s' if counted != ['1'] else ''}"
        )


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Budget of a plan: epsilon, with delta above 0 for Gaussian noise."""

    epsilon: float
    delta: float = 0.0

    @property
    def power(self) -> float:
        """Exponent of the quasi-norm by which costs of levels add up."""
        return 1.0 if self.delta else 2 / 3


def kappa(queries: AtLeast, *, beta: float = BETA) -> float:
    """Return the deviations within which sub-Gaussian noise stays on every query of the class at once."""
    return math.sqrt(2 * math.log(2 * queries.count / beta))


def max_degree(queries: AtLeast, degree: int) -> int:
    """Return the highest level of at most this degree whose counts are few enough to hold."""
    level = min(degree, queries.width)
    while level > 1 and counts_at(queries, level) > MAX_COUNTS:
        level -= 1
    return level


def counts_at(queries: AtLeast, level: int) -> int:
    """Return the counts of a level: one for each set, with all signs where attributes may be negated."""
    return comb(queries.domain.attributes, level) << (level if queries.signed else 0)


def _moves(problem: Problem, level: int) -> int:
    queries = _at_least_queries(problem)
    return moved(
        attributes=queries.domain.attributes, level=level, signed=queries.signed, neighbours=problem.neighbours
    )


def _at_least_queries(problem: Problem) -> AtLeast:
    if not isinstance(problem.queries, AtLeast):
        raise ParameterError("Polynomials answer at-least queries on a cube.")
    return problem.queries


def costs(problem: Problem, budget: Budget) -> Floats:
    """Standard deviation of an answer, as a share of rows, for a coefficient of 1 on each level alone: (k + 1,)."""
    width = _at_least_queries(problem).width
    uses = np.sqrt([comb(width, level) for level in range(1, width + 1)])
    moves = np.array([_moves(problem, level) for level in range(1, width + 1)], dtype=np.float64)
    if budget.delta:
        each = least_sigma(epsilon=budget.epsilon, delta=budget.delta) * np.sqrt(moves)
    else:
        each = math.sqrt(2) / budget.epsilon * moves
    return np.concatenate([[0.0], each * uses / problem.n])


def _noisy(problem: Problem, budget: Budget, *, levels: tuple[int, ...], weights: list[float]) -> list[LevelNoise]:
    moves = [_moves(problem, level) for level in levels]
    if not levels:
        return []
    if budget.delta:
        return gaussian_levels(
            levels=levels,
            moves=moves,
            counts=[counts_at(_at_least_queries(problem), level) for level in levels],
            weights=np.array(weights),
            epsilon=budget.epsilon,
            delta=budget.delta,
        )
    return laplace_levels(levels=levels, moves=moves, weights=np.array(weights), epsilon=budget.epsilon)


def polynomial_plan(problem: Problem, budget: Budget, polynomial: Polynomial) -> MarginalsPlan:
    """Return the plan that releases the counts of this polynomial, with the best noise for it."""
    queries = _at_least_queries(problem)
    parts = tuple(comb(queries.width, level) for level in polynomial.levels)
    squares = [polynomial.coefficients[level] ** 2 for level in polynomial.levels]
    weights = [square * part for square, part in zip(squares, parts, strict=True)]
    noise = _noisy(problem, budget, levels=polynomial.levels, weights=weights)
    variance = sum(weight * each.variance for weight, each in zip(weights, noise, strict=True))
    return MarginalsPlan(
        polynomial=polynomial,
        noise=tuple(noise),
        parts=parts,
        gamma=polynomial.gamma,
        deviation=math.sqrt(variance) / problem.n,
        kappa=kappa(queries),
    )


def direct_plan(problem: Problem, budget: Budget) -> MarginalsPlan:
    """Release every k-way marginal itself.

    Without negation: the answer of each query, of which a row moves at most C(d, k). With negation: the table of 2^k
    cells of each set, of which a row is in one; an answer adds up the cells it covers, or those it does not.
    """
    queries = _at_least_queries(problem)
    covered = sum(comb(queries.width, s) for s in range(queries.least, queries.width + 1))
    part = min(covered, 2**queries.width - covered) if queries.signed else 1
    noise = _noisy(problem, budget, levels=(queries.width,), weights=[1.0])
    return MarginalsPlan(
        polynomial=None,
        noise=tuple(noise),
        parts=(part,),
        gamma=0.0,
        deviation=math.sqrt(part * noise[0].variance) / problem.n,
        kappa=kappa(queries),
    )


def direct_fits(queries: AtLeast) -> bool:
    """Return whether all k-way marginals are few enough to hold."""
    return counts_at(queries, queries.width) <= MAX_COUNTS


def levels_counted(queries: AtLeast, *, method: str, degree: int) -> int:
    """Return the largest sets whose rows must be counted for a method, whatever epsilon will be."""
    if method == "direct" and not direct_fits(queries):
        raise ParameterError(
            f"There are {counts_at(queries, queries.width):,} counts in all {queries.width}-way marginals of "
            f"{queries.domain.attributes} attributes: more than the {MAX_COUNTS:,} a release may hold."
        )
    direct = method == "direct" or (method == "best" and direct_fits(queries))
    return queries.width if direct else max_degree(queries, degree)


METHODS = ("best", "noise-aware", "minimax", "chebyshev", "chebyshev-rescaled", "direct")


def plan_for(
    problem: Problem, budget: Budget, *, method: str = "best", degree: int = 3, basis: str = "best"
) -> MarginalsPlan:
    """Return the plan of a method; where something is left open, the one with the least predicted error.

    Args:
        problem: at-least queries on a cube.
        budget: what may be spent.
        method: "best" compares the noise-aware polynomial with direct release, where that can be held.
        degree: of the polynomial; for noise-aware the most it may be.
        basis: "ones", "zeros" or "best".
    """
    queries = _at_least_queries(problem).numbered()
    numbered = replace(problem, domain=queries.domain, queries=queries)
    return numbered_plan(numbered, budget, method=method, degree=degree, basis=basis)


@lru_cache(maxsize=512)
def numbered_plan(problem: Problem, budget: Budget, *, method: str, degree: int, basis: str) -> MarginalsPlan:
    """The same for attributes without names, kept."""
    queries = _at_least_queries(problem)
    if method not in METHODS:
        raise ParameterError(f"The method must be one of {', '.join(METHODS)}.")
    if method == "direct":
        return direct_plan(problem, budget)
    level = max_degree(queries, degree)
    width, least = queries.width, queries.least
    # First, because for any-of and all-of a polynomial may be the marginals themselves in other words.
    plans = [direct_plan(problem, budget)] if method == "best" and direct_fits(queries) else []
    for side in BASES if basis == "best" else (basis,):
        if method == "minimax":
            polynomial = minimax(width=width, least=least, degree=level, basis=side)
        elif method in ("chebyshev", "chebyshev-rescaled"):
            scaled = method == "chebyshev-rescaled"
            polynomial = chebyshev(width=width, least=least, degree=level, basis=side, scaled=scaled)
        else:
            weighed = kappa(queries) * costs(problem, budget)
            polynomial, _ = noise_aware(
                width=width, least=least, basis=side, degree=level, costs=weighed, power=budget.power
            )
        plans.append(polynomial_plan(problem, budget, polynomial))
    return min(plans, key=lambda plan: round(plan.predicted, 12))
