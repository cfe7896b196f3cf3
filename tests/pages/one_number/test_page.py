"""Robust answers without a browser: every question runs, refusals and delta are the core's, private data hidden."""

from __future__ import annotations

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Neighbours, Problem
from dpcore.core import ParameterError, describe_error, rounded_up
from dpcore.data.bundled import bundled
from dpcore.data.columns import Labels, Number, is_number
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source, generated_rows
from dpcore.limits.bounds.rank import rank_bound
from dpcore.limits.bounds.refusal import max_answer_chance
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.stable_median import StableMedian, stability
from dpcore.mechanisms.robust.unbounded_mean import exception_chance, max_exceptions
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import answer_chance as vote_chance
from dpcore.mechanisms.subsamples.subsampling import paper_delta, paper_plan
from dpcore.queries.ranges import Cells, Thresholds
from pages.one_number.accounts import condition
from pages.one_number.controls import questions
from pages.one_number.words import nearly, nearly_percent
from tests import ROOT
from tests.kit.sources import own
from tests.pages.drawn_charts import drawn
from tests.pages.opening import MAIN, printed_by_code, run_with, sound, texts, visitor
from tests.pages.opening import opened as open_page
from tests.pages.uploads import uploaded

STABLE = {"robust_chance_chart", "robust_outcomes_chart", "robust_wrong_chart", "robust_step_chart"}
VOTES = {"robust_chance_chart", "robust_outcomes_chart", "robust_votes_chart"}


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    return open_page("one_number/page.py", **link)


def using(source: Source, question: str) -> AppTest:
    """The page with a question about a file's column."""
    return run_with(visitor("one_number/page.py"), {"upload": source, "data": "my-file", "robust": question})


def assert_the_code_runs(app: AppTest) -> None:
    assert "refuse; ε = 1, δ = " in printed_by_code(app, key="robust_code_open")


def test_the_page_tells_refusals_stability_and_delta() -> None:
    app = sound(opened(data="bimodal"))
    dataset = generated_rows("bimodal", n=10_000, bits=10, seed=1).dataset()
    _, stable = stability(dataset.histogram, domain=dataset.domain)
    mechanism = StableMedian()
    assert is_number(dataset.domain)
    problem = Problem(domain=dataset.domain, queries=Thresholds(domain=dataset.domain), n=dataset.n)
    text = texts(app)
    assert app.header[0].value == "More than 99 in 100 runs give no answer (⊥)"
    assert f"**{stable:,}** of 10,000 rows" in text
    assert f"At about **{mechanism.threshold}**, half of the runs give an answer." in text
    assert mechanism.guarantee(problem).sentence() in text
    for rows in (stable, stable - 1):
        chance = float(mechanism.chance(rows))
        assert f"| {rows} | {chance:.4g} |" in text
    assert f"| 1 | {rounded_up(mechanism.guarantee(problem).delta)} = δ |" in text
    assert set(drawn(app)) >= STABLE


def test_the_default_page_answers_and_its_sliders_move_the_refusals() -> None:
    app = sound(opened())
    assert_the_code_runs(app)
    assert app.header[0].value == "All of 100 runs give an answer"
    sound(app.number_input(key="epsilon").set_value(0.1).run())
    assert app.header[0].value == "More than 99 in 100 runs give no answer (⊥)"
    sound(app.slider(key="stable_median-quantile").set_value(0.25).run())
    assert "the 0.25-quantile" in texts(app)


def test_both_relations_have_their_own_stability() -> None:
    app, dataset = opened(data="census.age"), bundled("census", "age", bits=7).dataset()
    for relation in (Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE):
        sound(app.radio(key="neighbours").set_value(str(relation)).run())
        _, stable = stability(dataset.histogram, domain=dataset.domain, neighbours=relation)
        assert f"**{stable:,}** of 2,000 rows" in texts(app)


