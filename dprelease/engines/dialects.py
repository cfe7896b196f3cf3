"""One query for every engine: encode each column to its cell, group, count. Here with DuckDB's words for values.

Every step is a subquery of its own, so that no expression is written twice: first a value of each column (a number, a
date's unit, a label's position), then a first guess of its cell, then the cell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.data.columns import Number, is_number
from dpcore.data.dates import is_dates
from dpcore.data.reading.spellings import period, truth
from dpcore.data.reading.tables import FRACTIONS, plain
from dprelease.engines.counts import Encoding, checked

TINY = 2.0**-40
"""Of a line's span: what is nearer to its low end is in the first cell, and no quotient is too small for a double."""
Values = dict[str, list[str] | list[float]]


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column as the engine has it.

    Attributes:
        name: there.
        kind: in the engine's words, or in those of ``portable``.
    """

    name: str
    kind: str


class Dialect(ABC):
    """How an engine writes what all of them can do."""

    double: str = "DOUBLE"
    whole: str = "INTEGER"

    @abstractmethod
    def name(self, text: str) -> str:
        """A name of a column, quoted."""

    @abstractmethod
    def place(self, key: str, kind: str) -> str:
        """Where a list that is handed over beside the query stands; its kind is "text" or "double"."""

    @abstractmethod
    def number(self, column: TableColumn) -> str:
        """A column as a finite number; NULL for what is none."""

    @abstractmethod
    def truth(self, column: TableColumn) -> str:
        """0 for no, 1 for yes, 2 for anything else."""

    @abstractmethod
    def period(self, column: TableColumn, step: str) -> str:
        """The number of a date's unit, see ``spellings.period``; NULL for what is none."""

    @abstractmethod
    def position(self, column: TableColumn, labels: Sequence[str], key: str, values: Values) -> str:
        """The position of a column's text among the labels, from 1; NULL or 0 for none of them."""

    def real(self, number: float) -> str:
        """A number to its last digit."""
        return f"CAST('{number!r}' AS {self.double})"

    def query(
        self, table: str, parts: Sequence[Encoding], columns: Sequence[TableColumn], *, most: int
    ) -> tuple[str, Values]:
        """SQL for the cell of each part, and how many rows have these cells; and the lists it takes.

        Args:
            table: SQL for it.
            parts: what to count.
            columns: that of each part.
            most: rows of the answer.
        """
        values: Values = {}
        if not parts:
            return f"SELECT count(*) AS k FROM {table}", values
        first = [f"{self._value(part, columns[i], f'p{i}', values)} AS x{i}" for i, part in enumerate(parts)]
        inner = f"(SELECT {', '.join(first)} FROM {table}) q"
        cut = [i for i, part in enumerate(parts) if not part.cuts and is_number(part.on) and part.on.separated]
        cut = [i for i in cut if not is_dates(parts[i].on)]
        if cut:
            guesses = [f"{self._guess(parts[i].on, f'x{i}')} AS g{i}" for i in cut]
            inner = f"(SELECT {', '.join(f'x{i}' for i in range(len(parts)))}, {', '.join(guesses)} FROM {inner}) r"
        cells = [f"CAST({self._cell(part, i)} AS {self.whole}) AS c{i}" for i, part in enumerate(parts)]
        names = ", ".join(f"c{i}" for i in range(len(parts)))
        inner = f"(SELECT {', '.join(cells)} FROM {inner}) s"
        return f"SELECT {names}, count(*) AS k FROM {inner} GROUP BY {names} LIMIT {most + 1}", values

    def _value(self, part: Encoding, column: TableColumn, key: str, values: Values) -> str:
        """SQL for what a column's cell is worked out from; labels and truths are worked out at once."""
        if part.cuts:
            return self.number(column)
        if is_dates(part.on):
            return self.period(column, part.on.step)
        if is_number(part.on):
            return self.number(column)
        if part.on.yes_no:
            return self.truth(column)
        labels = part.labels
        found = self.position(column, labels, key, values)
        return f"coalesce(nullif({found}, 0), {len(labels) + 1}) - 1"

    def _clipped(self, line: Number, x: str) -> str:
        """How far a number is above the line's low end."""
        low, high, tiny = map(self.real, (line.low, line.high, (line.high - line.low) * TINY))
        return f"greatest(least(greatest({x}, {low}), {high}) - {low}, {tiny})"

    def _guess(self, line: Number | object, x: str) -> str:
        """The cell, or one beside it: a quotient may round past an edge."""
        assert is_number(line)
        along = f"{self._clipped(line, x)} / {self.real(line.high - line.low)} * {self.real(line.ordered)}"
        return f"least(floor({along}), {self.real(line.ordered - 1)})"

    def _edge(self, line: Number, at: str) -> str:
        """Where a cell starts, by the same steps as ``Number.edges``."""
        edge = f"{self.real(line.low)} + {self.real(line.high - line.low)} * {at} / {self.real(line.ordered)}"
        if line.grain:
            edge = f"floor(({edge}) * {self.real(line.grain)} + {self.real(0.5)}) / {self.real(line.grain)}"
        return f"least({edge}, {self.real(line.high)})"

    def _cell(self, part: Encoding, i: int) -> str:
        """SQL for the cell from the value and its guess."""
        x, g = f"x{i}", f"g{i}"
        if part.cuts:
            ranges = "".join(f" WHEN {x} < {self.real(place)} THEN {at}" for at, place in enumerate(part.cuts))
            return f"CASE WHEN {x} IS NULL THEN {len(part.cuts) + 1}{ranges} ELSE {len(part.cuts)} END"
        line = part.on
        if not is_number(line):
            return x
        low, high, last = self.real(line.low), self.real(line.high), line.ordered - 1
        out = f"{x} IS NULL" if line.clamp else f"{x} IS NULL OR {x} < {low} OR {x} > {high}"
        if is_dates(line):
            out = out.replace(f"> {high}", f">= {high}")
            cell = f"least(greatest({x} - {low}, 0), {last})"
        elif line.separated:
            edge, above = (self._edge(line, at) for at in (g, f"({g} + 1)"))
            cell = (
                f"least(greatest({g} + CASE WHEN {x} < {edge} THEN -1 WHEN {x} >= {above} THEN 1 ELSE 0 END, 0),"
                f" {last})"
            )
        else:
            checked(line)
            along = f"{self._clipped(line, x)} / {self.real(line.high - line.low)} * {self.real(line.ordered)}"
            cell = f"least(floor({along}), {last})"
        return f"CASE WHEN {out} THEN {line.ordered if line.missing else 0} ELSE {cell} END"


