"""Give the errors, get ε; give ε, get the best errors.

``for_targets``: of every mechanism that serves a question, the one that needs the least privacy loss for the question's
target on all data. Where its noise has one law on all data that loss is confirmed by fresh coins on the twin
(``experiments.solve``); of any other mechanism the twin is a forecast, and what its theorem promises counts.

``for_total``: questions share a total so that each exceeds its target by the same factor (where no target is named,
what it would err by with an equal share stands for one). Errors between the losses of a grid are interpolated on
logarithmic axes. With falling error curves the common factor falls as the total grows, so it is found by halving; no
other shares have a smaller largest factor. Pinned questions keep their loss.
"""

from __future__ import annotations

import math
from collections.abc import Generator, MutableMapping
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import Floats, ParameterError, scaled
from dpcore.mechanisms import entry as entry_of
from dplab.solve import KAPPA, Need, entries_by_promised_epsilon, needed_epsilons
from dprelease.plan.answers import max_summed_cells
from dprelease.plan.errors import GRID, Losses, curve, question_key, twin_of
from dprelease.plan.questions import WHOLE_TABLE, Plan, PlannedQuestion

HALVINGS = 60
LEAST_SHARE = GRID[0]
DIGITS = 4
SUMS = 1 - 1e-6
"""A plan that costs at least so much of the sum of its losses is charged that sum."""
GROWTHS = 16
"""Halvings of the factor by which losses grow."""


@dataclass(frozen=True, kw_only=True)
class SolvedPlan:
    """A plan that meets its targets at the least total.

    Attributes:
        plan: with the mechanisms and losses that were chosen.
        ranked: for each question with a target, what every mechanism surely needs, the least first; else empty.
        unmet: places of questions whose target no mechanism surely meets; they stay as they were.
        confidence: chance that every confirmed loss fails its target at most as often as beta says.
    """

    plan: Plan
    ranked: tuple[tuple[Need, ...], ...]
    unmet: tuple[int, ...]
    confidence: float


Ranked = MutableMapping[str, list[Need]]
"""What mechanisms need for a question's target, by what it depends on."""


def sure_epsilon(need: Need) -> float:
    """The loss at which a mechanism keeps the target whatever the rows are; infinity where none is known.

    Errors of one law on all data are those of the twin; else only the theorem says something of all data.
    """
    if need.simulated and entry_of(need.key).mechanism.data_independent:
        return need.simulated.epsilon
    return need.promised or math.inf


def for_targets(
    plan: Plan, *, seed: int = 1, pure: bool = True, known: Ranked | None = None
) -> Generator[float, None, SolvedPlan]:
    """Choose mechanism and loss of each question with a target that is not pinned; yields the fraction done.

    Args:
        plan: questions without a target, and pinned ones, stay.
        seed: of the twin and of the simulated releases.
        pure: choose only among mechanisms whose guarantee is epsilon alone.
        known: what was worked out before is taken from here, and what is found is put here.
    """
    known = {} if known is None else known
    questions, simulated = list(plan.questions), 0
    ranked: list[tuple[Need, ...]] = []
    unmet: list[int] = []
    for place, question in enumerate(plan.questions):
        if question.target is None or question.pinned:
            ranked.append(())
            continue
        asked = f"{pure}|{question.target!r}|{question_key(plan, replace(question, epsilon=1.0), seed=seed + place)}"
        if asked not in known:
            work = _needs(plan, question, seed=seed + place, pure=pure)
            known[asked] = yield from scaled(work, place, len(plan.questions))
        found = sorted(known[asked], key=sure_epsilon)
        ranked.append(tuple(found))
        if not found or not math.isfinite(sure_epsilon(found[0])):
            unmet.append(place)
            continue
        best = found[0]
        simulated += best.simulated is not None and sure_epsilon(best) != best.promised
        questions[place] = replace(
            question,
            entry_key=best.key,
            epsilon=sure_epsilon(best),
            values=question.values_for(best.key),
        )
    solved = replace(plan, questions=tuple(questions))
    return SolvedPlan(plan=solved, ranked=tuple(ranked), unmet=tuple(unmet), confidence=max(0.0, 1 - KAPPA * simulated))


