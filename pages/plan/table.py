"""The table that a plan is about: a bundled one, one's own as declared, or that of a plan that was opened."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpcore.core import Neighbours, ParameterError
from dpcore.data.bundled import suggested_domain
from dpcore.data.declared import Capped, DeclaredColumn, DeclaredTable
from dpcore.data.domains import Categories, Grid, Grouped, Line
from dpcore.data.readings import Columns, Reading
from dpcore.data.samples import SAMPLES, sample
from dpcore.data.sources import Bundled, Source
from dpcore.plan.questions import Plan
from pages.data.picker import OWN_FILE
from pages.shell.controls import choice, neighbours, stops
from pages.shell.private.twin import declared_rows
from pages.shell.session import upload

OPENED, FIRST = "plan-file", "adult"
MOST_BYTES = 200_000


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What is planned for, all of it public.

    Attributes:
        key: of the table among those that can be picked.
        title: what people call it.
        table: its columns.
        n: rows, or a number that was named for them.
        neighbours: the relation.
        beta: failure chance of promises and targets.
    """

    key: str
    title: str
    table: DeclaredTable
    n: int
    neighbours: Neighbours
    beta: float


def pick_table() -> Declared:
    """The controls of the table, the relation and the failure chance."""
    own, opened = upload(), opened_plan()
    titles = {each.key: each.title for each in SAMPLES}
    if own is not None:
        titles = {OWN_FILE: "Your table", **titles}
    if opened is not None:
        titles = {OPENED: "The opened plan's table", **titles}
    key = choice(
        "Table", titles, key="table", default=FIRST,
        help_text="Only what is declared of it is used: columns, bounds, labels and a public number of rows.",
    )  # fmt: skip
    if key == OPENED and opened is not None:
        return Declared(
            key=key, title="The opened plan", table=opened.table, n=opened.n, neighbours=opened.neighbours,
            beta=opened.beta,
        )  # fmt: skip
    relation = neighbours(own.person_rows if key == OWN_FILE and own is not None else 0)
    beta = stops("Failure chance β", (0.001, 0.01, 0.05, 0.1, 0.2), 0.05, key="beta")
    if key == OWN_FILE and own is not None:
        table, n = table_of(own), declared_rows(own, relation)
    else:
        columns = (DeclaredColumn(name=each.column, on=suggested_domain(each)) for each in sample(key).columns)
        table, n = DeclaredTable(columns=tuple(columns)), Bundled(sample_key=key).rows
    if relation is Neighbours.ADD_REMOVE_ONE:
        n = int(
            st.number_input(
                "Public n", 1, 10**9, n, key=f"plan_n_{key}",
                help="Here the number of rows is itself private: shares are of a round number you name.",
            )
        )  # fmt: skip
    return Declared(key=key, title=titles[key], table=table, n=n, neighbours=relation, beta=beta)


def table_of(own: Source) -> DeclaredTable:
    """The declared columns of a file.

    Raises:
        ParameterError: bounds or labels were read off the rows, or what is read is no column of a table.
    """
    if own.bounds_from_data:
        raise ParameterError("Bounds or labels were read off your rows: declare them on Data, and plan with those.")
    reading: Reading = own.reading
    person, rows = "", 1
    if isinstance(own.reading, Capped):
        reading, person, rows = own.reading.reading, own.reading.person, own.reading.rows
    found: list[Line | Categories] = []
    if isinstance(reading, Columns):
        match reading.on:
            case Line() | Categories() as alone:
                found = [alone]
            case Grid() as grid:
                found = [grid.first, grid.second]
            case Grouped() as grouped:
                found = [Categories(labels=grouped.labels), grouped.line]
    if not found or not isinstance(reading, Columns):
        raise ParameterError("A plan is about declared columns: declare some on Data.")
    columns = tuple(DeclaredColumn(name=name, on=on) for name, on in zip(reading.names, found, strict=True))
    return DeclaredTable(columns=columns, person=person, person_rows=rows)


def opened_plan() -> Plan | None:
    """The plan that was opened from a file, if any."""
    found: Plan | None = st.session_state.get("plan_opened")
    return found


def open_file() -> None:
    """The control that opens a plan's file; what is no plan gets its sentence."""
    file = st.file_uploader("Open a plan", type="json", key="plan_file", max_upload_size=1)
    if file is None or st.session_state.get("plan_file_id") == file.file_id:
        return
    st.session_state["plan_file_id"] = file.file_id
    text = file.getvalue()
    if len(text) > MOST_BYTES:
        st.error(f"A plan has at most {MOST_BYTES:,} bytes.")
        return
    try:
        plan = Plan.read(text)
    except ParameterError as problem:
        st.error(str(problem))
        return
    st.session_state["plan_opened"] = plan
    st.session_state["plan_questions"] = {**kept_questions(), OPENED: plan.questions}
    st.session_state["plan_version"] = version() + 1
    st.session_state["plan_wanted"] = OPENED
    st.rerun()


def kept_questions() -> dict[str, tuple[object, ...]]:
    """Questions of every table that was planned for in this session."""
    found: dict[str, tuple[object, ...]] = st.session_state.get("plan_questions", {})
    return found


def version() -> int:
    """Counts changes of the plan that no control of it made."""
    return int(st.session_state.get("plan_version", 0))
