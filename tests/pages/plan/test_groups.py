"""Statistics by group on the Plan page: added, predicted in their own unit, and solved for a margin."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.bundled import bundled
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dplab.measure import finish
from dprelease.downloads.group_tables import HIDDEN
from dprelease.ledger.units import Price
from dprelease.plan.errors import predict
from dprelease.plan.groups import STATISTICS
from dprelease.plan.margins import margin
from dprelease.plan.planned_question import group_question
from dprelease.plan.questions import Plan
from dprelease.plan.titles import question_title
from dprelease.release import rehearse
from pages.plan import preview
from pages.plan.figure import missed_targets, planned_errors
from pages.plan.group_form import available_groups
from pages.plan.margin_words import margin_sentence, read_margin, target_text, wide_margins
from pages.plan.plan_table import PlanTable
from pages.shell.ledger.roles import VARIABLE
from tests.pages.drawn_charts import drawn
from tests.pages.opening import opened, run_with, sound
from tests.pages.plan.test_page_plan import press, questions
from tests.pages.release import test_page_states as ledgers

PAGE = "plan/page.py"
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=Labels(labels=("N", "S"))),
        DeclaredColumn(name="smoker", on=Labels(yes_no=True)),
        DeclaredColumn(name="income", on=Number(high=100, bins=100, unit="k€")),
        DeclaredColumn(name="hours", on=Number(high=80, bins=40, unit="h")),
    )
)
SHOWN = PlanTable(
    key="t", title="t", table=TABLE, n=1_200, neighbours=Neighbours.ADD_REMOVE_ONE, beta=0.05
)  # fmt: skip
MEAN = replace(group_question("mean", ("hours",), ("region", "smoker"), epsilon=0.5), min_rows=300)


def asking(app: AppTest, columns: list[str], by: list[str], statistic: str) -> AppTest:
    """The page with what is asked of columns of Adult by others, before it is added."""
    app.multiselect(key="plan_columns_adult").set_value(columns)
    sound(app.multiselect(key="plan_by_adult").set_value(by).run())
    return sound(app.selectbox(key="plan_asked_adult").set_value(statistic).run())


def with_mean(app: AppTest) -> AppTest:
    """The page with a mean by two columns, of groups of 1,000 at least."""
    asking(app, ["hours_per_week"], ["sex", "race"], "by-mean")
    app.number_input(key="plan_smallest_adult").set_value(1_000)
    return press(sound(app.run()), "Add")


def test_a_mean_by_two_columns_is_added_with_its_margin_and_the_people_it_needs() -> None:
    app = with_mean(sound(opened(PAGE)))
    added = questions(app)[2]
    assert (added.statistic, added.columns, added.by) == ("mean", ("hours_per_week",), ("sex", "race"))
    assert added.min_rows == 1_000 and added.entry_key == "group-counters"
    assert "3 statistics of Adult" in app.header[0].value and "ε = 1" in app.header[0].value
    [said] = [each.value for each in app.caption if "a group needs" in each.value]
    assert "per group of 1,000 people, with 95\\% confidence\\." in said
    assert any("3. Mean of hours_per_week by sex × race" in each.value.replace("\\", "") for each in app.markdown)
    assert "by sex × race" in drawn(app)["plan_chart"]["sentence"]


def test_that_everybody_is_in_the_table_is_said_where_the_spread_is_released() -> None:
    app = asking(sound(opened(PAGE)), ["hours_per_week"], ["sex"], "by-mean")
    assert not [each for each in app.toggle if each.label == "Everybody is in the table"]
    app.selectbox(key="plan_asked_adult").set_value("by-spread")
    [everybody] = [each for each in sound(app.run()).toggle if each.label == "Everybody is in the table"]
    everybody.set_value(True)
    app = press(sound(app.run()), "Add")
    assert questions(app)[2].whole_population and not questions(app)[1].whole_population


def test_a_share_is_of_the_label_that_is_chosen() -> None:
    app = asking(sound(opened(PAGE)), ["sex"], ["race"], "by-share")
    first, second = map(bundled("adult", "sex").domain.describe, (0, 1))
    [label] = [each for each in app.selectbox if each.label == "With the label"]
    assert label.options == [first, second] and label.value == second
    label.set_value(first)
    app = press(sound(app.run()), "Add")
    added = questions(app)[2]
    assert (added.statistic, added.label) == ("share", first)
    assert f"Share with sex = {first} by race" in " ".join(str(each.value) for each in app.markdown).replace("\\", "")
    [label] = [each for each in app.selectbox if each.label == "With the label"]
    label.set_value(second)
    app = press(sound(app.run()), "Add")
    assert "costs nothing more: it is 1 minus the share of statistic 3" in app.info[0].value.replace("\\", "")
    assert len(questions(app)) == 3


def test_a_margin_is_a_target_in_its_own_unit_and_is_solved_for() -> None:
    app = with_mean(sound(opened(PAGE)))
    [target] = [each for each in app.text_input if each.label == "± Target"]
    target.set_value("much")
    assert "A margin is a number in the statistic's unit" in sound(app.run()).error[0].value
    [target] = [each for each in app.text_input if each.label == "± Target"]
    target.set_value("0.5")
    app = sound(app.run())
    assert not app.error and questions(app)[2].target == pytest.approx(0.5 / 128)
    assert any("above the target of statistic 3" in each.value for each in app.caption)
    for place in (0, 1):  # a target of the other statistics is another test's
        next(each for each in app.checkbox if str(each.key).endswith(f"_{place}")).check()
    app = press(sound(app.run()), "Fit ±")
    assert "1 target met" in app.info[0].value
    solved = questions(app)[2]
    assert solved.epsilon > 0.25
    assert not any("above the target of statistic" in each.value for each in app.caption)
    assert [each.value for each in app.text_input if each.label == "± Target"] == ["0.5"]


def said_noise(app: AppTest) -> list[str]:
    return [each.value for each in app.caption if "noise makes each ±" in each.value]


def test_other_noise_with_smaller_margins_at_the_same_price_is_one_button_away() -> None:
    app = with_mean(sound(opened(PAGE)))
    assert not said_noise(app), "Laplace noise suits one statistic at a price in ε"
    mechanism = next(each for each in app.selectbox if "Statistics by group, Gaussian" in each.options)
    mechanism.set_value("group-counters-gaussian")
    app = sound(app.run())
    assert questions(app)[2].entry_key == "group-counters-gaussian"
    [said] = said_noise(app)
    assert re.fullmatch(
        r"At the same ε, Laplace noise makes each ± by group at least \d\d% smaller, and of all rows together \d\d% "
        r"smaller\.", said
    )  # fmt: skip
    app = press(app, "Use Laplace noise")
    assert questions(app)[2].entry_key == "group-counters" and not said_noise(app)
    assert questions(app)[:2] == questions(press(app, "Undo"))[:2]


def test_an_account_in_rho_suggests_planned_gaussian_noise(monkeypatch: pytest.MonkeyPatch, no_ledger: Path) -> None:
    monkeypatch.setenv(VARIABLE, ledgers.KEY)
    budget = Price.allowed_in_rho(epsilon=2.0, delta=1e-6)
    monkeypatch.setattr(Price, "allowed", lambda **_: budget)
    app = ledgers.registered()
    app.switch_page(PAGE)
    run_with(app, {"table": "penguins"})
    app.multiselect(key="plan_columns_penguins").set_value(["body_mass_g"])
    app.multiselect(key="plan_by_penguins").set_value(["species", "island", "sex"])
    app = press(sound(app.run()), "Add")
    [said] = said_noise(app)
    assert said.startswith("At the same ρ, planned Gaussian noise makes each ± by group at least ")
    app = press(app, "Use planned Gaussian noise")
    assert questions(app, "penguins")[-1].entry_key == "group-counters-planned" and not said_noise(app)


def test_people_by_group_need_no_column_and_a_preview_is_a_table() -> None:
    app = sound(opened(PAGE))
    app.multiselect(key="plan_columns_adult").set_value([])
    app.multiselect(key="plan_by_adult").set_value(["sex"])
    app = press(sound(app.run()), "Add")
    assert questions(app)[2].statistic == "people" and questions(app)[2].columns == ()
    assert any("people per group, with 95\\%" in each.value for each in app.caption)
    run_with(app, {"plan_preview": True, "plan_previewed": 2})
    [printed] = [each.value for each in app.dataframe if "Rows" in each.value]
    assert all(re.fullmatch(r"[-\d,]+ ± \d+", each) for each in printed["Rows"])


def test_a_preview_is_the_table_as_it_is_printed_and_hides_groups_of_few_noisy_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = with_mean(sound(opened(PAGE)))
    run_with(app, {"plan_preview": True, "plan_previewed": 2})
    [printed] = [each.value for each in app.dataframe if "Mean of hours_per_week" in each.value]
    hidden = printed["Mean of hours_per_week"] == HIDDEN
    assert 0 < hidden.sum() < len(printed), "mock data have no other values, and so those groups have few rows"
    assert printed["Mean of hours_per_week"][~hidden].str.contains("±|to").all()
    rows = printed["Rows"].str.partition(" ")[0].str.replace(",", "").astype(int)
    assert rows[hidden].max() < rows[~hidden].min(), "by the noisy number of rows alone"
    assert any("As a report prints it" in each.value for each in app.caption)
    assert "of the groups have enough rows to be printed" in drawn(app)["plan_printable_chart"]["sentence"]
    monkeypatch.setattr(preview, "MAX_SECONDS", 0.0)
    columns = [column for each in sound(app.run()).dataframe for column in each.value]
    assert "rows" in columns and "Rows" not in columns, (
        "intervals that take long are not found: the run cannot be stopped"
    )


def test_pasted_lines_are_statistics_by_group_or_get_one_sentence() -> None:
    app = sound(opened(PAGE))
    area = app.text_area[0]
    area.set_value("mean hours_per_week by sex, race, groups of 300\nshare income = >50K by sex\nage >= 65")
    app = press(sound(app.run()), "Add these lines")
    assert not app.error
    added = {each.statistic: each for each in questions(app)[2:]}
    assert list(added) == ["", "mean", "share"] and added[""].lines == ("age >= 65",)
    assert added["mean"].by == ("sex", "race") and added["mean"].min_rows == 300
    app.text_area[0].set_value("share sex = Other by race")
    app = press(sound(app.run()), "Add these lines")
    assert "“sex” has no label “Other”" in app.error[0].value.replace("\\", "") and len(questions(app)) == 5
    app.text_area[0].set_value("share sex = Female by race")
    app = press(sound(app.run()), "Add these lines")
    assert not app.error and questions(app)[5].label == "Female"


def test_a_statistic_of_the_same_counters_costs_nothing_and_changes_the_first() -> None:
    app = with_mean(sound(opened(PAGE)))
    before = app.header[0].value
    app.selectbox(key="plan_asked_adult").set_value("by-sum")
    app = press(sound(app.run()), "Add")
    assert app.header[0].value == before, "the same number of statistics, and the same ε"
    assert "costs nothing more: it shares one draw with statistic 3" in app.info[0].value.replace("\\", "")
    assert (questions(app)[2].statistic, questions(app)[2].also) == ("mean", ("sum",))
    assert any("3. Mean of hours_per_week, sum by sex × race" in each.value.replace("\\", "") for each in app.markdown)
    assert any("Sum, from the same draw: ± " in each.value.replace("\\", "") for each in app.caption)
    app.text_area[0].set_value("spread hours_per_week by race, sex\nmean hours_per_week by sex")
    app = press(sound(app.run()), "Add these lines")
    assert [each.statistic for each in questions(app)[2:]] == ["spread", "mean"] and "4 statistics" in app.header[
        0
    ].value
    assert questions(app)[2].also == ("sum",) and questions(app)[2].by == ("sex", "race")


def test_what_fits_no_statistic_by_group_gets_one_sentence() -> None:
    app = sound(opened(PAGE))
    app.multiselect(key="plan_columns_adult").set_value(["age", "race"])
    sound(app.multiselect(key="plan_by_adult").set_value(["sex"]).run())
    assert any(each.value.startswith("By group: two numbers") for each in app.caption)
    assert not any(each.label == "Add" for each in app.button)


def test_every_mechanism_of_a_mean_by_group_is_drawn() -> None:
    app = with_mean(sound(opened(PAGE)))
    run_with(app, {"plan_frontier": True, "plan_compared": 2})
    data = str(drawn(app)["plan_frontier_chart"]["data"])
    assert "Statistics by group" in data and "Statistics by group, Gaussian" in data


@pytest.mark.parametrize(
    ("columns", "by", "expected"),
    [
        ((), ("region",), ["people"]),
        (("income",), ("region",), ["sum", "mean", "spread", "quantiles"]),
        (("income",), (), ["sum", "spread"]),
        (("smoker",), ("region",), ["share"]),
        (("income", "hours"), ("region",), ["ratio", "slope"]),
        (("income", "smoker"), ("region",), []),
        ((), (), []),
    ],
)
def test_statistics_are_those_that_the_columns_have(
    columns: tuple[str, ...], by: tuple[str, ...], expected: list[str]
) -> None:
    options = available_groups(SHOWN, columns, by, epsilon=0.25)
    assert [question.statistic for _, question in options.values()] == expected
    for _, question in options.values():
        assert rehearse(Plan(table=TABLE, n=1_200, questions=(question,)).request()).numbers > 0


def test_titles_and_margins_are_in_plain_words() -> None:
    titles = []
    for statistic, kind in STATISTICS.items():
        columns = {"share": ("smoker",), "people": ()}.get(statistic, ("income", "hours")[: kind.columns])
        titles.append(question_title(TABLE, group_question(statistic, columns, ("region",), epsilon=0.5)))
    assert titles == [
        "People by region",
        "Share with smoker = yes by region",
        "Sum of income by region",
        "Mean of income by region",
        "Mean and spread of income by region",
        "Ratio of income to hours by region",
        "Slope and correlation of income on hours by region",
        "Quartiles of income by region",
    ]
    plan = Plan(table=TABLE, n=1_200, questions=(MEAN,))
    planned = margin(plan, MEAN, plan.mechanism(MEAN))
    expected = "± 1.6 h per group of 300 people, with 95% confidence. For ± 4 h a group needs 120 people."
    assert margin_sentence(plan, MEAN, planned) == expected
    equal = replace(MEAN, min_rows=0, target=0.01)
    said = margin_sentence(plan, equal, margin(plan, equal, plan.mechanism(equal)))
    assert said.startswith("± 1.6 h if all groups have 300 people, with 95% confidence. For ± 0.8 h a group needs ")
    alone = replace(MEAN, by=(), min_rows=0)
    said = margin_sentence(plan, alone, margin(plan, alone, plan.mechanism(alone)))
    assert said == "± 0.399 h for 1,200 people, with 95% confidence."
    few = replace(MEAN, min_rows=2)
    said = margin_sentence(plan, few, margin(plan, few, plan.mechanism(few)))
    assert said == "At this ε, noise hides a group of 2 people."
    persons = Plan(table=replace(TABLE, person="who", person_rows=3), n=1_200, questions=(MEAN,))
    assert "rows" in margin_sentence(persons, MEAN, planned) and "people" not in margin_sentence(persons, MEAN, planned)
    assert margin_sentence(plan, MEAN, None).startswith("No margin of this ratio")


def test_a_target_is_read_as_it_is_written() -> None:
    plan = Plan(table=TABLE, n=1_200, questions=(MEAN,))
    planned = margin(plan, MEAN, plan.mechanism(MEAN))
    for text in ("1.2", "± 1.2 h", "1,5%", "1.5 %"):
        share = read_margin(text, planned)
        assert share == pytest.approx(0.015)
        assert read_margin(target_text(replace(MEAN, target=share), planned), planned) == pytest.approx(share)
    assert [read_margin(text, planned) for text in ("0", "80", "1.2 kg", "-1", "", "1% h", "inf")] == [None] * 7


def test_a_wide_margin_is_no_missing_theorem() -> None:
    plan = Plan(table=TABLE, n=1_200, questions=(replace(MEAN, target=0.001), replace(MEAN, target=0.5), MEAN))
    predictions = finish(predict(plan))
    assert wide_margins(plan, predictions) == [0] and missed_targets(plan, predictions) == []
    picture = planned_errors(plan, predictions, titles=["a", "b", "c"])
    assert "of the range" in picture.sentence and "n =" not in picture.sentence
    frame = picture.frame()
    assert frame["margin of a group"].tolist() == pytest.approx([1.6, 1.6, 1.6], abs=0.01)
    assert frame["group's rows"].tolist() == [300, 300, 300]
