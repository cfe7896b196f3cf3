"""Rows of several categories: the product of their domains, and the questions about a few of them at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dpcore.core import DataError, Domain, Integers, ParameterError, Queries
from dpcore.data.domains import Categories

MOST_ATTRIBUTES = 64
MOST_CELLS = 1 << 16
"""Cells of one attribute: codes fit 16 bits."""

Set = tuple[int, ...]
"""Numbers of attributes, ascending."""


@dataclass(frozen=True, kw_only=True)
class Attributes(Domain):
    """A row has one cell of each of d named attributes.

    There are as many cells as the product of the attributes' sizes: too many to list. Each attribute is a
    ``Categories`` with its own cell for anything else, so that no row is ever dropped.

    Attributes:
        names: of the attributes.
        columns: what each can be.
    """

    title: ClassVar[str] = "several categories"
    listed: ClassVar[bool] = False
    names: tuple[str, ...]
    columns: tuple[Categories, ...]
    missing: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= MOST_ATTRIBUTES:
            raise ParameterError(f"Between 1 and {MOST_ATTRIBUTES} attributes are needed, got {len(self.names)}.")
        if len(set(self.names)) != len(self.names):
            raise ParameterError("Every attribute must be named once.")
        if len(self.columns) != len(self.names):
            raise ParameterError("Every attribute needs its categories.")
        if any(not 2 <= column.size <= MOST_CELLS for column in self.columns):
            raise ParameterError(f"Every attribute needs between 2 and {MOST_CELLS} cells.")
        if self.missing:
            raise ParameterError("Each attribute has its own cell for anything else; there is none for whole rows.")

    @classmethod
    def coded(cls, sizes: Mapping[str, int]) -> Self:
        """Attributes whose values are already whole numbers 0 .. size - 1, with no other value possible."""
        columns = tuple(Categories(labels=tuple(map(str, range(size))), missing=False) for size in sizes.values())
        return cls(names=tuple(sizes), columns=columns)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each attribute."""
        return tuple(column.size for column in self.columns)

    @property
    def size(self) -> int:
        """The product of the sizes."""
        return math.prod(self.sizes)

    @property
    def depth(self) -> int:
        """Bits of a cell's number."""
        return max(1, (self.size - 1).bit_length())

    def checked(self, records: NDArray[Any]) -> NDArray[np.uint16]:
        """Rows (n, d) of cells, kept column after column in 16 bits."""
        if records.ndim != 2 or records.shape[1] != len(self.names) or not np.issubdtype(records.dtype, np.integer):
            raise DataError(f"Every row must have {len(self.names)} whole numbers: the cell of each attribute.")
        for place, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            column = records[:, place]
            if len(column) and (int(column.min()) < 0 or int(column.max()) >= size):
                raise DataError(f"Every cell of {name} must lie between 0 and {size - 1}.")
        return np.asfortranarray(records, dtype=np.uint16)

    def encode(self, codes: Sequence[Integers]) -> NDArray[np.uint16]:
        """Rows (n, d) from label codes of each attribute, (n,) each: see ``Categories.encode``."""
        if len(codes) != len(self.columns):
            raise DataError(f"Codes of {len(self.columns)} attributes are needed, got {len(codes)}.")
        cells = [column.encode(column_codes) for column, column_codes in zip(self.columns, codes, strict=True)]
        return self.checked(np.stack(cells, axis=1))

    def describe(self, cell: int) -> str:
        """Each attribute with its label; the last attribute varies fastest."""
        words = []
        for name, column in zip(reversed(self.names), reversed(self.columns), strict=True):
            cell, place = divmod(cell, column.size)
            words.append(f"{name} {column.describe(place)}")
        return ", ".join(reversed(words))

    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """A column of labels for each attribute."""
        columns = zip(self.names, self.columns, records.T, strict=True)
        return {name: kind.table(cells)["value"] for name, kind, cells in columns}


@dataclass(frozen=True, kw_only=True)
class Marginals(Queries):
    """How many rows have these cells of these k attributes? One query per cell of every table of k attributes.

    Queries are numbered table by table, tables in the order of ``sets``, the last attribute varying fastest.

    Attributes:
        ways: k.
    """

    key: ClassVar[str] = "marginal-tables"
    title: ClassVar[str] = "Tables: how many in each cell of every table of k attributes?"
    one: ClassVar[str] = "cell of a table"
    domains: ClassVar[tuple[type[Domain], ...]] = (Attributes,)
    domain: Attributes
    ways: int = 3

    def __post_init__(self) -> None:
        if not 1 <= self.ways <= len(self.domain.names):
            raise ParameterError(f"A table has 1 to {len(self.domain.names)} attributes, got {self.ways}.")

    def sets(self) -> Iterator[Set]:
        """The tables: all sets of k attributes."""
        return combinations(range(len(self.domain.names)), self.ways)

    @property
    def tables(self) -> int:
        """Number of tables."""
        return math.comb(len(self.domain.names), self.ways)

    @property
    def count(self) -> int:
        """Cells of all tables: the k-th elementary symmetric polynomial of the sizes."""
        sums = [1] + [0] * self.ways
        for size in self.domain.sizes:
            for ways in range(self.ways, 0, -1):
                sums[ways] += size * sums[ways - 1]
        return sums[self.ways]

    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of queries."""
        return self.count.bit_length() - 1

    def describe(self, index: int) -> str:
        """The cell in words."""
        for table in self.sets():
            sizes = [self.domain.sizes[attribute] for attribute in table]
            if index < math.prod(sizes):
                cells = np.unravel_index(index, sizes)
                return ", ".join(
                    f"{self.domain.names[attribute]} {self.domain.columns[attribute].describe(int(cell))}"
                    for attribute, cell in zip(table, cells, strict=True)
                )
            index -= math.prod(sizes)
        raise ParameterError("There is no query of this number.")
