"""Frictionless Table Schema: ``schema.json``, a resource, or the tables of ``datapackage.json``; read and written.

What Table Schema has no word for is in a property of ours that other programs ignore: "dpscope" of a field (number of
cells, treatment of values out of bounds, unit, whether it is used) and of the schema (unit of privacy).

Reference: https://specs.frictionlessdata.io/table-schema and https://datapackage.org/standard/table-schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from dpcore.core import DataError, ParameterError
from dpcore.data.dates import EPOCH, MONDAY, STEPS, period_of
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
    closest_table,
    column_error,
    errors_of,
    mapping_of,
    read_codes,
    read_labels,
    stated_column,
)
from dpcore.data.reading.cell_parsing import NO, YES

OWN = "dpscope"
DATES = {"date": "day", "datetime": "day", "yearmonth": "month", "year": "year"}
"""Types of dates, and the units in which they are declared."""
TYPES = {"string": CATEGORY, "integer": WHOLE, "number": NUMBER, "any": ""}
"""Types whose values may be listed, and the kind of those that are not."""
UNSUPPORTED = ("object", "array", "list", "time", "duration", "geopoint", "geojson")
"""Types of values that are no number, date or label: such a column is not used."""
WRITTEN = {"day": "date", "week": "date", "month": "yearmonth", "year": "year"}
"""Units of dates, and the types that they are written as."""
LAST_DAY = 6
"""Days from the first of a week to its last."""


def read_table_schema(document: Mapping[str, Any], *, names: Sequence[str] = ()) -> DataDictionary:
    """Return the dictionary in a schema, a resource or a package; of several tables that with most of the names.

    Args:
        document: a mapping with "fields", "schema" or "resources".
        names: columns of the table that is described.

    Raises:
        DataError: one sentence about what is wrong; of the document it quotes names of columns alone.
    """
    if "fields" in document:
        return _schema(document)
    resources = document.get("resources", [document])
    if not isinstance(resources, list) or not all(isinstance(each, dict) for each in resources):
        raise DataError("The tables of a data package must be a list of mappings.")
    schemas = [each["schema"] for each in resources if "schema" in each]
    tables = [_schema(each) for each in schemas if isinstance(each, dict)]
    if not tables and schemas:
        raise DataError("The schema is in another file: open that file.")
    if not tables:
        raise DataError("The description is no Table Schema, data package or CSVW metadata with a schema.")
    return closest_table(tables, names)


def _schema(schema: Mapping[str, Any]) -> DataDictionary:
    """Return the dictionary in one schema."""
    fields = schema.get("fields")
    if not isinstance(fields, list) or not all(isinstance(each, dict) for each in fields):
        raise DataError("The fields of a Table Schema must be a list of mappings.")
    own = mapping_of(schema.get(OWN))
    codes = schema.get("missingValues")
    rows = own.get("personRows", 1)
    return DataDictionary(
        columns=tuple(map(_column, fields)),
        person=person if isinstance(person := own.get("person", ""), str) else "",
        person_rows=rows if isinstance(rows, int) and not isinstance(rows, bool) else 0,
        missing_codes=read_codes(codes),
    )


def _column(field: Mapping[str, Any]) -> DescribedColumn:
    """Return the column of one field."""
    name, written_type = field.get("name"), field.get("type", "any")
    if not isinstance(name, str) or not isinstance(written_type, str):
        raise DataError("Every field of a Table Schema needs a name and a type in words.")
    rules, own = mapping_of(field.get("constraints")), mapping_of(field.get(OWN))
    # A bound that is excluded is a bound all the same.
    low, high = (rules.get(end, rules.get(f"exclusive{end.capitalize()}")) for end in ("minimum", "maximum"))
    with errors_of(name):
        kind, labels = _kind_and_labels(written_type, field, rules)
    step = own["step"] if own.get("step") in tuple(STEPS) else DATES.get(written_type, "day")
    if kind == DATE and "ageOn" in own:
        kind, step, high = AGE, "day", own["ageOn"]
    bins, unit = own.get("bins", 0), own.get("unit", "")
    if isinstance(bins, bool) or not isinstance(bins, int) or not isinstance(unit, str):
        raise column_error(name, "The number of cells must be a whole number, and the unit a text.")
    return stated_column(
        name, kind, low=low, high=high, step=step, labels=labels, bins=bins, unit=unit,
        clamp=own.get("clamp") is not False, missing=own.get("missing") is not False,
        used=own.get("used", written_type not in UNSUPPORTED) is not False,
    )  # fmt: skip


def _kind_and_labels(
    written_type: str, field: Mapping[str, Any], rules: Mapping[str, Any]
) -> tuple[str, tuple[str, ...]]:
    """Return the kind of a field's values, and the labels of a category."""
    if written_type == "boolean":
        words = [str(each) for key in ("falseValues", "trueValues") for each in field.get(key) or ()]
        usual = all(word.lower() in (*YES, *NO, "1", "0") for word in words)
        return (YES_NO, ()) if usual else (CATEGORY, tuple(words))
    if written_type in DATES or written_type in UNSUPPORTED:
        return DATE if written_type in DATES else "", ()
    if written_type not in TYPES:
        raise ParameterError("The type is none of Table Schema's types.")
    listed = field.get("categories") if "categories" in field else rules.get("enum")
    return (TYPES[written_type], ()) if listed is None else (CATEGORY, read_labels(listed))


