"""Rules instead of attributes: students' decision lists, and the share that would apply to a college."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats, Problem, Provenance, ProvenanceKind
from dpcore.figures.marginals_lists import shares_scatter
from dpcore.marginals.colleges import COLLEGE, college_domain, college_students
from dpcore.marginals.decision_lists import Inputs
from dpcore.marginals.list_polynomials import all_outputs, bias, prefix_form, rule_by_rule_bias, whole_coefficients
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals_decision_lists import DecisionListMarginals
from dpcore.randomness import Preview
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.controls import check_choice, control
from pages.ui.session import remembered

STUDENTS = (1_000, 3_000, 10_000, 30_000, 100_000)
FIRST = (0, 7)


def college_story(*, epsilon: float, seed: int) -> None:
    """The section; worked out only while it is open."""
    place = st.expander(
        "Rules instead of attributes: which colleges would students apply to?", key="lists_open", on_change="rerun"
    )
    if not place.open:
        return
    with place:
        st.markdown(
            "Each student has a private **decision list**: *if it is in the top ten: yes; else if rural: no; else if "
            "the team is good: yes; else no*. A college asks what share would apply. A polynomial in the literals of "
            "the lists answers all colleges at once, with the privacy loss chosen above."
        )
        problem, dataset, mechanism, rules = _asked(epsilon)
        _answers(problem, dataset, mechanism, seed=seed)
        _three_ways(rules, min(mechanism.degree, rules))


def _asked(epsilon: float) -> tuple[Problem, Dataset, DecisionListMarginals, int]:
    """Students, the mechanism with its parameters, and the rules of a list."""
    left, middle, right = st.columns(3)
    chosen = entry("marginals-decision-lists")
    with left:
        check_choice("students", [str(n) for n in STUDENTS], label="number of students")
        n = int(st.select_slider("Students n", STUDENTS, value=30_000, key="students", bind="query-params"))
    with middle:
        rules = int(st.slider("Rules of a list k", 1, 5, 3, key="rules", bind="query-params"))
    with right:
        values = {name: control(chosen, name, p) for name, p in chosen.controls().items() if name != "epsilon"}
    domain = college_domain(rules)

    def students() -> Dataset:
        provenance = Provenance(kind=ProvenanceKind.GENERATED, title=f"{n:,} students")
        return Dataset(domain, college_students(n=n, rules=rules, seed=1), provenance)

    dataset = remembered(f"students|{n}|{rules}", students)
    mechanism = chosen.make(epsilon=epsilon, **values)
    assert isinstance(mechanism, DecisionListMarginals)
    return Problem(domain=domain, queries=Inputs(domain=domain), n=n), dataset, mechanism, rules


def _answers(problem: Problem, dataset: Dataset, mechanism: DecisionListMarginals, *, seed: int) -> None:
    """The college of the reader, and all others."""
    queries = problem.queries
    assert isinstance(queries, Inputs)
    everything = np.arange(queries.count)
    truth: Floats = remembered(
        f"yes|{dataset.n}|{queries.domain.rules}", lambda: queries.truth(dataset.records, everything)
    )
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed))
    released = release.answers(everything, clip=True)[0]
    picked = st.multiselect(
        "A college that is", range(len(COLLEGE)), default=FIRST, key="college", format_func=lambda place: COLLEGE[place]
    )
    chosen = sum(1 << place for place in picked)
    name = queries.describe(chosen)
    error = abs(released[chosen] - truth[chosen])
    st.markdown(
        f"**{100 * truth[chosen]:.1f}%** of the students would apply :gray-badge[true]; released "
        f"**{100 * released[chosen]:.1f}%**, off by {100 * error:.2f}%. :blue-badge[simulated]\n\n"
        f"One student's rules: *{queries.domain.sentence(dataset.records[0])}*. Privacy: "
        f"{mechanism.guarantee(problem).sentence()}, for all {queries.count} colleges together."
    )
    figure = shares_scatter(
        truth=truth, released=released, chosen=chosen, name=name, gamma=release.plan.gamma,
        badge=f"true: generated · simulated, preview sampler, seed {seed}", dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="marginals_lists_chart")
    numbers(figure, title="all colleges", key="marginals_lists_numbers")


def _three_ways(rules: int, degree: int) -> None:
    """The bias of the worst list by each construction."""
    lists = all_outputs(rules)
    paper = max(rule_by_rule_bias(outputs, degree=degree) for outputs in lists)
    prefix = max(bias(prefix_form(outputs, degree=degree), outputs, degree=degree) for outputs in lists)
    _, program = whole_coefficients(rules, degree=degree)
    st.markdown(
        f"| {rules} rules, degree {degree} | worst bias |\n|---|---|\n"
        f"| rule by rule, as in the paper | {paper:.3f} |\n| paying only where the output changes | {prefix:.3f} |\n"
        f"| linear program over all patterns (used) | {program:.3f} |\n\n:orange-badge[theory]"
    )
