"""Base class of classes of small databases: the number near the data, and a uniform draw of one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Floats, Integers

Uniform = Callable[[NDArray[Any]], NDArray[Any]]
"""Numbers drawn evenly from 0 (included) to each of these totals (excluded), shape as the totals."""

GROWTH = 900
"""Powers of two by which counts may grow before they are scaled back; doubles reach 1,023."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Kernel(ABC):
    """Databases of m points beside the data: their extents, and counts of those within limits.

    A database is a path S of whole numbers: S_i points lie in the first i cells, so 0 = S_0 <= S_1 <= ... <= S_U <= m.
    Its extent is one whole number or two that say how far it is from the data; the error is their sum.

    Attributes:
        counts: rows in each cell that fits, shape (U,).
        points: m.
        rows: n, public; under ADD_REMOVE_ONE it need not be the number of rows.
        free_end: whether S_U may stay below m: the other points are in a cell for missing values, number U.
    """

    counts: Integers
    points: int
    rows: int
    free_end: bool
    sides: ClassVar[int] = 1
    """How many numbers an extent has."""

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__}: private>"

    @property
    def cells(self) -> int:
        """Steps of a path, U."""
        return len(self.counts)

    @property
    @abstractmethod
    def effort(self) -> int:
        """Numbers that extent() computes for one database."""

    @abstractmethod
    def widest(self) -> Integers:
        """Return the limits that no database exceeds, (sides,)."""

    @abstractmethod
    def extent(self, points: Integers) -> Integers:
        """Return the extent of each database, from its points in order (T, m): (T, sides)."""

    @abstractmethod
    def values(self, limits: Integers) -> int:
        """Return the maximal number of distinct values of a path after a cell, within the widest limits (B, sides)."""

    @abstractmethod
    def sums(self, limits: Integers, *, keep: bool, exact: bool = False) -> Sums:
        """Return the forward pass within each of these limits (B, sides); ``keep`` what paths are drawn from."""


class Sums(ABC):
    """Ways to reach each value after each cell, within some limits (B,).

    Doubles, scaled by powers of two so that none overflows, or Python's whole numbers, exact.

    Attributes:
        totals: databases within each of the limits, divided by 2^doublings, (B,).
        doublings: see there, (B,).
    """

    def __init__(self, kernel: Kernel, limits: Integers, *, values: int, exact: bool) -> None:
        self._kernel = kernel
        self.totals: NDArray[Any] = np.zeros(len(limits))
        self.doublings = np.zeros(len(limits), dtype=np.int64)
        self._ways: NDArray[Any] = np.zeros((values, len(limits)), dtype=object if exact else np.float64)
        self._ways[0] = 1
        # A cell multiplies the sum of all ways by at most the number of values.
        self._every = 0 if exact else max(1, int(GROWTH / math.log2(values + 1)))

    def _due(self, cell: int) -> bool:
        """Return whether counts of paths may be so large that they must be rescaled, every few cells."""
        return self._every > 0 and cell % self._every == self._every - 1

    def _scale(self) -> None:
        """Divide each column of ways by a power of two near its sum: exact, where none is 2^-1022 times it or less."""
        _, exponents = np.frexp(self._ways.sum(axis=0))
        self._ways *= np.ldexp(1.0, -exponents)
        self.doublings += exponents

    def logs(self) -> Floats:
        """Return the natural logarithm of the number of databases within each of the limits, (B,); -inf for none."""
        mantissas, exponents = np.frexp(self.totals)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(mantissas) + (exponents + self.doublings) * math.log(2)
        return logs

    @abstractmethod
    def paths(self, which: Integers, uniform: Uniform) -> Integers:
        """Return a path drawn evenly within each of the limits ``which`` (T,), as values after each cell: (T, U)."""

    def draw(self, which: Integers, uniform: Uniform) -> Integers:
        """The same as points in order, (T, m)."""
        kernel, paths = self._kernel, self.paths(which, uniform)
        multiplicities = np.diff(paths, axis=1, prepend=0, append=kernel.points)
        cells = np.broadcast_to(np.arange(kernel.cells + 1), multiplicities.shape)
        return np.repeat(cells.reshape(-1), multiplicities.reshape(-1)).reshape(-1, kernel.points)
