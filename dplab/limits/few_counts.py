"""Polynomials that answer queries about many attributes from few counts: the degree needed, and when they help.

Thaler, Ullman and Vadhan (2012), Fact 4.2, Theorem 1.1, Definition 4.1. Only public numbers are used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, ParameterError, Problem
from dpcore.data.product import is_yes_no
from dpcore.data.sources import generated_attributes
from dpcore.mechanisms.marginals.plans import Budget, direct_plan, polynomial_plan
from dpcore.mechanisms.marginals.polynomials import Polynomial, chebyshev, minimax
from dpcore.queries.at_least import AtLeast

NOTHING = 0.5
"""Worst error of answering one half to every query."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Degrees:
    """Polynomials for any-of-k, by degree t = 1 to k.

    Attributes:
        width: k.
        printed: largest distance of the paper's Chebyshev polynomial from the step, (k,).
        least: the same for the best polynomial of that degree, (k,).
        counts: number of marginals of 1 to t attributes among all d, (k,).
        queries: number of queries about k attributes, C(d, k).
    """

    width: int
    printed: Floats
    least: Floats
    counts: tuple[int, ...]
    queries: int

    def needed(self, bias: float, *, printed: bool = False) -> int:
        """Return the smallest degree with at most this bias; 0 where none has it, as can happen to the printed one."""
        near = (self.printed if printed else self.least) <= bias + 1e-12
        return int(np.argmax(near)) + 1 if near.any() else 0


def degrees(*, attributes: int, width: int) -> Degrees:
    """Compute the degrees of polynomials for any-of-``width`` queries on d attributes.

    Raises:
        ParameterError: the queries are wider than the data.
    """
    if not 2 <= width <= attributes:
        raise ParameterError(f"Queries must be about 2 to {attributes} attributes, not {width}.")
    levels = range(1, width + 1)
    least = np.array([best_polynomial(width=width, degree=t).gamma for t in levels])
    printed = [chebyshev(width=width, least=1, degree=t, basis="ones", scaled=False).gamma for t in levels]
    return Degrees(
        width=width,
        printed=np.array(printed),
        least=np.round(least, 12),
        counts=tuple(sum(math.comb(attributes, level) for level in range(1, t + 1)) for t in levels),
        queries=math.comb(attributes, width),
    )


def best_polynomial(*, width: int, degree: int) -> Polynomial:
    """Return the polynomial nearest to any-of-k, by a linear program."""
    return minimax(width=width, least=1, degree=degree, basis="ones")


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictedErrors:
    """Predicted worst errors over all queries at once, against the number of rows (K,); NOTHING at most."""

    rows: Integers
    polynomial: Floats
    direct: Floats

    def gains(self) -> Integers:
        """Return the numbers of rows at which a polynomial beats both direct release and the answer one half."""
        return self.rows[(self.polynomial < self.direct) & (self.polynomial < NOTHING)]


def predicted_errors(*, attributes: int, width: int, epsilon: float, delta: float, rows: Integers) -> PredictedErrors:
    """Compute the errors of the best degree at each number of rows, exact degree included, and of direct release.

    One row is replaced; the noise is Gaussian if δ > 0.
    """
    domain = generated_attributes(n=1000, attributes=attributes).domain
    assert is_yes_no(domain)
    problem = Problem(domain=domain, queries=AtLeast(domain=domain, width=width, least=1), n=1)
    budget = Budget(epsilon=epsilon, delta=delta)
    direct = direct_plan(problem, budget)
    plans = [polynomial_plan(problem, budget, best_polynomial(width=width, degree=t)) for t in range(1, width + 1)]
    errors = np.array([plan.gamma + plan.kappa * plan.deviation / rows for plan in plans])
    return PredictedErrors(
        rows=rows,
        polynomial=np.minimum(errors.min(axis=0), NOTHING),
        direct=np.minimum(direct.kappa * direct.deviation / rows, NOTHING),
    )
