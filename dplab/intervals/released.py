"""Intervals for what existing mechanisms release: counts per cell, means, statistics and quantiles of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from dpcore.core import DataRelease, Floats, HistogramRelease, Mechanism, ParameterError, Problem, Release
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.planned import PlannedGroupCounters
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease, line_of
from dpcore.mechanisms.grouped.release import GroupRelease, statistics_of
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
from dplab.intervals.noise import CounterNoise, GaussianNoise, LaplaceNoise, PlannedNoise
from dplab.intervals.quantiles import centred_counts, quantile_cells
from dplab.intervals.ratios import mean

CELLS, MEAN, ROWS = "cells", "mean", "rows"
MAX_DRAWN_CELLS = 1 << 21
"""Cells of all releases that are drawn again for rows per cell, or for quantiles of a group."""
MIN_DRAWS = 99
"""Releases that are drawn again at least: enough for levels up to 99%."""


def noise_law(mechanism: Mechanism, problem: Problem, *, kept: Sequence[int] | None = None) -> CounterNoise:
    """Return the noise of each number that a mechanism releases about a problem; reads no release.

    Args:
        mechanism: the mechanism.
        problem: its problem.
        kept: of groups, which group columns are still told apart, where noise is planned for coarser groups.

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
    if isinstance(mechanism, PlannedGroupCounters):
        columns = tuple(range(len(statistics_of(problem).shape)) if kept is None else kept)
        plan = mechanism.plan(problem)
        return PlannedNoise(
            plan.cell_sigma(columns), length=plan.cell_length(columns), numbers=plan.cell_numbers(columns),
            smallest=min(part.sigma for part in plan.parts),
        )  # fmt: skip
    if isinstance(mechanism, DirectTables):  # every cell of every table
        if mechanism.noise == "laplace":
            return LaplaceNoise.of(epsilon=mechanism.epsilon, sensitivity=mechanism.moves(problem))
        return GaussianNoise(mechanism.sigma(problem))
    raise ParameterError("The numbers of this mechanism do not have independent noise of one law.")


def noise_of(mechanism: Mechanism, release: Release) -> CounterNoise:
    """Return the noise of each number of a release; raises as ``noise_law`` does."""
    return noise_law(mechanism, release.problem)


def interval(
    mechanism: Mechanism,
    release: Release,
    statistic: str,
    *,
    level: float = 0.95,
    kept: Sequence[int] | None = None,
) -> Interval:
    """Return intervals for a statistic of a release; proved.

    Args:
        mechanism: the one that made the release.
        release: T releases.
        statistic: "cells" of a histogram, (T, size); "mean" or "rows" of a counted mean, (T,); a statistic of groups,
            (T, groups).
        level: of each interval; see ``level_each`` for several together.
        kept: of groups, which group columns are still told apart: see ``group_interval``; none for the total.

    Raises:
        ParameterError: there is no such statistic of this mechanism.
    """
    noise = noise_law(mechanism, release.problem, kept=kept)
    if isinstance(release, GroupRelease):
        return group_interval(release, noise, statistic, level=level, kept=kept)
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


def cell_half_widths(mechanism: Mechanism, problem: Problem, *, level: float, digest: str) -> Floats:
    """Return the half-width of the noise in each cell's released rows, by noise drawn again, (size,); proved.

    Of many cells fewer releases are drawn, which changes no coverage.

    Raises:
        ParameterError: the mechanism's noise may depend on the data, or it does not release rows per cell.
    """
    size = problem.domain.size
    errors = noise_draws(mechanism, problem, lambda rows: rows, digest=digest, draws=draws_of_cells(size))
    return half_widths(errors, level=level)


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
        ParameterError: q is not between 0 and 1.
    """
    cells, rows = line_of(release.problem).ordered, release.rows()
    widths = group_half_widths(mechanism, release.problem, (q,), level=level, digest=digest).of_quantiles[0]
    centred = centred_counts(rows.reshape(-1, cells), q, ordered=cells)
    return quantile_cells(centred, widths, level=level).reshaped(rows.shape[:2])


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupHalfWidths:
    """Half-widths of the noise of one group's cells; every group's noise has the same law.

    Attributes:
        of_rows: of a group's number of rows.
        of_quantiles: of ``centred_counts`` for each share, (shares, cells).
    """

    of_rows: float
    of_quantiles: Floats


def group_half_widths(
    mechanism: GroupQuantileCounts, problem: Problem, shares: tuple[float, ...], *, level: float, digest: str
) -> GroupHalfWidths:
    """Return the half-widths of the noise of quantiles by group, drawn again for one group without rows; kept.

    Of many cells fewer releases are drawn, which changes no coverage.

    Raises:
        ParameterError: a share is not between 0 and 1.
    """
    plan, sensitivity = mechanism.plan(problem), mechanism.sensitivity(problem)
    return _half_widths_of(
        plan, mechanism.epsilon, sensitivity, line_of(problem).ordered, shares, level=level, digest=digest
    )


@lru_cache(maxsize=16)  # of sizes and budgets: a problem would keep the names and labels of somebody's columns
def _half_widths_of(
    plan: Strategy,
    epsilon: float,
    sensitivity: int,
    cells: int,
    shares: tuple[float, ...],
    *,
    level: float,
    digest: str,
) -> GroupHalfWidths:
    solver = estimate(plan, spare=0, known=False)
    draw = NoisyCounts(solver.measured(np.zeros((1, cells), dtype=np.int64)), epsilon=epsilon, sensitivity=sensitivity)
    drawn = Preview(seed_of(digest)).draw(draw, draws_of_cells(cells)) / solver.plan.steps
    errors = solver.counts(drawn, n=1)
    widths = [half_widths(centred_counts(errors, q, ordered=cells), level=level) for q in shares]
    [of_rows] = half_widths(errors.sum(axis=1, keepdims=True), level=level).tolist()
    return GroupHalfWidths(of_rows=of_rows, of_quantiles=np.stack(widths))


def draws_of_cells(cells: int) -> int:
    """Return how many releases are drawn again for half-widths of so many cells."""
    return max(MIN_DRAWS, min(DRAWS, MAX_DRAWN_CELLS // cells))
