"""Compute exact privacy loss: compare the output distributions of all neighbouring data sets on a tiny universe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Dataset, Floats, Mechanism, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.core.sizes import MAX_PATHS
from dpcore.randomness import Enumerate
from dpcore.randomness.distinct import distinct_rows

Law = tuple[Floats, Floats]
"""Distinct outcomes (K, w) and their probabilities (K,)."""

ROUNDING = 1e-9
"""Tolerance for rounding in sums of many doubles."""


def hockey_stick(one: Law, other: Law, *, epsilon: float) -> float:
    """Return the hockey-stick divergence, the sum of (P - e^epsilon Q)+: the smallest delta at epsilon, one direction.

    Args:
        one: distinct outcomes (K, w) and their probabilities (K,).
        other: the same for the neighbouring data set.
        epsilon: ε.
    """
    p, q = aligned(one, other)
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())


def smallest_epsilon(one: Law, other: Law, *, delta: float = 0.0) -> float:
    """Return the smallest epsilon that holds at this delta, in one direction; infinity where none does.

    Args:
        one: distinct outcomes (K, w) and their probabilities (K,).
        other: the same for the neighbouring data set.
        delta: largest allowed divergence.
    """
    return _least(*aligned(one, other), delta=delta)


def _least(p: Floats, q: Floats, *, delta: float) -> float:
    """Return the smallest epsilon of at least 0 at which the sum of (p - e^epsilon q)+ is at most delta.

    With outcomes by falling ratio, the first k of them are those above e^epsilon: the sum is P_k - e^epsilon Q_k.
    """
    occurs = (p > 0) | (q > 0)
    with np.errstate(over="ignore"):  # quotients of probabilities near 0
        ratio = np.divide(p, q, out=np.full(len(p), np.inf), where=q > 0)[occurs]
    order = np.argsort(-ratio, kind="stable")
    above, below = np.cumsum(p[occurs][order]), np.cumsum(q[occurs][order])
    if float(p[occurs][np.isinf(ratio)].sum()) > delta + ROUNDING:
        return float("inf")
    # The divergence is the maximum over k of P_k - e^epsilon Q_k: it is at most delta when every term is.
    needed = np.divide(above - delta, below, out=np.zeros(len(below)), where=(below > 0) & (above > delta))
    return float(np.log(max(1.0, float(needed.max(initial=1.0)))))


def aligned(one: Law, other: Law) -> tuple[Floats, Floats]:
    """Return the probabilities of the same outcomes, in the same order, under both distributions."""
    if one[0].shape[1] != other[0].shape[1]:
        raise ParameterError("Outcomes of different widths cannot be compared.")
    if np.array_equal(one[0], other[0]):
        return one[1], other[1]
    outcomes, which = distinct_rows(np.concatenate([one[0], other[0]]))
    ours, theirs = np.zeros(len(outcomes)), np.zeros(len(outcomes))
    ours[which[: len(one[0])]] = one[1]
    theirs[which[len(one[0]) :]] = other[1]
    return ours, theirs


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring data sets, by their rows' cells."""

    one: tuple[int, ...]
    other: tuple[int, ...]

    def chance(self, masses: Floats) -> float:
        """Return the probability that n + 1 rows drawn from ``masses`` (size,) give this pair, in either order.

        All but the last row are one data set. The last row joins it (ADD_REMOVE_ONE) or replaces the one before it
        (REPLACE_ONE).
        """
        ours, theirs = (np.bincount(rows, minlength=len(masses)) for rows in (self.one, self.other))
        shared = [int(count) for count in np.minimum(ours, theirs)]
        orders = factorial(sum(shared)) // prod(factorial(count) for count in shared)
        ways = 1 if len(self.one) != len(self.other) else 2
        return float(ways * orders * np.prod(masses ** np.maximum(ours, theirs)))


def datasets(*, size: int, rows: int) -> Iterator[tuple[int, ...]]:
    """Iterate over all data sets of ``rows`` rows on ``size`` cells, as sorted cells: row order does not matter."""
    return combinations_with_replacement(range(size), rows)


def neighbouring_pairs(*, size: int, rows: int, neighbours: Neighbours) -> Iterator[Pair]:
    """Iterate over all unordered pairs of neighbouring data sets; under ADD_REMOVE_ONE the second has one row more."""
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        for one in datasets(size=size, rows=rows):
            for cell in range(size):
                yield Pair(one=one, other=tuple(sorted((*one, cell))))
        return
    for base in datasets(size=size, rows=rows - 1):
        for first in range(size):
            for second in range(first + 1, size):
                yield Pair(one=tuple(sorted((*base, first))), other=tuple(sorted((*base, second))))


