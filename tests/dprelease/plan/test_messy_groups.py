"""Intervals of every statistic of a plan, over 1,000 releases of a messy file, and what pandas says of its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Mechanism, Problem, Provenance, ProvenanceKind, Release
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Ages
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.tables import read_table
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease, line_of
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.robust.counted_mean import MeanRelease
from dpcore.randomness import Preview
from dplab.intervals.released import MEAN as OF_ALL
from dplab.intervals.released import group_quantile, interval
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.canonical import digest
from dprelease.plan.groups import STATISTICS
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.requests.intervals import LEVEL, end_names, noise_of_counts, with_intervals
from dprelease.requests.parts import RequestPart
from dprelease.requests.tables import csv_files
from tests.dplab.intervals.coverage import refuted

ROWS, RELEASES, PERSON_ROWS = 4_000, 1_000, 3
TOP, STEP, VISITS = 60_000, 1_000, 10
REGIONS, SEXES = ("North", "South", "East"), ("f", "m")
DAY = "2025-06-30"
"""On which ages are counted."""
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=Labels(labels=REGIONS)),
        DeclaredColumn(name="sex", on=Labels(labels=SEXES)),
        DeclaredColumn(name="birth_date", on=Ages(day=DAY, missing=True)),
        DeclaredColumn(name="income", on=Number(high=TOP, bins=TOP // STEP, missing=True)),
        DeclaredColumn(name="answer", on=Number(low=0.5, high=5.5, bins=5, missing=True)),
        DeclaredColumn(name="visits", on=Number(low=-0.5, high=VISITS + 0.5, bins=VISITS + 1, missing=True)),
    ),
    person="person",
    person_rows=PERSON_ROWS,
)


def planned(statistic: str, *columns: str, by: tuple[str, ...], epsilon: float = 1.0) -> PlannedQuestion:
    kind = STATISTICS[statistic]
    quantiles = (0.5,) if statistic == "quantiles" else ()
    return PlannedQuestion(
        columns=columns, statistic=statistic, by=by, entry_key=kind.entry_key, queries=kind.queries, epsilon=epsilon,
        quantiles=quantiles,
    )  # fmt: skip


MEAN = planned("mean", "income", by=("region", "sex"))
PEOPLE = planned("people", by=("region", "sex"), epsilon=0.1)
MEDIAN = planned("quantiles", "income", by=("region",))
QUESTIONS = (
    MEAN,
    planned("mean", "birth_date", by=("region",)),
    planned("sum", "visits", by=("region",)),
    planned("share", "sex", by=("region",)),
    planned("spread", "answer", by=("sex",)),
    planned("ratio", "income", "visits", by=("sex",)),
    planned("slope", "visits", "answer", by=("sex",), epsilon=5.0),
    PEOPLE,
    MEDIAN,
    PlannedQuestion(columns=("income",), queries="thresholds", entry_key="counted-mean", epsilon=0.2),
    PlannedQuestion(columns=("answer",), queries="cells", entry_key="identity", epsilon=0.1),
)


def messy_file() -> pd.DataFrame:
    """Return texts of a file: blanks, labels that are not declared, missing values, mistyped answers, large incomes."""
    draw = np.random.Generator(np.random.SFC64(8))
    income = draw.lognormal(10.3, 0.7, ROWS).round(2).astype(str)
    income[draw.random(ROWS) < 0.07] = draw.choice(["", "n/a"])
    born = np.datetime64("1915-01-01") + draw.integers(0, 94 * 365, ROWS)
    frame = pd.DataFrame(
        {
            "person": np.repeat([f"p{each}" for each in range(ROWS)], draw.integers(1, 6, ROWS))[:ROWS],
            "region": draw.choice(["North", " North", "South", "East ", "?", ""], ROWS),
            "sex": draw.choice(["f", "m", "m", "unknown"], ROWS),
            "birth_date": np.where(draw.random(ROWS) < 0.05, "1961-02-30", born.astype(str)),
            "income": income,
            "answer": draw.choice(["1", "2", "3", "4", "5", "9", ""], ROWS),
            "visits": (draw.geometric(0.2, ROWS) - 1).astype(str),
            "postcode": draw.integers(1, 99_999, ROWS).astype(str),
        }
    )
    return frame.sample(frac=1, random_state=3)


def as_declared(
    frame: pd.DataFrame, *, capped: bool = True, clipped: bool = True, left_out: bool = True, step: float = STEP
) -> pd.DataFrame:
    """Return the rows as the table is declared, by pandas: a person's first rows, bounds, middles of cells."""
    table = frame.groupby("person").head(PERSON_ROWS) if capped else frame
    table = table.assign(region=table["region"].str.strip().where(table["region"].str.strip().isin(REGIONS)))
    numbers = table[["income", "answer", "visits"]].apply(pd.to_numeric, errors="coerce")
    if clipped:
        top = {"income": TOP - step / 2, "answer": 5, "visits": VISITS}
        numbers = numbers.clip({"income": 0, "answer": 1, "visits": 0}, top, axis=1)
    numbers["income"] = numbers["income"] // step * step + step / 2
    born, day = pd.to_datetime(table["birth_date"], errors="coerce"), pd.Timestamp(DAY)
    later = (born.dt.month > day.month) | ((born.dt.month == day.month) & (born.dt.day > day.day))
    numbers["birth_date"] = day.year - born.dt.year - later
    return table.assign(**(numbers if left_out else numbers.fillna(0.0)))


