"""Intervals for statistics of groups, from the noisy counters that a release of all groups has.

Rows and sums are linear in the counters, whose noise has an exact law. Means, proportions and ratios of sums are found
by inversion; variances, standard deviations, slopes, correlations and skewness by inversion with bounds of what is not
linear in the noise, so that they are wide where groups are small.

What the intervals cover is the noise alone, of the rows that were counted, at their cells' middles: not whom the rows
were sampled from, nor numbers out of bounds, nor rows beyond a person's limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dpcore.core import Floats, ParameterError
from dpcore.data.columns import Column, Scale
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.grouped.statistics import factors, statistics
from dpcore.mechanisms.grouped.weights import counters_per_group, row_weight
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.combinations import linear, people
from dplab.intervals.interval import Interval, Kind
from dplab.intervals.noise import CounterNoise
from dplab.intervals.ratios import ratio
from dplab.intervals.spread import correlation, powers_of, skewness, slope, standard_deviation, variance

BLOCK = 256
"""Groups whose intervals are found at once, so that many groups take no more memory."""
FAR = 1e6
"""Limit of a ratio without a limit of its own, in units of the largest ratio of the ranges; further is infinite."""

Recipe = Callable[[Floats, CounterNoise, float], Interval]
"""Gives intervals (G,) from counters (G, counters), their noise and a level."""


def recipes(queries: GroupStatistics, noise: CounterNoise, *, cells: int = 1) -> dict[str, Recipe]:
    """Return how the interval of each statistic is found, by the names that a release gives its statistics.

    Args:
        queries: the statistics.
        noise: of one counter.
        cells: groups that are taken together; their counters stand one after another, and each has noise of its own.
    """
    weight, degree, side = row_weight(queries), queries.degree, np.ones(queries.degree + 1)

    def every(weights: Floats) -> Floats:
        """Return weights of one group's counters, in the last dimension, for those of all that are taken together."""
        return np.concatenate([weights] * cells, axis=-1)

    found: dict[str, Recipe] = {"rows": lambda counters, law, level: people(counters, law, weight=weight, level=level)}
    columns = [queries.domain.columns[place] for place in queries.numbers]
    if len(columns) == 1:
        return found | _of_one(columns[0], degree, weight, every(powers_of(degree)))
    powers = [
        every(
            np.stack(
                [np.outer(*((power, side) if axis == 0 else (side, power))).reshape(-1) for power in powers_of(degree)]
            )
        )
        for axis in (0, 1)
    ]
    for axis, (place, column) in enumerate(zip(queries.numbers, columns, strict=True)):
        name, low, high = queries.domain.names[place], column.scale.low, column.scale.high
        found[f"sum of {name}"] = partial(_sum, (low + (high - low) * powers[axis][1]) / weight)
        found[f"{column.mean_name} of {name}"] = partial(_mean, powers[axis][1], low, high)
        if degree == 2:
            found[f"variance of {name}"] = partial(_variance, powers[axis], low, high)
            found[f"standard deviation of {name}"] = partial(_deviation, powers[axis], low, high)
    found["ratio of sums"] = partial(_ratio_of_sums, (powers[0][1], powers[1][1]), queries.scales)
    if degree == 2:
        steepest = queries.scales[0].span / queries.scales[1].span
        product = every(np.outer(factors(2, 1), factors(2, 1)).reshape(-1))
        found["slope"] = lambda counters, law, level: (
            slope(counters, powers[0], powers[1], product, law, level=level)
            .interval(level=level)
            .rescaled(0.0, steepest)
        )
        found["correlation"] = lambda counters, law, level: correlation(
            counters, powers[0], powers[1], product, law, level=level
        ).interval(level=level)
    return found


def _of_one(column: Column, degree: int, weight: int, powers: Floats) -> dict[str, Recipe]:
    """Return how the intervals of one number's statistics are found, from the weights of its powers' sums."""
    low, high = column.scale.low, column.scale.high
    found: dict[str, Recipe] = {
        column.mean_name: partial(_mean, powers[1], low, high),
        "sum": partial(_sum, (low + (high - low) * powers[1]) / weight),
    }
    if degree >= 2:
        found["variance"] = partial(_variance, powers, low, high)
        found["standard deviation"] = partial(_deviation, powers, low, high)
    if degree >= 3:
        found["skewness"] = lambda counters, law, level: skewness(counters, powers, law, level=level).interval(
            level=level
        )
    return found


def _sum(weights: Floats, counters: Floats, noise: CounterNoise, level: float) -> Interval:
    return linear(counters, weights, noise, level=level)


