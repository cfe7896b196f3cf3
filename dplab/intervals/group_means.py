"""Means of all groups in many releases, their intervals beside the true means, and how many intervals miss.

At degree 1 a release gives intervals for the means of the rows. At degree 2 it also gives each group's variance, and
with it intervals for the means of the population that the rows were sampled from.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Integers
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState, statistics_of
from dpcore.mechanisms.grouped.statistics import statistics
from dpcore.mechanisms.grouped.weights import row_weight
from dpcore.queries.groups import GroupStatistics
from dpcore.randomness import Sampler
from dplab.intervals.interval import Interval
from dplab.intervals.noise import CounterNoise
from dplab.intervals.population import population_mean
from dplab.intervals.released import interval, noise_of

BLOCK = 50
"""Releases whose intervals are found at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupMeans:
    """Released means of T releases with their intervals, (T, groups) each.

    Attributes:
        people: released number of rows with a number.
        means: released means; NaN where the noise leaves a group no rows.
        noise: intervals for the means of the rows; proved.
        sampling: intervals for the means of the population; None at degree 1, where the variance is not released.
    """

    people: Floats
    means: Floats
    noise: Interval
    sampling: Interval | None


def declared_groups(queries: GroupStatistics) -> Integers:
    """Return the indices of the groups of declared labels, in the declared order, without reserved cells."""
    cells = np.indices(queries.shape).reshape(len(queries.shape), -1)
    ordered = [queries.domain.columns[place].ordered for place in queries.group_columns]
    return np.flatnonzero((cells < np.array(ordered)[:, None]).all(axis=0))


def true_means(state: GroupState) -> tuple[Floats, Floats]:
    """Return the number of rows and the mean of every group, (groups,) each, without noise: not private."""
    true = statistics(state.counters, statistics_of(state.problem))
    return true["rows"], true["mean"]


def released_means(mechanism: GroupMechanism, release: GroupRelease, *, level: float) -> GroupMeans:
    """Return the means of one number in T releases, with intervals of this level.

    Raises:
        ParameterError: the release is not of one number, or the level is out of range.
    """
    found, noise = release.statistics(), interval(mechanism, release, "mean", level=level)
    sampling = population_means(release, noise_of(mechanism, release), level=level)
    return GroupMeans(people=found["rows"], means=found["mean"], noise=noise, sampling=sampling)


def population_statistic(queries: GroupStatistics) -> str:
    """Return "mean" or "proportion" where a release of these statistics also tells how much it varies; else ""."""
    column = queries.domain.columns[queries.numbers[0]]
    varies = queries.degree >= 2 or column.mean_name == "proportion"
    return column.mean_name if varies and len(queries.numbers) == 1 and not queries.whole_population else ""


def population_means(release: GroupRelease, noise: CounterNoise, *, level: float) -> Interval | None:
    """Return intervals for what the mean or the proportion is in the population, (T, groups); asymptotic.

    None where no variance is released, or everybody is in the table.

    Args:
        release: T releases of group counters.
        noise: of one counter.
        level: of each interval.
    """
    queries = release.queries
    name = population_statistic(queries)
    if not name:
        return None
    scale, variance = queries.scales[0], None
    if name == "mean":
        # Where noise leaves no variance above 0, the largest one that a range allows stands for it.
        found = release.statistics()["variance"]
        variance = np.where(found > 0, found, scale.span**2 / 4)
    return population_mean(
        release.counters,
        noise,
        weight=row_weight(queries),
        level=level,
        variance=variance,
        person_rows=max(1, release.problem.person_rows),
        low=scale.low,
        high=scale.high,
    )


def intervals_hold(
    mechanism: GroupMechanism, state: GroupState, sampler: Sampler, *, trials: int, level: float
) -> Generator[float, None, Booleans]:
    """Return whether each interval of the noise holds the true mean, (T, groups); yields the fraction done.

    A group without rows has no mean that an interval could miss.
    """
    release = mechanism.run(state, sampler, trials)
    _, means = true_means(state)
    held = np.empty((trials, len(means)), dtype=np.bool_)
    for start in range(0, trials, BLOCK):
        stop = min(trials, start + BLOCK)
        part = release.part(start, stop)
        held[start:stop] = interval(mechanism, part, "mean", level=level).contains(means) | np.isnan(means)
        yield stop / trials
    return held
