"""Statistics by group of one draw: which share one, what it costs, and that their margins are those of the draw."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.randomness import Preview
from dprelease.plan.errors import twin_of
from dprelease.plan.groups import FOLLOWING
from dprelease.plan.margins import margin
from dprelease.plan.planned_question import PlannedQuestion, group_question, shared
from dprelease.plan.questions import Plan

TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=Labels(labels=("N", "S"))),
        DeclaredColumn(name="smoker", on=Labels(labels=("no", "yes"), missing=False)),
        DeclaredColumn(name="income", on=Number(high=100, bins=100)),
        DeclaredColumn(name="hours", on=Number(high=80, bins=40, missing=True)),
    )
)
TRIALS = 4_000


def question(statistic: str, *columns: str, by: tuple[str, ...] = ("region",)) -> PlannedQuestion:
    found = group_question(statistic, columns, by, epsilon=0.5)
    return replace(found, quantiles=(0.25, 0.5)) if statistic == "quantiles" else found


MEAN, SUM, SPREAD = (question(each, "income") for each in ("mean", "sum", "spread"))
SHARE, PEOPLE = question("share", "smoker"), question("people")


def plan(*questions: PlannedQuestion) -> Plan:
    return Plan(table=TABLE, n=2_000, questions=questions)


@pytest.mark.parametrize(
    ("first", "second", "leader", "also"),
    [
        (MEAN, SUM, "mean", ("sum",)),
        (SUM, MEAN, "sum", ("mean",)),
        (MEAN, SPREAD, "spread", ()),
        (SPREAD, MEAN, "spread", ()),
        (SUM, SPREAD, "spread", ("sum",)),
        (MEAN, MEAN, "mean", ()),
        (MEAN, PEOPLE, "mean", ("people",)),
        (PEOPLE, MEAN, "mean", ("people",)),
        (SHARE, PEOPLE, "share", ("people",)),
        (replace(MEAN, also=("sum",)), PEOPLE, "mean", ("sum", "people")),
    ],
)
def test_statistics_of_the_same_counters_are_one_draw(
    first: PlannedQuestion, second: PlannedQuestion, leader: str, also: tuple[str, ...]
) -> None:
    one = shared(replace(first, epsilon=0.3, pinned=True), second, TABLE)
    assert one is not None and (one.statistic, one.also) == (leader, also)
    together = plan(one)
    assert together.cost.epsilon == pytest.approx(0.3) and one.pinned
    assert plan(replace(first, epsilon=0.3), second).cost.epsilon == pytest.approx(0.8)
    assert Plan.read(together.text) == together
    assert together.part(one) == together.part(replace(one, also=())), "the draw does not depend on what is shown"


@pytest.mark.parametrize(
    "second",
    [
        question("sum", "income", by=("smoker",)),
        question("sum", "hours"),
        question("ratio", "income", "hours"),
        question("quantiles", "income"),
        SHARE,
        PlannedQuestion(columns=("income",), queries="intervals", entry_key="identity", epsilon=0.5),
    ],
)
def test_statistics_of_other_counters_are_not(second: PlannedQuestion) -> None:
    assert shared(MEAN, second, TABLE) is None and shared(second, MEAN, TABLE) is None


def test_people_do_not_follow_where_rows_may_have_no_value() -> None:
    hours = question("mean", "hours")
    assert shared(hours, PEOPLE, TABLE) is None
    with pytest.raises(ParameterError, match="Rows without “hours” are not counted"):
        plan(replace(hours, also=("people",)))


def test_a_shared_draw_never_raises_the_cost_of_a_plan() -> None:
    """People with Gaussian noise cost less beside others of that kind: with Laplace noise they would cost more."""
    gaussian = replace(PEOPLE, values={"noise": "gaussian"})
    others = replace(gaussian, by=("smoker",)), replace(PEOPLE, by=("smoker",))
    for first, second in product((gaussian, PEOPLE, MEAN, SPREAD), (gaussian, PEOPLE, MEAN, SUM)):
        one = shared(first, second, TABLE)
        assert (one is None) == (first == gaussian and second.statistic != "people")
        for other in others:
            assert one is None or plan(one, other).cost.epsilon <= plan(first, other).cost.epsilon


def test_the_groups_have_the_order_of_the_first_and_the_smallest_group_that_is_declared() -> None:
    first = question("mean", "income", by=("region", "smoker"))
    second = replace(question("sum", "income", by=("smoker", "region")), min_rows=300)
    one = shared(first, second, TABLE)
    assert one is not None and one.by == ("region", "smoker") and one.min_rows == 300


def test_a_target_stays_where_its_scale_does() -> None:
    for first, second, target in ((MEAN, SUM, 0.1), (MEAN, SPREAD, 0.1), (SUM, SPREAD, None)):
        one = shared(replace(first, target=0.1), second, TABLE)
        assert one is not None and one.target == target


def test_quantiles_of_one_column_share_their_counts() -> None:
    quartiles = question("quantiles", "income")
    one = shared(quartiles, replace(quartiles, quantiles=(0.5, 0.9)), TABLE)
    assert one is not None and one.quantiles == (0.25, 0.5, 0.9)
    assert plan(one).cost.epsilon == pytest.approx(0.5)


def test_a_plan_refuses_what_the_counters_do_not_release() -> None:
    with pytest.raises(ParameterError, match="counters of “Sum” do not release all of: spread"):
        replace(SUM, also=("spread",))
    with pytest.raises(ParameterError, match="counters of “Mean” do not release all of: sum, sum"):
        replace(MEAN, also=("sum", "sum"))
    text = plan(replace(MEAN, also=("sum",))).text.replace(b'"also":["sum"]', b'"also":"sum"')
    with pytest.raises(ParameterError, match="also must be a list"):
        Plan.read(text)


@pytest.mark.parametrize("leader", [SHARE, MEAN, SPREAD])
def test_the_margins_of_what_follows_are_those_of_the_draw(leader: PlannedQuestion) -> None:
    one = replace(leader, also=tuple(each for each in FOLLOWING[leader.statistic] if each in ("sum", "people")))
    planned = plan(one)
    mechanism = planned.mechanism(one)
    problem = planned.problem(one)
    rows = twin_of(planned, one, seed=3)
    drawn = mechanism.run(mechanism.prepare(rows, problem), Preview(5), TRIALS)
    assert isinstance(drawn, GroupRelease)
    for statistic in one.also:
        values = drawn.statistics()["rows" if statistic == "people" else statistic][:, 0]
        wide = margin(planned, one, mechanism, statistic=statistic).half_width
        inside = float((np.abs(values - np.median(values)) <= wide).mean())
        # Of a sum the margin is that of the exact law; a half-width that is one draw wrong covers 90% or 98%.
        assert inside == pytest.approx(0.95, abs=0.02), (statistic, wide)
