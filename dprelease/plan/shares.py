"""Choose the values of ε of a plan: for target errors, or for a total budget.

``for_targets`` selects for each question the mechanism that meets the target on all data with the smallest ε. With
data-independent noise that ε is confirmed by fresh random numbers on mock data (``dplab.solve``); for any other
mechanism the simulation is only a forecast, so its theorem decides. For a statistic by group it is the smallest ε at
which the predicted margin of a group is within the target, in closed form.

``for_total`` shares a total ε such that each question exceeds its target by the same factor. A question without a
target takes its error at an equal share as target. Errors are interpolated between the grid's values of ε on
logarithmic axes. As the error curves are monotone, the common factor decreases with the total and is found by
bisection; no other shares have a smaller maximum factor. Pinned questions keep their ε.
"""

from __future__ import annotations

import math
from collections.abc import Generator, MutableMapping
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import Floats, ParameterError, scaled
from dpcore.core.bisection import bisect_range
from dpcore.mechanisms import entry as entry_of
from dplab.solve import KAPPA, Need, entries_by_promised_epsilon, needed_epsilons
from dprelease.plan.answers import max_summed_cells
from dprelease.plan.errors import GRID, Losses, curve, question_key, twin_of
from dprelease.plan.margins import smallest_epsilon
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.questions import Plan

HALVINGS = 60
LEAST_SHARE = GRID[0]
DIGITS = 4
SUMS = 1 - 1e-6
"""Share of the sum of ε from which a plan's cost counts as that sum."""
GROWTHS = 16
"""Bisections of the factor by which the values of ε grow."""


@dataclass(frozen=True, kw_only=True)
class SolvedPlan:
    """A plan that meets its targets with the smallest total ε.

    Attributes:
        plan: the plan with the selected mechanisms and values of ε.
        ranked: for each question with a target, the ε that every mechanism needs, in ascending order; else empty.
        unmet: indices of questions whose target no mechanism guarantees; they are unchanged.
        confidence: probability that every confirmed ε fails its target with probability at most beta.
    """

    plan: Plan
    ranked: tuple[tuple[Need, ...], ...]
    unmet: tuple[int, ...]
    confidence: float


Ranked = MutableMapping[str, list[Need]]
"""ε that mechanisms need for a question's target, by a key of everything it depends on."""


def sure_epsilon(need: Need) -> float:
    """Return the ε at which a mechanism meets the target on all data; infinity where none is known.

    With data-independent noise the simulation holds for all data; else only the theorem does.
    """
    if need.simulated and entry_of(need.key).mechanism.data_independent:
        return need.simulated.epsilon
    return need.promised or math.inf


def for_targets(plan: Plan, *, seed: int = 1, known: Ranked | None = None) -> Generator[float, None, SolvedPlan]:
    """Choose mechanism and ε of each question with a target that is not pinned; yields the fraction done.

    Args:
        plan: the plan; questions without a target and pinned ones are unchanged.
        seed: seed of the mock data and of the simulated releases.
        known: cache of the results.
    """
    known = {} if known is None else known
    questions, simulated = list(plan.questions), 0
    ranked: list[tuple[Need, ...]] = []
    unmet: list[int] = []
    for place, question in enumerate(plan.questions):
        if question.target is None or question.pinned:
            ranked.append(())
            continue
        key = f"{question.target!r}|{question_key(plan, replace(question, epsilon=1.0), seed=seed + place)}"
        if key not in known:
            work = _needs(plan, question, seed=seed + place)
            known[key] = yield from scaled(work, place, len(plan.questions))
        needs = sorted(known[key], key=sure_epsilon)
        ranked.append(tuple(needs))
        if not needs or not math.isfinite(sure_epsilon(needs[0])):
            unmet.append(place)
            continue
        best = needs[0]
        simulated += best.simulated is not None and sure_epsilon(best) != best.promised
        questions[place] = replace(
            question,
            entry_key=best.key,
            epsilon=sure_epsilon(best),
            values=question.values_for(best.key),
        )
    solved = replace(plan, questions=tuple(questions))
    return SolvedPlan(plan=solved, ranked=tuple(ranked), unmet=tuple(unmet), confidence=max(0.0, 1 - KAPPA * simulated))


