"""SmartNoise's metadata of tables: a collection holds schemas, a schema tables, a table its columns.

Reference: https://docs.smartnoise.org/sql/metadata.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpcore.core import DataError, read_whole_number
from dpcore.data.dictionaries.description import (
    CATEGORY,
    DATE,
    NUMBER,
    NUMBERS,
    WHOLE,
    YES_NO,
    DataDictionary,
    DescribedColumn,
    closest_table,
    column_error,
    mapping_of,
    stated_column,
)
from dpcore.data.reading.cell_parsing import YES

KINDS = {"int": WHOLE, "float": NUMBER, "string": CATEGORY, "boolean": YES_NO, "datetime": DATE, "unknown": ""}


def read_smartnoise(document: Mapping[str, Any], *, names: Sequence[str] = ()) -> DataDictionary:
    """Return the dictionary of the table that has most of the names.

    Args:
        document: metadata as ``parse_yaml`` returns them: every value that is no mapping is a text.
        names: columns of the table that is described.

    Raises:
        DataError: one sentence about what is wrong; of the document it quotes names of columns alone.
    """
    schemas = [schema for collection in document.values() for schema in mapping_of(collection).values()]
    tables = [mapping_of(table) for schema in schemas for table in mapping_of(schema).values()]
    read = [_table(table) for table in tables if any("type" in mapping_of(each) for each in table.values())]
    if not read:
        raise DataError("The YAML describes no table: SmartNoise names a collection, a schema and tables.")
    return closest_table(read, names)


def _table(table: Mapping[str, Any]) -> DataDictionary:
    """Return the dictionary of one table; what is no mapping is a property of the table."""
    stated = {name: each for name, each in table.items() if isinstance(each, dict)}
    persons = [name for name, each in stated.items() if _is_yes(each.get("private_id"))]
    person = persons[0] if persons and not _is_yes(table.get("row_privacy")) else ""
    return DataDictionary(
        columns=tuple(_column(name, each) for name, each in stated.items()),
        person=person,
        person_rows=_rows(table.get("max_ids", table.get("max_contribution", "1"))) if person else 1,
    )


def _is_yes(value: object) -> bool:
    return isinstance(value, str) and value.lower() in YES


def _rows(text: object) -> int:
    """Return a number of rows; 0, which no description may have, for anything else."""
    try:
        return read_whole_number(text) if isinstance(text, str) else 0
    except ValueError:
        return 0


def _column(name: str, column: Mapping[str, Any]) -> DescribedColumn:
    """Return one described column."""
    kind = KINDS.get(str(column.get("type")))
    if kind is None:
        raise column_error(name, "The type is none of SmartNoise's.")
    low, high = (column.get(end) if kind in NUMBERS else None for end in ("lower", "upper"))
    return stated_column(name, kind, low=low, high=high, used=bool(kind))
