"""A secret attribute from noisy marginals (Kasiviswanathan, Rudelson, Smith and Ullman 2010).

The attacker knows all attributes of every row but one. Released is, for every set of at most k - 1 known attributes,
the noisy number of rows that have them all and the secret one: an entry of a marginal of at most k attributes. This
number is the inner product of the secret bits with the entrywise product of the set's columns. So marginals are subset
sums whose groups are given by the data, and least squares reconstructs the bits (`subset_sum`).

What is proved, for any rows: a wrong bit is off by 1/2 before rounding, and the squares of all distances add up to at
most ‖e‖²/s². Hence at most 4 m E²/s² bits are wrong, E = ‖e‖/√m the root mean square error of the m numbers and s the
smallest singular value of their matrix: ``subset_sum.max_wrong_bits``, for which a root mean square error is as good as
a largest one. Rows with the same known attributes have equal columns; then s = 0, and nothing is proved.

An attacker who knows the law of the noise does better: the bits are taken as Gaussian around their mean, which the
empty set's number tells, and the estimates are their posterior means. At large noise these are the mean, so that the
attack becomes a constant guess. It has no proof of its own.

The theorem of the paper: if the d attributes are independent fair coins, k is constant and n at most of order d^(k-1)
(up to iterated logarithms), then s is of order d^((k-1)/2) with high probability. So a release of all marginals of k
attributes whose average error is below order min(√n, d^((k-1)/2)) gives away nearly all bits of a secret attribute. It
is an order, with no constant, and about random attributes; attributes of real rows depend on each other.

Notation: n rows, d known attributes, m sets; k = size + 1.

References:
    Kasiviswanathan, Rudelson, Smith and Ullman (2010).
"""

from __future__ import annotations

from math import comb

import numpy as np

from dpcore.core import Booleans, Floats, ParameterError
from dpcore.limits.attacks.subset_sum import MAX_GROUPS, MAX_PEOPLE
from dpcore.queries.attribute_sets import unrank

MAX_SIZE = 4
"""Most known attributes in a set."""
MIN_SPREAD, MIN_RATIO = 1e-3, 1e-9
"""Least prior variance of a bit, and least ratio of noise to the largest eigenvalue: nothing is divided by 0."""


def row_products(known: Booleans, *, size: int, seed: int) -> Booleans:
    """Return, for every set of at most ``size`` attributes, smallest first, which rows have them all, (m, n).

    Of more than MAX_GROUPS sets, the smallest are kept, and of the first size that has too many a random part.

    Args:
        known: known attributes of the rows, (n, d).
        size: largest number of attributes in a set.
        seed: of the random part.

    Raises:
        ParameterError: too many rows, no attribute, or a size out of range.
    """
    n, attributes = known.shape
    if not (1 <= n <= MAX_PEOPLE and attributes >= 1 and 1 <= size <= MAX_SIZE):
        raise ParameterError(
            f"The attack takes 1 to {MAX_PEOPLE} rows, at least one known attribute, and sets of 1 to {MAX_SIZE} "
            f"attributes; got {n:,} rows, {attributes} attributes and sets of {size}."
        )
    generator = np.random.Generator(np.random.SFC64(seed))
    masks, left = list[Booleans](), MAX_GROUPS
    for each in range(min(size, attributes) + 1):
        count = comb(attributes, each)
        numbers = np.arange(count) if count <= left else np.sort(generator.choice(count, left, replace=False))
        masks.append(np.all(known[:, unrank(numbers, size=each)], axis=2).T)
        left -= len(numbers)
    return np.concatenate(masks)


def posterior_bits(masks: Booleans, answers: Floats, variances: Floats) -> Booleans:
    """Return the bits whose posterior mean is above 1/2, (T, n), for Gaussian bits and noise.

    Args:
        masks: sets, the empty one first, (m, n).
        answers: noisy numbers of rows, (T, m).
        variances: of the noise in one number, public, (T,).
    """
    matrix = masks.astype(np.float64)
    mean = np.clip(answers[:, :1] / masks.shape[1], 0, 1)
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    ratio = variances[:, None] / np.maximum(mean * (1 - mean), MIN_SPREAD)
    weights = 1 / (np.maximum(values, 0) + np.maximum(ratio, MIN_RATIO * values[-1]))
    residuals = (answers - mean * matrix.sum(axis=1)) @ matrix @ vectors
    bits: Booleans = mean + (residuals * weights) @ vectors.T > 0.5
    return bits


def distinct_rows(known: Booleans) -> int:
    """Return how many different known rows (n, d) there are: the attack cannot tell equal ones apart."""
    return len(np.unique(known, axis=0))
