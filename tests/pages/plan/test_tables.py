"""Tables, values, pasted lines and whole tables on the Plan page, and one press from there to rows of nobody."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.samples import sample
from dpcore.mechanisms import entry
from dplab.limits.data_independent_summary import promised_error
from dprelease.ledger.checks import check
from dprelease.plan import errors
from dprelease.plan.answers import Errors
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from pages.plan.add_questions import available_questions
from pages.plan.plan_table import PlanTable
from pages.shell.ledger.roles import VARIABLE
from tests.kit.ledgers import spend
from tests.pages.drawn_charts import drawn
from tests.pages.opening import opened, run_with, sound
from tests.pages.plan.test_page_plan import PAGE, press, questions
from tests.pages.release import test_page_states as ledgers


def test_pasted_lines_become_questions_and_each_bad_one_gets_a_sentence() -> None:
    app = sound(opened(PAGE))
    lines = app.text_area[0]
    lines.set_value("age 20–34, sex = Female\nage 40-20\nagee 3\nage >= 65, sex = Male\nrace = Black")
    press(app, "Add these lines")
    assert len(app.error) == 2, "one for each bad line"
    assert app.error[0].value.startswith("Line 2: ") and app.error[1].value.startswith("Line 3: ")
    assert len(questions(app)) == 2, "nothing is added while a line is wrong"
    app.text_area[0].set_value("agee 3\n" * 100)
    press(app, "Add these lines")
    assert [each.value for each in app.error][4:] == [
        "Line 5: “agee 3” does not begin with the name of a column.",
        "95 more lines cannot be read.",
    ]
    app.text_area[0].set_value("age,sex\n")
    press(app, "Add these lines")
    assert [each.value for each in app.error] == ["These lines contain no statistic."]
    app.text_area[0].set_value("age,sex\n20–34,Female\n65-90,Male\n,Male")
    press(app, "Add these lines")
    both, alone = questions(app)[2:]
    assert both.columns == ("age", "sex") and len(both.lines) == 2 and alone.lines == ("sex Male",)
    assert not app.error and app.text_area[0].value == ""
    sentence = drawn(app)["plan_chart"]["sentence"]
    assert "2 lines of age × sex" in sentence and "1 line of sex" in sentence
    run_with(app, {"plan_preview": True})
    sound(app.selectbox(key="plan_previewed").set_value(2).run())
    shown = app.dataframe[-1].value
    assert shown["line"].tolist() == list(both.lines)
    assert (shown["released rows"] - shown["mock data"]).abs().max() < 400


def test_values_tables_and_rows_are_added_from_the_list() -> None:
    app = sound(opened(PAGE, table="penguins"))
    columns = "plan_columns_penguins"
    for asked, names in (("mean", ["body_mass_g"]), ("quantile", ["body_mass_g"]), ("tables", ["species", "sex"])):
        sound(app.multiselect(key=columns).set_value(names).run())
        sound(app.selectbox(key="plan_asked_penguins").set_value(asked).run())
        press(app, "Add")
    mean, quantile, tables = questions(app, "penguins")[2:]
    assert (mean.quantity, quantile.quantity, tables.ways) == ("mean", "quantile", 2)
    chart = drawn(app)["plan_chart"]
    sentence = chart["sentence"]
    told = [text for trace in chart["data"] for text in trace.get("hovertext") or ()]
    assert any("Mean of body_mass_g: expected" in text and "of its range" in text for text in told), told
    for words in ("Mean of body_mass_g", "Quantile 0.5 of body_mass_g", "Tables of 2 of species × sex"):
        assert words in sentence
    sound(app.multiselect(key=columns).set_value(["species"]).run())
    assert "Most common label" in app.selectbox(key="plan_asked_penguins").options


@pytest.mark.parametrize(("n", "picked"), [(5_000, "tree-windows"), (10**7, "windows")])
def test_a_question_is_added_with_the_mechanism_that_public_numbers_pick(n: int, picked: str) -> None:
    table = DeclaredTable(columns=(DeclaredColumn(name="pay", on=Number(high=1e5)),))
    relation = Neighbours.REPLACE_ONE
    asked = available_questions(
        PlanTable(key="t", title="t", table=table, n=n, neighbours=relation, beta=0.05), ["pay"]
    )
    found = {key: asked[key][1].entry_key for key in ("thresholds", "intervals", "cells")}
    assert found == {"thresholds": picked, "intervals": picked, "cells": "identity"}


def test_what_public_numbers_would_take_is_named_suggested() -> None:
    app = sound(opened(PAGE, table="penguins"))

    def named(place: int) -> list[str]:
        box = [each for each in app.selectbox if each.key and each.key.startswith("plan_mechanism")][place]
        return [option for option in box.options if "suggested" in option]

    assert named(0) == ["Private tree, then windows (suggested)"] and named(1) == ["Identity histogram (suggested)"]
    sound(next(each for each in app.number_input if each.label == "ε").set_value(20.0).run())
    assert named(0) == ["Overlapping windows (suggested)"]


def test_rows_of_nobody_say_that_nothing_is_promised_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        errors, "answer_errors", lambda *_, **__: Errors(worst=np.ones(1), typical=np.ones(1), single=1.0)
    )
    app = opened(PAGE, table="penguins")
    columns = "plan_columns_penguins"
    sound(app.multiselect(key=columns).set_value(["species", "sex"]).run())
    app.selectbox(key="plan_asked_penguins").set_value("rows")
    app = press(sound(app.run()), "Add")
    assert not any("No error of synthetic rows is guaranteed" in each.value for each in app.caption)
    [*_, target] = [each for each in app.text_input if each.label == "Target"]
    target.set_value("5%")
    assert any("No error of synthetic rows is guaranteed" in each.value for each in sound(app.run()).caption)
    app = press(app, "Fit ±")
    assert "No error of synthetic rows is guaranteed" in app.info[0].value
    assert questions(app, "penguins")[2].epsilon == 1


@pytest.mark.full
def test_one_press_from_plan_to_a_whole_tables_release(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, ledgers.KEY)
    app = ledgers.registered()
    app.switch_page(PAGE)
    run_with(app, {"plan_whole": True})
    sound(app.selectbox(key="table").set_value("penguins").run())
    sound(next(each for each in app.button if each.label == "Release only these rows").click().run())
    plan: Plan = app.session_state["plan_shown"][1]
    assert [each.entry_key for each in plan.questions] == ["whole-table"]
    app.switch_page(ledgers.PAGE)  # as the button does
    app = sound(app.run())
    app = ledgers.press(ledgers.press(app, "Test run, free"), spend("1"))
    ledger, dataset_id = ledgers.the(no_ledger)
    [stored] = ledger.stored(dataset_id)
    assert not check(ledger, dataset_id) and ledger.account(dataset_id).spent.epsilon_or_rho == 10**9
    made = pd.read_csv(io.BytesIO(stored.files["rows_of_nobody.csv"]))
    assert list(made) == [column.name for column in sample("penguins").columns] and len(made) == 344
    app.switch_page(PAGE)  # where another plan is made
    app = press(sound(app.run()), "Load an example")
    [since] = [each for each in app.caption if each.value.startswith("Since the release of entry 1")]
    told = since.help.replace("\\", "")
    assert "3 changes." in since.value and told.count("New: ") == 2 and "Left out: Whole table" in told


def test_a_target_is_unmet_where_no_mechanism_that_is_tried_promises_it_and_delta_is_tried_where_it_is_asked() -> None:
    table = DeclaredTable(
        columns=(
            DeclaredColumn(name="age", on=Number(high=80, bins=80)),
            DeclaredColumn(name="sex", on=Labels(labels=("F", "M"))),
        )
    )
    value = PlannedQuestion(
        columns=("age",), queries="thresholds", entry_key="exponential_median", epsilon=0.5, target=1e-4
    )
    tables = PlannedQuestion(
        columns=("age", "sex"), queries="marginal-tables", entry_key="residual-planner", epsilon=5.0, ways=2,
        values={"delta": 1e-7}, target=0.1,
    )  # fmt: skip
    plain = replace(tables, values={"noise": "laplace"}, entry_key="direct-tables")
    plan = Plan(table=table, n=2000, questions=(value, tables, plain))
    app = sound(opened(PAGE))
    app.file_uploader[0].set_value(("plan.json", plan.text, "application/json"))
    app = press(app, "Fit ±")
    assert app.info[0].value == (
        "2 targets met with the smallest ε. Of counts the target is for the largest of their errors: the ± of one "
        "number is smaller. Up to ε = 20, no tried mechanism surely meets the target of statistic 1: it is unchanged."
    )
    first, second, third = questions(app, "plan-file")
    assert first == value

    def promised(question: PlannedQuestion, key: str, epsilon: float) -> float:
        mechanism = entry(key).make(**{**question.values_for(key), "epsilon": epsilon})
        return promised_error(mechanism, plan.problem(question), beta=plan.beta)

    def pure(question: PlannedQuestion) -> list[str]:
        """Mechanisms of ε alone that answer it."""
        made = {key: replace(question, entry_key=key, values=question.values_for(key)) for key in plan.proved(question)}
        return [key for key, each in made.items() if not plan.guarantee(each).delta]

    assert pure(value) and all(promised(value, key, 20.0) > 1e-4 for key in pure(value))
    # Tables with a δ: less ε than any mechanism of ε alone needs; without one, the least of these.
    (button,) = (each for each in app.button if each.label == "Fit ±")
    assert button.help.endswith("Mechanisms with δ are used only for tables and values that already have a δ.")
    assert plan.guarantee(second).delta and promised(second, second.entry_key, second.epsilon) <= 0.1
    assert all(promised(tables, key, second.epsilon) > 0.1 for key in pure(tables))
    assert not plan.guarantee(third).delta and promised(third, third.entry_key, third.epsilon) <= 0.1
    assert all(promised(third, key, 0.99 * third.epsilon) > 0.1 for key in pure(plain))
