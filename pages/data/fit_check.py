"""The format in which a file was read, and the number of cells that fit their declaration, before any charge."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpcore.data.dates import is_dates
from dpcore.data.declarations import Unfit, columns_read, unfit_cells
from dpcore.data.reading.format_text import format_sentence
from dpcore.data.readings import Reading
from dpcore.data.sources import Source, Uploaded
from dprelease.engines.tables import CountedTable
from pages.charts.words import as_code
from pages.data.upload import plural
from pages.shell.ledger.accounts import ledger
from pages.shell.ledger.roles import admitted
from pages.shell.presentation import presentation_requested
from pages.shell.private.data_in_use import escaped
from pages.shell.private.steward import BARRED, FIT_ASKED, SAW_TRUE_VALUES, WAITS
from pages.shell.private.twin import registered_rows
from pages.shell.status import warn_of_true_values
from pages.shell.tasks.memory import remember

NOT_FITTING = (
    "Cells that do not fit their declaration count as missing. Examples: words instead of a number, a date "
    "in another format, an unknown label."
)
NO_DATE_ORDER = "Dates such as 31/12/2024 count as missing until you choose the date order under Format."
COUNT = "Count the cells that do not fit"
HELP = "Accesses true values of these columns. Only your screen shows the result."
NOTED = "The ledger records this access to true values, and every later certificate states it."
"""Further help in a data owner's session with a ledger, where the access is recorded at once."""
MAX_COLUMNS = 12
FACTOR = 1.5
"""Largest factor between the number of rows and the registered n that needs no warning."""


def show_format(source: Source, readings: Sequence[Reading], *, below_card: bool) -> None:
    """Show how a file was read and how unfit cells are treated; independent of the values."""
    origin = source.origin
    if isinstance(origin, Uploaded):
        table = origin.table
        counted = isinstance(table, CountedTable)
        # Codes for missing values and the separator are user input.
        description = "" if counted else escaped(format_sentence(table.format, header=table.header))
        st.caption(f"{description} {NOT_FITTING}".strip())
        if origin.private and not counted:
            columns = [column for reading in readings for _, column in columns_read(reading)]
            no_order = not table.format.date_order and any(is_dates(column) for column in columns)
            for sentence in (*([] if below_card else table.guesses), *[NO_DATE_ORDER] * no_order):
                st.info(sentence)


def offer_unfit_count(source: Source, readings: Sequence[Reading], *, key: str, below_card: bool = False) -> None:
    """Show the format and offer to count the cells that do not fit; in public rows they are counted at once.

    Args:
        source: the rows.
        readings: columns that are read.
        key: of the button, different on each page.
        below_card: whether the file's card, which states the format, is on the page.
    """
    show_format(source, readings, below_card=below_card)
    origin = source.origin
    if not isinstance(origin, Uploaded) or isinstance(origin.table, CountedTable):
        return
    count_key = f"unfit|{origin.key}|{tuple(readings)!r}"
    requested = count_key in FIT_ASKED.value
    if origin.private and (not requested or WAITS.value or presentation_requested()):
        if not BARRED.value:
            is_recorded = admitted() and ledger() is not None
            help_text = f"{HELP} {NOTED}" if is_recorded else HELP
            st.button(COUNT, key=key, on_click=_request_count, args=(count_key,), help=help_text)
        return
    if origin.private:
        warn_of_true_values()
    unfit = remember(count_key, lambda: unfit_cells(readings, origin.table))
    n = registered_rows(origin)
    if origin.private and n and unfit and not n / FACTOR <= unfit[0].cells <= FACTOR * n:
        st.warning(
            f"The table has {plural(unfit[0].cells, 'row')}, but n = {n:,} is registered: expected errors are for n."
        )
    _show_counts(unfit)


def _request_count(count_key: str) -> None:
    """Callback: the next run records the access before it counts; if it cannot, nothing is counted."""
    SAW_TRUE_VALUES.value = True
    FIT_ASKED.value = {*FIT_ASKED.value, count_key}


def _show_counts(unfit: Sequence[Unfit]) -> None:
    """Show a line for each column, those with the most unfit cells first."""
    for each in sorted(unfit, key=lambda one: -one.wrong)[:MAX_COLUMNS]:
        name, cells = as_code(each.column), plural(each.cells, "cell")
        if each.wrong + each.empty == each.cells:
            st.warning(f"{name}: none of {cells} fits its declaration. A release of it would be only noise.")
        else:
            st.caption(f"{name}: {each.wrong:,} of {cells} do not fit and count as missing; {each.empty:,} are empty.")
    if len(unfit) > MAX_COLUMNS:
        st.caption(f"And {plural(len(unfit) - MAX_COLUMNS, 'column')} with as few such cells or fewer.")
