"""Domains of one column: numbers or labels, declared by the user and never read off private data."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Domain, DomainType, Floats, Integers, ParameterError, rounded_up
from dpcore.core.sizes import MAX_BITS

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from dpcore.data.reading.tables import Table

EDGE_DIGITS = 14
"""Decimal digits of an edge: two fewer than a double has, so that sums of two bounds have them too."""
EXACT_POWERS = 22
"""Powers of ten up to this one are doubles."""
CUT_DIGITS = 10
"""Digits of a named edge that are written."""
FINEST = 1_000
"""Steps of rounding that the narrowest cell of a number's bounds has, at least."""
MIN_EDGE_STEPS = 16
"""Edges of cells are so many times as far apart as their last digit counts, at least."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Where the cells of a column lie along the range of its mean: numbers, or the second of two labels as 1.

    Attributes:
        low: lower end of the range, in the column's unit.
        high: upper end.
        steps: whole steps from the lower end to the upper one.
        positions: steps from the lower end to each fitting cell, (ordered,).
    """

    low: float
    high: float
    steps: int
    positions: Integers

    @property
    def span(self) -> float:
        """Length of the range."""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """Middle of the range."""
        return (self.low + self.high) / 2

    @property
    def rounding(self) -> float:
        """Half a cell as a share of the range: how far a value lies from its cell's middle; 0 for labels."""
        return float(self.positions[0]) / self.steps


class Column(Domain):
    """Domain of the values of one column, which may be a part of a ``Product``."""

    missing: bool

    @property
    def columns(self) -> tuple[Number | Labels, ...]:
        """The column alone, as a tuple."""
        assert isinstance(self, Number | Labels)
        return (self,)

    @property
    def declared(self) -> Number | Labels:
        """The column as a table declares it: with cells of equal width, or a cell for each label."""
        return self.columns[0]

    @property
    def label_of_share(self) -> str:
        """The label that is told apart from all others together; empty where every cell is of its own."""
        return ""

    def joined(self, cells: Sequence[Integers]) -> NDArray[Any]:
        """Return the records from the cells of the one column, (n,)."""
        return cells[0]

    @property
    @abstractmethod
    def edges(self) -> Floats:
        """Starts of the cells along an axis, and the end of the last, (ordered + 1,)."""

    @property
    def low(self) -> float:
        """Start of the axis."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """End of the axis."""
        return float(self.edges[-1])

    @property
    def unit(self) -> str:
        """Unit of the numbers along the axis."""
        return ""

    @property
    def cell_names(self) -> tuple[str, ...]:
        """Names of the fitting cells."""
        return tuple(map(self.describe, range(self.ordered)))

    @property
    def mean_name(self) -> str:
        """What the column's mean is called: "mean", or "proportion" of the second of two labels; "" without one."""
        return ""

    @property
    def scale(self) -> Scale:
        """The range of the column's mean."""
        raise ParameterError(f"No mean is released of {self.title}.")

    @property
    def closed(self) -> bool:
        """Whether a range of cells holds both its ends, as one of dates, labels or whole numbers does."""
        return True

    @abstractmethod
    def ends(self, first: int, last: int) -> tuple[str, str]:
        """Return begin and end of the cells from one to another, both included, in words."""

    def between(self, first: int, last: int) -> str:
        """Return the name of the cells from one to another, both included."""
        start, stop = self.ends(first, last)
        return start if start == stop else f"{start} to {stop}"

    @abstractmethod
    def values(self, table: Table, name: str) -> NDArray[Any]:
        """Return a table's column as ``encode`` takes it, (n,)."""

    @abstractmethod
    def encode(self, values: NDArray[Any]) -> Integers:
        """Return the cell of each value, (n,)."""


