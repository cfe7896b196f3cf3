"""Queries by group: the mean of a number, and more, or its quantiles, in every group of a declared table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import Domain, DomainType, ParameterError, Queries
from dpcore.core.sizes import MAX_GROUP_COLUMNS
from dpcore.data.columns import Scale, is_number
from dpcore.data.product import Product, is_table

MAX_DEGREES = {1: 3, 2: 2}
"""Largest degree of the moments, by how many numbers there are."""


@dataclass(frozen=True, kw_only=True)
class GroupQueries(Queries):
    """Queries about numbers in every group; one query for each group.

    Groups are all combinations of the cells of the columns that are no numbers, a column's reserved cell included:
    values outside the declared labels are a group of their own. A row without a number (in the reserved cell of a
    number) is left out of every group, and so is a row without one of two numbers. A column declared without a reserved
    cell has such values at its lower bound or first label.

    Attributes:
        numbers: places of the columns of numbers; the last column where none is named.
    """

    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.TABLE,)
    one: ClassVar[str] = "group"
    domain: Product
    numbers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        columns = self.domain.columns
        if not is_table(self.domain):
            raise ParameterError("Groups need a table of columns side by side.")
        if not self.numbers:
            object.__setattr__(self, "numbers", (len(columns) - 1,))
        if len(self.numbers) > 2 or len(set(self.numbers)) < len(self.numbers):
            raise ParameterError("Statistics are of one number, or of two different ones.")
        if not all(0 <= place < len(columns) and columns[place].mean_name for place in self.numbers):
            raise ParameterError("Statistics are of columns of numbers with equal cells, or of two labels.")
        if len(columns) - len(self.numbers) > MAX_GROUP_COLUMNS:
            raise ParameterError(f"Groups are formed by at most {MAX_GROUP_COLUMNS} columns.")

    @override
    @classmethod
    def fits(cls, domain: Domain) -> bool:
        """Return whether a table has a column with a mean, and few enough others."""
        if not is_table(domain):
            return False
        return domain.attributes <= MAX_GROUP_COLUMNS + 2 and any(column.mean_name for column in domain.columns)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The range of each number's mean."""
        return tuple(self.domain.columns[place].scale for place in self.numbers)

    @property
    def group_columns(self) -> tuple[int, ...]:
        """Places of the columns that form the groups."""
        return tuple(place for place in range(self.domain.attributes) if place not in self.numbers)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells of each column that forms groups, its reserved cell included."""
        return tuple(self.domain.sizes[place] for place in self.group_columns)

    @override
    @property
    def count(self) -> int:
        """Number of groups."""
        return math.prod(self.shape)

    @override
    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of groups."""
        return self.count.bit_length() - 1

    @override
    def describe(self, index: int) -> str:
        """The cell of each column that forms groups; "all rows" where there is none."""
        cells = np.unravel_index(index, self.shape) if self.shape else ()
        return ", ".join(self.label(place, int(cell)) for place, cell in enumerate(cells)) or "all rows"

    def label(self, place: int, cell: int) -> str:
        """Return the name of a cell of the group column at a place."""
        return self.domain.columns[self.group_columns[place]].describe(cell)


@dataclass(frozen=True, kw_only=True)
class GroupStatistics(GroupQueries):
    """Means of one number or two, and further statistics, in every group.

    Attributes:
        degree: 1 for means, and the ratio of the sums of two numbers; 2 for variances, and the slope and correlation
            of two numbers; 3 for skewness.
        min_rows: rows with a number that every group is declared to have, for guaranteed errors; 0 where unknown.
        whole_population: whether everybody is declared to be in the table, so that nothing is estimated from a sample.
    """

    key: ClassVar[str] = "group-statistics"
    title: ClassVar[str] = "Groups: mean of a number in each group"
    degree: int = 1
    min_rows: int = 0
    whole_population: bool = False

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        highest = MAX_DEGREES[len(self.numbers)]
        if not 1 <= self.degree <= highest:
            raise ParameterError(f"The degree of these statistics lies between 1 and {highest}, got {self.degree}.")
        if self.min_rows < 0:
            raise ParameterError("The smallest group has at least 0 rows.")


@dataclass(frozen=True, kw_only=True)
class GroupQuantiles(GroupQueries):
    """Quantiles of one number in every group, all from one release.

    Attributes:
        quantiles: shares of a group's rows, ascending, each above 0 and below 1.
    """

    key: ClassVar[str] = "group-quantiles"
    title: ClassVar[str] = "Groups: quantiles of a number in each group"
    quantiles: tuple[float, ...] = (0.25, 0.5, 0.75)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        ends = (0.0, *self.quantiles, 1.0)
        if not self.quantiles or not all(first < second for first, second in pairwise(ends)):
            raise ParameterError("Quantiles must ascend and lie between 0 and 1.")
        if len(self.numbers) != 1 or not is_number(self.domain.columns[self.numbers[0]]):
            raise ParameterError("Quantiles are of one number.")

    @override
    @classmethod
    def fits(cls, domain: Domain) -> bool:
        """Return whether a table has a number, and few enough columns beside it."""
        if not is_table(domain):
            return False
        numbers = any(column.mean_name == "mean" for column in domain.columns)
        return domain.attributes <= MAX_GROUP_COLUMNS + 1 and numbers