@pytest.mark.parametrize(
    ("link", "kind"),
    [
        ({"data": "bimodal", "robust": "subsample_median"}, Thresholds),
        ({"data": "earnings.earnings", "robust": "subsample-groups"}, Cells),
        ({"data": "adult.sex", "robust": "subsample_commonest"}, Cells),
        ({"data": "penguins.species", "robust": "subsample_larger"}, Cells),
    ],
)
def test_questions_asked_of_subsamples(link: dict[str, str], kind: Any) -> None:
    app = sound(opened(**link))
    assert not app.error and not app.warning
    assert set(drawn(app)) >= VOTES
    sample_key, _, column = link["data"].partition(".")
    source = generated_rows("bimodal", n=10_000, bits=10, seed=1)
    if link["robust"] == "subsample-groups":
        source = bundled(sample_key, "gender", column)
    elif column:
        source = bundled(sample_key, column)
    dataset = source.dataset()
    mechanism = entry(link["robust"]).make()
    assert isinstance(mechanism, SubsampleAggregate)
    problem = Problem(domain=dataset.domain, queries=kind(domain=dataset.domain), n=dataset.n)
    plan, text = mechanism.plan(problem), texts(app)
    assert f"**Yours (calibrated)**\n- subsamples k: **{plan.subsamples:,}**" in text
    assert f"noise of scale {plan.cap:,.4g} votes\n- votes needed: {plan.threshold:,} (" in text
    assert mechanism.guarantee(problem).sentence() in text
    state = mechanism.prepare(dataset, problem)
    agreement = float(state.vote.law(state.counts, rows=mechanism.rows)[state.vote.answer(state.counts[None, :])[0]])
    chance = vote_chance(plan, epsilon=1.0, agreement=agreement)
    assert f"| yours | {nearly_percent(agreement, digits=5)} | {nearly(chance, digits=4)} |" in text
    try:
        paper = paper_plan(epsilon=1.0, n=dataset.n, rows=mechanism.rows)
    except ParameterError:
        assert "cannot be used here" in text
    else:
        assert f"**Paper: k = ε(n/m)³**\n- subsamples k: **{paper.subsamples:,}**" in text
        spoken = f"the proof in the notes needs m ≤ n/64 = {dataset.n / 64:,.4g}: "
        assert spoken + ("met; it gives" if 64 * mechanism.rows <= dataset.n else "**not met**") in text
    assert_the_code_runs(app)


def test_where_the_notes_say_nothing_of_their_parameters_the_card_says_so() -> None:
    assert "**not met** with m = 25" in condition(epsilon=1.0, n=1599, rows=25)
    met = condition(epsilon=1.0, n=1600, rows=25)
    assert "met; it gives" in met and f"δ = {rounded_up(paper_delta(epsilon=1.0, n=1600, rows=25))}" in met


def test_the_paper_s_accounting_has_its_own_number_of_subsamples() -> None:
    app = opened(robust="subsample_median", data="bimodal")
    sound(app.selectbox(key="subsample_median-accounting").set_value("paper").run())
    assert "**Yours (paper)**\n- subsamples k: **64,000,000**" in texts(app)
    assert "subsample_median-subsamples" not in [each.key for each in app.select_slider]


def test_the_second_group_is_never_the_first() -> None:
    app = sound(opened(data="penguins.species", robust="subsample_larger"))
    assert app.selectbox(key="subsample_larger-first").options == ["Adelie", "Chinstrap", "Gentoo"]
    sound(app.selectbox(key="subsample_larger-first").set_value("1").run())
    assert app.selectbox(key="subsample_larger-second").options == ["Adelie", "Gentoo"]
    assert not app.error


def test_the_code_of_groups_of_another_column_runs() -> None:
    assert_the_code_runs(opened(data="census.income", robust="subsample-groups", groups="married"))


def test_groups_are_asked_of_two_columns() -> None:
    app = sound(opened(robust="subsample-groups", subsample_groups_rows="100"))
    assert app.selectbox(key="groups").options == ["gender", "region"]
    assert "The whole data answer `male: larger median`" in texts(app)
    sound(app.selectbox(key="groups").set_value("region").run())
    assert app.selectbox(key="subsample-groups-first").options == ["Northeast", "Midwest", "South", "West"]
    assert "The whole data answer `Northeast: larger median`" in texts(app)
    sound(app.selectbox(key="subsample-groups-second").set_value("3").run())
    assert "`West: larger median`" not in texts(app) and not app.error and not app.warning
    # Generated numbers belong to no group.
    sound(app.selectbox(key="data").set_value("skewed").run())
    assert "subsample-groups" not in app.selectbox(key="robust").options and not app.error


