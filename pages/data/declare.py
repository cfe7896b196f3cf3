"""Declaring a table: the grid of its columns, the unit of privacy, and the column or pair of columns in use."""

from __future__ import annotations

import dataclasses

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import ParameterError
from dpcore.core.sizes import MAX_PERSON_ROWS
from dpcore.data.columns import is_number
from dpcore.data.dates import is_dates
from dpcore.data.declarations import DeclaredTable, coarsen
from dpcore.data.dictionaries.description import CATEGORY
from dpcore.data.dictionaries.labels import split_labels
from dpcore.data.dictionaries.names import identifying_column
from dpcore.data.sources import SIDE_BITS, Source
from pages.charts.words import as_code
from pages.data.descriptions.controls import open_description, save_description
from pages.data.descriptions.private_labels import offer_private_labels
from pages.data.engines import count_cells, is_engine_table, is_sealed, with_declaration_digest
from pages.data.grid import MAX_NAMED, ColumnInput, column_inputs, declared_table, edit_grid, join_names
from pages.data.picker import GROUP_PRIVACY, OWN_FILE
from pages.data.suggestions import offer_names, offer_to_fill_in
from pages.data.upload import PERSON, ROW, SessionFile
from pages.shell.private.steward import still_filled
from pages.shell.session import DATA, remember_upload, upload
from pages.shell.state import SessionKey
from pages.shell.tasks.memory import remember

MAX_SIDE = 64
"""Maximum number of cells along a side of a map."""
TARGET = "1%"
"""The target error of the button that leads to Play."""
NO_SECOND_COLUMN = ""
UNITS = {ROW: "A row", PERSON: "A person, who may have several rows"}


def declare(file: SessionFile) -> None:
    """Draw the controls of the columns' domains, of the unit of privacy, and of the columns in use."""
    open_description(file)
    edit_grid(file)
    errors_place = st.container()
    st.caption("Cells may be pasted from a spreadsheet or a codebook: choose a cell, then Ctrl+V.")
    offer_names(file)
    if not is_engine_table(file):
        offer_to_fill_in(file)
    person, person_rows = _unit(file)
    save_description(file, person=person, person_rows=person_rows, filled=filled_columns(file))
    inputs = _columns_to_count(file, person)
    table, errors = declared_table(inputs, person=person, person_rows=person_rows)
    for name in list(errors)[:MAX_NAMED]:
        errors_place.error(f"{as_code(name)}: {errors[name]}")
    _show_label_counts(inputs)
    _show_missing_inputs(inputs)
    offer_private_labels(file, person=person, person_rows=person_rows)
    source_in_use = upload()
    ready_sentence = f"Ready: {as_code(source_in_use.column)}, as declared before (below)." if source_in_use else ""
    if file.by_person and not person:
        st.info("Choose the column that says whose row it is.")
        if source_in_use:
            st.caption(ready_sentence)
        return
    if not inputs:
        st.info("There is no other column to count.")
    choice = _choose_columns(file, table)
    if choice is None:
        return
    source, table = choice
    if source_in_use is not None and (source_in_use.key, source_in_use.bounds_from_data) == (
        source.key,
        source.bounds_from_data,
    ):
        st.caption("Ready to use, as declared here.")
        return
    if source_in_use is not None:
        st.caption(ready_sentence)
    with st.container(horizontal=True):
        use = st.button("Use this column", type="primary")
        ask_target = st.button(f"Which ε for {TARGET} error?", help="Opens this column in Play with that target error.")
    if not (use or ask_target):
        return
    with st.spinner("Reading the column.", show_time=True):
        source = dataclasses.replace(source, origin=count_cells(file.origin, table))
        dataset = None if is_sealed(source) else source.dataset()
    remember_upload(source)
    if dataset is not None:
        remember(f"dataset|{source.key}", lambda: dataset)
    DATA.value = OWN_FILE  # the data set in use, on every page
    if ask_target:
        st.switch_page("play/page.py", query_params={"target": TARGET})
    st.rerun()


def declared_columns(file: SessionFile) -> tuple[DeclaredTable, int]:
    """Return the fully declared columns, and the number of those filled in from private rows instead.

    There are none while persons are protected and no column identifies them.
    """
    person = SessionKey(f"{file.prefix}person", "").value or "" if file.by_person else ""
    if file.by_person and not person:
        return DeclaredTable(columns=()), 0
    rows = _columns_to_count(file, person)
    typed_by_hand = [row for row in rows if not (file.private and _domain_from_rows(file, (row.name,)))]
    max_rows = SessionKey(f"{file.prefix}rows", 1).value if person else 1
    table, _ = declared_table(typed_by_hand, person=person, person_rows=max_rows)
    return table, sum(row.use and not row.missing_inputs for row in rows if row not in typed_by_hand)


def filled_columns(file: SessionFile) -> set[str]:
    """Return the columns whose domain was read from the rows, private or public, and not typed since."""
    return {name for name in file.table.columns if _domain_from_rows(file, (name,))}


def _columns_to_count(file: SessionFile, person: str) -> list[ColumnInput]:
    """Return the grid's inputs, without the column that identifies the person, which is not counted."""
    return [row for row in column_inputs(file) if row.name != person]


