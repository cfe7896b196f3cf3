"""Lower bound on the rows between a private quantile and the true one.

The quantile is row number k of n. Put τ rows at a cell v, where h = ceil(τ/2) is at most k and at most n + 1 - k; of
the others, b = min(k - h, n - τ) at the lowest cell and the rest at the highest. Then b < k <= b + τ: the quantile is
v. A lower cell has at most b rows up to it, and misses by k - b >= h rows; a higher one has b + τ rows below it, and
misses by b + τ + 1 - k >= τ/2 rows. So a quantile that misses by less than τ/2 rows reveals v, one of as many places
as there are cells, from data that are only τ replaced rows apart: the packing that bounds thresholds (applicable.py).

For the median, τ may be any number up to n, so the bound is that of thresholds. For another quantile it is at most
min(k, n + 1 - k) rows. No larger bound is true: the lowest cell never misses by more than k rows, the highest one
never by more than n + 1 - k.

References:
    Blum, Ligett and Roth (2013), proof of Theorem 5.1, with constants.
"""

from __future__ import annotations

import dataclasses

from dpcore.core import Bound, Guarantee, ParameterError, Problem, rounded_up
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.queries.ranges import Thresholds, rank


def rank_bound(problem: Problem, guarantee: Guarantee, *, beta: float, quantile: float = 0.5) -> Bound | None:
    """Return the lower bound on rows between answer and quantile, a fraction of n, with failure probability β.

    None where nothing is known (lower_bound).

    Raises:
        ParameterError: the problem is not about thresholds, which is what a quantile is read from.
    """
    if not isinstance(problem.queries, Thresholds):
        raise ParameterError("A quantile needs a problem of thresholds.")
    bound = lower_bound(problem, guarantee, beta=beta)
    if bound is None:
        return None
    target = rank(problem.n, quantile=quantile)
    value = min(bound.value, min(target, problem.n + 1 - target) / problem.n)
    name = "median" if quantile == 0.5 else f"{quantile:g}-quantile"
    slack = f" and δ = {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    return dataclasses.replace(
        bound,
        value=value,
        statement=f"A mechanism always answers with a {name} on {problem.domain.ordered:,} cells, with ε = "
        f"{rounded_up(guarantee.epsilon)}{slack}. It cannot guarantee fewer than "
        f"{value * problem.n:,.10g} of {problem.n:,} rows between its answer and the true {name}, "
        f"with failure probability {beta:g}.",
    )
