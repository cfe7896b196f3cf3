"""What the tests of group statistics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore import Dataset, Labels, Neighbours, Number, Preview, Problem, Provenance, ProvenanceKind
from dpcore.core import Integers, Mechanism
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.queries.groups import GroupQueries, GroupStatistics
from dpcore.randomness import Sampler

REGION = Labels(labels=("north", "south"))
"""Two labels, and a group for any other value."""


def queries_of(*columns: Number | Labels, **values: Any) -> GroupStatistics:
    """Statistics of columns called a, b, c, …; of the last one unless ``numbers`` says otherwise."""
    names = tuple("abcde"[: len(columns)])
    return GroupStatistics(domain=Product(names=names, columns=columns), **values)


def problem_of(
    queries: GroupQueries, n: int, neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE, *, person_rows: int = 0
) -> Problem:
    """A problem that asks for them."""
    return Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours, person_rows=person_rows)


def every_record(queries: GroupStatistics) -> Integers:
    """All records of the domain, (cells, d)."""
    return np.indices(queries.domain.sizes).reshape(len(queries.domain.sizes), -1).T.astype(np.int64)


def dataset_of(queries: GroupQueries, records: NDArray[Any], *, person_rows: int = 0) -> Dataset:
    """A data set of these records."""
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="groups")
    return Dataset(queries.domain, np.asarray(records, dtype=np.int64), provenance, person_rows)


def released(
    mechanism: Mechanism, problem: Problem, records: NDArray[Any], *, sampler: Sampler | None = None, trials: int = 1
) -> GroupRelease:
    """Releases about these records."""
    assert isinstance(problem.queries, GroupStatistics)
    state = mechanism.prepare(dataset_of(problem.queries, records), problem)
    release = mechanism.run(state, sampler or Preview(1), trials)
    assert isinstance(release, GroupRelease)
    return release
