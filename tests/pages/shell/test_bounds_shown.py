"""A bound that is no guarantee is shown nowhere as a promise: every mechanism, relation and place that shows one."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpcore
from dpcore import Number, Problem, Thresholds
from dpcore.core import Bound, BoundKind, Guarantee, Mechanism, Neighbours, ParameterError
from dpcore.data.sources import generated_rows
from dpcore.mechanisms.robust.smooth_median import SmoothMedian
from dpcore.mechanisms.subsamples.near import MedianOfMedians
from dplab.limits.data_independent_summary import (
    DataIndependentSummary,
    data_independent_summary,
    depends_on_n,
    promised_error,
)
from dplab.measure import finish
from dplab.sweep import EPSILON_GRID
from dprelease.plan import compare
from dprelease.plan.errors import predict
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from pages.charts.picture import Dots, Rule
from pages.charts.words import percent, percent_up
from pages.charts.worst import TrialNouns, worst_map
from pages.conversation.controls import ConversationRequest
from pages.plan.figure import IF_N as TICK
from pages.plan.figure import planned_errors
from pages.shell.private.charts import IF_N, draw_outlook
from pages.shell.private.promises import Offer, headline
from pages.shell.theorem import observed
from pages.tables.worst_error import ErrorWords
from tests.dprelease.plan.test_shares import TABLE
from tests.dprelease.test_catalogue_releases import ENTRIES, requested
from tests.pages.opening import sound

BETA = 0.05
SHOWN = np.full(100, 0.5)
"""Worst errors of a hundred previews."""


class Case(NamedTuple):
    """A mechanism under a relation, and what its theorem says."""

    entry: dpcore.Entry
    problem: Problem
    mechanism: Mechanism
    bound: Bound
    guarantee: Guarantee

    @property
    def name(self) -> str:
        return f"{self.entry.key}-{self.problem.neighbours}"

    @property
    def unmet(self) -> list[str]:
        return [each.text for each in self.bound.assumptions if not each.met]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Every mechanism under every relation it has a theorem for."""
    found = list[Case]()
    for entry in ENTRIES:
        for neighbours in Neighbours:
            [part] = requested(entry, neighbours).parts
            try:
                guarantee = part.mechanism.guarantee(part.problem)
                bound = part.mechanism.accuracy(part.problem, BETA)
            except ParameterError:  # no theorem, so nothing is shown
                continue
            found.append(Case(entry, part.problem, part.mechanism, bound, guarantee))
    assert {each.entry.key for each in found} == {entry.key for entry in ENTRIES}
    assert {each.bound.guaranteed for each in found} == {True, False}
    assert any(not each.bound.applies and not each.bound.vacuous for each in found), "a number that is no guarantee"
    return found


def words(script: str, **told: Any) -> list[str]:
    """What a piece of a page writes."""
    app = AppTest.from_string(f"import streamlit as st\ntold = st.session_state\n{script}")
    for name, value in told.items():
        app.session_state[name] = value
    return [str(each.value) for each in sound(app.run()).markdown]


def assert_no_promise(case: Case, lines: list[str], *, given: str = "") -> None:
    """A bound that is no guarantee is said to be none, or given a condition; its conditions stand beside its words."""
    if case.bound.guaranteed:
        return
    assert lines[0].startswith(("No guarantee: ", *([given] if given else []))), (case.name, lines)
    assert not any(each.startswith("Observed: ") or "it needs n = " in each for each in lines), (case.name, lines)
    if case.bound.statement in lines:
        assert {f"✗ **not met**: {each}" for each in case.unmet} <= set(lines), (case.name, lines)


def test_previews_are_held_against_guarantees_alone(cases: list[Case]) -> None:
    for case in cases:
        assert bool(observed(3, 100, case.bound, private=False)) is case.bound.guaranteed, case.name


CARD = """
from pages.shell.theorem import observed, theorem_card
seen = [observed(3, 100, told["bound"], private=False)]
theorem_card(told["bound"], told["guarantee"], n=400, covers="for all", seen=seen, needs="To promise α = 0.1")
"""


