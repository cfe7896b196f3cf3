"""Queries to an engine: the cell of each value, and the number of rows with these cells. Ibis compiles them to SQL.

The module is imported when an engine is used, as ibis is an extra. Columns have types: no text is read as a number or a
date. Every step is a subquery of the next: the value of each column (a number, a date's period, a label's cell), the
same between the bounds, its position along the cells, an estimate of its cell, the cell. The estimate and its
correction by the cell's edges are the same floating-point operations as in numpy, in the same order. Most values lie
between the bounds and far from edges, and need neither clipping nor correction.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Sequence
from typing import Any

import ibis
from ibis.backends.sql import compilers
from sqlglot import exp

from dpcore.core import DataError, ParameterError
from dpcore.data.columns import Number, is_labels, is_number
from dpcore.data.dates import MONDAY, Ages, is_ages, is_dates
from dpcore.data.reading.tables import BLANKS
from dprelease.engines.counts import Encoding, TableColumn

ibis.options.sql.fuse_selects = False  # otherwise each step would be repeated inside the next

TINY = 2.0**-40
"""Share of a domain's span: smaller distances from the low end are not divided, which would underflow."""
SMALLEST, LARGEST = 1e-307, sys.float_info.max
"""Range of exact numbers: those nearer to 0 are 0, and larger ones are missing, as a server fails at overflow."""
FIRST_DAY, LAST_DAY = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
"""Range of days: days outside and infinite days are missing."""
FITTING = {
    "numbers": ("numbers", "whole numbers"), "dates": ("dates",), "labels": ("text", "whole numbers"),
    "yes or no": ("yes or no", "whole numbers", "numbers"),
}  # fmt: skip
"""Contents that fit each declaration of a column."""

TEXTS = "dpscope_texts"
builtin = ibis.udf.scalar.builtin
"""Declares an SQL function that ibis passes through by name."""
texts_at = builtin(lambda place: None, name=TEXTS, signature=(("int64",), "array<string>"))
"""A list parameter by its number; ``render_sql`` inserts the engine's placeholder for it."""
position = builtin(lambda texts, text: None, name="array_position", signature=(("array<string>", "string"), "int64"))
"""Position of a text in a list, NULL or 0 for none; ibis' own translation is a subquery per row in Postgres."""
floor = builtin(lambda number: None, name="floor", signature=(("float64",), "float64"))
"""The engines' own floor: ibis' makes it a whole number, which takes longer."""
trim = builtin(lambda text, blanks: None, name="trim", signature=(("string", "string"), "string"))
"""The engines' own trim: ibis' strip removes other white space, too."""


def columns_of(compiler: str, described: Sequence[tuple[str, str]]) -> list[TableColumn]:
    """Return the columns that can be counted, from the engine's type names."""
    kind_of = getattr(compilers, compiler)().type_mapper.from_string
    table_columns = [TableColumn(name=name, kind=kind_of(words)) for name, words in described]
    return [column for column in table_columns if _holds(column)]


def _holds(column: TableColumn) -> str:
    """Return the contents of a column in words; empty for types that are not counted."""
    kind = column.kind
    words = {
        "whole numbers": kind.is_integer(), "numbers": kind.is_numeric(), "text": kind.is_string(),
        "yes or no": kind.is_boolean(), "dates": kind.is_date() or kind.is_timestamp(),
    }  # fmt: skip
    return next((word for word, matches in words.items() if matches), "")


def _declared(part: Encoding) -> str:
    """Return the declaration of a column: a key of ``FITTING``."""
    if part.cuts or not is_labels(part.on):
        return "dates" if is_dates(part.on) or (is_ages(part.on) and not part.cuts) else "numbers"
    return "yes or no" if part.on.yes_no else "labels"