def values(question: PlannedQuestion, table: pd.DataFrame) -> pd.DataFrame:
    """Return the statistics of each group by pandas, under the names that a released file gives them."""
    table = table.assign(sex=table["sex"].where(table["sex"].isin(SEXES))) if "sex" in question.by else table
    if question.queries == "cells":
        return pd.DataFrame({"rows": table[question.columns[0]].value_counts()})
    if not question.by:
        return pd.DataFrame({"mean": [table[question.columns[0]].mean()]})
    if question.statistic == "share":
        known = table[table["sex"].isin(SEXES)]
        groups = known.assign(yes=known["sex"] == "m").groupby("region")["yes"]
        return pd.DataFrame({"rows": groups.size(), "proportion": groups.mean(), "sum": groups.sum()})
    groups = table.dropna(subset=list(question.columns)).groupby(list(question.by))
    if question.statistic == "people":
        return pd.DataFrame({"rows": groups.size()})
    if question.statistic == "quantiles":
        return pd.DataFrame({"quantile 0.5": groups[question.columns[0]].quantile(0.5, interpolation="lower")})
    if question.statistic in ("ratio", "slope"):
        first, second = question.columns
        found = {"rows": groups.size()}
        for name in question.columns:
            measured, of = groups[name], f"of {name}"
            found |= {f"sum {of}": measured.sum(), f"mean {of}": measured.mean()}
            found |= {f"variance {of}": measured.var(ddof=0), f"standard deviation {of}": measured.std(ddof=0)}
        found["ratio of sums"] = found[f"sum of {first}"] / found[f"sum of {second}"]
        pairs = groups[[first, second]]
        shared = pairs.cov(ddof=0)[second].xs(first, level=-1)
        found["slope"] = shared / found[f"variance of {second}"]
        found["correlation"] = pairs.corr()[second].xs(first, level=-1)
        return pd.DataFrame(found)
    [column] = question.columns
    measured = groups[column]
    return pd.DataFrame(
        {
            "rows": measured.size(), "mean": measured.mean(), "sum": measured.sum(),
            "variance": measured.var(ddof=0), "standard deviation": measured.std(ddof=0),
        }
    )  # fmt: skip


def with_ends(drawn: Release, mechanism: Mechanism, problem: Problem, part: RequestPart) -> pd.DataFrame:
    """Return all releases with the ends of the intervals of each statistic, by the functions that files use."""
    frame = drawn.frame()
    if isinstance(drawn, GroupRelease):
        return with_intervals(frame, drawn, mechanism)
    if isinstance(drawn, GroupQuantilesRelease):
        assert isinstance(mechanism, GroupQuantileCounts)
        found, line = group_quantile(mechanism, drawn, 0.5, level=LEVEL, digest=digest(part.document)), line_of(problem)
        low, high = line.low + line.width * found.low, line.low + line.width * (found.high + 1)
        return drawn.table().assign(**dict(zip(end_names("quantile 0.5"), (low.ravel(), high.ravel()), strict=True)))
    if isinstance(drawn, MeanRelease):
        found = interval(mechanism, drawn, OF_ALL, level=LEVEL)
        return frame.assign(**{"mean low": found.low, "mean high": found.high})
    noise = noise_of_counts(mechanism, problem)
    assert noise is not None
    half = noise.half_width(1 - LEVEL)
    return frame.assign(**{"rows low": frame["rows"] - half, "rows high": frame["rows"] + half})


