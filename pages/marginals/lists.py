"""Rules instead of attributes: students' decision lists, and the share that would apply to a college."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, Problem
from dpcore.experiments.marginals_lists import college_shares, students, true_shares, worst_biases
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.colleges import COLLEGE, college_domain
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.decision_lists import Inputs
from pages.charts.component import draw_with_table
from pages.marginals.figures import shares_scatter
from pages.shell.controls import control, stops, whole
from pages.shell.session import remembered
from pages.shell.theorem import all_digits

STUDENTS = (1_000, 3_000, 10_000, 30_000, 100_000)
FIRST = (0, 7)


def college_story(*, epsilon: float, seed: int, download: bool) -> None:
    """The section; worked out only while it is open."""
    place = st.expander("Rules instead of attributes: students and colleges", key="lists_open", on_change="rerun")
    if not place.open:
        return
    with place:
        st.markdown(
            "Each student has a private **decision list**: *if it is in the top ten: yes; else if rural: no; else if "
            "the team is good: yes; else no*. A college asks what share would apply. A polynomial in the literals of "
            "the lists answers all colleges at once, with the privacy loss chosen above."
        )
        problem, dataset, mechanism, rules = _asked(epsilon)
        _answers(problem, dataset, mechanism, seed=seed, download=download)
        _three_ways(rules, min(mechanism.degree, rules))


def _asked(epsilon: float) -> tuple[Problem, Dataset, DecisionListMarginals, int]:
    """Students, the mechanism with its parameters, and the rules of a list."""
    left, middle, right = st.columns(3)
    chosen = entry("marginals-decision-lists")
    with left:
        n = int(stops("Students n", STUDENTS, 30_000, key="students"))
    with middle:
        rules = whole("Rules of a list k", 1, 5, 3, key="rules")
    with right:
        values = {name: control(chosen, name, p) for name, p in chosen.controls().items() if name != "epsilon"}
    dataset: Dataset = remembered(f"students|{n}|{rules}", lambda: students(n=n, rules=rules))
    mechanism = chosen.make(epsilon=epsilon, **values)
    assert isinstance(mechanism, DecisionListMarginals)
    queries = Inputs(domain=college_domain(rules))
    return Problem(domain=queries.domain, queries=queries, n=n), dataset, mechanism, rules


def _answers(
    problem: Problem, dataset: Dataset, mechanism: DecisionListMarginals, *, seed: int, download: bool
) -> None:
    """The college of the reader, and all others."""
    queries = problem.queries
    assert isinstance(queries, Inputs)
    truth = remembered(f"yes|{dataset.n}|{queries.domain.rules}", lambda: true_shares(dataset, queries))
    shares = college_shares(mechanism, dataset, problem, truth=truth, seed=seed)
    picked = st.multiselect(
        "A college that is", range(len(COLLEGE)), default=FIRST, key="college", format_func=lambda place: COLLEGE[place]
    )
    chosen = sum(1 << place for place in picked)
    name = queries.describe(chosen)
    true, released = float(shares.truth[chosen]), float(shares.released[chosen])
    guarantee = mechanism.guarantee(problem)
    st.markdown(
        f"**{100 * true:.1f}%** of the students would apply :gray-badge[true]; released "
        f"**{100 * released:.1f}%**, off by {100 * abs(released - true):.2f}%. :blue-badge[simulated]\n\n"
        f"One student's rules: *{queries.domain.sentence(dataset.records[0])}*. Privacy: "
        f"{guarantee.sentence()}, for all {queries.count} colleges together.",
        help=all_digits(guarantee),
    )
    picture = shares_scatter(shares, n=problem.n, chosen=chosen, name=name)
    badge = f"true: generated · simulated, preview sampler, seed {seed}"
    draw_with_table(picture, key="marginals_lists", badge=badge, title="all colleges", download=download)


def _three_ways(rules: int, degree: int) -> None:
    """The bias of the worst list by each construction."""
    paper, prefix, program = worst_biases(rules=rules, degree=degree)
    st.markdown(
        f"| {rules} rules, degree {degree} | worst bias |\n|---|---|\n"
        f"| rule by rule, as in the paper | {paper:.3f} |\n| paying only where the output changes | {prefix:.3f} |\n"
        f"| linear program over all patterns (used) | {program:.3f} |\n\n:orange-badge[theory]"
    )
