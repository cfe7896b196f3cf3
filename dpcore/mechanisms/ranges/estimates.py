"""Least-squares estimates from what a strategy measures, and their mean error over a class of queries.

Notation as in ``windows.py``: X = (D^2 + A'A)/S^2; M = X^-1, less its part along the ones where n is public.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.mechanisms.ranges.mean_error import mean_square
from dpcore.mechanisms.ranges.strategy import Strategy, solving


class Solver(Protocol):
    """Protocol of strategies' estimates: counts from measured values."""

    def counts(self, measured: Floats, *, n: int) -> Floats:
        """Cells' estimated rows (T, size) from measured values (T, m), in rows."""


class Estimate:
    """Least squares for one strategy, with the arrays that every release of it needs.

    Args:
        plan: the whole-number weights.
        spare: cells that are measured alone: the reserved one, if the domain has it.
        known: whether the number of rows is public.
    """

    def __init__(self, plan: Strategy, *, spare: int, known: bool) -> None:
        self.plan = plan
        self.own = np.concatenate([plan.own, np.full(spare, plan.steps)]) / plan.steps
        self.windows = plan.windows / plan.steps  # on all cells but the spare
        self.cells = len(plan.own)
        light = self.windows / self.own[: self.cells]
        self.within = solving(light @ light.T)
        self.known = known
        self.ones = self.solved(np.ones((1, len(self.own))))[0]  # X^-1 1

    def solved(self, values: Floats) -> Floats:
        """Return X^-1 times each row of values (T, size)."""
        solution: Floats = values / self.own**2
        inner = self.within(self.windows @ solution[:, : self.cells].T)
        solution[:, : self.cells] -= (self.windows.T @ inner).T / self.own[: self.cells] ** 2
        return solution

    def measured(self, counts: Integers) -> Integers:
        """Return the measured values of counts (T, size), the spare cells last: (T, size + K), in steps."""
        own = np.concatenate([self.plan.own, np.full(counts.shape[1] - self.cells, self.plan.steps)])
        return np.concatenate([own * counts, (self.plan.windows @ counts[:, : self.cells].T).T], axis=1)

    def shares_of_ones(self) -> Floats:
        """Coefficients of the measured values' noise in the estimate of all cells' sum, if that is not known."""
        return np.concatenate([self.ones * self.own, self.windows @ self.ones[: self.cells]])

    def counts(self, measured: Floats, *, n: int) -> Floats:
        """Return the cells' estimated rows (T, size) from the measured values (T, size + K), in rows."""
        size = len(self.own)
        gathered = measured[:, :size] * self.own
        gathered[:, : self.cells] += (self.windows.T @ measured[:, size:].T).T
        estimates = self.solved(gathered)
        if self.known:
            estimates += self.ones * ((n - estimates.sum(axis=1, keepdims=True)) / self.ones.sum())
        return estimates

    def turned(self, queries: Floats) -> Floats:
        """Return M times each row of queries (Q, size)."""
        turned = self.solved(queries)
        if self.known:
            turned -= self.ones * (turned.sum(axis=1, keepdims=True) / self.ones.sum())
        return turned

    def shares(self, queries: Floats) -> Floats:
        """Return the coefficients of the measured values' noise in estimates of queries (Q, size): (Q, size + K)."""
        return self.shares_of(self.turned(queries))

    def shares_of(self, turned: Floats) -> Floats:
        """The same of M times each query, (Q, size)."""
        return np.concatenate([turned * self.own, (self.windows @ turned[:, : self.cells].T).T], axis=1)


@lru_cache(maxsize=64)
def estimate(plan: Strategy, *, spare: int, known: bool) -> Estimate:
    """Return the strategy's estimate; kept: sizes alone make a strategy."""
    return Estimate(plan, spare=spare, known=known)


@lru_cache(maxsize=64)
def mean_squares(plan: Strategy, *, spare: int, prefixes: bool, known: bool) -> float:
    """Mean over all queries of the sum of squared shares: their mean variance where the noise has variance 1."""
    solver, cells = estimate(plan, spare=spare, known=known), len(plan.own)
    inverse = solver.turned(np.eye(cells, len(solver.own)))[:, :cells]
    return float(np.trace(mean_square(inverse, prefixes=prefixes)))