def groups_of(question: PlannedQuestion, released: pd.DataFrame) -> list[str]:
    """Return the columns of a released table that name its groups."""
    if question.queries == "cells":
        return ["value"]
    return [name for name in released if name in question.by or name.startswith("group ")]


def refuted_statistics(
    question: PlannedQuestion, frame: pd.DataFrame, tables: dict[str, pd.DataFrame], *, narrower: float = 1.0
) -> dict[str, set[str]]:
    """Return, for each table of pandas, the statistics whose intervals hold its values less often than their level."""
    plan = Plan(table=TABLE, n=ROWS, questions=(question,))
    [part] = plan.request().parts
    mechanism, problem = part.mechanism, part.problem
    source = read_table(frame.to_csv(index=False).encode(), name="people.csv", header=True)
    rows = plan.reading(question).dataset(source, Provenance(kind=ProvenanceKind.STAND_IN, title="people"))
    drawn = mechanism.run(mechanism.prepare(rows, problem), Preview(5), RELEASES)
    released = with_ends(drawn, mechanism, problem, part)
    keys = groups_of(question, released)
    check_card(part, drawn, released)
    found: dict[str, set[str]] = {}
    for title, table in tables.items():
        truth = values(question, table)
        names = [name for name in truth if set(end_names(name)) <= set(released)]
        ends = [name for name in released if " low" in name and not name.startswith("population")]
        assert len(names) == len(ends)
        for name in names:
            low, high = (released[end].to_numpy() for end in end_names(name))
            low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
            cut = np.where(np.isfinite(high - low), (1 - narrower) * (high - low) / 2, 0.0)
            for labels, value in truth[name].items():
                mine = np.ones(len(released), dtype=bool)
                for key, label in zip(keys, labels if isinstance(labels, tuple) else (labels,), strict=False):
                    mine &= (released[key] == label).to_numpy()
                assert mine.sum() == RELEASES
                covered = (low[mine] + cut[mine] <= value + 1e-9) & (value - 1e-9 <= high[mine] - cut[mine])
                if refuted(covered, level=LEVEL):
                    found.setdefault(title, set()).add(name)
    return found


def check_card(part: RequestPart, drawn: Release, released: pd.DataFrame) -> None:
    """Fail unless a card of the first release, made from its file, has the intervals that are tested here."""
    files = csv_files(drawn.part(0, 1), part.mechanism, digest=digest(part.document))
    first = released[released["trial"] == 0]
    for statistic in [each for contents in files.values() for each in released_statistics(part, contents)]:
        name = statistic.name or ("rows" if statistic.whole else "mean")
        if name == "rows" and isinstance(drawn, GroupQuantilesRelease):
            continue  # people by group are a question of their own here
        shown = np.isfinite(statistic.values)
        for end, told, outwards in zip(end_names(name), (statistic.low, statistic.high), (-1, 1), strict=True):
            scale = 100 if statistic.unit == "%" else 1
            computed, width = scale * first[end].to_numpy()[shown], (statistic.high - statistic.low)[shown]
            apart = outwards * (told[shown] - computed)
            # A card's mean of all rows is of all counters that may have given it.
            none = np.isnan(told[shown])
            assert (none == np.isnan(computed)).all() and shown.any(), name
            assert (none | (apart >= -1e-9 * width) & (apart <= 0.01 * width)).all(), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        pytest.param(
            each, id=f"{each.statistic or each.entry_key}-{'-'.join(each.columns)}",
            marks=[pytest.mark.full] * (each.statistic == "slope"),
        )
        for each in QUESTIONS
    ],
)  # fmt: skip
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
    assert refuted_statistics(PEOPLE, frame, readings) == {"not capped": {"rows"}}
    assert refuted_statistics(MEDIAN, frame, readings)["missing as 0"] == {"quantile 0.5"}
