"""BROKEN ON PURPOSE: counts, means and a median that claim epsilon-DP, each with one mistake that real programs made.

Each takes the cells or numbers of its rows, a seeded sampler and a number of runs, and returns the published outcome
of each run, (T, w). ``EPSILON`` is the claim of all of them.
"""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.limits.bounds.low_bits import naive_laplace, reachable
from dpcore.randomness import Preview

EPSILON = 1.0
CELLS = 4


def _histogram(rows: Integers) -> Integers:
    return np.bincount(rows, minlength=CELLS)[None, :]


def seed_reused(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a histogram whose generator starts from the same seed every time: its noise is the same every time."""
    noisy = Preview(2015).laplace(_histogram(rows), scale=2 / EPSILON, trials=1)
    return np.broadcast_to(noisy, (runs, CELLS))


def n_leaked(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a noisy histogram together with the exact number of rows, although rows may be added or removed."""
    noisy = preview.laplace(_histogram(rows), scale=1 / EPSILON, trials=runs)
    return np.concatenate([noisy, np.full((runs, 1), len(rows))], axis=1)


def float_laplace(rows: Integers, preview: Preview, runs: int) -> Floats:
    """Return a count with textbook Laplace noise in doubles (Mironov 2012), where rows may be added or removed.

    Two columns beside the number say whether its last bits are reachable from a count of 0, and from a count of 1.
    """
    noisy = naive_laplace(len(rows), scale=1 / EPSILON, trials=runs, seed=int(preview.generator.integers(1 << 62)))
    reachability = [reachable(noisy, count, scale=1 / EPSILON).astype(np.float64) for count in (0, 1)]
    return np.stack([noisy, *reachability], axis=1)


def bare_empty_cells(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a noisy histogram without noise in empty cells."""
    counts = _histogram(rows)
    return np.where(counts > 0, preview.laplace(counts, scale=2 / EPSILON, trials=runs), 0)


def suppressed_by_truth(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a noisy histogram that drops the cells whose true count is below five."""
    counts = _histogram(rows)
    return np.where(counts >= 5, preview.laplace(counts, scale=2 / EPSILON, trials=runs), 0)


def bounds_from_data(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a noisy sum whose noise is scaled to the largest number in the data."""
    largest = max(1, int(rows.max()))
    return preview.laplace(np.array([[rows.sum()]]), scale=largest / EPSILON, trials=runs)


def wrong_sensitivity(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a noisy total of visits, up to three a person, with noise for one visit."""
    return preview.laplace(np.array([[np.clip(rows, 0, 3).sum()]]), scale=1 / EPSILON, trials=runs)


def same_noise_twice(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a histogram with the same noise in every cell."""
    return _histogram(rows) + preview.laplace(np.zeros((1, 1), dtype=np.int64), scale=2 / EPSILON, trials=runs)


def refuses_by_truth(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return the median of an odd number of rows if no single row can change it, else nothing (-1), without a coin.

    It is the first mechanism of the notes on stability-based mechanisms: one row changes a median unless its two
    neighbours in order are equal to it.
    """
    middle = np.sort(rows)[len(rows) // 2 - 1 : len(rows) // 2 + 2]
    return np.full((runs, 1), middle[1] if middle[0] == middle[2] else -1)
