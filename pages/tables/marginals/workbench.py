"""All tables of k attributes on the Tables page: their errors, one of them, and rows that follow a tree."""

from __future__ import annotations

from collections.abc import Generator
from itertools import product

import numpy as np
import streamlit as st

from dpcore.core import Floats
from dpcore.data.product import Product
from dpcore.queries.marginals import Set
from dplab.tables import PREVIEWS, TRIALS, fit_for, observed_sigma
from pages.charts.words import percent, significant
from pages.charts.worst import TrialNouns
from pages.shell.state import SessionKey
from pages.shell.theorem import BETA
from pages.shell.workbench import Workbench
from pages.tables.marginals.charts import Distances, cell_counts, cell_errors, sorted_dots
from pages.tables.marginals.compute import TableResult
from pages.tables.marginals.controls import draw_controls
from pages.tables.marginals.rows import attributes_of, draw_rows
from pages.tables.worst_error import ErrorWords, render_headline, render_worst_error

LEAD = (
    "Release **every table of k attributes at once**.",
    "Statistical offices release such tables. Classic methods add noise to each table or to each Fourier "
    "coefficient. The residual planner measures what each set of attributes adds to smaller sets. It "
    "optimises the noise of every part (Xiao, He, Zhang and Kifer 2023).",
)


def _headline(result: TableResult) -> None:
    selected, request = result.selected, result.request
    others = ", ".join(
        f"{result.title(key)}: **{percent(float(previews.distances.mean()))}**"
        for key, previews in result.methods.items()
        if previews is not selected
    )
    render_headline(
        f"{percent(float(selected.distances.mean()))} of the rows are in a wrong cell, on average",
        selected.mechanism.guarantee(result.problem),
        of="tables",
        before=f"{result.title(request.entry.key)}; at the same privacy, {others}. ",
        more=f"{len(result.truth):,} tables of {request.queries.ways} of {len(result.domain.names)} attributes, "
        f"{request.queries.count:,} cells, {result.problem.n:,} rows. ",
    )


def _all_tables(result: TableResult) -> None:
    """Draw the error of every table, by each method."""
    names = [attributes_of(result.domain, table) for table in result.truth]
    series = [
        Distances(name=result.title(key), role=f"mechanism:{key}", of=names, far=previews.distances)
        for key, previews in result.methods.items()
    ]
    picture = sorted_dots(series, noun="tables", n=result.problem.n)
    result.request.draw(picture, key="tables_all", title="all tables", heading="All tables")


def _worst_error(result: TableResult) -> None:
    """Draw the bound for all cells at once, beside the worst cell of many releases."""
    request, problem, selected = result.request, result.problem, result.selected
    count = problem.queries.count
    worst = [max(float(np.abs(each[s] - result.truth[s]).max()) for s in result.truth) for each in selected.tables]
    low, high = significant(min(worst)), significant(max(worst))
    reach = f"{low if low == high else f'{low} to {high}'} row{'' if low == high == '1' else 's'}"
    fitted = ""
    if request.fit != "unbiased":
        fitted = (
            f" No theorem covers the tables after post-processing ({result.title(request.entry.key)}). In "
            f"the {PREVIEWS} previews above, the error of their worst cell is {reach}."
        )
    words = ErrorWords(
        observed_on=f"all {count:,} cells of all {len(result.truth):,} tables",
        dots=f"Tables are shown as measured, before post-processing; the guaranteed error is about these.{fitted}",
        called=TrialNouns(query="cell", over="all cells, as measured"),
        details=f"A query is one of the {count:,} cells of all {len(result.truth):,} tables as measured, before "
        "post-processing.",
    )

    def work() -> Generator[float, None, Floats]:
        return selected.worst_cells(result.truth)

    render_worst_error(request, problem, selected.mechanism, words, beta=BETA, key=result.key, work=work)


def _cells(domain: Product, table: Set) -> list[str]:
    """Return the cells of a table in words, the last attribute varying fastest."""
    columns = [domain.columns[attribute] for attribute in table]
    return [
        ", ".join(column.describe(cell) for column, cell in zip(columns, cells, strict=True))
        for cells in product(*(range(column.size) for column in columns))
    ]


def _one_table(result: TableResult) -> None:
    """Draw a table that the user picks: its cells, true and released, and their errors."""
    st.subheader("One table")
    request, domain, ways = result.request, result.domain, result.request.queries.ways
    key = SessionKey[list[str]](f"tables-picked-{request.source.origin.key}-{set(domain.sizes) == {2}}", [])
    if key.is_set:
        key.value = [name for name in key.value if name in domain.names][:ways]
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
    table = tuple(sorted(domain.names.index(name) for name in names))
    selected, truth = result.selected, result.truth[table]
    cells, flat = _cells(domain, table), truth.reshape(-1)
    released = np.array([each[table].reshape(-1) for each in selected.tables])
    left, right = st.columns(2)
    with left:
        picture = cell_counts(cells=cells, truth=flat, released=released[0])
        request.draw(picture, key="tables_cells", title="cells")
    with right:
        picture = cell_errors(
            cells=cells,
            truth=flat,
            released=released,
            predicted=selected.predicted_sigma(table),
            observed=observed_sigma(selected.release, truth, table),
            trials=TRIALS,
        )
        request.draw(picture, key="tables_errors", title="errors")


def _code(result: TableResult) -> str:
    request, fit = result.request, fit_for(result.selected.release, result.request.fit)
    return request.code_of_release(
        f"tables = release.tables(trial=0, fit={fit!r})",
        "table = next(queries.sets())",
        'print(" × ".join(dataset.domain.names[a] for a in table))',
        "print(tables[table].round(1))",
        arguments=f", ways={request.queries.ways}",
        trials=TRIALS,
    )


MARGINALS = Workbench(
    title="Tables",
    lead=LEAD,
    key="tables",
    controls=draw_controls,
    compute=TableResult,
    headline=_headline,
    views={
        "All tables and guarantee": (_all_tables, _worst_error),
        "One table": _one_table,
        "Synthetic rows": draw_rows,
    },
    slow=(_worst_error,),
    code=_code,
)
