"""Declarations of whole tables: domain of each column, and column of persons. Public, the same for neighbouring tables.

>>> import pandas as pd
>>> from dpcore.data.declarations import DeclaredColumn, DeclaredTable
>>> from dpcore.data.columns import Labels, Number
>>> table = DeclaredTable(columns=(DeclaredColumn(name="age", on=Number(high=120, bins=12, missing=True)),
...                                DeclaredColumn(name="smoker", on=Labels(yes_no=True))))
>>> table.from_frame(pd.DataFrame({"age": [17, 41], "smoker": ["no", "Yes"]}), "smoker")
<Dataset: private, Labels>
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Dataset, Domain, Integers, ParameterError, is_visible
from dpcore.core.sizes import MAX_BITS, MAX_PERSON_ROWS
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.dates import is_ages, is_dates
from dpcore.data.product import Product
from dpcore.data.readings import Columns, Reading

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.data.reading.tables import Table

MAP_SIDE = 64
"""Cells a side of a map of two numbers whose own cells are too many together."""
MAX_BINS = 24
"""Ranges of a number or a date among the columns of a whole table."""
SKEWED = 1_000
"""A number that starts at 0 or above and may reach so many times its start, or 1, is cut logarithmically."""
DECADES = 3
"""Below that of the upper bound that are told apart, and 0 to 1."""
SERIES = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
"""Where each decade is cut, from fine to coarse."""


@dataclass(frozen=True, kw_only=True)
class Capped(Reading):
    """Another reading, of so many rows of each person at most: the first ones in the file. Other rows are left out.

    Then a person more or less is at most so many rows more or less, whatever other persons' rows are. Rows that do not
    say whose they are cannot be told apart by person: none of them is read.

    Attributes:
        reading: what is read of a row.
        person: the column that says whose row it is.
        rows: of one person, at most.
    """

    reading: Reading
    person: str
    rows: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not 1 <= self.rows <= MAX_PERSON_ROWS:
            raise ParameterError(
                f"The maximum rows per person must be between 1 and {MAX_PERSON_ROWS:,} rows, got {self.rows!r}."
            )

    @override
    @property
    def domain(self) -> Domain:
        return self.reading.domain

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        """The reading's, and the person's."""
        return (*self.reading.columns, self.person)

    @override
    @property
    def title(self) -> str:
        return self.reading.title

    @override
    @property
    def room(self) -> int:
        """The reading's, and the persons in file order."""
        return self.reading.room + 32

    @override
    @property
    def person_rows(self) -> int:
        return self.rows

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """Return the reading's records of the rows within the cap."""
        counted = table.present(self.person) & (count_earlier(table.codes(self.person)) < self.rows)
        records: NDArray[Any] = self.reading.records(table)[counted]
        return records


def count_earlier(codes: Integers) -> Integers:
    """Return, for each row, the number of earlier rows with its code, (n,)."""
    order = np.argsort(codes, kind="stable")
    among = codes[order]
    first = np.append(True, among[1:] != among[:-1])
    starts = np.maximum.accumulate(np.where(first, np.arange(len(codes)), 0))
    before = np.empty(len(codes), dtype=np.int64)
    before[order] = np.arange(len(codes)) - starts
    return before


@dataclass(frozen=True, kw_only=True)
class DeclaredColumn:
    """One column and what its values can be.

    Attributes:
        name: in the table.
        on: a ``Number`` (bounds, bins, what happens out of bounds), ``Dates`` or ``Labels``.
        used: whether it may be read.
    """

    name: str
    on: Number | Labels
    used: bool = True

    def __post_init__(self) -> None:
        if not is_visible(self.name):
            raise ParameterError("A column's name needs a visible character.")
        if self.on != self.on.declared:
            raise ParameterError(
                "A declared column has cells of equal width, or a cell for each label. Statistics may use other cells."
            )

    @property
    def kind(self) -> str:
        """Type of the values: "number", "whole number", "age from birth date", "category", "date" or "yes/no"."""
        if is_labels(self.on):
            return "yes/no" if self.on.yes_no else "category"
        if is_ages(self.on):
            return "age from birth date"
        return "date" if is_dates(self.on) else "whole number" if self.on.whole else "number"


