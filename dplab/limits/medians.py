"""Probability that mechanisms release the median of equal rows, against the grid's bits; exact, and measured.

Released histograms and interval releases are searched for their median (Blum, Ligett and Roth 2013, Corollary 5.2);
other chances are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import DataRelease, Dataset, Floats, Integers, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.limits.bounds import median, walk
from dpcore.mechanisms import entry
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Preview

MEASURED_BITS = (1, 2, 4, 6, 8, 10)
WALK_BITS = 6
"""Bits of the grid of the measured walk: a histogram has a count for every cell."""
TRIALS, STOPS_ON_THE_WALK = 200, 21
SEARCHED_ENTRIES: Mapping[str, Mapping[str, float]] = {"identity": {}, "intervals-anchored": {"alpha": 0.5}}
"""Entries whose releases are searched for the median, with their parameters: alpha = 1/2 is enough for a median."""
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="all rows at one point")


@dataclass(frozen=True, kw_only=True, eq=False)
class MedianChances:
    """Natural logarithms of the probability of the right median, (K,) each.

    Attributes:
        bits: bits of the grid.
        max_chance: upper bound for every ε-private mechanism.
        mechanisms: value of each mechanism, by its key.
    """

    bits: Floats
    max_chance: Floats
    mechanisms: Mapping[str, Floats]


def chances(bits: ArrayLike, *, n: int, epsilon: float, delta: float) -> MedianChances:
    """Return the exact probabilities on n equal rows, for grids of (K,) bits."""
    grid = np.asarray(bits, dtype=np.float64)
    return MedianChances(
        bits=grid,
        max_chance=median.any_private_stepwise(bits=grid, n=n, epsilon=epsilon),
        mechanisms={
            "exponential": median.exponential(bits=grid, n=n, epsilon=epsilon),
            "permute-and-flip": median.permute_and_flip(bits=grid, n=n, epsilon=epsilon),
            "refusing": median.refusing(bits=grid, n=n, epsilon=epsilon),
            "stable": median.stable(bits=grid, n=n, epsilon=epsilon, delta=delta),
        },
    )


def exact_walk(key: str, *, bits: float, n: int, epsilon: float, delta: float) -> walk.Walk:
    """Return the exact walk of a mechanism of MedianChances.mechanisms."""
    if key == "stable":
        return walk.stable_walk(n=n, epsilon=epsilon, delta=delta)
    pure = {
        "exponential": walk.exponential_walk,
        "permute-and-flip": walk.permute_and_flip_walk,
        "refusing": walk.refusing_walk,
    }
    return pure[key](bits=bits, n=n, epsilon=epsilon)


def stops(n: int) -> Integers:
    """Return the numbers of moved rows at which the walk is measured."""
    return np.unique(np.linspace(0, n, STOPS_ON_THE_WALK).round().astype(np.int64))


def measured_walk(*, n: int, epsilon: float, seed: int, key: str = "identity") -> walk.MeasuredWalk:
    """Measure how often the search returns v, the last of 2^WALK_BITS cells, after each of stops(n)."""
    target = 2**WALK_BITS - 1
    medians = _medians(bits=WALK_BITS, n=n, moved=stops(n), target=target, epsilon=epsilon, seed=seed, key=key)
    return walk.measured_walk(medians, target=target)


def measured_chances(*, n: int, epsilon: float, seed: int, key: str = "identity") -> walk.MeasuredWalk:
    """Measure how often the search returns v where all rows are v, at each of MEASURED_BITS.

    v lies at one third of the line or at two thirds, whichever is returned less often: the lower bound is about the
    worst v, and a search in pure noise often ends in the first or last cell.
    """
    all_rows, walks = np.array([n]), []
    for bits in MEASURED_BITS:
        third = 2**bits // 3
        both = []
        for target in (third, 2**bits - 1 - third):
            medians = _medians(bits=bits, n=n, moved=all_rows, target=target, epsilon=epsilon, seed=seed, key=key)
            both.append(walk.measured_walk(medians, target=target))
        walks.append(min(both, key=lambda one: float(one.chance[0])))
    return walk.MeasuredWalk(
        chance=np.concatenate([one.chance for one in walks]),
        low=np.concatenate([one.low for one in walks]),
        high=np.concatenate([one.high for one in walks]),
    )


def _medians(*, bits: int, n: int, moved: Integers, target: int, epsilon: float, seed: int, key: str) -> Integers:
    """Return the medians found by binary search after ``moved`` rows moved to the target: (len(moved), TRIALS)."""
    domain = Number(bits=bits)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=n)
    mechanism, sampler = entry(key).make(epsilon=epsilon, **SEARCHED_ENTRIES[key]), Preview(seed)
    medians = []
    for count in moved:
        records = np.where(np.arange(n) < count, target, 0)
        state = mechanism.prepare(Dataset(domain, records, GENERATED), problem)
        release = mechanism.run(state, sampler, trials=TRIALS)
        assert isinstance(release, DataRelease)
        medians.append(walk.median_of_release(release))
    return np.array(medians)
