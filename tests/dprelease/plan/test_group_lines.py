"""Lines of text that name statistics by group."""

from __future__ import annotations

import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dprelease.plan.group_lines import DECILES, QUARTILES, GroupLine, read_group_line
from dprelease.plan.predicates import read_lines
from dprelease.sizes import MAX_LINE_CHARACTERS

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
        ("share smoker = no by age band", GroupLine("share", ("smoker",), ("age band",), label="no")),
        ("share sex = f by region, groups of 30", GroupLine("share", ("sex",), ("region",), 30, label="F")),
        ("share with region = S by sex", GroupLine("share", ("region",), ("sex",), label="S")),
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
        ("mean " + "x" * MAX_LINE_CHARACTERS, None),
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
        ("share region by sex", "a share is of one label: name it, as in “share region = N”"),
        ("share age = 3 by sex", "a share needs a column of labels"),
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


def test_a_csv_of_statistics_is_read_line_by_line() -> None:
    text = (
        "Statistic;of;by;smallest group\nmean;income;region, sex;\nshare;smoker = no;age band;300\n"
        "people;;region;\nratio;income, age;;\n"
    )
    for sign in ";\t":
        parsed = read_lines(text.replace(";", sign), TABLE)
        assert parsed.problems == () and parsed.lines == {}
        assert parsed.groups == (
            GroupLine("mean", ("income",), ("region", "sex")),
            GroupLine("share", ("smoker",), ("age band",), 300, label="no"),
            GroupLine("people", (), ("region",)),
            GroupLine("ratio", ("income", "age"), ()),
        )
    quoted = read_lines('statistic,of,by\nmean,income,"region, sex"\n', TABLE)
    assert quoted.groups == (GroupLine("mean", ("income",), ("region", "sex")),)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mean,wage,sex", "no column is called “wage"),
        ("mean,income", "2 fields, the first line 3"),
        ("most,income,sex", "“most” is no statistic by group"),
        (",income,sex", "“” is no statistic by group"),
        ('mean,"income,sex', "quotation marks do not match"),
        ("mean," + "x" * MAX_LINE_CHARACTERS + ",sex", "letters"),
        ("mean,income,sex; DROP TABLE", "does not begin with a comma"),
    ],
)
def test_a_wrong_line_of_such_a_csv_gets_one_sentence(line: str, words: str) -> None:
    parsed = read_lines(f"statistic,of,by\n{line}\nmean,income,sex", TABLE)
    [problem] = parsed.problems
    assert problem.startswith("Line 2: ") and words in problem
    assert parsed.groups == (GroupLine("mean", ("income",), ("sex",)),)
