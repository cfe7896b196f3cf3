"""The Plan page: it opens on a plan, controls change it, buttons work losses out, and it is a file."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours, ParameterError
from dpcore.data.columns import Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.samples import load_sample
from dpcore.mechanisms import entry
from dplab.measure import finish
from dplab.sweep import Sweep
from dprelease.ledger.records import Registration
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.plan import compare
from dprelease.plan.errors import predict
from dprelease.plan.planned_question import PlannedQuestion, group_question
from dprelease.plan.questions import Plan
from pages.charts.palette import DARK, LIGHT
from pages.charts.picture import Bars, Curve, Dots, numbers
from pages.charts.plotly import render
from pages.charts.words import percent, significant
from pages.plan import add_questions
from pages.plan.errors_by_rows import errors_by_rows
from pages.plan.figure import missed_targets, planned_errors
from pages.plan.frontier import play_link, with_clicked_point
from pages.plan.plan_table import MAX_BYTES, OPENED, PlanTable
from pages.plan.questions import OF_A_MEAN
from pages.plan.view import NO_TARGET, SNIPPET
from pages.shell.ledger.roles import ADMITTED
from pages.shell.releasable import PLAN_SHOWN
from tests import ROOT
from tests.kit.ledgers import STEWARD
from tests.pages.drawn_charts import drawn
from tests.pages.opening import opened, run_with, sound, visitor

PAGE = "plan/page.py"


def questions(app: AppTest, table: str = "adult") -> tuple[PlannedQuestion, ...]:
    found: tuple[PlannedQuestion, ...] = app.session_state["plan_questions"][table]
    return found


def wages(*asked: PlannedQuestion) -> Plan:
    """A plan of 300 rows of one column."""
    table = DeclaredTable(columns=(DeclaredColumn(name="wage", on=Number(high=64, bits=4)),))
    return Plan(table=table, n=300, questions=asked)


def with_questions(app: AppTest, *asked: PlannedQuestion) -> Plan:
    """The plan of penguins that the page shows once these are its questions."""
    run_with(app, {"plan_questions": {"penguins": asked}, "plan_version": 7})
    plan: Plan = app.session_state["plan_shown"][1]
    return plan


def press(app: AppTest, label: str) -> AppTest:
    return sound(next(each for each in app.button if each.label == label).click().run())


def test_it_opens_empty_and_each_change_can_be_undone_the_removal_of_the_last_statistic_too() -> None:
    app = sound(visitor(PAGE).run())
    assert app.header[0].value == "Statistics of Adult · protects one row"
    assert not drawn(app) and PLAN_SHOWN not in app.session_state and "Undo" not in {each.label for each in app.button}
    example = questions(press(app, "Load an example"))
    changed = questions(sound(next(each for each in app.number_input if each.label == "ε").set_value(1.5).run()))
    assert changed[0].epsilon == 1.5 and changed[1:] == example[1:] and "ε = 1.75" in app.header[0].value
    for left in (1, 0):
        app = press(app, "Remove")
        assert len(questions(app)) == left
    assert app.header[0].value.startswith("Statistics of Adult") and PLAN_SHOWN not in app.session_state
    for before in (changed[1:], changed, example, ()):
        app = press(app, "Undo")
        assert questions(app) == before
        if before == example:
            assert next(each for each in app.number_input if each.label == "ε").value == example[0].epsilon
    assert "Undo" not in {each.label for each in app.button}


def test_the_example_is_a_finished_plan() -> None:
    app = sound(opened(PAGE))
    assert [each.columns for each in questions(app)] == [("age",), ("sex",)]
    assert "2 statistics of Adult" in app.header[0].value and "ε = 0.75" in app.header[0].value
    (chip,) = (each.proto.label for each in app.get("page_link") if "database" in each.proto.icon)
    assert chip == "Public · Adult \\(1994 census extract\\) · n = 48,842"
    chart = drawn(app)["plan_chart"]
    assert "Counts in ranges of age" in chart["sentence"]
    assert "no values of your data" in chart["layout"]["title"]["text"]


def test_each_row_names_its_margin_in_its_own_unit_and_the_worst_error_stands_behind_it() -> None:
    app = opened(PAGE, table="penguins")
    count = PlannedQuestion(columns=("sex",), queries="cells", entry_key="identity", epsilon=0.5)
    mean = PlannedQuestion(columns=("body_mass_g",), queries="thresholds", entry_key="counted-mean", epsilon=2.0)
    median = replace(mean, entry_key="exponential_median", values={"quantile": 0.5})
    by_sex = group_question("mean", ("body_mass_g",), ("sex",), epsilon=2.0)
    lost = replace(count, epsilon=0.001)
    plan = with_questions(app, count, mean, median, by_sex, lost)
    margins = [each.value.replace("\\", "") for each in app.markdown if each.value.startswith(("± ", "hidden"))]
    margins = [each for each in margins if "unit" not in each]
    first, second, third, fourth, fifth = finish(predict(plan))
    assert margins == [
        f"± {significant(first.single * 344)} people",
        f"± {significant(second.single * 8192)} g",
        f"± {percent(third.single)} of people",
        f"± {significant(fourth.margin.half_width)} g" if fourth.margin else "",
        "hidden by noise",
    ]
    assert not fifth.single < 1
    needed = fourth.margin.people_needed(0.05) if fourth.margin else 0
    counted = math.ceil(first.single * 344 / 0.1)
    smallest = [each.value for each in app.markdown if each.value.endswith(" people") and each.value[0].isdigit()]
    assert smallest == [f"{counted:,} people", f"{needed:,} people"], "none of a mean, a median or what noise hides"
    worst = [each.value.replace("\\", "") for each in app.caption if each.value.startswith("Worst error")]
    assert len(worst) == 5 and f"guaranteed {percent(first.promised)}" in worst[0]


def test_the_budget_of_the_rows_stands_beside_the_cost(no_ledger: Path) -> None:
    fixed = Registration(name="penguins", neighbours=Neighbours.REPLACE_ONE, public_n=344)
    Ledger.open(no_ledger).register(fixed, load_sample("penguins"), Price.allowed(epsilon=2), STEWARD)
    app = press(run_with(visitor(PAGE), {ADMITTED: True}, link={"table": "penguins"}), "Load an example")
    assert app.header[0].value == "2 statistics of Palmer penguins · ε = 0.75 of 2 · protects one row"
    [bar] = app.get("progress")
    assert bar.proto.text == "Spent ε 0 of 2. With this plan: ε 0.75." and bar.proto.value == 37
    next(each for each in app.number_input if each.label == "ε").set_value(1.9)
    [bar] = sound(app.run()).get("progress")
    assert bar.proto.text == "Spent ε 0 of 2. With this plan: ε 2.15. Too little is left." and bar.proto.value == 100


def test_the_errors_at_a_second_total_stand_beside_those_of_the_plan() -> None:
    app = sound(opened(PAGE, table="penguins"))
    next(each for each in app.number_input if each.label == "Compare with ε").set_value(3.0)
    plan: Plan = sound(app.run()).session_state["plan_shown"][1]
    other = plan.with_losses({0: 2.0, 1: 1.0})  # four times as much of each
    pairs = zip(finish(predict(plan)), finish(predict(other)), strict=True)
    margins = [f"± {significant(344 * each.single)} people" for pair in pairs for each in pair]
    assert [each.value for each in app.markdown if each.value.startswith("± ")] == margins
    assert any(each.value == "± at ε = 3" for each in app.caption) and plan.cost.epsilon == 0.75


def test_a_pinned_plan_stands_beside_what_is_planned_next() -> None:
    app = press(sound(opened(PAGE, table="penguins")), "Pin this plan")
    pinned: Plan = app.session_state["plan_shown"][1]
    assert not any(each.label == "Compare with ε" for each in app.number_input), "there is one second column"
    counts, cells = pinned.questions
    plan = with_questions(app, replace(cells, epsilon=1.0), replace(counts, columns=("bill_length_mm",)))
    (first, second), (_, before) = finish(predict(plan)), finish(predict(pinned))
    ends = [f"± {significant(344 * each.single)} people" for each in (first, before, second)]
    assert [each.value for each in app.markdown if each.value.startswith(("± ", "–"))][:4] == [*ends[:2], ends[2], "–"]
    app = press(app, "Unpin")
    assert any(each.label == "Compare with ε" for each in app.number_input)
    assert not any(each.value == "± as pinned" for each in app.caption)


@pytest.mark.parametrize(("text", "first"), [("2%", 0.02), ("100 people", 100 / 344)])
def test_one_margin_for_all_statistics_is_a_target_of_each_that_it_fits(text: str, first: float) -> None:
    app = sound(opened(PAGE, table="penguins"))
    by_sex = group_question("mean", ("body_mass_g",), ("sex",), epsilon=2.0)
    pinned = replace(by_sex, pinned=True)
    with_questions(app, *questions(app, "penguins"), by_sex, pinned)
    app.text_input(key="plan_fitted").set_value(text)
    app = press(app, "Fit ±")
    counts, cells, mean, kept = questions(app, "penguins")
    assert counts.target == cells.target == pytest.approx(first)
    assert mean.target == (0.02 if text == "2%" else None) and kept == pinned
    app.text_input(key="plan_fitted").set_value("soon")
    before, app = questions(app, "penguins"), press(app, "Fit ±")
    assert [each.value for each in app.info] == [NO_TARGET] and questions(app, "penguins") == before
    assert [each.value for each in sound(app.run()).info] == [NO_TARGET], "work in the background runs the page again"
    next(each for each in app.number_input if each.label == "ε").set_value(1.75)
    assert not sound(app.run()).info, "it was about another plan"


def test_one_control_chooses_the_confidence_of_margins_and_of_the_intervals_of_a_release() -> None:
    app = sound(opened(PAGE, table="penguins"))
    widths = {}
    for chosen in ("90", "95", "99"):
        app.select_slider(key="confidence").set_value(chosen)
        plan: Plan = sound(app.run()).session_state["plan_shown"][1]
        assert plan.level == int(chosen) / 100 and plan.beta == pytest.approx(1 - plan.level)
        assert plan.request().level == plan.level
        assert app.query_params.get("confidence") == (chosen if chosen != "95" else None)
        assert any(each.value == f"± ({chosen}%)" for each in app.caption)
        shown = next(each.value for each in app.markdown if each.value.startswith("± "))
        widths[chosen] = float(shown.split()[1])
    assert widths["90"] < widths["95"] < widths["99"]
    linked = sound(opened(PAGE, table="penguins", confidence="0.5"))
    assert [each.value for each in linked.warning] and linked.session_state["plan_shown"][1].level == 0.95


@pytest.mark.full
def test_the_least_loss_for_the_targets_is_less_and_promised_by_nobody_twice() -> None:
    app = press(opened(PAGE), "Fit ±")
    first, second = questions(app)
    assert first.epsilon < 0.5 and second.epsilon < 0.25
    assert "2 targets met" in app.info[0].value
    # What stands beside it does not say the opposite: a simulation is no theorem.
    assert "are met in simulated releases, with 95% confidence." in app.info[0].value
    assert "No theorem guarantees the target of statistic 1." in [each.value for each in app.caption]
    shown = [each.value for each in app.number_input if each.label == "ε"]
    assert shown == [first.epsilon, second.epsilon], "the controls show what was worked out"


def test_a_total_is_shared_and_a_pinned_loss_stays() -> None:
    app = sound(opened(PAGE))
    sound(app.checkbox[0].check().run())
    app.number_input(key="plan_total").set_value(2.0)
    press(app, "Fit ε")
    first, second = questions(app)
    assert first.epsilon == 0.5 and second.epsilon == pytest.approx(1.5)
    assert [each.value for each in app.number_input if each.label == "ε"] == [0.5, 1.5]


def test_a_total_that_is_too_small_gets_one_sentence() -> None:
    app = sound(opened(PAGE))
    sound(app.checkbox[0].check().run())
    app.number_input(key="plan_total").set_value(0.4)
    press(app, "Fit ε")
    assert "Statistics with a fixed ε leave" in app.error[0].value


def test_a_question_is_added_and_removed() -> None:
    app = sound(opened(PAGE))
    sound(app.multiselect[0].set_value(["hours_per_week"]).run())
    app.number_input(key="plan_total").set_value(2.0)
    app = press(app, "Add")
    assert [each.columns for each in questions(app)] == [("age",), ("sex",), ("hours_per_week",)]
    assert app.number_input(key="plan_total").value == 1.0, "a total is for the plan beside which it was typed"
    app = press(app, "Remove")
    assert [each.columns for each in questions(app)] == [("sex",), ("hours_per_week",)]


@pytest.mark.parametrize("typed", ["much", "200%", "-1", "1e999"])
def test_a_target_that_is_none_gets_one_sentence_and_changes_nothing(typed: str) -> None:
    app = sound(opened(PAGE))
    sound(next(each for each in app.text_input if each.label == "Target").set_value(typed).run())
    assert "A target is a share" in app.error[0].value and questions(app)[0].target == 0.01


def test_a_mean_of_an_opened_plan_that_would_be_wrong_is_exchanged_and_that_is_said() -> None:
    app = sound(opened(PAGE))
    file = ROOT / "tests" / "kit" / "field" / "R01_plan.json"
    sound(app.file_uploader[0].set_value(("plan.json", file.read_bytes(), "application/json")).run())
    assert [each.entry_key for each in questions(app, "plan-file")] == ["counted-mean", "exponential_median"]
    said = "Statistic 1: “Clipped mean” would give a wrong number here. The plan uses “Mean with its number of rows”"
    assert [each.value for each in app.info] == [f"{said} instead."]


def test_errors_and_targets_of_a_mean_are_of_its_range_and_not_of_rows() -> None:
    app = opened(PAGE)
    app.multiselect(key="plan_columns_adult").set_value(["age"])
    sound(app.run()).selectbox(key="plan_asked_adult").set_value("mean")
    app = press(sound(app.run()), "Add")
    *_, target = (each for each in app.text_input if each.label == "Target")
    assert target.help == "The target for the worst error of statistic 3: 1% of the declared range."
    target.set_value("50 rows")
    assert OF_A_MEAN in [each.value for each in sound(app.run()).error] and questions(app)[2].target is None
    *_, target = (each for each in app.text_input if each.label == "Target")
    target.set_value("2%")
    assert not sound(app.run()).error and questions(app)[2].target == 0.02
    first, _, third = drawn(app)["plan_chart"]["sentence"].split(";")
    assert "of its range" in third and "of its range" not in first
    layout = drawn(app)["plan_chart"]["layout"]
    assert "share of n or the range" in layout["xaxis"]["title"]["text"].replace("<br>", " ")
    assert "xaxis2" not in layout, "the error of a mean is no number of rows"
    assert "(half of all releases have at most this error)" in first


def test_a_plan_is_opened_from_its_file(tmp_path: Path) -> None:
    asked = PlannedQuestion(columns=("wage",), queries="cells", entry_key="identity", epsilon=0.125)
    plan = wages(asked)
    app = sound(opened(PAGE))
    sound(app.file_uploader[0].set_value(("plan.json", plan.text, "application/json")).run())
    assert questions(app, "plan-file") == (asked,)
    assert "1 statistic of the opened plan · ε = 0.125 · protects one row" in app.header[0].value
    assert "wage" in drawn(app)["plan_chart"]["sentence"]


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 5000, json.dumps({"format": "x" * 5000}).encode()])
def test_a_file_that_is_no_plan_gets_one_sentence(content: bytes) -> None:
    app = sound(opened(PAGE))
    sound(app.file_uploader[0].set_value(("plan.json", content, "application/json")).run())
    assert len(app.error) == 1 and len(app.error[0].value) < 200
    assert "2 statistics of Adult" in app.header[0].value, "what was there stays"


def test_a_sentence_about_a_file_obeys_nothing_in_it() -> None:
    app = sound(opened(PAGE))
    content = json.dumps({"format": "dpscope-plan/2", "![x](http://a.b) :red[x] <b>": 1}).encode()
    app.file_uploader[0].set_value(("plan.json", content, "application/json"))
    (error,) = sound(app.run()).error
    assert "no field" in error.value and not any(each in error.value for each in ("](", " :red", " <b>"))


@pytest.mark.parametrize(
    "name",
    ["[click](http://a.b)", "![x](http://a.b/i.png)", ":orange-badge[private]", "<b>x</b>"],
)
def test_a_label_obeys_no_name_of_a_plan_s_column(name: str) -> None:
    """The labels of controls are Markdown; a stranger's file may name its columns in it."""
    table = DeclaredTable(columns=(DeclaredColumn(name=name, on=Number(high=8, bits=3)),))
    asked = PlannedQuestion(columns=(name,), queries="intervals", entry_key="identity", epsilon=0.5)
    plan = Plan.read(Plan(table=table, n=100, questions=(asked,)).text)
    state = {"plan_opened": plan, "plan_questions": {OPENED: plan.questions}, "plan_version": 1, "plan_wanted": OPENED}
    app = run_with(visitor(PAGE), state)
    labels = [str(each.proto.label) for each in app.selectbox] + [str(each.value) for each in app.markdown]
    [title] = [each for each in labels if each.startswith("1\\. ")]
    assert not any(name in each for each in labels) and not any(f" {sign}" in title for sign in "[!:<")


