"""Statistics of groups, read from their counters; on noise-free counters they are those of the cells' middles.

At degree k a group's counters W_0..W_k sum to m^k times its rows, and the mean of a falling power of the share u is a
sum of them: E[u] = sum of j W_j / (k sum of W), E[u^2] = sum of j (j - 1) W_j / (k (k - 1) sum of W), E[u^3] = W_3 /
sum of W for k = 3. With two numbers W_ij, E[u v] = sum of i j W_ij / (k^2 sum of W).

Variances have divisor n, as numpy's with ddof = 0. Shares are cut off at 0 and 1 and a variance at 0. Where the number
of rows is not above 0, or a divisor is 0, a statistic is NaN. Rows and sums are linear in the counters and are not cut
off: those of groups add up.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.data.columns import Column
from dpcore.mechanisms.grouped.weights import row_weight
from dpcore.queries.groups import GroupStatistics

Statistics = dict[str, Floats]
"""A number for each trial and group, (T, groups), by the statistic's name."""


def weighted(counters: Floats, factors: Floats) -> Floats:
    """Return the weighted sums of counters, (..., counters) to (...): term by term, the same on every machine."""
    total = np.zeros(counters.shape[:-1])
    for j, factor in enumerate(factors.tolist()):
        total += factor * counters[..., j]
    return total


def share_of(counters: Floats, factors: Floats) -> Floats:
    """Return a mean as a share of the range, (..., counters) to (...), from 0 to 1; NaN where no rows are counted."""
    total = weighted(counters, np.ones(len(factors)))
    mean = weighted(counters, factors) / np.where(total > 0, total, 1)
    return np.where(total > 0, np.clip(mean, 0.0, 1.0), np.nan)


def factors(degree: int, power: int) -> Floats:
    """Return the factor of each counter in the mean of a power of the share, (degree + 1,)."""
    j = np.arange(degree + 1)
    return np.array([math.perm(int(each), power) for each in j]) / math.perm(degree, power)


def statistics(counters: Integers | Floats, queries: GroupStatistics) -> Statistics:
    """Return the statistics of groups, in the data's units, from counters (..., counters).

    Of two numbers, the ratio is the first's sum over the second's, and the slope that of the first on the second.
    """
    measured, weight = np.asarray(counters, dtype=np.float64), row_weight(queries)
    columns = [queries.domain.columns[place] for place in queries.numbers]
    results: Statistics = {"rows": weighted(measured, np.ones(measured.shape[-1])) / weight}
    if len(columns) == 1:
        return results | _of_one(measured, columns[0], queries.degree, weight)
    table = measured.reshape(*measured.shape[:-1], queries.degree + 1, queries.degree + 1)
    alone = [
        _of_one(table.sum(axis=axis), column, queries.degree, weight)
        for axis, column in zip((-1, -2), columns, strict=True)
    ]
    for place, found in zip(queries.numbers, alone, strict=True):
        results |= {f"{name} of {queries.domain.names[place]}": values for name, values in found.items()}
    means = [found[column.mean_name] for column, found in zip(columns, alone, strict=True)]
    results["ratio of sums"] = quotient(means[0], means[1])
    if queries.degree == 2:
        first = factors(2, 1)
        shares = [share_of(table.sum(axis=axis), first) for axis in (-1, -2)]
        product = share_of(measured, np.outer(first, first).reshape(-1))
        spans = [scale.span for scale in queries.scales]
        covariance = (product - shares[0] * shares[1]) * spans[0] * spans[1]
        variances = [found["variance"] for found in alone]
        results["slope"] = quotient(covariance, variances[1])
        results["correlation"] = np.clip(quotient(covariance, np.sqrt(variances[0] * variances[1])), -1.0, 1.0)
    return results


def _of_one(counters: Floats, column: Column, degree: int, weight: int) -> Statistics:
    """Return the statistics of one number from its own counters, (..., degree + 1), to which a row adds a weight."""
    low, span, mean = column.scale.low, column.scale.span, factors(degree, 1)
    share = share_of(counters, mean)
    sums = weighted(counters, low + span * mean) / weight
    found = {column.mean_name: low + span * share, "sum": sums}
    if degree >= 2:
        variance = np.maximum(share_of(counters, factors(degree, 2)) - share**2, 0.0)
        found |= {"variance": span**2 * variance, "standard deviation": span * np.sqrt(variance)}
    if degree >= 3:
        second, third = (share_of(counters, factors(degree, power)) for power in (2, 3))
        found["skewness"] = quotient(third - 3 * share * second + 2 * share * share**2, variance * np.sqrt(variance))
    return found


def quotient(numerator: Floats, divisor: Floats) -> Floats:
    """Return the quotient, elementwise; NaN where the divisor is 0."""
    found: Floats = np.divide(numerator, divisor, out=np.full_like(numerator, np.nan), where=divisor != 0)
    return found
