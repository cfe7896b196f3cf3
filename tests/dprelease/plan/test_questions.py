"""Plans: what they cost, the file they are kept in, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours, ParameterError, per_person
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.requests.parts import Request

COLUMNS = (
    DeclaredColumn(name="age", on=Number(high=120, bins=12, missing=True, unit="years")),
    DeclaredColumn(name="sex", on=Labels(labels=("f", "m\n", "“x”"))),
    DeclaredColumn(name="day", on=Dates(step="week", first="2024-W01", last="2024-W20")),
    DeclaredColumn(name="smokes", on=Labels(yes_no=True)),
    DeclaredColumn(name="name", on=Labels(labels=("a", "b")), used=False),
)
TABLE = DeclaredTable(columns=COLUMNS)
QUESTIONS = (
    PlannedQuestion(columns=("age",), queries="intervals", entry_key="identity", epsilon=0.5, target=0.01),
    PlannedQuestion(columns=("sex",), queries="cells", entry_key="gaussian", epsilon=0.25, values={"delta": 1e-7}),
    PlannedQuestion(columns=("day", "age"), queries="rectangles", entry_key="identity", epsilon=0.125, pinned=True),
    PlannedQuestion(columns=("smokes",), queries="cells", entry_key="identity", epsilon=0.1),
)
PLAN = Plan(table=TABLE, n=5000, questions=QUESTIONS)


def test_the_cost_is_the_sum_of_the_questions() -> None:
    assert PLAN.cost.epsilon == pytest.approx(0.975) and PLAN.cost.delta == 1e-7
    assert PLAN.cost.neighbours is Neighbours.ADD_REMOVE_ONE and PLAN.cost.releasable


def test_persons_cost_what_their_rows_cost() -> None:
    table = DeclaredTable(columns=COLUMNS, person="name", person_rows=3)
    plan = Plan(table=table, n=5000, questions=QUESTIONS[:2])
    rows = [per_person(PLAN.guarantee(question), 3) for question in QUESTIONS[:2]]
    assert plan.cost.delta == pytest.approx(sum(row.delta for row in rows))
    # Group privacy, but for the Gaussian question: of that, three rows at once cost a little less.
    assert 2.249 < plan.cost.epsilon < sum(row.epsilon for row in rows) == pytest.approx(2.25)
    assert plan.cost.delta > 3e-7 and "person" in str(plan.cost)
    alone = [plan.guarantee(question) for question in QUESTIONS[:2]]
    assert sum(each.epsilon for each in alone) == pytest.approx(plan.cost.epsilon)
    assert [one == row for one, row in zip(alone, rows, strict=True)] == [not row.delta for row in rows]


@pytest.mark.parametrize("person", ["", "name"])
def test_a_plan_is_what_its_file_says(person: str) -> None:
    plan = Plan(table=DeclaredTable(columns=COLUMNS, person=person, person_rows=2), n=5000, questions=QUESTIONS)
    again = Plan.read(plan.text)
    assert again == plan and again.text == plan.text and again.cost == plan.cost


def test_a_question_reads_the_same_rows_from_a_frame() -> None:
    frame = pd.DataFrame({"age": [17, 41, 200, None], "sex": ["f", "“x”", "?", None], "day": ["2024-01-02"] * 4})
    dataset = PLAN.reading(QUESTIONS[0]).from_frame(frame)
    assert dataset.histogram.tolist() == [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    assert PLAN.reading(QUESTIONS[1]).from_frame(frame).histogram.tolist() == [1, 0, 1, 2]


def test_a_question_can_be_released_by_itself() -> None:
    for question in QUESTIONS:
        request = replace(PLAN, questions=(question,)).request()
        assert Request.read(request.text).digest == request.digest
        [part] = request.parts
        assert part.mechanism.guarantee(part.problem) == PLAN.guarantee(question)


def change(document: dict[str, Any], path: str, value: Any) -> None:
    *way, last = path.split(".")
    for step in way:
        document = document[int(step)] if isinstance(document, list) else document[step]
    document[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("format", "dpscope-plan/1", "of an older program. Create it again"),
        ("format", "dpscope-plan/3", "A plan's format must be “dpscope-plan/2”"),
        ("format", ["dpscope-plan/1"], "A plan's format must be"),
        ("extra", 1, "no field “extra”"),
        ("relation", "none", "relation"),
        ("n", 0, "integer"),
        ("beta", "0", "between 0 and 1"),
        ("level", "0.5", "must be 0.9, 0.95 or 0.99"),
        ("level", "NaN", "must be a finite number"),
        ("level", "x", "must be a finite number"),
        ("level", ["0.9"], "must be a finite number"),
        ("questions", {}, "list"),
        ("questions", [], "between 1 and 64"),
        ("questions.0.columns", ["nothing"], "not declared"),
        ("questions.0.columns", ["name"], "not declared was requested"),
        ("questions.0.columns", [], "one column"),
        ("questions.0.columns", ["age", "age"], "different"),
        ("questions.0.columns", [1], "must be a string"),
        ("questions.0.queries", "rectangles", "Statistics of these columns"),
        ("questions.0.epsilon", "NaN", "finite number"),
        ("questions.0.epsilon", "-1", "above 0"),
        ("questions.0.target", "1.5", "between 0 and 1"),
        ("questions.0.pinned", "yes", "true or false"),
        ("questions.0.secret", "x", "no field"),
        ("questions.0.mechanism.key", "nothing", "No mechanism"),
        ("questions.0.mechanism.key", "rectangles", "cannot release this statistic"),
        ("questions.0.mechanism.key", "stable-median", "No mechanism"),
        ("questions.0.mechanism.parameters", {"sigma": 1}, "no parameter"),
        ("questions.0.ways", 2, "Tables need a number of columns"),
        ("questions.0.ways", "2", "integer"),
        ("questions.0.asks", ["age 3-4"], "Tables need a number of columns"),
        ("questions.0.asks", "age 3-4", "asks must be a list"),
        ("questions.0.queries", "marginal-tables", "Tables need a number of columns"),
        ("questions.0.mechanism.key", "subsample_larger", "cannot be in a plan yet"),
        ("table.type", "Grid", "DeclaredTable"),
        ("table.columns", [], "not declared"),
    ],
)
def test_whatever_is_not_known_is_refused_in_one_sentence(path: str, value: Any, words: str) -> None:
    document = json.loads(PLAN.text)
    change(document, path, value)
    with pytest.raises(ParameterError) as error:
        Plan.read(json.dumps(document))
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"format": NaN}', "{}" * 2, "[" * 100_000])
def test_whatever_is_no_plan_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ParameterError):
        Plan.read(text)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda: PlannedQuestion(columns=("age",), queries="cells", entry_key="median", epsilon=1.0),
            "does not release data",
        ),
        (
            lambda: PlannedQuestion(columns=("age",), queries="cells", entry_key="identity", epsilon=-1.0),
            "privacy budget",
        ),
        (
            lambda: PlannedQuestion(columns=("age",), queries="cells", entry_key="identity", epsilon=1.0, target=0.0),
            "target",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused_at_once(made: Callable[[], PlannedQuestion], words: str) -> None:
    with pytest.raises(ParameterError) as error:
        Plan(table=TABLE, n=100, questions=(made(),))
    assert words.lower() in str(error.value).lower()


def test_a_plan_holds_no_row() -> None:
    assert not any(isinstance(value, np.ndarray | pd.DataFrame) for value in vars(PLAN).values())
