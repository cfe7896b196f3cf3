"""What an engine is asked: the cell of each value, and how many rows have these cells. Ibis writes it in its SQL.

Columns have types, and no text is taken for a number or a date. Every step is a query inside the next, so that nothing
is written twice: a value of each column (a number, a date's unit, a label's position), a first guess of its cell, the
cell. The guess is numpy's own, in the same order of doubles; so is its correction by the edges of the cell.
"""

from __future__ import annotations

import datetime
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.core import DataError
from dpcore.data.columns import Number, is_number
from dpcore.data.dates import MONDAY, is_dates
from dpcore.data.reading.tables import BLANKS
from dprelease.engines.counts import Encoding, checked

TINY = 2.0**-40
"""Of a line's span: what is nearer to its low end is in the first cell, and no quotient is too small for a double."""
SMALLEST, LARGEST = 1e-307, sys.float_info.max
"""Exact numbers nearer to 0 are 0, and larger ones are missing: a server breaks off where a double cannot hold one."""
FIRST_DAY, LAST_DAY = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
"""Days outside, and days without end, are missing."""
TEXTS = "dpscope_texts"
"""In an expression, the name of a function where a list stands that is handed over beside the query."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column as the engine has it.

    Attributes:
        name: there.
        kind: its type, as ibis calls it.
    """

    name: str
    kind: Any


def driver(module: str, *, extra: str) -> Any:
    """A library that an engine needs, imported when it is first needed; raises DataError where the server has none."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    raise DataError(f"This server has no driver for this engine: whoever runs it can install the extra “{extra}”.")


def compiler_of(name: str) -> Any:
    """Ibis' writer of an engine's SQL."""
    return getattr(driver("ibis.backends.sql.compilers", extra="engines"), name)()


def held(kind: Any) -> str:
    """What a column of a type holds, in a word or two; empty for what is not counted."""
    kinds = {
        "numbers": kind.is_numeric(), "text": kind.is_string(), "yes or no": kind.is_boolean(),
        "dates": kind.is_date() or kind.is_timestamp(),
    }  # fmt: skip
    return next((word for word, found in kinds.items() if found), "")


def _fitting(part: Encoding, column: TableColumn) -> None:
    """Raise DataError where a column's type is another than the declared one."""
    if part.cuts or (is_number(part.on) and not is_dates(part.on)):
        wanted, fits = "numbers", column.kind.is_numeric()
    elif is_number(part.on):
        wanted, fits = "dates", held(column.kind) == "dates"
    elif part.on.yes_no:
        wanted, fits = "yes or no", column.kind.is_boolean() or column.kind.is_numeric()
    else:
        wanted, fits = "labels", column.kind.is_string() or column.kind.is_integer()
    if not fits:
        raise DataError(
            f"“{part.column}” is declared as {wanted}, and the engine holds {held(column.kind)} there: a view in which "
            "it has that type, made by the table's owner, can be counted."
        )


def question(
    table: Sequence[str], parts: Sequence[Encoding], columns: Sequence[TableColumn], *, most: int
) -> tuple[Any, list[list[str]]]:
    """The expression for the cell of each part, and how many rows have these cells; and the lists it takes.

    Args:
        table: its name, with what it is in before it.
        parts: what to count.
        columns: that of each part.
        most: rows of the answer, and one more.

    Raises:
        DataError: a column's type is another than the declared one.
    """
    for part, column in zip(parts, columns, strict=True):
        _fitting(part, column)
    ibis = driver("ibis", extra="engines")
    ibis.options.sql.fuse_selects = False  # or each step would be written into the next, some times over
    database, *catalog = [*table[-2::-1], None]
    rows = ibis.table(
        {column.name: column.kind for column in columns} or {"k": "int64"},
        name=table[-1], database=database, catalog=catalog[0] if catalog else None,
    )  # fmt: skip
    if not parts:
        return rows.aggregate(k=rows.count()), []
    texts: list[list[str]] = []
    values = [_value(ibis, part, rows[column.name], texts) for part, column in zip(parts, columns, strict=True)]
    found = rows.select(**{f"x{i}": value for i, value in enumerate(values)})
    guessed = found.mutate(
        **{f"g{i}": _guess(ibis, part.on, found[f"x{i}"]) for i, part in enumerate(parts) if _is_cut(part)}
    )
    cells = guessed.select(**{f"c{i}": _cell(ibis, part, guessed, i).cast("int64") for i, part in enumerate(parts)})
    return cells.group_by(cells.columns).aggregate(k=cells.count()).limit(most + 1), texts


def written(expression: Any, *, compiler: str, place: str) -> str:
    """An expression in an engine's SQL.

    Args:
        expression: from ``question``.
        compiler: the name of ibis' writer.
        place: how the engine writes where a list stands, with {} for its number, from 1.
    """
    nodes = driver("sqlglot.expressions", extra="engines")
    writer = compiler_of(compiler)

    def placed(node: Any) -> Any:
        if isinstance(node, nodes.Anonymous) and node.name.lower() == TEXTS:
            return nodes.Var(this=place.format(int(node.expressions[0].name) + 1))
        return node

    return str(writer.to_sqlglot(expression).transform(placed).sql(writer.dialect))


