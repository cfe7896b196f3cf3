"""A whole table declared: what each column can be, and who is protected. Public, and the same for neighbouring tables.

>>> import pandas as pd
>>> from dpcore.data.declared import DeclaredColumn, DeclaredTable
>>> from dpcore.data.domains import Labelled, Labelled, Line, Truth
>>> table = DeclaredTable(columns=(DeclaredColumn(name="age", on=Line(high=120, bins=12, missing=True)),
...                                DeclaredColumn(name="smoker", on=Truth())))
>>> table.from_frame(pd.DataFrame({"age": [17, 41], "smoker": ["no", "Yes"]}), "smoker")
<Dataset: private, Truth>
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Dataset, Domain, Integers, ParameterError
from dpcore.data.attributes import Attributes
from dpcore.data.dates import Calendar
from dpcore.data.domains import MOST_BITS, Binned, Categories, Grid, Grouped, Labelled, Line, Truth
from dpcore.data.readings import Columns, Reading

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.data.reading.tables import Table

KINDS: dict[str, type[Domain]] = {"number": Line, "category": Categories, "date": Calendar, "yes/no": Truth}
"""What a column can be."""
MAP_SIDE = 64
"""Cells a side of a map of two numbers whose own cells are too many together."""
MOST_BINS = 24
"""Ranges of a number or a date among the columns of a whole table."""
SKEWED = 1_000
"""A number that starts at 0 or above and may reach so many times its start, or 1, is cut logarithmically."""
DECADES = 3
"""Below that of the upper bound that are told apart, and 0 to 1."""
SERIES = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
"""Where each decade is cut, from fine to coarse."""
MOST_PERSON_ROWS = 1000
"""Rows of one person; with more, epsilon means nothing for the person."""


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
        if isinstance(self.rows, bool) or not 1 <= self.rows <= MOST_PERSON_ROWS:
            raise ParameterError(f"A person may have between 1 and {MOST_PERSON_ROWS:,} rows, got {self.rows!r}.")

    @property
    def domain(self) -> Domain:
        """The reading's."""
        return self.reading.domain

    @property
    def columns(self) -> tuple[str, ...]:
        """The reading's, and the person's."""
        return (*self.reading.columns, self.person)

    @property
    def title(self) -> str:
        """The reading's."""
        return self.reading.title

    @property
    def room(self) -> int:
        """The reading's, and the persons in file order."""
        return self.reading.room + 32

    @property
    def person_rows(self) -> int:
        """The cap."""
        return self.rows

    def records(self, table: Table) -> NDArray[Any]:
        """The reading's, of the rows that are kept."""
        kept = table.present(self.person) & (earlier(table.codes(self.person)) < self.rows)
        found: NDArray[Any] = self.reading.records(table)[kept]
        return found


