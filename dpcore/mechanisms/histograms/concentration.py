"""Tail bounds for sums of independent symmetric noise: the guaranteed errors of noise on every cell."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpcore.core import Floats, ParameterError, Queries
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dpcore.randomness.laws import gaussian_masses, laplace_quantile


def largest_prefix(*, terms: int, beta: float, log_moment: Callable[[Floats], Floats], rates: Floats) -> float:
    """A level that max over prefixes |S_b| of ``terms`` independent symmetric terms exceeds with chance at most beta.

    e^(rate * S) is a submartingale, so Doob's maximal inequality gives, on either side and for every rate,
    Pr[max S_b >= t] <= M(rate)^terms * e^(-rate * t); the best rate of the grid is taken (any rate is valid).
    """
    levels = (terms * log_moment(rates) + math.log(2 / beta)) / rates
    return float(levels.min())


def largest_rectangle(
    queries: Rectangles, *, beta: float, log_moment: Callable[[Floats], Floats], rates: Floats
) -> float:
    """Return a level that the noise of some rectangle exceeds with chance at most beta, terms as in largest_prefix.

    Union bound with one rate for all: Pr[max |S_R| >= t] <= 2 * (sum over rectangles of M(rate)^cells) * e^(-rate * t).
    """
    rows, columns = queries.domain.shape
    # So many places has a rectangle of this height and width.
    places = np.outer(np.arange(rows, 0, -1), np.arange(columns, 0, -1)).reshape(-1)
    cells, same = np.unique(np.outer(np.arange(rows) + 1, np.arange(columns) + 1), return_inverse=True)
    logs = np.log(np.bincount(same.reshape(-1), weights=places))
    exponents = logs + np.outer(log_moment(rates), cells)
    peaks = exponents.max(axis=1)
    sums = peaks + np.log(np.exp(exponents - peaks[:, None]).sum(axis=1))
    return float(((sums + math.log(2 / beta)) / rates).min())


def log_complement(exponent: Floats | float) -> Floats:
    """Logarithm of 1 - e^exponent, below 0: to all digits also where the exponential rounds to 1, or nearly to 0."""
    middle = -math.log(2)
    near = np.log(-np.expm1(np.maximum(exponent, middle)))
    far = np.log1p(-np.exp(np.minimum(exponent, middle)))
    logs: Floats = np.where(np.asarray(exponent) > middle, near, far)
    return logs


def laplace_log_moment(scale: float) -> Callable[[Floats], Floats]:
    """Return the logarithm of E[e^(rate Z)] for discrete Laplace noise, for rates below 1/scale."""

    def log_moment(rates: Floats) -> Floats:
        return 2 * log_complement(-1 / scale) - log_complement(rates - 1 / scale) - log_complement(-rates - 1 / scale)

    return log_moment


def worst_error_laplace(queries: Queries, *, scale: float, beta: float) -> float:
    """Rows by which independent discrete Laplace noise in every cell moves the worst query, up to chance beta."""
    if isinstance(queries, Cells):
        return float(laplace_quantile(beta / queries.count, scale=scale) - 1)
    rates = np.logspace(-6, 0, 600, endpoint=False) / scale
    if isinstance(queries, LinearQueries):
        # All cumulants of even order are positive, the odd ones 0: log M(w·rate) <= w²·log M(rate) for w <= 1.
        levels = queries.square * laplace_log_moment(scale)(rates) + math.log(2 * queries.count / beta)
        return float((levels / rates).min())
    if isinstance(queries, Rectangles):
        return largest_rectangle(queries, beta=beta, log_moment=laplace_log_moment(scale), rates=rates[::4])
    prefix = largest_prefix(terms=queries.domain.ordered, beta=beta, log_moment=laplace_log_moment(scale), rates=rates)
    return _by_class(queries, prefix)


def worst_error_gaussian(queries: Queries, *, sigma: float, beta: float) -> float:
    """The same for discrete Gaussian noise, which is sub-Gaussian (Canonne, Kamath and Steinke 2020, Lemma 20)."""
    if isinstance(queries, Cells):
        reach, masses = gaussian_masses(sigma)
        upper = 2 * np.cumsum(masses[::-1])[: reach + 1][::-1]  # upper[j] = Pr[|Z| >= j], j >= 1
        return float(np.argmax(upper <= beta / queries.count) - 1) if (upper <= beta / queries.count).any() else reach
    if isinstance(queries, LinearQueries):
        return sigma * math.sqrt(2 * queries.square * math.log(2 * queries.count / beta))
    if isinstance(queries, Rectangles):
        rates = np.logspace(-3, 1, 100) / sigma
        return largest_rectangle(queries, beta=beta, log_moment=lambda rate: (rate * sigma) ** 2 / 2, rates=rates)
    prefix = sigma * math.sqrt(2 * queries.domain.ordered * math.log(2 / beta))
    return _by_class(queries, prefix)


def worst_error_argument(queries: Queries) -> str:
    """Return the argument for the bounds of this module, for a query class."""
    if isinstance(queries, Cells):
        return "exact tails, union bound over the cells"
    if isinstance(queries, Rectangles):
        return "Chernoff's bound for each rectangle's noise, union bound over them"
    if isinstance(queries, LinearQueries):
        return "Chernoff's bound for each weighted sum, union bound over them"
    return "Doob's maximal inequality on the running sums of the noise"


def worst_error_formula(queries: Queries, *, noise: str, square: str) -> str:
    """The same bounds in TeX.

    Args:
        queries: the class.
        noise: law of a cell's noise Z.
        square: log E e^(λZ), or what bounds it.
    """
    if isinstance(queries, Cells):
        return rf"\max_x|Z_x|\le J,\quad |X|\cdot\Pr[|Z|>J]\le\beta,\quad Z\sim {noise}"
    if isinstance(queries, Rectangles):
        gathered = rf"\ln\textstyle\sum_R e^{{|R|\,{square}}}+\ln\frac2\beta"
        left = r"\max_R\Bigl|\sum_{x\in R}Z_x\Bigr|\le"
    elif isinstance(queries, LinearQueries):
        gathered = rf"\max_q\|q\|_2^2\,{square}+\ln\frac{{2|Q|}}\beta"
        left = r"\max_q|\langle q,Z\rangle|\le"
    else:
        gathered = rf"|X|\,{square}+\ln\frac2\beta"
        left = r"\max_t\Bigl|\sum_{x\le t}Z_x\Bigr|\le"
        if isinstance(queries, Intervals):
            left = r"\max_{s<t}\Bigl|\sum_{s<x\le t}Z_x\Bigr|\le 2"
    return rf"{left}\min_{{\lambda>0}}\frac{{{gathered}}}{{\lambda}},\quad Z\sim {noise}"


def _by_class(queries: Queries, prefix: float) -> float:
    """Return the statement for each class; an interval, a difference of two prefixes, has at most twice their error."""
    if isinstance(queries, Thresholds):
        return prefix
    if isinstance(queries, Intervals):
        return 2 * prefix
    raise ParameterError(f"No bound is known here for {queries.title}.")
