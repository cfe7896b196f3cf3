"""A mean of a column with empty cells, from plan to certificate: 67 of 200 ages are missing, the mean is 40.2."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore import Dataset, Neighbours, Number, ParameterError, Preview, Provenance, ProvenanceKind, Thresholds
from dpcore.core import Entry, ValueRelease
from dpcore.data.columns import Labels
from dpcore.data.dates import Dates
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.mechanisms import entry, serving
from dprelease.commands import main
from dprelease.ledger.records import Stored
from dprelease.plan.questions import Plan
from dprelease.release import refusal, rehearse, release, unsuitable
from dprelease.requests.coverage import coverage
from tests import ROOT
from tests.kit.ledgers import ANALYST, few_rows, question_of, registered, request_of, stored_release

FIELD = ROOT / "tests" / "kit" / "field"
AGES = FIELD / "R01_mean_with_missing.csv"
PLAN = FIELD / "R01_plan.json"
MEAN, PRESENT, ROWS = 40.1729, 133, 200
CUT = "Numbers are clipped to 0 and 80; rows without a number are left out."
COUNTED = "The number of rows with a value is released with the mean."


@pytest.fixture
def plan() -> Plan:
    return Plan.read(PLAN.read_bytes())


def test_the_file_is_what_it_is_said_to_be() -> None:
    ages = read_table(AGES.read_bytes(), name="ages.csv", header=True).numbers("age")
    assert (len(ages), np.isfinite(ages).sum()) == (ROWS, PRESENT) and np.nanmean(ages) == pytest.approx(MEAN, abs=1e-4)


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("found", serving(Thresholds(domain=Number()), releases="value"), ids=lambda e: e.key)
def test_no_value_counts_an_empty_cell_as_a_number(found: Entry, relation: Neighbours, plan: Plan) -> None:
    """133 rows of 40 and 67 empty cells: whatever answers says 40, or is not drawn."""
    problem = replace(plan, neighbours=relation).problem(plan.questions[0])
    cells = np.where(np.arange(ROWS) < PRESENT, 40, problem.domain.ordered)
    dataset = Dataset(problem.domain, cells, Provenance(kind=ProvenanceKind.GENERATED, title="ages"))
    mechanism = found.make(**{"epsilon": 10.0, **({"buckets": 64} if "buckets" in found.controls() else {})})
    try:
        drawn = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), 200)
    except ParameterError as why:
        assert mechanism.unsuitable(problem) or relation is Neighbours.ADD_REMOVE_ONE, why
        return
    assert isinstance(drawn, ValueRelease) and not mechanism.unsuitable(problem)
    answered = drawn.values[~drawn.refused]
    assert len(answered) > 150 and abs(float(np.median(answered)) - 40) <= 1


@pytest.mark.parametrize("relation", list(Neighbours))
def test_an_old_plan_of_a_clipped_mean_asks_for_the_counted_one(plan: Plan, relation: Neighbours) -> None:
    told = replace(plan, neighbours=relation)
    assert [each.entry_key for each in told.questions] == ["counted-mean", "exponential_median"]
    assert "clipped_mean" not in told.proved(told.questions[0])
    assert Plan.read(told.text) == told
    full = replace(plan.table.columns[0], on=Number(high=80, bins=80))
    question = replace(plan.questions[0], entry_key="clipped_mean")
    sure = Plan(table=replace(plan.table, columns=(full,)), n=200, questions=(question,), neighbours=relation)
    kept = relation is Neighbours.REPLACE_ONE
    assert sure.questions[0].entry_key == ("clipped_mean" if kept else "counted-mean")
    assert set(sure.proved(sure.questions[0])) == {"counted-mean", *(["clipped_mean"] * kept)}


@pytest.mark.parametrize(
    ("domain", "relation", "said"),
    [
        (Number(high=20.0, bits=2, missing=True), Neighbours.REPLACE_ONE, "cells may be empty"),
        (Number(high=20.0, bits=2), Neighbours.ADD_REMOVE_ONE, "n is not confirmed"),
    ],
)
def test_a_request_of_a_mean_over_an_unconfirmed_n_is_refused_before_the_charge(
    domain: Number, relation: Neighbours, said: str, tmp_path: Path
) -> None:
    request = request_of(
        key="clipped_mean", reading=Columns(names=("age",), on=domain), queries=Thresholds(domain=domain), n=20,
        neighbours=relation,
    )  # fmt: skip
    assert said in unsuitable(request)
    ledger, dataset_id = registered(tmp_path, neighbours=relation, public_n=20)
    assert said in refusal(request, ledger.registration(dataset_id), ledger.account(dataset_id))
    came = release(ledger, dataset_id, request, few_rows(), ANALYST)
    assert not isinstance(came, Stored) and said in came.sentence and not ledger.outcomes(dataset_id)


def test_a_rehearsal_says_rows_missing_and_bounds_of_every_value(plan: Plan) -> None:
    first, second = rehearse(plan.request()).coverage
    assert first == f"{CUT} {COUNTED}"
    assert second == f"{CUT} The number of rows used is private. n = 200 is a declared round number."
    whole = replace(plan, neighbours=Neighbours.REPLACE_ONE).request()
    assert "n = 200 is public. How many of these rows are used is private." in rehearse(whole).coverage[1]


def test_what_counts_is_said_as_it_was_declared() -> None:
    def said(domain: Number | Labels, key: str, **values: object) -> str:
        part = question_of(
            key=key, reading=Columns(names=("age",), on=domain), n=20, values=values,
            queries=next(kind for kind in entry(key).queries)(domain=domain), neighbours=Neighbours.REPLACE_ONE,
        )  # fmt: skip
        return coverage(part.mechanism, part.problem)

    assert said(Number(high=80, unit="USD"), "clipped_mean") == (
        "Numbers are clipped to 0 USD and 80 USD; a missing number counts as 0 USD. "
        "All n = 20 rows are used; n is public."
    )
    assert said(Number(high=80, missing=True, clamp=False), "exponential_median").startswith(
        "Numbers outside 0 to 80 count as missing; rows without a number are left out."
    )
    assert said(Labels(labels=("a", "b")), "subsample_commonest").startswith("Rows with another label, or none,")
    assert said(Labels(labels=("a", "b"), missing=False), "subsample_commonest").startswith(
        "Another label, or none, counts as “a”. All n = 20 rows are used"
    )
    days = Dates(step="day", first="2024-01-01", last="2024-12-31", missing=True)
    assert said(days, "counted-mean").startswith("Dates are clipped to 2024-01-01 and 2024-12-31; rows without a date")
    assert said(Number(high=80, missing=True), "identity") == "", "cells say it themselves"


def test_the_walk_from_the_plan_to_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSCOPE_LEDGER", str(tmp_path / "ledger"))
    shutil.copy(AGES, "ages.csv")
    shutil.copy(PLAN, "plan.json")

    def told(command: str) -> str:
        code = main(command.split())
        printed = capsys.readouterr()
        assert not code, printed.err
        return printed.out

    assert f"1. Mean with its number of rows of age: {CUT} {COUNTED}" in told("release plan.json")
    told("ledger register ages.csv --name ages --n 200 --epsilon 40 --header yes")
    assert CUT in told("release plan.json ages.csv --out out --header yes")
    out = tmp_path / "out"
    [row] = pd.read_csv(out / "01-value.csv").to_dict("records")
    ends = ["mean low", "mean high", "rows low", "rows high"]
    assert list(row) == ["refused", "mean", "rows", "low", "high", *ends]
    assert row["mean low"] < row["mean"] < row["mean high"] and row["rows low"] < row["rows"] < row["rows high"]
    assert abs(row["mean"] - MEAN) < 2 and abs(row["rows"] - PRESENT) < 5 and (row["low"], row["high"]) == (0, 80)
    certificate = json.loads((out / "certificate.json").read_bytes())
    assert [each["mechanism"]["key"] for each in certificate["parts"]] == ["counted-mean", "exponential_median"]
    assert all(CUT in each["accuracy"]["statement"] for each in certificate["parts"])
    told("verify out/certificate.json out/01-value.csv out/02-value.csv out/report.html out/analysis.py")
    report = (out / "report.html").read_text(encoding="utf-8")
    assert (
        f"Released: a mean of {row['mean']:,.6g}, of about {row['rows']:,.0f} rows with a value, clipped to" in report
    )
    assert f"Its interval with confidence 95%: {row['mean low']} to {row['mean high']}." in report
    assert report.count(CUT) == 2 and COUNTED in report
    assert "It is one of 80 cells that numbers are rounded to" in report
    ran = subprocess.run([sys.executable, "analysis.py"], cwd=out, capture_output=True, text=True, check=True)
    printed = [float(each) for each in re.findall(r"\d+\.\d+", ran.stdout)]
    assert CUT in ran.stdout and COUNTED in ran.stdout and min(abs(each - row["mean"]) for each in printed) < 1e-5
    # The same plan with another file, or none: what was drawn is given again, and says so.
    Path("other.csv").write_text("age\n1\n", encoding="utf-8")
    for file in ("other.csv", "gone.csv"):
        assert "released before, and this file was not read" in told(f"release plan.json {file} --out out")
    assert "drawn before" not in told("release plan.json ages.csv --draw 2 --out second --header yes")


def test_a_mean_of_no_rows_is_a_refusal_that_says_nothing(tmp_path: Path, plan: Plan) -> None:
    empty = few_rows([float("nan")] * 200)
    request = replace(plan, n=30, questions=plan.questions[:1]).request()
    ledger, dataset_id = registered(tmp_path, epsilon=2_000.0, rows=empty)
    for draw in range(1, 41):  # of draws of noise around 0 one half are below: forty in a row are not, hardly ever
        came = stored_release(ledger, dataset_id, replace(request, draw=draw), empty)
        frame = pd.read_csv(io.BytesIO(came.files["value.csv"]))
        if frame["refused"].any():
            break
    assert frame["refused"].all() and frame[["mean", "rows"]].isna().all(axis=None)
