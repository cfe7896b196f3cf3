"""Readings of a table's rows as records: columns as they are, yes/no attributes, coded categories, or unit vectors.

A reading is public: it names columns and declares what their values can be. It fits any table with these columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import DataError, Dataset, Domain, Floats, Integers, ParameterError, Provenance, ProvenanceKind
from dpcore.data.columns import NO_YES, Column, Labels
from dpcore.data.predicates import Predicate, evaluate_predicates
from dpcore.data.product import Product, is_groups
from dpcore.data.sphere import Sphere

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.data.reading.tables import Table

COORDINATES = ("first coordinate", "second coordinate", "third coordinate")
COPIES = 8
"""Of all the numbers at once, while rows are scaled to length 1."""


class Reading(ABC):
    """Which columns are read, and what a record made of them can be."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """Domain of the records that are read."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that are read; one may be named twice."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Description of the reading, in words."""

    @property
    def room(self) -> int:
        """Bytes for each row that are held while a column is read."""
        return 0

    @property
    def person_rows(self) -> int:
        """Rows of one person that are read at most; 0 where a row is protected."""
        return 0

    @abstractmethod
    def records(self, table: Table) -> NDArray[Any]:
        """Return the table's rows on the domain; raises DataError where it has no such column."""

    def dataset(self, table: Table, provenance: Provenance) -> Dataset:
        """The table's rows; of a table that an engine keeps, their counts. Raises DataError as ``records`` does."""
        return table.dataset(self, provenance)

    def from_frame(self, frame: pd.DataFrame, *, private: bool = True) -> Dataset:
        """Return the rows of a DataFrame; see the function ``from_frame``."""
        return self.dataset(*_read(frame, list(dict.fromkeys(self.columns)), private=private))


def from_frame(
    frame: pd.DataFrame, columns: Hashable | Sequence[Hashable], domain: Column | Product, *, private: bool = True
) -> Dataset:
    """Encode columns of a pandas DataFrame; the same table in a file gives the same records.

    Args:
        frame: one record per row.
        columns: a name, or a list of names: see ``Columns``.
        domain: what a record can be. Declare it; do not read it off private rows.
        private: False for rows that are public or made up.

    Raises:
        DataError: there is no such column; the message shows no record.
        ParameterError: the domain needs other columns.

    >>> import dpcore, pandas as pd
    >>> df = pd.DataFrame({"age": ["17", "41", None, "200"]})
    >>> dpcore.from_frame(df, "age", dpcore.Number(high=128, bits=6, missing=True))
    <Dataset: private, Number>
    """
    table, provenance = _read(frame, list(columns) if isinstance(columns, list | tuple) else [columns], private=private)
    return Columns(names=table.columns, on=domain).dataset(table, provenance)


def _read(frame: pd.DataFrame, wanted: list[Any], *, private: bool) -> tuple[Table, Provenance]:
    """Return these columns as a table."""
    # Here and not above: whoever reads no table waits for no database.
    from dpcore.data.frames import read_frame
    from dpcore.data.reading.intake import clean_name

    for name in wanted:
        matches = sum(bool(name == each) for each in frame.columns)
        if matches != 1:
            raise DataError(f"frame: {matches or 'no'} columns are named “{clean_name(str(name))}”; one is needed.")
    table = read_frame(frame[wanted])
    if len(table.columns) != len(wanted):
        raise DataError("frame: a column holds neither numbers nor text.")
    kind = ProvenanceKind.PRIVATE if private else ProvenanceKind.STAND_IN
    return table, Provenance(kind=kind, title=f"frame: {' × '.join(table.columns)}")


@dataclass(frozen=True, kw_only=True)
class Columns(Reading):
    """Columns as they are.

    Attributes:
        names: one for a column, and one for each column of a product.
        on: the declared domain.

    Raises:
        ParameterError: the domain needs other columns, or is not made of columns alone.
    """

    names: tuple[str, ...]
    on: Column | Product

    def __post_init__(self) -> None:
        if not isinstance(self.on, Column | Product) or len(self.names) != len(self.on.columns):
            raise ParameterError(f"{type(self.on).__name__} is not encoded from {len(self.names)} columns.")

    @override
    @property
    def domain(self) -> Column | Product:
        return self.on

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @override
    @property
    def title(self) -> str:
        return " by ".join(reversed(self.names)) if is_groups(self.on) else " × ".join(self.names)

    @override
    @property
    def room(self) -> int:
        """Of several: what was read, and the cells."""
        return 0 if len(self.names) == 1 else 16 * len(self.names)

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """Cells, (n,), or one for each column, (n, d)."""
        columns = zip(self.names, self.on.columns, strict=True)
        return self.on.joined([column.encode(column.values(table, name)) for name, column in columns])