@dataclass(frozen=True, kw_only=True)
class Number(Column):
    """Numbers between declared bounds, cut into cells of equal width, or at named places.

    Whole numbers from 0 to 120 are 121 cells from -0.5 to 120.5: each number is the middle of its cell.

    Attributes:
        low: lower bound; the first cell starts here.
        high: upper bound; a number equal to it falls in the last ordered cell.
        bits: the paper's d; 2**bits ordered cells, or the least d with room for the cells.
        bins: how many ordered cells, where they are no power of two; else 0.
        cuts: where one cell ends and the next begins, ascending, inside the bounds; none for equal width.
        missing: whether there is one more cell for values that do not fit.
        clamp: whether numbers out of bounds move to the nearest bound (else they join the missing ones).
    """

    low: float = 0.0
    high: float = 1.0
    bits: int = 10
    bins: int = 0
    cuts: tuple[float, ...] = ()
    missing: bool = False
    clamp: bool = True
    unit: str = ""

    def __post_init__(self) -> None:
        if self.bins:
            if not 2 <= self.bins <= 2**MAX_BITS:
                raise ParameterError(f"Bins must lie between 2 and {2**MAX_BITS:,}, got {self.bins:,}.")
            # One number has one spelling: 64 bins are 6 bits.
            object.__setattr__(self, "bits", (self.bins - 1).bit_length())
            object.__setattr__(self, "bins", self.bins if self.bins != 2**self.bits else 0)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParameterError("The lower bound must be a finite number below the upper bound.")
        if not math.isfinite(self.high - self.low) or (self.high - self.low) / 2**MAX_BITS == 0:
            raise ParameterError("The bounds are too far apart or too close together for this grid.")
        if self.cuts:
            self._check_cuts()
        if not 1 <= self.bits <= MAX_BITS:
            raise ParameterError(f"Bits must lie between 1 and {MAX_BITS}, got {self.bits}.")
        if not self.clamp and not self.missing:
            raise ParameterError("Values out of bounds need a cell: clamp them or keep a cell for missing values.")

    def _check_cuts(self) -> None:
        if any(not first < second for first, second in pairwise((self.low, *self.cuts, self.high))):
            raise ParameterError("Cuts must ascend and lie inside the bounds.")
        if len(self.cuts) >= 2**MAX_BITS:
            raise ParameterError(f"A number is cut into {2**MAX_BITS:,} cells at most.")
        edges = [f"{edge:.{CUT_DIGITS}g}" for edge in (self.low, *self.cuts, self.high)]
        if len(set(edges)) < len(edges):
            raise ParameterError(f"Cuts and bounds must differ in their first {CUT_DIGITS} digits.")
        # As above: the cuts alone say how many cells there are.
        object.__setattr__(self, "bits", len(self.cuts).bit_length())
        object.__setattr__(self, "bins", 0)

    @override
    @property
    def declared(self) -> Number:
        return replace(self, cuts=())

    @override
    @property
    def title(self) -> str:
        return "a range of numbers" if self.cuts else "a number"

    @property
    def whole(self) -> bool:
        """Whether cells hold whole numbers: one each, or from one to another."""
        ends = (self.low, *self.cuts, self.high)
        return bool(self.cuts or self.width == 1) and all(end % 1 == 0.5 for end in ends)

    @override
    @property
    def closed(self) -> bool:
        return self.whole

    @override
    @property
    def mean_name(self) -> str:
        """Ranges of named ends are a category, without a mean."""
        return "" if self.cuts else "mean"

    @override
    @property
    def scale(self) -> Scale:
        """A cell lies at its middle."""
        middles = 2 * np.arange(self.ordered, dtype=np.int64) + 1
        return Scale(low=self.low, high=self.high, steps=2 * self.ordered, positions=middles)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds as they are declared: of whole numbers the smallest and the largest."""
        return (self.low + 0.5, self.high - 0.5) if self.whole else (self.low, self.high)

    @override
    @property
    def types(self) -> frozenset[DomainType]:
        """Cells in order, of equal width; ranges of named ends are a category: a mean needs equal steps."""
        return frozenset({DomainType.LABELS if self.cuts else DomainType.NUMBER})

    @override
    @property
    def size(self) -> int:
        """The ordered cells, and one more where values may be missing."""
        return (len(self.cuts) + 1 if self.cuts else self.bins or 1 << self.bits) + int(self.missing)

    @property
    def width(self) -> float:
        """Width of a cell in the data's unit; the mean of them where they are cut at named places."""
        return (self.high - self.low) / float(self.ordered)

    @property
    def span(self) -> float:
        """Distance between the bounds, in the data's unit."""
        return self.high - self.low

    @property
    def grain(self) -> float:
        """Power of ten of which every inner edge is a whole part, so that 43 of 128 cells of 0 to 12.8 start at 4.3.

        0 where edges are not rounded: numbers beyond the decimals of a double, or cells narrower than the rounding.
        """
        decimals = EDGE_DIGITS - math.ceil(math.log10(max(abs(self.low), abs(self.high))))
        if not 0 <= decimals <= EXACT_POWERS:
            return 0.0
        grain = 10.0**decimals
        return grain if self.span * grain >= FINEST * 2**MAX_BITS else 0.0

    @override
    @property
    def edges(self) -> Floats:
        """Where cells start, and the end of the last, (ordered + 1,), each as a decimal number of 14 digits."""
        if self.cuts:
            return np.array([self.low, *self.cuts, self.high])
        span, steps, grain = self.span, np.arange(self.ordered + 1, dtype=np.float64), self.grain
        with np.errstate(over="ignore"):
            along = np.where(np.isfinite(span * steps), span * steps / self.ordered, span / self.ordered * steps)
        edges: Floats = self.low + along
        if grain:
            edges = np.floor(edges * grain + 0.5) / grain
        edges = np.minimum(edges, self.high)
        edges[0], edges[-1] = self.low, self.high
        return edges

    @override
    def describe_distance(self, share: float) -> str:
        """Return a share of the distance between the bounds in the data's unit, and as a share."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{float(rounded_up(share * self.span)):,.12g}{unit} ({super().describe_distance(share)})"

    @property
    def separated(self) -> bool:
        """Return whether edges of equal width are so far apart that rounding cannot confuse them."""
        span, largest = self.span, max(abs(self.low), abs(self.high))
        return math.isfinite(span * self.ordered) and span / self.ordered >= MIN_EDGE_STEPS * math.ulp(largest)

    @override
    def points(self) -> Floats:
        """Midpoint of each ordered cell, shape (ordered,)."""
        if self.cuts:
            edges = self.edges
            middles: Floats = edges[:-1] + (edges[1:] - edges[:-1]) / 2
            return middles
        return self.low + (np.arange(self.ordered, dtype=np.float64) + 0.5) * self.width

    @override
    def describe(self, cell: int) -> str:
        return "missing or out of bounds" if cell >= self.ordered else self.between(cell, cell)

    @override
    def ends(self, first: int, last: int) -> tuple[str, str]:
        """The edges where the first cell starts and the last one ends; the whole numbers in them."""
        if self.whole:
            edges = (self.low, *self.cuts, self.high) if self.cuts else range(self.ordered + 1)
            start = 0.0 if self.cuts else self.low
            return f"{int(start + edges[first] + 0.5)}", f"{int(start + edges[last + 1] - 0.5)}"
        if self.cuts:
            edges = (self.low, *self.cuts, self.high)
            return f"{edges[first]:.{CUT_DIGITS}g}", f"{edges[last + 1]:.{CUT_DIGITS}g}"
        # As many digits as it takes to tell one edge from the next.
        digits = max(6, math.ceil(math.log10(max(abs(self.low), abs(self.high)) / self.width)) + 2)
        return f"{self.low + first * self.width:.{digits}g}", f"{self.low + (last + 1) * self.width:.{digits}g}"

    @override
    def values(self, table: Table, name: str) -> NDArray[Any]:
        return table.numbers(name)

    @override
    def encode(self, values: NDArray[Any]) -> Integers:
        """Cell of each number, shape (n,).

        What is not a finite number counts as missing. Without a cell for missing values it is put at the lower bound:
        the domain was declared to have none, and n must not depend on the data.
        """
        numbers = np.asarray(values, dtype=np.float64)
        fits = np.isfinite(numbers)
        if not self.clamp:
            with np.errstate(invalid="ignore"):
                fits &= (numbers >= self.low) & (numbers <= self.high)
        clipped = np.clip(np.where(fits, numbers, self.low), self.low, self.high)
        encoded = self._cells(clipped)
        if self.missing:
            encoded[~fits] = self.ordered
        return encoded

    def _cells(self, clipped: Floats) -> Integers:
        """Return the cell of numbers within the bounds, (n,)."""
        if self.cuts:
            return np.searchsorted(self.cuts, clipped, side="right").astype(np.int64)
        # A ratio first: (x - low) / width could round past the end for extreme bounds.
        cells = np.floor((clipped - self.low) / self.span * self.ordered)
        encoded: Integers = np.minimum(cells, self.ordered - 1).astype(np.int64)
        if self.separated:  # a quotient may round past an edge: a number on one lies in the cell that begins there
            edges, last = self.edges, self.ordered - 1
            encoded = np.clip(encoded + (clipped >= edges[encoded + 1]) - (clipped < edges[encoded]), 0, last)
        return encoded


@dataclass(frozen=True, kw_only=True)
class Labels(Column):
    """One of a declared list of labels, and one more cell for anything else (missing included).

    Attributes:
        labels: each once.
        missing: whether there is the cell for anything else.
        yes_no: whether a cell says no or yes, in any of the usual spellings (see ``Table.truths``).
    """

    labels: tuple[str, ...] = ("no", "yes")
    missing: bool = True
    yes_no: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.labels) <= 2**MAX_BITS:
            raise ParameterError(f"Between 1 and {2**MAX_BITS} labels are needed, got {len(self.labels)}.")
        if len(set(self.labels)) != len(self.labels):
            raise ParameterError("Every label must be listed once.")
        if self.yes_no and self.labels != ("no", "yes"):
            raise ParameterError("The labels of a yes or no are “no” and “yes”.")

    @override
    @property
    def title(self) -> str:
        return "yes or no" if self.yes_no else "a category"

    @override
    @property
    def types(self) -> frozenset[DomainType]:
        return frozenset({DomainType.LABELS})

    @override
    @property
    def size(self) -> int:
        """Labels, and the cell for anything else."""
        return len(self.labels) + int(self.missing)

    @override
    @property
    def edges(self) -> Floats:
        """Along an axis, the label of number i reaches from i to i + 1."""
        return np.arange(self.ordered + 1, dtype=np.float64)

    @override
    @property
    def mean_name(self) -> str:
        return "proportion" if self.ordered == 2 else ""

    @override
    @property
    def scale(self) -> Scale:
        if not self.mean_name:
            return super().scale
        return Scale(low=0.0, high=1.0, steps=1, positions=np.arange(2, dtype=np.int64))

    @override
    @property
    def cell_names(self) -> tuple[str, ...]:
        return self.labels

    @override
    def points(self) -> list[str]:
        return list(self.labels)

    @override
    def describe(self, cell: int) -> str:
        return self.labels[cell] if cell < len(self.labels) else "any other value"

    @override
    def ends(self, first: int, last: int) -> tuple[str, str]:
        """The first label and the last, in their declared order."""
        return self.labels[first], self.labels[last]

    @override
    def values(self, table: Table, name: str) -> NDArray[Any]:
        """Number of each row's label, or one more than the last for anything else."""
        return table.truths(name) if self.yes_no else table.labels(name, self.labels)

    @override
    def encode(self, values: NDArray[Any]) -> Integers:
        """Cell of each row, shape (n,), from label codes 0..k-1 with k for anything else.

        Without a cell for anything else, such rows are put at the first label: the domain was declared to have none.
        """
        codes = np.asarray(values, dtype=np.int64)
        unknown = (codes < 0) | (codes >= len(self.labels))
        encoded: Integers = np.where(unknown, len(self.labels) if self.missing else 0, codes)
        return encoded


