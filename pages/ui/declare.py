"""Declaring the domain of an uploaded column: typed by a person, never silently read from the data."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import ParameterError
from dpcore.domains import Categories, Line
from dpcore.intake import clean_name
from dpcore.sources import Uploaded
from pages.ui.session import is_steward, remember_upload, upload
from pages.ui.upload import HeldFile

NUMBER, CATEGORY = "number", "category"
KINDS = {NUMBER: "A number", CATEGORY: "A category"}
NEAREST, MISSING = "nearest", "missing"
OUTSIDE = {NEAREST: "Count as the nearest bound", MISSING: "Count as missing"}
MOST_FILLED = 100
"""Labels filled in from the data; a longer list is no list of categories."""


def declare(held: HeldFile) -> None:
    """Ask for the column and its domain, and put them to use."""
    column = st.selectbox("Column", held.table.columns, key=f"{held.prefix}column", persist_state="session")
    # Each column keeps its own answers.
    prefix = f"{held.prefix}{held.table.columns.index(column)}-"
    _fill_in(held, column, prefix)
    kind = st.radio(
        "What is in it?", list(KINDS), format_func=lambda key: KINDS[key], key=f"{prefix}kind",
        horizontal=True, persist_state="session",
    )  # fmt: skip
    try:
        domain = _number(prefix) if kind == NUMBER else _category(prefix)
    except ParameterError as problem:
        st.error(str(problem))
        return
    if domain is None:
        return
    source = Uploaded(
        table=held.table,
        column_name=column,
        declared=domain,
        private=held.private,
        digest=held.digest,
        bounds_from_data=held.private and _still_filled(prefix),
    )
    own = upload()
    if own is not None and own.key == source.key:
        st.caption("In use as declared here.")
        return
    if own is not None:
        st.caption(f"In use so far: the column “{own.column_name}” as it was declared, below.")
    if st.button("Use this column", type="primary"):
        with st.spinner("Reading the column.", show_time=True):
            source.dataset()
        remember_upload(source)
        st.rerun()


def _number(prefix: str) -> Line | None:
    """Bounds, grid, unit; None until both bounds are there."""
    bounds = st.columns(2)
    low, high = (
        place.number_input(
            f"{side} bound", value=None, step=None, format="%g", key=f"{prefix}{side}", persist_state="session",
            placeholder="type it",
            help="What a stranger could say before seeing the data: 0 to 120 years, 0 to 168 hours a week.",
        )
        for place, side in zip(bounds, ("Lower", "Upper"), strict=True)
    )  # fmt: skip
    grid, unit_place = st.columns(2)
    bits = grid.slider(
        "Grid: 2ᵈ cells, d", 1, 14, 10, key=f"{prefix}bits", persist_state="session",
        help="Bits of the grid, the paper's d. Values in one cell are told apart by nothing.",
    )  # fmt: skip
    unit = unit_place.text_input(
        "Unit", max_chars=20, key=f"{prefix}unit", persist_state="session", placeholder="years, USD, …"
    )
    outside = st.radio(
        "Values out of bounds", list(OUTSIDE), format_func=lambda key: OUTSIDE[key], key=f"{prefix}outside",
        horizontal=True, persist_state="session",
        help="Rows are never dropped: n is public, and one row less would show that a value did not fit.",
    )  # fmt: skip
    if low is None or high is None:
        st.caption("Type both bounds to go on. They are public: never take them from private data.")
        return None
    return Line(
        low=float(low), high=float(high), bits=int(bits), missing=True, clamp=outside != MISSING, unit=clean_name(unit)
    )


def _category(prefix: str) -> Categories | None:
    """Labels, one a line; None until there is one."""
    text = st.text_area(
        "Labels, one per line", key=f"{prefix}labels", persist_state="session", placeholder="no\nyes",
        help="Written exactly as in the file. Every other value, and a missing one, falls in one more cell.",
    )  # fmt: skip
    labels = tuple(line.strip() for line in (text or "").splitlines() if line.strip())
    if not labels:
        st.caption("Type the labels to go on. They are public: never take them from private data.")
        return None
    return Categories(labels=labels)


def _fill_in(held: HeldFile, column: str, prefix: str) -> None:
    """Offer to take the domain from the data: for public data, or to a steward who is told what it costs."""
    if held.private and not is_steward():
        _take_back(prefix)
        return
    if st.button("Fill in from the data", help="Reads this column's smallest and largest number, or its labels."):
        with st.spinner("Reading the column.", show_time=True):
            found = _domain_of(held, column)
        st.session_state.update({f"{prefix}{name}": value for name, value in found.items()})
        st.session_state[f"{prefix}filled"] = found
    if held.private and _still_filled(prefix):
        st.warning(
            "This domain was read from the private data. It reveals some of them wherever it is shown, and no "
            "guarantee covers that: type bounds or labels known from elsewhere before you release anything."
        )


def _take_back(prefix: str) -> None:
    """What only the steward may see goes from the inputs and from use."""
    if _still_filled(prefix):
        # Emptied, not removed: the browser would keep, and send again, what it shows.
        st.session_state.update({f"{prefix}Lower": None, f"{prefix}Upper": None, f"{prefix}labels": ""})
        del st.session_state[f"{prefix}filled"]
    own = upload()
    if own is not None and own.bounds_from_data:
        remember_upload(None)
        st.rerun()


def _still_filled(prefix: str) -> bool:
    """Whether any bound, or the labels, are still what was read from the data."""
    found = st.session_state.get(f"{prefix}filled", {})
    return any(st.session_state.get(f"{prefix}{name}") == value for name, value in found.items() if name != "kind")


def _domain_of(held: HeldFile, column: str) -> dict[str, str | float]:
    """What the column's values suggest, by the name of the input."""
    table = held.table
    if table.looks_numeric(column):
        numbers = table.numbers(column)
        low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        return {"kind": NUMBER, "Lower": low, "Upper": high if high > low else low + 1}
    labels = [label for label in table.distinct(column, MOST_FILLED) if "\n" not in label]
    return {"kind": CATEGORY, "labels": "\n".join(labels)}
