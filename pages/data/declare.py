"""Declaring the domain of an uploaded column, or of two: typed by a person, never silently read from the data."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Domain, ParameterError
from dpcore.data.domains import Categories, Grid, Line
from dpcore.data.reading.intake import clean_name
from dpcore.data.reading.tables import BLANKS
from dpcore.data.readings import Columns
from dpcore.data.sources import SIDE_BITS, Source
from pages.data.upload import HeldFile
from pages.shell.session import Input, fill_in, is_steward, remember_upload, remembered, still_filled, upload
from pages.shell.status import may_show

NUMBER, CATEGORY, PAIR = "number", "category", "pair"
KINDS = {NUMBER: "A number", CATEGORY: "A category", PAIR: "Two numbers, with another column"}
NEAREST, MISSING = "nearest", "missing"
OUTSIDE = {NEAREST: "Count as the nearest bound", MISSING: "Count as missing"}
MOST_FILLED = 100
"""Labels filled in from the data; a longer list is no list of categories."""
SLACK = 1e-6
"""Between the bounds of a column that holds one number, as a share of it: far more than the finest grid needs."""


def declare(held: HeldFile) -> None:
    """Ask for the column and its domain, and put them to use."""
    column = st.selectbox("Column", held.table.columns, key=f"{held.prefix}column", persist_state="session")
    # Each column keeps its own answers.
    prefix = f"{held.prefix}{held.table.columns.index(column)}-"
    _fill_in(held, column, prefix, paired=st.session_state.get(f"{prefix}kind") == PAIR)
    kind = st.radio(
        "What is in it?", list(KINDS), format_func=lambda key: KINDS[key], key=f"{prefix}kind",
        horizontal=True, persist_state="session",
    )  # fmt: skip
    second = _second_column(held, column, prefix) if kind == PAIR else None
    try:
        domain = _domain(kind, column, prefix, second)
    except ParameterError as problem:
        st.error(str(problem))
        return
    if domain is None:
        return
    filled = held.private and any(map(still_filled, (prefix, *([second[1]] if second else []))))
    reading = Columns(names=(column, second[0]) if second else (column,), on=domain)
    source = Source(origin=held.origin, reading=reading, bounds_from_data=filled)
    own = upload()
    if own is not None and own.key == source.key:
        st.caption("Ready to use, as declared here.")
        return
    if own is not None:
        st.caption(f"Ready so far: “{own.column}” as it was declared, below.")
    if st.button("Use this column", type="primary"):
        with st.spinner("Reading the column.", show_time=True):
            dataset = source.dataset()
        remember_upload(source)
        remembered(f"dataset|{source.key}", lambda: dataset)
        st.rerun()


def _domain(kind: str, column: str, prefix: str, second: tuple[str, str] | None) -> Domain | None:
    """What was declared; None until it is all there. ``second`` is another column and where its answers are kept."""
    if kind == CATEGORY:
        return _category(prefix)
    if kind == NUMBER:
        return _number(prefix)
    if second is None:
        st.caption("Two numbers need a file with two columns.")
        return None
    lines = [
        _number(place, of=of, bits_key="side", most_bits=6, usual_bits=SIDE_BITS)
        for place, of in ((prefix, ", first column"), (second[1], ", second column"))
    ]
    if lines[0] is None or lines[1] is None:
        return None
    return Grid(first=lines[0], second=lines[1], names=(column, second[0]))


def _second_column(held: HeldFile, column: str, prefix: str) -> tuple[str, str] | None:
    """Another column of the file, and where answers about it are kept; the first is drawn from left to right."""
    others = [each for each in held.table.columns if each != column]
    if not others:
        return None
    second = st.selectbox("Second column", others, key=f"{prefix}second", persist_state="session")
    place = f"{prefix}{held.table.columns.index(second)}-"
    _fill_in(held, second, place, paired=True, label="Fill in the second column’s from the data")
    return second, place


def _number(
    prefix: str, *, of: str = "", bits_key: str = "bits", most_bits: int = 14, usual_bits: int = 10
) -> Line | None:
    """Bounds, grid, unit of a column; None until both bounds are there."""
    bounds = st.columns(2)
    low, high = (
        place.number_input(
            f"{side} bound{of}", value=None, step=None, format="%g", key=f"{prefix}{side}", persist_state="session",
            placeholder="type it",
            help="What a stranger could say before seeing the data: 0 to 120 years, 0 to 168 hours a week.",
        )
        for place, side in zip(bounds, ("Lower", "Upper"), strict=True)
    )  # fmt: skip
    grid, unit_place = st.columns(2)
    bits = grid.slider(
        f"Grid: 2ᵈ cells, d{of}", 1, most_bits, usual_bits, key=f"{prefix}{bits_key}", persist_state="session",
        help="Bits of the grid, the paper's d. Values in one cell are told apart by nothing.",
    )  # fmt: skip
    unit = unit_place.text_input(
        f"Unit{of}", max_chars=20, key=f"{prefix}unit", persist_state="session", placeholder="years, USD, …"
    )
    outside = st.radio(
        f"Values out of bounds{of}", list(OUTSIDE), format_func=lambda key: OUTSIDE[key], key=f"{prefix}outside",
        horizontal=True, persist_state="session",
        help="Rows are never dropped: one row less would show that a value did not fit.",
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
    labels = split_labels(text or "")
    if not labels:
        st.caption("Type the labels to go on. They are public: never take them from private data.")
        return None
    return Categories(labels=labels)


def split_labels(text: str) -> tuple[str, ...]:
    """One label a line, of those that are not blank. Lines and blanks are what the file's reader takes them to be."""
    lines = (line.strip(BLANKS) for line in text.replace("\r\n", "\n").split("\n"))
    return tuple(line for line in lines if line)