@pytest.mark.parametrize("name", ["a\nb", "\u202eevil", "x" * 201])
def test_a_plan_whose_column_has_a_name_that_no_file_gives_is_refused(name: str) -> None:
    """Names of a file's columns lose such signs as they are read; a plan is anybody's."""
    table = DeclaredTable(columns=(DeclaredColumn(name=name, on=Number(high=8, bits=3)),))
    asked = PlannedQuestion(columns=(name,), queries="intervals", entry_key="identity", epsilon=0.5)
    with pytest.raises(ParameterError, match="at most 200 printable characters"):
        Plan.read(Plan(table=table, n=100, questions=(asked,)).text)


def test_gaussian_questions_are_charged_as_one_vector() -> None:
    app = opened(PAGE)
    assert not any("one Gaussian vector" in each.value for each in app.caption)
    gaussian = tuple(replace(each, entry_key="gaussian", target=None) for each in questions(app))
    run_with(app, {"plan_questions": {"adult": gaussian}, "plan_version": 7})
    (captions,) = [each.value for each in app.caption if "one Gaussian vector" in each.value]
    assert "ε = 0.75" in captions and "ε = 0.75" not in app.header[0].value


def test_a_release_of_made_up_rows_is_shown_on_demand() -> None:
    app = opened(PAGE, table="penguins")
    run_with(app, {"plan_preview": True})
    chart = drawn(app)["plan_preview_chart"]
    assert chart["layout"]["title"]["text"].startswith("mock data")