def _needs(plan: Plan, question: PlannedQuestion, *, seed: int, pure: bool) -> Generator[float, None, list[Need]]:
    """What every mechanism that answers the question needs for its target; of tables and values by the theorem alone.

    Where tables or values are asked with a slack already, a slack is no more than what was there.
    """
    problem, target, counts = plan.problem(question), question.target or 1.0, question.releases == "data"
    pure &= counts or not plan.guarantee(question).delta
    values = {entry_key: question.values_for(entry_key) for entry_key in plan.proved(question)}
    made = {key: entry_of(key).make(**told).guarantee(problem) for key, told in values.items()}
    entries = [entry_of(key) for key, guarantee in made.items() if not (pure and guarantee.delta)]
    if counts:
        rows = twin_of(plan, question, seed=seed)
        work = needed_epsilons(
            entries, rows, problem, target=target, beta=plan.beta, values=values, seed=seed, on_all_data=True
        )
        return (yield from work)
    yield 0.0
    target /= max_summed_cells(plan, question)
    entries = [entry for entry in entries if entry.key != WHOLE_TABLE]  # of rows made of tables nothing is promised
    least = entries_by_promised_epsilon(entries, problem, target=target, beta=plan.beta, values=values)
    return [Need(key=key, promised=epsilon, simulated=None, slow=True) for key, epsilon in least]


def for_total(plan: Plan, total: float, *, seed: int = 1, known: Losses | None = None) -> Generator[float, None, Plan]:
    """Share a total loss among the questions that are not pinned; yields the fraction done.

    What is in ``known`` is not worked out again, and what is found is put there.

    What all cost together (each person, where persons are protected) is at most the total, and less than it by rounding
    only. Where all noise is Gaussian that is less than the sum of the losses: those not pinned grow by a common factor.

    Raises:
        ParameterError: pinned questions leave too little for the others.
    """
    free = [place for place, question in enumerate(plan.questions) if not question.pinned]
    left = total / _units(plan) - math.fsum(question.epsilon for question in plan.questions if question.pinned)
    if not free:
        return plan
    if not left >= LEAST_SHARE * len(free):
        rest = f"{max(0.0, left):.3g} for {len(free)} others"
        raise ParameterError(f"Pinned questions leave ε = {rest}; each needs at least {LEAST_SHARE:g}.")
    if left > GRID[-1] * len(free):
        raise ParameterError(f"A question has at most ε = {GRID[-1]:g} of its own: take a smaller total.")
    curves: list[Floats] = []
    for done, place in enumerate(free):
        work = curve(plan, plan.questions[place], seed=seed, known=known)
        curves.append((yield from scaled(work, done, len(free))))
    targets = [
        plan.questions[place].target or _at(errors, left / len(free))
        for place, errors in zip(free, curves, strict=True)
    ]
    low, high = -40.0, 40.0  # logarithms of the factor by which all targets are exceeded
    for _ in range(HALVINGS):
        factor = (low + high) / 2
        spent = math.fsum(_losses(curves, targets, math.exp(factor)))
        low, high = (factor, high) if spent > left else (low, factor)
    losses = np.array(_losses(curves, targets, math.exp(high)))
    # What no question can use any more is shared alike.
    losses = np.minimum(losses + (left - losses.sum()) / len(free), GRID[-1])
    return _grown(plan.with_losses(dict(zip(free, _rounded(losses), strict=True))), free, total=total)


def _units(plan: Plan) -> int:
    """By so much more a person loses than one of its rows: questions have losses of rows, the total is a person's."""
    return plan.table.person_rows if plan.table.person else 1


def _rounded(losses: Floats) -> list[float]:
    """Down, to DIGITS digits."""
    scale = 10**DIGITS
    return [math.floor(loss * scale + 1e-6) / scale for loss in losses.tolist()]


def _grown(plan: Plan, free: list[int], *, total: float) -> Plan:
    """The plan with the losses at these places times the largest common factor at which it costs the total at most."""
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
    """The error at a loss between those of the grid."""
    return float(np.exp(np.interp(math.log(loss), np.log(GRID), np.log(np.maximum(errors, 1e-12)))))


def _losses(curves: list[Floats], targets: list[float], factor: float) -> list[float]:
    """The loss each question needs to exceed its target by a factor; the grid's ends where it is beyond them."""
    found = []
    for errors, target in zip(curves, targets, strict=True):
        # np.interp wants rising values: both are turned round.
        logs = np.log(np.maximum(errors, 1e-12))[::-1]
        found.append(float(np.exp(np.interp(math.log(factor * target), logs, np.log(GRID)[::-1]))))
    return found
