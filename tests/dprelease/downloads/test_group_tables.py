"""Statistics of groups in a report: a table of each, with intervals, and groups hidden by their noisy rows alone."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from dpcore.core.safe_csv import unescape_formula
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.data.readings import Columns
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.released import noise_law
from dprelease.downloads.group_tables import HIDDEN, MAX_TOGETHER, group_tables, margin_tables, rows_needed
from dprelease.downloads.report import MAX_BARS, report
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.records import Stored
from dprelease.requests.parts import Request
from dprelease.requests.tables import answers_csv, preview_of
from tests.dprelease.downloads.test_report import page
from tests.dprelease.requests.test_intervals import JOBS, part_of, stored_of
from tests.kit import searched
from tests.kit.ledgers import question_of

CELLS = re.compile(r"<td[^>]*>(.*?)</td>")


def lines(stored: Stored) -> list[dict[str, str]]:
    """Lines of the released file."""
    [contents] = stored.files.values()
    rows = csv.DictReader(io.StringIO(contents.decode()))
    return [{name: unescape_formula(text) for name, text in row.items()} for row in rows]


def tables(text: str) -> list[list[list[str]]]:
    """Cells of each table of statistics, of groups that are not taken together."""
    found = re.findall(r"<table><tr><th>group</th>(.*?)</table>", text.partition("<h4>")[0], re.DOTALL)
    return [[CELLS.findall(row) for row in re.findall(r"<tr><td>.*?</tr>", each)] for each in found]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_each_statistic_has_a_table_with_rows_value_and_interval(tmp_path: Path) -> None:
    part = part_of(degree=2, epsilon=3.0)
    stored = stored_of(tmp_path, Request(parts=(part,)))
    words, text = page(stored).words, report(stored).decode()
    for told in ("95%", "They cover the noise alone", "ε = 3", "interval, 95%", f"“{HIDDEN}”"):
        assert told in words
    assert "in all 4 groups hold together in at least 81% of releases" in words  # 0.95 to the fourth
    named = searched(r"dp\.mean , which spends half .* would need about ([\d.]+) times this ε", words)
    assert 1.2 < float(named[1]) < 6
    assert (
        "dp.mean" not in page(stored_of(tmp_path / "g", Request(parts=(part_of(key="group-counters-gaussian"),)))).words
    )
    read = tables(text)
    assert len(read) == 4, "mean, sum, variance and standard deviation"
    for table, statistic in zip(read, ("mean", "sum", "variance", "standard deviation"), strict=True):
        assert [row[0] for row in table] == ["cook", "=nurse", "pilot", "any other value"]
        for row, line in zip(table[:3], lines(stored), strict=False):
            assert row[1].startswith(f"{float(line['rows']):,.0f} ± ")
            low, high = map(number, row[3].split(" to "))
            assert low <= float(line[f"{statistic} low"]) <= float(line[f"{statistic} high"]) <= high
            width = float(line[f"{statistic} high"]) - float(line[f"{statistic} low"])
            assert high - low < 1.25 * width
            assert number(row[2]) == pytest.approx(float(line[statistic]), abs=width / 10)
            assert len(row) == 4 + (statistic == "mean"), "the mean has an interval for the population, too"
            if statistic == "mean":
                first, last = map(number, row[4].split(" to "))
                assert first <= float(line["population mean low"]) <= float(line["population mean high"]) <= last
    assert "population, about 95%" in words


def test_groups_taken_together_have_sums_and_wider_intervals(tmp_path: Path) -> None:
    stored = stored_of(tmp_path, Request(parts=(part_of(epsilon=3.0),)))
    [*_, rest] = report(stored).decode().partition("<h4>Groups taken together</h4>")
    mean, total = tables(rest)
    assert [[row[0] for row in table] for table in (mean, total)] == [["all rows"]] * 2
    each = lines(stored)
    rows, pay = (sum(float(line[name]) for line in each) for name in ("rows", "sum"))
    number_of_rows, margin = map(number, mean[0][1].split(" ± "))
    one = (float(each[0]["rows high"]) - float(each[0]["rows low"])) / 2
    assert number_of_rows == pytest.approx(rows, abs=1) and 1.6 < margin / one < 2.4
    assert number(mean[0][2]) == pytest.approx(pay / rows, abs=0.5)
    low, high = map(number, total[0][3].split(" to "))
    assert low < pay < high
    alone = [float(line["sum high"]) - float(line["sum low"]) for line in each]
    assert high - low == pytest.approx(2 * alone[0], rel=0.15), "four groups: twice the noise of one"


def test_two_group_columns_have_a_table_of_each_and_many_counters_none() -> None:
    job, age = Labels(labels=JOBS), Labels(labels=("a", "b"), missing=False)
    domain = Product(names=("job", "age", "pay"), columns=(job, age, Number(high=100.0, bins=20)))
    few = question_of(
        key="group-counters", values={"epsilon": 1.0}, reading=Columns(names=domain.names, on=domain),
        queries=GroupStatistics(domain=domain), n=200,
    )  # fmt: skip
    written = [{"counter 0": "40", "counter 1": "4000"} for _ in range(few.problem.queries.count)]
    found = tables("\n".join(margin_tables(few, written, most=MAX_BARS)).partition("</h4>")[2])
    groups = [[row[0] for row in table] for table in found]
    assert groups == [["all rows"]] * 2 + [[*JOBS, "any other value"]] * 2 + [["a", "b"]] * 2
    wide = Product(names=("job", "pay"), columns=(Labels(labels=tuple(map(str, range(600)))), Number(bins=20)))
    many = question_of(
        key="group-counters", values={"epsilon": 1.0}, reading=Columns(names=wide.names, on=wide),
        queries=GroupStatistics(domain=wide), n=200,
    )  # fmt: skip
    assert f"more than {MAX_TOGETHER:,} counters" in "".join(margin_tables(many, [], most=MAX_BARS))


def test_planned_noise_has_a_table_of_all_rows_also_of_many_groups_with_the_noise_planned_for_them() -> None:
    jobs, pay = Labels(labels=tuple(map(str, range(600))), missing=False), Number(high=100.0, bins=20)
    domain = Product(names=("job", "pay"), columns=(jobs, pay))
    question = question_of(
        key="group-counters-planned", values={"epsilon": 1.0}, reading=Columns(names=domain.names, on=domain),
        queries=GroupStatistics(domain=domain), n=50_000,
    )  # fmt: skip
    written = list(csv.DictReader(io.StringIO(answers_csv(preview_of(question), question.mechanism).decode())))
    text = "".join(margin_tables(question, written, most=MAX_BARS))
    assert "in which most of the noise cancels" in text
    mean, _ = tables(text.partition("</h4>")[2])
    rows, margin = map(number, mean[0][1].split(" ± "))
    assert abs(rows - 50_000) < 3 * margin
    noise = noise_law(question.mechanism, question.problem, kept=())
    assert margin == pytest.approx(1.96 * 2**0.5 * noise.deviation / 40, rel=0.12)
    alone = noise_law(question.mechanism, question.problem).deviation
    assert noise.deviation < 0.3 * 600**0.5 * alone, "far less than a sum of so many noises"
    assert "hold together in at least 0% of releases" in "".join(group_tables(question, written, most=MAX_BARS))


def test_groups_are_hidden_by_their_noisy_number_of_rows_alone(tmp_path: Path) -> None:
    part = part_of(epsilon=0.15)
    needed = rows_needed(part)
    assert needed == pytest.approx(3.0 / (0.15 * 0.25), rel=0.02), "the rows that a margin of a quarter needs"
    stored = stored_of(tmp_path, Request(parts=(part,)))
    rows = lines(stored)
    for place, noisy in enumerate((needed - 0.1, needed, 0.0, -40.0)):
        rows[place] = {**rows[place], "rows": repr(float(noisy))}
    [mean, _] = tables("\n".join(group_tables(part, rows, most=MAX_BARS)))
    assert [row[2] == HIDDEN and row[3] == "" for row in mean] == [True, False, True, True]
    assert all("±" in row[1] for row in mean)


def test_a_slope_has_an_interval_and_stands_first_in_words(tmp_path: Path) -> None:
    part = part_of(names=("job", "pay", "age"), numbers=(1, 2), degree=2, epsilon=20.0)
    stored = stored_of(tmp_path, Request(parts=(part,)), epsilon=30.0)
    intervals = [table[0][3] for table in tables(report(stored).decode())]
    assert len(intervals) == 11 and all(re.fullmatch(r"[-\d.,]+ to [-\d.,]+", each) for each in intervals)
    [contents] = stored.files.values()
    slope, correlation, *others = released_statistics(part, contents)
    assert slope.title == "Slope of pay on age by job" and correlation.title == "Correlation of pay and age by job"
    assert slope.low[0] < slope.values[0] < slope.high[0] and len(others) == 10 and not slope.unit


def test_many_groups_are_cut_off_and_open_ends_are_told() -> None:
    part = part_of()
    line = {"group job": "cook", "rows": "90.0", "mean": "5.0", "mean low": "4.0", "mean high": "6.0"}
    text = "\n".join(group_tables(part, [line] * 60, most=MAX_BARS))
    assert len(tables(text)[0]) == MAX_BARS and f"The first {MAX_BARS} groups are shown" in text
    for low, high, told in (("4.0", "", "above 4"), ("", "6.0", "below 6"), ("", "", HIDDEN)):
        [[[*_, shown]]] = tables("\n".join(group_tables(part, [{**line, "mean low": low, "mean high": high}], most=9)))
        assert shown == told


def test_labels_are_only_read() -> None:
    line = {"group job": "<b>x</b>\u202e", "rows": "90.0", "mean <i>": "5.0"}
    text = "\n".join(group_tables(part_of(), [line], most=9))
    assert "<b>" not in text and "<i>" not in text and "\u202e" not in text and "&lt;b&gt;x" in text


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_the_margin_of_the_rows_is_that_of_the_file(epsilon: float, tmp_path: Path) -> None:
    part = part_of(epsilon=epsilon)
    stored = stored_of(tmp_path, Request(parts=(part,)))
    [table, _] = tables(report(stored).decode())
    widths = [float(line["rows high"]) - float(line["rows"]) for line in lines(stored)]
    margins = [number(row[1].split(" ± ")[1]) for row in table]
    assert len(set(margins)) == 1
    np.testing.assert_array_less(min(widths) - 0.01, margins)
    assert margins[0] <= min(widths) + 1