def test_every_mechanism_is_compared_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "EPSILON_GRID", (0.1, 1.0, 10.0))
    monkeypatch.setattr(compare, "N_GRID", compare.N_GRID[:3])
    app = opened(PAGE, table="penguins")
    assert "plan_frontier_chart" not in drawn(app)
    app.session_state["plan_frontier"] = True
    chart = drawn(sound(app.run()))["plan_frontier_chart"]
    assert chart["layout"]["title"]["text"].startswith("mock data")
    names = {str(trace.get("name", "")) for trace in chart["data"]}
    for key in ("windows", "identity", "root"):
        assert any(name.startswith(entry(key).title) for name in names), (key, names)
    app.session_state["plan_only"] = True
    chart = drawn(sound(app.run()))["plan_frontier_chart"]
    fewer = {str(trace.get("name", "")) for trace in chart["data"]}
    assert entry("identity").title in fewer and entry("intervals-printed").title in names - fewer
    app.session_state["plan_axis"] = "n"
    charts = drawn(sound(app.run()))
    assert "plan_frontier_chart" not in charts
    assert "near n = 316, " in charts["plan_frontier_chart_n"]["sentence"]
    app.session_state["plan_compared"] = 1
    app.session_state["plan_axis"] = "ε"
    assert "Identity histogram" in str(drawn(sound(app.run()))["plan_frontier_chart"]["data"])


