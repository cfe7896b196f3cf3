"""Boxes: the number of rows in a range of each of a few columns, for a fixed batch on evenly spread places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import Domain, DomainType, Floats, Integers, ParameterError, Queries
from dpcore.core.sizes import MAX_BOX_COLUMNS, MAX_BOX_MARKS
from dpcore.data.product import Product, is_table


@dataclass(frozen=True, kw_only=True)
class RangeBoxes(Queries):
    """Number of rows between two places of each column; one query for each choice of ranges.

    A column's labels are taken in their order, so it should be cut into ranges of numbers or dates. Ranges begin and
    end at ``marks`` + 1 evenly spread places, both ends of the column among them; the last column varies fastest. Rows
    that fit no label lie in no box.

    Attributes:
        marks: stretches of a column between neighbouring places, at most.
    """

    key: ClassVar[str] = "boxes"
    title: ClassVar[str] = "Boxes: rows in a range of each column"
    one: ClassVar[str] = "box"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.TABLE,)
    domain: Product
    marks: int = 8

    def __post_init__(self) -> None:
        if not 1 <= len(self.domain.columns) <= MAX_BOX_COLUMNS:
            raise ParameterError(f"Boxes lie on 1 to {MAX_BOX_COLUMNS} columns, got {len(self.domain.columns)}.")
        if not 1 <= self.marks <= MAX_BOX_MARKS:
            raise ParameterError(f"A column is marked at 1 to {MAX_BOX_MARKS} places, got {self.marks}.")

    @cached_property
    def places(self) -> tuple[Integers, ...]:
        """First cells of each column's stretches, and the cell behind the last one."""
        ordered = (column.ordered for column in self.domain.columns)
        return tuple(np.linspace(0, cells, min(cells, self.marks) + 1).round().astype(np.int64) for cells in ordered)

    @property
    def shape(self) -> tuple[int, ...]:
        """Ranges of each column."""
        return tuple(len(places) * (len(places) - 1) // 2 for places in self.places)

    @override
    @property
    def count(self) -> int:
        """All choices of a range of each column."""
        return math.prod(self.shape)

    @override
    @classmethod
    def fits(cls, domain: Domain) -> bool:
        """Return whether a domain is a table of few enough columns."""
        return is_table(domain) and domain.attributes <= MAX_BOX_COLUMNS

    @override
    @property
    def vc_dimension(self) -> int:
        """Two for each column of more than two stretches: the points furthest to either side."""
        return sum(min(2, len(places) - 2) for places in self.places)

    def ends(self, column: int) -> tuple[Integers, Integers]:
        """Return the first cell of each range of a column and the cell behind its last one, (ranges,) each."""
        first, last = np.triu_indices(len(self.places[column]), k=1)
        return self.places[column][first], self.places[column][last]

    def index(self, ranges: Sequence[tuple[int, int]]) -> int:
        """Return the number of the box between two places of each column, the first before the second."""
        index = 0
        for (first, last), places, ways in zip(ranges, self.places, self.shape, strict=True):
            index = index * ways + first * (2 * len(places) - first - 1) // 2 + last - first - 1
        return index

    @override
    def describe(self, index: int) -> str:
        words = []
        for column, (place, kind) in enumerate(
            zip(np.unravel_index(index, self.shape), self.domain.columns, strict=True)
        ):
            first, last = (int(end[place]) for end in self.ends(column))
            words.append(f"{self.domain.names[column]} {kind.between(first, last - 1)}")
        return ", ".join(words)

    def answers(self, rows: Floats | Integers) -> Floats:
        """Return the rows in every box, (T, count), from rows in each combination of cells, (T, *sizes)."""
        sums_of_boxes = np.asarray(rows, dtype=np.float64)
        for column in range(len(self.places)):
            first, last = self.ends(column)
            sums = np.cumsum(sums_of_boxes, axis=1 + column)
            sums = np.concatenate([np.zeros_like(sums.take([0], axis=1 + column)), sums], axis=1 + column)
            sums_of_boxes = sums.take(last, axis=1 + column) - sums.take(first, axis=1 + column)
        answers: Floats = sums_of_boxes.reshape(len(sums_of_boxes), -1)
        return answers
