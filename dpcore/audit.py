"""Exact privacy: the laws of all neighbouring data sets on a tiny universe, compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from dpcore.core import (
    Dataset,
    Domain,
    Floats,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.randomness import Enumerate

Law = tuple[Floats, Floats]


def hockey_stick(one: Law, other: Law, *, epsilon: float) -> float:
    """Sum over outcomes of (P - e^epsilon Q)+: the smallest delta at this epsilon, in this direction.

    Args:
        one: outcomes (K, w) and their probabilities (K,).
        other: the same for the neighbour.
        epsilon: privacy loss.
    """
    width = max(one[0].shape[1], other[0].shape[1])
    if one[0].shape[1] != other[0].shape[1]:
        raise ParameterError(f"Outcomes of different widths cannot be compared ({width}).")
    everything, which = np.unique(np.concatenate([one[0], other[0]]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    p = np.bincount(which[: len(one[0])], weights=one[1], minlength=len(everything))
    q = np.bincount(which[len(one[0]) :], weights=other[1], minlength=len(everything))
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring data sets, by their rows' cells."""

    one: tuple[int, ...]
    other: tuple[int, ...]


def datasets(*, size: int, rows: int) -> Iterator[tuple[int, ...]]:
    """Every data set of so many rows on so many cells, as sorted cells (mechanisms here do not see row order)."""
    return combinations_with_replacement(range(size), rows)


def neighbouring_pairs(*, size: int, rows: int, neighbours: Neighbours) -> Iterator[Pair]:
    """Every unordered pair of neighbours; under ADD_REMOVE_ONE the second has one row more."""
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
class Finding:
    """The largest exact delta over all neighbouring pairs, and the pair that shows it."""

    delta: float
    pair: Pair
    pairs: int


def exact_delta(mechanism: Mechanism, problem: Problem, *, window: tuple[int, int] | None = None) -> Finding:
    """Largest hockey-stick divergence at the guarantee's epsilon, over all neighbours and both directions.

    Args:
        mechanism: what is audited; its own run() is enumerated.
        problem: a tiny one; n is the number of rows (nominal under ADD_REMOVE_ONE).
        window: noisy values told apart, by default -4 .. n + 4.
    """
    domain: Domain = problem.domain
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="enumeration")
    laws: dict[tuple[int, ...], Law] = {}

    def law(rows: tuple[int, ...]) -> Law:
        if rows not in laws:
            dataset = Dataset(domain, np.array(rows, dtype=np.int64), provenance)
            sampler = Enumerate(window=window or (-4, problem.n + 4))
            laws[rows] = sampler.law(mechanism, mechanism.prepare(dataset, problem))
        return laws[rows]

    epsilon = mechanism.guarantee(problem).epsilon
    worst, count = Finding(delta=-1.0, pair=Pair(one=(), other=()), pairs=0), 0
    for pair in neighbouring_pairs(size=domain.size, rows=problem.n, neighbours=problem.neighbours):
        count += 1
        for one, other in ((pair.one, pair.other), (pair.other, pair.one)):
            delta = hockey_stick(law(one), law(other), epsilon=epsilon)
            if delta > worst.delta:
                worst = Finding(delta=delta, pair=pair, pairs=0)
    return Finding(delta=worst.delta, pair=worst.pair, pairs=count)
