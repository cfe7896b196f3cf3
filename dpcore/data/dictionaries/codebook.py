"""Codebooks as CSV: a row for each column of a table, under the titles name, type, min, max, labels, unit, missing.

Titles that other programs write for these are understood; other columns of the codebook are not read. Labels are
separated by semicolons or bars; of "1 = yes" or "1, yes" the code before the sign is the label that is in the file,
unless the label is quoted.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from dpcore.core import DataError, ParameterError, read_whole_number
from dpcore.core.safe_csv import rows_csv, unescape_formula
from dpcore.data.dates import STEPS
from dpcore.data.dictionaries.description import (
    AGE,
    CATEGORY,
    DATE,
    NUMBER,
    NUMBERS,
    WHOLE,
    YES_NO,
    DataDictionary,
    DescribedColumn,
    errors_of,
    read_codes,
    stated_column,
)
from dpcore.data.dictionaries.labels import joined_labels, label_parts
from dpcore.data.reading.cell_parsing import NO
from dpcore.data.reading.layout import separator_of

TITLES = {
    "name": ("name", "variable", "variable name", "column", "field", "variable / field name"),
    "type": ("type", "kind", "data type", "datatype", "field type"),
    "min": ("min", "minimum", "low", "lower", "from", "text validation min"),
    "max": ("max", "maximum", "high", "upper", "to", "text validation max"),
    "labels": (
        *("labels", "values", "levels", "categories", "codes", "value labels"),
        "choices, calculations, or slider labels",
    ),
    "unit": ("unit", "units"),
    "missing": ("missing", "missing values", "na"),
    "bins": ("bins", "cells"),
    "outside": ("outside", "out of bounds"),
    "use": ("use",),
}
"""What a codebook states of a column, and titles for it."""
KINDS = {
    NUMBER: ("number", "numeric", "float", "real", "double", "decimal", "continuous", "scale", "interval", "ratio"),
    WHOLE: ("whole number", "integer", "int", "count", "discrete"),
    CATEGORY: (
        *("category", "categorical", "factor", "string", "text", "char", "character", "str", "object", "nominal"),
        *("ordinal", "enum", "dropdown", "radio", "checkbox"),
    ),
    AGE: (AGE,),
    YES_NO: ("yes/no", "yesno", "boolean", "bool", "logical", "binary", "truefalse"),
}
DATES = {**{step: step for step in STEPS}, **{f"date: {step}": step for step in STEPS}, "date": "day"} | dict.fromkeys(
    ("datetime", "timestamp"), "day"
)
MISSING = "missing"
"""Treatment of values out of bounds: they join the missing ones, instead of the nearest bound."""
SPECIAL = ';|=,"'
"""Characters for which a label is quoted."""


def read_codebook(text: str) -> DataDictionary:
    """Return the dictionary in a codebook.

    Raises:
        DataError: one sentence about what is wrong; of the text it quotes names of columns alone.
    """
    rows = list(_rows(text))
    codes = dict.fromkeys(code for row in rows for code in row.get("missing", "").replace(";", " ").split())
    return DataDictionary(columns=tuple(map(_column, rows)), missing_codes=read_codes(list(codes)))


def _rows(text: str) -> Iterator[dict[str, str]]:
    """Yield what the codebook states of each column, by our titles."""
    lines = io.StringIO(text.lstrip("\n"), newline="")
    separator = separator_of(text.lstrip("\n").split("\n", 1)[0])
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    problem = ""
    try:
        header = [title.strip().lower() for title in next(reader, [])]
        places = {what: place for what, titles in TITLES.items() if (place := _place(header, titles)) is not None}
        if "name" not in places:
            raise DataError("The first row of a codebook has titles, one of them “name”.")
        for row in reader:
            cells = {what: unescape_formula(row[place]).strip() for what, place in places.items() if place < len(row)}
            if any(cells.values()):
                yield cells
    except csv.Error:
        problem = "A quotation mark of the codebook is not closed, or a cell is far too long."
    if problem:
        raise DataError(problem)


def _place(header: list[str], titles: tuple[str, ...]) -> int | None:
    return next((header.index(title) for title in titles if title in header), None)


def _column(row: Mapping[str, str]) -> DescribedColumn:
    """Return the column of one row."""
    name, written = row.get("name", ""), row.get("type", "").lower()
    kind = DATE if written in DATES else next((k for k, w in KINDS.items() if written in w), "")
    with errors_of(name):
        if written and not kind:
            raise ParameterError("The type is none that a codebook may have, such as number, category or date.")
        labels, low, high = _labels(row.get("labels", "")), row.get("min", ""), row.get("max", "")
        if labels and kind in ("", *NUMBERS):  # codes of a category
            kind = CATEGORY
        kind = kind or (NUMBER if low or high else "")
        bins = _bins(row.get("bins", "")) if kind in NUMBERS else 0
    return stated_column(
        name, kind, low=low, high=high, step=DATES.get(written, "day"), labels=labels, bins=bins,
        unit=row.get("unit", ""), clamp=row.get("outside", "") != MISSING,
        used=row.get("use", "").lower() not in (*NO, "0"),
    )  # fmt: skip


def _bins(text: str) -> int:
    """Return a number of cells; 0 where none is stated."""
    try:
        return read_whole_number(text) if text else 0
    except ValueError:
        pass
    raise ParameterError("The number of cells must be a whole number.")


def _labels(text: str) -> tuple[str, ...]:
    """Return the labels of a cell: quoted ones as they are, of others the code before "=" or, between bars, ","."""
    if "|" in text and '"' not in text:
        parts = [(part.replace(",", "=", 1), False) for part in text.split("|")]
    else:
        parts = list(label_parts(text.replace("\n", ";") if '"' not in text else text))
    labels = (part if quoted else part.partition("=")[0].strip() for part, quoted in parts)
    return tuple(label for label in labels if label.strip())


def write_codebook(dictionary: DataDictionary) -> str:
    """Return the codebook of a dictionary as CSV that a spreadsheet does not run.

    It has no person column, and every column that is read from it has a cell for missing values.
    """
    columns = ("name", "type", "min", "max", "labels", "unit", "missing", "bins", "outside", "use")
    codes = " ".join(dictionary.missing_codes)
    return rows_csv(columns, (_row(column, codes) for column in dictionary.columns))


def _row(column: DescribedColumn, codes: str) -> tuple[str, ...]:
    """Return the cells of one column."""
    kind = f"date: {column.step}" if column.kind == DATE else column.kind
    return (
        column.name, kind, column.low, column.high, joined_labels(column.labels, special=SPECIAL), column.unit, codes,
        str(column.bins or ""), "" if column.clamp else MISSING, "" if column.used else NO[0],
    )  # fmt: skip
