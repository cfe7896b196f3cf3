"""What an engine is asked of each column, and the data set that its counts make. Knows no engine."""

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
from dpcore.data.product import Product
from dpcore.data.reading.intake import LIMITS
from dpcore.data.reading.tables import BLANKS
from dpcore.data.readings import Coded, Columns, Reading, Several, YesNo

NO_RANGES = "Engines count a number by its own cells: a whole table cut into ranges is read from a file."
NO_ROWS = "This needs the rows themselves, and an engine gives counts of cells alone. Bring a file instead."
NO_ORDER = "A cap on the rows of a person needs rows in an order, and an engine's have none. Bring a file instead."


class Counts(Dataset):
    """A data set of which the rows in each cell are known, and no row."""

    def __init__(self, domain: Domain, histogram: Integers, provenance: Provenance) -> None:
        held = np.array(histogram, dtype=np.int64)
        held.setflags(write=False)
        for name, value in {"domain": domain, "provenance": provenance, "_histogram": held}.items():
            object.__setattr__(self, name, value)

    @override
    @property
    def records(self) -> NDArray[Any]:
        raise DataError(NO_ROWS)

    @override
    @property
    def n(self) -> int:
        return int(self.histogram.sum())


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column as the engine has it.

    Attributes:
        name: there.
        kind: its type, as ibis has it.
    """

    name: str
    kind: Any


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """One column and the cells its values are counted in.

    Attributes:
        column: its name.
        on: a line (or calendar), a yes or no, or other categories by their labels; where there are cuts, not looked at.
        cuts: where numbers are cut; a number equal to a place lies above it. A missing one has one range more.
    """

    column: str
    on: Number | Labels
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if is_number(self.on) and self.on.cuts:
            raise DataError(NO_RANGES)

    @property
    def size(self) -> int:
        """Cells; of labels one more for anything else, whether or not the domain has it."""
        if self.cuts:
            return len(self.cuts) + 2
        return self.on.size if is_number(self.on) else len(self.on.labels) + 1

    @property
    def labels(self) -> list[str]:
        """Without the blanks around them."""
        labels = [label.strip(BLANKS) for label in self.on.labels] if is_labels(self.on) else []
        if len(set(labels)) != len(labels):
            raise ParameterError("Labels must differ in more than the blanks around them.")
        return labels


def parts_of(reading: Reading) -> tuple[Encoding, ...]:
    """The columns of a reading, in the order in which ``dataset_of`` wants their cells.

    Raises:
        DataError: it needs rows.
    """
    match reading:
        case Capped():
            raise DataError(NO_ORDER)
        case Columns(names=names, on=on):
            return tuple(Encoding(column=name, on=kind) for name, kind in zip(names, on.columns, strict=True))
        case YesNo(predicates=asked) | Several(attributes=asked):
            return tuple(_asked(each) for each in asked)
    raise DataError(NO_ROWS)


def _asked(each: Coded | Predicate) -> Encoding:
    if isinstance(each, Coded):
        return Encoding(column=each.column, on=each.categories, cuts=each.cuts)
    cuts = () if each.kind == "is" else (float(each.value),)
    return Encoding(column=each.column, on=Labels(labels=(str(each.value),)), cuts=cuts)


def dataset_of(reading: Reading, cells: Integers, counts: Integers, provenance: Provenance) -> Dataset:
    """The data set whose rows have these cells (m, parts), so many each (m,).

    Raises:
        TooLarge: the domain's cells are not listed, and its rows take too much memory.
    """
    columns = [cells[:, place] for place in range(cells.shape[1])]
    found = _records(reading, columns)
    if reading.domain.listed:
        histogram = np.zeros(reading.domain.size, dtype=np.int64)
        np.add.at(histogram, found, counts)
        return Counts(reading.domain, histogram, provenance)
    LIMITS.afford(rows=int(counts.sum()), each=8 * len(columns))
    return Dataset(reading.domain, np.repeat(found, counts, axis=0), provenance)


def _records(reading: Reading, cells: Sequence[Integers]) -> NDArray[Any]:
    """Records of rows with these cells, as ``reading.records`` makes them of rows: (m,), or (m, d)."""
    if isinstance(reading, YesNo):
        held: Booleans = np.stack([_told(*each) for each in zip(reading.predicates, cells, strict=True)], axis=1) == 1
        return held
    domain = reading.domain
    if isinstance(domain, Product):
        told = reading.attributes if isinstance(reading, Several) else (None,) * len(cells)
        values = [_told(*each) for each in zip(told, cells, strict=True)]
        return domain.joined([_cells(kind, each) for kind, each in zip(domain.columns, values, strict=True)])
    assert isinstance(domain, Column)
    return _cells(domain, cells[0])


def _cells(kind: Column, cells: Integers) -> Integers:
    """A column's cells from an engine's: those of labels are codes, with one for anything else even if it has none."""
    return kind.encode(cells) if is_labels(kind) else cells


def _told(each: Coded | Predicate | None, cells: Integers) -> Integers:
    """A predicate as no and yes, anything else as it is."""
    if not isinstance(each, Predicate):
        return cells
    held: Integers = (cells == int(each.kind == "at least")).astype(np.int64)
    return held


__all__ = ["NO_ORDER", "NO_ROWS", "Counts", "Encoding", "TableColumn", "dataset_of", "parts_of"]