def _needs(plan: Plan, question: PlannedQuestion, *, seed: int) -> Generator[float, None, list[Need]]:
    """Compute the ε that every mechanism needs for the question's target; for tables and values by the theorem alone.

    Mechanisms have pure ε-differential privacy; tables or values that already have δ > 0 may keep one with δ > 0.
    """
    problem, target, counts = plan.problem(question), question.target or 1.0, question.releases == "data"
    pure = counts or not plan.guarantee(question).delta
    values = {entry_key: question.values_for(entry_key) for entry_key in plan.proved(question)}
    guarantees = {key: entry_of(key).make(**parameters).guarantee(problem) for key, parameters in values.items()}
    entries = [entry_of(key) for key, guarantee in guarantees.items() if not (pure and guarantee.delta)]
    if question.statistic:
        yield 0.0
        least_epsilons = {each.key: smallest_epsilon(plan, question, each, target=target) for each in entries}
        return [Need(key=key, promised=least, simulated=None, slow=False) for key, least in least_epsilons.items()]
    if counts:
        rows = twin_of(plan, question, seed=seed)
        work = needed_epsilons(
            entries, rows, problem, target=target, beta=plan.beta, values=values, seed=seed, on_all_data=True
        )
        return (yield from work)
    yield 0.0
    target /= max_summed_cells(plan, question)
    entries = [entry for entry in entries if entry.key != WHOLE_TABLE]  # synthetic rows have no guarantee in advance
    least = entries_by_promised_epsilon(entries, problem, target=target, beta=plan.beta, values=values)
    return [Need(key=key, promised=epsilon, simulated=None, slow=True) for key, epsilon in least]


def for_total(plan: Plan, total: float, *, seed: int = 1, known: Losses | None = None) -> Generator[float, None, Plan]:
    """Share a total ε among the questions that are not pinned; yields the fraction done.

    ``known`` caches the error curves.

    The plan's cost (for a person, where persons are protected) is at most the total, and less only by rounding. Where
    all noise is Gaussian the cost is below the sum of ε: the values that are not pinned grow by a common factor.

    Raises:
        ParameterError: pinned questions leave too little for the others.
    """
    free = [place for place, question in enumerate(plan.questions) if not question.pinned]
    left = total / _units(plan) - math.fsum(question.epsilon for question in plan.questions if question.pinned)
    if not free:
        return plan
    if not left >= LEAST_SHARE * len(free):
        rest = f"{max(0.0, left):.3g} for {len(free)} others"
        raise ParameterError(
            f"Statistics with a fixed ε leave ε = {rest}. Each of the others needs at least {LEAST_SHARE:g}."
        )
    if left > GRID[-1] * len(free):
        raise ParameterError(f"A statistic can have at most ε = {GRID[-1]:g}. Choose a smaller total.")
    curves: list[Floats] = []
    for done, place in enumerate(free):
        work = curve(plan, plan.questions[place], seed=seed, known=known)
        curves.append((yield from scaled(work, done, len(free))))
    targets = [
        plan.questions[place].target or _at(errors, left / len(free))
        for place, errors in zip(free, curves, strict=True)
    ]

    def is_affordable(logarithm: float) -> bool:
        return math.fsum(_losses(curves, targets, math.exp(logarithm))) <= left

    _, factor = bisect_range(is_affordable, -40.0, 40.0, steps=HALVINGS)  # logarithm of the common factor
    losses = np.array(_losses(curves, targets, math.exp(factor)))
    # The rest, which no question needs, is shared equally.
    losses = np.minimum(losses + (left - losses.sum()) / len(free), GRID[-1])
    return _grown(plan.with_losses(dict(zip(free, _rounded(losses), strict=True))), free, total=total)


def _units(plan: Plan) -> int:
    """Return the ratio of a person's ε to a row's: questions have ε per row, the total is per person."""
    return plan.table.person_rows if plan.table.person else 1


def _rounded(losses: Floats) -> list[float]:
    """Round down to DIGITS decimal digits."""
    scale = 10**DIGITS
    return [math.floor(loss * scale + 1e-6) / scale for loss in losses.tolist()]


def _grown(plan: Plan, free: list[int], *, total: float) -> Plan:
    """Return the plan with ε at these indices times the largest common factor at which it costs at most the total."""
    if plan.cost.epsilon >= sum(question.epsilon for question in plan.questions) * _units(plan) * SUMS:
        return plan
    losses = np.array([plan.questions[place].epsilon for place in free])
    low, high = 1.0, max(1.0, GRID[-1] / losses.max())
    best = plan
    for _ in range(GROWTHS):
        factor = math.sqrt(low * high)
        grown = plan.with_losses(dict(zip(free, _rounded(losses * factor), strict=True)))
        low, high = (factor, high) if grown.cost.epsilon <= total else (low, factor)
        best = grown if low == factor else best
    return best


def _at(errors: Floats, loss: float) -> float:
    """Interpolate the error at an ε between those of the grid."""
    return float(np.exp(np.interp(math.log(loss), np.log(GRID), np.log(np.maximum(errors, 1e-12)))))


def _losses(curves: list[Floats], targets: list[float], factor: float) -> list[float]:
    """Return the ε at which each question exceeds its target by a factor, clipped to the grid."""
    losses = []
    for errors, target in zip(curves, targets, strict=True):
        # np.interp needs increasing values: both arrays are reversed.
        logs = np.log(np.maximum(errors, 1e-12))[::-1]
        losses.append(float(np.exp(np.interp(math.log(factor * target), logs, np.log(GRID)[::-1]))))
    return losses
