"""The lower bound that applies to a problem: the smallest worst error that the same guarantee allows.

Put τ rows at one of N places that the answers distinguish (packings.py) and keep the other rows where they are. Answers
to every query within less than τ/(2n) reveal which of the N places it is. But these N data sets are only τ replaced
rows apart, so no private mechanism distinguishes them surely: it is the median's lower bound (median.py) with τ rows, τ
as large as that bound allows with failure probability β.

So the bound is about the problem at its hardest data, not about the data on the screen: there an error may be smaller,
but no mechanism can guarantee that.

References:
    Blum, Ligett and Roth (2013), Theorem 5.1 and its proof; Hardt and Talwar (2010) for packings; Beimel,
    Kasiviswanathan and Nissim (2010) for single cells, whose VC dimension is 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from dpcore.core import Assumption, Bound, BoundKind, Floats, Guarantee, Mechanism, Problem, rounded_up
from dpcore.limits.bounds.median import log_others, may_be_right
from dpcore.limits.bounds.packings import Packing, packings
from dpcore.limits.chance import confusion, replacement_steps
from dpcore.queries.ranges import Cells


def lower_bound(problem: Problem, guarantee: Guarantee, *, beta: float, questions: int | None = None) -> Bound | None:
    """Return the lower bound on a guaranteed worst error, a fraction of n, with failure probability β.

    None where no bound applies: another query class, a guarantee that fails on unlikely data, no loss at all, one
    place only, or a β so large that nothing follows. Not kept: labels and weights are a reader's own.

    Args:
        problem: what is asked; of halfspaces, those with its margin.
        guarantee: what is kept.
        beta: failure probability of the guaranteed error.
        questions: number of queries that are asked one after another, each after the last answer; None for all.
    """
    return _bound(problem, guarantee, packings(problem.queries, questions=questions), beta=beta, questions=questions)


def _bound(
    problem: Problem, guarantee: Guarantee, class_packings: list[Packing], *, beta: float, questions: int | None = None
) -> Bound | None:
    """Return the bound from the class's packings."""
    if guarantee.gamma:
        return None
    if not (guarantee.epsilon > 0 and math.isfinite(guarantee.epsilon) and 0 <= beta < 1):
        return None
    best: tuple[float, int, Packing] | None = None
    for packing in class_packings:
        moved = _max_hidden_rows(problem, guarantee, bits=packing.bits, beta=beta)
        if moved and (best is None or moved * packing.gap > best[0]):
            best = moved * packing.gap, moved, packing
    if best is None:
        return None
    rows, moved, packing = best
    # Of the guarantee itself, however its numbers are printed: a bound for larger ones would be a smaller one.
    slack = f" and δ = {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    single = isinstance(problem.queries, Cells) and not guarantee.delta
    these = "these queries" if questions is None else "one such query"
    if questions is not None and questions > 1:
        these = f"{questions:,} such queries, each asked after the previous answer,"
    return Bound(
        value=rows / (2 * problem.n),
        kind=BoundKind.LOWER,
        statement=f"Take a mechanism that answers {these} {packing.words} with ε = "
        f"{rounded_up(guarantee.epsilon)}{slack}. It cannot guarantee a worst error below {rows / 2:,.10g} "
        f"of {problem.n:,} rows, with failure probability {beta:g}.",
        reference="Blum, Ligett and Roth (2013), proof of Theorem 5.1, with constants"
        + "; Beimel, Kasiviswanathan and Nissim (2010)" * single,
        beta=beta,
        assumptions=(Assumption(text="the guarantee holds for every data set, not only this one", met=True),),
        note=f"{moved} rows at an unknown position are too few to be found with certainty."
        + " So error grows with the logarithm of the number of cells, although the VC dimension is 1." * single,
    )


def lower_curve(
    problem: Problem,
    mechanism: Mechanism,
    *,
    epsilons: Sequence[float],
    beta: float,
    questions: int | None = None,
) -> tuple[Floats, Floats] | None:
    """Return the bound at each privacy loss for a guarantee like this mechanism's: epsilons (I,) and errors (I,).

    Losses at which nothing is known are left out; None where nothing is known at all, or the mechanism has no epsilon.
    """
    if "epsilon" not in mechanism.parameters():
        return None
    places, known = packings(problem.queries, questions=questions), []
    for epsilon in epsilons:
        guarantee = dataclasses.replace(mechanism, **{"epsilon": epsilon}).guarantee(problem)
        bound = _bound(problem, guarantee, places, beta=beta, questions=questions)
        if bound is not None:
            known.append((epsilon, bound.value))
    if not known:
        return None
    losses, errors = np.array(known, dtype=np.float64).T
    return losses, errors


def _max_hidden_rows(problem: Problem, guarantee: Guarantee, *, bits: float, beta: float) -> int:
    """Return the most rows, at most n, that cannot be located among 2^bits places with failure probability β."""
    low, high = 0, problem.n
    if beta > 0:
        # Beyond this many rows the wall is past; a smaller bracket is a quicker search, and never a wrong bound.
        high = math.ceil(min(high, (2 * (bits * math.log(2) - math.log(beta)) + 4) / guarantee.epsilon))
    while low < high:
        rows = (low + high + 1) // 2
        steps = replacement_steps(problem.neighbours, rows=rows)
        if guarantee.delta:
            # With δ > 0 the bound for many places is weaker; two of the places may still be confused.
            hidden = not _may_be_identified(bits=bits, steps=steps, guarantee=guarantee, beta=beta) or (
                confusion(epsilon=guarantee.epsilon, steps=steps, delta=guarantee.delta) > beta
            )
        else:
            hidden = not may_be_right(bits=bits, n=steps, epsilon=guarantee.epsilon, beta=beta)
        low, high = (rows, high) if hidden else (low, rows - 1)
    return low


def _may_be_identified(*, bits: float, steps: int, guarantee: Guarantee, beta: float) -> bool:
    """Return whether a mechanism with a slack may name the right one of N places, h steps apart, with chance 1 - β.

    Named with chance p where it is right, a place is named with chance (p - δ_h) e^(-εh) at least where another is
    right, δ_h = δ (e^(εh) - 1)/(e^ε - 1) (Dwork and Roth 2014, Theorem 2.2 with a slack). N - 1 of these and p are at
    most 1, so p <= (1 + (N - 1) e^(-εh) δ_h)/(1 + (N - 1) e^(-εh)).
    """
    epsilon, others = guarantee.epsilon, float(log_others(bits))
    # ln of e^(-εh) δ_h = δ (1 - e^(-εh)) e^-ε/(1 - e^-ε)
    leaked = math.log(guarantee.delta) + math.log(math.expm1(-epsilon * steps) / math.expm1(-epsilon)) - epsilon
    with np.errstate(over="ignore"):
        missed = np.logaddexp(0.0, others - epsilon * steps)  # ln of 1 + (N - 1) e^(-εh)
        reached = np.exp(-missed) + np.exp(others + leaked - missed)
    return bool(reached >= 1 - beta)
