"""Suggest domains: from names alone, or from the data for public rows and for a steward, who is warned."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpcore.core import exactly
from dpcore.data.dates import written
from dpcore.data.dictionaries.description import CATEGORY, MAX_WHOLE, NUMBER, NUMBERS, WHOLE, YES_NO
from dpcore.data.dictionaries.labels import labels_text, split_labels
from dpcore.data.dictionaries.names import is_date_name, suggest_from_name
from dpcore.data.reading.cell_parsing import HOUR, SLASHED
from dpcore.data.reading.tables import NUMERIC_SHARE, Table
from pages.charts.words import as_code
from pages.data.grid import (
    DATES,
    DEFAULTS,
    KIND_CHOSEN,
    cell,
    cell_key,
    column_input,
    column_inputs,
    grid_cells,
    is_untouched,
    join_names,
    put_cells,
    reset_grid,
)
from pages.data.upload import SessionFile
from pages.shell.private.steward import Input, fill_in, is_steward, still_filled
from pages.shell.state import SessionKey
from pages.shell.status import may_show

MAX_FILLED = 1000
"""Maximum number of labels read from the data; the page shows how many rows have others."""
MAX_SENTENCES = 8
SERIALS = (20_000, 60_000)
"""Excel's serial numbers of 1954 to 2064."""
MAX_DAYS = 1000
"""Maximum number of days for which the unit is a day; above, it is a month."""
SLACK = 1e-6
"""Width of the bounds of a constant column, relative to its value: far more than the finest grid needs."""


def offer_names(file: SessionFile) -> None:
    """Offer what the names of a private table's columns suggest, and mark the columns in which it stands.

    A file of SPSS or Stata, private or not, also suggests its value labels: they are in its dictionary, not its rows.
    """
    labels = file.table.value_labels
    if not file.private and not any(labels):
        return
    rows = column_inputs(file)
    suggested = {place: cells for place, row in enumerate(rows) if (cells := _cells_from_name(row.name))}
    suggested |= {place: {"kind": CATEGORY, "labels": labels_text(each)} for place, each in enumerate(labels) if each}
    untouched = [place for place in suggested if rows[place].use and is_untouched(file, place, rows[place])]
    from_names = SessionKey[Sequence[int]](f"{file.prefix}from-names", ())
    if untouched and st.button(
        f"Suggest from the names{' and value labels' * any(labels)}",
        help="Uses the file's dictionary alone: the names of the columns and their value labels, if it has any. No "
        "value of a row is read.",
    ):
        for place in untouched:
            put_cells(file, place, suggested[place])
        from_names.value = [*from_names.value, *untouched]
        reset_grid(file)
        st.rerun()
    standing = [
        f"{as_code(rows[place].name)} ({rows[place].kind if rows[place].use else 'not used'})"
        for place in from_names.value
        if all(cell(file, place, name) == value for name, value in suggested[place].items())
    ]
    if standing:
        source = "name or the value labels" if any(labels) else "name"
        st.caption(f"From the {source}, check it: {join_names(standing)}.")


def _cells_from_name(name: str) -> dict[str, Input]:
    """Return the cells that a name suggests, of which each differs from what the grid has at first."""
    suggestion = suggest_from_name(name)
    cells = grid_cells(column_input(suggestion)) if suggestion else {}
    return {name: value for name, value in cells.items() if value != DEFAULTS[name]}


def offer_to_fill_in(file: SessionFile) -> None:
    """Offer to fill in missing bounds and labels from the data."""
    if file.private and not is_steward():
        return
    notes = SessionKey[Sequence[str]](f"{file.prefix}said", ())
    if st.button(
        "Fill in from the data",
        help="Reads the used columns without bounds or labels: the smallest and largest value, or the labels.",
    ):
        with st.spinner("Reading the columns.", show_time=True):
            notes.value = _fill(file)
        reset_grid(file)
        st.rerun()
    if notes.value and may_show(file):  # may_show records access, so it is called only if there is something to show
        for sentence in notes.value:
            st.caption(sentence)
    if file.private and still_filled(file.prefix) and may_show(file):
        st.warning(
            "These bounds or labels come from the private data and reveal some of it. No guarantee covers "
            "that. Before you release, type bounds that you know from another source."
        )


def _fill(file: SessionFile) -> list[str]:
    """Fill the missing cells from the data; return remarks on guesses, omissions and failures."""
    notes = list[str]()
    for place, row in enumerate(column_inputs(file)):
        if not row.use or not row.missing_inputs:
            continue
        kind_chosen = SessionKey(cell_key(file, place, KIND_CHOSEN), False).value
        suggestion = suggest_domain(file.table, row.name, kind=row.kind if kind_chosen else None)
        if sentence := remark(file.table, row.name, suggestion, kind=row.kind if kind_chosen else None):
            notes.append(f"{as_code(row.name)}: {sentence}")
        if kind_chosen:  # the user chose the kind: it was not read from the data
            suggestion = {name: value for name, value in suggestion.items() if name != "kind"}
        fill_in(
            {cell_key(file, place, name): value for name, value in suggestion.items()},
            usual={cell_key(file, place, name): DEFAULTS[name] for name in suggestion},
            private=file.private,
        )
    return notes[:MAX_SENTENCES] + [f"And {len(notes) - MAX_SENTENCES:,} more columns."] * (len(notes) > MAX_SENTENCES)


