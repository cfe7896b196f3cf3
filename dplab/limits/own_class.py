"""Attacks on a class of yes/no queries that the reader wrote: a secret half of its shattered points, reconstructed.

All answers of the class are released with Laplace noise. Brute force takes the half whose own query has the largest
answer; a linear program takes the shares of points that fit all answers best.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Bound, Floats, Guarantee, Neighbours, Problem
from dpcore.data.columns import Labels
from dpcore.limits.attacks import halves
from dpcore.limits.attacks.shattering import Shattering
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.queries.linear import LinearQueries
from dpcore.randomness import NoisyCounts, Preview

LOSSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
RUNS, REPEATS = 20, 1
"""Attacks at each ε, and rows of each hidden point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassAttacks:
    """Shares of the secret half that are found at each of LOSSES, (K, RUNS).

    Attributes:
        points: hidden points, d.
        brute_force: by the half whose own query has the largest answer.
        program: by the linear program.
    """

    points: int
    brute_force: Floats
    program: Floats


def hidden_points(shattering: Shattering) -> int:
    """Return how many of the shattered points halves are made of: an even number, few enough to try all halves."""
    return min(halves.MAX_SEARCHED, shattering.lower_bound // 2 * 2)


def attack_class(weights: Floats, shattering: Shattering, *, seed: int) -> Generator[float, None, ClassAttacks]:
    """Hide a half and reconstruct it RUNS times at each ε; yields the share done.

    Args:
        weights: the class, zeros and ones, (queries, points).
        shattering: its shattered set, of two points at least.
        seed: seed of halves and noise.
    """
    points, sampler = hidden_points(shattering), Preview(seed)
    columns = weights[:, shattering.points[:points]]
    moved = int(np.abs(weights[:, :, None] - weights[:, None, :]).sum(axis=0).max())
    shares = np.empty((2, len(LOSSES), RUNS))
    truths = halves.random_half(sampler, points=points, trials=RUNS)
    for place, epsilon in enumerate(LOSSES):
        for run, truth in enumerate(truths):
            counts = REPEATS * (columns @ truth).astype(np.int64)
            noisy = sampler.draw(NoisyCounts(counts[None], epsilon=epsilon, sensitivity=moved), 1)[0]
            shares[0, place, run] = halves.recovered(_search(noisy, shattering, points), truth)[0]
            shares[1, place, run] = halves.recovered(_program(noisy, columns), truth)[0]
        yield (place + 1) / len(LOSSES)
    return ClassAttacks(points=points, brute_force=shares[0], program=shares[1])


def _search(noisy: Floats, shattering: Shattering, points: int) -> halves.Halves:
    """Return the half whose own query has the largest answer."""

    def answers(subsets: Booleans) -> Floats:
        places = subsets @ (1 << np.arange(points))
        return noisy[shattering.queries[places]][None].astype(np.float64)

    return halves.search(answers, points=points)


def _program(noisy: Floats, columns: Floats) -> halves.Halves:
    """Return the heavier half of the shares that make the largest residual smallest."""
    from scipy.optimize import linprog

    queries, points = columns.shape
    slack = np.full((queries, 1), -1.0)
    upper = np.block([[REPEATS * columns, slack], [-REPEATS * columns, slack]])
    solved = linprog(
        np.eye(1, points + 1, points)[0],
        A_ub=upper,
        b_ub=np.concatenate([noisy, -noisy]),
        A_eq=np.array([[1.0] * points + [0.0]]),
        b_eq=[points // 2],
        bounds=[(0, 1)] * points + [(0, None)],
    )
    return halves.heaviest_half(solved.x[None, :points], np.zeros(1, dtype=np.bool_))


def packing_wall(weights: Floats, *, n: int, epsilon: float, beta: float) -> Bound | None:
    """Return the lower bound that a packing of the points gives for the class, or None if none of two is known."""
    domain = Labels(labels=tuple(map(str, range(weights.shape[1]))), missing=False)
    queries = LinearQueries.of(weights, domain=domain)
    guarantee = Guarantee(epsilon=epsilon, neighbours=Neighbours.REPLACE_ONE)
    return lower_bound(Problem(domain=domain, queries=queries, n=n), guarantee, beta=beta)
