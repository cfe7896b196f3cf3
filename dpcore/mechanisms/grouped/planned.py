"""Group counters from the residual planner: coarser groups and the total get less noise than sums of all groups.

The groups by several columns hold those by fewer columns as sums, and a sum of hundreds of noisy counters has the noise
of all of them. So each set of group columns is measured once: what its groups say beyond those of fewer columns (its
contrasts, whole numbers), of each counter. The counters of a group are put together from these, and those of coarser
groups are their sums: what a set of columns does not say cancels, and so does its noise.

Why it is private: a row adds weights w of at least 0 that sum to M^k to the counters of one group. The contrasts of a
set T of columns move by their column for that group, times w: squared length at most kappa p M^2k, as for a table. Of
two rows with weights v and w, which replace each other, the contrasts on T are apart by
    kappa (p (|v|^2 + |w|^2) - 2 c <v, w>),   c the product over T of 1 - 1/s - [the rows differ in the column].
<v, w> lies between 0 and |v| |w|. The sum over all T with weights 1/sigma^2 is linear in <v, w>, and at both its ends
convex in |v| and |w|. So a worst pair has either orthogonal weights, 2 kappa p M^2k for every T, or equal ones, as rows
of tables have. All of these pairs are compared. Every contrast gets discrete Gaussian noise, whose delta is proved for
all together (dpcore/privacy/gaussian_vectors.py). Everything after is post-processing. Counters end where contrasts
would not fit; that moves no two data sets further apart.

Noise: of all Gaussian noise of this form and privacy cost it has the least sum of squared errors over the groups by
every set of columns, in which a column that is left out multiplies the weight by the parameter ``lean``.

Notation: epsilon = ε, delta = δ; s cells of a column; M, k and the counters as in ``counters.py``; kappa and p as in
``tables/contrasts.py``.

References:
    Xiao, He, Zhang and Kifer (2023), residual planner; Fitzsimons et al. (2024) and Kulesza, Suresh and Wang (2024),
    two-ended counters; Canonne, Kamath and Steinke (2020), discrete Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import (
    DomainType,
    Entry,
    Floats,
    Integers,
    Neighbours,
    ParameterError,
    Problem,
    Release,
    delta_param,
    epsilon_param,
    param,
)
from dpcore.core.basics import SUM_TOLERANCE
from dpcore.core.sizes import MAX_COUNT, MAX_SCALE, MAX_SENSITIVITY
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.release import GroupRelease, statistics_of
from dpcore.mechanisms.grouped.weights import counters_per_group, row_weight
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import centred, contrasts, whole_contrasts
from dpcore.mechanisms.tables.plan import ResidualPlan, best_variances, build_parts, clique_types_of
from dpcore.privacy.gaussian_vectors import calibrate, delta_of
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.groups import GroupStatistics
from dpcore.queries.marginals import Set
from dpcore.randomness import GaussianCounts, Sampler


@dataclass(frozen=True, kw_only=True)
class PlannedGroupCounters(GroupMechanism, GaussianMechanism):
    """Counters of every group, put together from contrasts with discrete Gaussian noise planned for coarser groups."""

    reference: ClassVar[str] = "sub-Gaussian tail; Canonne, Kamath and Steinke (2020)"

    epsilon: float = epsilon_param()
    delta: float = delta_param()
    lean: float = param(
        1.0,
        0.01,
        256.0,
        label="Weight of coarser groups",
        log=True,
        stops=(0.1, 1, 4, 16, 64),
        help="1 counts the error of every released number alike. A larger weight gives groups by fewer columns, and "
        "all rows together, less noise, and each single group more.",
    )

    def plan(self, problem: Problem) -> ResidualPlan:
        """Return the noise of the contrasts of each set of group columns, in units of the counters: public."""
        queries = statistics_of(problem)
        return counter_plan(
            queries.shape, counters_per_group(queries), row_weight(queries), problem.neighbours,
            epsilon=self.epsilon, delta=self.delta, coarse_weight=self.lean,
        )  # fmt: skip

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw for each kind of set of columns."""
        queries, plan = statistics_of(problem), self.plan(problem)
        shifts = unit_shifts(plan.cliques, problem.neighbours)
        worst = shifts[(shifts @ np.array([part.sigma**-2.0 for part in plan.parts])).argmax()]
        square, counters = row_weight(queries) ** 2, counters_per_group(queries)
        return tuple(
            (part.sigma, len(part.sets) * part.rows * counters, round(shift) * square)
            for part, shift in zip(plan.parts, worst.tolist(), strict=True)
        )

    @override
    def scale(self, problem: Problem) -> float:
        """Return the standard deviation of a group's counter."""
        return self.plan(problem).cell_sigma(tuple(range(len(statistics_of(problem).shape))))

    @override
    def check_numbers(self, problem: Problem) -> None:
        super().check_numbers(problem)
        largest = _largest_counter(statistics_of(problem))
        if problem.n * row_weight(statistics_of(problem)) > largest:
            raise ParameterError(
                f"Contrasts of {problem.n:,} rows in so many groups do not fit whole numbers. Take fewer groups, fewer "
                "cells of the number, or a lower degree."
            )
        draws = self.gaussians(problem)
        if max(sigma for sigma, *_ in draws) > MAX_SCALE or max(each for *_, each in draws) > MAX_SENSITIVITY**2:
            raise ParameterError("Noise of this scale does not fit: take fewer groups or a larger epsilon.")

    @override
    def largest_noise(self, problem: Problem, beta: float) -> int:
        queries = statistics_of(problem)
        numbers = queries.count * counters_per_group(queries)
        return math.ceil(self.scale(problem) * math.sqrt(2 * math.log(2 * numbers / beta)))

    @override
    def noise_deviation(self, problem: Problem) -> float:
        """The root of the variances' sum, which the deviation of discrete Gaussian noises never exceeds."""
        return self.scale(problem)

    @override
    def noisy(self, counters: Integers, problem: Problem, sampler: Sampler, trials: int) -> Floats:
        queries, plan = statistics_of(problem), self.plan(problem)
        table = np.minimum(counters, _largest_counter(queries)).reshape(*queries.shape, -1)
        parts = dict[Set, Floats]()
        for part, (sigma, _, square) in zip(plan.parts, self.gaussians(problem), strict=True):
            whole = np.stack([_contrasts_on(table, columns) for columns in part.sets])
            draw = GaussianCounts(whole.reshape(1, -1), sigma=sigma, squared_shift=square)
            drawn = sampler.draw(draw, trials)
            parts |= dict(zip(part.sets, drawn.reshape(len(drawn), *whole.shape).swapaxes(0, 1), strict=True))
        return _put_together(parts, queries.shape)

    @override
    def possible(self, release: Release) -> bool:
        """Return whether the counters are put together from whole contrasts."""
        assert isinstance(release, GroupRelease)
        queries, plan = release.queries, self.plan(release.problem)
        parts = dict[Set, Floats]()
        for columns in (columns for part in plan.parts for columns in part.sets):
            sizes = tuple(queries.shape[each] for each in columns)
            numbers = release.counters_by(columns).swapaxes(1, 2).reshape(-1, *sizes)
            whole = np.stack([whole_contrasts(each, sizes) for each in numbers])
            parts[columns] = whole.reshape(release.trials, -1, whole.shape[-1]).astype(np.float64)
        again, counters = _put_together(parts, queries.shape), release.counters.reshape(release.trials, -1)
        return bool(np.allclose(again, counters, rtol=0, atol=SUM_TOLERANCE * max(1.0, float(np.abs(counters).max()))))


