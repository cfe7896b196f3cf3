"""Slope of one number given another from their released table alone, with an interval that counts its noise.

Rows in which one of both is missing are left out, as in a regression on rows: the sums over the others are linear in
the released table, too. What each set of columns adds to a table has noise of its own, of one variance along any
direction (``contrasts``), so that the covariance of the sums is exact. The rest is ``noise_aware``.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from dpcore.core import Floats, ParameterError
from dpcore.data.columns import Number, is_number
from dpcore.data.product import Product
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.queries.marginals import Set
from dplab.utility.models import Fit, ModelKind, middles
from dplab.utility.noise_aware import fit_sums


def fit_pair(domain: Product, plan: ResidualPlan, table: Floats, pair: Set) -> Fit:
    """Fit a line to the unbiased table of two columns of numbers, of the second given the first.

    Args:
        domain: all columns.
        plan: the noise of all tables of pairs.
        table: released rows in each cell, (s, t).
        pair: places of the columns, in their order.

    Raises:
        ParameterError: a column has no numbers, or with this noise nothing can be said about the slope.
    """
    columns = [domain.columns[place] for place in pair]
    numbers = [column for column in columns if is_number(column)]
    if len(numbers) < 2 or len(pair) != 2:
        raise ParameterError("A slope is of one column of numbers given another.")
    given, outcome = map(_scaled, numbers)
    known = np.outer(np.isfinite(given), np.isfinite(outcome)).astype(np.float64)
    terms = [known, known * np.nan_to_num(given)[:, None], known * np.nan_to_num(outcome)[None, :]]
    products = np.stack([one * other for one in terms for other in terms])
    total = (products * table).sum(axis=(1, 2)).reshape(3, 3)
    values, covariance = fit_sums(total, _factors(products, plan, pair).reshape(-1, 3, 3), sampling=True)
    (centre, length), (middle, scale) = (((each.low + each.high) / 2, each.high - each.low) for each in numbers)
    change = scale * np.array([[1.0, -centre / length], [0.0, 1 / length]])
    coefficients = change @ values
    coefficients[0] += middle
    errors = np.sqrt(np.diag(change @ covariance @ change.T))
    names = ("intercept", domain.names[pair[0]])
    return Fit(names=names, values=coefficients, errors=errors, rows=round(total[0, 0]), kind=ModelKind.LINEAR)


def _scaled(column: Number) -> Floats:
    """Return the middle of each cell, from the middle of the range in its lengths; NaN for what does not fit."""
    scaled: Floats = (middles(column) - (column.low + column.high) / 2) / (column.high - column.low)
    return scaled


def _factors(weights: Floats, plan: ResidualPlan, pair: Set) -> Floats:
    """Return vectors (m, k) whose outer products sum to the covariance of k weighted sums (k, s, t) of a noisy table.

    What a set of columns adds to the table is spread evenly over the cells of the other columns.
    """
    variances = {each: part.centred_variance for part in plan.parts for each in part.sets}
    mean = weights.mean(axis=(1, 2), keepdims=True)
    first, second = (weights.mean(axis=axis, keepdims=True) - mean for axis in (2, 1))
    parts = (mean, first, second, weights - mean - first - second)
    sets: tuple[Set, ...] = ((), pair[:1], pair[1:], pair)
    vectors = [
        np.sqrt(variances.get(chosen, 0.0)) * part.reshape(len(weights), -1).T
        for chosen, part in zip(sets, parts, strict=True)
    ]
    return np.concatenate(vectors)


def number_pairs(domain: Product) -> list[Set]:
    """Return the pairs of columns of numbers, in order."""
    numbers = [place for place, column in enumerate(domain.columns) if is_number(column)]
    return list(combinations(numbers, 2))
