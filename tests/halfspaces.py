"""What the tests of the halfspace release share: tiny universes, problems, mechanisms, outcomes in a window."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Dataset, Floats, Neighbours, Problem, Provenance, ProvenanceKind
from dpcore.mechanisms.halfspaces import HalfspaceCounts
from dpcore.randomness import Sampler
from dpcore.sphere import Halfspaces, Sphere
from tests.problems import Clamped

PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
PLANE = np.array([[1, 0], [0, 1], [1, 1], [-1, 0.2], [0, 0]], dtype=np.float64)
"""An axis, another, a diagonal that ties under half of the signs, something else, and the reserved row."""
SPACE = np.array([[1, 0, 0], [1, 1, 1], [-1, 1, 0], [np.nan, 0, 0]], dtype=np.float64)


def problem_of(dimensions: int, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE, **asked: Any) -> Problem:
    """Halfspaces on a sphere."""
    domain = Sphere(dimensions=dimensions)
    return Problem(domain=domain, queries=Halfspaces(domain=domain, **asked), n=n, neighbours=neighbours)


def dataset_of(problem: Problem, rows: Floats) -> Dataset:
    """These rows, made unit vectors."""
    return Dataset(problem.domain, rows, PROVENANCE)


def outcomes(
    mechanism: HalfspaceCounts,
    dataset: Dataset,
    problem: Problem,
    sampler: Sampler,
    *,
    window: tuple[int, int],
    trials: int,
) -> Floats:
    """Outcomes (trials, w) with noisy counts clamped to a window, as Enumerate gives them."""
    state = mechanism.prepare(dataset, problem)
    return mechanism.run(state, Clamped(sampler, window), trials).outcomes()