@dataclass(frozen=True, kw_only=True)
class YesNo(Reading):
    """Yes/no attributes, told by predicates."""

    predicates: tuple[Predicate, ...]

    @override
    @property
    def domain(self) -> Product:
        return Product.yes_no([each.name for each in self.predicates])

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(each.column for each in self.predicates)

    @override
    @property
    def title(self) -> str:
        return f"{len(self.predicates)} yes/no attributes"

    @override
    @property
    def room(self) -> int:
        return len(self.predicates)

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """Each row's attributes, (n, d)."""
        return evaluate_predicates(table, self.predicates)


@dataclass(frozen=True, kw_only=True)
class Coded:
    """A column as one of several categories: by its labels, or its number cut at public places.

    Attributes:
        column: its name in the table.
        name: what the attribute is called.
        labels: of the categories.
        cuts: where numbers are cut; a number equal to a place lies above it.
    """

    column: str
    name: str
    labels: tuple[str, ...]
    cuts: tuple[float, ...] = ()

    @property
    def categories(self) -> Labels:
        """The labels, and a cell for anything else."""
        return Labels(labels=self.labels)

    def codes(self, table: Table) -> Integers:
        """Position of each row's label, or how many places its number is not below; one more for anything else."""
        return cut(table.numbers(self.column), self.cuts) if self.cuts else table.labels(self.column, list(self.labels))


def cut(numbers: Floats, places: Sequence[float]) -> Integers:
    """Return the range of each number, (n,): 0 below the first place; one more than the last for a missing number."""
    ranges: Integers = np.where(np.isnan(numbers), len(places) + 1, np.searchsorted(places, numbers, side="right"))
    return ranges


@dataclass(frozen=True, kw_only=True)
class Several(Reading):
    """Several categories at once: coded columns, and predicates as the categories no and yes."""

    attributes: tuple[Coded | Predicate, ...]

    @override
    @property
    def domain(self) -> Product:
        columns = tuple(each.categories if isinstance(each, Coded) else NO_YES for each in self.attributes)
        return Product(names=tuple(each.name for each in self.attributes), columns=columns)

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(each.column for each in self.attributes)

    @override
    @property
    def title(self) -> str:
        return f"{len(self.attributes)} attributes"

    @override
    @property
    def room(self) -> int:
        return 16 * len(self.attributes)

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """The cell of each attribute, (n, d)."""
        predicates = [each for each in self.attributes if isinstance(each, Predicate)]
        values = iter(evaluate_predicates(table, predicates).T if predicates else ())
        return self.domain.encode(
            [
                each.codes(table) if isinstance(each, Coded) else next(values).astype(np.int64)
                for each in self.attributes
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A column and the declared range whose middle becomes 0 and whose ends become -1 and 1."""

    column: str
    low: float = -1.0
    high: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Vectors(Reading):
    """Numbers, each scaled by its declared range, together a unit vector; what is missing stays in n.

    Attributes:
        measures: one per dimension.
        words: what the rows are; how many columns, if nothing is said.
        spanned: two directions at right angles, (2, d), that span the plane of a picture; none for the first two axes.
        axes: what the first and the second direction of the plane mean, in words.
        space: what the coordinates mean, where there are three.

    Raises:
        ParameterError: a column is named twice.
    """

    measures: tuple[Measure, ...]
    words: str = ""
    spanned: tuple[tuple[float, ...], ...] = ()
    axes: tuple[str, str] = COORDINATES[:2]
    space: tuple[str, str, str] = COORDINATES

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.measures):
            raise ParameterError("Every column of a vector must be another.")

    @override
    @property
    def domain(self) -> Sphere:
        return Sphere(dimensions=len(self.measures))

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(each.column for each in self.measures)

    @override
    @property
    def title(self) -> str:
        return self.words or f"{len(self.measures)} columns"

    @override
    @property
    def room(self) -> int:
        return COPIES * 8 * len(self.measures)

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """Scaled numbers, (n, d); the domain makes them unit vectors."""
        scaled = np.empty((table.row_count, len(self.measures)))
        for place, each in enumerate(self.measures):
            scaled[:, place] = (table.numbers(each.column) - (each.low + each.high) / 2) / ((each.high - each.low) / 2)
        return scaled

    def plane(self, *, tilt: float = 0.0) -> Floats:
        """Return two unit directions at right angles, (2, d): the picture's axes, and the great circle it turns in.

        In three dimensions the second is lifted by so many degrees.
        """
        if self.spanned:
            vectors = np.array(self.spanned)
            unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            return unit
        d = len(self.measures)
        spanned = np.eye(2, d)
        if d == 3:
            spanned[1] = (0.0, np.cos(np.radians(tilt)), np.sin(np.radians(tilt)))
        return spanned
