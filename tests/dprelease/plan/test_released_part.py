"""The plan of a released part: rebuilt from the request, it expects what the plan did, by the law of the release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.queries.marginals import Marginals
from dplab.measure import finish
from dprelease.downloads.statistics import released_statistics
from dprelease.plan.errors import predict
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.released_part import plan_of_part
from dprelease.plan.titles import part_title, question_title
from dprelease.release import rehearse

TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(high=128, bits=5, missing=True)),
        DeclaredColumn(name="pay", on=Number(high=1000, bits=4, unit="USD")),
        DeclaredColumn(name="sex", on=Labels(labels=("f", "m"))),
        DeclaredColumn(name="region", on=Labels(labels=("N", "E", "S"))),
    )
)
GROUPS: dict[str, Any] = {"queries": "group-statistics", "entry_key": "group-counters", "by": ("age", "region")}
TABLES: dict[str, Any] = {"queries": Marginals.key, "entry_key": "direct-tables", "values": {"noise": "laplace"}}
STATISTICS: dict[str, dict[str, Any]] = {
    "": {"columns": ("sex",), "queries": "cells", "entry_key": "identity"},
    "gaussian": {"columns": ("age", "pay"), "queries": "cells", "entry_key": "gaussian", "values": {"delta": 1e-6}},
    "ranges": {"columns": ("age",), "queries": "intervals", "entry_key": "identity"},
    "of a column": {"columns": ("pay",), "queries": "thresholds", "entry_key": "counted-mean"},
    "people": TABLES | {"columns": (), "by": ("sex", "region"), "statistic": "people"},
    "lines": TABLES | {"columns": ("age", "sex"), "lines": ("age >= 65, sex = f",)},
    "tables": TABLES | {"columns": ("sex", "pay", "age"), "ways": 3},
    "mean": GROUPS | {"columns": ("pay",), "statistic": "mean", "min_rows": 200},
    "sum": GROUPS | {"columns": ("pay",), "statistic": "sum"},
    "proportion": GROUPS | {"columns": ("sex",), "statistic": "share"},
    "ratio of sums": GROUPS | {"columns": ("pay", "age"), "by": ("sex",), "statistic": "ratio"},
}
"""Settings by the name in the file, or in words."""
EXACT = ("", "gaussian", "people", "lines", "tables")
"""Those of which every released count has the expected error as its interval."""


@pytest.mark.parametrize("name", STATISTICS)
def test_a_release_expects_what_its_plan_did_and_counts_keep_it(name: str) -> None:
    persons = name in ("mean", "people")
    plan = Plan(
        table=replace(TABLE, person="id", person_rows=2) if persons else TABLE, n=5000,
        neighbours=Neighbours.ADD_REMOVE_ONE if persons else Neighbours.REPLACE_ONE,
        questions=(PlannedQuestion(epsilon=0.5, **STATISTICS[name]),),
    )  # fmt: skip
    request = plan.request()
    [part] = request.parts
    rebuilt = plan_of_part(request, part, name=name)
    assert rebuilt is not None and rebuilt.table.person == plan.table.person
    [before], [after] = finish(predict(plan)), finish(predict(rebuilt))
    if name == "lines":  # of which a plan expects the errors of their sums, and a file has the cells
        before = after
    assert after.single == before.single and after.margin == before.margin
    assert name not in ("mean", "sum", "proportion") or plan_of_part(request, part, name="rows") is None
    [files] = rehearse(request).files
    statistic, *_ = released_statistics(part, *files.values())
    if name in EXACT:
        assert statistic.half_widths == pytest.approx(np.full(len(statistic.values), 5000 * before.single), rel=1e-12)


TITLES = {
    "mean": "Mean and sum of pay by age × region",
    "sum": "Mean and sum of pay by age × region",
    "lines": "People by age × sex",  # the table that its lines are sums of, as is that of all three columns
    "tables": "People by sex × pay × age",
}
"""Titles that differ from the plan's."""


@pytest.mark.parametrize("name", STATISTICS)
def test_a_request_is_in_the_words_of_its_plan(name: str) -> None:
    question = PlannedQuestion(epsilon=0.5, **STATISTICS[name])
    request = Plan(table=TABLE, n=5000, questions=(question,)).request()
    [title] = [part_title(request, part) for part in request.parts]
    assert title == TITLES.get(name, question_title(TABLE, question))


def test_titles_of_statistics_by_group_without_a_planned_margin() -> None:
    slope = GROUPS | {"columns": ("pay", "age"), "by": ("sex",), "statistic": "slope"}
    quantiles = {"columns": ("pay",), "by": ("sex",), "statistic": "quantiles", "quantiles": (0.5,)}
    quantiles |= {"queries": "group-quantiles", "entry_key": "group-quantiles"}
    asked = [PlannedQuestion(epsilon=0.5, **each) for each in (slope, quantiles)]
    request = Plan(table=TABLE, n=5000, questions=tuple(asked)).request()
    assert [part_title(request, part) for part in request.parts] == [
        "Slope and correlation of pay on age by sex",
        "Median of pay by sex",
    ]
