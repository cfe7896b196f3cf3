"""Intervals of a plan's statistics by group, over 1,000 releases of a messy file, and what pandas says of its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.tables import read_table
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.randomness import Preview
from dprelease.plan.groups import STATISTICS
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.requests.intervals import LEVEL, end_names, statistics_with_intervals, with_intervals
from tests.dplab.intervals.coverage import refuted

ROWS, RELEASES, PERSON_ROWS = 4_000, 1_000, 3
TOP, STEP, VISITS = 60_000, 1_000, 10
REGIONS, SEXES = ("North", "South", "East"), ("f", "m")
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=Labels(labels=REGIONS)),
        DeclaredColumn(name="sex", on=Labels(labels=SEXES)),
        DeclaredColumn(name="born", on=Number(low=1930, high=2010, bins=80, missing=True)),
        DeclaredColumn(name="income", on=Number(high=TOP, bins=TOP // STEP, missing=True)),
        DeclaredColumn(name="answer", on=Number(low=0.5, high=5.5, bins=5, missing=True)),
        DeclaredColumn(name="visits", on=Number(low=-0.5, high=VISITS + 0.5, bins=VISITS + 1, missing=True)),
    ),
    person="person",
    person_rows=PERSON_ROWS,
)


def planned(statistic: str, *columns: str, by: tuple[str, ...], epsilon: float = 1.0) -> PlannedQuestion:
    kind = STATISTICS[statistic]
    return PlannedQuestion(
        columns=columns, statistic=statistic, by=by, entry_key=kind.entry_key, queries=kind.queries, epsilon=epsilon
    )


MEAN = planned("mean", "income", by=("region", "sex"))
QUESTIONS = (
    MEAN,
    planned("mean", "born", by=("region",)),
    planned("sum", "visits", by=("region",)),
    planned("share", "sex", by=("region",)),
    planned("spread", "answer", by=("sex",)),
    planned("ratio", "income", "visits", by=("sex",)),
)


def messy_file() -> pd.DataFrame:
    """Return texts of a file: blanks, labels that are not declared, missing values, mistyped answers, large incomes."""
    draw = np.random.Generator(np.random.SFC64(8))
    income = draw.lognormal(10.3, 0.7, ROWS).round(2).astype(str)
    income[draw.random(ROWS) < 0.07] = draw.choice(["", "n/a"])
    frame = pd.DataFrame(
        {
            "postcode": draw.integers(1, 99_999, ROWS).astype(str),
            "person": np.repeat([f"p{each}" for each in range(ROWS)], draw.integers(1, 6, ROWS))[:ROWS],
            "region": draw.choice(["North", " North", "South", "East ", "?", ""], ROWS),
            "sex": draw.choice(["f", "m", "m", "unknown"], ROWS),
            "born": draw.integers(1915, 2009, ROWS).astype(str),
            "income": income,
            "answer": draw.choice(["1", "2", "3", "4", "5", "9", ""], ROWS),
            "visits": (draw.geometric(0.2, ROWS) - 1).astype(str),
        }
    )
    return frame.sample(frac=1, random_state=3)


def as_declared(
    frame: pd.DataFrame, *, capped: bool = True, clipped: bool = True, left_out: bool = True
) -> pd.DataFrame:
    """Return the rows as the table is declared, by pandas: a person's first rows, bounds, middles of cells."""
    table = frame.groupby("person").head(PERSON_ROWS) if capped else frame
    table = table.assign(region=table["region"].str.strip().where(table["region"].str.strip().isin(REGIONS)))
    numbers = table[["born", "income", "answer", "visits"]].apply(pd.to_numeric, errors="coerce")
    if clipped:
        numbers = numbers.clip(
            {"born": 1930, "income": 0, "answer": 1, "visits": 0},
            {"born": 2009, "income": TOP - STEP / 2, "answer": 5, "visits": VISITS}, axis=1,
        )  # fmt: skip
    numbers["income"] = numbers["income"] // STEP * STEP + STEP / 2
    numbers["born"] += 0.5  # a year reaches to the next one
    return table.assign(**(numbers if left_out else numbers.fillna(0.0)))


