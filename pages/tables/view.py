"""The second view of the Tables page: all tables of k attributes, one of them, and rows that follow a tree."""

from __future__ import annotations

from itertools import product

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.data.product import Product
from dpcore.mechanisms.tables.preview import fit_for, observed_sigma
from dpcore.queries.marginals import Set
from dplab.tables import PREVIEWS, TRIALS
from pages.charts.words import percent, significant
from pages.charts.worst import TrialNouns
from pages.marginals.promise import Promised, beside, heading
from pages.shell.asked import show_code
from pages.shell.controls import audit_this
from pages.shell.state import SessionKey
from pages.shell.status import views
from pages.tables.controls import ask
from pages.tables.figures import Distances, cell_counts, cell_errors, sorted_dots
from pages.tables.previews import Shown, computed
from pages.tables.rows import called, rows_section

HOW_TABLES = (
    "Release **every table of k attributes at once**.",
    "A statistical office does so. The classics add noise to each table, or to each Fourier coefficient; the "
    "residual planner counts once what each set of attributes adds to smaller ones and gives every part the noise "
    "it deserves (Xiao, He, Zhang and Kifer 2023).",
)
VIEWS = ("All tables and promise", "One table", "Synthetic rows", "More")
BETA = 0.05
"""Failure chance of the promise shown."""


def all_tables(beside: DeltaGenerator) -> None:
    """Read the controls in their place beside, then show what they do."""
    bar = st.container(key="epsilon_bar")
    head = bar.container()
    asked = ask(beside, bar)
    if asked is None:
        return
    shown = computed(asked)
    with head:
        _headline(shown)
    every, one, rows, more = views(*VIEWS, key="tables-seen")
    with every:
        left, right = st.columns(2)
    with left:
        st.subheader("All tables")
        _all(shown)
    with one:
        _one_table(shown)
    with rows:
        rows_section(asked=asked, dataset=shown.dataset, release=shown.chosen.release, tables=shown.chosen.tables[0])
    with more:
        audit_this(asked.entry, asked.values, asked.neighbours)
        show_code("Code", key="tables_code_open", write=lambda: _code(shown))
    with right:  # last, because many releases take longer than a few
        _promise(shown)


def _all(shown: Shown) -> None:
    """How far every table is off, by each method."""
    names = [called(shown.domain, table) for table in shown.truth]
    series = [
        Distances(name=shown.named(key), role=f"mechanism:{key}", of=names, far=each.distances)
        for key, each in shown.methods.items()
    ]
    picture = sorted_dots(series, noun="tables", n=shown.problem.n)
    shown.asked.draw(picture, key="tables_all", title="all tables")


def _cells(domain: Product, table: Set) -> list[str]:
    """Each cell of a table, the last attribute varying fastest."""
    columns = [domain.columns[attribute] for attribute in table]
    return [
        ", ".join(column.describe(cell) for column, cell in zip(columns, cells, strict=True))
        for cells in product(*(range(column.size) for column in columns))
    ]


def _headline(shown: Shown) -> None:
    """What the chosen method does, beside the others."""
    chosen, asked = shown.chosen, shown.asked
    others = ", ".join(
        f"{shown.named(key)}: **{percent(float(each.distances.mean()))}**"
        for key, each in shown.methods.items()
        if each is not chosen
    )
    heading(
        f"{percent(float(chosen.distances.mean()))} of the rows are in a wrong cell, on average",
        chosen.mechanism.guarantee(shown.problem),
        of="tables",
        before=f"{shown.named(asked.entry.key)}; at the same privacy, {others}. ",
        more=f"{len(shown.truth):,} tables of {asked.queries.ways} of {len(shown.domain.names)} attributes, "
        f"{asked.queries.count:,} cells, {shown.problem.n:,} rows. ",
    )


def _one_table(shown: Shown) -> None:
    """A table of the reader's: its cells, true and released, and their errors."""
    st.subheader("One table")
    asked, domain, ways = shown.asked, shown.domain, shown.asked.queries.ways
    key = SessionKey[list[str]](f"tables-picked-{asked.source.origin.key}-{set(domain.sizes) == {2}}", [])
    kept = [name for name in key.value if name in domain.names][:ways]
    if key.is_set:
        key.value = kept
    names = st.multiselect(
        f"{ways} of {len(domain.names)} attributes",
        domain.names,
        default=domain.names[:ways],
        key=key,
        max_selections=ways,
        persist_state="session",
    )
    if len(names) < ways:
        st.caption(f"Pick {ways} attributes.")
        return
    picked = tuple(sorted(domain.names.index(name) for name in names))
    chosen, truth = shown.chosen, shown.truth[picked]
    cells, flat = _cells(domain, picked), truth.reshape(-1)
    released = np.array([each[picked].reshape(-1) for each in chosen.tables])
    left, right = st.columns(2)
    with left:
        picture = cell_counts(cells=cells, truth=flat, released=released[0])
        asked.draw(picture, key="tables_cells", title="cells")
    with right:
        picture = cell_errors(
            cells=cells,
            truth=flat,
            released=released,
            predicted=chosen.predicted_sigma(picked),
            observed=observed_sigma(chosen.release, truth, picked),
            trials=TRIALS,
        )
        asked.draw(picture, key="tables_errors", title="errors")


def _promise(shown: Shown) -> None:
    """What holds for every cell at once, beside the worst cell of many releases."""
    asked, problem, chosen = shown.asked, shown.problem, shown.chosen
    count = problem.queries.count
    guarantee = chosen.mechanism.guarantee(problem)
    fitted = [max(float(np.abs(each[s] - shown.truth[s]).max()) for s in shown.truth) for each in chosen.tables]
    low, high = significant(min(fitted)), significant(max(fitted))
    reach = f"{low if low == high else f'{low} to {high}'} row{'' if low == high == '1' else 's'}"
    afterwards = ""
    if asked.fit != "unbiased":
        afterwards = (
            f" No theorem here speaks of the tables after that ({shown.named(asked.entry.key)}): in the {PREVIEWS} "
            f"previews shown above their worst cells are off by {reach}."
        )
    beside(
        Promised(
            problem=problem,
            guarantee=guarantee,
            bound=chosen.mechanism.accuracy(problem, BETA),
            details=f"A query is one of the {count:,} cells of all {len(shown.truth):,} tables as measured, before "
            "anything is done to them.",
            looked_at=f"all {count:,} cells of all {len(shown.truth):,} tables",
            dots="Tables are as measured, before anything is done to them: that is what the promise is about."
            f"{afterwards}",
            called=TrialNouns(query="cell", over="all cells, as measured"),
            badge=asked.badge(),
        ),
        memory=shown.memory,
        work=lambda: chosen.worst_cells(shown.truth),
    )


def _code(shown: Shown) -> str:
    """The snippet."""
    asked, fit = shown.asked, fit_for(shown.chosen.release, shown.asked.fit)
    return asked.code(
        queries=f"Marginals(domain=dataset.domain, ways={asked.queries.ways})",
        imports=["from dpcore.queries.marginals import Marginals"],
        then=[
            f"release = mechanism.run(state, dpcore.Preview({asked.seed}), trials={TRIALS})",
            f"tables = release.tables(trial=0, fit={fit!r})",
            "table = next(queries.sets())",
            'print(" × ".join(dataset.domain.names[a] for a in table))',
            "print(tables[table].round(1))",
            "print(mechanism.guarantee(problem).sentence())",
        ],
    )
