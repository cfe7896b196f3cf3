"""The settings with which a file is read, in a sentence: for a screen or a terminal, before anything is charged."""

from __future__ import annotations

from dpcore.data.reading.format import Format
from dpcore.data.reading.layout import SEPARATORS

ISO = "2024-02-29"


def format_sentence(settings: Format, *, header: bool | None) -> str:
    """Return separator, first row, decimal sign, date order and encoding; nothing of it is a value.

    Args:
        settings: of the file as it was read.
        header: whether the first row was read as names; None for Parquet.

    >>> format_sentence(Format(separator=";", decimal="."), header=True)
    'Read as Unicode text: fields between semicolons, first row of names, decimal sign “.”, dates as 2024-02-29.'
    """
    dates = f"dates as {ISO}" + (f" or with the {settings.date_order}" if settings.date_order else "")
    cells = f"decimal sign “{settings.decimal}”, {dates}"
    if header is None:
        return f"Read as Parquet, with its own names and types; in text: {cells}."
    between = SEPARATORS.get(settings.separator, f"“{settings.separator}”")
    encoding = settings.encoding.upper() or "Unicode"
    return f"Read as {encoding} text: fields between {between}, first row of {'names' if header else 'data'}, {cells}."