def test_what_is_clicked_comes_into_the_plan_and_nothing_else_changes() -> None:
    first = PlannedQuestion(columns=("wage",), queries="intervals", entry_key="identity", epsilon=0.5, target=0.01)
    second = PlannedQuestion(
        columns=("wage",), queries="cells", entry_key="gaussian", epsilon=0.5, values={"delta": 1e-7}
    )
    plan = wages(first, second)
    assert with_clicked_point(plan, 0, {"key": "windows", "epsilon": 2}).questions == (
        replace(first, entry_key="windows", epsilon=2.0),
        second,
    )
    assert with_clicked_point(plan, 1, {"key": "gaussian", "epsilon": 2}).questions == (
        first,
        replace(second, epsilon=2.0),
    )
    assert with_clicked_point(plan, 1, {"key": "identity", "epsilon": 2}).questions[1].values == {}


def test_a_question_of_one_column_opens_in_play_with_its_mechanism_and_loss() -> None:
    table = DeclaredTable(columns=(DeclaredColumn(name="body_mass_g", on=Number(high=8192, bits=8)),))
    told = PlanTable(key="penguins", title="t", table=table, n=344, neighbours=Neighbours.REPLACE_ONE, beta=0.05)
    asked = PlannedQuestion(columns=("body_mass_g",), queries="thresholds", entry_key="windows", epsilon=0.3)
    app = sound(opened("play/page.py", **play_link(told, asked)))
    shown = app.session_state["shown"]
    assert "penguins" in shown.source.key and shown.queries == "thresholds"
    assert shown.entry_key == "windows" and dict(shown.values)["epsilon"] == 0.3
    mean = PlannedQuestion(columns=("body_mass_g",), queries="thresholds", entry_key="clipped_mean", epsilon=0.3)
    assert play_link(told, mean) == {} == play_link(replace(told, key="my-file"), asked), "of these there is no link"


