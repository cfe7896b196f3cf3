"""Errors of a plan's questions before any access to the data: simulated on mock data, and guaranteed by theorems.

Everything is computed from the plan. The twin is mock data with the declared columns. For a mechanism with
data-independent noise its errors are those on the true rows; for any other mechanism they are a forecast.
"""

from __future__ import annotations

import math
from collections.abc import Generator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Dataset, Floats, Mechanism, ParameterError
from dpcore.data.declarations import Capped
from dpcore.data.twin import twin
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.grouped.quantiles import GroupQuantilesRelease
from dpcore.queries.ranges import Cells
from dpcore.randomness import Preview
from dplab.limits.data_independent_summary import depends_on_n, promised_error
from dplab.measure import FRAMES, finish, measure
from dprelease.plan.answers import MAX_SIMULATED_ROWS, Errors, answer_errors, lines_frame, max_summed_cells
from dprelease.plan.groups import PEOPLE
from dprelease.plan.margins import Margin, margin, worst_shares
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.requests.intervals import noise_of_counts

if TYPE_CHECKING:
    import pandas as pd

TRIALS = 200
MAX_SECONDS = 2.0
"""Time limit of the simulations of one question at one ε; a slow mechanism gets fewer releases."""
COARSE = 3
"""Values of ε that are tried for synthetic rows: every COARSE-th of the grid."""
MIN_ERROR = 1e-12
"""Smallest error whose logarithm is taken."""
GRID = tuple(float(loss) for loss in np.geomspace(0.01, 20, 12))
"""Values of ε between which errors are interpolated."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Predicted errors of one question, as shares of n; of a statistic by group, as shares of its margin's scale.

    Attributes:
        worst: median over releases of the largest error over all queries.
        mean_square: root mean square over releases of the same.
        typical: median over releases of the mean error over a batch of queries.
        single: error that one query stays below with confidence 1 − beta, over queries and releases.
        promised: guaranteed worst error with confidence 1 − beta; infinity without a guarantee.
        impossible: lower bound on the guaranteed error of any mechanism with the same privacy; 0 if unknown.
        on_all_data: whether the errors hold whatever the true rows are.
        if_n: whether the guarantee requires that n is the number of rows, which is not checked.
        margin: predicted margin of one group, for a statistic by group.
    """

    worst: float
    mean_square: float
    typical: float
    single: float
    promised: float
    impossible: float
    on_all_data: bool
    if_n: bool = False
    margin: Margin | None = None


Predictions = MutableMapping[str, Prediction]
"""Computed predictions, by ``question_key``."""
Losses = MutableMapping[tuple[str, float], float]
"""Predicted worst errors, by ``question_key`` and ε."""


def question_key(plan: Plan, question: PlannedQuestion, *, seed: int) -> str:
    """Return a key of everything that a question's errors depend on, without its target and the other questions."""
    without_target = replace(question, target=None, pinned=False)
    return repr((plan.table, plan.n, plan.neighbours, plan.beta, without_target, seed))


def twin_of(plan: Plan, question: PlannedQuestion, *, seed: int = 1) -> Dataset:
    """Return mock data in the question's reading: n rows, or fewer for synthetic rows.

    They are rows without persons: where persons are protected, n counts the rows that are left after the cap.
    """
    n = min(plan.n, MAX_SIMULATED_ROWS) if question.entry_key == WHOLE_TABLE else plan.n
    reading = plan.reading(question)
    return twin(reading.reading if isinstance(reading, Capped) else reading, n=n, seed=seed).dataset()


def predict(plan: Plan, *, seed: int = 1, known: Predictions | None = None) -> Generator[float, None, list[Prediction]]:
    """Predict the errors of each question; yields the fraction done.

    Args:
        plan: the plan.
        seed: seed of the mock data and of the simulations.
        known: cache of predictions.
    """
    known = {} if known is None else known
    for place, question in enumerate(plan.questions):
        key = question_key(plan, question, seed=seed)
        if key not in known:
            known[key] = _predicted(plan, question, seed=seed)
        yield (place + 1) / len(plan.questions)
    return known_predictions(plan, known=known, seed=seed)


