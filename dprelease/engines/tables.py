"""A table in an engine, and a snapshot of its counts; both are used like the table of a file.

A table queries the engine for every reading. A snapshot is counted once, over all declared columns together, and
answers from these counts alone, whatever happens to the engine's rows: a ledger registers the snapshot. Analysts, who
have no access to counts, get a sealed table: it lists the columns, refuses every count, and its snapshots are sealed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from dpcore.core import DataError, Dataset, Integers, Provenance, ProvenanceKind
from dpcore.data.columns import Column, Number, is_labels, is_number
from dpcore.data.dates import is_ages, is_dates
from dpcore.data.declarations import DeclaredTable
from dpcore.data.product import Product
from dpcore.data.reading.intake import LIMITS, clean_name, clean_names
from dpcore.data.reading.tables import Table, packed_row
from dpcore.data.readings import Columns, Reading
from dprelease.engines.counts import NO_ROWS, Encoding, TableColumn, dataset_of, parts_of
from dprelease.engines.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

OTHER_CELLS = (
    "The snapshot was counted with other columns or cells. Declare the table again, count it again, and "
    "register it as a new version."
)


SEALED = "Only the data owner may count this table."


class CountedTable(Table):
    """A table without rows: it refuses everything that needs rows."""

    @override
    @property
    def counts_name(self) -> str:
        """Name by which a ledger recognizes counts of the same table in any cells."""
        return self.name

    @override
    @property
    def closed(self) -> bool:
        """False: counts need no temporary folder."""
        return False

    @override
    def __repr__(self) -> str:
        """Return a repr without the number of rows, which is private where rows are added or removed."""
        return f"{type(self).__name__}({self.name!r}, columns={len(self.columns)})"

    @override
    def reserve(self, more: int) -> None:
        """Do nothing, as no row is in memory."""

    @override
    def hold(self, array: NDArray[Any]) -> None:
        """Do nothing, as no row is in memory."""

    @override
    def _ask(self, query: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        raise DataError(f"{self.name}: {NO_ROWS}")

    @override
    def code(self, columns: Sequence[str], *, folder: str = "") -> list[str]:
        """Return a placeholder line of code, as the engine keeps the rows."""
        return [f"df = ...  # a DataFrame with the columns {sorted(set(columns))}: an engine keeps the rows"]


def _bare(name: str, columns: tuple[str, ...], rows: int, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of ``Table`` for a table without rows."""
    return {
        "name": name, "columns": columns, "row_count": rows, "notes": notes, "header": None,
        "_texts": ("",) * len(columns), "_worded": (False,) * len(columns),
        "_places": (), "_reading": (), "_connection": None, "_limits": LIMITS, "_resources": ExitStack(),
        "_folder": Path(),
    }  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EngineTable(CountedTable):
    """A table in an engine; made by ``open_table``.

    Attributes:
        engine: the engine.
        engine_columns: columns in the engine, in the order of ``columns``.
        sealed: whether every count is refused; ``row_count`` is then 0.
    """

    engine: Engine
    engine_columns: tuple[TableColumn, ...]
    sealed: bool = False

    @override
    def forget(self) -> None:
        self.engine.close()

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        return dataset_of(reading, *self.counted(parts_of(reading)), provenance)

    def counted(self, parts: Sequence[Encoding]) -> tuple[Integers, Integers]:
        """Count rows by cells, see ``Engine.counted``; raises DataError if the table is sealed."""
        if self.sealed:
            raise DataError(SEALED)
        return self.engine.counted(parts, [self.engine_columns[self._position(part.column)] for part in parts])

    def snapshot(self, declared: DeclaredTable) -> Snapshot:
        """Count all declared columns together now; a sealed table's snapshot has no counts.

        Raises:
            DataError: no column or a person is declared, or too many combinations are occupied.
        """
        parts = tuple(Encoding(column=column.name, on=column.on) for column in declared.used)
        if declared.person:
            parts_of(declared.reading(declared.used[0].name))  # raises with the reason
        if not parts:
            raise DataError("No column is declared to be used.")
        none = np.zeros((0, len(parts)), dtype=np.int64), np.zeros(0, dtype=np.int64)
        cells, counts = none if self.sealed else self.counted(parts)
        names = tuple(part.column for part in parts)
        fields = _bare(self.name, names, int(counts.sum()), self.notes)
        return Snapshot(**fields, parts=parts, cells=cells, counts=counts, sealed=self.sealed)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Snapshot(CountedTable):
    """Counts of all declared columns together, as they were at one time.

    Attributes:
        parts: the columns and their cells.
        cells: occupied combinations of cells, (m, parts).
        counts: rows in each, (m,).
        sealed: whether every count is refused.
    """

    parts: tuple[Encoding, ...]
    cells: Integers
    counts: Integers
    sealed: bool = False

    def without_rows(self) -> Snapshot:
        """Return the snapshot without rows; errors on it depend only on public facts."""
        return replace(self, cells=self.cells[:0], counts=self.counts[:0], row_count=0)

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Return counts of some columns; raises DataError if sealed, or if they were counted on other cells."""
        if self.sealed:
            raise DataError(SEALED)
        wanted = parts_of(reading)
        return dataset_of(reading, np.stack([self._cells(part) for part in wanted], axis=1), self.counts, provenance)

    def _cells(self, wanted: Encoding) -> Integers:
        """Return one column's cells in the encoding of a reading."""
        place = next((place for place, part in enumerate(self.parts) if part.column == wanted.column), None)
        if place is None:
            raise DataError(OTHER_CELLS)
        counted_as, cells = self.parts[place], self.cells[:, place]
        if counted_as == wanted:
            return cells
        spelled = is_labels(counted_as.on) and is_labels(wanted.on) and counted_as.on.yes_no != wanted.on.yes_no
        if wanted.on.label_of_share and counted_as.on == wanted.on.declared:
            return cells  # codes of all labels: the reading tells one of them from the rest
        if wanted.cuts or type(counted_as.on) is not type(wanted.on) or spelled:
            raise DataError(OTHER_CELLS)
        if is_labels(wanted.on) and not wanted.on.yes_no and set(wanted.labels) <= set(counted_as.labels):
            code = {label: place for place, label in enumerate(wanted.labels)}
            recoded: Integers = np.array([*(code.get(label, len(code)) for label in counted_as.labels), len(code)])[
                cells
            ]
            return recoded
        if is_number(wanted.on) and is_number(counted_as.on) and not (is_dates(wanted.on) or is_ages(wanted.on)):
            return _nested(counted_as.on, wanted.on, cells)
        raise DataError(OTHER_CELLS)

    @override
    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """Iterate over the cells of these columns with their counts, for the ledger's fingerprint.

        Raises:
            DataError: the snapshot is sealed.
        """
        if self.sealed:
            raise DataError(SEALED)
        places = [self._position(column) for column in columns]
        described = [f"{self.parts[place].column}: {self.parts[place].on!r}" for place in places]
        yield packed_row((*described, "cells"))
        for cells, count in zip(self.cells[:, places].tolist(), self.counts.tolist(), strict=True):
            yield packed_row((*map(str, cells), str(count)))