def test_bounds_missing_values_and_rows_stand_beside_every_value() -> None:
    app = sound(opened(PAGE, table="penguins"))
    mean = PlannedQuestion(columns=("body_mass_g",), queries="thresholds", entry_key="clipped_mean", epsilon=0.3)
    upper = replace(mean, entry_key="exponential_median", values={"quantile": 0.75})
    with_questions(app, mean, upper)
    told = [each.value for each in app.caption]
    line = "rows without a number are left out."
    assert sum(line in each and "are clipped to" in each for each in told) == 2
    assert any(f"{line} The number of rows with a value is released with the mean." in each for each in told)
    assert any("How many of these rows are used is private" in each for each in told)
    assert any(each.value == "counted-mean" for each in app.selectbox), "no cell of a sample is surely filled"


def test_every_bundled_table_has_an_example() -> None:
    app = sound(opened(PAGE))
    for key in ("earnings", "census", "medical", "pets", "cities", "digits", "penguins"):
        app.selectbox(key="table").set_value(key)
        app = press(sound(app.run()), "Load an example")
        assert not app.error and questions(app, key)


def test_the_snippet_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = PlannedQuestion(columns=("wage",), queries="cells", entry_key="identity", epsilon=0.5, target=0.05)
    (tmp_path / "plan.json").write_bytes(wages(asked).text)
    monkeypatch.chdir(tmp_path)
    exec(compile(SNIPPET, "snippet", "exec"), {})
    assert "ε = 0.5" in capsys.readouterr().out