def remark(table: Table, column: str, suggestion: dict[str, Input], *, kind: str | None) -> str:
    """Return a remark on a column that was filled in or could not be; empty if nothing was guessed."""
    present = int(table.present(column).sum())
    if not suggestion:
        if not present:
            return "it has no values."
        if kind in DATES:
            return "no cell is a date. If dates are written 01/02/2021, choose the date order in Format."
        return "no cell is a number." if kind in NUMBERS else "its bounds or labels cannot be filled in."
    labels = split_labels(str(suggestion.get("labels") or ""))
    if labels:
        codes = table.labels(column, labels)
        other_rows = int((codes == len(labels)).sum()) - (table.row_count - present)
        if other_rows:
            return f"the {len(labels):,} most frequent labels; {other_rows:,} further rows become “anything else”."
        if table.format.date_order == "" and _are_dates_without_order(labels):
            return "its cells look like dates: choose the date order in Format, then fill in again."
    if kind is None and str(suggestion.get("kind", "")) in DATES and table.is_mostly_numeric(column):
        return "its whole numbers were read as dates; choose “number” if they are not."
    return ""


def _are_dates_without_order(labels: tuple[str, ...]) -> bool:
    return sum(re.fullmatch(f"{SLASHED}{HOUR}", label) is not None for label in labels) >= NUMERIC_SHARE * len(labels)


def suggest_domain(table: Table, column: str, *, kind: str | None = None) -> dict[str, Input]:
    """Return the cells of the grid that a column's values suggest; empty if it has no value.

    ``kind`` is the user's choice; None without one.
    """
    if kind in NUMBERS or (kind is None and table.is_mostly_numeric(column)):
        dates = kind is None and _written_as_numbers(table, column)
        return _days(table, column) if dates else _bounds(table, column, kind=kind)
    present = int(table.present(column).sum())
    if kind is None and present and int((table.truths(column) < 2).sum()) == present:
        return {"kind": YES_NO}
    step = DATES.get(kind or "")
    if step or kind is None:
        days = table.periods(column, step or "day")
        dated = int(np.isfinite(days).sum())
        if step and dated:
            return _date_ends(table, column, step)
        if dated and dated >= NUMERIC_SHARE * present:
            return _days(table, column)
        if step:
            return {}
    labels = [label for label in table.distinct(column, MAX_FILLED) if not {"\n", "\r"} & set(label)]
    return {"kind": CATEGORY, "labels": labels_text(labels)} if labels else {}


def _bounds(table: Table, column: str, *, kind: str | None) -> dict[str, Input]:
    """Return the smallest and the largest number, widened if they are equal, and to whole ones if these are chosen."""
    numbers = table.numbers(column)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return {}
    low, high = float(finite.min()), float(finite.max())
    if kind == WHOLE:
        low, high = float(np.floor(low)), float(np.ceil(high))
    if low == high:
        high = low + max(1.0, SLACK * abs(low))  # for a large number, 1.0 alone could vanish in rounding
    whole = (finite == np.floor(finite)).all() and high - low < MAX_WHOLE
    return {"kind": WHOLE if whole else NUMBER, "from": exactly(low), "to": exactly(high)}


def _written_as_numbers(table: Table, column: str) -> bool:
    """Return True if whole numbers are dates: all like 20240229, or Excel's serial numbers in a date column."""
    numbers = table.numbers(column)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite) or not np.isfinite(table.periods(column, "day")[np.isfinite(numbers)]).all():
        return False
    if finite.min() >= 18_000_101 and finite.max() <= 21_991_231:
        return True
    return bool(finite.min() >= SERIALS[0] and finite.max() <= SERIALS[1] and is_date_name(column))


def _days(table: Table, column: str) -> dict[str, Input]:
    """Return the first and last day of dates, or month if they are far apart."""
    days = table.periods(column, "day")
    return _date_ends(table, column, "day" if np.nanmax(days) - np.nanmin(days) <= MAX_DAYS else "month")


def _date_ends(table: Table, column: str, step: str) -> dict[str, Input]:
    """Return the first and last unit of the dates."""
    units = table.periods(column, step)
    first, last = int(np.nanmin(units)), int(np.nanmax(units))
    return {"kind": f"date: {step}", "from": written(first, step), "to": written(max(last, first + 1), step)}
