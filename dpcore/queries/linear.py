"""Linear queries: every cell has a weight between 0 and 1, and a query adds up its rows' weights.

A counting query is one whose weights are all 0 or 1. Weights are kept as whole numbers of thousandths, so that scores
made of them are whole numbers too and releases can be drawn exactly. (Roth 2010, section 2.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import DataError, Domain, DomainType, Floats, Integers, ParameterError, Queries
from dpcore.core.sizes import MAX_WEIGHTS

UNITS = 1000
"""A weight of 1, in thousandths."""


@dataclass(frozen=True, kw_only=True)
class LinearQueries(Queries):
    """Weights from a matrix: one row per query, one column per fitting cell; a row that does not fit weighs nothing.

    Attributes:
        name: where the weights come from.
        code: Python that makes the class again, where ``dataset`` is the data.
        packed: weights in thousandths, query by query, as bytes; made by of().
    """

    key: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear: sums with weights you choose"
    one: ClassVar[str] = "weighted sum"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.NUMBER, DomainType.LABELS)
    domain: Domain
    name: str = "weights"
    code: str = ""
    packed: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not self.packed or len(self.packed) % (2 * self.domain.ordered):
            raise ParameterError(f"The weights need one column for each of {self.domain.ordered:,} cells.")
        # Also of a request's file, which hands over bytes: sensitivity, and so every charge, rests on these ends.
        if len(self.packed) > 2 * MAX_WEIGHTS:
            raise ParameterError(f"At most {MAX_WEIGHTS:,} weights are possible.")
        if not ((self.units >= 0) & (self.units <= UNITS)).all():
            raise ParameterError(f"Weights must be from 0 to {UNITS:,} thousandths.")

    @classmethod
    def of(cls, matrix: NDArray[Any], *, domain: Domain, name: str = "weights", code: str = "") -> Self:
        """Return the class of these weights.

        Args:
            matrix: numbers in [0, 1], (queries, fitting cells); rounded to thousandths.
            domain: what a record can be.
            name: where the weights come from.
            code: Python that makes the class again.

        Raises:
            DataError: another shape, too many weights, or one that is no number in [0, 1], named by row and column.
        """
        if matrix.ndim != 2 or matrix.shape[0] < 1 or matrix.shape[1] != domain.ordered:
            shape = " by ".join(f"{length:,}" for length in matrix.shape)
            raise DataError(
                f"The weights must have one column for each of {domain.ordered:,} cells and at least one row; "
                f"these are {shape or 'a single number'}."
            )
        if matrix.size > MAX_WEIGHTS:
            raise DataError(f"At most {MAX_WEIGHTS:,} weights are possible; these are {matrix.size:,}.")
        numbers = np.asarray(matrix, dtype=np.float64)
        wrong = np.argwhere(~((numbers >= 0) & (numbers <= 1)))
        if len(wrong):
            row, column = wrong[0] + 1
            raise DataError(f"Weights must be numbers from 0 to 1; the one in row {row}, column {column} is not.")
        return cls(domain=domain, name=name, code=code, packed=np.round(numbers * UNITS).astype(np.int16).tobytes())

    @cached_property
    def units(self) -> Integers:
        """Weights in thousandths, (queries, fitting cells)."""
        return np.frombuffer(self.packed, dtype=np.int16).reshape(-1, self.domain.ordered).astype(np.int64)

    @cached_property
    def padded(self) -> Integers:
        """Weights in thousandths of all cells, (queries, size): what does not fit weighs nothing."""
        padded: Integers = np.pad(self.units, ((0, 0), (0, self.domain.size - self.domain.ordered)))
        return padded

    def whole_rows(self, histogram: Integers, indices: Integers) -> Integers:
        """Return true answers in whole rows, (Q,): rounded, halves up, so that a row moves one by 1 at most.

        Whole numbers throughout: no sum of weights depends on the order in which they are added.
        """
        rows: Integers = (self.padded[indices] @ histogram + UNITS // 2) // UNITS
        return rows

    @cached_property
    def _weights(self) -> Floats:
        """Weights, (fitting cells, queries)."""
        return np.ascontiguousarray(self.units.T / UNITS)

    @cached_property
    def square(self) -> float:
        """The largest sum of squared weights of a query: how many cells' noise it gathers."""
        return float((self._weights**2).sum(axis=0).max())

    @override
    @property
    def count(self) -> int:
        return len(self.units)

    @override
    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of queries; exact only for small classes (limits/attacks/shattering.py)."""
        return int(math.log2(self.count))

    @override
    def describe(self, index: int) -> str:
        """The query's place in the matrix."""
        return f"query {index + 1}"

    @override
    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Weighted sums of the cells, shape (T, Q)."""
        if len(indices) > self.count:  # asked again and again, as in a conversation: weights are taken once
            return self.answer(histogram, np.arange(self.count))[:, indices]
        answers: Floats = histogram[:, : self.domain.ordered] @ self._weights[:, indices]
        return answers

    @override
    def max_error(self, difference: NDArray[Any]) -> Floats:
        """Largest absolute answer, shape (T,)."""
        answers = difference[:, : self.domain.ordered] @ self._weights
        worst: Floats = np.maximum(answers.max(axis=1), -answers.min(axis=1)).astype(np.float64)
        return worst


def _bumps(random: np.random.Generator, queries: int, cells: int) -> Floats:
    """Return smooth bumps: weights by the distance of a row to a place."""
    centre, width = random.random((queries, 1)) * cells, np.exp(random.uniform(-3, -1, (queries, 1))) * cells
    bumps: Floats = np.exp(-(((np.arange(cells) + 0.5 - centre) / width) ** 2) / 2)
    return bumps


def _subsets(random: np.random.Generator, queries: int, cells: int) -> Floats:
    """Return every cell in or out by a fair coin."""
    return random.integers(0, 2, (queries, cells)).astype(np.float64)


def _ramps(random: np.random.Generator, queries: int, cells: int) -> Floats:
    """Return weights that rise from 0 to 1 between two places: soft thresholds."""
    low, high = np.sort(random.random((2, queries, 1)) * cells, axis=0)
    ramps: Floats = np.clip((np.arange(cells) + 0.5 - low) / (high - low + 1), 0, 1)
    return ramps


def _waves(random: np.random.Generator, queries: int, cells: int) -> Floats:
    """Return waves of many lengths, shifted to lie between 0 and 1."""
    length, phase = np.exp(random.uniform(0, np.log(16), (queries, 1))), random.random((queries, 1))
    waves: Floats = (1 + np.cos(2 * np.pi * (length * np.arange(cells) / cells + phase))) / 2
    return waves


GENERATED: dict[str, tuple[str, Callable[[np.random.Generator, int, int], Floats]]] = {
    "bumps": ("smooth bumps", _bumps),
    "ramps": ("ramps", _ramps),
    "waves": ("waves", _waves),
    "subsets": ("random subsets", _subsets),
}
"""Classes made by chance: what they are called, and weights from (generator, queries, cells)."""


def generated(kind: str, *, queries: int, domain: Domain, seed: int) -> LinearQueries:
    """Return a class of so many queries; the same for the same seed. Raises ParameterError for an unknown kind."""
    if kind not in GENERATED:
        raise ParameterError(f"The kind of weights must be one of {', '.join(GENERATED)}.")
    if not 1 <= queries <= MAX_WEIGHTS // domain.ordered:
        raise ParameterError(
            f"On {domain.ordered:,} cells, 1 to {MAX_WEIGHTS // domain.ordered:,} queries are possible."
        )
    name, weights = GENERATED[kind]
    random = np.random.Generator(np.random.PCG64(seed))
    code = f"generated({kind!r}, queries={queries}, domain=dataset.domain, seed={seed})"
    matrix = weights(random, queries, domain.ordered)
    return LinearQueries.of(matrix, domain=domain, name=f"{queries:,} {name}", code=code)
