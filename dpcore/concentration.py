"""How far sums of independent symmetric noise stray: the promises of mechanisms that add noise to every cell."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpcore.core import Floats, ParameterError, Queries
from dpcore.queries import Cells, Intervals, Thresholds
from dpcore.randomness.laws import gaussian_masses, laplace_quantile


def largest_prefix(*, terms: int, beta: float, log_moment: Callable[[Floats], Floats], rates: Floats) -> float:
    """A level that max over prefixes |S_b| of ``terms`` independent symmetric terms exceeds with chance at most beta.

    e^(rate * S) is a submartingale, so Doob's maximal inequality gives, on either side and for every rate,
    Pr[max S_b >= t] <= M(rate)^terms * e^(-rate * t); the best rate of the grid is taken (any rate is valid).
    """
    levels = (terms * log_moment(rates) + math.log(2 / beta)) / rates
    return float(levels.min())


def laplace_log_moment(scale: float) -> Callable[[Floats], Floats]:
    """Logarithm of E[e^(rate Z)] for discrete Laplace noise, for rates below 1/scale."""
    p = math.exp(-1 / scale)

    def log_moment(rates: Floats) -> Floats:
        value: Floats = 2 * np.log1p(-p) - np.log1p(-p * np.exp(rates)) - np.log1p(-p * np.exp(-rates))
        return value

    return log_moment


def worst_error_laplace(queries: Queries, *, scale: float, beta: float) -> float:
    """Rows by which independent discrete Laplace noise in every cell moves the worst query, up to chance beta."""
    if isinstance(queries, Cells):
        return float(laplace_quantile(beta / queries.count, scale=scale) - 1)
    rates = np.logspace(-6, 0, 600, endpoint=False) / scale
    prefix = largest_prefix(terms=queries.domain.ordered, beta=beta, log_moment=laplace_log_moment(scale), rates=rates)
    return _by_class(queries, prefix)


def worst_error_gaussian(queries: Queries, *, sigma: float, beta: float) -> float:
    """The same for discrete Gaussian noise, which is sub-Gaussian (Canonne, Kamath and Steinke 2020, Lemma 20)."""
    if isinstance(queries, Cells):
        reach, masses = gaussian_masses(sigma)
        upper = 2 * np.cumsum(masses[::-1])[: reach + 1][::-1]  # upper[j] = Pr[|Z| >= j], j >= 1
        return float(np.argmax(upper <= beta / queries.count) - 1) if (upper <= beta / queries.count).any() else reach
    prefix = sigma * math.sqrt(2 * queries.domain.ordered * math.log(2 / beta))
    return _by_class(queries, prefix)


def _by_class(queries: Queries, prefix: float) -> float:
    """An interval is a difference of two prefixes, so it strays at most twice as far as the worst prefix."""
    if isinstance(queries, Thresholds):
        return prefix
    if isinstance(queries, Intervals):
        return 2 * prefix
    raise ParameterError(f"No bound is known here for {queries.title}.")
