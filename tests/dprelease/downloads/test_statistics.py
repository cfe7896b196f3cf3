"""Released statistics in words: their intervals contain the true values, and hostile names stay names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.tables import read_table
from dpcore.data.twin import twin
from dpcore.randomness import Preview
from dprelease.downloads.group_tables import HIDDEN, rows_needed, rows_with_margin
from dprelease.downloads.statistics import ReleasedStatistic, printable_shares, released_statistics
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.requests.parts import RequestPart
from dprelease.requests.tables import csv_files, preview_of
from pages.charts.picture import Bars, Dots
from pages.release.figure import released_groups
from tests.kit.ledgers import DIGEST

JOBS = ("cook", "=nurse")
ROWS = [(JOBS[i % 3 > 0], i * 37 % 100, ("no", "yes")[i % 4 == 0]) for i in range(600)]
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="rows", on=Labels(labels=JOBS)),  # named as a column of the released file
        DeclaredColumn(name="pay", on=Number(high=100.0, bins=100, unit="USD")),
        DeclaredColumn(name="smoker", on=Labels(labels=("no", "yes"))),
    )
)


def part_of(columns: tuple[str, ...], queries: str, key: str, *, epsilon: float = 1.0, **more: Any) -> RequestPart:
    question = PlannedQuestion(columns=columns, queries=queries, entry_key=key, epsilon=epsilon, **more)
    plan = Plan(table=TABLE, n=600, questions=(question,), neighbours=Neighbours.ADD_REMOVE_ONE)
    return plan.request().parts[0]


def released(part: RequestPart, *, seed: int = 1) -> list[ReleasedStatistic]:
    text = "\n".join(["rows,pay,smoker", *(f"{job},{pay},{smoker}" for job, pay, smoker in ROWS)])
    table = read_table(text.encode(), name="people.csv", header=True)
    state = part.mechanism.prepare(
        part.reading.dataset(table, twin(part.reading, n=1).dataset().provenance), part.problem
    )
    [contents] = csv_files(part.mechanism.run(state, Preview(seed), 1), part.mechanism, digest=DIGEST).values()
    return released_statistics(part, contents)


def pays(job: str = "") -> list[float]:
    return [pay + 0.5 for each, pay, _ in ROWS if job in ("", each)]  # the middles of the cells


@pytest.mark.parametrize("key", ["identity", "gaussian"])
def test_counts_have_the_interval_of_the_noise(key: str) -> None:
    covered, asked = 0, 40
    for seed in range(asked):
        [found] = released(part_of(("rows",), "cells", key), seed=seed)
        assert found.title == "Rows by rows" and list(found.labels)[:2] == list(JOBS)
        truth = np.array([sum(each == job for each, _, _ in ROWS) for job in JOBS])
        covered += int(((found.low[:2] <= truth) & (truth <= found.high[:2])).sum())
        half = (found.high - found.low) / 2
        assert np.ptp(half) == 0 and f"± {half[0]:g}" in found.sentence and found.sentence.endswith("(95%)")
    assert covered >= 0.85 * 2 * asked  # at 95% fewer have a chance below 1e-4


PEOPLE = PlannedQuestion(
    columns=(), queries="marginal-tables", entry_key="direct-tables", epsilon=1.0, statistic="people",
    by=("code", "smoker"),
)  # fmt: skip
MEAN = PlannedQuestion(
    columns=("pay",), queries="group-statistics", entry_key="group-counters", epsilon=1.0, statistic="mean",
    by=("code",),
)  # fmt: skip


@pytest.mark.parametrize(("question", "last"), [(PEOPLE, " × no"), (MEAN, "")])
def test_labels_of_digits_are_shown_as_they_are_written(question: PlannedQuestion, last: str) -> None:
    codes = ("01", "2", "3.50")
    column = DeclaredColumn(name="code", on=Labels(labels=codes, missing=False))
    table = replace(TABLE, columns=(column, *TABLE.columns[1:]))
    part = Plan(table=table, n=600, questions=(question,), neighbours=Neighbours.ADD_REMOVE_ONE).request().parts[0]
    [contents] = csv_files(preview_of(part), part.mechanism, digest=DIGEST).values()
    assert {f"{code}{last}" for code in codes} <= {*released_statistics(part, contents)[0].labels}


def test_a_number_of_rows_is_rounded_on_a_card_as_in_the_report() -> None:
    value, half = np.array([226.0]), np.array([115.0])
    rows = ReleasedStatistic(title="Rows", labels=[""], values=value, low=value - half, high=value + half, whole=True)
    assert rows.amount(0) == rows_with_margin(226.0, 115.0) == "226 ± 115"


def test_a_sentence_names_the_population_where_a_group_has_an_interval() -> None:
    def sentence(*values: float) -> str:
        numbers = np.array(values)
        wide = numbers - 2, numbers + 2
        return ReleasedStatistic(
            title="Share", labels=["N", "S"], values=numbers, low=numbers - 1, high=numbers + 1, population=wide
        ).sentence

    assert sentence(np.nan, np.nan) == f"Share: N {HIDDEN}; S {HIDDEN}"
    assert sentence(3.0, np.nan).endswith("(95%, noise alone); population with noise and sampling, about 95%")


def test_a_mean_has_an_interval_in_its_unit() -> None:
    true = float(np.mean(pays()))
    widths = []
    for part in (
        part_of(("pay",), "thresholds", "counted-mean"),
        part_of(("pay",), "group-statistics", "group-counters", statistic="mean"),
    ):
        found = released(part)[0]
        assert found.title == "Mean of pay" and found.unit == "USD" and list(found.labels) == [""]
        assert found.low[0] <= found.values[0] <= found.high[0] and found.low[0] < true < found.high[0]
        assert found.sentence.startswith("Mean of pay: ") and "± " in found.sentence and " USD (95%)" in found.sentence
        widths.append(float(found.high[0] - found.low[0]))
    assert widths[0] == pytest.approx(widths[1], rel=0.1), "the same counters and noise"


def test_means_and_shares_by_group_have_plan_s_words() -> None:
    part = part_of(("pay",), "group-statistics", "group-counters", statistic="mean", by=("rows",))
    mean, total, rows = released(part)
    assert [mean.title, total.title, rows.title] == [
        f"{each} by rows" for each in ("Mean of pay", "Sum of pay", "Rows")
    ]
    for place, job in enumerate(JOBS):
        assert mean.low[place] < np.mean(pays(job)) < mean.high[place] and f"{job} " in mean.sentence
    assert mean.amount(2) == HIDDEN and np.isnan(total.values[2]), "missing labels have too few rows to say"
    share = released(part_of(("smoker",), "group-statistics", "group-counters", statistic="share", by=("rows",)))[0]
    assert share.title == "Share with smoker = yes by rows" and share.unit == "%"
    assert 0 <= share.low[0] < share.high[0] <= 100 and "%" in share.amount(0)
    assert share.population is not None
    assert (share.population[1] - share.population[0] > share.high - share.low)[:2].all()
    assert f", population {share.wider(0)}" in share.sentence and mean.population is None and not mean.wider(0)
    [picture] = filter(None, [released_groups(share)])
    [wider] = [mark for mark in picture.marks if isinstance(mark, Dots) and mark.name == share.of_population]
    np.testing.assert_array_equal([wider.low, wider.high], [ends[:2] for ends in share.population])
    assert picture.table[share.of_population] == [share.wider(0), share.wider(1), ""]


def test_people_by_group_have_the_interval_of_their_noise() -> None:
    part = part_of((), "marginal-tables", "direct-tables", statistic="people", by=("rows", "smoker"))
    [found] = released(part)
    assert found.title == "Rows by rows × smoker" and found.labels[0] == "cook × no"
    true = sum(job == "cook" and smoker == "no" for job, _, smoker in ROWS)
    assert found.low[0] <= true <= found.high[0]


def test_many_groups_are_counted_and_a_median_has_no_interval() -> None:
    [found] = released(part_of(("pay",), "intervals", "identity"))
    assert f"{len(found.labels)} groups, ± " in found.sentence
    assert released(part_of(("pay",), "thresholds", "exponential_median", values={"quantile": 0.5})) == []


@pytest.mark.parametrize("hidden", [0, 3])
def test_a_sentence_says_how_many_groups_have_no_bar(hidden: int) -> None:
    """A card said “15 groups” beside a picture of 12 bars."""
    values = np.arange(15.0)
    values[:hidden] = np.nan
    labels = tuple(f"group {place}" for place in range(15))
    found = ReleasedStatistic(title="Mean of pay by job", labels=labels, values=values, low=values - 1, high=values + 1)
    [picture] = filter(None, [released_groups(found)])
    [bars] = [mark for mark in picture.marks if isinstance(mark, Bars)]
    assert len(np.asarray(bars.value)) == 15 - hidden
    few = f" ({hidden} with {HIDDEN})" if hidden else ""
    assert found.sentence == f"Mean of pay by job: 15 groups{few}, each with its interval (95%)"


def test_the_share_of_groups_that_are_printed_rises_with_epsilon_where_they_have_the_rows_that_are_needed() -> None:
    part = part_of(("pay",), "group-statistics", "group-counters", statistic="mean", by=("rows",))
    epsilons = (0.001, 0.01, 0.1, 1.0, 10.0)
    shares = printable_shares(part, epsilons)
    assert (np.diff(shares) >= -0.1).all() and shares[0] < 0.6 and shares[-1] == 1
    needed = [rows_needed(replace(part, values={"epsilon": epsilon})) for epsilon in epsilons]
    size = part.n / 2  # of both jobs of the mock data
    clearly = [share for share, rows in zip(shares, needed, strict=True) if rows < size / 3]
    assert clearly and min(clearly) > 0.9