@dataclass(frozen=True, kw_only=True)
class ExactDelta:
    """Largest exact delta over all neighbouring pairs, and the pair that attains it."""

    delta: float
    pair: Pair
    pairs: int


class Enumerated(TypedDict, total=False):
    """Options of an enumeration; None stands for the default.

    Attributes:
        window: range of noisy values that are distinguished, by default -4 .. n + 4.
        universe: the records that data sets are made of, by default all cells; pairs are numbered along its first axis.
        rows: number of rows, by default n; under ADD_REMOVE_ONE any number, as n is nominal.
        max_paths: paths of coins, by default MAX_PATHS.
    """

    window: tuple[int, int] | None
    universe: NDArray[Any] | None
    rows: int | None
    max_paths: int


def paired_laws(
    mechanism: Mechanism, problem: Problem, **options: Unpack[Enumerated]
) -> Iterator[tuple[Pair, Floats, Floats]]:
    """Iterate over neighbouring pairs with the probabilities of the same outcomes (K,) on both data sets."""
    records, rows = options.get("universe"), options.get("rows")
    if records is None:  # some domains have no list of cells
        records = np.arange(problem.domain.size)
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="enumeration")
    sampler = Enumerate(
        window=options.get("window") or (-4, problem.n + 4), max_paths=options.get("max_paths", MAX_PATHS)
    )
    laws: dict[tuple[int, ...], Law] = {}

    def law(places: tuple[int, ...]) -> Law:
        if places not in laws:
            dataset = Dataset(problem.domain, records[list(places)], provenance)
            laws[places] = sampler.law(mechanism, mechanism.prepare(dataset, problem))
        return laws[places]

    row_count = problem.n if rows is None else rows
    for pair in neighbouring_pairs(size=len(records), rows=row_count, neighbours=problem.neighbours):
        yield pair, *aligned(law(pair.one), law(pair.other))


def divergences(mechanism: Mechanism, problem: Problem, **options: Unpack[Enumerated]) -> Iterator[tuple[Pair, float]]:
    """Iterate over neighbouring pairs with the larger hockey-stick divergence at the guarantee's epsilon.

    Args:
        mechanism: the mechanism to audit; its own run() is enumerated.
        problem: a tiny one; n is the number of rows (nominal under ADD_REMOVE_ONE).
        options: see Enumerated.
    """
    factor = np.exp(mechanism.guarantee(problem).epsilon)
    for pair, p, q in paired_laws(mechanism, problem, **options):
        yield pair, float(max(np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum()))


def exact_delta(mechanism: Mechanism, problem: Problem, **options: Unpack[Enumerated]) -> ExactDelta:
    """Return the largest hockey-stick divergence at the guarantee's epsilon, over all neighbours and directions."""
    by_pair = list(divergences(mechanism, problem, **options))
    pair, delta = max(by_pair, key=lambda each: each[1])
    return ExactDelta(delta=delta, pair=pair, pairs=len(by_pair))


@dataclass(frozen=True, kw_only=True)
class ExactEpsilon:
    """Smallest epsilon that holds at a delta for all neighbouring pairs, and the pair that needs it."""

    epsilon: float
    pair: Pair
    pairs: int


def exact_epsilon(
    mechanism: Mechanism, problem: Problem, *, delta: float | None = None, **options: Unpack[Enumerated]
) -> ExactEpsilon:
    """Return the smallest epsilon at this delta, by default the guarantee's, over all neighbours and directions."""
    allowed = mechanism.guarantee(problem).delta if delta is None else delta
    by_pair = [
        (max(_least(p, q, delta=allowed), _least(q, p, delta=allowed)), pair)
        for pair, p, q in paired_laws(mechanism, problem, **options)
    ]
    epsilon, pair = max(by_pair, key=lambda each: each[0])
    return ExactEpsilon(epsilon=epsilon, pair=pair, pairs=len(by_pair))


def exact_gamma(
    mechanism: Mechanism, problem: Problem, *, masses: list[Floats], **options: Unpack[Enumerated]
) -> Floats:
    """Return the probability that n + 1 rows drawn from each of ``masses`` (size,) give a pair that exceeds delta.

    The gamma of a random-DP guarantee must be at least this, for any distribution of the rows (Hall, Rinaldo and
    Wasserman 2013, Definitions 1 and 2). One number per distribution.
    """
    delta = mechanism.guarantee(problem).delta
    every = divergences(mechanism, problem, **options)
    bad = [pair for pair, divergence in every if divergence > delta + ROUNDING]
    return np.array([sum(pair.chance(mass) for pair in bad) for mass in masses], dtype=np.float64)
