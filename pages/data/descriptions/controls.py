"""Opening a description of a table's columns, which fills the grid, and saving what was declared as Table Schema.

The browser's tab stores what was declared, too: after a reload it is restored when a file of this name is uploaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Any

import streamlit as st

from dpcore.core import DataError, ParameterError
from dpcore.data.dictionaries.description import DataDictionary, DescribedColumn, without_domains
from dpcore.data.dictionaries.opening import open_dictionary
from dpcore.data.dictionaries.table_schema import write_table_schema
from dpcore.data.reading.intake import clean_name, clean_names
from dpcore.data.reading.tables import BLANKS
from dprelease.ledger.records import LedgerError
from dprelease.plan.released_part import released_dictionary
from pages.data.engines import is_engine_table
from pages.data.format import add_missing_codes
from pages.data.grid import (
    KIND_CHOSEN,
    cell_key,
    column_input,
    column_inputs,
    grid_cells,
    is_untouched,
    put_cells,
    reset_grid,
)
from pages.data.suggestions import MAX_FILLED
from pages.data.tab_storage import DESCRIPTION_ITEM, TabItem
from pages.data.upload import PERSON, SessionFile, plural, session_file
from pages.shell.ledger.accounts import account_of, ledger
from pages.shell.ledger.roles import admitted
from pages.shell.ledger.spent import QUICK_ROWS
from pages.shell.server.streamlit_internals import remove_own_upload
from pages.shell.session import FILE_TURN
from pages.shell.state import SessionKey, set_controls

MAX_STORED = 1 << 18
"""Maximum number of characters of a description that the tab stores."""
NONE_RELEASED = "Earlier releases declared no column of this file. Nothing was filled in."
FORMS = "Table Schema or CSVW metadata (JSON), SmartNoise metadata (YAML), or a codebook (CSV: name, type, min, max)."


def open_description(file: SessionFile) -> None:
    """Draw the uploader of a description, and what the last one left open; before the grid and the unit of privacy."""
    turn, problem, notes = _turn(file), _problem(file), _notes(file)
    with st.expander("Open a description of the columns"):
        key = f"{file.prefix}description-{turn.value}"
        st.file_uploader(
            "Data dictionary", key=key, on_change=_receive, args=(key,),
            help=f"{FORMS} It must be public: it must not come from the rows.",
        )  # fmt: skip
    _offer_released(file)
    if problem.value:
        st.error(problem.value)
    for sentence in notes.value:
        st.caption(sentence)


def _offer_released(file: SessionFile) -> None:
    """Offer what earlier releases of these rows declared to the data owner, for whom alone a file is compared."""
    if not admitted():
        return
    with suppress(DataError, LedgerError):  # the page Release says it
        quick = not is_engine_table(file) and file.table.row_count <= QUICK_ROWS
        account = account_of(file.origin, compare=quick)
        if account is not None and not account.wrong and account.spent.spent.epsilon_or_rho:
            st.button(
                "Fill in from earlier releases", key=f"{file.prefix}released", on_click=_fill_from_releases,
                args=(account.dataset_id,),
                help="The ledger knows these rows. Columns get the kinds, bounds and labels with which they were "
                "released, or the labels that were found privately. No value of a row is read.",
            )  # fmt: skip


def _fill_from_releases(dataset_id: str) -> None:
    """Callback: fill the grid from the releases that the ledger stored for these rows."""
    file, book = session_file(), ledger()
    if file is None or book is None or not admitted():
        return
    problem, notes = "", list[str]()
    try:
        dictionary = released_dictionary(book.stored(dataset_id), max_labels=MAX_FILLED)
        names, _ = clean_names([column.name for column in dictionary.columns])
        if {*names}.isdisjoint(file.table.columns):
            problem = NONE_RELEASED
        else:
            notes = ["From earlier releases, check it.", *fill_from(file, dictionary)]
    except (DataError, LedgerError, ParameterError) as error:
        problem = str(error)
    _problem(file).value, _notes(file).value = problem, notes


def _turn(file: SessionFile) -> SessionKey[int]:
    """Return the number of the uploader: another one is empty."""
    return SessionKey(f"{file.prefix}description-turn", 0)


def _problem(file: SessionFile) -> SessionKey[str]:
    return SessionKey(f"{file.prefix}description-problem", "")


def _notes(file: SessionFile) -> SessionKey[Sequence[str]]:
    return SessionKey(f"{file.prefix}description-notes", ())


def _receive(key: str) -> None:
    """Callback: fill the grid from the file that was uploaded; an invalid one leaves an error and the grid as it is."""
    file, received = session_file(), SessionKey[Any](key, None).value
    if file is None or received is None:
        return
    _open(file, received.getvalue(), name=received.name)
    remove_own_upload(received)
    _turn(file).value += 1


def _open(file: SessionFile, content: bytes, *, name: str, sentence: str = "") -> None:
    """Fill the grid from a description; ``sentence`` comes before those on what it leaves open."""
    problem, notes = "", list[str]()
    try:
        dictionary = open_dictionary(content, name=name, columns=file.table.columns)
        notes = [sentence] * bool(sentence) + fill_from(file, dictionary)
    except DataError as error:
        problem = str(error)
    _problem(file).value, _notes(file).value = problem, notes


def fill_from(file: SessionFile, dictionary: DataDictionary) -> list[str]:
    """Fill the grid, the unit of privacy and the codes for missing values; return sentences on what is left open.

    Columns are matched by their names, made safe as those of the table were.
    """
    names, _ = clean_names([column.name for column in dictionary.columns])
    by_name = {name: _as_in_a_file(each) for name, each in zip(names, dictionary.columns, strict=True)}
    matched = {name: by_name[name] for name in file.table.columns if name in by_name}
    for place, name in enumerate(file.table.columns):
        if name in matched:
            _fill_column(file, place, matched[name])
    reset_grid(file)
    sentences = [f"{plural(len(matched), 'column')} of {len(file.table.columns):,} described."]
    described = dataclasses.replace(dictionary, columns=tuple(matched.values()))
    sentences += described.gaps()
    if len(matched) < len(by_name):
        sentences.append(f"{plural(len(by_name) - len(matched), 'described column')} not in this table.")
    safe_names = dict(zip((each.name for each in dictionary.columns), names, strict=True))
    person = safe_names.get(dictionary.person, clean_name(dictionary.person))
    if person in file.table.columns:
        rows = dictionary.person_rows
        set_controls({file.unit_key: PERSON, f"{file.prefix}person": person, f"{file.prefix}rows": rows})
        sentences.append("The description protects persons: check the column that identifies them.")
    if dictionary.missing_codes and not is_engine_table(file):
        add_missing_codes(FILE_TURN.value, dictionary.missing_codes)
        sentences.append("Its codes for missing values are now under Format.")
    return sentences


def _as_in_a_file(column: DescribedColumn) -> DescribedColumn:
    """Return the column with labels as the cells of a file are compared; none where the grid cannot hold one."""
    labels = tuple(dict.fromkeys(label.strip(BLANKS) for label in column.labels if label.strip(BLANKS)))
    fits = not any(sign in label for label in labels for sign in "\r\n")
    return dataclasses.replace(column, labels=labels if fits else ())


def _fill_column(file: SessionFile, place: int, column: DescribedColumn) -> None:
    """Put what is stated of a column into its cells: by the user's word it is public, as if it were typed."""
    cells = grid_cells(column_input(column)) if column.kind else {"use": column.used}
    put_cells(file, place, cells)
    if column.kind:
        set_controls({cell_key(file, place, KIND_CHOSEN): True})