def unit_shifts(cliques: CliqueTypes, neighbours: Neighbours) -> Floats:
    """Return the squared shift of all contrasts of a type of set under each kind of neighbour, (kinds, types).

    Of rows whose weights have length 1, for one counter or more: see above.
    """
    added = cliques.squared_shifts(Neighbours.ADD_REMOVE_ONE)
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        return added
    return np.concatenate([2 * added, cliques.squared_shifts(neighbours)])


@lru_cache(maxsize=256)
def counter_plan(
    sizes: tuple[int, ...],
    counters: int,
    weight: int,
    neighbours: Neighbours,
    *,
    epsilon: float,
    delta: float,
    coarse_weight: float,
) -> ResidualPlan:
    """Return the noise of the contrasts of every set of group columns.

    Args:
        sizes: cells of each group column.
        counters: of a group.
        weight: what a row adds to the counters of its group together.
        neighbours: the relation.
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        coarse_weight: factor on the weight of groups for each column that does not form them.
    """
    cliques = clique_types_of(sizes, len(sizes))
    units = unit_shifts(cliques, neighbours)
    # A centred table on T enters the groups by S around it, divided by the sizes of the others: summed over S.
    weights = np.array(
        [
            math.prod(
                (size - 1) ** own * (coarse_weight + 1 / size) ** (many - own)
                for (size, many), own in zip(cliques.groups, key, strict=True)
            )
            for key in cliques.keys
        ]
    )
    variances = best_variances(units / cliques.kappas, weights=weights * cliques.counts)
    counts, shifts = cliques.counts * cliques.rows * counters, units * float(weight) ** 2
    relative = weight * np.sqrt(variances * cliques.kappas)
    sigmas = calibrate(relative, epsilon=epsilon, delta=delta, counts=counts, squared_shifts=shifts)
    proved = delta_of(epsilon, sigmas=sigmas, counts=counts, squared_shifts=shifts)
    parts = build_parts(cliques, drawn=np.ones(len(sigmas), dtype=np.bool_), sigmas=sigmas)
    return ResidualPlan(cliques=cliques, neighbours=neighbours, parts=parts, delta=proved)