@pytest.mark.slow
def test_the_theorem_card_has_no_number_of_what_is_no_guarantee(cases: list[Case]) -> None:
    for case in cases:
        lines = words(CARD, bound=case.bound, guarantee=case.guarantee)
        assert lines[0].startswith("No guarantee: ") is not case.bound.guaranteed, case.name
        assert_no_promise(case, lines)
        assert any(each.startswith("Observed: ") for each in lines) is case.bound.guaranteed, case.name


@pytest.mark.slow
def test_one_number_has_the_conditions_beside_the_theorem(cases: list[Case]) -> None:
    """Of medians that always answer, the statement itself names what it depends on, and promises no number."""
    script = (
        "from pages.one_number.workbench import _theorem\n"
        "_theorem(told['bound'], told['problem'], conditional=told['conditional'])"
    )
    for case in cases:
        conditional = isinstance(case.mechanism, SmoothMedian | MedianOfMedians)
        lines = words(script, bound=case.bound, problem=case.problem, conditional=conditional)
        if conditional:
            assert case.bound.vacuous and not case.bound.guaranteed, case.name
            assert lines == [f"{case.bound.statement} :orange-badge[theory] {case.bound.note}"], case.name
            depends = r"^If .* of subsamples |^No agreement is enough\.|smooth sensitivity S of the data\.$"
            assert re.search(depends, case.bound.statement), case.name
            continue
        assert_no_promise(case, lines)
        beside = [line for line in lines if case.bound.statement in line]
        told = [f"✗ **not met**: {each}" for each in case.unmet]
        assert case.bound.vacuous or (len(beside) == 1 and all(each in beside[0] for each in told)), (case.name, lines)


@pytest.mark.slow
def test_tables_hold_no_preview_against_what_is_no_guarantee(cases: list[Case]) -> None:
    script = (
        "from pages.tables.worst_error import explain, render_theorem\n"
        "sentences = explain(told['worst'], told['bound'], None, told['words'], private=False)\n"
        "render_theorem(told['bound'], told['guarantee'], told['words'], n=told['n'], sentences=sentences)"
    )
    names = ErrorWords(observed_on="all", dots="Read.", called=TrialNouns(), details="So it is made.")
    for case in cases:
        lines = words(script, bound=case.bound, guarantee=case.guarantee, n=case.problem.n, worst=SHOWN, words=names)
        assert any(each.endswith("Read.") for each in lines)
        assert_no_promise(case, lines, given="If the assumptions below were met: ")
        assert any(each.startswith("Observed: ") for each in lines) is case.bound.guaranteed, case.name


def test_the_map_draws_no_solid_promise_of_what_does_not_apply(cases: list[Case]) -> None:
    for case in cases:
        picture = worst_map(worst=SHOWN, n=400, guarantee=case.guarantee, promised=case.bound, lower=None)
        sure = case.bound.applies and case.bound.kind is BoundKind.GUARANTEE and not case.bound.vacuous
        for rule in picture.find(Rule, role="theory"):
            assert (rule.name == "guaranteed") is sure and (rule.dash == "solid") is sure, case.name
        if not sure:
            assert f"The guaranteed error, {percent_up(case.bound.value)}" not in picture.sentence


BOTH = """
from pages.conversation.theorem import draw_comparison
told["ask_both_open"] = True
draw_comparison(told["chosen"], told["dataset"])
"""


@pytest.mark.parametrize("neighbours", Neighbours, ids=str)
def test_conversations_side_by_side_promise_what_is_guaranteed(neighbours: Neighbours) -> None:
    source = generated_rows("skewed", n=2_000, bits=4)
    queries = Thresholds(domain=source.on(Number))
    values: dict[str, float | int | str | bool] = {
        "epsilon": 8.0,
        "alpha": 0.3,
        "updates": 5,
        "questions": 20,
        "analyst": "sweeping",
    }
    chosen = ConversationRequest(
        rows=source,
        source=source,
        queries=queries,
        entry=dpcore.entry("weights"),
        values=values,
        neighbours=neighbours,
        seed=1,
    )
    bounds = {
        each.title: chosen.mechanism(each).accuracy(chosen.problem(2_000), BETA)
        for each in dpcore.serving(queries, releases="conversation")
    }
    assert bounds and all(each.value < 1 for each in bounds.values()), "there is a number to be left out"
    [table] = words(BOTH, chosen=chosen, dataset=source.dataset())[-1:]
    for title, bound in bounds.items():
        [line] = [each for each in table.split("\n") if each.startswith(f"| {title} ")]
        promise = line.rstrip("| ").rpartition("| ")[2]
        assert promise == (percent(bound.value) if bound.guaranteed else "no guarantee")


