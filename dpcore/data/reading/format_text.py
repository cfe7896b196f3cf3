"""The settings of a file in a sentence: for a screen or a terminal, before anything is charged."""

from __future__ import annotations

from dpcore.data.reading.format import UTC, Format
from dpcore.data.reading.layout import SEPARATORS

ISO = "2024-02-29"


def format_sentence(settings: Format, *, header: bool | None) -> str:
    r"""Return separator, first row, decimal sign, dates, encoding, time zone and codes for missing; no value.

    Args:
        settings: of the file as it was read.
        header: whether the first row was read as names; None for Parquet.

    >>> print(format_sentence(Format(separator=";", decimal="."), header=True).replace(". ", ".\n"))
    Read as Unicode text: fields between semicolons, first row of names, decimal sign “.”, dates as 2024-02-29.
    A time with a UTC offset counts on its UTC day.
    Empty cells count as missing.
    """
    dates = f"dates as {ISO}" + (f" or with the {settings.date_order}" if settings.date_order else "")
    cells = f"decimal sign “{settings.decimal}”, {dates}"
    day = "its UTC day" if settings.days == UTC else "the day as written"
    codes = " and the codes " + ", ".join(f"“{code}”" for code in settings.missing) if settings.missing else ""
    rest = f"A time with a UTC offset counts on {day}. Empty cells{codes} count as missing."
    if header is None:
        return f"Read as Parquet, with its own names and types; in text: {cells}. {rest}"
    between = SEPARATORS.get(settings.separator, f"“{settings.separator}”")
    encoding = settings.encoding.upper() or "Unicode"
    names = "names" if header else "data"
    sheet = f"Sheet {settings.sheet:,} was read" if settings.sheet > 1 else "Read"
    return f"{sheet} as {encoding} text: fields between {between}, first row of {names}, {cells}. {rest}"
