"""Lower bound on the rows between a private median and the true one.

Of n rows put τ at a cell v and share the rest between the two end cells, (n - τ)/2 at either (the odd row, if there is
one, at the top). The median is v. Any lower cell has at most the rows at the bottom up to it, and the median is row
number ceil(n/2): it misses by ceil(n/2) - floor((n - τ)/2) >= τ/2 rows. Any higher cell has all but those at the top
below it, and misses by n - ceil((n - τ)/2) + 1 - ceil(n/2) >= τ/2 rows. So a median that misses by less than τ/2
rows reveals v, one of as many places as there are cells, from data that are only τ replaced rows apart: the packing
that bounds thresholds (applicable.py), and so the same number.

References:
    Blum, Ligett and Roth (2013), proof of Theorem 5.1, with constants.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dpcore.core import Bound, Guarantee, Integers, ParameterError, Problem, rounded_up
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.queries.ranges import Thresholds


def rank_bound(problem: Problem, guarantee: Guarantee, *, beta: float) -> Bound | None:
    """Return the lower bound on rows between answer and median, a fraction of n, with failure probability β.

    None where nothing is known (lower_bound).

    Raises:
        ParameterError: the problem is not about thresholds, which is what a median is read from.
    """
    if not isinstance(problem.queries, Thresholds):
        raise ParameterError("A median needs a problem of thresholds.")
    bound = lower_bound(problem, guarantee, beta=beta)
    if bound is None:
        return None
    slack = f" and δ = {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    return dataclasses.replace(
        bound,
        statement=f"A mechanism always answers with a median on {problem.domain.ordered:,} cells, with ε = "
        f"{rounded_up(guarantee.epsilon)}{slack}. It cannot guarantee fewer than "
        f"{bound.value * problem.n:,.10g} of {problem.n:,} rows between its answer and the true median, "
        f"with failure probability {beta:g}.",
    )


def hard_data(*, place: int, moved: int, n: int, cells: int) -> Integers:
    """Return the data of the proof as rows per cell, (cells,): so many rows at a place, the others at the two ends."""
    if not (0 <= place < cells and 0 <= moved <= n):
        raise ParameterError(f"A place must be one of {cells} cells, and the rows there at most {n}.")
    histogram = np.zeros(cells, dtype=np.int64)
    histogram[0] += (n - moved) // 2
    histogram[-1] += n - moved - (n - moved) // 2
    histogram[place] += moved
    return histogram
