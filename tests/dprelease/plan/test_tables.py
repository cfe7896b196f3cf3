"""Tables, lines, rows and values as questions of a plan: predicted, solved for, and released in one press."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Dataset, Neighbours, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.frames import read_frame
from dpcore.data.reading.format import Format
from dpcore.mechanisms.tables.release import TablesRelease
from dpcore.randomness import Preview
from dplab.measure import finish
from dprelease.certificate import certificate, verify
from dprelease.ledger.checks import check
from dprelease.ledger.units import Price
from dprelease.plan.answers import answer_errors, value_errors
from dprelease.plan.errors import predict, twin_of
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.shares import for_targets, for_total
from dprelease.plan.versions import changes
from dprelease.release import release
from tests.kit.ledgers import ANALYST, registered, stored_release

N = 2_000
TABLES = "marginal-tables"
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(high=80, bins=80, missing=True)),
        DeclaredColumn(name="sex", on=Labels(labels=("F", "M"))),
        DeclaredColumn(name="rows", on=Labels(labels=("a", "b", "c, or d"))),
    )
)
LINES = PlannedQuestion(
    columns=("age", "sex"), queries=TABLES, entry_key="direct-tables", epsilon=0.5, values={"noise": "laplace"},
    lines=("age 20-34, sex = F", "age >= 20, sex M"),
)  # fmt: skip
PAIRS = PlannedQuestion(
    columns=("age", "sex", "rows"), queries=TABLES, entry_key="residual-planner", epsilon=0.5, ways=2,
    values={"delta": 1e-7},
)  # fmt: skip
WHOLE = replace(PAIRS, entry_key="whole-table", epsilon=1.0)
MEAN = PlannedQuestion(columns=("age",), queries="thresholds", entry_key="clipped_mean", epsilon=0.25)
UPPER = replace(MEAN, entry_key="exponential_median", values={"quantile": 0.75})
COMMONEST = PlannedQuestion(columns=("rows",), queries="cells", entry_key="subsample_commonest", epsilon=1.0)
COUNTS = PlannedQuestion(columns=("age",), queries="intervals", entry_key="windows", epsilon=0.5)
ALL = (LINES, PAIRS, WHOLE, MEAN, UPPER, COMMONEST, COUNTS)


def plan(*questions: PlannedQuestion) -> Plan:
    return Plan(table=TABLE, n=N, questions=questions, neighbours=Neighbours.REPLACE_ONE)


def people(n: int = N) -> pd.DataFrame:
    """Nothing like the twin: nearly all in one place."""
    places = np.arange(n)
    return pd.DataFrame(
        {
            "age": np.where(places % 50, 25.0, 79.0 - places % 7),
            "sex": np.where(places % 9, "M", "F"),
            "rows": np.where(places % 3, "c, or d", "a"),
        }
    )


def test_a_plan_of_tables_lines_and_values_is_what_its_file_says() -> None:
    tables_plan = plan(*ALL)
    again = Plan.read(tables_plan.text)
    assert again.text == tables_plan.text and again.questions[0].lines == LINES.lines and again.questions[1].ways == 2
    assert again.cost == tables_plan.cost and tables_plan.cost.delta > 2e-7
    [line] = [each for each in tables_plan.request().parts if each.entry_key == "direct-tables"]
    assert line.queries.count == 4 * 3, "below 20, to 34, above, missing; two labels and anything else"


@pytest.mark.parametrize("question", [LINES, PAIRS], ids=["lines", "pairs"])
def test_predicted_errors_of_tables_are_those_on_other_rows(question: PlannedQuestion, seed: int) -> None:
    """The root mean square of the worst error over 200 releases, within 15%."""
    tables_plan = plan(question)
    [said] = finish(predict(tables_plan))
    rows = tables_plan.reading(question).from_frame(people())
    assert not np.array_equal(rows.records, twin_of(tables_plan, question).records)
    found = answer_errors(tables_plan, question, tables_plan.mechanism(question), rows, trials=200, seed=seed)
    assert said.on_all_data and len(found.worst) == 200
    assert said.mean_square == pytest.approx(float(np.sqrt(np.mean(found.worst**2))), rel=0.15)
    assert said.typical < said.worst < said.promised
    assert found.single == pytest.approx(said.single, rel=0.15) and said.typical < said.single < said.promised
    assert np.mean(found.worst > said.promised) <= tables_plan.beta


def test_a_line_is_promised_what_all_its_cells_are() -> None:
    """The second line sums two cells, each of which may be off by what is promised of all of them."""
    [prediction] = finish(predict(plan(LINES)))
    assert prediction.promised == 2 * plan(LINES).mechanism(LINES).accuracy(plan(LINES).problem(LINES), 0.05).value


def test_rows_made_of_tables_are_a_forecast_and_promise_nothing_before() -> None:
    [prediction] = finish(predict(plan(WHOLE)))
    assert not prediction.on_all_data and prediction.promised == np.inf and 0 < prediction.worst < 0.2


def test_values_err_by_what_is_said_of_them(seed: int) -> None:
    """Brute force: rows between the answer and the quantile, rows fewer than of the commonest, a share of the range."""
    random = np.random.default_rng(seed)
    other = Provenance(kind=ProvenanceKind.GENERATED, title="other rows")
    domain = plan(MEAN).problem(MEAN).domain
    rows = Dataset(domain, random.integers(0, domain.ordered, 300), other)
    cells, places = np.sort(rows.records), np.arange(domain.ordered)
    upper = plan(UPPER).mechanism(UPPER)
    between = [max((cells < c).sum() - 0.75 * 300, 0.75 * 300 - (cells <= c).sum(), 0) / 300 for c in places]
    np.testing.assert_allclose(value_errors(upper, places, rows), between, atol=1e-12)
    mean = plan(MEAN).mechanism(MEAN)
    np.testing.assert_allclose(value_errors(mean, places, rows), np.abs(places - rows.records.mean()) / 80)
    labels = plan(COMMONEST).problem(COMMONEST).domain
    named = Dataset(labels, np.array([0] * 5 + [1] * 3 + [3] * 9), other)
    commonest = plan(COMMONEST).mechanism(COMMONEST)
    assert value_errors(commonest, np.arange(3), named).tolist() == [0, 2 / 17, 5 / 17]


@pytest.mark.slow
def test_targets_of_tables_and_values_are_promised_and_rows_stay() -> None:
    wanted = plan(*(replace(each, target=0.02) for each in (LINES, PAIRS, WHOLE, UPPER)))
    solved = finish(for_targets(wanted))
    assert solved.unmet == (2,) and solved.plan.questions[2] == wanted.questions[2]
    for before, after, said in zip(wanted.questions, solved.plan.questions, finish(predict(solved.plan)), strict=True):
        if before.entry_key != "whole-table":
            assert said.promised <= 0.02 and after.values.get("delta", 0) == before.values.get("delta", 0)
            less = plan(replace(after, epsilon=0.8 * after.epsilon))
            assert finish(predict(less))[0].promised > 0.02
    assert solved.plan.questions[3].values["quantile"] == 0.75, "whatever answers, it is the same quantile"


def test_a_total_is_shared_with_tables_and_values() -> None:
    wanted = plan(replace(LINES, target=0.01), replace(UPPER, pinned=True), replace(COUNTS, target=0.01))
    shared = finish(for_total(wanted, 2.0))
    assert shared.questions[1].epsilon == UPPER.epsilon and 1.99 < shared.cost.epsilon <= 2.0
    assert shared.questions[0].epsilon < shared.questions[2].epsilon


@pytest.mark.slow
def test_one_press_releases_a_whole_table_beside_other_questions(tmp_path: Path) -> None:
    """Charged once, drawn once, stored, certified; rows have the table's own columns, kinds and labels."""
    frame = people(400)
    rows = read_frame(frame)
    request = replace(plan(WHOLE, LINES, MEAN, COUNTS), n=400).request()
    told = {"neighbours": Neighbours.REPLACE_ONE, "public_n": 400}
    ledger, dataset_id = registered(tmp_path, epsilon=3.0, delta=1e-6, rows=rows, **told)
    came = stored_release(ledger, dataset_id, request, rows)
    assert release(ledger, dataset_id, request, rows, ANALYST) == came, "seen again, not drawn again"
    charged = ledger.account(dataset_id).spent
    assert charged == Price.of(plan(WHOLE, LINES, MEAN, COUNTS).cost) and len(ledger.outcomes(dataset_id)) == 1
    assert verify(certificate(came), came.files) == [] == check(ledger, dataset_id)
    assert sorted(came.files) == [
        "01-distances.csv",
        "01-measured_tables.csv",
        "01-rows_of_nobody.csv",
        "02-answers.csv",
        "03-value.csv",
        "04-synthetic.csv",
    ]
    made = pd.read_csv(io.BytesIO(came.files["01-rows_of_nobody.csv"]))
    assert list(made) == list(frame) and len(made) == 400
    assert set(made["rows"].dropna()) <= {"a", "b", "c, or d"} and made["age"].dropna().between(0, 80).all()
    assert changes(came, request) == ()
    later = replace(plan(replace(WHOLE, epsilon=0.5), MEAN, UPPER, COUNTS), n=500).request()
    told_apart = changes(came, later)
    assert [each.partition(" ")[0] for each in told_apart] == ["n", "Changed:", "New:", "Left"]
    assert "ε = 1, is now" in told_apart[1] and "ε = 0.5." in told_apart[1]
    assert "Exponential median" in told_apart[2] and "Direct tables" in told_apart[3]
    comma = replace(plan(WHOLE, LINES, MEAN, COUNTS), n=400, file_format=Format(decimal=",")).request()
    assert changes(came, comma) == ("The format settings of the file were changed.",)
    table = pd.read_csv(io.BytesIO(came.files["02-answers.csv"]))
    assert list(table) == ["refused", "age", "sex", "rows", "rows low", "rows high"] and len(table) == 4 * 3
    assert set(table["sex"]) == {"F", "M", "any other value"} and "20 to 35" in set(table["age"])


def test_the_file_of_tables_names_the_cells_of_each_table() -> None:
    """An attribute that a table is not about is empty; cells are those of the released table."""
    tables_plan = plan(PAIRS)
    rows = tables_plan.reading(PAIRS).from_frame(people())
    mechanism = tables_plan.mechanism(PAIRS)
    found = mechanism.run(mechanism.prepare(rows, tables_plan.problem(PAIRS)), Preview(3), 2)
    frame = found.frame()
    assert list(frame) == ["trial", "refused", "age", "sex", "column rows", "rows"]
    one = frame[(frame["trial"] == 1) & (frame["age"] == "") & (frame["sex"] == "M") & (frame["column rows"] == "a")]
    [value] = one["rows"]
    assert isinstance(found, TablesRelease) and value == found.unbiased((1, 2))[1, 1, 0]
