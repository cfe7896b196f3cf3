"""Products of columns: a record has one cell of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import DataError, Domain, DomainType, Floats, Integers, ParameterError
from dpcore.core.sizes import MAX_ATTRIBUTES, MAX_BITS, MAX_COLUMN_CELLS
from dpcore.data.columns import NO_YES, Labels, Number, is_labels, is_number
from dpcore.data.dates import is_dates


@dataclass(frozen=True, kw_only=True)
class Product(Domain):
    """Columns side by side: a record has one cell of each.

    Where cells are listed, they are numbered, the last column varying fastest, and a record of which any column has no
    fitting cell goes to one reserved last cell. Else there are too many cells to list: a record is a row (d,) of cells,
    each column keeps its own cell for missing values, and no row is ever dropped.

    Attributes:
        names: of the columns, each once.
        columns: what each can be.
        listed: whether cells are listed.
    """

    names: tuple[str, ...]
    columns: tuple[Number | Labels, ...]
    listed: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= MAX_ATTRIBUTES:
            raise ParameterError(f"Between 1 and {MAX_ATTRIBUTES} attributes are needed, got {len(self.names)}.")
        if len(set(self.names)) != len(self.names):
            raise ParameterError("Attribute names must be unique.")
        if len(self.columns) != len(self.names):
            raise ParameterError("Every attribute needs a column.")
        if self.listed:
            if len(self.columns) != 2 or any(is_number(column) and column.cuts for column in self.columns):
                raise ParameterError("A map has two columns, and cells of numbers of equal width.")
            if math.prod(self.shape) > 2**MAX_BITS:
                raise ParameterError(f"Cells of these columns together must be at most {2**MAX_BITS:,}.")
        elif any(not 2 <= column.size <= MAX_COLUMN_CELLS for column in self.columns):
            raise ParameterError(f"Every attribute needs between 2 and {MAX_COLUMN_CELLS} cells.")

    @classmethod
    def map(
        cls,
        first: Number | Labels,
        second: Number | Labels,
        *,
        names: tuple[str, str] = ("first number", "second number"),
    ) -> Self:
        """Return two columns whose cells are listed: the first from left to right, the second from bottom to top."""
        return cls(names=names, columns=(first, second), listed=True)

    @classmethod
    def coded(cls, sizes: Mapping[str, int]) -> Self:
        """Return the attributes whose values are already whole numbers 0 .. size - 1, with no other value possible."""
        columns = tuple(Labels(labels=tuple(map(str, range(size))), missing=False) for size in sizes.values())
        return cls(names=tuple(sizes), columns=columns)

    @classmethod
    def yes_no(cls, names: Sequence[str]) -> Self:
        """Return the attributes that a row has or has not: the cube {0, 1}^d."""
        return cls(names=tuple(names), columns=(NO_YES,) * len(names))

    @override
    @cached_property
    def types(self) -> frozenset[DomainType]:
        """A map; a number by group; or a table of several attributes, which may be yes/no attributes."""
        if not self.listed:
            answers = all(column == NO_YES for column in self.columns)
            return frozenset({DomainType.TABLE} | ({DomainType.YES_NO} if answers else set()))
        group, number = self.columns
        groups = self.missing and is_labels(group) and is_number(number)  # two groups may be in no cell of theirs
        return frozenset({DomainType.MAP} | ({DomainType.GROUPS} if groups else set()))

    @override
    @property
    def title(self) -> str:
        if not self.listed:
            return "yes/no attributes" if DomainType.YES_NO in self.types else "several attributes"
        return "a number and its group" if DomainType.GROUPS in self.types else "two columns"

    @property
    def attributes(self) -> int:
        """Number of columns, d."""
        return len(self.names)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each column, its own for missing values included."""
        return tuple(column.size for column in self.columns)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Fitting cells of each column."""
        return tuple(column.ordered for column in self.columns)

    @override
    @property
    def missing(self) -> bool:
        """Return whether there is a reserved cell: where cells are listed and a value may be missing."""
        return self.listed and any(column.missing for column in self.columns)

    @override
    @cached_property
    def size(self) -> int:
        """All combinations of cells; where they are listed, of fitting cells, and the reserved one."""
        return math.prod(self.shape) + int(self.missing) if self.listed else math.prod(self.sizes)

    @override
    @property
    def depth(self) -> int:
        return max(1, (self.size - 1).bit_length())

    @override
    def checked(self, records: NDArray[Any]) -> NDArray[Any]:
        """Cells (n,) where they are listed; else rows (n, d) of cells, column after column, in 16 bits or as booleans.

        Raises:
            DataError: they are of another shape or kind, or out of range; the message shows none of them.
        """
        if self.listed:
            return super().checked(records)
        answers = DomainType.YES_NO in self.types
        whole = np.issubdtype(records.dtype, np.integer) or (answers and records.dtype == np.bool_)
        if records.ndim != 2 or records.shape[1] != len(self.names) or not whole:
            raise DataError(f"Every row must have {len(self.names)} whole numbers: the cell of each attribute.")
        if answers:
            if records.dtype != np.bool_ and not bool(((records == 0) | (records == 1)).all()):
                raise DataError("Every value must be 0 or 1.")
            return records.astype(np.bool_, copy=False)
        for place, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            column = records[:, place]
            if len(column) and (int(column.min()) < 0 or int(column.max()) >= size):
                raise DataError(f"Every cell of {name} must lie between 0 and {size - 1}.")
        return np.asfortranarray(records, dtype=np.uint16)

    def encode(self, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the records from the values of each column, (n,) each, as ``Column.encode`` takes them."""
        if len(values) != len(self.columns):
            raise DataError(f"Values of {len(self.columns)} columns are needed, got {len(values)}.")
        return self.joined([column.encode(each) for column, each in zip(self.columns, values, strict=True)])

    def joined(self, cells: Sequence[Integers]) -> NDArray[Any]:
        """Return the records from the cells of each column, (n,) each."""
        if len({len(each) for each in cells}) > 1:
            raise ParameterError("All columns need as many values.")
        if not self.listed:
            return self.checked(np.stack(cells, axis=1))
        fits = np.ones(len(cells[0]), dtype=np.bool_)
        for column, each in zip(self.columns, cells, strict=True):
            fits &= each < column.ordered
        number = np.zeros(len(cells[0]), dtype=np.int64)
        for column, each in zip(self.columns, cells, strict=True):
            number = number * column.ordered + each
        encoded: Integers = np.where(fits, number, self.size - 1)
        return encoded

    @override
    def points(self) -> list[tuple[float | str, float | str]] | Floats:
        """Midpoints of each pair of fitting cells, (ordered, 2); a list of pairs where a column has labels or dates.

        Raises:
            ParameterError: cells are not listed.
        """
        if not self.listed:
            raise ParameterError("The cells of several attributes are too many to list.")
        first, second = (list(column.cell_names) if is_dates(column) else column.points() for column in self.columns)
        if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
            pairs = np.meshgrid(first, second, indexing="ij")
            return np.stack([pair.reshape(-1) for pair in pairs], axis=1)
        return [*product(*(side.tolist() if isinstance(side, np.ndarray) else side for side in (first, second)))]

    @override
    def describe(self, cell: int) -> str:
        """Each column's cell in words; of yes/no attributes those that a row has. The last varies fastest."""
        if self.listed and cell >= self.ordered:
            return "missing or out of bounds"
        if DomainType.YES_NO in self.types:
            present = (name for place, name in enumerate(reversed(self.names)) if cell >> place & 1)
            return ", ".join(reversed([*present])) or "none"
        words = []
        sizes = self.shape if self.listed else self.sizes
        for name, column, size in zip(reversed(self.names), reversed(self.columns), reversed(sizes), strict=True):
            cell, place = divmod(cell, size)
            words.append(column.describe(place) if self.listed else f"{name} {column.describe(place)}")
        return (" × " if self.listed else ", ").join(reversed(words))

    @override
    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Records as columns of a table, (n,) each: labels, midpoints, or truth values."""
        if self.listed:
            return super().table(records)
        if DomainType.YES_NO in self.types:
            return dict(zip(self.names, records.T, strict=True))
        columns = zip(self.names, self.columns, records.T, strict=True)
        return {name: column.table(cells)["value"] for name, column, cells in columns}


def is_map(domain: object) -> TypeGuard[Product]:
    """Return whether a domain is two columns whose cells are listed."""
    return isinstance(domain, Product) and DomainType.MAP in domain.types


def is_groups(domain: object) -> TypeGuard[Product]:
    """Return whether a domain is a column of labels and a number, whose cells are listed."""
    return isinstance(domain, Product) and DomainType.GROUPS in domain.types


def is_table(domain: object) -> TypeGuard[Product]:
    """Return whether a record is a row of cells, one of each of several columns."""
    return isinstance(domain, Product) and DomainType.TABLE in domain.types


def is_yes_no(domain: object) -> TypeGuard[Product]:
    """Return whether a record is a row of yes/no attributes."""
    return isinstance(domain, Product) and DomainType.YES_NO in domain.types
