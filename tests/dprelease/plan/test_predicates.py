"""Questions as lines of text: what they mean, row by row, and one sentence for each that means nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import is_table
from dprelease.plan.predicates import cells_of, conditions, cut_at, read_lines
from dprelease.sizes import MAX_GROUP_LINES

TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(low=0, high=100, bins=100, missing=True)),
        DeclaredColumn(name="visits", on=Number(low=-0.5, high=9.5, bins=10, missing=True)),
        DeclaredColumn(name="age of car", on=Number(high=30, bits=4, missing=True)),
        DeclaredColumn(name="sex", on=Labels(labels=("F", "M", "is, or was"))),
        DeclaredColumn(name="seen", on=Dates(step="month", first="2024-01", last="2024-12", missing=True)),
        DeclaredColumn(name="smokes", on=Labels(yes_no=True)),
        DeclaredColumn(name="secret", on=Labels(yes_no=True), used=False),
    )
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("age 20–34, sex = F", {"age": (20, 35), "sex": "F"}),
        ("age 20 to 34", {"age": (20, 35)}),
        ("age=40", {"age": (40, 41)}),
        ("age 20−34", {"age": (20, 35)}),
        ("age >= −5", {"age": (0, 100)}),
        ("seen >= 2023-05", {"seen": (648, 660)}),
        ("seen 2023-05 to 2024-01", {"seen": (648, 649)}),
        ("age >= 65", {"age": (65, 100)}),
        ("age above 64, age at most 70", {"age": (65, 71)}),
        ("age < 3", {"age": (0, 3)}),
        ("age <= 5.5", {"age": (0, 5.5)}),
        ("age > 5.5", {"age": (5.5, 100)}),
        ("visits 2–4", {"visits": (1.5, 4.5)}),
        ("visits < 3", {"visits": (-0.5, 2.5)}),
        ("visits > 3", {"visits": (3.5, 9.5)}),
        ("visits = 9", {"visits": (8.5, 9.5)}),
        ("age 20.5-34.5", {"age": (20.5, 34.5)}),
        ("age of car 2.5-7.5", {"age of car": (2.5, 7.5)}),
        ("age of car <= 7.5", {"age of car": (0, 7.5)}),
        ('"sex = is, or was", smokes yes', {"sex": "is, or was", "smokes": "yes"}),
        ("sex is f", {"sex": "F"}),
        ("seen 2024-02 to 2024-03", {"seen": (649, 651)}),
        ("seen 2024-02-10 – 2024-03-01", {"seen": (649, 651)}),
        ("seen = 2024-02", {"seen": (649, 650)}),
        ("seen >= 2024-11", {"seen": (658, 660)}),
    ],
)
def test_a_line_means_what_it_says(line: str, meant: dict[str, object]) -> None:
    assert conditions(line, TABLE) == meant


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("agee 3", "“agee 3” does not begin with the name of a column"),
        ("secret yes", "does not begin with the name of a column"),
        ("age 34-20", "ends before it begins"),
        ("age", "needs a range"),
        ("age x", "needs a range"),
        ("age nan", "needs a range"),
        ("age of car = 3", "needs a range"),
        ("age = 5.5", "needs a range"),
        ("age 200-300", "declared from 0 to 100, and this number is outside."),
        ("age < 3, age > 5", "no number is left"),
        ("sex = X", "no label “X”"),
        ("sex < F", "no label"),
        ("sex F, sex M", "only one label"),
        ("seen 3", "needs dates"),
        ("seen 2023-01 to 2023-12", "“seen” is declared from 2024-01 to 2024-12"),
        ("seen >= 2025-01", "“seen”"),
        ("seen <= 2023-12", "“seen”"),
        ("seen < 2024-03", "needs dates"),
        ("seen 2024-13 to 2024-14", "needs dates"),
        ('"age 3', "quotation marks"),
        (",,", "names no column"),
        ("age 1," * 200, "letters"),
    ],
)
def test_a_line_that_says_nothing_gets_one_sentence_with_its_number(line: str, words: str) -> None:
    found = read_lines(f"age 1-2\n\n{line}\nsex F", TABLE)
    [problem] = found.problems
    assert problem.startswith("Line 3: ") and words in problem and problem.endswith(".") and "\n" not in problem
    assert found.lines == {("age",): ("age 1-2",), ("sex",): ("sex F",)}, "the others are read all the same"


def test_a_table_of_ranges_says_the_same_as_lines() -> None:
    text = 'sex,age,seen\nF,20-34,\n"is, or was",,2024-02 to 2024-03\nM,x,\nM\n'
    found = read_lines(text, TABLE)
    assert [each.partition(":")[0] for each in found.problems] == ["Line 4", "Line 5"]
    assert list(found.lines) == [("age", "sex"), ("sex", "seen")]
    [[first], [second]] = found.lines.values()
    assert conditions(first, TABLE) == {"sex": "F", "age": (20, 35)}
    assert conditions(second, TABLE) == {"sex": "is, or was", "seen": (649, 651)}


@pytest.mark.parametrize("sign", ["\t", ";"])
def test_a_table_pasted_from_a_spreadsheet_says_the_same(sign: str) -> None:
    text = "sex,age,seen\nF,20-34,\nM,,2024-02\n"
    pasted = read_lines(text.replace(",", sign), TABLE)
    assert pasted == read_lines(text, TABLE) and len(pasted.lines) == 2 and not pasted.problems
    assert read_lines("age\t20-34\nsex\tF", TABLE).lines == {("age",): ("age\t20-34",), ("sex",): ("sex\tF",)}


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ("age,sex,income", "no column is called “income”"),
        ("age\tincome", "no column is called “income”"),
        ("secret,age", "no column is called “secret”"),
        ("age,age", "a column twice"),
        ("age,sex,", "one of its fields is empty"),
        ("age\tsex\t", "one of its fields is empty"),
    ],
)
def test_a_first_line_that_names_something_else_gets_the_only_sentence(first: str, words: str) -> None:
    found = read_lines(f"\n{first}\n" + "20-34,F,1\n" * 50, TABLE)
    [problem] = found.problems
    assert problem.startswith("Line 2: ") and words in problem and not found.lines


def test_too_many_lines_or_cells_are_refused() -> None:
    many = "\n".join(f"age {place % 90}-{place % 90 + 3}, sex F" for place in range(MAX_GROUP_LINES + 5))
    assert read_lines(many, TABLE).problems == (
        f"Line {MAX_GROUP_LINES + 1}: at most {MAX_GROUP_LINES} lines are read.",
    )
    assert "at most" in read_lines("agee 3\n" * (MAX_GROUP_LINES + 1), TABLE).problems[0], "whatever else is wrong"
    lines = [f"age = {age}, age of car {age / 4}-{age / 4 + 0.1}, seen = 2024-{age % 12 + 1:02d}" for age in range(99)]
    with pytest.raises(ParameterError, match="cells"):
        cut_at(lines, ("age", "age of car", "seen"), TABLE)
    with pytest.raises(ParameterError, match="same columns"):
        cut_at(["age 3-4", "sex F"], ("age",), TABLE)


def test_cells_add_up_to_the_rows_that_a_line_counts(seed: int) -> None:
    """Judged one row at a time, at the ends of ranges too; missing values and strange labels are counted by nobody."""
    random = np.random.default_rng(seed)
    ages = random.choice([0, 19, 20, 34, 34.5, 35, 64, 65, 99, 100, np.nan], 400)
    sexes = random.choice(["F", "M", "is, or was", "?"], 400)
    months = random.choice(np.array(["2024-01", "2024-02", "2024-03", "2024-04", None], dtype=object), 400)
    frame = pd.DataFrame({"age": ages, "sex": sexes, "seen": months})
    lines = {
        "age 20-34, sex F, seen 2024-02 to 2024-03": (ages >= 20)
        & (ages < 35) & (sexes == "F") & np.isin(months.astype(str), ["2024-02", "2024-03"]),
        "age >= 65, sex M, seen = 2024-01": (ages >= 65) & (sexes == "M") & (months.astype(str) == "2024-01"),
        "age <= 19, sex M, seen = 2024-01": (ages <= 19) & (sexes == "M") & (months.astype(str) == "2024-01"),
    }  # fmt: skip
    reading = cut_at(tuple(lines), ("age", "sex", "seen"), TABLE)
    domain = reading.domain
    assert is_table(domain) and domain.sizes == (5, 4, 4)
    records = reading.from_frame(frame).records
    cells = np.ravel_multi_index(tuple(records.T), domain.sizes)
    counted = np.bincount(cells, minlength=domain.size) @ cells_of(tuple(lines), TABLE, domain).T
    assert counted.tolist() == [int(each.sum()) for each in lines.values()] and counted.min() > 0
