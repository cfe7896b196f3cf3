"""What the tests of the halfspace release share: tiny universes, problems, mechanisms, outcomes in a window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.core import Dataset, Floats, Neighbours, Problem, Provenance, ProvenanceKind
from dpcore.data.sphere import Halfspaces, Sphere

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


def hidden_rows(*, epsilon: float, beta: float) -> int:
    """How many steps between two data sets nobody sees with chance 1 - beta: the best chance, walked by hand.

    Whoever names the right one of two with chance 1 - beta names the other there with chance beta at most; a step
    multiplies that by e^epsilon at most, and divides the chance of the rest by e^epsilon at most.
    """
    chance, steps = beta, 0
    while chance < 1 - beta:
        chance, steps = min(math.exp(epsilon) * chance, 1 - math.exp(-epsilon) * (1 - chance)), steps + 1
    return steps - 1
