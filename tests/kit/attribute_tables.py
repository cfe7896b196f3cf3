"""What the tests of tables of several attributes share: domains, data, and the truth by brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Dataset, Integers, Neighbours, Problem, Provenance, ProvenanceKind
from dpcore.data.product import Product
from dpcore.mechanisms.tables.release import TablesRelease
from dpcore.queries.marginals import Marginals, Set
from dpcore.randomness import Sampler

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def domain_of(sizes: tuple[int, ...]) -> Product:
    """Attributes a, b, c, ... of these sizes."""
    return Product.coded({chr(ord("a") + place): size for place, size in enumerate(sizes)})


def problem_of(sizes: tuple[int, ...], *, ways: int, n: int, neighbours: Neighbours) -> Problem:
    """All tables of so many attributes."""
    domain = domain_of(sizes)
    return Problem(domain=domain, queries=Marginals(domain=domain, ways=ways), n=n, neighbours=neighbours)


def tiny(neighbours: Neighbours) -> Problem:
    """Two attributes of two values, and as few rows as there are neighbours of."""
    return problem_of((2, 2), ways=2, n=1 if neighbours is Neighbours.ADD_REMOVE_ONE else 2, neighbours=neighbours)


def every_record(sizes: tuple[int, ...]) -> Integers:
    """All records, (cells, d)."""
    return np.array(list(product(*(range(size) for size in sizes))), dtype=np.int64)


def correlated(sizes: tuple[int, ...], *, n: int, seed: int) -> Integers:
    """Rows whose attributes follow a hidden number, so that all of them are related: (n, d)."""
    generator = np.random.Generator(np.random.SFC64(seed))
    hidden = generator.random(n) ** 2
    noisy = np.clip(hidden[:, None] + generator.normal(0, 0.15, (n, len(sizes))), 0, 0.999)
    records: Integers = (noisy * np.array(sizes)).astype(np.int64)
    return records


def dataset_on(problem: Problem, records: NDArray[Any]) -> Dataset:
    """A data set of these records."""
    return Dataset(problem.domain, records, GENERATED)


def release_of(mechanism: Any, problem: Problem, records: NDArray[Any], sampler: Sampler, trials: int) -> TablesRelease:
    """Releases about these records."""
    release: TablesRelease = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), sampler, trials)
    return release


def table_of(records: NDArray[Any], sizes: tuple[int, ...], attributes: Set) -> Integers:
    """Counts of one table, row by row."""
    table = np.zeros([sizes[a] for a in attributes], dtype=np.int64)
    for row in np.asarray(records, dtype=np.int64):
        table[tuple(row[a] for a in attributes)] += 1
    return table
