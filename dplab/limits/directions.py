"""One release that answers every direction, and how few dimensions keep the angles between rows.

Blum, Ligett and Roth (2013), Theorems 6.3, 6.8 and 6.9, Corollary 6.4.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, ParameterError, Problem
from dpcore.data.sources import generated_vectors
from dpcore.data.sphere import Halfspaces
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dplab.halfspace_parts import directions_at, preview_releases

BETA, TRIALS = 0.05, 200
DEGREES = np.arange(0.0, 360.0, 2.0)
DIMENSIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
"""Dimensions after a projection."""
PROJECTED_ROWS, MATRICES, BLOCK = 60, 200, 10
"""Pairs of rows at most, sign matrices, and matrices between two reports of progress."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EveryDirection:
    """Errors of releases in every direction of the plane, shares of n.

    Attributes:
        degrees: directions, (Q,).
        error: 95% quantile over releases of the error in each direction, (Q,).
        promised: whether each direction has the margin that the guarantee requires, (Q,).
        margin: that margin.
        bound: guaranteed error for all such directions at once, with confidence 1 − BETA.
        worst: 95% quantile of the largest error over these directions; NaN without any.
        beyond: the same over the other directions; NaN without any.
        counts: number of released counts.
    """

    degrees: Floats
    error: Floats
    promised: Booleans
    margin: float
    bound: float
    worst: float
    beyond: float
    counts: int


def every_direction(*, n: int, gap: float, directions: int, epsilon: float, seed: int) -> EveryDirection:
    """Release rows of two clouds in the plane, each at this distance from a line between them."""
    source = generated_vectors(n=n, dimensions=2, margin=gap)
    dataset, domain = source.dataset(), source.domain
    mechanism = entry("halfspaces").make(epsilon=epsilon, directions=directions)
    assert isinstance(mechanism, HalfspaceCounts)
    problem = Problem(domain=domain, queries=Halfspaces(domain=domain, margin=0.0), n=n)
    towards = directions_at(DEGREES, np.eye(2))
    queries = problem.queries
    assert isinstance(queries, Halfspaces)
    release = preview_releases(mechanism, mechanism.prepare(dataset, problem), seed=seed, trials=TRIALS)
    errors = np.abs(release.answer(towards) - queries.truth(dataset.records, towards))
    needed = math.sin(min(mechanism.reach(problem), math.pi / 2))
    promised = queries.margins(dataset.records, towards) > needed + 1e-5

    def worst(which: Booleans) -> float:
        return float(np.quantile(errors[:, which].max(axis=1), 1 - BETA, method="higher")) if which.any() else math.nan

    return EveryDirection(
        degrees=DEGREES,
        error=np.quantile(errors, 1 - BETA, axis=0),
        promised=promised,
        margin=needed,
        bound=mechanism.accuracy(problem, BETA).value,
        worst=worst(promised),
        beyond=worst(~promised),
        counts=mechanism.measured(problem),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Distortions:
    """Distortion of inner products of unit vectors by random sign matrices with T rows.

    Attributes:
        dimensions: T, (K,).
        lengths: (1 - τ)-quantile over matrices of the change of |Ax|², for each vector, (K, pairs).
        products: (1 - 2τ)-quantile over matrices of the change of <Ax, Ay>, for each pair, (K, pairs).
        chance: τ.
        before: dimensions of the vectors.
    """

    dimensions: tuple[int, ...]
    lengths: Floats
    products: Floats
    chance: float
    before: int

    @property
    def starts(self) -> int:
        """Smallest T that the theorem covers: its ς is below 1/2."""
        return math.ceil(80 * math.log(1 / self.chance))

    def claimed(self) -> Floats:
        """Return the distortion that Theorem 6.3 and Corollary 6.4 guarantee at each T; NaN where it is 1/2 or more."""
        return np.array([claimed_distortion(each, chance=self.chance) for each in self.dimensions])


def claimed_distortion(dimensions: int, *, chance: float) -> float:
    """Return the ς of T = 20·ς⁻²·ln(1/τ); NaN unless it is below 1/2, which the theorem requires.

    Raises:
        ParameterError: for a chance that is not between 0 and 1/2.

    >>> round(claimed_distortion(2048, chance=0.05), 3)
    0.171
    """
    if not 0 < chance < 0.5 or dimensions < 1:
        raise ParameterError("The theorem needs T of at least 1 and a probability τ above 0 and below 1/2.")
    distortion = math.sqrt(20 * math.log(1 / chance) / dimensions)
    return distortion if distortion < 0.5 else math.nan


def distortions(records: Floats, *, chance: float, seed: int) -> Generator[float, None, Distortions]:
    """Measure distortions on random pairs of rows, by MATRICES sign matrices, each cut after T rows; yields progress.

    The first T rows of a larger sign matrix are a sign matrix; a sum over them is scaled by 1/T. T is in DIMENSIONS, or
    the rows' own dimension.

    Args:
        records: rows of length 1, (n, d); rows of length 0 take no part.
        chance: τ.
        seed: of pairs and matrices.

    Raises:
        ParameterError: fewer than two rows have a direction.
    """
    records = records[(records != 0).any(axis=1)]
    pairs = min(PROJECTED_ROWS, len(records) // 2)
    if not pairs:
        raise ParameterError("Inner products need two rows that have a direction.")
    random = np.random.Generator(np.random.SFC64(seed))
    chosen = records[random.choice(len(records), size=2 * pairs, replace=False)]
    x, y = chosen[:pairs], chosen[pairs:]
    inner, length = (x * y).sum(axis=1), (x * x).sum(axis=1)
    stops = np.array(sorted({*DIMENSIONS, x.shape[1]}))
    moved = np.empty((2, MATRICES, len(stops), pairs))
    for trial in range(MATRICES):
        if trial % BLOCK == 0:
            yield trial / MATRICES
        signs = 2.0 * random.integers(2, size=(stops[-1], x.shape[1])) - 1
        here, there = signs @ x.T, signs @ y.T
        for place, (products, true) in enumerate(((here * here, length), (here * there, inner))):
            sums = np.add.reduceat(products, np.append(0, stops[:-1]), axis=0).cumsum(axis=0)
            moved[place, trial] = np.abs(sums / stops[:, None] - true)
    return Distortions(
        dimensions=tuple(stops.tolist()),
        lengths=np.quantile(moved[0], 1 - chance, axis=0),
        products=np.quantile(moved[1], 1 - 2 * chance, axis=0),
        chance=chance,
        before=x.shape[1],
    )
