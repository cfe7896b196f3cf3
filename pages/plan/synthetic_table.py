"""A whole table as rows of nobody: what it costs, and how wrong each pair of columns will be, on made-up rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpcore.core import Neighbours
from dpcore.core.safe_csv import escape_frame
from dpcore.mechanisms import entry
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dprelease.plan.questions import WHOLE as KEY
from dprelease.plan.questions import Plan, PlannedQuestion
from dprelease.plan.whole import WholeRehearsal, rehearsed_table
from pages.charts.component import draw_with_table
from pages.charts.picture import Axis, Dots, Mark, Picture
from pages.charts.words import percent, printable_labels, rows, short_numbers
from pages.plan.add_questions import PAIRS, append_questions
from pages.plan.plan_table import PlanTable, to_release
from pages.shell.asked import show_code
from pages.shell.controls import stops
from pages.shell.server.jobs import in_background
from pages.shell.theorem import all_digits

SEED = 1
BADGE = f"made-up rows · released: simulated, preview sampler, seed {SEED}"
SHOWN_ROWS = 5
"""Rows of nobody that are printed."""
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
POWERS = (1e-12, 1e-9, 1e-6)


def show_synthetic_table(plan_table: PlanTable, questions: Sequence[PlannedQuestion]) -> None:
    """The controls, what they give, and the way from there to its release; drawn only while it is open.

    Args:
        plan_table: the table.
        questions: of the plan, to which the rows may be added.
    """
    expander = st.expander("A whole table, as rows of nobody", key="plan_whole", on_change="rerun")
    if not expander.open:
        return
    with expander:
        names = [column.name for column in plan_table.table.used]
        columns_picked = st.multiselect(
            "Columns of the rows", names, default=names, key=f"plan_whole_of_{plan_table.key}"
        )
        left, right = st.columns(2)
        with left:
            epsilon = stops("Privacy loss ε", EPSILONS, 1.0, key="plan_whole_epsilon")
        with right:
            delta = stops("Slack δ", POWERS, 1e-9, key="plan_whole_delta")
        if len(columns_picked) < 2:
            st.info("Pick two columns or more.")
            return
        mechanism = entry(KEY).make(epsilon=epsilon, delta=delta)
        assert isinstance(mechanism, WholeTable)
        settings = (
            plan_table.table,
            tuple(columns_picked),
            plan_table.n,
            plan_table.neighbours,
            plan_table.beta,
            mechanism,
        )
        rehearsal = in_background(
            f"whole|{settings!r}",
            lambda: rehearsed_table(
                plan_table.table, columns_picked, mechanism=mechanism, n=plan_table.n, neighbours=plan_table.neighbours,
                beta=plan_table.beta, seed=SEED,
            ),
            so_far=lambda: None, label="Making rows of nobody.", place="whole",
        )  # fmt: skip
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
        st.caption(f"Made of made-up rows: nothing of your data. {_release_sentence(rehearsal)}")
        question = PlannedQuestion(
            columns=tuple(columns_picked), queries=Marginals.key, ways=PAIRS, entry_key=KEY, epsilon=epsilon,
            values={"delta": delta},
        )  # fmt: skip
        with st.container(horizontal=True):
            if st.button("Release these rows alone", key="plan_whole_release", type="primary"):
                plan = Plan(
                    table=plan_table.table, n=plan_table.n, questions=(question,), neighbours=plan_table.neighbours,
                    beta=plan_table.beta,
                )  # fmt: skip
                to_release(plan_table, plan)
            add_pressed = st.button("Add them to the plan", key="plan_whole_add")
        if add_pressed:
            append_questions(plan_table, questions, [question])
        show_code(
            "Of your own rows, in Python",
            key="plan_whole_code",
            write=lambda: code(plan_table, columns_picked, mechanism),
        )


def _measured_sentence(rehearsal: WholeRehearsal) -> str:
    """What the public rule says."""
    if rehearsal.ways > 1:
        return "All pairs of columns are measured, single columns most exactly."
    return "At this ε and n pairs would drown in noise: single columns are measured, and rows made as if independent."


def _release_sentence(rehearsal: WholeRehearsal) -> str:
    """Return what a release of the true rows would be made of."""
    if rehearsal.ways > 1:
        return "A release is made of noisy counts of your own columns' pairs."
    return "A release is made of noisy counts of your single columns: it does not show which values go together."


def pair_errors(rehearsal: WholeRehearsal) -> Picture:
    """A dot for each pair of columns: its worst cell, and the tick below which it is promised to stay."""
    order = np.argsort(rehearsal.worst, kind="stable")
    x = (np.arange(len(order)) + 0.5) / len(order)
    names = printable_labels(f"{rehearsal.names[place][0]} × {rehearsal.names[place][1]}" for place in order)
    marks: list[Mark] = []
    for role, name, shape, errors in (
        ("theory", "promised", "line-ew-open", rehearsal.within[order]),
        ("released", "observed", "circle", rehearsal.worst[order]),
    ):
        finite = [place for place, error in enumerate(errors.tolist()) if error < math.inf]
        if finite:
            marks.append(
                Dots(
                    role=role, name=name, shape=shape, size=6, x=x[finite], y=errors[finite],
                    hover=[
                        f"{names[row]}\nworst cell, {name}: {percent(errors[row])} ({rows(errors[row], rehearsal.n)})"
                        for row in finite
                    ],
                )
            )  # fmt: skip
    return Picture(
        title="Worst cell of every pair of columns",
        x=Axis(title="pairs of columns, least wrong to most", low=0, high=1, form="~p"),
        y=Axis(title="error of the worst cell, share of n", low=0, form=".3~p", rows=rehearsal.n),
        marks=marks,
        sentence=_sentence(rehearsal),
        table={
            "pair": names,
            "worst cell, observed": short_numbers(rehearsal.worst[order]),
            "worst cell, promised": short_numbers(rehearsal.within[order]),
            "rows in a wrong cell": short_numbers(rehearsal.apart[order]),
        },
        height=300,
    )


def _sentence(rehearsal: WholeRehearsal) -> str:
    """The least and the most that a pair is wrong."""
    text = (
        f"Rows made of one simulated release: {percent(float(rehearsal.apart.mean()))} of them are in a wrong cell of "
        f"a pair of columns, on average; the worst cell of any pair is off by {percent(float(rehearsal.worst.max()))}"
    )
    largest = float(rehearsal.within.max())
    if largest < math.inf:
        return f"{text}, promised {percent(largest)} at most by what the release itself says."
    return f"{text}; of pairs nothing is promised."


def code(plan_table: PlanTable, columns: Sequence[str], mechanism: WholeTable) -> str:
    """The snippet: the same columns, relation, n and persons, so that it makes the promise that the page prints."""
    arguments = "n=len(df)"
    if plan_table.neighbours is Neighbours.ADD_REMOVE_ONE:  # how many rows there are is private: a public n is named
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
        "guarantee = release.guarantee  # of whoever the table protects",
        "rows = release.table()  # of nobody, with your columns' names, kinds and labels",
    ]
    return "\n".join(lines) + "\n"