def _fill_in(
    held: HeldFile, column: str, prefix: str, *, paired: bool = False, label: str = "Fill in from the data"
) -> None:
    """Offer to take the domain from the data: for public data, or to a steward who is told what it costs.

    ``paired`` says that the column is one of two numbers, whatever else is in it.
    """
    if held.private and not is_steward():
        return
    if st.button(label, help="Reads this column's smallest and largest number, or its labels."):
        with st.spinner("Reading the column.", show_time=True):
            found = _domain_of(held, column, paired=paired)
        usual: dict[str, Input] = {"kind": NUMBER, "labels": "", "Lower": None, "Upper": None}
        fill_in(
            {f"{prefix}{name}": value for name, value in found.items()},
            usual={f"{prefix}{name}": value for name, value in usual.items()},
            private=held.private,
        )
    if held.private and still_filled(prefix) and may_show(held):
        st.warning(
            "This domain was read from the private data. It reveals some of them wherever it is shown, and no "
            "guarantee covers that: type bounds or labels known from elsewhere before you release anything."
        )


def _domain_of(held: HeldFile, column: str, *, paired: bool) -> dict[str, str | float]:
    """What the column's values suggest, by the name of the input."""
    table = held.table
    if paired or table.looks_numeric(column):
        numbers = table.numbers(column)
        finite = numbers[np.isfinite(numbers)]
        if not len(finite):
            st.caption("There are no numbers in this column.")
            return {}
        low, high = float(finite.min()), float(finite.max())
        if low == high:
            high = low + max(1.0, SLACK * abs(low))  # one alone is more than nothing to a large number
        bounds: dict[str, str | float] = {"Lower": low, "Upper": high}
        return bounds if paired else {"kind": NUMBER, **bounds}
    labels = [label for label in table.distinct(column, MOST_FILLED) if not {"\n", "\r"} & set(label)]
    if not labels:
        st.caption("This column is empty: there is nothing to fill in.")
        return {}
    return {"kind": CATEGORY, "labels": "\n".join(labels)}