def _show_label_counts(rows: list[ColumnInput]) -> None:
    """Show the number of labels that were parsed, and the columns whose labels are ignored."""
    counts_by_column = [
        f"{as_code(row.name)} ({len(labels)})"
        for row in rows
        if row.use and row.kind == CATEGORY and len(labels := split_labels(row.labels or "")) > 1
    ]
    if counts_by_column:
        names = join_names(counts_by_column)
        st.caption(f"Labels, separated by semicolons: {names}. Put a label that contains a semicolon in quotes.")
    unused = [f"{as_code(row.name)} ({row.kind})" for row in rows if row.use and row.labels and row.kind != CATEGORY]
    if unused:
        st.warning(f"Only a category has labels. The labels of {join_names(unused)} are not used.")


def _show_missing_inputs(rows: list[ColumnInput]) -> None:
    """Show the inputs that are missing for the columns in use."""
    lacking = [f"{as_code(row.name)} ({row.missing_inputs})" for row in rows if row.use and row.missing_inputs]
    if lacking:
        st.caption(f"Still missing: {join_names(lacking)}.")


def _unit(file: SessionFile) -> tuple[str, int]:
    """Return the column that identifies the person (empty: rows are protected) and the maximum rows of a person."""
    unit = st.radio(
        "Who is protected?", list(UNITS), format_func=lambda key: UNITS[key], key=file.unit_key, horizontal=True,
        persist_state="session",
    )  # fmt: skip
    suggested = identifying_column(file.table.columns)
    if unit != PERSON:
        if suggested:
            st.caption(
                f"By its name, {as_code(suggested)} says whose row it is. Protect persons if one has several rows."
            )
        return "", 1
    column, cap = st.columns(2)
    # No default: a guarantee for the persons of a wrong column would be worthless.
    person = column.selectbox(
        "Column that identifies the person", file.table.columns, index=None, key=f"{file.prefix}person",
        placeholder="Choose a column", persist_state="session", help="This column is not released.",
    )  # fmt: skip
    rows = cap.number_input(
        "Maximum rows per person", 1, MAX_PERSON_ROWS, 1, key=f"{file.prefix}rows", persist_state="session",
        help="The first rows of a person in the file are used and later ones left out. Rows without a person "
             f"are left out, too. {GROUP_PRIVACY}",
    )  # fmt: skip
    if suggested and not person:
        st.button(
            f"Take {as_code(suggested)}, by its name", args=(suggested,),
            on_click=SessionKey(f"{file.prefix}person", "").set,
            help="Only the names of the columns were used. Check that each person has one value of it.",
        )  # fmt: skip
    return str(person or ""), int(rows)


def _choose_columns(file: SessionFile, table: DeclaredTable) -> tuple[Source, DeclaredTable] | None:
    """Return the column or pair of columns to use, with the table and its cells; None without a column."""
    names = [column.name for column in table.used]
    if not names:
        return None
    plottable = [each.name for each in table.used if is_number(each.on) or 2 <= len(each.on.labels) <= MAX_SIDE]
    first, second, sides = st.columns(3)
    column = str(_select_valid(first, "Column", names, key=f"{file.prefix}column"))
    others = [name for name in plottable if name != column and column in plottable]
    second_name = str(_select_valid(second, "Second column", [NO_SECOND_COLUMN, *others], key=f"{file.prefix}second"))
    chosen = (column, second_name) if second_name else (column,)
    try:
        if second_name:
            cells = sides.slider(
                "Cells per side", 2, MAX_SIDE, 2**SIDE_BITS, key=f"{file.prefix}sides", persist_state="session",
                help="Cells per side of the two-column map. For dates a cell is a unit; for categories it is a label.",
            )  # fmt: skip
            table = _coarser(table, chosen, cells)
        reading = table.plane(column, second_name) if second_name else table.reading(column)
    except ParameterError as problem:
        st.error(str(problem))
        return None
    filled = _domain_from_rows(file, chosen)
    return Source(origin=with_declaration_digest(file.origin, table), reading=reading, bounds_from_data=filled), table


def _select_valid(place: DeltaGenerator, label: str, options: list[str], *, key: str) -> str | None:
    """Draw a select box that falls back to the first option if the selected one no longer exists."""
    chosen = SessionKey(key, "")
    if not chosen.is_set or chosen.value not in options:
        chosen.value = options[0]
    return place.selectbox(
        label, options, key=key, format_func=lambda name: name or "none", persist_state="session"
    )  # fmt: skip


def _coarser(table: DeclaredTable, names: tuple[str, ...], cells: int) -> DeclaredTable:
    """Return the table with ``cells`` cells along each side of a map."""
    columns = []
    for column in table.columns:
        domain = column.on
        if column.name in names and is_dates(domain) and domain.ordered > MAX_SIDE:
            raise ParameterError(f"A map has at most {MAX_SIDE} cells per side. Choose a coarser unit for the dates.")
        if column.name in names and is_number(domain):
            domain = coarsen(domain, cells)
        columns.append(dataclasses.replace(column, on=domain))
    return dataclasses.replace(table, columns=tuple(columns))


def _domain_from_rows(file: SessionFile, names: tuple[str, ...]) -> bool:
    """Return True if a domain of these columns was read from the rows."""
    positions = [file.table.columns.index(name) for name in names]
    return any(still_filled(f"{file.prefix}{place}-") for place in positions)