def known_predictions(plan: Plan, *, known: Predictions, seed: int = 1) -> list[Prediction]:
    """Return the computed prediction of each question; NaN without a guarantee where it is not computed yet."""
    nothing = Prediction(
        worst=math.nan, mean_square=math.nan, typical=math.nan, single=math.nan, promised=math.nan, impossible=0.0,
        on_all_data=True,
    )  # fmt: skip
    return [known.get(question_key(plan, question, seed=seed), nothing) for question in plan.questions]


def _predicted(plan: Plan, question: PlannedQuestion, *, seed: int) -> Prediction:
    """Predict the errors of one question."""
    problem, mechanism = plan.problem(question), plan.mechanism(question)
    if question.statistic:
        return _predicted_groups(plan, question, mechanism)
    errors = simulate_errors(plan, question, mechanism, twin_of(plan, question, seed=seed), seed=seed)
    counts, tables = question.releases == "data", question.releases == "answers" and question.entry_key != WHOLE_TABLE
    wall = lower_bound(problem, mechanism.guarantee(problem), beta=plan.beta) if counts else None
    promise = guaranteed_question_error(plan, question, mechanism)
    return Prediction(
        worst=_middle(errors.worst),
        mean_square=_root_mean_square(errors.worst),
        typical=_middle(errors.typical),
        single=_single_error(plan, question, mechanism, simulated=errors.single),
        promised=promise,
        if_n=promise < math.inf and depends_on_n(mechanism, problem, beta=plan.beta),
        impossible=wall.value if wall else 0.0,
        on_all_data=mechanism.data_independent or tables,
    )


def _single_error(plan: Plan, question: PlannedQuestion, mechanism: Mechanism, *, simulated: float) -> float:
    """Return the error of a cell's count by the exact law of its noise, as a release states it; else the simulated."""
    problem = plan.problem(question)
    cells = isinstance(problem.queries, Cells) or (question.releases == "answers" and not question.lines)
    noise = noise_of_counts(mechanism, problem) if cells else None
    return noise.half_width(plan.beta) / plan.n if noise else simulated


