"""The format in which a file was read, and the number of cells that fit their declaration, before any charge."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpcore.data.declared import Unfit, unfit_cells
from dpcore.data.reading.described import format_sentence
from dpcore.data.readings import Reading
from dpcore.data.sources import Source, Uploaded
from dprelease.engines.tables import CountedTable
from pages.charts.words import as_code
from pages.data.upload import plural
from pages.shell.ledger.door import admitted
from pages.shell.ledger.held import ledger
from pages.shell.present import presentation_requested
from pages.shell.private.chip import escaped
from pages.shell.session import BARRED, FIT_ASKED, SAW_TRUE_VALUES, WAITS, remembered
from pages.shell.status import warn_of_true_values

NOT_FITTING = (
    "Cells that do not fit their declaration count as missing: words where a number is declared, a number or a date "
    "that is written otherwise, another label."
)
COUNT = "Count the cells that do not fit"
HELP = "Reads the true values of these columns, for your screen alone."
NOTED = "The ledger notes it as access to true values, and every later certificate says so."
"""Further help in a data owner's session with a ledger, where the access is recorded at once."""
MAX_COLUMNS = 12


def show_format(source: Source) -> None:
    """Show how a file was read and how unfit cells are treated; independent of the values."""
    origin = source.origin
    if isinstance(origin, Uploaded):
        table = origin.table
        counted = isinstance(table, CountedTable)
        # Codes for missing values and the separator are user input.
        description = "" if counted else escaped(format_sentence(table.format, header=table.header))
        st.caption(f"{description} {NOT_FITTING}".strip())


def offer_unfit_count(source: Source, readings: Sequence[Reading], *, key: str) -> None:
    """Show the format and offer to count the cells that do not fit; in public rows they are counted at once.

    Args:
        source: the rows.
        readings: columns that are read.
        key: of the button, different on each page.
    """
    show_format(source)
    origin = source.origin
    if not isinstance(origin, Uploaded) or isinstance(origin.table, CountedTable):
        return
    count_key = f"unfit|{origin.key}|{tuple(readings)!r}"
    requested = count_key in FIT_ASKED.value
    if origin.private and (not requested or WAITS.value or presentation_requested()):
        if not BARRED.value:
            is_recorded = admitted() and ledger() is not None
            st.button(
                COUNT,
                key=key,
                on_click=_request_count,
                args=(count_key,),
                help=f"{HELP} {NOTED}" if is_recorded else HELP,
            )
        return
    if origin.private:
        warn_of_true_values()
    _show_counts(remembered(count_key, lambda: unfit_cells(readings, origin.table)))


def _request_count(count_key: str) -> None:
    """Callback: the next run records the access before it counts; if it cannot, nothing is counted."""
    SAW_TRUE_VALUES.value = True
    FIT_ASKED.value = {*FIT_ASKED.value, count_key}


def _show_counts(unfit: Sequence[Unfit]) -> None:
    """Show a line for each column, those with the most unfit cells first."""
    for each in sorted(unfit, key=lambda one: -one.wrong)[:MAX_COLUMNS]:
        name, cells = as_code(each.column), plural(each.cells, "cell")
        if each.wrong + each.empty == each.cells:
            st.warning(f"{name}: none of {cells} fits its declaration. What is released of it would be noise alone.")
        else:
            st.caption(f"{name}: {each.wrong:,} of {cells} do not fit and count as missing; {each.empty:,} are empty.")
    if len(unfit) > MAX_COLUMNS:
        st.caption(f"And {plural(len(unfit) - MAX_COLUMNS, 'column')} with as few such cells or fewer.")