def _nested(finer: Number, coarser: Number, cells: Integers) -> Integers:
    """Return cells of a coarser number domain, where both have a power of two of cells."""
    same = (finer.low, finer.high, finer.missing, finer.clamp) == (
        coarser.low,
        coarser.high,
        coarser.missing,
        coarser.clamp,
    )
    if not same or finer.bins or coarser.bins or coarser.bits > finer.bits:
        raise DataError(OTHER_CELLS)
    return np.where(cells < finer.ordered, cells >> (finer.bits - coarser.bits), coarser.ordered)


def open_table(engine: Engine, *, name: str, sealed: bool = False) -> EngineTable:
    """Open an engine's table: read its columns and, unless it is sealed, its number of rows.

    Args:
        engine: the engine.
        name: name of the table on screens.
        sealed: whether the table refuses every count.

    Raises:
        DataError: one sentence without anything from the engine's message.
    """
    columns_there = tuple(engine.columns())
    if not columns_there:
        raise DataError("The engine's table has no column of numbers, text, dates or yes/no values.")
    columns, notes = clean_names([kind.name for kind in columns_there])
    rows = 0 if sealed else int(engine.counted([], [])[1].sum())
    fields = _bare(clean_name(name) or "table", columns, rows, notes)
    return EngineTable(**fields, engine=engine, engine_columns=columns_there, sealed=sealed)


def from_engine(
    table: EngineTable, columns: Hashable | Sequence[Hashable], domain: Column | Product, *, private: bool = True
) -> Dataset:
    """Count columns of an engine's table; the same rows in a file give the same counts.

    Args:
        table: result of ``open_table``.
        columns: a name, or a list of names: see ``Columns``.
        domain: declared domain of a record; it must not be read from private rows.
        private: False for rows that are public or mock data.

    Raises:
        DataError: there is no such column, or the engine failed; the message shows no record.
        ParameterError: the domain needs other columns.
    """
    names = tuple(map(str, columns)) if isinstance(columns, list | tuple) else (str(columns),)
    kind = ProvenanceKind.PRIVATE if private else ProvenanceKind.STAND_IN
    provenance = Provenance(kind=kind, title=f"{table.name}: {' × '.join(names)}")
    return Columns(names=names, on=domain).dataset(table, provenance)
