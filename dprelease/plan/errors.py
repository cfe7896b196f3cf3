"""What a plan's questions will be wrong by, known before anybody looks at the data: on the twin, and by the theorems.

Everything is computed from the plan. The twin has made-up rows on the declared columns; a mechanism whose noise has one
law on all data errs on it as it will on the true rows, and of any other it is a forecast.
"""

from __future__ import annotations

import math
from collections.abc import Generator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Dataset, Floats, Mechanism
from dpcore.data.declared import Capped
from dpcore.data.twin import twin
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.randomness import Preview
from dplab.limits.data_independent_summary import depends_on_n, promised_error
from dplab.measure import FRAMES, finish, measure
from dprelease.plan.answers import MAX_SIMULATED_ROWS, Errors, answer_errors, lines_frame, max_summed_cells
from dprelease.plan.questions import WHOLE_TABLE, Plan, PlannedQuestion

if TYPE_CHECKING:
    import pandas as pd

TRIALS = 200
MAX_SECONDS = 2.0
"""Of releases of one question at one privacy loss; fewer of them are made of a slow mechanism."""
COARSE = 3
"""Of these losses, which are tried for rows made of tables."""
MIN_ERROR = 1e-12
"""Of an error whose logarithm is taken."""
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
        if_n: whether what is promised is so only if n is the number of rows, which nothing checks.
    """

    worst: float
    mean_square: float
    typical: float
    promised: float
    impossible: float
    on_all_data: bool
    if_n: bool = False


Predictions = MutableMapping[str, Prediction]
"""What is known, by what it depends on."""
Losses = MutableMapping[tuple[str, float], float]
"""Predicted worst errors, by what is asked and the privacy loss."""


def question_key(plan: Plan, question: PlannedQuestion, *, seed: int) -> str:
    """All that a question's errors depend on; its target and what else the plan asks are not in it."""
    asked = replace(question, target=None, pinned=False)
    return repr((plan.table, plan.n, plan.neighbours, plan.beta, asked, seed))


def twin_of(plan: Plan, question: PlannedQuestion, *, seed: int = 1) -> Dataset:
    """Made-up rows as the question reads them: n of them, or fewer where rows are made of what is released.

    They are nobody's: where persons are protected, errors are of the rows that are left of them.
    """
    n = min(plan.n, MAX_SIMULATED_ROWS) if question.entry_key == WHOLE_TABLE else plan.n
    reading = plan.reading(question)
    return twin(reading.reading if isinstance(reading, Capped) else reading, n=n, seed=seed).dataset()


def predict(plan: Plan, *, seed: int = 1, known: Predictions | None = None) -> Generator[float, None, list[Prediction]]:
    """A prediction for each question; yields the fraction done.

    Args:
        plan: the questions.
        seed: of the twin and of the previews.
        known: what was predicted before is taken from here, and what is found is put here.
    """
    known = {} if known is None else known
    for place, question in enumerate(plan.questions):
        asked = question_key(plan, question, seed=seed)
        if asked not in known:
            known[asked] = _predicted(plan, question, seed=seed)
        yield (place + 1) / len(plan.questions)
    return known_predictions(plan, known=known, seed=seed)


def known_predictions(plan: Plan, *, known: Predictions, seed: int = 1) -> list[Prediction]:
    """What is known of each question: NaN where it is not yet, and nothing promised."""
    nothing = Prediction(
        worst=math.nan, mean_square=math.nan, typical=math.nan, promised=math.nan, impossible=0.0, on_all_data=True
    )
    return [known.get(question_key(plan, question, seed=seed), nothing) for question in plan.questions]