def test_the_picture_puts_each_number_where_it_is() -> None:
    first = PlannedQuestion(columns=("wage",), queries="intervals", entry_key="identity", epsilon=0.5, target=0.01)
    second = PlannedQuestion(columns=("wage",), queries="cells", entry_key="identity", epsilon=0.5, target=0.5)
    plan = wages(first, second)
    predictions = finish(predict(plan))
    picture = planned_errors(plan, predictions, titles=["ranges", "cells"])
    dots = {mark.name: mark for mark in picture.find(Dots)}
    for name, role, errors in (
        ("expected", "released", [each.worst for each in predictions]),
        ("guaranteed", "theory", [each.promised for each in predictions]),
        ("target", "ink", [0.01, 0.5]),
    ):
        mark = dots[name]
        assert mark.role == role
        assert numbers(mark.x).tolist() == errors and numbers(mark.y).tolist() == [0.0, 1.0]
    [wall] = picture.find(Bars)
    assert (wall.role, wall.name) == ("impossible", "impossible (lower bound)")
    [bars] = [each for each in render(picture, badge="", dark=False).data if each.get("type") == "bar"]
    assert bars["marker"]["pattern"]["shape"] == "/", "hatched, as everything impossible is"
    assert numbers(wall.value).tolist() == [each.impossible for each in predictions]
    assert missed_targets(plan, predictions) == [0]
    assert "No theorem guarantees the target of: 1. ranges" in picture.sentence
    frame: pd.DataFrame = picture.frame()
    small = [each.typical * 3 for each in predictions]  # of 300 rows, relative to 100
    assert frame["mean error, relative to a count of 100 rows"].tolist() == pytest.approx(small)
    hover = dots["expected"].hover or ()
    assert all(f"{percent(each)} of a count of 100 rows" in text for each, text in zip(small, hover, strict=True))
    assert frame["worst error, guaranteed"].tolist() == pytest.approx([each.promised for each in predictions])