@dataclass(frozen=True, kw_only=True)
class LabelAndRest(Labels):
    """Two cells of a column of labels: all other declared labels together, and one label, of which there is a share.

    Attributes:
        label: one of the labels; its cell is the second.
    """

    label: str

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.label or self.label not in self.labels or len(self.labels) < 2:
            raise ParameterError("A label is told apart from the rest where it is one of several declared labels.")

    @override
    @property
    def declared(self) -> Labels:
        return Labels(labels=self.labels, missing=self.missing, yes_no=self.yes_no)

    @override
    @property
    def label_of_share(self) -> str:
        return self.label

    @override
    @property
    def size(self) -> int:
        """The rest, the label, and the cell for anything else."""
        return 2 + int(self.missing)

    @override
    @property
    def cell_names(self) -> tuple[str, ...]:
        return f"not {self.label}", self.label

    @override
    def points(self) -> list[str]:
        return list(self.cell_names)

    @override
    def describe(self, cell: int) -> str:
        return self.cell_names[cell] if cell < 2 else "any other value"

    @override
    def ends(self, first: int, last: int) -> tuple[str, str]:
        return self.cell_names[first], self.cell_names[last]

    @override
    def encode(self, values: NDArray[Any]) -> Integers:
        """Cell of each row, (n,), from codes of the labels as declared."""
        codes = super().encode(values)
        encoded: Integers = np.where(codes == len(self.labels), 2, codes == self.labels.index(self.label))
        return encoded


NO_YES = Labels(missing=False)
"""A predicate's two answers."""


def is_number(domain: object) -> TypeIs[Number]:
    """Return whether a domain's cells lie along one axis of numbers or dates."""
    return isinstance(domain, Number)


def is_labels(domain: object) -> TypeIs[Labels]:
    """Return whether a domain is one column of labels."""
    return isinstance(domain, Labels)