def build_query(
    table: Sequence[str], parts: Sequence[Encoding], columns: Sequence[TableColumn], *, max_rows: int
) -> tuple[Any, list[list[str]]]:
    """Build the expression that counts rows by the cells of all parts, and its list parameters.

    Args:
        table: qualified name of the table.
        parts: encodings to count by.
        columns: column of each part.
        max_rows: largest number of rows of the answer; the query fetches one more.

    Raises:
        DataError: the engine's type of a column does not fit its declaration.
    """
    for part, column in zip(parts, columns, strict=True):
        if _holds(column) not in FITTING[_declared(part)]:
            raise DataError(
                f"“{part.column}” is declared as {_declared(part)}, but in the engine it has the type "
                f"{_holds(column)}. The table's owner can make a view that converts it."
            )
    catalog, database, name = [None, None, *table][-3:]
    schema = {column.name: column.kind for column in columns} or {"k": "int64"}
    rows = ibis.table(schema, name=name, database=database, catalog=catalog)
    if not parts:
        return rows.aggregate(k=rows.count()), []
    texts: list[list[str]] = []
    each = enumerate(zip(parts, columns, strict=True))
    query = rows.select(**{f"x{i}": _value(part, rows[column.name], texts) for i, (part, column) in each})
    lines = [
        (i, part.on) for i, part in enumerate(parts) if is_number(part.on) and not (part.cuts or is_dates(part.on))
    ]
    query = query.mutate(**{f"y{i}": _between(line, query[f"x{i}"]) for i, line in lines})
    query = query.mutate(**{f"p{i}": _position(line, query[f"y{i}"]) for i, line in lines})
    query = query.mutate(**{f"g{i}": floor(query[f"p{i}"]) for i, line in lines})
    query = query.select(**{f"c{i}": _cell(part, query, i).cast("int32") for i, part in enumerate(parts)})
    return query.group_by(query.columns).aggregate(k=query.count()).limit(max_rows + 1), texts


def render_sql(expression: Any, *, compiler: str, place: str) -> str:
    """Render an expression in an engine's SQL.

    Args:
        expression: result of ``build_query``.
        compiler: name of the ibis compiler.
        place: placeholder of a list parameter, with {} for its number, from 1.
    """
    writer = getattr(compilers, compiler)()

    def placed(node: Any) -> Any:
        is_list = isinstance(node, exp.Anonymous) and node.name.lower() == TEXTS
        return exp.Var(this=place.format(node.expressions[0].name)) if is_list else node

    return str(writer.to_sqlglot(expression).transform(placed).sql(writer.dialect))


def _real(number: float) -> Any:
    """Return an exact double: engines read an unquoted number as a decimal."""
    return ibis.literal(repr(float(number))).cast("float64")


def _value(part: Encoding, column: Any, texts: list[list[str]]) -> Any:
    """Return the value of a column; for labels, which are added to the lists, their cell. A number may be infinite."""
    kind = column.type()
    if is_dates(part.on):
        return _period(column if kind.is_date() else column.date(), part.on.step)
    if is_ages(part.on) and not part.cuts:
        return _age(part.on, column if kind.is_date() else column.date())
    if _declared(part) == "numbers":
        return column.cast("float64") if kind.is_integer() else _double(column)
    if is_labels(part.on) and part.on.yes_no:
        no, yes = (~column, column) if kind.is_boolean() else (column == 0, column == 1)
        return ibis.cases((no, 0), (yes, 1), else_=2)
    # Functions alone, without cases: DuckDB then looks at each different text of a block once. No trimmed text is " ".
    texts.append([label or " " for label in part.labels])
    cells = len(part.labels) + 1
    found = position(texts_at(len(texts)), trim(column.cast("string"), BLANKS))
    return (ibis.greatest(found, 0) + (cells - 1)) % cells


def _double(column: Any) -> Any:
    """Return a column as doubles; NULL for those that a double does not hold."""
    number, kind = column.cast("float64"), column.type()
    if kind.is_decimal() and kind.precision is None:
        near, far = (ibis.literal(repr(end)).cast(kind) for end in (SMALLEST, LARGEST))
        return ibis.cases((column.abs() < near, _real(0)), (column.abs() <= far, number))
    return number


def _period(day: Any, step: str) -> Any:
    """Return the number of a day's period, see ``dates.period_of``. Sessions are in UTC."""
    day = ibis.cases((day.between(FIRST_DAY, LAST_DAY), day))
    if step in ("day", "week"):
        return day.epoch_days() if step == "day" else ((day.epoch_days() + MONDAY) / 7).floor()
    year, month = day.year().cast("int64"), day.month().cast("int64")  # Postgres has them as decimal numbers
    return year if step == "year" else (year - 1970) * 12 + month - 1