def test_a_long_name_beside_its_line_leaves_a_phone_room_for_the_line() -> None:
    asked = PlannedQuestion(columns=("wage",), queries="intervals", entry_key="identity", epsilon=0.5)
    plan = wages(asked)
    short, long, longest = (
        planned_errors(plan, finish(predict(plan)), titles=[title])
        for title in ("ranges", "Intervals of flipper_length_mm", "Intervals of " + "very long words " * 4)
    )
    assert short.y.labels == ("1. ranges",) and long.y.labels == ("1. Intervals of\nflipper_length_mm",)
    assert [max(map(len, label.split("\n"))) <= 20 for label in longest.y.labels] == [True]
    assert longest.y.labels[0].endswith("…") and longest.y.labels[0].count("\n") == 1
    assert short.height + 12 == long.height == longest.height


def test_no_question_is_added_beyond_the_most_and_no_larger_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(add_questions, "MAX_QUESTIONS", 2)
    app = sound(opened(PAGE))
    app.multiselect[0].set_value(["hours_per_week"])
    app = press(sound(app.run()), "Add")
    assert "A plan has at most 2 statistics." in [each.value for each in app.error]
    assert [each.columns for each in questions(app)] == [("age",), ("sex",)]
    app = sound(opened(PAGE))
    sound(app.file_uploader[0].set_value(("plan.json", b" " * (MAX_BYTES + 1), "application/json")).run())
    assert [each.value for each in app.error] == [f"A plan has at most {MAX_BYTES:,} bytes."]
    assert "2 statistics of Adult" in app.header[0].value


@pytest.mark.parametrize("key", ["identity", "windows"])
def test_what_the_chosen_mechanism_promises_is_drawn_wherever_it_is_said_to_be(key: str) -> None:
    """Of windows nothing is promised in this sweep, and so neither drawn nor said."""
    errors = np.linspace(0.1, 0.3, 12).reshape(2, 2, 3)
    promised = np.array([[0.4, 0.2], [np.inf, np.inf]])
    found = Sweep(
        n=1000, keys=("identity", "windows"), epsilons=np.array([100.0, 1000.0]), worst=errors, typical=errors,
        promised=promised,
    )  # fmt: skip
    titles = {each: entry(each).title for each in found.keys}
    shown = errors_by_rows(sweep=found, titles=titles, pure=[True, True], chosen=key, epsilon=1.0, target=None)
    assert ("Orange: the guaranteed error of the chosen one." in shown.sentence) is (key == "identity")
    least = found.keys[int(np.argmin(errors[:, 1, 1]))]  # at n = 1,000, the last place
    assert f"near n = 1,000, {titles[least]} has the smallest worst error: " in shown.sentence
    curves = shown.find(Curve, role="theory")
    assert [numbers(each.y).tolist() for each in curves] == ([[0.4, 0.2]] if key == "identity" else [])
    assert [numbers(each.x).tolist() for each in curves] == ([[100.0, 1000.0]] if key == "identity" else [])
    for theme in (LIGHT, DARK):  # orange: red more than green, and green more than blue
        red, green, blue = (int(theme.roles["theory"][place : place + 2], 16) for place in (1, 3, 5))
        assert red > 1.5 * green > 1.5 * blue
