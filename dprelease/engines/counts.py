"""Encodings of columns for queries to an engine, and the data set from its counts. Independent of any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, DataError, Dataset, Domain, Integers, ParameterError, Provenance
from dpcore.data.columns import Column, Labels, Number, is_labels, is_number
from dpcore.data.declarations import Capped
from dpcore.data.predicates import Predicate
from dpcore.data.reading.intake import LIMITS
from dpcore.data.reading.tables import BLANKS
from dpcore.data.readings import Coded, Columns, Reading, Several, YesNo

NO_RANGES = "Engines count numbers only by their declared cells. To cut numbers for a synthetic table, use a file."
NO_ROWS = "This needs the rows themselves, and an engine returns only counts of cells. Use a file instead."
NO_ORDER = "A maximum of rows per person needs rows in an order, and an engine has none. Use a file instead."


class Counts(Dataset):
    """A data set given by its counts in each cell, without rows."""

    def __init__(self, domain: Domain, histogram: Integers, provenance: Provenance) -> None:
        counts = np.array(histogram, dtype=np.int64)
        counts.setflags(write=False)
        for name, value in {"domain": domain, "provenance": provenance, "_histogram": counts}.items():
            object.__setattr__(self, name, value)

    @override
    @property
    def records(self) -> NDArray[Any]:
        raise DataError(NO_ROWS)

    @override
    @property
    def n(self) -> int:
        return int(self.histogram.sum())


class CountedRows(Dataset):
    """A data set given by its different rows of cells and how many rows are equal to each."""

    def __init__(self, domain: Domain, cells: NDArray[Any], counts: Integers, provenance: Provenance) -> None:
        for name, value in {"domain": domain, "provenance": provenance, "_cells": cells, "_counts": counts}.items():
            object.__setattr__(self, name, value)

    @override
    @property
    def records(self) -> NDArray[Any]:
        cells, counts = self.counted()
        return np.repeat(cells, counts, axis=0)

    @override
    def counted(self) -> tuple[NDArray[Any], Integers]:
        return self.__dict__["_cells"], self.__dict__["_counts"]

    @override
    @property
    def n(self) -> int:
        return int(self.counted()[1].sum())


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column as the engine has it.

    Attributes:
        name: name in the engine.
        kind: its ibis type.
    """

    name: str
    kind: Any


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """One column and the cells its values are counted in.

    Attributes:
        column: name of the column.
        on: its domain: a number (or dates), yes or no, or labels; unused where there are cuts.
        cuts: boundaries of ranges; a number equal to a boundary is above it. Missing values have one more range.
    """

    column: str
    on: Number | Labels
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if is_number(self.on) and self.on.cuts:
            raise DataError(NO_RANGES)

    @property
    def size(self) -> int:
        """Number of cells; labels have one more for other values, even if the domain has none."""
        if self.cuts:
            return len(self.cuts) + 2
        return self.on.size if is_number(self.on) else len(self.on.labels) + 1

    @property
    def labels(self) -> list[str]:
        """Labels without surrounding blanks."""
        labels = [label.strip(BLANKS) for label in self.on.labels] if is_labels(self.on) else []
        if len(set(labels)) != len(labels):
            raise ParameterError("Labels must differ in more than surrounding spaces.")
        return labels


def parts_of(reading: Reading) -> tuple[Encoding, ...]:
    """Return the encodings of a reading's columns, in the order of the cells of ``dataset_of``.

    Raises:
        DataError: the reading needs rows.
    """
    match reading:
        case Capped():
            raise DataError(NO_ORDER)
        case Columns(names=names, on=on):
            return tuple(Encoding(column=name, on=kind) for name, kind in zip(names, on.columns, strict=True))
        case YesNo(predicates=asked) | Several(attributes=asked):
            return tuple(_predicate_encoding(each) for each in asked)
    raise DataError(NO_ROWS)


def _predicate_encoding(each: Coded | Predicate) -> Encoding:
    if isinstance(each, Coded):
        return Encoding(column=each.column, on=each.categories, cuts=each.cuts)
    cuts = () if each.kind == "is" else (float(each.value),)
    return Encoding(column=each.column, on=Labels(labels=(str(each.value),)), cuts=cuts)


def dataset_of(reading: Reading, cells: Integers, counts: Integers, provenance: Provenance) -> Dataset:
    """Return the data set with these combinations of cells (m, parts) and their counts (m,).

    Raises:
        TooLarge: the domain's cells are not listed, and its rows need too much memory.
    """
    columns = [cells[:, place] for place in range(cells.shape[1])]
    records = _records(reading, columns)
    if reading.domain.listed:
        histogram = np.zeros(reading.domain.size, dtype=np.int64)
        np.add.at(histogram, records, counts)
        return Counts(reading.domain, histogram, provenance)
    LIMITS.afford(rows=int(counts.sum()), each=8 * len(columns))
    return CountedRows(reading.domain, reading.domain.checked(records), counts, provenance)


def _records(reading: Reading, cells: Sequence[Integers]) -> NDArray[Any]:
    """Return the records of rows with these cells, as ``reading.records`` makes them from rows: (m,) or (m, d)."""
    if isinstance(reading, YesNo):
        matches: Booleans = (
            np.stack([_part_values(*each) for each in zip(reading.predicates, cells, strict=True)], axis=1) == 1
        )
        return matches
    assert isinstance(reading, Columns | Several)
    attributes = reading.attributes if isinstance(reading, Several) else (None,) * len(cells)
    values = [_part_values(*each) for each in zip(attributes, cells, strict=True)]
    domain = reading.domain
    return domain.joined([_cells(kind, each) for kind, each in zip(domain.columns, values, strict=True)])


def _cells(kind: Column, cells: Integers) -> Integers:
    """Convert an engine's cells to the column's: labels are codes, with one for other values even if it has none."""
    return kind.encode(cells) if is_labels(kind) else cells


def _part_values(each: Coded | Predicate | None, cells: Integers) -> Integers:
    """Return a predicate's cells as 0 and 1, and other cells unchanged."""
    if not isinstance(each, Predicate):
        return cells
    matches: Integers = (cells == int(each.kind == "at least")).astype(np.int64)
    return matches


__all__ = ["NO_ORDER", "NO_ROWS", "Counts", "Encoding", "TableColumn", "dataset_of", "parts_of"]
