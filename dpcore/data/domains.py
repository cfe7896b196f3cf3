"""What a record can be: public descriptions declared by the user, never read off private data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise, product, starmap
from typing import ClassVar

import numpy as np

from dpcore.core import Domain, Floats, Integers, ParameterError

MOST_BITS = 16


@dataclass(frozen=True, kw_only=True)
class Line(Domain):
    """Numbers between declared bounds, cut into cells of equal width: 2**bits, or any number of bins.

    Attributes:
        low: lower bound; the first cell starts here.
        high: upper bound; a number equal to it falls in the last ordered cell.
        bits: the paper's d; 2**bits ordered cells, or the least d with room for the bins.
        bins: how many ordered cells, where they are no power of two; else 0.
        missing: whether there is one more cell for values that do not fit.
        clamp: whether numbers out of bounds move to the nearest bound (else they join the missing ones).
    """

    title: ClassVar[str] = "a number"
    low: float = 0.0
    high: float = 1.0
    bits: int = 10
    bins: int = 0
    missing: bool = False
    clamp: bool = True
    unit: str = ""

    def __post_init__(self) -> None:
        if self.bins:
            if not 2 <= self.bins <= 2**MOST_BITS:
                raise ParameterError(f"Bins must lie between 2 and {2**MOST_BITS:,}, got {self.bins:,}.")
            # One line has one spelling: 64 bins are 6 bits.
            object.__setattr__(self, "bits", (self.bins - 1).bit_length())
            object.__setattr__(self, "bins", self.bins if self.bins != 2**self.bits else 0)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParameterError("The lower bound must be a finite number below the upper bound.")
        if not math.isfinite(self.high - self.low) or (self.high - self.low) / 2**MOST_BITS == 0:
            raise ParameterError("The bounds are too far apart or too close together for this grid.")
        if not 1 <= self.bits <= MOST_BITS:
            raise ParameterError(f"Bits must lie between 1 and {MOST_BITS}, got {self.bits}.")
        if not self.clamp and not self.missing:
            raise ParameterError("Values out of bounds need a cell: clamp them or keep a cell for missing values.")

    @property
    def size(self) -> int:
        """The ordered cells, and one more where values may be missing."""
        return (self.bins or 1 << self.bits) + int(self.missing)

    @property
    def width(self) -> float:
        """Width of a cell in the data's unit."""
        return (self.high - self.low) / float(self.ordered)

    @property
    def edges(self) -> Floats:
        """Where cells start, and the end of the last, (ordered + 1,), each to the last digit it can have."""
        span, steps = self.high - self.low, np.arange(self.ordered + 1, dtype=np.float64)
        with np.errstate(over="ignore"):
            along = np.where(np.isfinite(span * steps), span * steps / self.ordered, span / self.ordered * steps)
        edges: Floats = np.minimum(self.low + along, self.high)
        return edges

    def points(self) -> Floats:
        """Midpoint of each ordered cell, shape (ordered,)."""
        return self.low + (np.arange(self.ordered, dtype=np.float64) + 0.5) * self.width

    def describe(self, cell: int) -> str:
        """The cell's half-open range."""
        if cell >= self.ordered:
            return "missing or out of bounds"
        # As many digits as it takes to tell one edge from the next.
        digits = max(6, math.ceil(math.log10(max(abs(self.low), abs(self.high)) / self.width)) + 2)
        return f"{self.low + cell * self.width:.{digits}g} to {self.low + (cell + 1) * self.width:.{digits}g}"

    def between(self, low: float, high: float) -> str:
        """What the numbers from one on and below another are called."""
        return f"{low:.10g} to {high:.10g}"

    def encode(self, numbers: Floats) -> Integers:
        """Cell of each number, shape (n,).

        What is not a finite number counts as missing. Without a cell for missing values it is put at the lower bound:
        the domain was declared to have none, and n must not depend on the data.
        """
        numbers = np.asarray(numbers, dtype=np.float64)
        fits = np.isfinite(numbers)
        if not self.clamp:
            with np.errstate(invalid="ignore"):
                fits &= (numbers >= self.low) & (numbers <= self.high)
        clipped = np.clip(np.where(fits, numbers, self.low), self.low, self.high)
        if self.bins:
            # A product with a number that is no power of two would put 29 of 0 to 100 in cell 28.
            cells = np.searchsorted(self.edges, clipped, side="right") - 1.0
        else:
            # A ratio first: (x - low) / width could round past the end for extreme bounds.
            cells = np.floor((clipped - self.low) / (self.high - self.low) * 2**self.bits)
        encoded: Integers = np.minimum(cells, self.ordered - 1).astype(np.int64)
        if self.missing:
            encoded[~fits] = self.ordered
        return encoded