def test_what_is_known_before_names_the_condition_on_n(cases: list[Case]) -> None:
    """Pages of private rows take n for granted, and say so of each promise that it is a condition of."""
    seen = set[bool]()
    for case in cases:
        key, epsilon = case.entry.key, 1.0
        on_n = depends_on_n(case.mechanism, case.problem, beta=BETA)
        assert on_n is any("n is the true number of rows" in each for each in case.unmet), case.name
        promised = promised_error(case.mechanism, case.problem, beta=BETA)

        def make(_: float, made: Mechanism = case.mechanism) -> Mechanism:
            return made

        offer = Offer(
            about="", problem=case.problem, makers={key: make}, titles={key: "M"},
            chosen=key, epsilon=epsilon, beta=BETA, of="query", person_rows=0, covers="",
        )  # fmt: skip
        found = DataIndependentSummary(
            n=case.problem.n,
            keys=(key, "identity"),
            epsilons=np.array([epsilon]),
            promised=np.array([[promised], [0.5]]),
            predicted=np.full((2, 1), math.nan),
            lower_bound=None,
            if_n=frozenset([key] * on_n),
        )
        titles = {key: "M", "identity": "Noisy counts"}
        mine, other = (
            draw_outlook(found, titles=titles, chosen=each, epsilon=epsilon, promised=number, beta=BETA).sentence
            for each, number in ((key, promised), ("identity", 0.5))
        )
        assert (IF_N in headline(offer, epsilon)) is (on_n and promised < 1), case.name
        if key != "identity":
            assert (IF_N in mine) is (on_n and promised < 1), case.name
            assert other.endswith(f" Guaranteed only {IF_N}: M.") is on_n, case.name
        seen.add(on_n and promised < 1)
    assert seen == {True, False}


def test_an_outlook_knows_which_promises_hang_on_n() -> None:
    line = Number(bits=3)
    keys = ("identity", "projected_histogram")
    for neighbours in Neighbours:
        problem = Problem(domain=line, queries=Thresholds(domain=line), n=4_000, neighbours=neighbours)
        makers = {key: (lambda epsilon, key=key: dpcore.entry(key).make(epsilon=epsilon)) for key in keys}
        found = finish(data_independent_summary(makers, problem, chosen="identity", beta=BETA, epsilons=(1.0,)))
        assert np.isfinite(found.promised).all()
        named = neighbours is Neighbours.ADD_REMOVE_ONE
        assert found.if_n == ({"projected_histogram"} if named else set())


@pytest.mark.parametrize("neighbours", Neighbours, ids=str)
def test_a_plan_marks_what_it_promises_only_if_n_is_right(neighbours: Neighbours) -> None:
    keys, named = ("identity", "projected_histogram"), neighbours is Neighbours.ADD_REMOVE_ONE
    questions = tuple(
        PlannedQuestion(columns=("age",), queries="intervals", entry_key=key, epsilon=0.5) for key in keys
    )
    plan = Plan(table=TABLE, n=4_000, questions=questions, neighbours=neighbours)
    predictions = finish(predict(plan))
    for question, each in zip(questions, predictions, strict=True):
        bound = plan.mechanism(question).accuracy(plan.problem(question), plan.beta)
        assert each.promised == bound.value < 1 and each.if_n is not bound.applies
    picture = planned_errors(plan, predictions, titles=["counts", "projected"])
    ticks = {mark.name: list(np.asarray(mark.y)) for mark in picture.find(Dots, role="theory")}
    assert ticks == ({"guaranteed": [0.0], TICK: [1.0]} if named else {"guaranteed": [0.0, 1.0]})
    only = " Guaranteed only if n is the true number of rows, which is not checked: 2. projected."
    assert (only in picture.sentence) is named
    entry = dpcore.entry("projected_histogram")
    cell = compare._cell(plan, questions[1], entry, EPSILON_GRID[-1], by_rows=False, seed=1, twins={})
    assert math.isinf(cell.promised) is named, "a curve has no room for a condition"
