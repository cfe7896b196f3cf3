"""Small databases of every size: the error of an exact choice, of points found for noisy answers, and without noise."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Integers, Problem
from dpcore.mechanisms.net.answers_net import nearest_points, noisy_answers, points_needed, weighted
from dpcore.mechanisms.net.linear import LinearNet, weighted_resolution
from dpcore.queries.linear import UNITS
from dpcore.randomness import Preview

SIZES = (1, 2, 3, 5, 7, 10, 14, 23, 50, 100, 231, 500)
"""Numbers of points, beside that of the theorem."""
ALPHA = 0.1
"""Error of the points for which the theorem's size is marked."""
TRIALS = 40
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeErrors:
    """Worst errors by the number of points, shares of n; quantiles of the worst error over TRIALS releases.

    Attributes:
        points: numbers of points, (S,).
        exact: of the choice among all databases of so many points; NaN where they cannot be listed, (S,).
        answers: of points found for noisy answers, (S,).
        noiseless: of points found for the true answers, (S,).
        resolution: bound on the error of the best database of so many points, (S,).
        needed: points that the theorem takes at ALPHA.
    """

    points: Integers
    exact: Floats
    answers: Floats
    noiseless: Floats
    resolution: Floats
    needed: int


def errors_by_size(
    dataset: Dataset, problem: Problem, *, epsilon: float, seed: int
) -> Generator[float, None, SizeErrors]:
    """Measure small databases of every size on one data set; yields the share done. Not private."""
    queries, n = weighted(problem), problem.n
    needed = points_needed(queries.count, ALPHA)
    sizes = np.unique([*SIZES, needed])
    weights = queries.padded / UNITS
    truth = weights @ dataset.histogram[None].T / n
    noisy = noisy_answers(Preview(seed), dataset.histogram, problem, epsilon=epsilon, trials=TRIALS)
    errors = np.full((3, len(sizes)), np.nan)

    def worst(points: Integers) -> float:
        sums = weights[:, points].mean(axis=2).T
        return float(np.quantile(np.abs(sums - truth.T).max(axis=1), LEVEL))

    for place, m in enumerate(sizes.tolist()):
        yield place / len(sizes)
        choice = LinearNet(epsilon=epsilon, points=m)
        if choice.size(problem) == m:
            release = choice.run(choice.prepare(dataset, problem), Preview(seed), TRIALS)
            errors[0, place] = worst(release.points)
        errors[1, place] = worst(nearest_points(noisy, weights, points=m))
        errors[2, place] = worst(nearest_points(truth.T, weights, points=m))
    return SizeErrors(
        points=sizes,
        exact=errors[0],
        answers=errors[1],
        noiseless=errors[2],
        resolution=np.array([weighted_resolution(problem, m) for m in sizes.tolist()]),
        needed=needed,
    )
