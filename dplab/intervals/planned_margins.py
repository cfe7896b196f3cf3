"""Margins of group statistics before a release, to first order in the noise, from declared bounds alone.

To first order every statistic of a group errs by a combination of its counters' noises, sum of w_j Z_j, divided by the
group's rows but for sums and numbers of rows. The weights w_j depend on where the data lie. A mean takes those of the
largest margin, a mean at a bound. A ratio takes both means in the middle of their ranges; so does a slope, of unrelated
numbers, the second with a standard deviation of an eighth of its range. The noise of the released number of rows is
left out: these are predictions. The people that a group needs for a margin of its mean follow from a mean at a bound,
where one counter is empty: whatever the data, no interval is wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, ParameterError
from dpcore.mechanisms.grouped.statistics import factors
from dpcore.mechanisms.grouped.weights import row_weight
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.combinations import half_width
from dplab.intervals.noise import CounterNoise, LaplaceNoise

ASSUMED_VARIANCE = 1 / 64
"""Variance on a range of length 1 of the number on which a slope is; a uniform one has 1/12, but data rarely have."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedMargin:
    """The effect of the noise of counters on one statistic of a group, to first order.

    Attributes:
        weights: of each counter's noise, in the statistic's unit, for a group of one row.
        falls: whether the margin falls in proportion to the group's rows.
    """

    weights: Floats
    falls: bool = True

    def half_width(self, noise: CounterNoise, *, people: int, level: float) -> float:
        """Return the half-width to expect in a group of so many rows; infinity for none."""
        if people < 0:
            raise ParameterError("A group has at least 0 rows.")
        if self.falls and not people:
            return math.inf
        largest = float(np.abs(self.weights).max())
        return largest * half_width(self.weights / largest, noise, level) / (people if self.falls else 1)


def margin_of_rows(queries: GroupStatistics | None = None) -> PlannedMargin:
    """Return the margin of a number of rows: that of one counter, or the sum of those of a statistic of one number."""
    weights = np.ones(1) if queries is None else np.ones(queries.degree + 1) / row_weight(queries)
    return PlannedMargin(weights=weights, falls=False)


def margin_of_mean(queries: GroupStatistics) -> PlannedMargin:
    """Return the margin of the mean of one number, or of the share of the second of two labels, of any degree."""
    return PlannedMargin(weights=queries.scales[0].span * factors(queries.degree, 1) / row_weight(queries))


def margin_of_sum(queries: GroupStatistics) -> PlannedMargin:
    """Return the margin of the sum of one number, whatever the group's rows."""
    scale = queries.scales[0]
    weights = scale.low + scale.span * factors(queries.degree, 1)
    return PlannedMargin(weights=weights / row_weight(queries), falls=False)


def margin_of_ratio(queries: GroupStatistics) -> PlannedMargin:
    """Return the margin of the first number's sum over the second's, both means in the middle of their ranges.

    Raises:
        ParameterError: the middle of the second number's range is 0.
    """
    first, second = queries.scales
    divisor = second.middle
    if not divisor:
        raise ParameterError("No margin of this ratio can be predicted: the middle of its divisor's range is 0.")
    ratio, each = first.middle / divisor, factors(queries.degree, 1)
    values = [scale.low + scale.span * each for scale in (first, second)]
    off = (values[0][:, None] - ratio * values[1][None, :]).reshape(-1)
    return PlannedMargin(weights=off / divisor / row_weight(queries))


def margin_of_slope(queries: GroupStatistics) -> PlannedMargin:
    """Return the margin of the slope of the first number on the second, for unrelated numbers of ASSUMED_VARIANCE.

    With covariance 0 only the covariance's error counts: that of the mean product of both distances from the middle.
    """
    first, second = queries.scales
    off = factors(queries.degree, 1) - 0.5
    weights = first.span / second.span / ASSUMED_VARIANCE * np.outer(off, off).reshape(-1)
    return PlannedMargin(weights=weights / row_weight(queries))


def budget_for_sum_and_count(queries: GroupStatistics, noise: LaplaceNoise, *, level: float) -> float:
    """Return how many times ε a clamped sum and a count, half of ε each, need for the margin of the counters' mean.

    That is OpenDP's ``dp.mean``: noise of a sum in proportion to the larger bound. Both are compared to first order at
    a mean in the middle of the range, where margins fall as 1/ε.

    Args:
        queries: statistics of one number.
        noise: of the counters, at the ε that is compared.
        level: of both margins.
    """
    scale = queries.scales[0]
    ours = half_width(scale.span * (factors(queries.degree, 1) - 0.5), noise, level)
    sum_and_count = np.array([max(abs(scale.low), abs(scale.high)), scale.middle])
    theirs = half_width(sum_and_count, LaplaceNoise(2 * noise.scale), level)
    return theirs / ours


def predicted_half_width(
    people: int, noise: CounterNoise, *, weight: int, level: float, share: float = 0.0, width: float = 1.0
) -> float:
    """Return the half-width to expect of the mean of so many rows on a line of a width; infinity for none.

    Args:
        people: rows of the group.
        noise: of one counter.
        weight: what a row adds to both counters together.
        level: of the interval.
        share: position of the mean on the line; 0 stands for the largest half-width of all.
        width: distance of the line's bounds.
    """
    if people < 0 or weight < 1 or not 0 <= share <= 1 or not 0 < width < math.inf:
        raise ParameterError("A prediction needs people, a weight of at least 1, a share and a finite width above 0.")
    return width * half_width([1 - share, share], noise, level) / (weight * people) if people else math.inf


def people_needed(margin: float, noise: CounterNoise, *, weight: int, level: float, width: float = 1.0) -> int:
    """Return the least number of rows whose predicted half-width is within the margin, whatever the data."""
    if not 0 < margin < math.inf:
        raise ParameterError(f"A margin is a finite number above 0, got {margin!r}.")
    return max(1, math.ceil(width * half_width([1.0], noise, level) / (weight * margin) * (1 - 1e-12)))