def _age(on: Ages, born: Any) -> Any:
    """Return completed years on a day, see ``Ages.values``."""
    born = ibis.cases((born.between(FIRST_DAY, LAST_DAY), born))
    day = datetime.date.fromisoformat(on.day)
    in_year = born.month().cast("int64") * 32 + born.day().cast("int64")
    earlier = ibis.cases((in_year > 32 * day.month + day.day, 1), else_=0)
    return (day.year - born.year().cast("int64") - earlier).cast("float64")


def _near_low(line: Number) -> float:
    """Return the end of the numbers above the low end that are in its cell undivided."""
    return line.low + line.span * TINY


def _between(line: Number, x: Any) -> Any:
    """Return numbers between the bounds, NULL for all others and next to the low end."""
    if line.bins and not line.separated:
        raise ParameterError("The bounds are too far apart or too close together for an engine.")
    return ibis.cases((x.between(_real(_near_low(line)), _real(line.high)), x))


def _position(line: Number, y: Any) -> Any:
    """Return the position along the cells: its floor is the cell or an adjacent one, as it may round past an edge."""
    return (y - _real(line.low) if line.low else y) / _real(line.span) * _real(line.ordered)


def _inside(line: Number, position: Any, cell: Any) -> Any:
    """Return whether a position is so far from both edges of its cell that no rounding reaches them.

    In cells, a position is off by at most four roundings of ``ordered`` and two of the largest bound, and an edge by
    half of a grain and ten roundings of the largest bound. Comparing a value with edges takes longer; the margin is
    ten times what is needed, which costs nothing.
    """
    steps = 16 * math.ulp(max(abs(line.low), abs(line.high))) + (1 / line.grain if line.grain else 0.0)
    margin = 10 * (steps / line.span + 2 * TINY) * line.ordered
    return (position - cell).between(_real(margin), _real(1 - margin))


def _edge(line: Number, at: Any) -> Any:
    """Return the start of a cell, by the same operations as ``Number.edges``."""
    edge = _real(line.low) + _real(line.span) * at / _real(line.ordered)
    if line.grain:
        edge = (edge * _real(line.grain) + _real(0.5)).floor() / _real(line.grain)
    return ibis.least(edge, _real(line.high))


def _cell(part: Encoding, query: Any, i: int) -> Any:
    """Return the cell from the value and its estimate."""
    x, line = query[f"x{i}"], part.on
    if part.cuts:
        x = ibis.cases((x.abs() <= _real(LARGEST), x))
        below = [(x < _real(cut), place) for place, cut in enumerate(part.cuts)]
        return ibis.cases((x.isnull(), len(part.cuts) + 1), *below, else_=len(part.cuts))
    if not is_number(line):
        return x
    if is_dates(line):
        cell, outside = x - int(line.low), (x < int(line.low)) | (x >= int(line.high))
        out = x.isnull() if line.clamp else x.isnull() | outside
        return ibis.cases((out, _missing(line)), else_=ibis.least(ibis.greatest(cell, 0), line.ordered - 1))
    y, cell, last = query[f"y{i}"], query[f"g{i}"], _real(line.ordered - 1)
    cases = [(y.isnull(), _outside(line, x))]
    if line.separated:
        cases = [
            (_inside(line, query[f"p{i}"], cell), cell),
            *cases,
            (y < _edge(line, cell), ibis.greatest(cell - _real(1), _real(0))),
            (y >= _edge(line, cell + _real(1)), ibis.least(cell + _real(1), last)),
        ]
    return ibis.cases(*cases, else_=ibis.least(cell, last))


def _missing(line: Number) -> int:
    """Return the cell of missing values: the lowest where the domain has none for them."""
    return line.ordered if line.missing else 0


def _outside(line: Number, x: Any) -> Any:
    """Return the cell of a number that is not between the bounds, or next to the low end."""
    low, high = (-LARGEST, LARGEST) if line.clamp else (line.low, line.high)
    return ibis.cases(
        (x.between(_real(low), _real(_near_low(line))), _real(0)),
        (x.between(_real(line.high), _real(high)), _real(line.ordered - 1)),
        else_=_real(_missing(line)),
    )
