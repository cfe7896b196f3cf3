"""The level of a release's intervals: part of the request, of every file, of the report and of what is verified."""

from __future__ import annotations

import copy
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.twin import twin
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.grouped.statistics import statistics
from dpcore.randomness import Preview
from dprelease.certificate import certificate, verify
from dprelease.downloads.programs import ANALYSIS
from dprelease.downloads.report import report
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.versions import changes
from dprelease.release import rehearse
from dprelease.requests.intervals import LEVELS, end_names, interval_sentence, with_intervals
from dprelease.requests.parts import Request
from dprelease.requests.quantile_tables import quantile_table
from tests.dplab.intervals.coverage import refuted
from tests.dprelease.test_forgeries import rebooked
from tests.kit.ledgers import released_in, request_of

ROWS = 240
JOBS = ("cook", "nurse")
COLUMNS: dict[str, Number | Labels] = {
    "job": Labels(labels=JOBS),
    "pay": Number(high=100.0, bins=20, missing=False),
    "smoker": Labels(yes_no=True),
}
TABLE = DeclaredTable(columns=tuple(DeclaredColumn(name=name, on=on) for name, on in COLUMNS.items()))
ASKED: dict[str, dict[str, Any]] = {
    "mean": {"columns": ("pay",), "queries": "group-statistics", "entry_key": "group-counters", "statistic": "mean"},
    "share": {
        "columns": ("smoker",),
        "queries": "group-statistics",
        "entry_key": "group-counters-gaussian",
        "statistic": "share",
        "values": {"delta": 1e-6},
    },
    "quantiles": {
        "columns": ("pay",), "queries": "group-quantiles", "entry_key": "group-quantiles",
        "statistic": "quantiles", "quantiles": (0.5,),
    },
    "counts": {"columns": ("job",), "queries": "cells", "entry_key": "identity"},
    "number": {"columns": ("pay",), "queries": "thresholds", "entry_key": "counted-mean"},
}  # fmt: skip


def plan_at(level: float, *names: str) -> Plan:
    """A plan of these statistics, by job where they are statistics of groups."""
    questions = (
        PlannedQuestion(epsilon=1.0, **({"by": ("job",)} if "statistic" in ASKED[name] else {}) | ASKED[name])
        for name in names
    )
    return Plan(table=TABLE, n=ROWS, questions=tuple(questions), level=level)


def people() -> Table:
    lines = [f"{JOBS[i % 3 % 2]},{i * 37 % 100},{'yes' if i % 4 else 'no'}" for i in range(ROWS)]
    return read_table("\n".join(["job,pay,smoker", *lines]).encode(), name="people.csv", header=True)


def stored_at(folder: Path, level: float) -> Stored:
    """A release of all statistics."""
    return released_in(folder, plan_at(level, *ASKED).request(), rows=people(), epsilon=90.0, delta=0.1, public_n=ROWS)


def test_files_and_requests_name_a_level_unless_it_is_the_usual_one() -> None:
    plans = [plan_at(level, "mean") for level in LEVELS]
    assert [plan.document.get("level") for plan in plans] == ["0.9", None, "0.99"]
    assert all(Plan.read(plan.text) == plan for plan in plans)
    requests = [plan.request() for plan in plans]
    assert [request.document.get("level") for request in requests] == ["0.9", None, "0.99"]
    assert [Request.read(request.text).level for request in requests] == list(LEVELS)
    assert len({request.digest for request in requests}) == 3
    assert [part.level for request in requests for part in Request.read(request.text).parts] == list(LEVELS)
    spelled = json.loads(requests[1].text) | {"level": 0.95}
    assert Request.of(spelled).digest == requests[1].digest, "an old file and one that names 95% are one request"


@pytest.mark.parametrize("level", ["0.5", "x", "NaN", "Infinity", None, [0.9], {"a": 1}, True, 0.901, "9" * 41])
def test_another_level_in_a_file_is_refused_in_one_sentence(level: Any) -> None:
    for text, read in ((request_of().text, Request.read), (plan_at(0.95, "mean").text, Plan.read)):
        with pytest.raises(ParameterError, match="level of intervals must be") as error:
            read(json.dumps(json.loads(text) | {"level": level}))
        assert "\n" not in str(error.value) and len(str(error.value)) < 120


