"""Errors of every mechanism that answers a question, against ε or against n.

Everything is simulated on mock data, so that it is public. Each cell, a mechanism at one ε and one n, has its own
random numbers: a stopped computation keeps its finished cells and continues with the others.
"""

from __future__ import annotations

import math
from collections.abc import Generator, MutableMapping
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import Dataset, Entry, Floats
from dplab.limits.data_independent_summary import depends_on_n
from dplab.measure import BLOCK_SECONDS
from dplab.sweep import EPSILON_GRID, Sweep
from dprelease.plan.answers import MAX_SIMULATED_ROWS
from dprelease.plan.errors import guaranteed_question_error, simulate_errors, twin_of
from dprelease.plan.margins import worst_shares
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.questions import Plan

N_GRID = tuple(round(10 ** (power / 2)) for power in range(4, 13))
"""Numbers of rows: 100 to a million, two per factor of ten."""
LEVELS = (0.05, 0.5, 0.95)
MIN_TRIALS, MAX_TRIALS = 20, 60
"""Limits of the number of simulated releases of a cell."""
MAX_CELLS = 1 << 20
"""Largest product of releases and cells of the domain."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """Errors of one mechanism at one ε and n: LEVELS of the worst and of the mean error, and the guaranteed error."""

    worst: Floats
    typical: Floats
    promised: float


Cells = MutableMapping[tuple[str, float], Cell]
"""Finished cells, by the mechanism's key and the value on the axis."""


def compare_mechanisms(
    plan: Plan, question: PlannedQuestion, *, cells: Cells, by_rows: bool = False, seed: int = 1
) -> Generator[float, None, Sweep]:
    """Compute the errors of every mechanism at every ε, or at every n; yields the fraction done after each cell.

    Args:
        plan: the plan with the declared table.
        question: the question; its own ε is used where n varies.
        cells: finished cells of the same question, relation, axis and seed; new ones are added.
        by_rows: whether the axis is n.
        seed: seed of the mock data and of the simulations.
    """
    entries, _, places = _grid(plan, question, by_rows=by_rows)
    twins: dict[int, Dataset] = {}
    for row, entry in enumerate(entries):
        for column, place in enumerate(places):
            if (entry.key, place) not in cells:
                cells[entry.key, place] = _cell(plan, question, entry, place, by_rows=by_rows, seed=seed, twins=twins)
            yield (row * len(places) + column + 1) / (len(entries) * len(places))
    return partial_frontier(plan, question, cells=cells, by_rows=by_rows)


def partial_frontier(plan: Plan, question: PlannedQuestion, *, cells: Cells, by_rows: bool = False) -> Sweep:
    """Return the finished part of the comparison; unfinished cells are NaN without a guarantee."""
    entries, left_out, places = _grid(plan, question, by_rows=by_rows)
    unknown = Cell(worst=np.full(3, math.nan), typical=np.full(3, math.nan), promised=math.inf)
    grid = [[cells.get((entry.key, place), unknown) for place in places] for entry in entries]
    shape = len(entries), len(places)
    return Sweep(
        n=plan.n,
        keys=tuple(entry.key for entry in entries),
        epsilons=np.array(places),
        worst=np.array([[cell.worst for cell in row] for row in grid]).reshape(*shape, 3),
        typical=np.array([[cell.typical for cell in row] for row in grid]).reshape(*shape, 3),
        promised=np.array([[cell.promised for cell in row] for row in grid]).reshape(shape),
        left_out=tuple(entry.key for entry in left_out),
    )


def _grid(plan: Plan, question: PlannedQuestion, *, by_rows: bool) -> tuple[list[Entry], list[Entry], list[float]]:
    """Return the mechanisms that are fast enough, those that are not, and the values of the axis."""
    entries: list[Entry] = []
    left_out: list[Entry] = []
    for key, entry in plan.proved(question).items():
        before, each = entry.make(**question.values_for(key)).preview_seconds(plan.problem(question))
        (entries if before + MAX_TRIALS * each <= BLOCK_SECONDS else left_out).append(entry)
    max_n = MAX_SIMULATED_ROWS if question.entry_key == WHOLE_TABLE else N_GRID[-1]
    return entries, left_out, [float(n) for n in N_GRID if n <= max_n] if by_rows else list(EPSILON_GRID)


def _cell(
    plan: Plan,
    question: PlannedQuestion,
    entry: Entry,
    place: float,
    *,
    by_rows: bool,
    seed: int,
    twins: dict[int, Dataset],
) -> Cell:
    """Compute the errors of one mechanism at one ε, or at one n."""
    at_n = replace(plan, n=int(place), questions=(question,)) if by_rows else plan
    at_entry = replace(question, entry_key=entry.key, values=question.values_for(entry.key))
    if question.statistic:  # in closed form
        mechanism = entry.make(**at_entry.values, epsilon=question.epsilon if by_rows else place)
        worst, typical = (
            worst_shares(at_n, at_entry, mechanism, chances=LEVELS, together=each) for each in (True, False)
        )
        return Cell(worst=worst, typical=typical, promised=math.inf)
    if at_n.n not in twins:
        twins[at_n.n] = twin_of(at_n, question, seed=seed)
    mechanism = entry.make(**at_entry.values, epsilon=question.epsilon if by_rows else place)
    trials = max(MIN_TRIALS, min(MAX_TRIALS, MAX_CELLS // at_n.problem(question).domain.size))
    errors = simulate_errors(at_n, at_entry, mechanism, twins[at_n.n], seed=seed, trials=trials)
    nothing, promise = np.full(3, math.nan), guaranteed_question_error(at_n, at_entry, mechanism)
    if promise < math.inf and depends_on_n(mechanism, at_n.problem(at_entry), beta=at_n.beta):
        promise = math.inf  # a curve cannot show the condition that n is the number of rows
    return Cell(
        worst=np.quantile(errors.worst, LEVELS) if len(errors.worst) else nothing,
        typical=np.quantile(errors.typical, LEVELS) if len(errors.typical) else nothing,
        promised=promise,
    )