@pytest.mark.full
def test_the_data_in_use_stay_in_use_and_two_columns_are_too_many() -> None:
    app = AppTest.from_file(MAIN, default_timeout=600)
    app.query_params.update({"bits": "3", "n": "1000", "trials": "100"})
    assert app.run().selectbox(key="data").value == "bimodal"
    for page in ("one_number/page.py", "conversation/page.py"):
        sound(app.switch_page(page).run())
        assert app.selectbox(key="data").value == "bimodal" and not app.warning
    sound(app.selectbox(key="data").set_value("census.age").run())
    sound(app.switch_page("play/page.py").run())
    assert app.selectbox(key="data").value == "census.age"
    sound(app.selectbox(key="data").set_value("clouds").run())
    sound(app.switch_page("one_number/page.py").run())
    assert app.selectbox(key="data").value == "earnings.earnings"
    assert [each.value for each in app.warning] == [
        "Two columns were in use, but this page needs one. Showing “earnings · Hourly earnings 2004” instead."
    ]
    sound(app.number_input(key="epsilon").set_value(2.0).run())
    assert not app.warning


def test_the_mean_without_bounds_keeps_explicit_and_asymptotic_apart() -> None:
    app = sound(opened(data="medical.meddol", robust="unbounded_mean"))
    text = texts(app)
    said = re.search(r"\*\*γ₂ = ([\d.]+)\*\*", text)
    n = bundled("medical", "meddol").dataset().n
    proved = exception_chance(n=n, exceptions=max_exceptions(n=n, gamma=0.1))
    assert said is not None and proved <= float(said[1]) <= 1.01 * proved and "No finite number is known" in text
    assert "only" in app.warning[0].value
    headers = [each.value for each in app.subheader]
    assert headers[:2] == ["Proved, with explicit constants", "Proved only asymptotically"]
    assert "0.0% refuse; ε = 1, γ = 0.1" in printed_by_code(app, key="robust_code_open"), (
        "without rows without a number"
    )


def test_the_mean_is_of_the_rows_that_have_a_number() -> None:
    content = (ROOT / "tests" / "kit" / "field" / "R01_mean_with_missing.csv").read_bytes()
    table = read_table(content, name="ages.csv", header=True)
    ages = own(table, "age", on=Number(high=80, bins=80, missing=True), private=False)
    text = texts(using(ages, "unbounded_mean"))
    assert "of 133 rows that have a number. 67 rows without one are left out. Numbers are clipped to 0 and 80." in text
    (mean,) = re.findall(r"True mean ([0-9.]+)", text)
    assert abs(float(mean) - 40.2) < 0.6, "27.5 where an empty cell counts as 0"


def test_what_an_answer_that_never_fails_costs_is_proved_and_bounded_at_each_quantile() -> None:
    app, dataset = opened(data="earnings.earnings", epsilon="0.01"), bundled("earnings", "earnings").dataset()
    assert is_number(dataset.domain)
    for quantile in (0.5, 0.05):
        sound(app.slider(key="stable_median-quantile").set_value(quantile).run())
        problem = Problem(domain=dataset.domain, queries=Thresholds(domain=dataset.domain), n=dataset.n)
        always = ExponentialMedian(epsilon=0.01, quantile=quantile)
        [shown] = [each for each in app.markdown if " lie between the answer and the quantile." in each.value]
        assert describe_error(always.accuracy(problem, 0.05), n=dataset.n) in shown.value
        wall = rank_bound(problem, always.guarantee(problem), beta=0.05, quantile=quantile)
        assert wall is not None and shown.help == wall.statement


@pytest.mark.parametrize("view", ["Real salaries", "Rank error"])
def test_an_old_link_to_the_view_of_salaries_opens_its_data(view: str) -> None:
    app = sound(opened(data="bimodal", robust_seen=view, salaries="300"))
    assert app.selectbox(key="data").value == "earnings.earnings" and set(drawn(app)) == STABLE
    assert not app.warning and not app.error