def _predicted_groups(plan: Plan, question: PlannedQuestion, mechanism: Mechanism) -> Prediction:
    """Predict the errors of a statistic by group in closed form: of the worst group, and of one as ``typical``."""
    try:
        planned = margin(plan, question, mechanism)
    except ParameterError:  # no margin can be predicted of this ratio
        planned = None
    [worst] = worst_shares(plan, question, mechanism, chances=(0.5,)).tolist()
    [typical] = worst_shares(plan, question, mechanism, chances=(0.5,), together=False).tolist()
    return Prediction(
        worst=worst,
        mean_square=math.nan,
        typical=typical,
        single=planned.share if planned else math.inf,
        promised=guaranteed_question_error(plan, question, mechanism) if question.statistic == PEOPLE else math.inf,
        impossible=0.0,
        on_all_data=True,
        margin=planned,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionRehearsal:
    """Simulated releases of mock data.

    Attributes:
        rows: mock data.
        frames: released rows per cell, (at most FRAMES, size).
    """

    rows: Dataset
    frames: Floats


def rehearse_question(plan: Plan, question: PlannedQuestion, *, seed: int = 1) -> QuestionRehearsal | pd.DataFrame:
    """Simulate a few releases of the question on mock data, or one as a table, without privacy cost."""
    problem, mechanism, rows = plan.problem(question), plan.mechanism(question), twin_of(plan, question, seed=seed)
    if question.releases != "data":
        problem = replace(problem, n=rows.n)
        release = mechanism.run(mechanism.prepare(rows, problem), Preview(seed))
        if question.lines:
            return lines_frame(plan, question, release, rows)
        frame = release.table() if isinstance(release, GroupQuantilesRelease) else release.frame()
        return frame.drop(columns=[name for name in frame if question.statistic and name.startswith("counter ")])
    state = mechanism.prepare(rows, problem)
    report = finish(measure(mechanism, rows, state, Preview(seed), trials=FRAMES, queries_shown=1))
    return QuestionRehearsal(rows=rows, frames=report.frames)


def simulate_errors(
    plan: Plan, question: PlannedQuestion, mechanism: Mechanism, rows: Dataset, *, seed: int, trials: int = TRIALS
) -> Errors:
    """Simulate releases of mock data and return the errors of those that answered."""
    if question.releases != "data":
        return answer_errors(plan, question, mechanism, rows, trials=trials, seed=seed)
    state = mechanism.prepare(rows, plan.problem(question))
    report = finish(
        measure(mechanism, rows, state, Preview(seed), trials=trials, seconds=MAX_SECONDS, level=1 - plan.beta)
    )
    return Errors(worst=report.answered, typical=report.typical[~report.refused], single=report.single)


def guaranteed_question_error(plan: Plan, question: PlannedQuestion, mechanism: Mechanism) -> float:
    """Return the guaranteed worst error if n is right, with confidence 1 − beta; infinity without a guarantee.

    In a line of text every summed cell may have the largest error. Synthetic rows have no guarantee in advance, and a
    bound of 100% or more is no guarantee.
    """
    if question.entry_key == WHOLE_TABLE:
        return math.inf
    problem = plan.problem(question)
    error = promised_error(mechanism, problem, beta=plan.beta) * max_summed_cells(plan, question)
    return error if error < 1 else math.inf


def _middle(errors: Floats) -> float:
    """Return the median; NaN where every release refused."""
    return float(np.median(errors)) if len(errors) else math.nan


def _root_mean_square(errors: Floats) -> float:
    """Return the root mean square; NaN where every release refused."""
    return float(np.sqrt(np.mean(np.square(errors)))) if len(errors) else math.nan


def curve(
    plan: Plan,
    question: PlannedQuestion,
    *,
    seed: int = 1,
    grid: Sequence[float] = GRID,
    known: Losses | None = None,
) -> Generator[float, None, Floats]:
    """Compute the question's predicted worst error at each ε of a grid, made monotone; NaN becomes infinity.

    Yields the fraction done; ``known`` caches the results. A statistic by group has its closed form.
    """
    if question.statistic:
        return (yield from _group_curve(plan, question, grid=grid))
    known = {} if known is None else known
    key = question_key(plan, replace(question, epsilon=1.0), seed=seed)
    whole = question.entry_key == WHOLE_TABLE  # synthetic rows are slow: fewer releases, at fewer values of ε
    rows, trials, places = None, 1 if whole else TRIALS, list(grid)
    places = sorted({*places[::COARSE], places[-1]}) if whole else places
    for done, loss in enumerate(places, 1):
        if (key, loss) not in known:
            rows = rows or twin_of(plan, question, seed=seed)
            mechanism = question.entry.make(**question.values, epsilon=loss)
            worst = _middle(simulate_errors(plan, question, mechanism, rows, seed=seed, trials=trials).worst)
            known[key, loss] = math.inf if math.isnan(worst) else worst
        yield done / len(places)
    errors = [known[key, loss] for loss in places]
    if whole:
        errors = np.exp(np.interp(np.log(grid), np.log(places), np.log(np.maximum(errors, MIN_ERROR)))).tolist()
    falling: Floats = np.minimum.accumulate(np.array(errors))
    return falling


def _group_curve(plan: Plan, question: PlannedQuestion, *, grid: Sequence[float]) -> Generator[float, None, Floats]:
    """Compute the same for a statistic by group; where no margin can be predicted the error falls as 1/ε."""
    errors = []
    for done, loss in enumerate(grid, 1):
        mechanism = question.entry.make(**question.values, epsilon=loss)
        [worst] = worst_shares(plan, question, mechanism, chances=(0.5,)).tolist()
        errors.append(worst if worst < math.inf else 1 / loss)
        yield done / len(grid)
    falling: Floats = np.minimum.accumulate(np.array(errors))
    return falling