def earlier(codes: Integers) -> Integers:
    """How many rows before each have its code, (n,)."""
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
        on: a ``Line`` (bounds, bins, what happens out of bounds), ``Calendar``, ``Categories`` or ``Truth``.
        used: whether it may be read.
    """

    name: str
    on: Line | Categories
    used: bool = True

    @property
    def kind(self) -> str:
        """The key of KINDS."""
        return next(key for key, kind in reversed(KINDS.items()) if isinstance(self.on, kind))


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

    def on(self, name: str) -> Line | Categories:
        """What a column can be.

        Raises:
            ParameterError: it is not declared, or not to be used.
        """
        for column in self.used:
            if column.name == name:
                return column.on
        raise ParameterError("A column is read that is not declared to be used.")

    def reading(self, *names: str) -> Reading:
        """How these columns are read: one as declared, two numbers as pairs, a group and a number, or attributes.

        Numbers and dates among attributes are the categories of their cells. Of a pair with too many cells the numbers
        have at most MAP_SIDE cells a side.
        """
        kinds = [self.on(name) for name in names]
        return self._capped(Columns(names=names, on=_together(names, kinds)))

    def plane(self, first: str, second: str) -> Reading:
        """A map of two columns: numbers, dates, or labels side by side.

        Raises:
            ParameterError: a column of labels has one alone.
        """
        kinds = [
            Labelled(of=kind) if isinstance(kind, Categories) else kind for kind in (self.on(first), self.on(second))
        ]
        return self._capped(Columns(names=(first, second), on=_together((first, second), [*kinds])))

    def whole(self, *names: str, bins: int = MOST_BINS) -> Reading:
        """Rows of these columns, of all that may be read where none is named, as attributes; see ``ranged``."""
        names = names or tuple(column.name for column in self.used)
        kinds = [self.on(name) for name in names]
        columns = tuple(ranged(kind, bins=bins) if isinstance(kind, Line) else kind for kind in kinds)
        return self._capped(Columns(names=names, on=Attributes(names=names, columns=columns)))

    def cut(self, cuts: Mapping[str, tuple[float, ...]]) -> Reading:
        """Rows of these columns as attributes, numbers and dates cut at these places alone; labels as they are."""
        columns = []
        for name, places in cuts.items():
            kind = self.on(name)
            columns.append(Binned(line=kind, missing=kind.missing, cuts=places) if isinstance(kind, Line) else kind)
        return self._capped(Columns(names=tuple(cuts), on=Attributes(names=tuple(cuts), columns=tuple(columns))))

    def _capped(self, reading: Reading) -> Reading:
        return Capped(reading=reading, person=self.person, rows=self.person_rows) if self.person else reading

    def from_frame(self, frame: pd.DataFrame, *names: str, private: bool = True) -> Dataset:
        """These columns of a DataFrame; a file of the same rows gives the same records."""
        return self.reading(*names).from_frame(frame, private=private)


def coarser(line: Line, cells: int = MAP_SIDE) -> Line:
    """A number's line with so many cells at most; dates keep theirs, which are their units."""
    if isinstance(line, Calendar | Labelled) or line.ordered <= cells:
        return line
    return dataclasses.replace(line, bins=cells)


def ranged(line: Line, *, bins: int = MOST_BINS) -> Binned:
    """A line's numbers in so many ranges at most, by a public rule: its bounds alone say which.

    Numbers that may be 0 and may reach thousands are cut logarithmically, and have one range of all below the first
    cut. Others, and dates, get ranges of as many of the line's own cells each.

    >>> ranged(Line(high=100_000, bits=10)).labels[:4], ranged(Line(high=120, bins=120), bins=30).labels[1]
    (('0 to 1', '1 to 100', '100 to 150', '150 to 200'), '4 to 8')
    """
    start = max(line.low, 1.0)
    if not isinstance(line, Calendar) and line.low >= 0 and line.high >= SKEWED * start:
        found: list[float] = []
        for series in SERIES:
            found = _logarithmic(line, series=series)
            if len(found) < bins:
                break
        return Binned(line=line, missing=line.missing, cuts=tuple(found))
    cells = -(-line.ordered // bins)
    cuts = line.edges[cells:-1:cells].tolist() if cells > 1 else []
    return Binned(line=line, missing=line.missing, cuts=tuple(cuts))


def _logarithmic(line: Line, *, series: tuple[float, ...]) -> list[float]:
    """Cuts at these places of each decade, above 10 whole numbers, inside the line's bounds."""
    last = math.floor(math.log10(line.high))
    first = max(last - DECADES, math.floor(math.log10(max(line.low, 1.0))))
    places = {1.0, *(step * 10.0**decade for decade in range(first, last + 1) for step in series)}
    return [place for place in sorted(places) if line.low < place < line.high and (place >= 10 or place % 1 == 0)]


def _together(names: tuple[str, ...], kinds: list[Line | Categories]) -> Domain:
    """The domain of these columns."""
    match kinds:
        case [Line() | Categories() as alone]:
            return alone
        case [Line() as first, Line() as second]:
            if first.bits + second.bits > MOST_BITS:
                first, second = coarser(first), coarser(second)
            return Grid(first=first, second=second, names=(names[0], names[1]))
        case [Categories() as group, Line() as line] if not isinstance(group, Truth):
            return Grouped(labels=group.labels, line=line)
    columns = tuple(Binned(line=kind) if isinstance(kind, Line) else kind for kind in kinds)
    return Attributes(names=names, columns=columns)
