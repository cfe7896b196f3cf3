"""What an engine is asked: the cell of each value, and how many rows have these cells. Ibis writes it in its SQL.

Imported where an engine is asked, as ibis is an extra. Columns have types: no text is taken for a number or a date.
Every step is a query inside the next, so that nothing is written twice: a value of each column (a number, a date's
unit, a label's position), a first guess of its cell, the cell. A guess is numpy's, in the same order of doubles, and so
is its correction by the edges of the cell.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from typing import Any

import ibis
from ibis.backends.sql import compilers
from sqlglot import exp

from dpcore.core import DataError, ParameterError
from dpcore.data.columns import Number, is_labels, is_number
from dpcore.data.dates import MONDAY, is_dates
from dpcore.data.reading.tables import BLANKS
from dprelease.engines.counts import Encoding, TableColumn

ibis.options.sql.fuse_selects = False  # or each step would be written into the next, some times over

TINY = 2.0**-40
"""Of a line's span: what is nearer to its low end is in the first cell, and no quotient is too small for a double."""
SMALLEST, LARGEST = 1e-307, sys.float_info.max
"""Exact numbers nearer to 0 are 0, and larger ones are missing: a server breaks off where a double cannot hold one."""
FIRST_DAY, LAST_DAY = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
"""Days outside, and days without end, are missing."""
FITTING = {
    "numbers": ("numbers", "whole numbers"), "dates": ("dates",), "labels": ("text", "whole numbers"),
    "yes or no": ("yes or no", "whole numbers", "numbers"),
}  # fmt: skip
"""What a column may hold that is declared as something."""

TEXTS = "dpscope_texts"
builtin = ibis.udf.scalar.builtin
"""Makes a function that an expression may call of its names, of which ibis knows nothing more."""
texts_at = builtin(lambda place: None, name=TEXTS, signature=(("int64",), "array<string>"))
"""A list that is handed over beside the query, by its number: ``written`` puts the engine's sign for it."""
position = builtin(lambda texts, text: None, name="array_position", signature=(("array<string>", "string"), "int64"))
"""Of a text among others, NULL or 0 for none: what ibis writes for it takes Postgres a query for each row."""
trim = builtin(lambda text, blanks: None, name="trim", signature=(("string", "string"), "string"))
"""The engines' own: ibis strips other white space, too."""


def columns_of(compiler: str, described: Sequence[tuple[str, str]]) -> list[TableColumn]:
    """The columns that can be counted, from the engine's words for their types."""
    kind_of = getattr(compilers, compiler)().type_mapper.from_string
    found = [TableColumn(name=name, kind=kind_of(words)) for name, words in described]
    return [column for column in found if _holds(column)]


def _holds(column: TableColumn) -> str:
    """What a column holds, in a word or two; empty for what is not counted."""
    kind = column.kind
    words = {
        "whole numbers": kind.is_integer(), "numbers": kind.is_numeric(), "text": kind.is_string(),
        "yes or no": kind.is_boolean(), "dates": kind.is_date() or kind.is_timestamp(),
    }  # fmt: skip
    return next((word for word, found in words.items() if found), "")


def _declared(part: Encoding) -> str:
    """What a column is declared as: a word of ``FITTING``."""
    if part.cuts or not is_labels(part.on):
        return "dates" if is_dates(part.on) else "numbers"
    return "yes or no" if part.on.yes_no else "labels"


def build_query(
    table: Sequence[str], parts: Sequence[Encoding], columns: Sequence[TableColumn], *, most: int
) -> tuple[Any, list[list[str]]]:
    """The expression for the cell of each part, and how many rows have these cells; and the lists it takes.

    Args:
        table: its name, with what it is in before it.
        parts: what to count.
        columns: that of each part.
        most: rows of the answer, and one more.

    Raises:
        DataError: a column is declared as something else than the engine holds.
    """
    for part, column in zip(parts, columns, strict=True):
        if _holds(column) not in FITTING[_declared(part)]:
            raise DataError(
                f"“{part.column}” is declared as {_declared(part)}, and the engine holds {_holds(column)} there: a "
                "view in which it has that type, made by the table's owner, can be counted."
            )
    catalog, database, name = [None, None, *table][-3:]
    schema = {column.name: column.kind for column in columns} or {"k": "int64"}
    rows = ibis.table(schema, name=name, database=database, catalog=catalog)
    if not parts:
        return rows.aggregate(k=rows.count()), []
    texts: list[list[str]] = []
    each = enumerate(zip(parts, columns, strict=True))
    found = rows.select(**{f"x{i}": _value(part, rows[column.name], texts) for i, (part, column) in each})
    lines = [(i, part.on) for i, part in enumerate(parts) if _declared(part) == "numbers" and is_number(part.on)]
    found = found.mutate(**{f"g{i}": _guess(line, found[f"x{i}"]) for i, line in lines})
    found = found.select(**{f"c{i}": _cell(part, found, i).cast("int64") for i, part in enumerate(parts)})
    return found.group_by(found.columns).aggregate(k=found.count()).limit(most + 1), texts


