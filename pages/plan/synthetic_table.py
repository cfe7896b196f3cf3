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


def show_synthetic_table(declared: PlanTable, questions: Sequence[PlannedQuestion]) -> None:
    """The controls, what they give, and the way from there to its release; drawn only while it is open.

    Args:
        declared: the table.
        questions: of the plan, to which the rows may be added.
    """
    place = st.expander("A whole table, as rows of nobody", key="plan_whole", on_change="rerun")
    if not place.open:
        return
    with place:
        names = [column.name for column in declared.table.used]
        picked = st.multiselect("Columns of the rows", names, default=names, key=f"plan_whole_of_{declared.key}")
        left, right = st.columns(2)
        with left:
            epsilon = stops("Privacy loss ε", EPSILONS, 1.0, key="plan_whole_epsilon")
        with right:
            delta = stops("Slack δ", POWERS, 1e-9, key="plan_whole_delta")
        if len(picked) < 2:
            st.info("Pick two columns or more.")
            return
        mechanism = entry(KEY).make(epsilon=epsilon, delta=delta)
        assert isinstance(mechanism, WholeTable)
        told = (declared.table, tuple(picked), declared.n, declared.neighbours, declared.beta, mechanism)
        found = in_background(
            f"whole|{told!r}",
            lambda: rehearsed_table(
                declared.table, picked, mechanism=mechanism, n=declared.n, neighbours=declared.neighbours,
                beta=declared.beta, seed=SEED,
            ),
            so_far=lambda: None, label="Making rows of nobody.", place="whole",
        )  # fmt: skip
        if found is None:
            return
        st.markdown(
            f"**{found.n:,} rows of {len(picked)} columns cost {found.guarantee.sentence()}.** "
            f"{_measured_sentence(found)}",
            help=all_digits(found.guarantee),
        )
        draw_with_table(
            pair_errors(found), key="plan_whole_pairs", badge=BADGE, title="pairs of columns", download=True
        )
        st.dataframe(escape_frame(found.rows.head(SHOWN_ROWS)), hide_index=True)
        st.caption(f"Made of made-up rows: nothing of your data. {_release_sentence(found)}")
        rows_of_nobody = PlannedQuestion(
            columns=tuple(picked), queries=Marginals.key, ways=PAIRS, entry_key=KEY, epsilon=epsilon,
            values={"delta": delta},
        )  # fmt: skip
        with st.container(horizontal=True):
            if st.button("Release these rows alone", key="plan_whole_release", type="primary"):
                alone = Plan(
                    table=declared.table, n=declared.n, questions=(rows_of_nobody,), neighbours=declared.neighbours,
                    beta=declared.beta,
                )  # fmt: skip
                to_release(declared, alone)
            add = st.button("Add them to the plan", key="plan_whole_add")
        if add:
            append_questions(declared, questions, [rows_of_nobody])
        show_code("Of your own rows, in Python", key="plan_whole_code", write=lambda: code(declared, picked, mechanism))


def _measured_sentence(found: WholeRehearsal) -> str:
    """What the public rule says."""
    if found.ways > 1:
        return "All pairs of columns are measured, single columns most exactly."
    return "At this ε and n pairs would drown in noise: single columns are measured, and rows made as if independent."


def _release_sentence(found: WholeRehearsal) -> str:
    """Return what a release of the true rows would be made of."""
    if found.ways > 1:
        return "A release is made of noisy counts of your own columns' pairs."
    return "A release is made of noisy counts of your single columns: it does not show which values go together."


def pair_errors(found: WholeRehearsal) -> Picture:
    """A dot for each pair of columns: its worst cell, and the tick below which it is promised to stay."""
    order = np.argsort(found.worst, kind="stable")
    x = (np.arange(len(order)) + 0.5) / len(order)
    names = printable_labels(f"{found.names[place][0]} × {found.names[place][1]}" for place in order)
    marks: list[Mark] = []
    for role, name, shape, errors in (
        ("theory", "promised", "line-ew-open", found.within[order]),
        ("released", "observed", "circle", found.worst[order]),
    ):
        kept = [place for place, error in enumerate(errors.tolist()) if error < math.inf]
        if kept:
            marks.append(
                Dots(
                    role=role, name=name, shape=shape, size=6, x=x[kept], y=errors[kept],
                    hover=[
                        f"{names[at]}\nworst cell, {name}: {percent(errors[at])} ({rows(errors[at], found.n)})"
                        for at in kept
                    ],
                )
            )  # fmt: skip
    return Picture(
        title="Worst cell of every pair of columns",
        x=Axis(title="pairs of columns, least wrong to most", low=0, high=1, form="~p"),
        y=Axis(title="error of the worst cell, share of n", low=0, form=".3~p", rows=found.n),
        marks=marks,
        sentence=_sentence(found),
        table={
            "pair": names,
            "worst cell, observed": short_numbers(found.worst[order]),
            "worst cell, promised": short_numbers(found.within[order]),
            "rows in a wrong cell": short_numbers(found.apart[order]),
        },
        height=300,
    )


def _sentence(found: WholeRehearsal) -> str:
    """The least and the most that a pair is wrong."""
    text = (
        f"Rows made of one simulated release: {percent(float(found.apart.mean()))} of them are in a wrong cell of a "
        f"pair of columns, on average; the worst cell of any pair is off by {percent(float(found.worst.max()))}"
    )
    most = float(found.within.max())
    if most < math.inf:
        return f"{text}, promised {percent(most)} at most by what the release itself says."
    return f"{text}; of pairs nothing is promised."


def code(declared: PlanTable, picked: Sequence[str], mechanism: WholeTable) -> str:
    """The snippet: the same columns, relation, n and persons, so that it makes the promise that the page prints."""
    about = "n=len(df)"
    if declared.neighbours is Neighbours.ADD_REMOVE_ONE:  # how many rows there are is private: a public n is named
        about = f"n={declared.n}, neighbours=dpcore.Neighbours.ADD_REMOVE_ONE"
    lines = [
        "import dpcore",
        "from dpcore.queries.marginals import Marginals",
        "",
        "# table: a DeclaredTable; df: your DataFrame",
        f"reading = table.whole({', '.join(map(repr, picked))})",
        "dataset = reading.from_frame(df)",
        "queries = Marginals(domain=reading.domain, ways=2)",
        f"problem = dpcore.Problem(domain=reading.domain, queries=queries, {about})",
        f'mechanism = dpcore.entry("{KEY}").make(epsilon={mechanism.epsilon!r}, delta={mechanism.delta!r})',
        f"sampler = dpcore.Preview(seed={SEED})  # simulated: not private",
        "release = mechanism.run(mechanism.prepare(dataset, problem), sampler)",
        "guarantee = release.guarantee  # of whoever the table protects",
        "rows = release.table()  # of nobody, with your columns' names, kinds and labels",
    ]
    return "\n".join(lines) + "\n"
