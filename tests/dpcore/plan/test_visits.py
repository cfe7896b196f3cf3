"""A plan of six questions of a table with 20 mixed columns: what is predicted without a row is what happens."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours
from dpcore.experiments.measure import finish, measure
from dpcore.plan.errors import predict
from dpcore.plan.questions import Plan, PlannedQuestion
from dpcore.randomness import Preview
from tests.kit.visits import PERSON, PERSON_ROWS, ROWS, declared_visits, visits

RELEASES = 200
NEAR = 0.15
QUESTIONS = (
    PlannedQuestion(columns=("age",), queries="intervals", entry_key="windows", epsilon=0.3),
    PlannedQuestion(columns=("cost",), queries="thresholds", entry_key="windows", epsilon=0.3),
    PlannedQuestion(columns=("region",), queries="cells", entry_key="identity", epsilon=0.1),
    PlannedQuestion(columns=("seen",), queries="intervals", entry_key="root", epsilon=0.2, values={"delta": 1e-7}),
    PlannedQuestion(columns=("age", "cost"), queries="rectangles", entry_key="identity", epsilon=0.2),
    PlannedQuestion(columns=("smoker",), queries="cells", entry_key="identity", epsilon=0.05),
)
NOMINAL = 40_000


@functools.cache
def table() -> pd.DataFrame:
    return visits()


def test_the_table_is_what_its_recipe_says() -> None:
    frame = table()
    assert frame.shape == (ROWS, 20) and set(declared_visits().columns)
    assert frame.equals(visits()), "the same rows whenever it is made"
    assert frame.isna().to_numpy().any() and frame[PERSON].value_counts().max() > PERSON_ROWS


@pytest.mark.full
@pytest.mark.parametrize("by_person", [True, False], ids=["persons", "rows"])
def test_predicted_errors_are_those_of_the_true_rows(by_person: bool) -> None:
    plan = Plan(table=declared_visits(by_person=by_person), n=NOMINAL, questions=QUESTIONS)
    assert plan.neighbours is Neighbours.ADD_REMOVE_ONE
    for question, told in zip(QUESTIONS, finish(predict(plan)), strict=True):
        rows, problem, mechanism = (
            plan.reading(question).from_frame(table()),
            plan.problem(question),
            plan.mechanism(question),
        )
        report = finish(measure(mechanism, rows, mechanism.prepare(rows, problem), Preview(11), trials=RELEASES))
        assert len(report.answered) == RELEASES
        found = float(np.sqrt(np.mean(report.answered**2)))
        assert abs(told.mean_square / found - 1) < NEAR, (question.columns, told.mean_square, found)
        assert told.on_all_data
