"""Classes whose VC dimension has a closed form, each with a matrix small enough to check it.

Notation: a class has a size: cells of a line, dimensions of a space, or bits of a record, as it says.

References:
    Vapnik and Chervonenkis (1971); Blum, Ligett and Roth (2013), section 3; Kearns and Vazirani (1994), chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpcore.core import Integers, ParameterError


@dataclass(frozen=True, kw_only=True)
class NamedClass:
    """A class of yes-or-no questions.

    Attributes:
        key: short name.
        title: the questions in words.
        size: what its size counts.
        dimension: VC dimension from the size.
        matrix: questions (rows) on points (columns) from the size, all of them or enough to show the dimension.
        largest: largest size of which matrix() may be asked.
    """

    key: str
    title: str
    size: str
    dimension: Callable[[int], int]
    matrix: Callable[[int], Integers]
    largest: int

    def example(self, size: int) -> Integers:
        """Return the matrix, (queries, points).

        Raises:
            ParameterError: a size below 1 or above the largest.
        """
        if not 1 <= size <= self.largest:
            raise ParameterError(f"The size must lie between 1 and {self.largest}, got {size}.")
        return self.matrix(size)


def _cube(bits: int) -> Integers:
    """Return all records of so many bits, (2^bits, bits)."""
    return np.array(list(product((0, 1), repeat=bits)), dtype=np.int64)


def _thresholds(cells: int) -> Integers:
    return np.tril(np.ones((cells, cells), dtype=np.int64))


def _intervals(cells: int) -> Integers:
    places = np.arange(cells)
    return np.array([(a <= places) & (places <= b) for a in range(cells) for b in range(a, cells)], dtype=np.int64)


def _rectangles(dimensions: int) -> Integers:
    """Return rectangles on a grid of three cells a side; a side has intervals for all subsets but the outer two."""
    side, matrix = _intervals(3), np.ones((1, 1), dtype=np.int64)
    for _ in range(dimensions):
        matrix = np.kron(matrix, side)
    return matrix


def _halfspaces(dimensions: int) -> Integers:
    """Return the directions with entries from -2 to 2 on points with entries from -1 to 1."""
    directions = np.array(list(product(range(-2, 3), repeat=dimensions)), dtype=np.int64)
    points = np.array([point for point in product(range(-1, 2), repeat=dimensions) if any(point)], dtype=np.int64)
    return (directions @ points.T >= 0).astype(np.int64)


def _conjunctions(bits: int) -> Integers:
    """Return the matrix whose row s asks for a 1 in every bit of s; the first row is always 1."""
    records = _cube(bits)
    return np.array([(records >= condition).all(axis=1) for condition in records], dtype=np.int64)


def _parities(bits: int) -> Integers:
    """Return the matrix whose row s is the parity of the bits of s; the first row is always 0."""
    records = _cube(bits)
    return records @ records.T % 2


NAMED: tuple[NamedClass, ...] = (
    NamedClass(
        key="thresholds", title="at most b", size="cells of a line",
        dimension=lambda cells: min(1, cells - 1), matrix=_thresholds, largest=256,
    ),
    NamedClass(
        key="intervals", title="between a and b", size="cells of a line",
        dimension=lambda cells: min(2, cells - 1), matrix=_intervals, largest=64,
    ),
    NamedClass(
        key="cells", title="exactly b", size="cells of a line",
        dimension=lambda cells: min(1, cells - 1), matrix=lambda cells: np.eye(cells, dtype=np.int64), largest=256,
    ),
    NamedClass(
        key="subsets", title="in a set, any set", size="points",
        dimension=lambda points: points, matrix=_cube, largest=12,
    ),
    NamedClass(
        key="rectangles", title="inside a box with sides along the axes", size="dimensions",
        dimension=lambda dimensions: 2 * dimensions, matrix=_rectangles, largest=3,
    ),
    NamedClass(
        key="halfspaces", title="on one side of a plane through the origin", size="dimensions",
        dimension=lambda dimensions: dimensions, matrix=_halfspaces, largest=3,
    ),
    NamedClass(
        key="conjunctions", title="has all of some attributes", size="bits of a record",
        dimension=lambda bits: bits, matrix=_conjunctions, largest=10,
    ),
    NamedClass(
        key="conjunctions-nonempty", title="has all of some attributes, at least one", size="bits of a record",
        dimension=lambda bits: bits - 1, matrix=lambda bits: _conjunctions(bits)[1:], largest=10,
    ),
    NamedClass(
        key="parities", title="has an odd number of some attributes", size="bits of a record",
        dimension=lambda bits: bits, matrix=_parities, largest=10,
    ),
    NamedClass(
        key="parities-nonempty", title="has an odd number of some attributes, at least one", size="bits of a record",
        dimension=lambda bits: bits - 1, matrix=lambda bits: _parities(bits)[1:], largest=10,
    ),
)  # fmt: skip
