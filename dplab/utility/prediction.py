"""What can be predicted from synthetic rows, and whether they can be told apart from real ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from dpcore.core import Floats, Integers, ParameterError
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dplab.utility.models import ModelKind, design, fit_logistic, middles, outcome_of

PENALTY = 1.0
MAX_INDICATORS = 4
"""Labels of a column, the most common ones, that enter products of two columns: all of them would be thousands."""
FOLDS = 2


def area_under_curve(scores: Floats, outcomes: Floats) -> float:
    """Return the chance that a score of an outcome 1 is above one of an outcome 0, ties counted half.

    >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1]))
    0.875
    """
    ones = int(outcomes.sum())
    zeros = len(outcomes) - ones
    if not ones or not zeros:
        raise ParameterError("Both outcomes must occur.")
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[outcomes > 0].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def prediction_quality(domain: Product, rows: Integers, held_out: Integers, *, outcome: int) -> float:
    """Return the area under the curve of a logistic regression that is fitted to rows and judged on held-out real ones.

    The regressors are all other columns; missing numbers enter as the mean, missing labels as the first label.

    Args:
        domain: of both.
        rows: to learn from, (n, d).
        held_out: real rows that the rows were not made from, (m, d).
        outcome: place of a column of two labels.
    """
    regressors = [place for place in range(len(domain.names)) if place != outcome]
    y, kind = outcome_of(domain, rows, outcome)
    if kind is not ModelKind.LOGISTIC:
        raise ParameterError("A column of two labels is predicted.")
    judged, _ = outcome_of(domain, held_out, outcome)
    x, other = (design(domain, each, regressors)[1] for each in (rows, held_out))
    centre, spread = np.nanmean(x, axis=0), np.nanstd(x, axis=0)
    centre[0], spread[0] = 0.0, 1.0
    x, other = (np.nan_to_num((each - centre) / np.where(spread > 0, spread, 1.0)) for each in (x, other))
    known, seen = np.isfinite(y), np.isfinite(judged)
    values, _ = fit_logistic(x[known], y[known], penalty=PENALTY)
    return area_under_curve(other[seen] @ values, judged[seen])


@dataclass(frozen=True, kw_only=True)
class Distinguishability:
    """Success of a logistic regression with products of pairs in telling synthetic rows from real ones it has not seen.

    Attributes:
        area: under its curve: 1/2 where they cannot be told apart, 1 where they always are.
        square: mean squared distance of the chance that it gives from the share of synthetic rows (pMSE).
    """

    area: float
    square: float


def distinguish(domain: Product, rows: Integers, real: Integers, *, seed: int) -> Distinguishability:
    """Try to tell synthetic rows (n, d) from real ones (m, d), in two halves of which each judges the other.

    No ratio to a permuted null: it improves as ε falls.
    """
    both = np.concatenate([real, rows])
    y = np.repeat([0.0, 1.0], [len(real), len(rows)])
    x = _pairwise(domain, both)
    fold = np.random.default_rng(seed).permutation(len(both)) % FOLDS
    chances = np.zeros(len(both))
    for place in range(FOLDS):
        values, _ = fit_logistic(x[fold != place], y[fold != place], penalty=PENALTY)
        chances[fold == place] = expit(x[fold == place] @ values)
    return Distinguishability(area=area_under_curve(chances, y), square=float(((chances - y.mean()) ** 2).mean()))


def _pairwise(domain: Product, rows: Integers) -> Floats:
    """Return an intercept, each column's terms, and products of two columns' terms, (n, p), of mean 0 and sd 1."""
    groups = []
    for place, column in enumerate(domain.columns):
        cells = rows[:, place]
        if is_number(column):
            known = middles(column)[cells]
            middle = np.nanmean(known) if np.isfinite(known).any() else 0.0
            groups.append([np.nan_to_num(known, nan=float(middle)), np.isnan(known).astype(np.float64)])
        else:
            common = np.argsort(-np.bincount(cells, minlength=column.size), kind="stable")[:MAX_INDICATORS]
            groups.append([(cells == code).astype(np.float64) for code in common])
    alone = [_standard(term) for group in groups for term in group]
    owners = [place for place, group in enumerate(groups) for _ in group]
    products = [_standard(alone[a] * alone[b]) for a, b in combinations(range(len(alone)), 2) if owners[a] != owners[b]]
    squares = [_standard(_standard(group[0]) ** 2) for group in groups if len(group) == 2]
    return np.stack([np.ones(len(rows)), *alone, *products, *squares], axis=1)


def _standard(term: Floats) -> Floats:
    spread = term.std()
    return (term - term.mean()) / spread if spread > 0 else np.zeros(len(term))