def values(question: PlannedQuestion, table: pd.DataFrame) -> pd.DataFrame:
    """Return the statistics of each group by pandas, under the names that a released file gives them."""
    table = table.assign(sex=table["sex"].where(table["sex"].isin(SEXES))) if "sex" in question.by else table
    if question.statistic == "share":
        known = table[table["sex"].isin(SEXES)]
        groups = known.assign(yes=known["sex"] == "m").groupby("region")["yes"]
        return pd.DataFrame({"rows": groups.size(), "proportion": groups.mean(), "sum": groups.sum()})
    groups = table.dropna(subset=list(question.columns)).groupby(list(question.by))
    if question.statistic == "ratio":
        sums = groups[list(question.columns)].sum()
        found = {f"sum of {name}": sums[name] for name in question.columns}
        found |= {f"mean of {name}": groups[name].mean() for name in question.columns}
        return pd.DataFrame({"rows": groups.size(), **found, "ratio of sums": sums["income"] / sums["visits"]})
    [column] = question.columns
    measured = groups[column]
    return pd.DataFrame(
        {
            "rows": measured.size(), "mean": measured.mean(), "sum": measured.sum(),
            "variance": measured.var(ddof=0), "standard deviation": measured.std(ddof=0),
        }
    )  # fmt: skip


def refuted_statistics(
    question: PlannedQuestion, frame: pd.DataFrame, tables: dict[str, pd.DataFrame], *, narrower: float = 1.0
) -> dict[str, set[str]]:
    """Return, for each table of pandas, the statistics whose intervals hold its values less often than their level."""
    plan = Plan(table=TABLE, n=ROWS, questions=(question,))
    problem, mechanism = plan.problem(question), plan.mechanism(question)
    source = read_table(frame.to_csv(index=False).encode(), name="people.csv", header=True)
    rows = plan.reading(question).dataset(source, Provenance(kind=ProvenanceKind.STAND_IN, title="people"))
    drawn = mechanism.run(mechanism.prepare(rows, problem), Preview(5), RELEASES)
    assert isinstance(drawn, GroupRelease)
    released = with_intervals(drawn.frame(), drawn, mechanism)
    keys = [name for name in released.columns if name.startswith("group ")]
    found: dict[str, set[str]] = {}
    for title, table in tables.items():
        truth = values(question, table)
        names = statistics_with_intervals(mechanism, problem)
        assert {"rows"} < set(names) <= set(truth.columns)
        for name in names:
            low, high = (released[end].to_numpy() for end in end_names(name))
            cut = (1 - narrower) * (high - low) / 2
            for labels, value in truth[name].items():
                mine = (
                    (released[keys] == list(labels if isinstance(labels, tuple) else (labels,))).all(axis=1).to_numpy()
                )
                assert mine.sum() == RELEASES
                covered = (low[mine] + cut[mine] <= value + 1e-9) & (value - 1e-9 <= high[mine] - cut[mine])
                if refuted(covered, level=LEVEL):
                    found.setdefault(title, set()).add(name)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=[f"{each.statistic} of {each.columns[0]}" for each in QUESTIONS])
def test_intervals_hold_what_pandas_says_of_the_rows_as_declared(question: PlannedQuestion) -> None:
    frame = messy_file()
    assert refuted_statistics(question, frame, {"as declared": as_declared(frame)}) == {}


@pytest.mark.slow
def test_other_readings_of_the_rows_and_narrower_intervals_are_refuted() -> None:
    frame = messy_file()
    readings = {
        "not clipped": as_declared(frame, clipped=False),
        "not capped": as_declared(frame, capped=False),
        "missing as 0": as_declared(frame, left_out=False),
    }
    found = refuted_statistics(MEAN, frame, readings)
    assert {"mean", "sum"} <= found["not clipped"] and "rows" not in found["not clipped"]
    assert {"rows", "sum"} <= found["not capped"]
    assert {"rows", "mean"} <= found["missing as 0"]
    half = refuted_statistics(MEAN, frame, {"half as wide": as_declared(frame)}, narrower=0.5)
    assert half == {"half as wide": {"rows", "mean", "sum"}}