def _mean(share: Floats, low: float, high: float, counters: Floats, noise: CounterNoise, level: float) -> Interval:
    return ratio(counters, share, np.ones(len(share)), noise, level=level).rescaled(low, high)


def _variance(powers: Floats, low: float, high: float, counters: Floats, noise: CounterNoise, level: float) -> Interval:
    return variance(counters, powers, noise, level=level, low=low, high=high)


def _deviation(
    powers: Floats, low: float, high: float, counters: Floats, noise: CounterNoise, level: float
) -> Interval:
    return standard_deviation(variance(counters, powers, noise, level=level, low=low, high=high))


def _ends(scale: Scale) -> tuple[float, float]:
    """Return the least and the largest value of a row: the middles of the outer cells, or 0 and 1."""
    half = scale.span * scale.rounding
    return scale.low + half, scale.high - half


def _ratio_of_sums(
    shares: tuple[Floats, Floats],
    scales: tuple[Scale, ...],
    counters: Floats,
    noise: CounterNoise,
    level: float,
) -> Interval:
    """Return intervals for the sum of the first number over that of the second.

    A divisor that is always below 0 is turned around with its numerator. One that may be 0 leaves a ratio without
    limits, which has an infinite end where the release does not bound it.
    """
    tops = [scale.low + scale.span * share for share, scale in zip(shares, scales, strict=True)]
    (first, last), (least, most) = map(_ends, scales)
    if most < 0:
        tops, (first, last), (least, most) = [-top for top in tops], (-last, -first), (-most, -least)
    if least > 0:
        limits = [value / divisor for value in (first, last) for divisor in (least, most)]
        low, high, open_ended = min(limits), max(limits), False
    else:
        high = FAR * max(abs(first), abs(last)) / max(abs(least), abs(most))
        low, open_ended = -high, True
    if not low < high:  # one value alone is possible
        low, high = low - abs(low) - 1.0, high + abs(high) + 1.0
    found = ratio(counters, tops[0], tops[1], noise, level=level, low=low, high=high)
    if open_ended:
        found.low[found.low <= low], found.high[found.high >= high] = -np.inf, np.inf
    return found


def group_interval(
    release: GroupRelease, noise: CounterNoise, statistic: str, *, level: float, kept: Sequence[int] | None = None
) -> Interval:
    """Return intervals for a statistic of every group in every trial, (T, groups); proved.

    Args:
        release: T releases of group counters.
        noise: of one counter of a group; where it is ``of_sums``, of one of a coarser group.
        statistic: its name among the release's statistics.
        level: of each interval.
        kept: which group columns are still told apart, as ``GroupRelease.statistics`` takes them: a coarser group has
            the noise of all groups in it. All columns where it is None.

    Raises:
        ParameterError: the release has no such statistic, or no such columns.
    """
    columns = range(len(release.queries.shape)) if kept is None else kept
    counters = release.counters_by(columns) if noise.of_sums else release.cells_by(columns)
    cells = counters.shape[-1] // release.counters.shape[-1]
    recipe = recipes(release.queries, noise, cells=cells).get(statistic)
    if recipe is None:
        raise ParameterError(f"There is no such statistic of these groups: {statistic!r}.")
    flat = counters.reshape(-1, counters.shape[-1])
    blocks = [recipe(flat[at : at + BLOCK], noise, level) for at in range(0, len(flat), BLOCK)]
    low, high, silent, enters = (
        np.concatenate([np.broadcast_to(getattr(block, name), block.low.shape) for block in blocks])
        for name in ("low", "high", "says_nothing", "enters_at")
    )
    whole = Interval(low=low, high=high, level=level, kind=Kind.PROVED, says_nothing=silent, enters_at=enters)
    return whole.reshaped(counters.shape[:-1])


def group_intervals(release: GroupRelease, noise: CounterNoise, *, level: float) -> dict[str, Interval]:
    """Return the intervals of all statistics that have some, (T, groups) each, in the order of the statistics."""
    found = dict[str, Interval]()
    for name in interval_names(release.queries, noise):
        if name.startswith("standard deviation"):  # the roots of the variance's, which take long
            found[name] = standard_deviation(found[name.replace("standard deviation", "variance", 1)])
        else:
            found[name] = group_interval(release, noise, name, level=level)
    return found


def interval_names(queries: GroupStatistics, noise: CounterNoise) -> list[str]:
    """Return the statistics that have an interval, in the order in which a release gives them; reads no counters."""
    known, empty = recipes(queries, noise), np.zeros((1, counters_per_group(queries)))
    return [name for name in statistics(empty, queries) if name in known]
