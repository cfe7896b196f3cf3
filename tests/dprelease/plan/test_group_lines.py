"""Lines of text that name statistics by group."""

from __future__ import annotations

import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dprelease.plan.group_lines import DECILES, MAX_LETTERS, QUARTILES, GroupLine, read_group_line
from dprelease.plan.predicates import read_lines

TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(high=100, bins=100)),
        DeclaredColumn(name="age band", on=Labels(labels=("young", "old", "older"))),
        DeclaredColumn(name="sex", on=Labels(labels=("F", "M"))),
        DeclaredColumn(name="region", on=Labels(labels=("N", "S", "E"))),
        DeclaredColumn(name="income", on=Number(high=100, bins=100)),
        DeclaredColumn(name="paid by card", on=Number(high=100, bins=100)),
        DeclaredColumn(name="smoker", on=Labels(yes_no=True)),
        DeclaredColumn(name="sum", on=Number(high=10, bins=10)),
    )
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mean income by region, sex", GroupLine("mean", ("income",), ("region", "sex"))),
        ("Mean of income by region and sex", GroupLine("mean", ("income",), ("region", "sex"))),
        ("mean income", GroupLine("mean", ("income",), ())),
        ("share smoker = yes by age band", GroupLine("share", ("smoker",), ("age band",))),
        ("share of smoker by age band × age", GroupLine("share", ("smoker",), ("age band", "age"))),
        ("share with sex is m", GroupLine("share", ("sex",), ())),
        ("median income by region", GroupLine("quantiles", ("income",), ("region",), 0, (0.5,))),
        ("quartiles of age by sex", GroupLine("quantiles", ("age",), ("sex",), 0, QUARTILES)),
        ("deciles age by sex", GroupLine("quantiles", ("age",), ("sex",), 0, DECILES)),
        ("people by region", GroupLine("people", (), ("region",))),
        ("count by region, sex", GroupLine("people", (), ("region", "sex"))),
        ("total income by sex", GroupLine("sum", ("income",), ("sex",))),
        ("mean and spread of income by sex", GroupLine("spread", ("income",), ("sex",))),
        ("ratio of income to age by sex", GroupLine("ratio", ("income", "age"), ("sex",))),
        ("ratio income / age", GroupLine("ratio", ("income", "age"), ())),
        ("slope of income on age by sex", GroupLine("slope", ("income", "age"), ("sex",))),
        ("mean paid by card by sex", GroupLine("mean", ("paid by card",), ("sex",))),
        ("mean paid by card", GroupLine("mean", ("paid by card",), ())),
        ("mean income by sex, groups of 1,200", GroupLine("mean", ("income",), ("sex",), 1_200)),
        ("mean income by sex groups of at least 30 people", GroupLine("mean", ("income",), ("sex",), 30)),
        ("mean sum by sex", GroupLine("mean", ("sum",), ("sex",))),
        ("sum sum by sex", None),
        ("sum 3-4", None),
        ("age 20-34", None),
        ("meaning by sex", None),
        ("mean " + "x" * MAX_LETTERS, None),
    ],
)
def test_a_line_names_what_it_says(line: str, expected: GroupLine | None) -> None:
    assert read_group_line(line, TABLE) == expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mean wage by sex", "no column is called “wage”"),
        ("mean income by country", "no column is called “country”"),
        ("mean income by sex region", "does not begin with a comma"),
        ("mean income by sex,", "does not begin with a comma"),
        ("mean income, age by sex", "is of one column"),
        ("mean by sex", "is of one column"),
        ("ratio income by sex", "is of two columns"),
        ("people income by sex", "is of no column"),
        ("share region = N by sex", "a column of two labels"),
        ("share sex = F by region", "a share is of the second label, “sex = M”"),
        ("share sex = X by region", "has no label “X”"),
        ("share nothing by region", "name of a column"),
    ],
)
def test_a_wrong_line_gets_one_sentence(line: str, words: str) -> None:
    with pytest.raises(ParameterError) as error:
        read_group_line(line, TABLE)
    assert words in str(error.value) and "\n" not in str(error.value)
    assert read_lines(line, TABLE).problems == (f"Line 1: {error.value}",)


def test_lines_of_both_kinds_are_read_together() -> None:
    text = "mean income by region, sex\nage 20-34, sex F\n\nmean income by region, sex\npeople by sex"
    parsed = read_lines(text, TABLE)
    assert parsed.problems == () and parsed.lines == {("age", "sex"): ("age 20-34, sex F",)}
    assert [each.statistic for each in parsed.groups] == ["mean", "people"]
    assert read_lines("region,sex\nN,F\nmean income by sex,M", TABLE).problems == (
        "Line 3: “region” has no label “mean income by sex”.",
    ), "below a header every line is a row of conditions"