def _real(ibis: Any, number: float) -> Any:
    """A double to its last digit: engines take a number that is written without quotes for a decimal one."""
    return ibis.literal(repr(float(number))).cast("float64")


def _number(ibis: Any, column: Any) -> Any:
    """A column of numbers as a finite double; NULL for what is none."""
    if column.type().is_integer():
        return column.cast("float64")
    if column.type().is_decimal() and column.type().precision is None:
        near, far = (ibis.literal(repr(end)).cast(column.type()) for end in (SMALLEST, LARGEST))
        return ibis.cases((column.abs() < near, _real(ibis, 0)), (column.abs() <= far, column.cast("float64")))
    number = column.cast("float64")
    return ibis.cases((number.abs() <= _real(ibis, LARGEST), number))  # NaN is above all numbers


def _period(ibis: Any, column: Any, step: str) -> Any:
    """The number of a date's unit, see ``dates.period_of``; NULL for what is none. Sessions are in UTC."""
    day = column if column.type().is_date() else column.date()
    day = ibis.cases((day.between(FIRST_DAY, LAST_DAY), day))
    if step in ("month", "year"):  # cast, as Postgres answers with decimal numbers, whatever ibis thinks
        year, month = day.year().cast("int64"), day.month().cast("int64")
        return year if step == "year" else (year - 1970) * 12 + month - 1
    return day.epoch_days() if step == "day" else ((day.epoch_days() + MONDAY) / 7).floor()


def _value(ibis: Any, part: Encoding, column: Any, texts: list[list[str]]) -> Any:
    """What a column's cell is worked out from; of labels and truths the cell."""
    if is_dates(part.on):
        return _period(ibis, column, part.on.step)
    if part.cuts or is_number(part.on):
        return _number(ibis, column)
    if part.on.yes_no:
        no, yes = (~column, column) if column.type().is_boolean() else (column == 0, column == 1)
        return ibis.cases((no, 0), (yes, 1), else_=2)
    texts.append(part.labels)

    @ibis.udf.scalar.builtin(name=TEXTS)
    def given(place: int) -> list[str]: ...  # type: ignore[empty-body]

    @ibis.udf.scalar.builtin
    def array_position(labels: list[str], text: str) -> int: ...  # type: ignore[empty-body]

    @ibis.udf.scalar.builtin
    def trim(text: str, blanks: str) -> str: ...  # type: ignore[empty-body]

    text = trim(column.cast("string"), BLANKS).nullif("")
    return array_position(given(len(texts) - 1), text).nullif(0).fill_null(len(part.labels) + 1) - 1


def _is_cut(part: Encoding) -> bool:
    """Whether a part's cells are those of a line of numbers."""
    return is_number(part.on) and not is_dates(part.on) and not part.cuts


def _guess(ibis: Any, line: Any, x: Any) -> Any:
    """The cell, or one beside it: a quotient may round past an edge."""
    checked(line)
    low, high, span, tiny = (_real(ibis, each) for each in (line.low, line.high, line.span, line.span * TINY))
    above = ibis.greatest(ibis.least(ibis.greatest(x, low), high) - low, tiny)
    return ibis.least((above / span * _real(ibis, line.ordered)).floor(), line.ordered - 1)


def _edge(ibis: Any, line: Number, at: Any) -> Any:
    """Where a cell starts, by the same steps as ``Number.edges``."""
    edge = _real(ibis, line.low) + _real(ibis, line.span) * at / _real(ibis, line.ordered)
    if line.grain:
        edge = (edge * _real(ibis, line.grain) + _real(ibis, 0.5)).floor() / _real(ibis, line.grain)
    return ibis.least(edge, _real(ibis, line.high))


def _cell(ibis: Any, part: Encoding, found: Any, i: int) -> Any:
    """The cell from the value and its guess."""
    x, line = found[f"x{i}"], part.on
    if part.cuts:
        below = [(x < _real(ibis, cut), place) for place, cut in enumerate(part.cuts)]
        return ibis.cases((x.isnull(), len(part.cuts) + 1), *below, else_=len(part.cuts))
    if not is_number(line):
        return x
    out = x.isnull()
    if is_dates(line):
        low, high = int(line.low), int(line.high)
        outside, cell = (x < low) | (x >= high), ibis.least(ibis.greatest(x - low, 0), line.ordered - 1)
    else:
        outside, cell = (x < _real(ibis, line.low)) | (x > _real(ibis, line.high)), found[f"g{i}"]
        if line.separated:
            past = ibis.cases((x < _edge(ibis, line, cell), -1), (x >= _edge(ibis, line, cell + 1), 1), else_=0)
            cell = ibis.least(ibis.greatest(cell + past, 0), line.ordered - 1)
    out = out if line.clamp else out | outside
    return ibis.cases((out, line.ordered if line.missing else 0), else_=cell)
