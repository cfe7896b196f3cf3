"""The second view of the Marginals page: all tables of k attributes, one of them, and rows that follow a tree."""

from __future__ import annotations

from itertools import product

import numpy as np
import streamlit as st

from dpcore.attributes import Attributes, Set
from dpcore.core import Mechanism, Problem
from dpcore.figures.figure import percent, significant
from dpcore.figures.tables import sorted_dots
from dpcore.figures.tables_cells import cell_counts, cell_errors
from dpcore.figures.worst import Words
from dpcore.mechanisms.marginals_fourier import DirectTables, FourierTables
from dpcore.mechanisms.marginals_residual import ResidualPlanner
from dpcore.residual.preview import fit_for, observed_sigma
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.marginals_promise import Promised, beside
from pages.ui.marginals_rows import rows_section
from pages.ui.marginals_tables_ask import ask
from pages.ui.marginals_tables_previews import PREVIEWS, TRIALS, Shown, computed, worst_cells

BETA = 0.05
"""Failure chance of the promise shown."""


def all_tables() -> None:
    """Read the controls, then show what they do."""
    st.markdown(
        "Release **every table of k attributes at once**, as a statistical office does. The classics add noise to each "
        "table, or to each Fourier coefficient; the residual planner counts once what each set of attributes adds to "
        "smaller ones and gives every part the noise it deserves (Xiao, He, Zhang and Kifer 2023)."
    )
    asked = ask()
    if asked is None:
        return
    shown = computed(asked)
    _headline(shown)
    st.subheader("How far all tables are from the true ones")
    names = [_called(shown.domain, table) for table in shown.truth]
    each = shown.methods.values()
    figure = sorted_dots(
        {method.name: method.distances for method in each}, names={method.name: names for method in each},
        noun="tables", badge=asked.badge, dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="tables_all_chart")
    numbers(figure, title="all tables", key="tables_all_numbers")
    _one_table(shown)
    rows_section(asked=asked, dataset=shown.dataset, release=shown.chosen.release, tables=shown.chosen.tables[0])
    place = st.container()
    _code(shown)
    with place:  # last, because many releases take longer than a few
        _promise(shown)


def _called(domain: Attributes, table: Set) -> str:
    return " × ".join(domain.names[attribute] for attribute in table)


def _cells(domain: Attributes, table: Set) -> list[str]:
    """Each cell of a table, the last attribute varying fastest."""
    columns = [domain.columns[attribute] for attribute in table]
    return [
        ", ".join(column.describe(cell) for column, cell in zip(columns, cells, strict=True))
        for cells in product(*(range(column.size) for column in columns))
    ]


def _headline(shown: Shown) -> None:
    """What the chosen method does, beside the others."""
    chosen, asked = shown.chosen, shown.asked
    st.header(f"On average {percent(float(chosen.distances.mean()))} of the rows are in a wrong cell of a table")
    others = ", ".join(
        f"{each.name}: **{percent(float(each.distances.mean()))}**" for each in shown.methods.values()
        if each is not chosen
    )  # fmt: skip
    st.markdown(
        f"{len(shown.truth):,} tables of {asked.ways} of {len(shown.domain.names)} attributes, "
        f"{shown.problem.queries.count:,} cells, {shown.problem.n:,} rows; {chosen.name}. :blue-badge[simulated] "
        f":gray-badge[true]\n\nAt the same privacy, {others}. "
        f"Privacy: {chosen.mechanism.guarantee(shown.problem).sentence()}, for all tables together."
    )


