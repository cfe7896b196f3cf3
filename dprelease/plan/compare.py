"""The frontier of a question: errors of every mechanism that answers it, against the privacy loss or against n.

Everything is simulated on made-up rows, so that it is public. Each cell, a mechanism at one privacy loss and one n, has
coins of its own: whoever stops half-way keeps the cells that are done, and goes on with the others.
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
from dprelease.plan.questions import WHOLE_TABLE, Plan, PlannedQuestion

N_GRID = tuple(round(10 ** (power / 2)) for power in range(4, 13))
"""Rows: 100 to a million, two to a factor of ten."""
LEVELS = (0.05, 0.5, 0.95)
MIN_TRIALS, MAX_TRIALS = 20, 60
"""Releases of a cell."""
MAX_CELLS = 1 << 20
"""Releases times cells of the domain."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """Errors of one mechanism at one place: LEVELS of the worst and of the mean error, and what is promised."""

    worst: Floats
    typical: Floats
    promised: float


Cells = MutableMapping[tuple[str, float], Cell]
"""What is known, by a mechanism's key and its place on the axis."""


def compare_mechanisms(
    plan: Plan, question: PlannedQuestion, *, cells: Cells, by_rows: bool = False, seed: int = 1
) -> Generator[float, None, Sweep]:
    """Errors of every mechanism at every privacy loss, or at every n; yields the fraction done after each cell.

    Args:
        plan: with the declared table.
        question: whose own privacy loss counts where n varies.
        cells: of the same question, relation, axis and seed; what is found is put there.
        by_rows: whether n varies, and the axis of what is given back is n.
        seed: of the twin and of the previews.
    """
    kept, _, places = _grid(plan, question, by_rows=by_rows)
    twins: dict[int, Dataset] = {}
    for row, entry in enumerate(kept):
        for column, place in enumerate(places):
            if (entry.key, place) not in cells:
                cells[entry.key, place] = _cell(plan, question, entry, place, by_rows=by_rows, seed=seed, twins=twins)
            yield (row * len(places) + column + 1) / (len(kept) * len(places))
    return partial_frontier(plan, question, cells=cells, by_rows=by_rows)


def partial_frontier(plan: Plan, question: PlannedQuestion, *, cells: Cells, by_rows: bool = False) -> Sweep:
    """What is known of the frontier; NaN where a cell is not done, and nothing is promised there."""
    kept, left_out, places = _grid(plan, question, by_rows=by_rows)
    unknown = Cell(worst=np.full(3, math.nan), typical=np.full(3, math.nan), promised=math.inf)
    found = [[cells.get((entry.key, place), unknown) for place in places] for entry in kept]
    shape = len(kept), len(places)
    return Sweep(
        n=plan.n,
        keys=tuple(entry.key for entry in kept),
        epsilons=np.array(places),
        worst=np.array([[cell.worst for cell in row] for row in found]).reshape(*shape, 3),
        typical=np.array([[cell.typical for cell in row] for row in found]).reshape(*shape, 3),
        promised=np.array([[cell.promised for cell in row] for row in found]).reshape(shape),
        left_out=tuple(entry.key for entry in left_out),
    )


def _grid(plan: Plan, question: PlannedQuestion, *, by_rows: bool) -> tuple[list[Entry], list[Entry], list[float]]:
    """Mechanisms that are quick enough, those that are not, and the places of the axis."""
    kept: list[Entry] = []
    left_out: list[Entry] = []
    for key, entry in plan.proved(question).items():
        before, each = entry.make(**question.values_for(key)).preview_seconds(plan.problem(question))
        (kept if before + MAX_TRIALS * each <= BLOCK_SECONDS else left_out).append(entry)
    most = MAX_SIMULATED_ROWS if question.entry_key == WHOLE_TABLE else N_GRID[-1]
    return kept, left_out, [float(n) for n in N_GRID if n <= most] if by_rows else list(EPSILON_GRID)


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
    """One mechanism at one privacy loss, or at one n."""
    there = replace(plan, n=int(place), questions=(question,)) if by_rows else plan
    asked = replace(question, entry_key=entry.key, values=question.values_for(entry.key))
    if there.n not in twins:
        twins[there.n] = twin_of(there, question, seed=seed)
    mechanism = entry.make(**asked.values, epsilon=question.epsilon if by_rows else place)
    trials = max(MIN_TRIALS, min(MAX_TRIALS, MAX_CELLS // there.problem(question).domain.size))
    errors = simulate_errors(there, asked, mechanism, twins[there.n], seed=seed, trials=trials)
    nothing, promise = np.full(3, math.nan), guaranteed_question_error(there, asked, mechanism)
    if promise < math.inf and depends_on_n(mechanism, there.problem(asked), beta=there.beta):
        promise = math.inf  # a curve has no room for the condition that n is right
    return Cell(
        worst=np.quantile(errors.worst, LEVELS) if len(errors.worst) else nothing,
        typical=np.quantile(errors.typical, LEVELS) if len(errors.typical) else nothing,
        promised=promise,
    )
