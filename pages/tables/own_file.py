"""Columns of a user's file as yes/no attributes or decision lists: typed by the user, never read from private rows."""

from __future__ import annotations

import re

import streamlit as st

from dpcore.core import ParameterError, read_number
from dpcore.core.sizes import MAX_ATTRIBUTES, MAX_LIST_VARIABLES
from dpcore.data.lists import ListColumns
from dpcore.data.predicates import Predicate
from dpcore.data.readings import YesNo
from dpcore.data.sources import Source
from pages.data.upload import SessionFile

MAX_COLUMNS = 24
OTHERS = re.compile(r"(>|=>|<=|=<|≤)\s*[-−+]?[0-9.]+")
"""Comparisons that are no predicate; text behind the sign that is no number may be a label."""
QUOTED = re.compile(r'"(.+)"|“(.+)”')
"""A value in quotes, which would otherwise be a comparison: files have labels such as >30 and <=50K."""
VALUE = "Put a value that begins with such a sign in quotes."
HELP = (
    "Type values or thresholds, separated by commas. A word such as yes makes the attribute “column is "
    f"yes”. “>= 40” makes “column at least 40”, “< 18” makes “column below 18”. {VALUE} For a missing "
    "value all attributes are no, and its row counts in n."
)


def own_predicates(file: SessionFile) -> Source | None:
    """Draw the controls for predicates of the file; return them, or None until two are named."""
    columns = st.multiselect(
        "Columns",
        file.table.columns,
        key=f"{file.prefix}cube-columns",
        max_selections=MAX_COLUMNS,
        persist_state="session",
    )
    predicates: list[Predicate] = []
    for column in columns:
        predicates += _predicates(file, column)
    unique = {predicate.name: predicate for predicate in predicates}
    if len(unique) < 2:
        st.caption("Type at least two attributes.")
        return None
    if len(unique) > MAX_ATTRIBUTES:
        raise ParameterError(f"At most {MAX_ATTRIBUTES} attributes are possible; you typed {len(unique)}.")
    return Source(origin=file.origin, reading=YesNo(predicates=tuple(unique.values())))


def _predicates(file: SessionFile, column: str) -> list[Predicate]:
    """Draw the control for one column; return the predicates that its text names."""
    text = st.text_input(
        f"{column}: values that mean yes",
        value="1",
        help=HELP,
        persist_state="session",
        max_chars=400,
        key=f"{file.prefix}cube-{file.table.columns.index(column)}",
    )
    return [parse_predicate(column, part.strip()) for part in str(text).split(",") if part.strip()]


def parse_predicate(column: str, part: str) -> Predicate:
    """Return the predicate of a text: “>= 40”, “< 18”, or a value, which may stand in quotes."""
    if quoted := QUOTED.fullmatch(part):
        return Predicate(column=column, value=quoted[1] or quoted[2])
    part = f">={part[1:]}" if part.startswith("≥") else part
    if OTHERS.fullmatch(part):  # no row has it as a value
        raise ParameterError(f"Write a threshold as “>= 40” or “< 18”. {VALUE}")
    for sign, kind in ((">=", "at least"), ("<", "below")):
        if part.startswith(sign):
            try:
                number = read_number(part.removeprefix(sign).replace("−", "-"))
                return Predicate(column=column, kind=kind, value=number)
            except ValueError:
                raise ParameterError(f"After “{sign}” a number is needed. {VALUE}") from None
    return Predicate(column=column, value=part)


def own_lists(file: SessionFile, rules: int) -> Source | None:
    """Draw the controls for decision lists of so many rules; return them, or None until all are named."""
    columns, needed = file.table.columns, 2 * rules + 1
    if len(columns) < needed:
        st.caption(
            f"Lists of {rules} rules need {needed} columns: a condition and an output per rule, and the "
            f"final output. Your file has {len(columns)}."
        )
        return None
    text = st.text_input(
        "Variables of the conditions",
        placeholder="rural, near home",
        help="Type variables, separated by commas. A cell “rural” or “not rural” is a condition. Any other cell "
        "means no rule, and its row counts in n.",
        persist_state="session",
        max_chars=400,
        key=f"{file.prefix}lists-variables",
    )
    with st.popover("Columns of the rules", width="stretch"):
        parts = [part for rule in range(1, rules + 1) for part in (f"if, rule {rule}", f"then, rule {rule}")]
        chosen = [_column(file, part, place) for place, part in enumerate([*parts, "otherwise"])]
    variables = tuple(dict.fromkeys(name.strip() for name in str(text).split(",") if name.strip()))
    if not variables:
        st.caption("Name the variables of the conditions.")
        return None
    if len(variables) > MAX_LIST_VARIABLES:
        raise ParameterError(f"At most {MAX_LIST_VARIABLES} variables are possible; you typed {len(variables)}.")
    pairs = tuple(zip(chosen[:-1:2], chosen[1:-1:2], strict=True))
    reading = ListColumns(variables=variables, rules=pairs, otherwise=chosen[-1])
    return Source(origin=file.origin, reading=reading)


def _column(file: SessionFile, part: str, place: int) -> str:
    """Draw the control for the column of one part; return its name."""
    return str(
        st.selectbox(part, file.table.columns, index=place, key=f"{file.prefix}lists-{part}", persist_state="session")
    )