def _one_table(shown: Shown) -> None:
    """A table of the reader's: its cells, true and released, and their errors."""
    st.subheader("One of the tables")
    asked, domain = shown.asked, shown.domain
    key = f"tables-picked-{asked.survey.sample_key}-{asked.survey.yes_no}"
    kept = [name for name in st.session_state.get(key, []) if name in domain.names][: asked.ways]
    if key in st.session_state:
        st.session_state[key] = kept
    names = st.multiselect(
        f"{asked.ways} of {len(domain.names)} attributes", domain.names, default=domain.names[: asked.ways], key=key,
        max_selections=asked.ways, persist_state="session",
    )  # fmt: skip
    if len(names) < asked.ways:
        st.caption(f"Pick {asked.ways} attributes.")
        return
    table = tuple(sorted(domain.names.index(name) for name in names))
    chosen, truth = shown.chosen, shown.truth[table]
    cells, flat = _cells(domain, table), truth.reshape(-1)
    released = np.array([each[table].reshape(-1) for each in chosen.tables])
    left, right = st.columns(2)
    with left:
        figure = cell_counts(cells=cells, truth=flat, released=released[0], badge=asked.badge, dark=is_dark())
        draw(figure, key="tables_cells_chart")
        numbers(figure, title="cells", key="tables_cells_numbers")
    with right:
        figure = cell_errors(
            cells=cells, truth=flat, released=released, predicted=_predicted(chosen.mechanism, shown.problem, table),
            observed=observed_sigma(chosen.release, truth, table), trials=TRIALS, badge=asked.badge, dark=is_dark(),
        )  # fmt: skip
        draw(figure, key="tables_errors_chart")
        numbers(figure, title="errors", key="tables_errors_numbers")


def _predicted(mechanism: Mechanism, problem: Problem, table: Set) -> float:
    """Standard deviation of a cell of the unbiased table, in rows."""
    if isinstance(mechanism, DirectTables):
        return mechanism.sigma(problem)
    assert isinstance(mechanism, ResidualPlanner | FourierTables)
    return mechanism.plan(problem).cell_sigma(table)


def _promise(shown: Shown) -> None:
    """What holds for every cell at once, beside the worst cell of many releases."""
    asked, problem, chosen = shown.asked, shown.problem, shown.chosen
    count = problem.queries.count
    guarantee = chosen.mechanism.guarantee(problem)
    fitted = [max(float(np.abs(each[s] - shown.truth[s]).max()) for s in shown.truth) for each in chosen.tables]
    low, high = significant(min(fitted)), significant(max(fitted))
    afterwards = "" if asked.fit == "unbiased" else (
        f" No theorem here speaks of the tables after that ({chosen.name}): in the {PREVIEWS} previews shown above "
        f"their worst cells are off by {low if low == high else f'{low} to {high}'} rows."
    )  # fmt: skip
    beside(
        Promised(
            problem=problem, guarantee=guarantee, bound=chosen.mechanism.accuracy(problem, BETA),
            details=f"A query is one of the {count:,} cells of all {len(shown.truth):,} tables as measured, before "
            "anything is done to them.",
            looked_at=f"all {count:,} cells of all {len(shown.truth):,} tables",
            dots="Tables are as measured, before anything is done to them: that is what the promise is about."
            f"{afterwards}",
            words=Words(query="cell", over="all cells, as measured"), badge=asked.badge,
        ),
        memory=shown.memory,
        work=lambda: worst_cells(shown),
    )  # fmt: skip


def _code(shown: Shown) -> None:
    """The snippet, copyable."""
    place = st.expander("The code that reproduces this release", key="tables_code_open", on_change="rerun")
    if not place.open:
        return
    asked, fit = shown.asked, fit_for(shown.chosen.release, shown.asked.fit)
    values = ", ".join(f"{name}={value!r}" for name, value in asked.values.items())
    lines = [
        "import dpcore",
        "from dpcore.attributes import Marginals",
        *asked.survey.code(),
        "",
        f"queries = Marginals(domain=dataset.domain, ways={asked.ways})",
        "problem = dpcore.Problem(domain=dataset.domain, queries=queries, n=dataset.n,",
        f"                         neighbours=dpcore.Neighbours.{asked.neighbours.name})",
        f"mechanism = dpcore.entry({asked.entry.key!r}).make({values})",
        "state = mechanism.prepare(dataset, problem)",
        f"release = mechanism.run(state, dpcore.Preview({asked.seed}), trials={TRIALS})",
        f"tables = release.tables(trial=0, fit={fit!r})",
        "table = next(queries.sets())",
        'print(" × ".join(dataset.domain.names[a] for a in table))',
        "print(tables[table].round(1))",
        "print(mechanism.guarantee(problem).sentence())",
    ]
    place.code("\n".join(lines), language="python")
