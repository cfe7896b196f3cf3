"""Intervals for what existing mechanisms release: counts per cell, means, statistics and quantiles of groups."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from dpcore.core import DataRelease, Floats, HistogramRelease, Mechanism, ParameterError, Problem, Release, check_memory
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.ranges.estimates import estimate
from dpcore.mechanisms.ranges.strategy import Strategy
from dpcore.mechanisms.robust.counted_mean import CountedMean, MeanRelease, weight
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.randomness import NoisyCounts, Preview
from dplab.intervals.combinations import people, single
from dplab.intervals.exchangeable import DRAWS, half_widths, noise_draws, seed_of
from dplab.intervals.groups import group_interval
from dplab.intervals.interval import Interval, around
from dplab.intervals.noise import CounterNoise, GaussianNoise, LaplaceNoise
from dplab.intervals.quantiles import centred_counts, quantile_cells
from dplab.intervals.ratios import mean

CELLS, MEAN, ROWS = "cells", "mean", "rows"
MIN_DRAWS, NUMBERS = 400, 4_000_000
"""Least number of draws for the intervals of quantiles of groups, and numbers that are drawn where cells are many."""


def noise_law(mechanism: Mechanism, problem: Problem) -> CounterNoise:
    """Return the noise of each number that a mechanism releases about a problem; reads no release.

    Raises:
        ParameterError: its numbers do not have independent noise of one law.
    """
    if isinstance(mechanism, CountedMean | GroupCounters):
        return LaplaceNoise.of(epsilon=mechanism.epsilon, sensitivity=mechanism.sensitivity(problem))
    if isinstance(mechanism, IdentityHistogram):
        return LaplaceNoise.of(epsilon=mechanism.epsilon, sensitivity=sum(problem.neighbours.histogram_shift))
    if isinstance(mechanism, GaussianHistogram):
        return GaussianNoise(mechanism.sigma(problem))
    if isinstance(mechanism, GaussianGroupCounters):
        return GaussianNoise(mechanism.scale(problem))
    if isinstance(mechanism, DirectTables):  # every cell of every table
        if mechanism.noise == "laplace":
            return LaplaceNoise.of(epsilon=mechanism.epsilon, sensitivity=mechanism.moves(problem))
        return GaussianNoise(mechanism.sigma(problem))
    raise ParameterError("The numbers of this mechanism do not have independent noise of one law.")


def noise_of(mechanism: Mechanism, release: Release) -> CounterNoise:
    """Return the noise of each number of a release; raises as ``noise_law`` does."""
    return noise_law(mechanism, release.problem)


def interval(mechanism: Mechanism, release: Release, statistic: str, *, level: float = 0.95) -> Interval:
    """Return intervals for a statistic of a release; proved.

    Args:
        mechanism: the one that made the release.
        release: T releases.
        statistic: "cells" of a histogram, (T, size); "mean" or "rows" of a counted mean, (T,); a statistic of groups,
            (T, groups).
        level: of each interval; see ``level_each`` for several together.

    Raises:
        ParameterError: there is no such statistic of this mechanism.
    """
    noise = noise_of(mechanism, release)
    if isinstance(release, GroupRelease):
        return group_interval(release, noise, statistic, level=level)
    if isinstance(release, HistogramRelease) and statistic == CELLS:
        return single(release.counts, noise, level=level)
    if isinstance(release, MeanRelease) and statistic == ROWS:
        return people(release.counters, noise, weight=weight(release.domain), level=level)
    if isinstance(release, MeanRelease) and statistic == MEAN:
        line = release.domain
        return mean(release.counters, noise, level=level, low=float(line.low), high=float(line.high))
    raise ParameterError(f"This mechanism has no statistic {statistic!r}.")


def ranges(
    mechanism: Mechanism, release: DataRelease, edges: tuple[tuple[int, int], ...], *, level: float, digest: str
) -> Interval:
    """Return intervals for rows in ranges of cells, first to last, (T, R), by noise drawn again; proved.

    Raises:
        ParameterError: the mechanism's noise may depend on the data, or a range is not one of its cells.
    """
    size = release.problem.domain.size
    if not edges or any(not 0 <= first <= last < size for first, last in edges):
        raise ParameterError(f"A range of cells lies between 0 and {size - 1}.")
    first, last = np.array(edges, dtype=np.int64).T

    def rows(histogram: Floats) -> Floats:
        up_to = np.cumsum(np.pad(histogram, ((0, 0), (1, 0))), axis=1)
        inside: Floats = up_to[:, last + 1] - up_to[:, first]
        return inside

    errors = noise_draws(mechanism, release.problem, rows, digest=digest)
    return around(rows(release.histogram()), half_widths(errors, level=level), level=level)


def quantile(mechanism: Mechanism, release: DataRelease, q: float, *, level: float, digest: str) -> Interval:
    """Return the first and last cell that may hold the q-quantile of the rows with a value, (T,), proved.

    Raises:
        ParameterError: the mechanism's noise may depend on the data, or q is not between 0 and 1.
    """
    centred = partial(centred_counts, q=q, ordered=release.problem.domain.ordered)
    errors = noise_draws(mechanism, release.problem, centred, digest=digest)
    return quantile_cells(centred(release.histogram()), half_widths(errors, level=level), level=level)


def group_quantile(
    mechanism: GroupQuantileCounts, release: GroupQuantilesRelease, q: float, *, level: float, digest: str
) -> Interval:
    """Return the first and last cell that may hold the q-quantile of each group's rows, (T, groups), proved.

    Raises:
        ParameterError: q is not between 0 and 1, or the draws would take too much memory.
    """
    return quantile_of_rows(mechanism, release.problem, release.rows(), q, level=level, digest=digest)


def quantile_of_rows(
    mechanism: GroupQuantileCounts, problem: Problem, rows: Floats, q: float, *, level: float, digest: str
) -> Interval:
    """Return the same from the estimated rows in each cell of each group, (T, groups, cells), of a release."""
    plan, cells = mechanism.plan(problem), rows.shape[-1]
    widths = _quantile_widths(plan, mechanism.epsilon, mechanism.sensitivity(problem), q, level, seed_of(digest))
    centred = centred_counts(rows.reshape(-1, cells), q, ordered=cells)
    return quantile_cells(centred, widths, level=level).reshaped(rows.shape[:2])


@lru_cache(maxsize=64)
def _quantile_widths(plan: Strategy, epsilon: float, sensitivity: int, q: float, level: float, seed: int) -> Floats:
    """Return the half-width of each D(t) of ``centred_counts``, (cells,): the noise of all groups has one law.

    It is drawn again for one group without rows. Kept: a page needs the same ones again.
    """
    cells, solver = len(plan.own), estimate(plan, spare=0, known=False)
    draws = min(DRAWS, max(MIN_DRAWS, NUMBERS // cells))  # the level is exact with any number of them
    check_memory(draws * cells, what="Draws of this noise", smaller="take fewer cells", each=50)
    empty = solver.measured(np.zeros((1, cells), dtype=np.int64))
    drawn = Preview(seed).draw(NoisyCounts(empty, epsilon=epsilon, sensitivity=sensitivity), draws) / plan.steps
    return half_widths(centred_counts(solver.counts(drawn, n=0), q, ordered=cells), level=level)
