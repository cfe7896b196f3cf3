"""Plans of six questions of whole tables: what is predicted without a row is what happens to the true ones."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours
from dpcore.data.declarations import DeclaredTable
from dpcore.randomness import Preview
from dplab.measure import finish, measure
from dprelease.plan.answers import answer_errors
from dprelease.plan.errors import predict
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from tests.dprelease.plan.adult import adult, declared_adult
from tests.kit.visits import PERSON, PERSON_ROWS, ROWS, declared_visits, visits

RELEASES = 200
NEAR = 0.15
VISITS = (
    PlannedQuestion(columns=("age",), queries="intervals", entry_key="windows", epsilon=0.3),
    PlannedQuestion(columns=("cost",), queries="thresholds", entry_key="windows", epsilon=0.3),
    PlannedQuestion(columns=("region",), queries="cells", entry_key="identity", epsilon=0.1),
    PlannedQuestion(columns=("seen",), queries="intervals", entry_key="root", epsilon=0.2, values={"delta": 1e-7}),
    PlannedQuestion(columns=("age", "cost"), queries="rectangles", entry_key="identity", epsilon=0.2),
    PlannedQuestion(columns=("smoker",), queries="cells", entry_key="identity", epsilon=0.05),
)
ADULT = (
    PlannedQuestion(columns=("age",), queries="intervals", entry_key="windows", epsilon=0.3),
    PlannedQuestion(columns=("capital_gain",), queries="thresholds", entry_key="identity", epsilon=0.3),
    PlannedQuestion(columns=("native_country",), queries="cells", entry_key="gaussian", epsilon=0.1),
    PlannedQuestion(columns=("age", "hours_per_week"), queries="rectangles", entry_key="identity", epsilon=0.2),
    PlannedQuestion(
        columns=("workclass", "education", "marital_status", "race", "sex", "income"), queries="marginal-tables",
        ways=2, entry_key="residual-planner", epsilon=0.5,
    ),
    PlannedQuestion(
        columns=("age", "sex"), queries="marginal-tables", entry_key="direct-tables", values={"noise": "laplace"},
        lines=("age 20-34, sex Female", "age 35-64, sex Male"), epsilon=0.2,
    ),
)  # fmt: skip
NOMINAL = 40_000


@functools.cache
def table() -> pd.DataFrame:
    return visits()


@pytest.mark.slow
def test_the_table_is_what_its_recipe_says() -> None:
    frame = table()
    assert frame.shape == (ROWS, 20) and set(declared_visits().columns)
    assert frame.equals(visits()), "the same rows whenever it is made"
    assert frame.isna().to_numpy().any() and frame[PERSON].value_counts().max() > PERSON_ROWS


@pytest.mark.full
@pytest.mark.parametrize(
    ("declared", "rows", "questions"),
    [
        (declared_visits, table, VISITS),
        (functools.partial(declared_visits, by_person=False), table, VISITS),
        (declared_adult, adult, ADULT),
    ],
    ids=["visits by person", "visits by row", "adult"],
)
def test_predicted_errors_are_those_of_the_true_rows(
    declared: Callable[[], DeclaredTable], rows: Callable[[], pd.DataFrame], questions: tuple[PlannedQuestion, ...]
) -> None:
    plan = Plan(table=declared(), n=NOMINAL, questions=questions)
    assert plan.neighbours is Neighbours.ADD_REMOVE_ONE
    for question, told in zip(questions, finish(predict(plan)), strict=True):
        dataset, problem, mechanism = (
            plan.reading(question).from_frame(rows()),
            plan.problem(question),
            plan.mechanism(question),
        )
        if question.releases == "data":
            state = mechanism.prepare(dataset, problem)
            worst = finish(measure(mechanism, dataset, state, Preview(11), trials=RELEASES)).answered
        else:  # shares of the rows there are
            found = answer_errors(plan, question, mechanism, dataset, trials=RELEASES, seed=11)
            worst = found.worst * dataset.n / plan.n
        assert len(worst) == RELEASES
        seen = float(np.sqrt(np.mean(worst**2)))
        assert abs(told.mean_square / seen - 1) < NEAR, (question.columns, told.mean_square, seen)
        assert told.on_all_data
