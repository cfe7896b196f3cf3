"""Columns of a table as unit vectors, each scaled by a declared range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Provenance
from dpcore.data.reading.tables import Table
from dpcore.data.sources import held_by
from dpcore.data.sphere import Sphere

COPIES = 8
"""Of all the numbers at once, while rows are scaled to length 1."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A column and the declared range whose middle becomes 0 and whose ends become -1 and 1."""

    column: str
    low: float = -1.0
    high: float = 1.0


def encode_vectors(table: Table, *, measures: tuple[Measure, ...], provenance: Provenance) -> Dataset:
    """Rows of several columns, each scaled by its declared range, as unit vectors; what is missing stays in n.

    Raises:
        DataError: the table has no such column.
    """
    table.reserve(COPIES * 8 * len(measures))
    scaled = np.empty((table.row_count, len(measures)))
    for place, each in enumerate(measures):
        scaled[:, place] = (table.numbers(each.column) - (each.low + each.high) / 2) / ((each.high - each.low) / 2)
    return held_by(table, Dataset(Sphere(dimensions=len(measures)), scaled, provenance))
