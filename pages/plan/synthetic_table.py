"""A whole table of synthetic rows: its cost, and the error of each pair of columns, on mock data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import Neighbours, rounded_down
from dpcore.core.safe_csv import escape_frame
from dpcore.mechanisms import entry
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dprelease.plan.planned_question import WHOLE_TABLE as KEY
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.whole_table import WholeRehearsal, rehearse_table
from pages.charts.component import draw_with_table
from pages.charts.picture import Axis, Dots, Mark, Picture
from pages.charts.words import percent, percent_up, printable_labels, rows, short_numbers
from pages.plan.add_questions import PAIRS, append_questions
from pages.plan.plan_table import PlanTable, to_release
from pages.plan.preview import BADGE, SEED
from pages.shell.controls import stops
from pages.shell.request import show_code
from pages.shell.tasks.jobs import in_background
from pages.shell.theorem import all_digits

SHOWN_ROWS = 5
"""Number of synthetic rows that are shown."""
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
POWERS = (1e-12, 1e-9, 1e-6)


def show_synthetic_table(plan_table: PlanTable, questions: Sequence[PlannedQuestion]) -> None:
    """Draw the controls, the errors and the release of a synthetic table, only while the expander is open.

    Args:
        plan_table: the table.
        questions: of the plan, to which the synthetic rows can be added.
    """
    names = [column.name for column in plan_table.table.used]
    columns_picked = st.multiselect(
        "Columns of the synthetic rows", names, default=names, key=f"plan_whole_of_{plan_table.key}"
    )
    left, right = st.columns(2)
    with left:
        epsilon = stops("Privacy budget ε", EPSILONS, 1.0, key="plan_whole_epsilon")
    with right:
        delta = stops("δ", POWERS, 1e-9, key="plan_whole_delta")
    if len(columns_picked) < 2:
        st.info("Choose at least two columns.")
        return
    mechanism = entry(KEY).make(epsilon=epsilon, delta=delta)
    assert isinstance(mechanism, WholeTable)
    settings: dict[str, Any] = {"mechanism": mechanism, "n": plan_table.n, "beta": plan_table.beta, "seed": SEED}
    settings["neighbours"] = plan_table.neighbours
    key = f"whole|{plan_table.table!r}|{columns_picked}|{settings!r}"
    work = partial(rehearse_table, plan_table.table, columns_picked, **settings)
    rehearsal = in_background(key, work, so_far=lambda: None, label="Sampling synthetic rows.", place="whole")
    if rehearsal is None:
        return
    st.markdown(
        f"**{rehearsal.n:,} rows of {len(columns_picked)} columns cost {rehearsal.guarantee.sentence()}.** "
        f"{_measured_sentence(rehearsal)}",
        help=all_digits(rehearsal.guarantee),
    )
    draw_with_table(
        pair_errors(rehearsal), key="plan_whole_pairs", badge=BADGE, title="pairs of columns", download=True
    )
    st.dataframe(escape_frame(rehearsal.rows.head(SHOWN_ROWS)), hide_index=True)
    st.caption(f"Sampled from mock data: no values of your data. {_release_sentence(rehearsal)}")
    question = PlannedQuestion(
        columns=tuple(columns_picked), queries=Marginals.key, ways=PAIRS, entry_key=KEY, epsilon=epsilon,
        values={"delta": delta},
    )  # fmt: skip
    with st.container(horizontal=True):
        if st.button("Release only these rows", key="plan_whole_release", type="primary"):
            to_release(plan_table, plan_table.plan((question,)))
        add_pressed = st.button("Add them to the plan", key="plan_whole_add")
    if add_pressed:
        append_questions(plan_table, questions, [question])
    show_code(
        "Use your own rows in Python", key="plan_whole_code", write=lambda: code(plan_table, columns_picked, mechanism)
    )


def _measured_sentence(rehearsal: WholeRehearsal) -> str:
    """Return which tables the public rule measures."""
    if rehearsal.ways > 1:
        return "All pairs of columns are measured. Single columns are measured with less noise."
    if rehearsal.chosen:
        return (
            f"Single columns are measured, then {rehearsal.chosen:,} of {len(rehearsal.names):,} pairs: those that "
            "look least independent, by noisy scores. The others are treated as independent."
        )
    return "At this ε and n, noise would hide the pairs. Only single columns are measured, and treated as independent."


def _release_sentence(rehearsal: WholeRehearsal) -> str:
    """Return which counts a release of the true rows would use."""
    if rehearsal.ways > 1:
        return "A release measures noisy counts of the pairs of your columns."
    if rehearsal.chosen:
        return "A release measures noisy counts of single columns, and of the pairs that it chooses from your rows."
    return "A release measures noisy counts of single columns only. It does not show which values occur together."


def pair_errors(rehearsal: WholeRehearsal) -> Picture:
    """Return a dot for each pair of columns at the error of its worst cell, and a tick at its bound."""
    order = np.argsort(rehearsal.worst, kind="stable")
    x = (np.arange(len(order)) + 0.5) / len(order)
    names = printable_labels(f"{rehearsal.names[place][0]} × {rehearsal.names[place][1]}" for place in order)
    marks: list[Mark] = []
    for role, name, shape, errors in (
        ("theory", "guaranteed", "line-ew-open", rehearsal.within[order]),
        ("released", "observed", "circle", rehearsal.worst[order]),
    ):
        finite = [place for place, error in enumerate(errors.tolist()) if error < math.inf]
        if finite:
            dots = Dots(
                role=role, name=name, shape=shape, size=6, x=x[finite], y=errors[finite],
                hover=[
                    f"{names[row]}\nworst cell, {name}: {percent(errors[row])} ({rows(errors[row], rehearsal.n)})"
                    for row in finite
                ],
            )  # fmt: skip
            marks.append(dots)
    return Picture(
        title="Worst cell of every pair of columns",
        x=Axis(title="pairs of columns, by error", low=0, high=1, form="~p"),
        y=Axis(title="error of the worst cell, share of n", low=0, form=".3~p", rows=rehearsal.n),
        marks=marks,
        sentence=_sentence(rehearsal),
        table={
            "pair": names,
            "worst cell, observed": short_numbers(rehearsal.worst[order]),
            "worst cell, guaranteed": short_numbers(rehearsal.within[order]),
            "rows in a wrong cell": short_numbers(rehearsal.wrong_cell_shares[order]),
        },
        height=300,
    )


def _sentence(rehearsal: WholeRehearsal) -> str:
    """Return the mean and the largest error of the pairs in a sentence."""
    text = (
        f"Rows of one simulated release: on average, {percent(float(rehearsal.wrong_cell_shares.mean()))} "
        "of them are in a wrong cell of a pair of columns. The largest error of a cell is "
        f"{percent(float(rehearsal.worst.max()))}"
    )
    largest = float(rehearsal.within.max())
    if largest < math.inf:
        confidence = rounded_down(100 * (1 - rehearsal.beta))
        return f"{text}; with confidence {confidence}%, the guaranteed error is at most {percent_up(largest)}."
    if bounded := int(np.isfinite(rehearsal.within).sum()):
        return f"{text}; an error is guaranteed for {bounded} chosen pairs only."
    return f"{text}; no error is guaranteed."


def code(plan_table: PlanTable, columns: Sequence[str], mechanism: WholeTable) -> str:
    """Return the code for the same columns, relation, n and persons: it gives the guarantee on the page."""
    arguments = "n=len(df)"
    if plan_table.neighbours is Neighbours.ADD_REMOVE_ONE:  # the number of rows is private, so a public n replaces it
        arguments = f"n={plan_table.n}, neighbours=dpcore.Neighbours.ADD_REMOVE_ONE"
    lines = [
        "import dpcore",
        "from dpcore.queries.marginals import Marginals",
        "",
        "# table: a DeclaredTable; df: your DataFrame",
        f"reading = table.whole({', '.join(map(repr, columns))})",
        "dataset = reading.from_frame(df)",
        "queries = Marginals(domain=reading.domain, ways=2)",
        f"problem = dpcore.Problem(domain=reading.domain, queries=queries, {arguments})",
        f'mechanism = dpcore.entry("{KEY}").make(epsilon={mechanism.epsilon!r}, delta={mechanism.delta!r})',
        f"sampler = dpcore.Preview(seed={SEED})  # simulated: not private",
        "release = mechanism.run(mechanism.prepare(dataset, problem), sampler)",
        "guarantee = release.guarantee  # for the rows or persons that the table protects",
        "rows = release.table()  # synthetic, with your columns' names, kinds and labels",
    ]
    return "\n".join(lines) + "\n"
