"""The Format group: the settings for reading a file, which are public and never taken from private values."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import streamlit as st

from dpcore.core import ParameterError
from dpcore.data.reading.format import DAY_FIRST, ENCODINGS, LOCAL, MONTH_FIRST, NAMED_SEPARATORS, UTC, Format
from pages.shell.state import SessionKey

FORMAT = SessionKey("format", Format())
"""The settings."""
DECIMAL_NAMES = {"": "guess", ".": "point: 1,210.80", ",": "comma: 1.210,80"}
ORDER_NAMES = {"": "guess if unambiguous", DAY_FIRST: "day first: 31/12/2024", MONTH_FIRST: "month first: 12/31/2024"}
DAY_NAMES = {UTC: "in UTC", LOCAL: "as written"}


def ask_format(turn: int) -> Format:
    """Draw the format's controls and return the settings; those of the whole file apply at the next upload."""
    previous = FORMAT.value
    names = {character: name for name, character in NAMED_SEPARATORS.items()}
    initial = {
        "separator": names.get(previous.separator, previous.separator),
        "decimal": previous.decimal,
        "order": previous.date_order,
        "encoding": previous.encoding,
        "skip": "" if previous.skip is None else str(previous.skip),
        "missing": " ".join(previous.missing),
        "days": previous.days,
        "sheet": "" if previous.sheet == 1 else str(previous.sheet),
    }
    keys = {name: f"{FORMAT}-{turn}-{name}" for name in initial}
    for name, value in initial.items():
        SessionKey(keys[name], value).setdefault(value)
    with st.expander("Format"):
        first, second = st.columns(2)
        decimal = first.selectbox(
            "Decimal sign", list(DECIMAL_NAMES), format_func=DECIMAL_NAMES.__getitem__, key=keys["decimal"],
            help="The other sign may separate thousands. For private rows, only the separator is used to guess it.",
        )  # fmt: skip
        order = second.selectbox(
            "Date order", list(ORDER_NAMES), format_func=ORDER_NAMES.__getitem__, key=keys["order"],
            help="For dates such as 01/02/2021. For private rows it is never guessed.",
        )  # fmt: skip
        missing = first.text_input(
            "Codes for missing", key=keys["missing"], placeholder="-99 9999",
            help="Separate the codes by spaces. They count as missing in every column.",
        )  # fmt: skip
        days = second.selectbox(
            "Day of times with a UTC offset", list(DAY_NAMES), format_func=DAY_NAMES.__getitem__, key=keys["days"],
            help="A time without a UTC offset keeps the day as written.",
        )  # fmt: skip
        st.caption("These settings are used when you upload a file:")
        first, second, third, fourth = st.columns(4)
        separator = first.text_input(
            "Separator", key=keys["separator"], placeholder="guess", help="A character or: tab."
        )
        encoding = second.selectbox(
            "Encoding", ["", *ENCODINGS], format_func=lambda name: name or "UTF-8, or as marked", key=keys["encoding"]
        )
        skip = third.text_input(
            "Lines to skip", key=keys["skip"], placeholder="guess",
            help="Lines above the header. For private rows they are never guessed, because a record could be "
                "mistaken for the header.",
        )  # fmt: skip
        sheet = fourth.text_input(
            "Sheet", key=keys["sheet"], placeholder="1", help="Which sheet of a workbook, counted from 1."
        )
        try:
            if sheet and not (sheet.isdecimal() and len(sheet) < 6):
                raise ParameterError("The sheet must be a whole number.")
            if skip and not (skip.isdecimal() and len(skip) < 5):
                raise ParameterError("Lines to skip must be a whole number.")
            settings = Format(
                separator=NAMED_SEPARATORS.get(separator.strip(), separator.strip(" ")), decimal=decimal,
                date_order=order, encoding=encoding, skip=int(skip) if skip else None,
                missing=tuple(dict.fromkeys(missing.replace("−", "-").split())), days=days,
                sheet=int(sheet) if sheet else 1,
            )  # fmt: skip
        except ParameterError as problem:
            st.error(str(problem))
            return previous
    FORMAT.value = settings
    return settings


def add_missing_codes(turn: int, codes: Sequence[str]) -> None:
    """Add codes for missing values to the user's; before this turn's controls are drawn, or in a callback."""
    typed = SessionKey(f"{FORMAT}-{turn}-missing", "")
    typed.value = " ".join(dict.fromkeys([*typed.value.split(), *codes]))


def cell_settings(settings: Format) -> Format:
    """Return the settings that apply to cells, and so to a file that is already loaded."""
    return dataclasses.replace(settings, separator="", encoding="", skip=None, sheet=1)
