"""A table that an engine keeps, and a snapshot of its counts: both stand where a file's table does.

A table asks the engine for every reading. A snapshot was counted once, over all declared columns together, and answers
from these counts alone, whatever becomes of the engine's rows: it is what a ledger registers. Analysts, who may see no
count, get a sealed table: it has the columns, asks the engine for no count, and its snapshots are sealed too.
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
from dpcore.data.dates import is_dates
from dpcore.data.declared import DeclaredTable
from dpcore.data.product import Product
from dpcore.data.reading.intake import LIMITS, clean_name, clean_names
from dpcore.data.reading.tables import Table, packed_row
from dpcore.data.readings import Columns, Reading
from dprelease.engines.counts import NO_ROWS, Encoding, TableColumn, dataset_of, parts_of
from dprelease.engines.engine import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

OTHER_CELLS = (
    "The snapshot was counted on other columns or other cells: declare the table anew, count it again, and register "
    "that as a new version of the same data."
)


SEALED = "Only the data's steward may count this table."


class CountedTable(Table):
    """A table without rows: what a file's table tells of rows, it refuses."""

    @override
    @property
    def kept_as(self) -> str:
        """The name, by which a ledger knows counts of the same table in whatever cells."""
        return self.name

    @override
    @property
    def closed(self) -> bool:
        """Never: counts do not go with a folder."""
        return False

    @override
    def __repr__(self) -> str:
        """Without the number of rows, which is private where rows come and go."""
        return f"{type(self).__name__}({self.name!r}, columns={len(self.columns)})"

    @override
    def reserve(self, more: int) -> None:
        """Nothing is held of a row."""

    @override
    def hold(self, array: NDArray[Any]) -> None:
        """See ``reserve``."""

    @override
    def _ask(self, query: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        raise DataError(f"{self.name}: {NO_ROWS}")

    @override
    def code(self, columns: Sequence[str], *, folder: str = "") -> list[str]:
        """How the reader's own copy is read, if there is one."""
        return [f"df = ...  # a DataFrame with the columns {sorted(set(columns))}: an engine keeps the rows"]


def _bare(name: str, columns: tuple[str, ...], rows: int, notes: tuple[str, ...]) -> dict[str, Any]:
    """The fields that every table has, of one without rows."""
    return {
        "name": name, "columns": columns, "row_count": rows, "notes": notes, "header": None,
        "_texts": ("",) * len(columns), "_worded": (False,) * len(columns),
        "_places": (), "_reading": (), "_connection": None, "_limits": LIMITS, "_held": ExitStack(),
        "_folder": Path(),
    }  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EngineTable(CountedTable):
    """A table that an engine keeps; made by ``open_table``.

    Attributes:
        engine: that keeps it.
        kinds: its columns there, in the order of ``columns``.
        sealed: whether every count is refused; ``row_count`` is then 0.
    """

    engine: Engine
    kinds: tuple[TableColumn, ...]
    sealed: bool = False

    @override
    def forget(self) -> None:
        self.engine.close()

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        return dataset_of(reading, *self.counted(parts_of(reading)), provenance)

    def counted(self, parts: Sequence[Encoding]) -> tuple[Integers, Integers]:
        """The cells that hold a row, (m, parts), and how many rows, (m,); raises DataError if the table is sealed."""
        if self.sealed:
            raise DataError(SEALED)
        return self.engine.counted(parts, [self.kinds[self._position(part.column)] for part in parts])

    def snapshot(self, declared: DeclaredTable) -> Snapshot:
        """All columns that are declared to be used, counted together, now; of a sealed table, without counts.

        Raises:
            DataError: no column is; or too many combinations of cells hold somebody; or persons are declared.
        """
        parts = tuple(Encoding(column=column.name, on=column.on) for column in declared.used)
        if declared.person:
            parts_of(declared.reading(declared.used[0].name))  # which says why not
        if not parts:
            raise DataError("No column is declared to be used.")
        none = np.zeros((0, len(parts)), dtype=np.int64), np.zeros(0, dtype=np.int64)
        cells, counts = none if self.sealed else self.counted(parts)
        names = tuple(part.column for part in parts)
        told = _bare(self.name, names, int(counts.sum()), self.notes)
        return Snapshot(**told, parts=parts, cells=cells, counts=counts, sealed=self.sealed)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Snapshot(CountedTable):
    """Counts of all declared columns together, as they were at one time.

    Attributes:
        parts: the columns and their cells.
        cells: that hold a row, (m, parts).
        counts: rows in each, (m,).
        sealed: whether every count is refused, as there is none.
    """

    parts: tuple[Encoding, ...]
    cells: Integers
    counts: Integers
    sealed: bool = False

    def without_rows(self) -> Snapshot:
        """The same columns and cells, and no row: what it cannot answer is public."""
        return replace(self, cells=self.cells[:0], counts=self.counts[:0], row_count=0)

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """The counts of some of the columns; raises DataError if sealed, or where they were counted on other cells."""
        if self.sealed:
            raise DataError(SEALED)
        wanted = parts_of(reading)
        return dataset_of(reading, np.stack([self._cells(part) for part in wanted], axis=1), self.counts, provenance)

    def _cells(self, wanted: Encoding) -> Integers:
        """One column's cells as a reading wants them."""
        place = next((place for place, part in enumerate(self.parts) if part.column == wanted.column), None)
        if place is None:
            raise DataError(OTHER_CELLS)
        held, cells = self.parts[place], self.cells[:, place]
        if held == wanted:
            return cells
        spelled = is_labels(held.on) and is_labels(wanted.on) and held.on.yes_no != wanted.on.yes_no
        if wanted.cuts or type(held.on) is not type(wanted.on) or spelled:
            raise DataError(OTHER_CELLS)
        if is_labels(wanted.on) and not wanted.on.yes_no and set(wanted.labels) <= set(held.labels):
            code = {label: place for place, label in enumerate(wanted.labels)}
            found: Integers = np.array([*(code.get(label, len(code)) for label in held.labels), len(code)])[cells]
            return found
        if is_number(wanted.on) and is_number(held.on) and not is_dates(wanted.on):
            return _nested(held.on, wanted.on, cells)
        raise DataError(OTHER_CELLS)

    @override
    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """The cells of these columns and how many rows have them: what a ledger's fingerprint is made of.

        Raises:
            DataError: the snapshot is sealed.
        """
        if self.sealed:
            raise DataError(SEALED)
        places = [self._position(column) for column in columns]
        told = [f"{self.parts[place].column}: {self.parts[place].on!r}" for place in places]
        yield packed_row((*told, "cells"))
        for cells, count in zip(self.cells[:, places].tolist(), self.counts.tolist(), strict=True):
            yield packed_row((*map(str, cells), str(count)))


def _nested(held: Number, wanted: Number, cells: Integers) -> Integers:
    """Cells of a coarser line, each of which is several of the finer one's, both powers of two."""
    same = (held.low, held.high, held.missing, held.clamp) == (wanted.low, wanted.high, wanted.missing, wanted.clamp)
    if not same or held.bins or wanted.bins or wanted.bits > held.bits:
        raise DataError(OTHER_CELLS)
    return np.where(cells < held.ordered, cells >> (held.bits - wanted.bits), wanted.ordered)


def open_table(engine: Engine, *, name: str, sealed: bool = False) -> EngineTable:
    """Ask an engine which columns its table has and, unless it is sealed, how many rows.

    Args:
        engine: that keeps the table.
        name: what it is called on a screen.
        sealed: whether the table refuses every count.

    Raises:
        DataError: one sentence; nothing of what the engine said is in it.
    """
    kinds = tuple(engine.columns())
    if not kinds:
        raise DataError("The engine's table has no column of numbers, text, dates or truth values.")
    columns, notes = clean_names([kind.name for kind in kinds])
    rows = 0 if sealed else int(engine.counted([], [])[1].sum())
    told = _bare(clean_name(name) or "table", columns, rows, notes)
    return EngineTable(**told, engine=engine, kinds=kinds, sealed=sealed)


def from_engine(
    table: EngineTable, columns: Hashable | Sequence[Hashable], domain: Column | Product, *, private: bool = True
) -> Dataset:
    """Count columns of a table that an engine keeps; the same rows in a file give the same counts.

    Args:
        table: from ``open_table``.
        columns: a name, or a list of names: see ``Columns``.
        domain: what a record can be. Declare it; do not read it off private rows.
        private: False for rows that are public or made up.

    Raises:
        DataError: there is no such column, or the engine could not count; the message shows no record.
        ParameterError: the domain needs other columns.
    """
    names = tuple(map(str, columns)) if isinstance(columns, list | tuple) else (str(columns),)
    kind = ProvenanceKind.PRIVATE if private else ProvenanceKind.STAND_IN
    provenance = Provenance(kind=kind, title=f"{table.name}: {' × '.join(names)}")
    return Columns(names=names, on=domain).dataset(table, provenance)