@dataclass(frozen=True, kw_only=True)
class Grid(Domain):
    """Two numbers: every pair of a cell of one line and a cell of another, numbered row by row of the first.

    A pair of which either number has no cell goes to one reserved last cell.

    Attributes:
        first: the line whose cells are the rows; drawn from left to right.
        second: the line whose cells follow each other inside a row; drawn from bottom to top.
        names: what the two numbers are called.
        missing: whether there is a reserved cell; it follows from the lines.
    """

    title: ClassVar[str] = "two numbers"
    first: Line = Line(bits=5)
    second: Line = Line(bits=5)
    names: tuple[str, str] = ("first number", "second number")
    missing: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.first.bits + self.second.bits > MOST_BITS:
            raise ParameterError(f"Both lines' bits together must be at most {MOST_BITS}.")
        object.__setattr__(self, "missing", self.first.missing or self.second.missing)

    @property
    def shape(self) -> tuple[int, int]:
        """Ordered cells of the first and of the second line."""
        return self.first.ordered, self.second.ordered

    @property
    def size(self) -> int:
        """All pairs of ordered cells, and one more where a number may be missing."""
        return self.first.ordered * self.second.ordered + int(self.missing)

    def points(self) -> list[tuple[float | str, float | str]] | Floats:
        """Midpoints of each pair of ordered cells, shape (ordered, 2); a list of pairs where a side has labels."""
        if isinstance(self.first, Labelled) or isinstance(self.second, Labelled):
            sides = (
                side.of.labels if isinstance(side, Labelled) else side.points().tolist()
                for side in (self.first, self.second)
            )
            return [*product(*sides)]
        pairs = np.meshgrid(self.first.points(), self.second.points(), indexing="ij")
        return np.stack([pair.reshape(-1) for pair in pairs], axis=1)

    def describe(self, cell: int) -> str:
        """Both half-open ranges."""
        if cell >= self.ordered:
            return "missing or out of bounds"
        row, column = divmod(cell, self.second.ordered)
        return f"{self.first.describe(row)} × {self.second.describe(column)}"

    def encode(self, first: Floats, second: Floats) -> Integers:
        """Cell of each pair of numbers (n,) and (n,), shape (n,)."""
        rows, columns = self.first.encode(first), self.second.encode(second)
        if len(rows) != len(columns):
            raise ParameterError(f"Both columns need as many numbers, got {len(rows):,} and {len(columns):,}.")
        fits = (rows < self.first.ordered) & (columns < self.second.ordered)
        return np.where(fits, rows * self.second.ordered + columns, self.ordered).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Categories(Domain):
    """One of a declared list of labels, and one more cell for anything else (missing included)."""

    title: ClassVar[str] = "a category"
    labels: tuple[str, ...] = ("no", "yes")
    missing: bool = True

    def __post_init__(self) -> None:
        if not 1 <= len(self.labels) <= 2**MOST_BITS:
            raise ParameterError(f"Between 1 and {2**MOST_BITS} labels are needed, got {len(self.labels)}.")
        if len(set(self.labels)) != len(self.labels):
            raise ParameterError("Every label must be listed once.")

    @property
    def size(self) -> int:
        """Labels, and the cell for anything else."""
        return len(self.labels) + int(self.missing)

    def points(self) -> list[str]:
        """The labels."""
        return list(self.labels)

    def describe(self, cell: int) -> str:
        """The label."""
        return self.labels[cell] if cell < len(self.labels) else "anything else"

    def encode(self, codes: Integers) -> Integers:
        """Cell of each row, shape (n,), from label codes 0..k-1 with k for anything else.

        Without a cell for anything else, such rows are put at the first label: the domain was declared to have none.
        """
        codes = np.asarray(codes, dtype=np.int64)
        unknown = (codes < 0) | (codes >= len(self.labels))
        encoded: Integers = np.where(unknown, len(self.labels) if self.missing else 0, codes)
        return encoded


