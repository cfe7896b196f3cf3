"""How few counts answer questions about many attributes: the degree a polynomial needs, and when it is worth it.

Thaler, Ullman and Vadhan (2012), Fact 4.2, Theorem 1.1, Definition 4.1. Public numbers alone; nothing is drawn.
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
"""The worst error of saying one half to every question."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Degrees:
    """Polynomials for any-of-k, by degree t = 1 to k.

    Attributes:
        width: k.
        printed: how far the paper's Chebyshev polynomial is from the step at most, (k,).
        least: how far the best polynomial of that degree is, (k,).
        counts: marginals of 1 to t attributes among all d, (k,).
        queries: questions about k attributes, C(d, k).
    """

    width: int
    printed: Floats
    least: Floats
    counts: tuple[int, ...]
    queries: int

    def needed(self, bias: float, *, printed: bool = False) -> int:
        """The least degree within this bias; 0 where none is, as it happens to the printed one."""
        near = (self.printed if printed else self.least) <= bias + 1e-12
        return int(np.argmax(near)) + 1 if near.any() else 0


def degrees(*, attributes: int, width: int) -> Degrees:
    """For questions about any of so many of d attributes.

    Raises:
        ParameterError: for questions wider than the data.
    """
    if not 2 <= width <= attributes:
        raise ParameterError(f"Questions are about 2 to {attributes} attributes, not {width}.")
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
    """The one nearest to any-of-k, by a linear program."""
    return minimax(width=width, least=1, degree=degree, basis="ones")


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictedErrors:
    """Predicted worst errors over all questions at once, against the number of rows (K,); NOTHING at most."""

    rows: Integers
    polynomial: Floats
    direct: Floats

    def gains(self) -> Integers:
        """Numbers of rows at which a polynomial is better than both direct release and saying one half."""
        return self.rows[(self.polynomial < self.direct) & (self.polynomial < NOTHING)]


def predicted_errors(*, attributes: int, width: int, epsilon: float, delta: float, rows: Integers) -> PredictedErrors:
    """The best degree at each number of rows, the exact one among them, and noise for each answer.

    Rows are replaced, and noise is Gaussian if δ > 0.
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
