"""Columns of a table as unit vectors, each scaled by a declared range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Provenance
from dpcore.sphere import Sphere
from dpcore.tables import Table


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
    scaled = [
        (table.numbers(each.column) - (each.low + each.high) / 2) / ((each.high - each.low) / 2) for each in measures
    ]
    return Dataset(Sphere(dimensions=len(measures)), np.stack(scaled, axis=1), provenance)
