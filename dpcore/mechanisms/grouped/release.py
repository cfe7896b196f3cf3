"""State and release of group statistics: noisy counters of every group, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Floats, Integers, ParameterError, Problem, Release, State
from dpcore.mechanisms.grouped.statistics import Statistics, statistics
from dpcore.queries.groups import GroupQueries, GroupStatistics

if TYPE_CHECKING:
    import pandas as pd


def statistics_of(problem: Problem) -> GroupStatistics:
    """Return the query class of a problem, which must be group statistics.

    Raises:
        ParameterError: it is another class.
    """
    if not isinstance(problem.queries, GroupStatistics):
        raise ParameterError("This mechanism releases statistics of the groups of a table.")
    return problem.queries


def group_labels(
    queries: GroupQueries, groups: Integers, kept: Sequence[int] | None = None
) -> dict[str, NDArray[np.object_]]:
    """Return the labels of groups (K,), or of coarser ones, as columns of a table: one for each group column."""
    places = range(len(queries.shape)) if kept is None else kept
    cells = np.unravel_index(groups, [queries.shape[place] for place in places]) if places else ()
    columns = {}
    for place, cell in zip(places, cells, strict=True):
        labels = [queries.label(place, each) for each in range(queries.shape[place])]
        name = queries.domain.names[queries.group_columns[place]]
        columns[f"group {name}"] = np.array(labels, dtype=object)[cell]
    return columns


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupState(State):
    """Counters of every group, (groups, counters)."""

    counters: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupRelease(Release):
    """Noisy counters of every group in every trial, (T, groups, counters); statistics are post-processing of them.

    They are whole numbers, but where they are put together from other noisy numbers.
    """

    published = ("counters",)
    counters: Integers | Floats

    @property
    def queries(self) -> GroupStatistics:
        """The released statistics."""
        return statistics_of(self.problem)

    def counters_by(self, kept: Sequence[int]) -> Floats:
        """Return the counters of coarser groups, (T, groups, counters): sums of those of all groups in each.

        Args:
            kept: which group columns are still told apart, by their place among them; none for all rows together.
        """
        cells = self.cells_by(kept)
        summed: Floats = cells.reshape(*cells.shape[:2], -1, self.counters.shape[-1]).sum(axis=2)
        return summed

    def cells_by(self, kept: Sequence[int]) -> Floats:
        """Return the counters of all groups in each coarser one, one after another, (T, groups, counters).

        Raises:
            ParameterError: the columns are not places of group columns, ascending.
        """
        shape = self.queries.shape
        if sorted(set(kept)) != list(kept) or not all(0 <= place < len(shape) for place in kept):
            raise ParameterError("Coarser groups are named by places of group columns, ascending.")
        table = self.counters.astype(np.float64).reshape(self.trials, *shape, self.counters.shape[-1])
        dropped = [place for place in range(len(shape)) if place not in kept]
        ordered = table.transpose(0, *(1 + place for place in (*kept, *dropped)), table.ndim - 1)
        return ordered.reshape(self.trials, math.prod(shape[place] for place in kept), -1)

    def statistics(self, kept: Sequence[int] | None = None) -> Statistics:
        """Return each statistic of every group, or of every coarser group (see ``counters_by``): (T, groups)."""
        counters = self.counters if kept is None else self.counters_by(kept)
        return statistics(counters, self.queries)

    @override
    def frame(self, kept: Sequence[int] | None = None) -> pd.DataFrame:
        """One row per trial and group: trial, refused, the group's labels, each counter, each statistic.

        A statistic is missing where noise leaves a group no rows. ``kept`` is as in ``counters_by``.
        """
        import pandas as pd

        counters = self.counters if kept is None else self.counters_by(kept)
        trials, groups = (each.reshape(-1) for each in np.indices(counters.shape[:2]))
        labels = group_labels(self.queries, groups, kept)
        columns: dict[str, Any] = {"trial": trials, "refused": self.refused[trials], **labels}
        columns |= {f"counter {j}": counters[:, :, j].reshape(-1) for j in range(counters.shape[-1])}
        return pd.DataFrame(columns | {name: each.reshape(-1) for name, each in self.statistics(kept).items()})
