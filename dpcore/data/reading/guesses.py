"""Guesses of settings that the user left open: from public rows, or of rows about people from the separator alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dpcore.data.reading.cell_parsing import HOUR, SLASHED
from dpcore.data.reading.duck import Connection, run
from dpcore.data.reading.format import DAY_FIRST, DECIMALS, MONTH_FIRST, Format
from dpcore.data.reading.intake import Limits
from dpcore.data.reading.numbers import decimal_evidence

SAMPLE_ROWS = 20_000
COLUMNS_PER_QUERY = 50
ORDER_UNKNOWN = (
    f"Choose the date order to read dates such as 01/02/2021. The first {SAMPLE_ROWS:,} rows do not determine it."
)
_UNSEEN, _MISSING = "private cells are never used to guess it", "no such cell fits, and all count as missing"
PRIVATE_DECIMAL = {
    ",": f"Numbers are read with a decimal comma, as is usual with semicolons: {_UNSEEN}. If your file writes "
    f"1210.80, {_MISSING}. Then choose the decimal point under Format.",
    ".": f"Numbers are read with a decimal point: {_UNSEEN}. If your file writes 1210,80, {_MISSING}. Then "
    "choose the decimal comma under Format.",
}
"""By the decimal sign in force that nobody chose. Between commas a decimal comma is rare, and no sentence is due."""


def guess_format(
    connection: Connection, settings: Format, *, cells: Sequence[str], separator: str, limits: Limits, private: bool
) -> tuple[Format, tuple[str, ...]]:
    """Return the settings with a decimal sign and, where it can be told, a date order, and what was guessed.

    Args:
        connection: to a view called records.
        settings: what a user said.
        cells: SQL for the columns of text.
        separator: between the file's fields; empty for Parquet.
        limits: of each query.
        private: whether no value may be looked at.
    """
    usual = "," if separator == ";" else "."
    if private:
        decimal = settings.decimal or usual
        notes = [PRIVATE_DECIMAL[decimal]] * (not settings.decimal and separator not in ("", ","))
        return dataclasses.replace(settings, decimal=decimal), tuple(notes)
    counts = dict.fromkeys(("point", "comma", "day", "month", "dates"), 0)
    for start in range(0, len(cells), COLUMNS_PER_QUERY):
        for name, count in _counts(connection, cells[start : start + COLUMNS_PER_QUERY], limits).items():
            counts[name] += count
    decimal, notes = settings.decimal, list[str]()
    if not decimal:
        point, comma = counts["point"], counts["comma"]
        decimal = usual if point == comma else "." if point > comma else ","
        if decimal == "," or separator == ";":
            notes.append(_decimal_note(decimal, separator if point == comma else ""))
    order = settings.date_order
    if not order and counts["dates"]:
        if counts["day"] and not counts["month"]:
            order = DAY_FIRST
        elif counts["month"] and not counts["day"]:
            order = MONTH_FIRST
        notes.append(f"Dates with slashes: {order} (guessed)." if order else ORDER_UNKNOWN)
    return dataclasses.replace(settings, decimal=decimal, date_order=order), tuple(notes)


def _decimal_note(decimal: str, separator: str) -> str:
    because = ", as is usual between semicolons" if separator == ";" and decimal == "," else ""
    return f"Numbers: {DECIMALS[decimal]}{because} (guessed)."


def _is_slashed(cell: str) -> str:
    """SQL for whether a cell is a date whose order must be known."""
    return f"regexp_full_match({cell}, '{SLASHED}{HOUR}')"


def _counts(connection: Connection, cells: Sequence[str], limits: Limits) -> dict[str, int]:
    """Cells among the first rows that only one decimal sign or one date order explains, and all dates with slashes."""
    conditions = {
        "point": [decimal_evidence(cell, ".") for cell in cells],
        "comma": [decimal_evidence(cell, ",") for cell in cells],
        "dates": [_is_slashed(cell) for cell in cells],
        "day": [f"{_is_slashed(cell)} AND regexp_matches({cell}, '^(1[3-9]|2[0-9]|3[01])[/-]')" for cell in cells],
        "month": [
            f"{_is_slashed(cell)} AND regexp_matches({cell}, '^[0-9]+[/-](1[3-9]|2[0-9]|3[01])[/-]')" for cell in cells
        ],
    }
    parts = {name: " + ".join(f"count(*) FILTER ({each})" for each in listed) for name, listed in conditions.items()}
    select = ", ".join(f"{sql} AS {name}" for name, sql in parts.items())
    table = run(connection, f"SELECT {select} FROM (SELECT * FROM records LIMIT {SAMPLE_ROWS})", limits=limits)
    return {name: int(column[0]) for name, column in table.items()}
