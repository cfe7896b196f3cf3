"""Marginals without a browser: numbers are the core's, every kind of query and rows runs, private rows stay unseen."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Neighbours, Preview, Problem
from dpcore.core import ParameterError, describe_error
from dpcore.data.bundled import yes_no_of
from dpcore.data.lists import college_domain
from dpcore.data.predicates import Predicate, evaluate_predicates
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source, Uploaded, generated_attributes, generated_lists
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.plans import direct_plan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import direct_answers, sampled
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import pack
from dpcore.queries.inputs import Inputs
from dplab.marginals_lists import true_shares, worst_of_lists
from dplab.measure import finish
from pages.charts.words import percent, percent_up
from pages.data.upload import SessionFile
from pages.tables.own_file import parse_predicate
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.opening import printed_by_code, run_with, sound, visitor
from tests.pages.tables.opening import CHARTS, opened, sentence, texts

LISTS = {"marginals_lists_chart", "marginals_worst_chart"}
SMALL = {"cube_rows": "3000", "cube_attributes": "12"}


def problem_of(source: Source, *, width: int, least: int = 1, signed: bool = False) -> Problem:
    queries = AtLeast(domain=source.on(Product), width=width, least=least, signed=signed)
    return Problem(domain=source.domain, queries=queries, n=source.dataset().n)


def headline(source: Source, mechanism: PolynomialMarginals, problem: Problem) -> tuple[float, float]:
    """Error that 95 in 100 answers stay within, by the polynomial and directly; as the page computes it."""
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    dataset = source.dataset()
    indices = sampled(queries, rows=dataset.n)
    truth = finish(queries.truth(pack(dataset.records), indices))
    if mechanism.plan(problem).polynomial is None:
        mechanism = dataclasses.replace(mechanism, method="noise-aware")
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1))
    answers = release.answers(*queries.sets(indices), clip=True)[0]
    direct = direct_answers(direct_plan(problem, mechanism.budget), truth, n=problem.n, sampler=Preview(1))
    errors = (np.abs(answers - truth), np.abs(np.clip(direct, 0, 1) - truth))
    return float(np.quantile(errors[0], 0.95)), float(np.quantile(errors[1], 0.95))


def assert_the_code_runs(app: AppTest) -> None:
    """It prints five answers and the guarantee."""
    lines = printed_by_code(app, key="marginals_code_open").strip().split("\n")
    assert len(lines) == 6 and all(0 <= float(line.rsplit(" ", 1)[1]) <= 1 for line in lines[:5])
    assert lines[5].startswith("ε = ") and lines[5] in texts(app)


def test_the_page_tells_the_core_s_errors_and_plan() -> None:
    app = sound(opened(**SMALL))
    source, mechanism = generated_attributes(n=3_000, attributes=12), PolynomialMarginals()
    problem = problem_of(source, width=5)
    by_polynomial, directly = headline(source, mechanism, problem)
    assert app.header[0].value == f"95 in 100 answers have an error of at most {percent_up(by_polynomial)}"
    text = texts(app)
    assert f"792 queries about any of 5 attributes, answered from **{mechanism.plan(problem).words}**" in text
    assert f"Directly the error would be {percent_up(directly)}" in text
    assert mechanism.guarantee(problem).sentence() in text
    assert "If one-way functions exist, no polynomial-time *differentially private* algorithm makes good" in text
    said = sentence(app, "marginals_errors_chart")
    assert f"{percent_up(by_polynomial)} by the polynomial" in said and f"{percent_up(directly)} directly" in said
    halfway = searched(r"The error of the bounds' midpoint is \*\*([\d.]+)%", text)
    assert float(halfway.group(1)) < 100 * by_polynomial
    assert "midpoint of its bounds, " in text
    assert describe_error(mechanism.accuracy(problem, 0.05), n=problem.n, bold=True) in text
    assert set(drawn(app)) >= CHARTS and not app.error and not app.warning
    assert all(chart["download"] for chart in drawn(app).values())
    assert_the_code_runs(app)


def test_where_direct_release_is_better_it_is_chosen_and_may_be_overridden() -> None:
    link = {"cube_rows": "100000", "cube_attributes": "8", "width": "3"}
    app = sound(opened(**link))
    assert "answered from **the answers themselves, each with its own noise**" in texts(app)
    assert "It is not used here" in sentence(app, "marginals_step_chart")
    assert "| direct (chosen) |" in texts(app)
    source = generated_attributes(n=100_000, attributes=8)
    _, directly = headline(source, PolynomialMarginals(), problem_of(source, width=3))
    assert app.header[0].value.endswith(percent_up(directly))
    sound(app.selectbox(key="marginals-polynomial-method").set_value("chebyshev").run())
    assert "| polynomial (chosen) |" in texts(app) and "answered from **a polynomial of degree 3" in texts(app)
    sound(app.slider(key="marginals-polynomial-degree").set_value(1).run())
    assert "answered from **a polynomial of degree 1" in texts(app)


@pytest.mark.parametrize(
    ("link", "words", "least", "signed"),
    [
        ({"width": "4", "counts_if": "all"}, "all of 4 attributes", 4, False),
        ({"width": "4", "counts_if": "some", "at_least": "3"}, "at least 3 of 4 attributes", 3, False),
        ({"width": "3", "counts_if": "some", "negated": "true"}, "at least 2 of 3 attributes", 2, True),
        ({"width": "2", "marginal_noise": "gaussian"}, "any of 2 attributes", 1, False),
        ({"width": "1"}, "one attribute", 1, False),
        ({"cube": "adult", "width": "3"}, "any of 3 attributes", 1, False),
        ({"cube": "census", "width": "6", "negated": "true"}, "any of 6 attributes", 1, True),
    ],
)
def test_every_kind_of_query(link: dict[str, str], words: str, least: int, signed: bool) -> None:
    app = sound(opened(**{**SMALL, **link}))
    assert not app.error and not app.warning and set(drawn(app)) >= CHARTS
    source: Source = generated_attributes(n=3_000, attributes=12)
    if "cube" in link:
        source = yes_no_of(link["cube"])
    problem = problem_of(source, width=int(link["width"]), least=least, signed=signed)
    mechanism = PolynomialMarginals(noise=link.get("marginal_noise", "laplace"))
    assert f"{problem.queries.count:,} queries about {words}" in texts(app)
    assert f"answered from **{mechanism.plan(problem).words}**" in texts(app)


def test_a_smaller_epsilon_makes_larger_errors_and_adding_rows_hangs_on_a_public_number_of_them() -> None:
    app = sound(opened(**SMALL))

    def error() -> float:
        found = searched(r"at most ([\d.]+)%", app.header[0].value)
        return float(found.group(1))

    assert "not met" not in texts(app)
    sound(app.radio(key="neighbours").set_value(str(Neighbours.ADD_REMOVE_ONE)).run())
    assert "✗ **not met**: n is the true number of rows" in texts(app)
    assert "ε = 1 (add or remove one row)" in texts(app) and not app.error
    before = error()
    sound(app.number_input(key="epsilon").set_value(0.05).run())
    assert error() > before


def test_moving_k_beyond_the_attributes_is_held() -> None:
    app = sound(opened(cube_rows="1000", cube_attributes="9", width="9"))
    assert "any of 9 attributes" in texts(app)
    sound(app.slider(key="cube-attributes").set_value(4).run())
    assert "any of 4 attributes" in texts(app) and not app.error


def test_one_query_is_answered_three_ways() -> None:
    app = sound(opened(**SMALL, width="3", negated="true"))
    assert_the_code_runs(app)
    app.multiselect(key="marginal-picked-12").set_value([1, 4, 7]).run()
    sound(app.multiselect(key="marginal-picked-12-negated").set_value([4]).run())
    rows = generated_attributes(n=3_000, attributes=12).dataset().records
    truth = (rows[:, 1] | ~rows[:, 4] | rows[:, 7]).mean()
    assert f"| true | {100 * truth:.2f}% | – |" in texts(app)
    assert "| polynomial" in texts(app) and "| direct" in texts(app)
    sound(app.multiselect(key="marginal-picked-12").set_value([1]).run())
    assert f"| true | {100 * rows[:, 1].mean():.2f}% | – |" in texts(app) and "| direct" not in texts(app)
    assert not app.error
    sound(app.multiselect(key="marginal-picked-12").set_value([]).run())
    assert "Pick an attribute." in [each.value for each in app.caption]


CSV = b"age,sex,smokes\n" + b"".join(b"%d,%s,%d\n" % (i % 80, b"fm"[i % 2 : i % 2 + 1], i % 3 == 0) for i in range(600))


def with_file(*, private: bool) -> AppTest:
    """The page with a held file, three of whose columns were turned into attributes."""
    held = SessionFile(origin=Uploaded(table=read_table(CSV, name="own.csv"), private=private, digest="0"), turn=1)
    app = run_with(visitor("tables/page.py"), {"file": held, "cube": "my-file"})
    app.multiselect(key=f"{held.prefix}cube-columns").set_value(["age", "sex", "smokes"]).run()
    app.text_input(key=f"{held.prefix}cube-0").set_value(">= 40, < 18")
    return sound(app.text_input(key=f"{held.prefix}cube-1").set_value("f").run())


def test_an_own_public_file() -> None:
    app = with_file(private=False)
    assert set(drawn(app)) >= CHARTS and not app.error
    assert app.multiselect(key="marginal-picked-4").options == [
        "age at least 40",
        "age below 18",
        "sex is f",
        "smokes is 1",
    ]
    predicates = tuple(
        parse_predicate(column, part)
        for column, part in (("age", ">= 40"), ("age", "< 18"), ("sex", "f"), ("smokes", "1"))
    )
    table = read_table(CSV, name="own.csv")
    rows = evaluate_predicates(table, predicates)
    assert f"| true | {100 * rows.any(axis=1).mean():.2f}% |" in texts(app), "all four attributes are picked at first"
    held: SessionFile = app.session_state["file"]
    sound(app.text_input(key=f"{held.prefix}cube-0").set_value("< many").run())
    assert "a number is needed" in app.error[0].value and not drawn(app)
    sound(app.multiselect(key=f"{held.prefix}cube-columns").set_value([]).run())
    assert "Type at least two attributes." in texts(app) and not drawn(app)


def test_private_rows_show_nothing_until_their_steward_asks() -> None:
    app = with_file(private=True)
    assert set(drawn(app)) == {"promises_chart", "known_levels_chart", "known_map_chart"}
    assert "**No values of your rows are shown" in texts(app) and "simulated" not in texts(app)
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert set(drawn(app)) >= CHARTS
    assert "not protected" in texts(app) and "made by the data owner" in texts(app)
    assert not any(chart["download"] for chart in drawn(app).values()), "nothing beside private rows becomes a file"


def test_predicates_are_read_as_people_write_them() -> None:
    assert parse_predicate("age", ">= 40") == Predicate(column="age", kind="at least", value=40.0)
    assert parse_predicate("age", "<18") == Predicate(column="age", kind="below", value=18.0)
    assert parse_predicate("age", "≥ 40") == parse_predicate("age", ">= 40") and parse_predicate(
        "pay", ">50K"
    ) == Predicate(column="pay", value=">50K")
    for comparison in ("> 40", "<= 18", "≤18", "=> 2.5"):
        with pytest.raises(ParameterError, match=r"Write a threshold as “>= 40” or “< 18”\. Put a value .* in quotes"):
            parse_predicate("age", comparison)
    for label in (">30", "<30", "<=50K", "≥65"):
        assert (
            parse_predicate("pay", f'"{label}"')
            == parse_predicate("pay", f"“{label}”")
            == Predicate(column="pay", value=label)
        )
    with pytest.raises(ParameterError, match="number is needed"):
        parse_predicate("age", ">= 4_0")
    assert parse_predicate("frost", ">= −5") == Predicate(column="frost", kind="at least", value=-5.0)
    assert parse_predicate("job", "clerk") == Predicate(column="job", value="clerk")
    with pytest.raises(ParameterError, match="number is needed"):
        parse_predicate("age", ">= old")


def test_the_code_of_bundled_rows_with_gaussian_noise_runs() -> None:
    assert_the_code_runs(opened(cube="census", width="3", marginal_noise="gaussian"))


def test_the_college_story() -> None:
    app = sound(opened(view="Decision lists", students="3000", rules="4"))
    sound(app.number_input(key="epsilon").set_value(5.0).run())
    assert set(drawn(app)) >= LISTS and not app.error
    source = generated_lists(n=3_000, rules=4)
    dataset, mechanism = source.dataset(), DecisionListMarginals(epsilon=5.0)
    problem = Problem(domain=source.domain, queries=Inputs(domain=college_domain(4)), n=3_000)
    truth = true_shares(dataset, problem)
    released = mechanism.run(mechanism.prepare(dataset, problem), Preview(1)).answers(np.arange(256), clip=True)[0]
    at, text = 1 + (1 << 7), texts(app)
    assert f"**{percent(truth[at])}** of the lists say yes; released **{percent(released[at])}**" in text
    assert app.header[0].value.endswith(percent_up(float(np.quantile(np.abs(released - truth), 0.95))))
    assert describe_error(mechanism.accuracy(problem, 0.05), n=problem.n, bold=True) in text
    assert all(f"| {value} |" in text for value in ("0.458", "0.292", "0.167")), "the worst list of 4 rules at degree 2"
    sound(app.multiselect(key="list-input-8").set_value([]).run())
    assert f"**{percent(truth[0])}** of the lists say yes" in texts(app)
    sound(app.toggle(key="marginals-decision-lists-noise_aware").set_value(False).run())
    assert not app.error and set(drawn(app)) >= LISTS
    printed = printed_by_code(app, key="lists_code_open").strip().split("\n")
    assert "share" in printed[0] and printed[-1].startswith("ε = 5 ")


RULES = b"first,says,second,then,last\n" + b"sun,yes,not near,no,yes\nnot sun,0,near,1,no\n?,yes,near,yes,no\n" * 200


def with_lists(*, private: bool) -> AppTest:
    """The page with a held file of lists of two rules about two variables."""
    held = SessionFile(origin=Uploaded(table=read_table(RULES, name="own.csv"), private=private, digest="0"), turn=1)
    app = run_with(
        visitor("tables/page.py"), {"file": held, "lists-of": "my-file"}, link={"view": "Decision lists", "rules": "2"}
    )
    assert "Name the variables of the conditions." in [each.value for each in app.caption] and not drawn(app)
    return sound(app.text_input(key=f"{held.prefix}lists-variables").set_value("sun, near").run())


def test_an_own_file_of_decision_lists() -> None:
    app = with_lists(private=False)
    assert set(drawn(app)) >= LISTS and not app.error
    # Lists of the three kinds that say yes, by hand.
    for picked, say_yes in (([], 0), ([0], 1), ([1], 2), ([0, 1], 3)):
        sound(app.multiselect(key="list-input-2").set_value(picked).run())
        assert f"**{percent(say_yes / 3)}** of the lists say yes" in texts(app)
    held: SessionFile = app.session_state["file"]
    sound(app.selectbox(key=f"{held.prefix}lists-otherwise").set_value("then").run())
    assert "Every column of a list must be another." in app.error[0].value and not drawn(app)
    sound(app.slider(key="rules").set_value(3).run())
    assert "Lists of 3 rules need 7 columns" in texts(app) and not drawn(app)


def test_private_lists_show_a_promise_then_their_twin_and_their_steward_s_view() -> None:
    app = with_lists(private=True)
    assert set(drawn(app)) == {"promises_chart"} and "**No values of your rows are shown" in texts(app)
    sound(app.button(key="twin_on").click().run())
    assert set(drawn(app)) >= LISTS and not any(chart["download"] is False for chart in drawn(app).values())
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert not app.error


def test_where_rows_come_and_go_shares_are_of_a_public_number() -> None:
    app = with_file(private=True)
    app.toggle(key="steward_choice").set_value(True).run()
    rows = read_table(CSV, name="own.csv")
    smokers = int((rows.numbers("smokes") == 1).sum())
    sound(app.multiselect(key="marginal-picked-4").set_value([3]).run())
    assert f"| true | {100 * smokers / 600:.2f}% |" in texts(app)
    sound(app.radio(key="neighbours").set_value(str(Neighbours.ADD_REMOVE_ONE)).run())
    assert f"| true | {100 * smokers / 10_000:.2f}% |" in texts(app), "the number of private rows is nobody's business"


def test_of_lists_no_lower_bound_is_known_at_any_loss_and_answers_are_moved_into_0_to_1() -> None:
    source = generated_lists(n=1000, rules=2)
    problem = Problem(domain=source.domain, queries=Inputs(domain=college_domain(2)), n=1000)
    for epsilon in (0.01, 1.0, 10.0):
        assert lower_bound(problem, DecisionListMarginals(epsilon=epsilon).guarantee(problem), beta=0.05) is None
    lists = texts(opened(view="Decision lists", students="1000", rules="2"))
    tables = texts(opened(cube_rows="1000", cube_attributes="6", width="3"))
    assert "No lower bound is known here." in lists and "Hatched" not in lists
    assert "No lower bound is known here." not in tables and "Hatched: impossible (lower bound)." in tables
    for shown in (lists, tables):
        assert "Answers are clipped to 0–1. If n is the number of rows, this increases no error." in shown


def test_an_answer_moved_into_0_to_1_is_no_further_from_a_share() -> None:
    """All at once, whatever is drawn: with little privacy left many answers are below 0 or above 1 before."""
    source = generated_lists(n=200, rules=2)
    dataset, problem = source.dataset(), Problem(domain=source.domain, queries=Inputs(domain=college_domain(2)), n=200)
    mechanism = DecisionListMarginals(epsilon=0.01)
    state = mechanism.prepare(dataset, problem)
    release = mechanism.run(state, Preview(1), 200)
    truth, every = true_shares(dataset, problem), np.arange(problem.queries.count)
    plain, moved = release.answers(every, clip=False), release.answers(every, clip=True)
    assert (plain < 0).any() and (plain > 1).any() and (moved >= 0).all() and (moved <= 1).all()
    assert (np.abs(moved - truth) <= np.abs(plain - truth)).all() and (moved != truth).any()
    assert finish(worst_of_lists(mechanism, state, truth=truth, seed=1)).max() <= 1, "the dots of the map are moved"
