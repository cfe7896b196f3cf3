"""Statistics by group in a plan: its file, its predictions, the smallest ε of a margin, and one release."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours, ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.frames import read_frame
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Preview
from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.planned_margins import people_needed, predicted_half_width
from dplab.measure import finish
from dprelease.certificate import certificate, verify
from dprelease.ledger.checks import check
from dprelease.plan.compare import compare_mechanisms
from dprelease.plan.errors import QuestionRehearsal, predict, rehearse_question
from dprelease.plan.margins import margin, people_per_group
from dprelease.plan.planned_question import PlannedQuestion, group_question
from dprelease.plan.questions import Plan
from dprelease.plan.shares import for_targets, for_total
from dprelease.release import rehearse
from dprelease.requests.parts import Request
from tests.kit.ledgers import registered, stored_release

N = 2_400
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=Labels(labels=("N", "S", "E"))),
        DeclaredColumn(name="sex", on=Labels(labels=("F", "M"))),
        DeclaredColumn(name="income", on=Number(high=100, bins=100, missing=True, unit="k€")),
        DeclaredColumn(name="hours", on=Number(high=80, bins=40, missing=True, unit="h")),
        DeclaredColumn(name="smoker", on=Labels(yes_no=True)),
    )
)


def planned(statistic: str, *columns: str, by: tuple[str, ...] = (), **changed: Any) -> PlannedQuestion:
    usual = {"quantiles": (0.25, 0.5)} if statistic == "quantiles" else {}
    return replace(group_question(statistic, columns, by, epsilon=0.5), **usual | changed)


MEAN = planned("mean", "income", by=("region", "sex"), min_rows=300)
SHARE = planned("share", "smoker", by=("hours",))
SUM = planned("sum", "income", by=("region",))
SPREAD = planned("spread", "income")
RATIO = planned(
    "ratio", "income", "hours", by=("sex",), entry_key="group-counters-gaussian", values={"delta": 1e-7}
)  # fmt: skip
SLOPE = planned("slope", "income", "hours", by=("sex",))
QUANTILES = planned("quantiles", "income", by=("region",))
PEOPLE = planned("people", by=("region", "sex"))
ALL = (MEAN, SHARE, SUM, SPREAD, RATIO, SLOPE, QUANTILES, PEOPLE)


def plan(*questions: PlannedQuestion, table: DeclaredTable = TABLE, **changed: Any) -> Plan:
    return Plan(table=table, n=N, questions=questions, **changed)


def people(n: int = N) -> pd.DataFrame:
    places = np.arange(n)
    return pd.DataFrame(
        {
            "region": np.array(["N", "S", "E"])[places % 3],
            "sex": np.where(places // 3 % 2, "M", "F"),
            "income": np.where(places % 2, 0.2, 0.7),
            "hours": (places % 80) + 0.5,
            "smoker": np.where(places % 10, "no", "yes"),
        }
    )


def test_a_plan_of_groups_is_what_its_file_says() -> None:
    groups_plan = plan(*ALL)
    again = Plan.read(groups_plan.text)
    assert again == groups_plan and again.text == groups_plan.text and again.cost == groups_plan.cost
    document = json.loads(groups_plan.text)["questions"][0]
    assert (document["statistic"], document["by"], document["min_rows"]) == ("mean", ["region", "sex"], 300)
    assert "quantiles" not in document
    assert json.loads(groups_plan.text)["questions"][6]["quantiles"] == ["0.25", "0.5"]
    request = groups_plan.request()
    assert Request.read(request.text).digest == request.digest


def test_that_everybody_is_in_the_table_is_in_the_plan_s_file_and_in_the_request() -> None:
    spread = replace(SPREAD, whole_population=True)
    again = Plan.read(plan(spread).text)
    assert again.questions == (spread,) and b"whole_population" not in plan(SPREAD).text
    [part] = Request.read(again.request().text).parts
    assert isinstance(part.queries, GroupStatistics) and part.queries.whole_population


def test_every_statistic_has_its_queries() -> None:
    queries = [plan(each).problem(each).queries for each in ALL]
    assert [type(each) for each in queries] == [GroupStatistics] * 6 + [GroupQuantiles, Marginals]
    assert [getattr(each, "degree", 0) for each in queries] == [1, 1, 1, 2, 1, 2, 0, 0]
    # Three regions, two sexes, and anything else of each; ten ranges of hours and none; all rows.
    assert [each.count for each in queries] == [12, 11, 4, 1, 3, 3, 4, 12]
    first = queries[0]
    assert isinstance(first, GroupStatistics) and first.min_rows == 300
    assert [people_per_group(plan(each), each) for each in ALL] == [300, 240, 800, 2400, 1200, 1200, 800, 400]


def test_all_mechanisms_of_groups_are_offered_and_no_others() -> None:
    counters = ["group-counters", "group-counters-gaussian", "group-counters-planned"]
    offered = [list(plan(each).proved(each)) for each in ALL]
    assert offered == [counters] * 6 + [["group-quantiles"], ["direct-tables"]]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"statistic": "mode"}, "one of people, share"),
        ({"columns": ["income", "hours"]}, "is of one column"),
        ({"columns": []}, "is of one column"),
        ({"by": ["region", "region"]}, "named once"),
        ({"by": ["income"]}, "named once"),
        ({"by": ["region", "sex", "smoker", "hours"]}, "at most 3 columns"),
        ({"by": "region"}, "by must be a list"),
        ({"by": ["nothing"]}, "not declared"),
        ({"columns": ["smoker"]}, "columns of numbers"),
        ({"statistic": "share"}, "two labels"),
        ({"queries": "cells"}, "The queries of “Mean”"),
        ({"min_rows": -1}, "between 0 and"),
        ({"min_rows": 10**400}, "between 0 and"),
        ({"min_rows": "3"}, "must be an integer"),
        ({"quantiles": ["0.5"]}, "other statistics have none"),
        ({"quantiles": ["0.5"] * 100}, "at most 99"),
        ({"whole_population": True}, "Only of a share, or of a mean with its spread"),
        ({"whole_population": 1}, "must be true or false"),
        ({"statistic": ""}, "Only a statistic by group"),
        ({"mechanism": {"key": "group-quantiles"}}, "cannot release this statistic"),
    ],
)
def test_a_statistic_that_cannot_be_is_refused_in_one_sentence(changed: dict[str, Any], words: str) -> None:
    document = json.loads(plan(MEAN).text)
    document["questions"][0] |= changed
    with pytest.raises(ParameterError) as error:
        Plan.read(json.dumps(document))
    assert words in str(error.value) and "\n" not in str(error.value)


def test_quantiles_and_people_have_rules_of_their_own() -> None:
    with pytest.raises(ParameterError, match="Quantiles need the shares"):
        replace(QUANTILES, quantiles=())
    with pytest.raises(ParameterError, match="must ascend"):
        plan(replace(QUANTILES, quantiles=(0.5, 0.25)))
    with pytest.raises(ParameterError, match="by at least one column"):
        planned("people")


def test_more_cells_than_whole_numbers_have_room_for_are_refused_when_planned() -> None:
    fine = replace(TABLE.columns[2], on=Number(bins=1 << 15))
    table = DeclaredTable(columns=(fine, replace(fine, name="hours")))
    with pytest.raises(ParameterError, match="take fewer cells or a lower degree"):
        plan(planned("slope", "income", "hours"), table=table)


def test_the_margin_of_a_mean_is_that_of_group_sizes() -> None:
    groups_plan = plan(MEAN)
    [prediction] = finish(predict(groups_plan))
    noise, found = LaplaceNoise.of(epsilon=0.5, sensitivity=200), prediction.margin
    assert found is not None and (found.people, found.unit, found.scale) == (300, "k€", 100)
    expected = predicted_half_width(300, noise, weight=200, level=0.95, width=100.0)
    assert found.half_width == pytest.approx(expected) and found.share == pytest.approx(expected / 100)
    assert found.people_needed(0.01) == people_needed(1.0, noise, weight=200, level=0.95, width=100.0)
    assert prediction.typical < found.share < prediction.worst * 1.5 and prediction.promised == math.inf
    replaced = finish(predict(plan(MEAN, neighbours=Neighbours.REPLACE_ONE)))[0].margin
    assert replaced is not None and replaced.half_width == pytest.approx(2 * found.half_width, rel=0.01)


@pytest.mark.parametrize("question", [MEAN, SUM, PEOPLE], ids=["mean", "sum", "people"])
def test_predicted_margins_are_those_of_releases(question: PlannedQuestion) -> None:
    """Incomes lie at the lower bound, where a mean has its largest margin; its errors below the bound are cut off."""
    groups_plan = plan(question)
    rows = groups_plan.reading(question).from_frame(people())
    problem, mechanism = groups_plan.problem(question), groups_plan.mechanism(question)
    drawn = mechanism.run(mechanism.prepare(rows, problem), Preview(3), 1_000)
    if isinstance(drawn, GroupRelease):
        values = drawn.statistics()["sum" if question is SUM else "mean"]
        groups = [0, 1, 2] if question is SUM else [0, 1, 3, 4, 6, 7]
        truth, values = (400 * 0.5 + 400 * 0.5 if question is SUM else 0.5), values[:, groups]
    else:
        values, truth = drawn.outcomes().reshape(1_000, 4, 3)[:, :3, :2], 400
    found = margin(replace(groups_plan, questions=(question,)), replace(question, min_rows=400), mechanism)
    missed = np.mean(np.abs(values - truth) > found.half_width)
    expected = 0.05 if question is not MEAN else 0.025
    assert 0.5 * expected < missed < 1.3 * expected


def test_the_smallest_epsilon_meets_a_margin_and_less_does_not() -> None:
    targets = (0.02, 0.05, 0.02, 0.02, 0.05, 0.1, 0.1, 0.004)
    asked = plan(*(replace(each, target=target) for each, target in zip(ALL, targets, strict=True)))
    solved = finish(for_targets(asked))
    assert solved.unmet == () and solved.confidence == 1
    for question, target in zip(solved.plan.questions, targets, strict=True):
        mechanism = solved.plan.mechanism(question)
        assert margin(solved.plan, question, mechanism).share <= target * (1 + 1e-9)
        less = question.entry.make(**question.values, epsilon=question.epsilon * 0.98)
        assert margin(solved.plan, question, less).share > target
    impossible = finish(for_targets(plan(replace(MEAN, min_rows=1, target=1e-4))))
    assert impossible.unmet == (0,)


def test_a_total_is_divided_among_groups_and_counts() -> None:
    counts = PlannedQuestion(columns=("income",), queries="intervals", entry_key="identity", epsilon=0.5, target=0.05)
    shared = finish(for_total(plan(replace(MEAN, target=0.001), replace(SUM, target=0.5), counts), 1.0))
    first, second, _ = (each.epsilon for each in shared.questions)
    assert shared.cost.epsilon == pytest.approx(1.0, abs=1e-3) and first > 2 * second


def test_a_ratio_over_a_range_around_zero_has_no_margin_but_a_plan() -> None:
    around = DeclaredTable(
        columns=(*TABLE.columns, DeclaredColumn(name="change", on=Number(low=-5, high=5, bins=10)))
    )  # fmt: skip
    ratio = planned("ratio", "income", "change", by=("sex",))
    asked = plan(replace(ratio, target=0.1), table=around)
    [prediction] = finish(predict(asked))
    assert prediction.margin is None and prediction.worst == math.inf
    assert finish(for_targets(asked)).unmet == (0,)
    assert finish(for_total(asked, 1.0)).questions[0].epsilon == pytest.approx(1.0)


def test_every_mechanism_of_a_mean_is_compared_in_closed_form() -> None:
    for by_rows in (False, True):
        question = replace(MEAN, min_rows=0)
        sweep = finish(compare_mechanisms(plan(question), question, cells={}, by_rows=by_rows))
        assert sweep.keys == ("group-counters", "group-counters-gaussian", "group-counters-planned")
        assert (np.diff(sweep.worst[:, :, 1], axis=1) < 0).all() and (np.diff(sweep.worst, axis=2) >= 0).all()
        assert np.isinf(sweep.promised).all()


def test_a_rehearsal_is_a_table_of_groups() -> None:
    for question in (MEAN, QUANTILES, PEOPLE):
        found = rehearse_question(plan(question), question)
        assert not isinstance(found, QuestionRehearsal)
        assert not any(name.startswith("counter") for name in found)
        assert "mean" in found or "quantile 0.5" in found or "rows" in found


@pytest.mark.parametrize("person", ["", "who"])
def test_groups_are_rehearsed_released_and_verified(tmp_path: Path, person: str) -> None:
    frame = people()
    table = DeclaredTable(columns=TABLE.columns, person=person, person_rows=2 if person else 1)
    if person:
        frame["who"] = np.arange(len(frame)) // 2
    groups_plan = plan(MEAN, SHARE, SLOPE, QUANTILES, PEOPLE, table=table)
    request = groups_plan.request()
    assert rehearse(request).numbers > 100
    private = read_frame(frame)
    unit: dict[str, Any] = {"person_column": person, "rows_a_person": 2} if person else {}
    ledger, dataset_id = registered(tmp_path, rows=private, public_n=N, epsilon=9.0, **unit)
    came = stored_release(ledger, dataset_id, request, private)
    assert verify(certificate(came), came.files) == [] == check(ledger, dataset_id)
    names = [name.partition("-")[0] for name in came.files]
    assert names == ["01", "02", "03", "04", "04", "05"]  # quantiles have a file beside that of their cells
    means = pd.read_csv(io.BytesIO(next(iter(came.files.values()))))
    assert len(means) == 12 and set(means["group sex"]) >= {"F", "M"} and "mean" in means