@dataclass(frozen=True, kw_only=True)
class DeclaredTable:
    """Columns as declared, and the unit of privacy.

    Attributes:
        columns: in the table's order; each name once.
        person: the column that says whose row it is; empty where a row is the unit.
        person_rows: rows of one person that are read at most; see ``Capped``.
    """

    columns: tuple[DeclaredColumn, ...]
    person: str = ""
    person_rows: int = 1

    def __post_init__(self) -> None:
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ParameterError("Every column must be declared once.")

    @property
    def used(self) -> tuple[DeclaredColumn, ...]:
        """The columns that may be read."""
        return tuple(column for column in self.columns if column.used)

    def on(self, name: str) -> Number | Labels:
        """Return the domain of a column.

        Raises:
            ParameterError: it is not declared, or not to be used.
        """
        for column in self.used:
            if column.name == name:
                return column.on
        raise ParameterError("A column that is not declared was requested.")

    def reading(self, *names: str) -> Reading:
        """Return the reading of these columns: one as declared, two numbers as pairs, group and number, or attributes.

        Numbers and dates among attributes are the categories of their cells. Of a pair with too many cells the numbers
        have at most MAP_SIDE cells a side.
        """
        domains = [self.on(name) for name in names]
        return self._capped(Columns(names=names, on=_together(names, domains)))

    def plane(self, first: str, second: str) -> Reading:
        """Return a map of two columns: numbers, dates, or labels side by side.

        Raises:
            ParameterError: a column of labels has one alone.
        """
        sides = [self.on(first), self.on(second)]
        if any(side.ordered < 2 for side in sides):
            raise ParameterError("A side of a map needs at least two labels.")
        return self._capped(Columns(names=(first, second), on=_map((first, second), *sides)))

    def whole(self, *names: str, bins: int = MAX_BINS) -> Reading:
        """Rows of these columns, of all that may be read where none is named, as attributes; see ``bin_ranges``."""
        names = names or tuple(column.name for column in self.used)
        domains = [self.on(name) for name in names]
        columns = tuple(bin_ranges(on, bins=bins) if is_number(on) else on for on in domains)
        return self._capped(Columns(names=names, on=Product(names=names, columns=columns)))

    def cut(self, cuts: Mapping[str, tuple[float, ...]]) -> Reading:
        """Rows of these columns as attributes, numbers and dates cut at these places alone; labels as they are."""
        domains = [(self.on(name), places) for name, places in cuts.items()]
        columns = tuple(replace(on, cuts=places) if is_number(on) else on for on, places in domains)
        return self._capped(Columns(names=tuple(cuts), on=Product(names=tuple(cuts), columns=columns)))

    def _capped(self, reading: Reading) -> Reading:
        return Capped(reading=reading, person=self.person, rows=self.person_rows) if self.person else reading

    def from_frame(self, frame: pd.DataFrame, *names: str, private: bool = True) -> Dataset:
        """Return these columns of a DataFrame; a file of the same rows gives the same records."""
        return self.reading(*names).from_frame(frame, private=private)


@dataclass(frozen=True, kw_only=True)
class Unfit:
    """Cells of one column that hold no value of its declaration. Private: they are counted on the true rows.

    Attributes:
        column: its name.
        cells: of the column.
        empty: of these, cells that hold nothing.
        wrong: of these, cells that hold something else; they count as missing.
    """

    column: str
    cells: int
    empty: int
    wrong: int


def unfit_cells(readings: Iterable[Reading], table: Table) -> list[Unfit]:
    """Count the cells of each declared column that do not fit, once for each column and declaration."""
    columns = [each for reading in readings for each in columns_read(reading)]
    return [_unfit(name, on, table) for name, on in dict.fromkeys(columns)]


def columns_read(reading: Reading) -> list[tuple[str, Number | Labels]]:
    """Return each column that is read as it is declared, and its declaration."""
    if isinstance(reading, Capped):
        return columns_read(reading.reading)
    return list(zip(reading.names, reading.on.columns, strict=True)) if isinstance(reading, Columns) else []


def _unfit(name: str, on: Number | Labels, table: Table) -> Unfit:
    """Count one column's cells; a column without a cell for missing values is given one."""
    reads = replace(on, missing=True)
    reading = Columns(names=(name,), on=reads)
    present, cells = table.present(name), reading.records(table)
    wrong = present & (cells >= reads.ordered)
    return Unfit(column=name, cells=len(cells), empty=int((~present).sum()), wrong=int(wrong.sum()))


def coarsen(line: Number, cells: int = MAP_SIDE) -> Number:
    """Return a number's line with so many cells at most; dates keep theirs, which are their units."""
    if is_dates(line) or is_ages(line) or line.ordered <= cells:
        return line
    return replace(line, bins=cells)


def bin_ranges(line: Number, *, bins: int = MAX_BINS) -> Number:
    """Return a line's numbers in so many ranges at most, by a public rule: its bounds alone say which.

    Numbers that may be 0 and may reach thousands are cut logarithmically, and have one range of all below the first
    cut. Others, and dates, get ranges of as many of the line's own cells each.

    >>> [bin_ranges(Number(high=100_000)).describe(cell) for cell in range(4)]
    ['0 to 1', '1 to 100', '100 to 150', '150 to 200']
    >>> bin_ranges(Number(high=120, bins=120), bins=30).describe(1)
    '4 to 8'
    """
    start = max(line.low, 1.0)
    if not is_dates(line) and line.low >= 0 and line.high >= SKEWED * start:
        cuts: list[float] = []
        for series in SERIES:
            cuts = _logarithmic(line, series=series)
            if len(cuts) < bins:
                break
        return replace(line, cuts=tuple(cuts))
    cells = -(-line.ordered // bins)
    cuts = line.edges[cells:-1:cells].tolist() if cells > 1 else []
    return replace(line, cuts=tuple(cuts))


def _logarithmic(line: Number, *, series: tuple[float, ...]) -> list[float]:
    """Return the cuts at these places of each decade, above 10 whole numbers, inside the line's bounds."""
    last = math.floor(math.log10(line.high))
    first = max(last - DECADES, math.floor(math.log10(max(line.low, 1.0))))
    places = {1.0, *(step * 10.0**decade for decade in range(first, last + 1) for step in series)}
    return [place for place in sorted(places) if line.low < place < line.high and (place >= 10 or place % 1 == 0)]


def _together(names: tuple[str, ...], domains: list[Number | Labels]) -> Number | Labels | Product:
    """The domain of these columns: one alone, two numbers or a group and a number as a map, others as attributes."""
    match domains:
        case [alone]:
            return alone
        case [first, second] if is_number(second) and not (is_labels(first) and first.yes_no):
            return _map((names[0], names[1]), first, second)
    return Product(names=names, columns=tuple(domains))


def _map(names: tuple[str, str], first: Number | Labels, second: Number | Labels) -> Product:
    """Return two columns, each as finely cut as both together may be."""
    if first.ordered * second.ordered > 2**MAX_BITS:
        first, second = (coarsen(side) if is_number(side) else side for side in (first, second))
    return Product.map(first, second, names=names)