class Duck(Dialect):
    """As a file is read, word by word: see ``dpcore.data.reading.tables``."""

    def name(self, text: str) -> str:
        """Quotation marks doubled."""
        return '"' + text.replace('"', '""') + '"'

    def place(self, key: str, kind: str) -> str:
        """A named parameter."""
        return f"${key}"

    def _plain(self, column: TableColumn) -> str:
        return plain(self.name(column.name), column.kind)

    def _text(self, column: TableColumn) -> str:
        if column.kind in FRACTIONS or column.kind.startswith("DECIMAL") or column.kind.endswith("HUGEINT"):
            return f"regexp_replace(({self._plain(column)})::VARCHAR, '\\.0$', '')"
        return f"({self._plain(column)})::VARCHAR"

    def number(self, column: TableColumn) -> str:
        """Tried; a file's column of fractions has none that is not finite."""
        number = f"try_cast({self._plain(column)} AS DOUBLE)"
        return f"CASE WHEN isfinite({number}) THEN {number} END" if column.kind == "VARCHAR" else number

    def truth(self, column: TableColumn) -> str:
        """As in a file."""
        return truth(self._text(column))

    def period(self, column: TableColumn, step: str) -> str:
        """As in a file."""
        return f"CAST({period(self._text(column), step)} AS DOUBLE)"

    def position(self, column: TableColumn, labels: Sequence[str], key: str, values: Values) -> str:
        """In the list."""
        values[key] = list(labels)
        return f"list_position({self.place(key, 'text')}, {self._text(column)})"


__all__ = ["Dialect", "Duck", "TableColumn", "Values"]
