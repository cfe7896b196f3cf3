"""A plan of a private table with 20 columns, declared in the grid: all of them are there, and nothing of a row is."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.columns import Labels, is_number
from dpcore.data.dates import Dates
from dpcore.data.reading.format import Format
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from pages.data.picker import OWN_FILE
from pages.data.upload import PERSON as BY_PERSON
from pages.shell.private.twin import PLACEHOLDER_ROWS, USUAL_ROWS
from tests.dprelease.plan import adult
from tests.dprelease.plan.adult import FILE
from tests.dprelease.plan.test_visits import ADULT
from tests.kit.visits import ANSWERS, DATES, LABELS, NUMBERS, PERSON, PERSON_ROWS, visits
from tests.pages.data.test_page import OWN, everything, fill, give, opened, press, steward, type_in
from tests.pages.drawn_charts import drawn
from tests.pages.opening import run_with, sound

ROWS = 1_234
CELLS: dict[str, dict[str, Any]] = {
    PERSON: {"use": False},
    **{name: {"from": str(low), "to": str(high), "bins": bins} for name, (low, high, bins) in NUMBERS.items()},
    **{name: {"kind": f"date: {step}", "from": low, "to": high} for name, (step, low, high) in DATES.items()},
    **{name: {"kind": "category", "labels": "\n".join(labels)} for name, labels in LABELS.items()},
    **{name: {"kind": "yes/no"} for name in ANSWERS},
}
SIX = tuple(
    PlannedQuestion(columns=columns, queries=kind, entry_key="identity", epsilon=0.1)
    for columns, kind in (
        (("age",), "intervals"), (("cost",), "thresholds"), (("region",), "cells"), (("seen",), "intervals"),
        (("age", "cost"), "rectangles"), (("smoker",), "cells"),
    )
)  # fmt: skip


def declared(*, by_person: bool) -> AppTest:
    """A session that has declared the whole table, steward off, and was never asked to use a column."""
    app = give(opened(way=OWN), visits(ROWS).to_csv(index=False), name="visits.csv")
    type_in(app, **CELLS)
    if by_person:
        fill(app, **{"Who is protected?": BY_PERSON})
        fill(app, **{"Column that identifies the person": PERSON, "Maximum rows per person": PERSON_ROWS})
    return app


def planned(app: AppTest) -> AppTest:
    """Plan begins with the table that was just brought; the example is loaded where it is empty."""
    sound(app.switch_page("plan/page.py").run())
    assert app.selectbox(key="table").value == OWN_FILE
    for button in [each for each in app.button if each.label == "Load an example"]:
        sound(button.click().run())
    return app


def test_a_plan_of_one_s_own_file_says_how_the_file_is_read() -> None:
    app = give(opened(way=OWN), "wage;age\n1210,80;20\n932,45;21\n", name="wages.csv")
    type_in(app, wage={"from": "0", "to": "5000", "bins": 10}, age={"use": False})
    plan: Plan = planned(app).session_state["plan_shown"][1]
    assert plan.file_format == Format(separator=";", decimal=",")
    assert Plan.read(plan.text).request().file_format == plan.file_format


def test_an_n_that_nobody_named_is_called_a_placeholder_and_assumed() -> None:
    app = planned(declared(by_person=True))
    (n,) = (each for each in app.number_input if each.label == "Public n")
    assert n.value == USUAL_ROWS and PLACEHOLDER_ROWS in [each.value for each in app.caption]
    assert "assumed n = 10,000" in next(each.proto.label for each in app.get("page_link"))
    sound(n.set_value(4000).run())
    assert PLACEHOLDER_ROWS not in [each.value for each in app.caption]
    assert app.session_state["plan_shown"][1].n == 4000
    assert "assumed n = 4,000" in next(each.proto.label for each in app.get("page_link"))


def test_whoever_looked_at_plan_before_finds_the_file_there_and_another_choice_stays() -> None:
    app = sound(opened(way=OWN).switch_page("plan/page.py").run())
    assert "of Adult" in app.header[0].value
    sound(app.switch_page("data/page.py").run())
    app.query_params["way"] = OWN
    app = give(sound(app.run()), "age,rooms\n" + "41,2\n" * 50)
    type_in(app, age={"from": "0", "to": "120"})
    app = planned(app)
    assert "of your table" in app.header[0].value
    # The number of rows was not declared public, so it is named here, whichever data sets are neighbours.
    sound(app.number_input(key="plan_n_my-file").set_value(4_000).run())
    assert "n = 4,000" in everything(app)
    sound(app.selectbox(key="table").set_value("adult").run())
    sound(app.switch_page("data/page.py").run())
    sound(app.switch_page("plan/page.py").run())
    assert "of Adult" in app.header[0].value


@pytest.mark.slow
@pytest.mark.parametrize("by_person", [False, True], ids=["rows", "persons"])
def test_every_declared_column_can_be_planned_without_a_look_at_a_row(by_person: bool) -> None:
    app = planned(declared(by_person=by_person))
    assert set(app.multiselect[0].options) == {*NUMBERS, *DATES, *LABELS, *ANSWERS}
    run_with(app, {"plan_questions": {OWN_FILE: SIX}, "plan_version": 7})
    unit = "person" if by_person else "row"
    assert "6 statistics of your table" in app.header[0].value and unit in app.header[0].value
    texts = (key.removeprefix("planned|") for key in app.session_state["memory"] if key.startswith("planned|"))
    [plan] = (plan for plan in map(Plan.read, texts) if len(plan.questions) == len(SIX))
    assert plan.table.person == (PERSON if by_person else "")
    assert plan.table.on("seen") == Dates(step="day", first="2024-01-01", last="2024-12-31", missing=True)
    assert isinstance(plan.table.on("smoker"), Labels) and is_number(plan.table.on("cost"))
    assert plan.cost.epsilon == pytest.approx(0.6 * (PERSON_ROWS if by_person else 1))
    assert f"{ROWS:,}" not in everything(app) and "p17" not in everything(app)
    assert "cost" in drawn(app)["plan_chart"]["sentence"]


def test_a_question_whose_column_is_no_longer_declared_goes() -> None:
    app = planned(declared(by_person=False))
    run_with(app, {"plan_questions": {OWN_FILE: SIX}})
    sound(app.switch_page("data/page.py").run())
    app.query_params["way"] = OWN
    type_in(sound(app.run()), region={"use": False}, cost={"to": ""})
    planned(app)
    assert "3 statistics of your table" in app.header[0].value, "regions and both questions about cost"
    assert not app.error


def test_what_was_read_off_private_rows_is_left_out() -> None:
    app = give(opened(way=OWN), visits(ROWS)[["age", "sex"]].to_csv(index=False), name="visits.csv")
    type_in(app, age={"from": "0", "to": "120"})
    press(steward(app, on=True), "Fill in from the data")
    planned(app)
    assert app.multiselect[0].options == ["age"]
    assert any("Left out: 1 whose bounds or labels were read from your rows" in each.value for each in app.caption)


def test_tables_draws_made_up_rows_with_the_columns_of_ones_own() -> None:
    app = declared(by_person=False)
    sound(app.switch_page("tables/page.py").run())
    sound(app.segmented_control(key="view").set_value("All tables of k attributes").run())
    sound(app.selectbox(key="tables-of").set_value(OWN_FILE).run())
    picked = next(each for each in app.multiselect if each.label == "Attributes")
    assert set(picked.options) == {*NUMBERS, *DATES, *LABELS, *ANSWERS} and len(picked.value) == 8
    picked.set_value(["region", "ward", "smoker"])
    sound(app.run())
    chart = drawn(app)["tables_all_chart"]
    assert "region × ward" in str(chart["data"]) and chart["layout"]["title"]["text"].startswith("true: simulated")
    shown = everything(app)
    assert f"{ROWS:,}" not in shown and "p17" not in shown
    assert "ward" not in str(dict(app.query_params)), "the names of private columns stay out of the link"


@pytest.mark.full
def test_adult_with_all_its_columns_is_planned_as_a_private_table() -> None:
    """From its upload to a finished plan of six questions, by typing alone; the steward's switch stays off."""
    app = give(opened(way=OWN), FILE.read_bytes(), name="people.parquet")
    cells: dict[str, dict[str, Any]] = {
        name: {"from": str(low), "to": str(high), "bins": bins} for name, (low, high, bins) in adult.NUMBERS.items()
    }
    named = {name: {"kind": "category", "labels": "\n".join(told)} for name, told in adult.labels().items()}
    type_in(app, **cells, **named)
    app = planned(app)
    assert set(app.multiselect[0].options) == set(adult.adult())
    run_with(app, {"plan_questions": {OWN_FILE: ADULT}, "plan_version": 7})
    assert "6 statistics of your table" in app.header[0].value
    sentence = drawn(app)["plan_chart"]["sentence"]
    assert "Tables of 2 of 6 columns" in sentence and "2 lines of age × sex" in sentence
    assert "48,842" not in everything(app) and not app.session_state["steward_choice"]
