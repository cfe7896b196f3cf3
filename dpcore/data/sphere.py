"""Unit vectors, and queries about halfspaces: the rows on one side of a plane through the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeIs, override

from dpcore.core import DataError, Domain, DomainType, Floats, ParameterError, Queries
from dpcore.core.sizes import MAX_DIMENSIONS

STEP = 2.0**-20
"""Coordinates are whole multiples of it.

A row's share in a count must depend on that row alone. Sums of doubles depend on their order, which a matrix product
chooses by the number of rows; sums of these multiples are exact in any order (see halfspaces.counting).
"""
BLOCK = 1 << 22
"""Numbers of an intermediate array."""


@dataclass(frozen=True, kw_only=True)
class Sphere(Domain):
    """Rows of numbers, each scaled to length 1.

    A row that has no direction (all zeros, or a number that is missing or infinite) becomes the zero vector: the
    reserved record. It lies on no side of any plane and stays in n.

    Attributes:
        dimensions: numbers in a row, d.
    """

    dimensions: int = 3

    def __post_init__(self) -> None:
        if not 1 <= self.dimensions <= MAX_DIMENSIONS:
            raise ParameterError(f"Dimensions must lie between 1 and {MAX_DIMENSIONS}, got {self.dimensions}.")

    @override
    @property
    def title(self) -> str:
        return "several numbers scaled to a unit vector"

    @override
    @property
    def types(self) -> frozenset[DomainType]:
        return frozenset({DomainType.VECTORS})

    @override
    @property
    def listed(self) -> bool:
        return False

    @override
    @property
    def missing(self) -> bool:
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(f"x{place}" for place in range(1, self.dimensions + 1))

    @override
    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """A column of numbers for each coordinate."""
        return dict(zip(self.names, records.T, strict=True))

    @override
    @property
    def size(self) -> int:
        _no_list()

    @override
    def checked(self, records: NDArray[Any]) -> Floats:
        """Each row scaled to length 1 and rounded to whole multiples of STEP, (n, dimensions); see the class.

        Every row is treated by itself, in operations that do not see how many there are. Rows that are unit vectors on
        the grid already come back as they are.

        Raises:
            DataError: the records are not so many numbers per row.
        """
        numeric = np.issubdtype(records.dtype, np.floating) or np.issubdtype(records.dtype, np.integer)
        if records.ndim != 2 or records.shape[1] != self.dimensions or not numeric:
            raise DataError(f"Records must be {self.dimensions} numbers per row.")
        numbers = np.array(records, dtype=np.float64, order="C")
        numbers[~np.isfinite(numbers).all(axis=1)] = 0.0
        largest = np.abs(numbers).max(axis=1)
        # Scaled by a power of two first: exact, and squares can neither overflow nor vanish.
        scaled = np.ldexp(numbers, -np.frexp(largest)[1][:, None])
        length = np.sqrt(squared_length(scaled))[:, None]
        unit: Floats = np.rint(scaled / np.where(length > 0, length, 1.0) / STEP) * STEP
        with np.errstate(over="ignore"):
            on_grid = (np.rint(numbers / STEP) * STEP == numbers).all(axis=1)
        # Rounding moves a length by at most half a step for each coordinate, in the root of squares.
        rounded = np.abs(squared_length(numbers) - 1) <= 1.01 * np.sqrt(self.dimensions) * STEP
        return np.where((on_grid & rounded)[:, None], numbers, unit)

    def unit(self, directions: Floats) -> Floats:
        """Return the directions (Q, dimensions) scaled to length 1; public, so they are not rounded.

        Raises:
            ParameterError: one of them is no direction.
        """
        lengths = np.linalg.norm(np.atleast_2d(directions), axis=1, keepdims=True)
        if directions.ndim != 2 or directions.shape[1] != self.dimensions:
            raise ParameterError(f"A direction needs {self.dimensions} numbers.")
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise ParameterError("A direction needs finite numbers that are not all zero.")
        scaled: Floats = directions / lengths
        return scaled


def squared_length(vectors: Floats) -> Floats:
    """Squared length of each row (n, d), added up coordinate by coordinate: no sum depends on the number of rows."""
    total = np.zeros(len(vectors))
    with np.errstate(over="ignore"):
        for column in vectors.T:
            total += column * column
    return total


def _no_list() -> NoReturn:
    """Raise ParameterError, because a sphere's cells and halfspaces have no numbers."""
    raise ParameterError("Unit vectors and halfspaces are too many to number. Give directions instead.")


def is_sphere(domain: object) -> TypeIs[Sphere]:
    """Return whether a record is a unit vector."""
    return isinstance(domain, Sphere)


@dataclass(frozen=True, kw_only=True)
class Halfspaces(Queries):
    """Number of rows x with <x, y> > 0; one query for every unit vector y.

    Attributes:
        margin: promises are about those y only for which |<x, y>| is at least this for every row x.
    """

    key: ClassVar[str] = "halfspaces"
    title: ClassVar[str] = "Halfspaces: rows on the side that a direction points to"
    one: ClassVar[str] = "halfspace"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.VECTORS,)
    domain: Domain
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not is_sphere(self.domain):
            raise ParameterError("Halfspaces need unit vectors.")
        if not 0 <= self.margin <= 1:
            raise ParameterError(f"The margin must lie between 0 and 1, got {self.margin!r}.")

    @property
    def sphere(self) -> Sphere:
        """The sphere that the queries are about."""
        assert is_sphere(self.domain)
        return self.domain

    @override
    @property
    def count(self) -> int:
        _no_list()

    @override
    @property
    def vc_dimension(self) -> int:
        """The number of dimensions: d independent vectors are shattered, and no d + 1 are."""
        return self.sphere.dimensions

    @override
    def describe(self, index: int) -> str:
        _no_list()

    def truth(self, records: Floats, directions: Floats) -> Floats:
        """Return the share of the rows (n, d) on the side of each direction (Q, d): (Q,)."""
        towards = self.sphere.unit(directions)
        shares = [
            np.count_nonzero(towards[start : start + step] @ records.T > 0, axis=1)
            for step in (max(1, BLOCK // max(1, len(records))),)
            for start in range(0, len(towards), step)
        ]
        truth: Floats = np.concatenate(shares) / max(1, len(records))
        return truth

    def near(self, records: Floats, directions: Floats, *, width: float) -> Floats:
        """Return the share of the rows with |<x, y>| below width, for each direction (Q, d): (Q,)."""
        towards = self.sphere.unit(directions)
        shares = [np.count_nonzero(np.abs(records @ y) < width) / max(1, len(records)) for y in towards]
        return np.array(shares, dtype=np.float64)

    def margins(self, records: Floats, directions: Floats) -> Floats:
        """Return the smallest |<x, y>| over the rows, for each direction (Q, d): (Q,)."""
        towards = self.sphere.unit(directions)
        return np.array([np.abs(records @ y).min(initial=np.inf) for y in towards], dtype=np.float64)
