"""Postgres, by psycopg: a session that can only read, closed when it takes too long."""

from __future__ import annotations

import socket
import weakref
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dpcore.core import DataError
from dprelease.engines.dialects import Dialect, TableColumn, Values
from dprelease.engines.engine import MOST_COLUMNS, NOT_COUNTS, Engine, driver
from dprelease.engines.portable import (
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    SINGLE,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    Portable,
)  # fmt: skip

KINDS = {
    "int2": WHOLE, "int4": WHOLE, "int8": WHOLE, "float4": SINGLE, "float8": DOUBLE, "numeric": DECIMAL, "bool": TRUTH,
    "date": DATE, "timestamp": TIME, "timestamptz": INSTANT, "text": TEXT, "varchar": TEXT, "bpchar": TEXT,
    "uuid": TEXT,
}  # fmt: skip
SECONDS_TO_CONNECT = 10
LARGEST, SMALLEST = "1.7976931348623157e308", "1e-307"
SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO'",
    "SET extra_float_digits = 1",
    "SET standard_conforming_strings = on",
    "SET client_min_messages = 'error'",
)


class PostgresWords(Portable):
    """Postgres 12 or later."""

    double = "DOUBLE PRECISION"

    def name(self, text: str) -> str:
        """Quotation marks doubled, and the driver's own sign."""
        return '"' + text.replace('"', '""').replace("%", "%%") + '"'

    def place(self, key: str, kind: str) -> str:
        """A named parameter."""
        return f"%({key})s::{'text[]' if kind == TEXT else 'float8[]'}"

    def text(self, column: TableColumn) -> str:
        """Cast, and trimmed."""
        return f"nullif(btrim(CAST({self.name(column.name)} AS TEXT), E' \\t\\n'), '')"

    def matches(self, text: str, pattern: str) -> str:
        """Without regard to lines."""
        return f"{text} ~ '^(?:{pattern})$'"

    def inner(self, text: str, pattern: str) -> str:
        """What stands in brackets."""
        return f"substring({text} from '{pattern}')"

    def cast(self, text: str, kind: str) -> str:
        """By way of exact numbers, of which none is too large or too small to be one."""
        return f"CAST({text} AS INTEGER)" if kind == WHOLE else self._near(f"CAST({text} AS NUMERIC)")

    def _near(self, number: str) -> str:
        """An exact number as a double; NULL beyond the largest, NaN included, and 0 beside 0."""
        return (
            f"CASE WHEN abs({number}) < {SMALLEST} THEN 0 WHEN abs({number}) <= {LARGEST} THEN"
            f" CAST({number} AS DOUBLE PRECISION) END"
        )

    def finite(self, column: TableColumn) -> str:
        """NaN is above all numbers here."""
        name = self.name(column.name)
        if column.kind == DECIMAL:
            return self._near(name)
        number = f"CAST({name} AS DOUBLE PRECISION)"
        return (
            number
            if column.kind == WHOLE
            else f"CASE WHEN abs({number}) <= {self.real(float(LARGEST))} THEN {number} END"
        )

    def stripped(self, text: str) -> str:
        """Other white space than blanks, too."""
        return f"btrim({text}, E' \\t\\n\\r\\f\\x0b')"

    def days(self, text: str) -> str:
        """Made of its parts, if the month has so many days."""
        year, month, day = (
            f"CAST(substring({text} from '{form}') AS INTEGER)"
            for form in ("^([0-9]{4})", "^[0-9]{4}-([0-9]{2})", "^[0-9]{4}-[0-9]{2}-([0-9]{2})")
        )
        leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))".replace("%", "%%")
        last = f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END"
        made = f"make_date(CASE {year} WHEN 0 THEN -1 ELSE {year} END, {month}, {day})"  # year 0 is called 1 BC
        return f"CASE WHEN {day} <= {last} THEN {made} - DATE '1970-01-01' END"

    def of_day(self, field: str, day: str) -> str:
        """Of the date that is so many days on."""
        return f"CAST(extract({field} from DATE '1970-01-01' + CAST({day} AS INTEGER)) AS INTEGER)"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Postgres(Engine):
    """A table of a Postgres database.

    Attributes:
        address: as libpq has it: "host=… dbname=… user=… password=…", or postgresql://….
        name: of the table, with its schema or without.
    """

    dialect: ClassVar[Dialect] = PostgresWords()
    address: str
    name: str
    _held: list[Any] = field(default_factory=list, init=False)
    _shut: list[Any] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._held)

    @property
    def table(self) -> str:
        """Quoted."""
        return ".".join(map(self.dialect.name, self.name.split(".")))

    def _connection(self) -> Any:
        """The one that is open, or another: the engine may have dropped it, or an interruption shut it."""
        for held in [each for each in self._held if each.closed or each in self._shut]:
            held.close()
            self._held.remove(held)
        self._shut.clear()
        if not self._held:
            psycopg = driver("psycopg", extra="engines")
            made = psycopg.connect(
                self.address, autocommit=True, connect_timeout=SECONDS_TO_CONNECT, application_name="dpscope"
            )
            self._held.append(made)
            for setting in SETTINGS:
                made.execute(setting)
            made.execute(f"SET statement_timeout = {int(1000 * self.allowance.seconds)}")
        return self._held[-1]

    def columns(self) -> list[TableColumn]:
        """In the table's order."""
        schema, _, table = self.name.rpartition(".")
        query = (
            "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_class c ON a.attrelid = c.oid"
            " JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid"
            " WHERE c.relname = %(table)s AND a.attnum > 0 AND NOT a.attisdropped"
            " AND CASE WHEN %(schema)s = '' THEN pg_table_is_visible(c.oid) ELSE n.nspname = %(schema)s END"
            " ORDER BY a.attnum"
        )
        told = {"table": table, "schema": schema}
        found = self.answered(lambda: self._stream(query, told, most=2 * MOST_COLUMNS))
        kinds = [TableColumn(name=str(name), kind=KINDS[str(kind)]) for name, kind in found if str(kind) in KINDS]
        return kinds[:MOST_COLUMNS]

    def _stream(self, query: str, values: dict[str, Any], *, most: int) -> list[tuple[Any, ...]]:
        """Row by row, so that an answer without end ends here."""
        rows = []
        try:
            with self._connection().cursor() as cursor:
                for row in cursor.stream(query, values):
                    rows.append(row)
                    if len(rows) > most:
                        self.close()  # or the rest would be read before anything else
                        break
        except driver("psycopg", extra="engines").errors.QueryCanceled:  # the server looked at its clock first
            raise DataError(self.allowance.too_slow) from None
        return rows

    def ask(self, query: str, values: Values, *, width: int) -> Any:
        """Rows of whole numbers."""
        found = self._stream(query, dict(values), most=self.allowance.answers)
        if any(len(row) != width for row in found):
            raise DataError(NOT_COUNTS)
        return found

    def interrupt(self) -> None:
        """Shut the connection: an engine that does not answer may not listen either."""
        for held in list(self._held):
            with socket.socket(fileno=socket.dup(held.fileno())) as line:
                self._shut.append(held)
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        _close(self._held)


def _close(held: list[Any]) -> None:
    while held:
        held.pop().close()