def write_table_schema(dictionary: DataDictionary) -> str:
    """Return the Table Schema of a dictionary as JSON; ``read_table_schema`` returns an equal dictionary."""
    schema: dict[str, Any] = {"fields": [_field(column) for column in dictionary.columns]}
    if dictionary.missing_codes:
        schema["missingValues"] = ["", *dictionary.missing_codes]
    if dictionary.person:
        schema[OWN] = {"person": dictionary.person, "personRows": dictionary.person_rows}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _field(column: DescribedColumn) -> dict[str, Any]:
    """Return the field of one column."""
    types = {
        NUMBER: "number",
        WHOLE: "integer",
        CATEGORY: "string",
        YES_NO: "boolean",
        AGE: "date",
        DATE: WRITTEN[column.step],
        "": "any",
    }
    rules: dict[str, Any] = {}
    own: dict[str, Any] = {}
    if column.kind in NUMBERS:
        rules = {end: _plain(text) for end, text in (("minimum", column.low), ("maximum", column.high)) if text}
        own = {key: value for key, value in (("bins", column.bins), ("unit", column.unit)) if value}
    elif column.kind == AGE:
        own = {"ageOn": column.high} if column.high else {}
    elif column.kind == DATE:
        ends = (("minimum", column.low, 0), ("maximum", column.high, LAST_DAY))
        rules = {end: _day(text, column.step, further) for end, text, further in ends if text}
        own = {"step": column.step} if column.step == "week" else {}
    elif column.labels:
        rules = {"enum": list(column.labels)}
    own |= {key: False for key in ("clamp", "missing", "used") if not getattr(column, key)}
    field: dict[str, Any] = {"name": column.name, "type": types[column.kind]}
    return field | ({"constraints": rules} if rules else {}) | ({OWN: own} if own else {})


def _plain(text: str) -> int | float:
    """Return a bound as JSON writes it: a whole number without a point."""
    number = float(text)
    return int(number) if number.is_integer() else number


def _day(text: str, step: str, further: int) -> str | int:
    """Return a date as its type writes it: of a week its first day or its last, of a year the number."""
    if step == "year":
        return int(text)
    if step != "week":
        return text
    days = 7 * period_of(text, "week") - MONDAY + further
    return (EPOCH + timedelta(days=min(days, (date.max - EPOCH).days))).isoformat()