def render_sql(expression: Any, *, compiler: str, place: str) -> str:
    """An expression in an engine's SQL.

    Args:
        expression: from ``question``.
        compiler: the name of ibis' writer.
        place: how the engine writes where a list stands, with {} for its number, from 1.
    """
    writer = getattr(compilers, compiler)()

    def placed(node: Any) -> Any:
        found = isinstance(node, exp.Anonymous) and node.name.lower() == TEXTS
        return exp.Var(this=place.format(node.expressions[0].name)) if found else node

    return str(writer.to_sqlglot(expression).transform(placed).sql(writer.dialect))


def _real(number: float) -> Any:
    """A double to its last digit: engines take a number that is written without quotes for a decimal one."""
    return ibis.literal(repr(float(number))).cast("float64")


def _value(part: Encoding, column: Any, texts: list[list[str]]) -> Any:
    """What a column's cell is worked out from, NULL where it is missing; of labels, which join the lists, the cell."""
    kind = column.type()
    if is_dates(part.on):
        return _period(column if kind.is_date() else column.date(), part.on.step)
    if _declared(part) == "numbers":
        return column.cast("float64") if kind.is_integer() else _finite(column)
    if is_labels(part.on) and part.on.yes_no:
        no, yes = (~column, column) if kind.is_boolean() else (column == 0, column == 1)
        return ibis.cases((no, 0), (yes, 1), else_=2)
    texts.append(part.labels)
    text = trim(column.cast("string"), BLANKS).nullif("")
    return position(texts_at(len(texts)), text).nullif(0).fill_null(len(part.labels) + 1) - 1


def _finite(column: Any) -> Any:
    """Fractions as doubles; NULL for what is not finite: NaN is above all numbers."""
    number, kind = column.cast("float64"), column.type()
    if kind.is_decimal() and kind.precision is None:
        near, far = (ibis.literal(repr(end)).cast(kind) for end in (SMALLEST, LARGEST))
        return ibis.cases((column.abs() < near, _real(0)), (column.abs() <= far, number))
    return ibis.cases((number.abs() <= _real(LARGEST), number))


def _period(day: Any, step: str) -> Any:
    """The number of a day's unit, see ``dates.period_of``. Sessions are in UTC."""
    day = ibis.cases((day.between(FIRST_DAY, LAST_DAY), day))
    if step in ("day", "week"):
        return day.epoch_days() if step == "day" else ((day.epoch_days() + MONDAY) / 7).floor()
    year, month = day.year().cast("int64"), day.month().cast("int64")  # Postgres has them as decimal numbers
    return year if step == "year" else (year - 1970) * 12 + month - 1


def _guess(line: Number, x: Any) -> Any:
    """The cell, or one beside it: a quotient may round past an edge."""
    if line.bins and not line.separated:
        raise ParameterError("The bounds are too far apart or too close together to be cut so by an engine.")
    above = ibis.least(ibis.greatest(x, _real(line.low)), _real(line.high)) - _real(line.low)
    along = ibis.greatest(above, _real(line.span * TINY)) / _real(line.span) * _real(line.ordered)
    return ibis.least(along.floor(), line.ordered - 1)


def _edge(line: Number, at: Any) -> Any:
    """Where a cell starts, by the same steps as ``Number.edges``."""
    edge = _real(line.low) + _real(line.span) * at / _real(line.ordered)
    if line.grain:
        edge = (edge * _real(line.grain) + _real(0.5)).floor() / _real(line.grain)
    return ibis.least(edge, _real(line.high))


def _cell(part: Encoding, found: Any, i: int) -> Any:
    """The cell from the value and its guess."""
    x, line = found[f"x{i}"], part.on
    if part.cuts:
        below = [(x < _real(cut), place) for place, cut in enumerate(part.cuts)]
        return ibis.cases((x.isnull(), len(part.cuts) + 1), *below, else_=len(part.cuts))
    if not is_number(line):
        return x
    if is_dates(line):
        outside, cell = (x < int(line.low)) | (x >= int(line.high)), x - int(line.low)
    else:
        outside, cell = (x < _real(line.low)) | (x > _real(line.high)), found[f"g{i}"]
        if line.separated:
            cell += ibis.cases((x < _edge(line, cell), -1), (x >= _edge(line, cell + 1), 1), else_=0)
    out = x.isnull() if line.clamp else x.isnull() | outside
    cell = ibis.least(ibis.greatest(cell, 0), line.ordered - 1)
    return ibis.cases((out, line.ordered if line.missing else 0), else_=cell)