def save_description(file: SessionFile, *, person: str, person_rows: int, filled: Collection[str]) -> None:
    """Draw the button that saves the declaration as Table Schema, without what was read off the rows.

    Args:
        file: the table.
        person: the column that identifies the person, if persons are protected.
        person_rows: maximum number of rows of a person.
        filled: columns whose domain was filled in from the rows.
    """
    rows = column_inputs(file)
    columns = [row.described() for row in rows]
    left_out = {*filled, *(each.name for each in columns if each.fault)}
    left_out |= {row.name for place, row in enumerate(rows) if is_untouched(file, place, row)}
    codes = () if is_engine_table(file) else file.table.format.missing
    schema = DataDictionary(
        columns=without_domains(columns, left_out), person=person, person_rows=person_rows, missing_codes=codes
    )
    text = write_table_schema(schema)
    st.download_button(
        "Save this description", text, key=f"{file.prefix}save-description",
        file_name=f"{PurePath(file.table.name).stem}.schema.json", mime="application/json", on_click="ignore",
        help="A Table Schema (JSON): kinds, bounds, labels and who is protected. No rows are in it.",
    )  # fmt: skip
    if filled:
        st.caption(f"It leaves out what was filled in from the data: {plural(len(filled), 'column')}.")
    if not is_engine_table(file):  # the next user of the tab may have no right to see a database's columns
        is_declared = bool(person) or any(each.kind or not each.used for each in schema.columns)
        _store_in_tab(file, text if is_declared else "")


def _store_in_tab(file: SessionFile, text: str) -> None:
    """Store a description in the tab; if there is none yet, restore that of a file of this name."""
    if len(text) > MAX_STORED:
        st.caption("This description is too large to be kept after a reload. Save it.")
    item = TabItem(item=DESCRIPTION_ITEM, key=f"{file.prefix}description-tab", name=file.table.name)
    item.store(text, at_most=MAX_STORED, on_restored=partial(_restore, file.turn))


def _restore(turn: int, stored: str) -> None:
    """Callback: fill the grid, if nothing is declared yet, from what the tab stored."""
    file = session_file()
    if file is not None and file.turn == turn:
        content = stored.encode(errors="replace")
        _open(file, content, name="description.json", sentence="Your description is restored. Check it.")