@dataclass(frozen=True, kw_only=True)
class Truth(Categories):
    """No or yes, in any of the usual spellings (see ``Table.truths``), and one more cell for anything else."""

    title: ClassVar[str] = "yes or no"
    labels: tuple[str, ...] = field(default=("no", "yes"), init=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Labelled(Line):
    """A category along a side of a map: a cell for each label, in declared order, and one for anything else.

    Along the line, the label of number i reaches from i to i + 1.

    Attributes:
        of: the labels, two or more.
    """

    title: ClassVar[str] = "labels along a line"
    low: float = field(init=False, repr=False)
    high: float = field(init=False, repr=False)
    bits: int = field(init=False, repr=False)
    bins: int = field(init=False, repr=False)
    missing: bool = field(init=False, repr=False)
    clamp: bool = field(init=False, repr=False)
    unit: str = field(init=False, repr=False)
    of: Categories = Categories()

    def __post_init__(self) -> None:
        labels = len(self.of.labels)
        if labels < 2:
            raise ParameterError("A side of a map needs two labels or more.")
        told = {"low": 0.0, "high": float(labels), "bins": labels, "missing": True, "clamp": False, "unit": ""}
        for name, value in told.items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    def describe(self, cell: int) -> str:
        """The label; a range of them is written with "to" between its ends, which no label has."""
        return self.of.describe(cell).replace(" to ", " – ")

    def between(self, low: float, high: float) -> str:
        """The labels from one on and before another."""
        first, last = self.describe(int(low)), self.describe(int(high) - 1)
        return first if first == last else f"{first} to {last}"

    def numbers(self, codes: Integers) -> Floats:
        """Where rows lie along the line, from label codes 0..k-1 with k for anything else: (n,), NaN for that."""
        known = (codes >= 0) & (codes < self.ordered)
        return np.where(known, codes + 0.5, np.nan)


@dataclass(frozen=True, kw_only=True)
class Binned(Categories):
    """Ranges of a line's numbers as categories, in order: a number or a date among other attributes.

    Attributes:
        line: the numbers, their bounds, and what happens to those out of bounds.
        cuts: where one range ends and the next begins, ascending, inside the bounds; none for the line's own cells.
    """

    title: ClassVar[str] = "a range of numbers"
    labels: tuple[str, ...] = field(init=False, repr=False)
    line: Line = field(default_factory=Line)
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        inside = (self.line.low, *self.cuts, self.line.high)
        if any(not first < second for first, second in pairwise(inside)):
            raise ParameterError("Cuts must ascend and lie inside the bounds.")
        named = starmap(self.line.between, pairwise(inside))
        told = named if self.cuts else map(self.line.describe, range(self.line.ordered))
        object.__setattr__(self, "labels", tuple(told))
        super().__post_init__()

    @property
    def edges(self) -> Floats:
        """Where ranges start, and the end of the last, (labels + 1,)."""
        return np.array([self.line.low, *self.cuts, self.line.high]) if self.cuts else self.line.edges

    def codes(self, numbers: Floats) -> Integers:
        """Position of each number's range, (n,); one more than the last for what is missing."""
        cells = self.line.encode(numbers)
        if not self.cuts:
            return cells
        fits = np.where(np.isfinite(numbers), numbers, self.line.low)
        ranges: Integers = np.searchsorted(self.cuts, fits, side="right")
        return np.where(cells < self.line.ordered, ranges, len(self.labels))


@dataclass(frozen=True, kw_only=True)
class Grouped(Domain):
    """One of a declared list of labels and a number: the first label's cells in order, then the next label's.

    A row without a fitting label or number falls in one last cell.
    """

    title: ClassVar[str] = "a number and its group"
    missing: bool = field(default=True, init=False, repr=False)
    labels: tuple[str, ...] = ("no", "yes")
    line: Line = field(default_factory=Line)

    def __post_init__(self) -> None:
        Categories(labels=self.labels)
        if self.size > 2**MOST_BITS:
            raise ParameterError(f"{len(self.labels)} labels of {self.line.ordered:,} cells each are too many.")

    @property
    def size(self) -> int:
        """The line's cells for each label, and the last one."""
        return len(self.labels) * self.line.ordered + 1

    def points(self) -> list[str]:
        """Label and range of each cell."""
        return [self.describe(cell) for cell in range(self.ordered)]

    def describe(self, cell: int) -> str:
        """Label and range."""
        if cell >= self.ordered:
            return "anything else"
        label, place = divmod(cell, self.line.ordered)
        return f"{self.labels[label]}, {self.line.describe(place)}"

    def encode(self, codes: Integers, numbers: Floats) -> Integers:
        """Cell of each row, shape (n,), from label codes 0..k-1 (anything else does not fit) and numbers."""
        labels, cells = Categories(labels=self.labels).encode(codes), self.line.encode(numbers)
        fits = (labels < len(self.labels)) & (cells < self.line.ordered)
        encoded: Integers = np.where(fits, labels * self.line.ordered + cells, self.ordered)
        return encoded
