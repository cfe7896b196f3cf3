"""What a plan's questions will be wrong by, known before anybody looks at the data: on the twin, and by the theorems.

Everything is computed from the plan. The twin has made-up rows on the declared columns; a mechanism whose noise has one
law on all data errs on it as it will on the true rows, and of any other it is a forecast.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Mechanism, Problem
from dpcore.data.twin import twin
from dpcore.experiments.limits.outlook import promised_error
from dpcore.experiments.measure import FRAMES, ErrorReport, finish, measure
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.plan.questions import Plan, PlannedQuestion
from dpcore.randomness import Preview

TRIALS = 200
MOST_SECONDS = 2.0
"""Of releases of one question at one privacy loss; fewer of them are made of a slow mechanism."""
GRID = tuple(float(loss) for loss in np.geomspace(0.01, 20, 12))
"""Privacy losses between which errors are interpolated."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What one question is wrong by, as shares of n.

    Attributes:
        worst: median over releases of the largest error over all queries.
        mean_square: root mean square over releases of the same.
        typical: median over releases of the mean error over a batch of queries.
        promised: what the theorem promises of the worst error, except with chance beta; infinity for nothing.
        impossible: below this nobody with the same guarantee can promise to stay; 0 where nothing is known.
        on_all_data: whether the errors hold whatever the true rows are.
    """

    worst: float
    mean_square: float
    typical: float
    promised: float
    impossible: float
    on_all_data: bool


def twin_of(plan: Plan, question: PlannedQuestion, *, seed: int = 1) -> Dataset:
    """Made-up rows as the question reads them."""
    return twin(plan.table.reading(*question.columns), n=plan.n, seed=seed).dataset()


def predict(plan: Plan, *, seed: int = 1) -> Generator[float, None, list[Prediction]]:
    """A prediction for each question; yields the fraction done."""
    found = []
    for place, question in enumerate(plan.questions):
        problem, mechanism = plan.problem(question), plan.mechanism(question)
        report = simulated(mechanism, twin_of(plan, question, seed=seed), problem, seed=seed)
        wall = lower_bound(problem, mechanism.guarantee(problem), beta=plan.beta)
        found.append(
            Prediction(
                worst=_middle(report.answered),
                mean_square=_root_mean_square(report.answered),
                typical=_middle(report.typical[~report.refused]),
                promised=promised_error(mechanism, problem, beta=plan.beta),
                impossible=wall.value if wall else 0.0,
                on_all_data=mechanism.data_independent,
            )
        )
        yield (place + 1) / len(plan.questions)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Rehearsed:
    """Releases of made-up rows.

    Attributes:
        rows: made up.
        frames: released rows per cell, (at most FRAMES, size).
    """

    rows: Dataset
    frames: Floats


def rehearsed(plan: Plan, question: PlannedQuestion, *, seed: int = 1) -> Rehearsed:
    """A few releases of the question on its twin; free, and nothing of anybody."""
    problem, mechanism, rows = plan.problem(question), plan.mechanism(question), twin_of(plan, question, seed=seed)
    state = mechanism.prepare(rows, problem)
    report = finish(measure(mechanism, rows, state, Preview(seed), trials=FRAMES, queries_shown=1))
    return Rehearsed(rows=rows, frames=report.frames)


def simulated(mechanism: Mechanism, rows: Dataset, problem: Problem, *, seed: int) -> ErrorReport:
    """Releases of rows that are made up, and their errors."""
    state = mechanism.prepare(rows, problem)
    return finish(measure(mechanism, rows, state, Preview(seed), trials=TRIALS, seconds=MOST_SECONDS))


def _middle(errors: Floats) -> float:
    """The median; NaN where every release refused."""
    return float(np.median(errors)) if len(errors) else math.nan


def _root_mean_square(errors: Floats) -> float:
    """Of what was answered; NaN where every release refused."""
    return float(np.sqrt(np.mean(np.square(errors)))) if len(errors) else math.nan


def curve(plan: Plan, question: PlannedQuestion, *, seed: int = 1, grid: Sequence[float] = GRID) -> Floats:
    """The question's predicted worst error at each privacy loss of a grid, falling; NaN becomes infinity."""
    rows, problem = twin_of(plan, question, seed=seed), plan.problem(question)
    found = []
    for loss in grid:
        mechanism = question.entry.make(**question.values, epsilon=loss)
        worst = _middle(simulated(mechanism, rows, problem, seed=seed).answered)
        found.append(math.inf if math.isnan(worst) else worst)
    falling: Floats = np.minimum.accumulate(np.array(found))
    return falling