def test_every_file_report_and_rehearsal_has_the_level_of_the_request_and_verifies(tmp_path: Path) -> None:
    widths: dict[float, list[float]] = {}
    for level in LEVELS:
        stored = stored_at(tmp_path / str(level), level)
        papers = canonical(certificate(stored))
        assert verify(papers, stored.files) == []
        request = Request.of(stored.body["request"])
        percent, others = f"{level:.0%}", [f"{other:.0%}" for other in LEVELS if other not in (level, 0.95)]
        sentences = [part["accuracy"]["intervals"] for part in stored.body["parts"]]
        assert len(sentences) == len(ASKED) and all(f"confidence {percent}" in each for each in sentences)
        page = report(stored).decode()
        assert page.count(f"interval, {percent}") >= 3 and f"confidence {percent}" in page
        assert not any(f"confidence {other}" in page or f"interval, {other}" in page for other in others)
        statistics = [
            each
            for part, body in zip(request.parts, stored.body["parts"], strict=True)
            for name in body["files"]
            for each in released_statistics(part, stored.files[name])
        ]
        assert all(each.level == level and f"({percent}" in each.sentence for each in statistics)
        tables = {name: pd.read_csv(io.BytesIO(contents)) for name, contents in stored.files.items()}
        ends = [end_names("rows")] * 4 + [end_names("mean")]
        files = ["01-answers.csv", "02-answers.csv", "03-quantiles.csv", "04-counts.csv", "05-value.csv"]
        widths[level] = [
            float((tables[name][high] - tables[name][low]).iloc[0])
            for name, (low, high) in zip(files, ends, strict=True)
        ]
        [mock, *_] = rehearse(request).files
        [contents] = mock.values()
        drawn = pd.read_csv(io.BytesIO(contents))
        assert (drawn["rows high"] - drawn["rows low"]).iloc[0] == pytest.approx(widths[level][0], rel=1e-3)
    for narrow, usual, wide in zip(*widths.values(), strict=True):
        assert narrow < usual < wide
    assert 'part["accuracy"]["intervals"]' in ANALYSIS


def test_intervals_of_95_are_refused_where_the_certificate_says_99(tmp_path: Path) -> None:
    """All that names the level is changed and sealed anew; only the files keep their ends."""
    stored = stored_at(tmp_path, 0.95)

    def faults(level: float) -> list[str]:
        forged = copy.deepcopy(certificate(stored))
        request = replace(Request.of(forged["request"]), level=level)
        forged["request"] = request.document
        for part, body in zip(request.parts, forged["parts"], strict=True):
            body["accuracy"]["intervals"] = interval_sentence(part.mechanism, part.problem_of_persons, level=level)
        return verify(canonical(rebooked(forged)), stored.files)

    assert faults(0.95) == []
    named = [name for name in stored.files if name != "03-answers.csv"]  # rows per cell have no intervals
    assert len(named) == len(ASKED)
    assert faults(0.99) == [
        f"The columns, lines, labels or numbers of {name} do not match the request." for name in named
    ]


def test_a_changed_level_is_named_among_the_changes_of_a_plan(tmp_path: Path) -> None:
    stored = stored_at(tmp_path, 0.95)
    assert changes(stored, plan_at(0.95, *ASKED).request()) == ()
    assert changes(stored, plan_at(0.99, *ASKED).request()) == ("The confidence of intervals was 95% and is 99%.",)


TRIALS = 1500


@pytest.mark.parametrize(("level", "claimed", "holds"), [(0.9, 0.9, True), (0.99, 0.99, True), (0.95, 0.99, False)])
@pytest.mark.parametrize("name", ["mean", "share", "counts", "quantiles"])
def test_written_intervals_cover_at_their_level_and_those_of_95_do_not_at_99(
    name: str, level: float, claimed: float, holds: bool, seed: int
) -> None:
    [part] = plan_at(level, name).request().parts
    dataset = part.reading.dataset(people(), twin(part.reading, n=1).dataset().provenance)
    state = part.mechanism.prepare(dataset, part.problem)
    drawn = part.mechanism.run(state, Preview(seed), TRIALS)
    truths: dict[str, Any] = {"rows": dataset.histogram} if name == "counts" else {}
    if isinstance(drawn, GroupQuantilesRelease):
        mechanism = part.mechanism
        assert isinstance(mechanism, GroupQuantileCounts)
        tables = [
            quantile_table(each, mechanism, part.problem, digest=f"{at // 25:064x}", level=level)
            for at, each in enumerate(drawn.rows()[: TRIALS // 2])
        ]
        table, truths = pd.concat(tables), {"rows": state.rows.sum(axis=1)}
    else:
        table = with_intervals(drawn.frame(), drawn, part.mechanism, level=level)
    if isinstance(drawn, GroupRelease):
        truths = statistics(state.counters, drawn.queries)
    names = [each for each in ("rows", "mean", "proportion") if each in truths]
    assert len(names) == 1 + (name in ("mean", "share"))
    for each in names:
        low, high = (table[end].to_numpy().reshape(-1, len(truths[each])) for end in end_names(each))
        held = (low <= truths[each]) & (truths[each] <= high)
        assert refuted(held[:, : len(JOBS)], level=claimed) != holds, each
