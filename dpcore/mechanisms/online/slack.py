"""Tail bounds for the noise of a gate over a whole conversation, with its exact law."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcore.core import ParameterError
from dpcore.core.bisection import least_whole
from dpcore.randomness.gates import GateBudget
from dpcore.randomness.laws import laplace_quantile, laplace_tail

MAX_BLOCKS = 4096
"""Values of the noise on the threshold told apart; a block of several counts as its worst."""


def stay_chance(budget: GateBudget, *, slack: int, questions: int) -> float:
    """Chance, never too high, that threshold noise and comparison noise differ by at most ``slack`` in every question.

    The noise on the threshold is one for all questions, so its law is summed over, the comparisons' multiplied. Exact
    where every value of it is a block of its own.
    """
    scale = 1 / budget.threshold
    reach = int(np.ceil(40 * scale))
    edges = np.unique(np.linspace(0, reach + 1, min(reach + 1, MAX_BLOCKS) + 1).astype(np.int64))
    outside = np.where(edges > 0, 2 * laplace_tail(edges, scale=scale), 1.0)  # Pr[|rho| >= edge]
    worst = edges[1:] - 1
    strays = laplace_tail(slack + 1 + worst, scale=1 / budget.comparison) + laplace_tail(
        slack + 1 - worst, scale=1 / budget.comparison
    )
    with np.errstate(divide="ignore"):
        stays = np.exp(questions * np.log1p(-np.minimum(strays, 1.0)))
    return float((-np.diff(outside) * stays).sum())


@lru_cache(maxsize=256)
def gate_slack(budget: GateBudget, *, questions: int, beta: float) -> int:
    """Return the least G so that, except with chance beta, each of so many comparisons is right up to G rows.

    A value of at most threshold - 1 - G is then never called above, one of at least threshold + G always: whatever is
    called below is at most threshold - 1 + G, whatever is called above at least threshold - G.
    """
    _check(beta)

    def is_enough(slack: int) -> bool:
        return stay_chance(budget, slack=slack, questions=questions) >= 1 - beta

    low, high = -1, 1
    while not is_enough(high):
        low, high = high, 2 * high
    return least_whole(is_enough, low, high)


def answer_slack(budget: GateBudget, *, beta: float) -> int:
    """Return the least A so that, except with chance beta, every one of a gate's noisy answers is within A rows."""
    _check(beta)
    each = -np.expm1(np.log1p(-beta) / budget.updates)
    return laplace_quantile(float(each), scale=1 / budget.answer) - 1


def _check(beta: float) -> None:
    """Raise ParameterError where beta is too small for sums of doubles."""
    if not 1e-12 <= beta < 1:
        raise ParameterError(f"The failure probability must be at least 1e-12 and below 1, got {beta!r}.")
