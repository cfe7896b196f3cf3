"""CSV on the Web: the metadata of one table or of several, as JSON.

Reference: W3C, "Metadata Vocabulary for Tabular Data", https://www.w3.org/TR/tabular-metadata.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpcore.core import DataError
from dpcore.data.dictionaries.description import (
    CATEGORY,
    DATE,
    NUMBER,
    WHOLE,
    YES_NO,
    DataDictionary,
    DescribedColumn,
    closest_table,
    column_error,
    mapping_of,
    read_codes,
    stated_column,
)

DATES = {
    "date": "day",
    "datetime": "day",
    "dateTime": "day",
    "dateTimeStamp": "day",
    "gYearMonth": "month",
    "gYear": "year",
}
KINDS = {
    WHOLE: (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "unsignedLong"),
        *("unsignedInt", "unsignedShort", "unsignedByte", "nonPositiveInteger", "negativeInteger"),
    ),
    NUMBER: ("number", "decimal", "double", "float"),
    DATE: tuple(DATES),
    YES_NO: ("boolean",),
    CATEGORY: ("string", "normalizedString", "token", "language", "Name", "NMTOKEN", "anyURI", "QName"),
    "": (
        *("anyAtomicType", "any", "base64Binary", "binary", "hexBinary", "duration", "dayTimeDuration", "gDay"),
        *("gMonth", "yearMonthDuration", "gMonthDay", "time", "xml", "html", "json"),
    ),
}
"""Types of each kind; values of the last ones are no number, date or label, and such a column is not used."""
ALTERNATIVES = re.compile(r"\^?\(?((?:[\w -]+\|)+[\w -]+)\)?\$?")
"""A format of texts that lists its values: a|b|c."""
BOUNDS = (("minimum", "minInclusive", "minExclusive"), ("maximum", "maxInclusive", "maxExclusive"))


def read_csvw(document: Mapping[str, Any], *, names: Sequence[str] = ()) -> DataDictionary:
    """Return the dictionary of the table, or of several tables of that with most of the names.

    Args:
        document: a mapping with "tableSchema" or "tables".
        names: columns of the table that is described.

    Raises:
        DataError: one sentence about what is wrong; of the document it quotes names of columns alone.
    """
    tables = document.get("tables", [document])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise DataError("The tables of CSVW metadata must be a list of mappings.")
    schemas = [each.get("tableSchema", document.get("tableSchema")) for each in tables]
    if any(isinstance(each, str) for each in schemas):
        raise DataError("The schema is in another file: open that file.")
    read = [_table(each, mapping_of(table)) for each, table in zip(schemas, tables, strict=True) if mapping_of(each)]
    if not read:
        raise DataError("The CSVW metadata state the schema of no table.")
    return closest_table(read, names)


def _table(schema: Mapping[str, Any], table: Mapping[str, Any]) -> DataDictionary:
    """Return the dictionary in one table's schema."""
    columns = schema.get("columns")
    if not isinstance(columns, list) or not all(isinstance(each, dict) for each in columns):
        raise DataError("The columns of CSVW metadata must be a list of mappings.")
    present = [each for each in columns if each.get("virtual") is not True]
    null = schema.get("null", table.get("null"))
    return DataDictionary(
        columns=tuple(_column(each, place) for place, each in enumerate(present, start=1)),
        missing_codes=read_codes(null if isinstance(null, list) else [null]),
    )


def _column(column: Mapping[str, Any], place: int) -> DescribedColumn:
    """Return one column; one without a title or name is called as in a file without a header."""
    name = _title(column.get("titles")) or column.get("name") or f"column {place}"
    if not isinstance(name, str):
        raise DataError("The name of a column must be a text.")
    datatype = column.get("datatype", "string")
    rules = mapping_of(datatype)
    base = rules.get("base", "string") if rules else datatype
    kind = next((kind for kind, types in KINDS.items() if base in types), None)
    if "separator" in column:  # a list in each cell
        kind = ""
    if kind is None:
        raise column_error(name, "The datatype is none of CSVW's.")
    low, high = (next((rules[key] for key in keys if key in rules), None) for keys in BOUNDS)
    step, written = DATES.get(str(base), "day"), rules.get("format")
    listed = ALTERNATIVES.fullmatch(written) if isinstance(written, str) else None
    labels = listed[1].split("|") if listed else ()
    return stated_column(name, kind, low=low, high=high, step=step, labels=labels, used=bool(kind))


def _title(titles: object) -> object:
    """Return the first of a column's titles, which may be by language: the text of the header."""
    if isinstance(titles, dict):
        titles = next(iter(titles.values()), None)
    return titles[0] if isinstance(titles, list) and titles else titles
