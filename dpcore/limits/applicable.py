"""The lower bound that applies to a problem: the smallest worst error anyone can promise with the same guarantee.

Put τ rows at one of N cells and keep the other rows where they are. Of any two cells, some query (the cell, the
threshold at the lower one, the interval up to it, the rectangle that is the cell) holds the one and not the other, so
whoever answers every query within less than τ/(2n) tells which of the N cells it was. But these N data sets are only τ
replaced rows apart, so nobody can tell them apart surely: it is the median's wall (median.py) with τ rows, τ as large
as the wall allows with failure chance β.

So this is a bound about the problem at its hardest data, not about the data on the screen: there a release may well be
luckier, but nobody could have promised it.

References:
    Blum, Ligett and Roth (2013), Theorem 5.1 and its proof; Hardt and Talwar (2010) for packings.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpcore.core import Assumption, Bound, BoundKind, Floats, Guarantee, Mechanism, Problem
from dpcore.limits.chance import confusion, replacement_steps
from dpcore.limits.median import may_be_right
from dpcore.queries import Cells, Intervals, Rectangles, Thresholds


@lru_cache(maxsize=256)
def lower_bound(problem: Problem, guarantee: Guarantee, *, beta: float) -> Bound | None:
    """The bound on the worst error, a fraction of n, that a promise with failure chance β must respect.

    None where none is known to apply: another query class, a guarantee that fails on unlikely data, no loss at all, one
    cell only, or a β so large that nothing follows. Remembered: it is about public parameters alone.
    """
    cells = problem.domain.ordered
    if not isinstance(problem.queries, Cells | Thresholds | Intervals | Rectangles):
        return None
    if guarantee.gamma or cells < 2:
        return None
    if not (guarantee.epsilon > 0 and math.isfinite(guarantee.epsilon) and 0 <= beta < 1):
        return None
    moved = _most_rows(problem, guarantee, cells=cells, beta=beta)
    if moved == 0:
        return None
    value = moved / (2 * problem.n)
    slack = f" and slack {guarantee.delta:g}" if guarantee.delta else ""
    return Bound(
        value=value,
        kind=BoundKind.LOWER,
        statement=f"Whoever answers these queries on {cells:,} cells with privacy loss {guarantee.epsilon:g}{slack} "
        f"cannot promise a worst error below {moved / 2:g} of {problem.n:,} rows with failure chance {beta:g}.",
        reference="Blum, Ligett and Roth (2013), proof of Theorem 5.1, with constants",
        beta=beta,
        assumptions=(Assumption(text="the promise holds for every data set, not only this one", met=True),),
        note=f"{moved} rows at an unknown cell are too few to be found surely.",
    )


def lower_curve(
    problem: Problem, mechanism: Mechanism, *, epsilons: Sequence[float], beta: float
) -> tuple[Floats, Floats] | None:
    """The bound at each privacy loss for a guarantee like this mechanism's: epsilons (I,) and errors (I,).

    Losses at which nothing is known are left out; None where nothing is known at all, or the mechanism has no epsilon.
    """
    if "epsilon" not in mechanism.parameters():
        return None
    found = []
    for epsilon in epsilons:
        guarantee = dataclasses.replace(mechanism, **{"epsilon": epsilon}).guarantee(problem)
        bound = lower_bound(problem, guarantee, beta=beta)
        if bound is not None:
            found.append((epsilon, bound.value))
    if not found:
        return None
    losses, errors = np.array(found, dtype=np.float64).T
    return losses, errors


def _most_rows(problem: Problem, guarantee: Guarantee, *, cells: int, beta: float) -> int:
    """Largest number of rows, at most n, that cannot be found among the cells with failure chance β."""
    low, high = 0, problem.n
    if beta > 0:
        # Beyond this many rows the wall is past; a smaller bracket is a quicker search, and never a wrong bound.
        high = min(high, math.ceil((2 * math.log(cells / beta) + 4) / guarantee.epsilon))
    while low < high:
        rows = (low + high + 1) // 2
        steps = replacement_steps(problem.neighbours, rows=rows)
        if guarantee.delta:
            # Two of the data sets are enough, and with a slack the wall of many has a door.
            hidden = confusion(epsilon=guarantee.epsilon, steps=steps, delta=guarantee.delta) > beta
        else:
            hidden = not may_be_right(bits=math.log2(cells), n=steps, epsilon=guarantee.epsilon, beta=beta)
        low, high = (rows, high) if hidden else (low, rows - 1)
    return low