def test_one_person_against_it_never_makes_an_answer_surer() -> None:
    """Both chances round to 1 here; only one of them is 1 to the last digit of a float."""
    text = texts(sound(opened(data="adult.race", robust="subsample_commonest")))
    assert re.search(r"\| yours \| [^|]+ \| above 0.9999 \|", text)
    assert re.search(r"\| one person changed, against it \| [^|]+ \| above 0.9999 \|", text)
    assert "100% of subsamples" not in text
    assert not [line for line in text.splitlines() if line.startswith("| ") and "100%" in line]


def test_the_wall_stands_above_the_data() -> None:
    app = sound(opened(data="earnings.earnings"))
    text = texts(sound(app.number_input(key="epsilon").set_value(0.4).run()))
    stable, optimal = 33, f"{float(StableMedian(epsilon=0.4).chance(33)):.3g}"
    assert f"At stability 33 the probability of an answer is {optimal}; " in text
    assert f"the upper bound on these data is {optimal}." in text, "the optimal rule is on the wall"
    text = texts(sound(app.selectbox(key="stable_median-rule").set_value("threshold").run()))
    mechanism = StableMedian(epsilon=0.4, rule="threshold")
    delta, mine = float(mechanism.chance(1)), float(mechanism.chance(stable))
    most = float(max_answer_chance(stable, epsilon=0.4, delta=delta))
    assert 0.2 < mine < most - 0.1, "here the best that could be is better"
    assert f"At stability 33 the probability of an answer is {mine:.3g}; " in text
    assert (
        f"the upper bound on these data is {most:.3g}. Dotted: upper bound if wrong answers are allowed, on the worst"
        in text
    )
    assert f"At a stability of **{mechanism.stability_needed(0.05):,}** or more, 95 in 100" in text
    # A chance of less than a hair is not told as none: one row can move this quantile, and δ is all there is.
    app = sound(opened(data="uniform"))
    app.slider(key="stable_median-quantile").set_value(0.75)
    app.select_slider(key="delta").set_value("1e-12")
    text = texts(sound(app.number_input(key="epsilon").set_value(20.0).run()))
    hair = float(StableMedian(epsilon=20.0, delta=1e-12).chance(1))
    assert 0 < hair < 1e-11 and f"the probability of an answer is {hair:.3g}; " in text
    assert f"the upper bound on these data is {hair:.3g}." in text


def test_private_data_show_nothing_until_their_steward_asks() -> None:
    app = run_with(visitor("one_number/page.py"), {"upload": uploaded(private=True), "data": "my-file"})
    assert set(drawn(app)) == {"promises_chart"} and "**No values of your rows are shown" in texts(app)
    assert "runs give no answer" not in texts(app) + str([each.value for each in app.header])
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert set(drawn(app)) >= STABLE
    assert "not protected" in texts(app) and "made by the data owner" in texts(app)
    kept = {key for key, chart in drawn(app).items() if chart["download"]}
    assert not kept, "pictures of private data are not offered as files"


@pytest.mark.parametrize("labels", [("yes", "no"), ("a", "b", "c")], ids=str)
@pytest.mark.parametrize("question", ["subsample_commonest", "subsample_larger"])
def test_labels_that_one_row_each_has_are_asked_of_subsamples(labels: tuple[str, ...], question: str) -> None:
    """One person changed leaves an answer without a row: agreement 0 once ended the page in an error."""
    table = read_table("\n".join(("x", *labels, "")).encode(), name="own.csv", header=True)
    declared = Labels(labels=labels, missing=True)
    app = using(own(table, "x", on=declared, private=False, digest="one each"), question)
    assert set(drawn(app)) >= VOTES
    assert "| one person changed, against it |" in texts(app)


def test_one_label_names_no_two_groups() -> None:
    table = read_table(b"answer\nyes\nno\n", name="answers.csv", header=True)

    def asked(*labels: str) -> tuple[str, ...]:
        domain = Labels(labels=labels)
        return questions(own(table, "answer", on=domain, private=False, digest="d2"))

    assert "subsample_larger" not in asked("yes") and "subsample_larger" in asked("yes", "no")