def _predicted(plan: Plan, question: PlannedQuestion, *, seed: int) -> Prediction:
    """Of one question."""
    problem, mechanism = plan.problem(question), plan.mechanism(question)
    errors = simulate_errors(plan, question, mechanism, twin_of(plan, question, seed=seed), seed=seed)
    counts, tables = question.releases == "data", question.releases == "answers" and question.entry_key != WHOLE_TABLE
    wall = lower_bound(problem, mechanism.guarantee(problem), beta=plan.beta) if counts else None
    promise = guaranteed_question_error(plan, question, mechanism)
    return Prediction(
        worst=_middle(errors.worst),
        mean_square=_root_mean_square(errors.worst),
        typical=_middle(errors.typical),
        promised=promise,
        if_n=promise < math.inf and depends_on_n(mechanism, problem, beta=plan.beta),
        impossible=wall.value if wall else 0.0,
        on_all_data=mechanism.data_independent or tables,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionRehearsal:
    """Releases of made-up rows.

    Attributes:
        rows: made up.
        frames: released rows per cell, (at most FRAMES, size).
    """

    rows: Dataset
    frames: Floats


def rehearse_question(plan: Plan, question: PlannedQuestion, *, seed: int = 1) -> QuestionRehearsal | pd.DataFrame:
    """A few releases of the question on its twin, or one as a table; free, and nothing of anybody."""
    problem, mechanism, rows = plan.problem(question), plan.mechanism(question), twin_of(plan, question, seed=seed)
    if question.releases != "data":
        problem = replace(problem, n=rows.n)
        release = mechanism.run(mechanism.prepare(rows, problem), Preview(seed))
        return lines_frame(plan, question, release, rows) if question.lines else release.frame()
    state = mechanism.prepare(rows, problem)
    report = finish(measure(mechanism, rows, state, Preview(seed), trials=FRAMES, queries_shown=1))
    return QuestionRehearsal(rows=rows, frames=report.frames)


def simulate_errors(
    plan: Plan, question: PlannedQuestion, mechanism: Mechanism, rows: Dataset, *, seed: int, trials: int = TRIALS
) -> Errors:
    """Releases of rows that are made up, and the errors of those that answered."""
    if question.releases != "data":
        return answer_errors(plan, question, mechanism, rows, trials=trials, seed=seed)
    state = mechanism.prepare(rows, plan.problem(question))
    report = finish(measure(mechanism, rows, state, Preview(seed), trials=trials, seconds=MAX_SECONDS))
    return Errors(worst=report.answered, typical=report.typical[~report.refused])


def guaranteed_question_error(plan: Plan, question: PlannedQuestion, mechanism: Mechanism) -> float:
    """What the theorem promises of the worst error if n is right, except with chance beta; infinity for nothing.

    Of a line every cell that it sums may be off by as much as any; of rows made of tables nothing is promised
    before, and a bound of the whole or more promises nothing.
    """
    if question.entry_key == WHOLE_TABLE:
        return math.inf
    problem = plan.problem(question)
    error = promised_error(mechanism, problem, beta=plan.beta) * max_summed_cells(plan, question)
    return error if error < 1 else math.inf


def _middle(errors: Floats) -> float:
    """The median; NaN where every release refused."""
    return float(np.median(errors)) if len(errors) else math.nan


def _root_mean_square(errors: Floats) -> float:
    """Of what was answered; NaN where every release refused."""
    return float(np.sqrt(np.mean(np.square(errors)))) if len(errors) else math.nan


def curve(
    plan: Plan,
    question: PlannedQuestion,
    *,
    seed: int = 1,
    grid: Sequence[float] = GRID,
    known: Losses | None = None,
) -> Generator[float, None, Floats]:
    """The question's predicted worst error at each loss of a grid, falling; NaN becomes infinity.

    Yields the fraction done; what is in ``known`` is not worked out again, and what is found is put there.
    """
    known = {} if known is None else known
    asked = question_key(plan, replace(question, epsilon=1.0), seed=seed)
    whole = question.entry_key == WHOLE_TABLE  # rows take a while: of fewer releases, at fewer losses
    rows, trials, places = None, 1 if whole else TRIALS, list(grid)
    places = sorted({*places[::COARSE], places[-1]}) if whole else places
    for done, loss in enumerate(places, 1):
        if (asked, loss) not in known:
            rows = rows or twin_of(plan, question, seed=seed)
            mechanism = question.entry.make(**question.values, epsilon=loss)
            worst = _middle(simulate_errors(plan, question, mechanism, rows, seed=seed, trials=trials).worst)
            known[asked, loss] = math.inf if math.isnan(worst) else worst
        yield done / len(places)
    found = [known[asked, loss] for loss in places]
    if whole:
        found = np.exp(np.interp(np.log(grid), np.log(places), np.log(np.maximum(found, MIN_ERROR)))).tolist()
    falling: Floats = np.minimum.accumulate(np.array(found))
    return falling