def _largest_counter(queries: GroupStatistics) -> int:
    """Return the largest counter of which contrasts fit whole numbers: each is at most the sum of all times s."""
    return MAX_COUNT // queries.count**2


def _contrasts_on(table: Integers, columns: Sequence[int]) -> Integers:
    """Return the contrasts (counters, rows) of a set of columns, from all counters (*sizes, counters)."""
    others = tuple(axis for axis in range(table.ndim - 1) if axis not in columns)
    return contrasts(np.moveaxis(table.sum(axis=others), -1, 0), tuple(table.shape[axis] for axis in columns))


def _put_together(parts: dict[Set, NDArray[Any]], sizes: tuple[int, ...]) -> Floats:
    """Return all counters (T, groups * counters) from the contrasts (T, counters, rows) of every set of columns."""
    trials, counters = next(iter(parts.values())).shape[:2]
    total = np.zeros((trials, counters, *sizes))
    for columns, values in parts.items():
        shape = tuple(size if axis in columns else 1 for axis, size in enumerate(sizes))
        part = centred(values, tuple(sizes[axis] for axis in columns)).reshape(trials, counters, *shape)
        total += part / (math.prod(sizes) // math.prod(shape))
    return np.moveaxis(total, 1, -1).reshape(trials, -1)


ENTRIES = (
    Entry(
        key="group-counters-planned",
        mechanism=PlannedGroupCounters,
        title="Statistics by group, residual planner",
        story="Statistics of every group, of coarser groups and of all rows, from counters whose Gaussian noise is "
        "planned for all of them.",
        domains=(DomainType.TABLE,),
        queries=(GroupStatistics,),
        references=(
            "Xiao, He, Zhang and Kifer (2023)",
            "Fitzsimons et al. (2024)",
            "Kulesza, Suresh and Wang (2024)",
            "Canonne, Kamath and Steinke (2020)",
        ),
        tiny={"delta": 0.01},
    ),
)
