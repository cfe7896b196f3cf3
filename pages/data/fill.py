"""Filling in the grid from the data: for public rows, or for a steward who is told what it costs."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import exactly
from dpcore.data.dates import written
from dpcore.data.reading.tables import NUMERIC_SHARE, Table
from pages.data.grid import CATEGORY, DATES, NUMBER, TOLD, USUAL, YES_NO, cell_key, lines, start_anew, typed
from pages.data.upload import HeldFile
from pages.shell.session import Input, fill_in, is_steward, still_filled
from pages.shell.status import may_show

MOST_FILLED = 100
"""Labels filled in from the data; a longer list is no list of categories."""
MOST_DAYS = 1000
"""Between the first and the last date that are filled in day by day; months otherwise."""
SLACK = 1e-6
"""Between the bounds of a column that holds one number, as a share of it: far more than the finest grid needs."""


def offer_to_fill_in(held: HeldFile) -> None:
    """Offer to take from the data what nobody has typed."""
    if held.private and not is_steward():
        return
    if st.button(
        "Fill in from the data",
        help="Reads the columns that are to be used and lack bounds or labels: smallest and largest, or labels.",
    ):
        with st.spinner("Reading the columns.", show_time=True):
            empty = _fill(held)
        start_anew(held)
        st.session_state[f"{held.prefix}empty"] = empty
        st.rerun()
    if st.session_state.get(f"{held.prefix}empty"):
        st.caption("A column without a value has nothing to fill in.")
    if held.private and still_filled(held.prefix) and may_show(held):
        st.warning(
            "Bounds or labels were read from the private data. They reveal some of them wherever they are shown, and "
            "no guarantee covers that: type what is known from elsewhere before you release anything."
        )


def _fill(held: HeldFile) -> bool:
    """Read what columns lack into their cells; whether one of them has no value at all."""
    empty = False
    for place, row in enumerate(typed(held)):
        if not row.use or not row.lacking:
            continue
        told = st.session_state.get(cell_key(held, place, TOLD))
        found = suggested(held.table, row.name, kind=row.kind if told else None)
        empty |= not found
        if told:  # somebody said what kind it is: that was not read
            found = {name: value for name, value in found.items() if name != "kind"}
        fill_in(
            {cell_key(held, place, name): value for name, value in found.items()},
            usual={cell_key(held, place, name): USUAL[name] for name in found},
            private=held.private,
        )
    return empty


def suggested(table: Table, column: str, *, kind: str | None = None) -> dict[str, Input]:
    """What the column's values suggest, by the cell of the grid; nothing where there is no value.

    ``kind`` is what somebody said is in it; None where nobody did.
    """
    if kind == NUMBER or (kind is None and table.looks_numeric(column)):
        return _bounds(table, column)
    present = int(table.present(column).sum())
    if kind is None and present and int((table.truths(column) < 2).sum()) == present:
        return {"kind": YES_NO}
    step = DATES.get(kind or "")
    if step or kind is None:
        days = table.periods(column, step or "day")
        fit = int(np.isfinite(days).sum())
        if step and fit:
            return _ends(table, column, step)
        if fit and fit >= NUMERIC_SHARE * present:
            return _ends(table, column, "day" if np.nanmax(days) - np.nanmin(days) <= MOST_DAYS else "month")
        if step:
            return {}
    labels = [label for label in table.distinct(column, MOST_FILLED) if not {"\n", "\r"} & set(label)]
    return {"kind": CATEGORY, "labels": lines(labels)} if labels else {}


def _bounds(table: Table, column: str) -> dict[str, Input]:
    """Smallest and largest number, a little apart where they are one."""
    numbers = table.numbers(column)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return {}
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        high = low + max(1.0, SLACK * abs(low))  # one alone is more than nothing to a large number
    return {"kind": NUMBER, "from": exactly(low), "to": exactly(high)}


def _ends(table: Table, column: str, step: str) -> dict[str, Input]:
    """First and last unit of the dates."""
    units = table.periods(column, step)
    first, last = int(np.nanmin(units)), int(np.nanmax(units))
    return {"kind": f"date: {step}", "from": written(first, step), "to": written(max(last, first + 1), step)}
