"""Tables of several attributes: the number of rows with these cells of these k attributes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import DomainType, ParameterError, Queries
from dpcore.data.product import Product

Set = tuple[int, ...]
"""Numbers of attributes, ascending."""


@dataclass(frozen=True, kw_only=True)
class Marginals(Queries):
    """Number of rows with these cells of these k attributes; one query per cell of every table of k attributes.

    Queries are numbered table by table, tables in the order of ``sets``, the last attribute varying fastest.

    Attributes:
        ways: k.
    """

    key: ClassVar[str] = "marginal-tables"
    title: ClassVar[str] = "Tables: rows in each cell of every table of k attributes"
    one: ClassVar[str] = "cell of a table"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.TABLE,)
    domain: Product
    ways: int = 3

    def __post_init__(self) -> None:
        if not 1 <= self.ways <= len(self.domain.names):
            raise ParameterError(f"A table has 1 to {len(self.domain.names)} attributes, got {self.ways}.")

    def sets(self) -> Iterator[Set]:
        """Yield the tables: all sets of k attributes."""
        return combinations(range(len(self.domain.names)), self.ways)

    @property
    def tables(self) -> int:
        """Number of tables of k attributes."""
        return math.comb(len(self.domain.names), self.ways)

    @override
    @property
    def count(self) -> int:
        """Cells of all tables: the k-th elementary symmetric polynomial of the sizes."""
        sums = [1] + [0] * self.ways
        for size in self.domain.sizes:
            for ways in range(self.ways, 0, -1):
                sums[ways] += size * sums[ways - 1]
        return sums[self.ways]

    @override
    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of queries."""
        return self.count.bit_length() - 1

    @override
    def describe(self, index: int) -> str:
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
