"""Half-widths from noise drawn again: for every statistic that is linear in a data-independent mechanism's counts.

The noise of such a mechanism has one law, whatever the data. Run on a public table, m times, it gives errors that are
exchangeable with the release's own: the release's error is at most the ⌈level (m + 1)⌉-th smallest of their sizes with
chance at least the level, exactly, over the release and the draws. The draws are public: their seed follows from a
given digest, so that the half-widths can be computed again.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from string import hexdigits

import numpy as np

from dpcore.core import DataRelease, Dataset, Floats, Mechanism, ParameterError, Problem, check_memory, checkpoint
from dpcore.randomness import Preview
from dplab.intervals.interval import check_level
from dplab.limits.data_independent_summary import ONE_ROW

DRAWS = 4000
BLOCK = 1 << 22
"""Cells that are drawn at once."""

Statistic = Callable[[Floats], Floats]
"""Maps released rows per cell (T, size) linearly to statistics (T, S)."""


def seed_of(digest: str) -> int:
    """Return the seed that belongs to a digest in hexadecimal digits.

    Raises:
        ParameterError: it has fewer than fifteen such digits.
    """
    if len(digest) < 15 or not set(digest) <= set(hexdigits):
        raise ParameterError("A digest has fifteen hexadecimal digits or more.")
    return int(digest[:15], 16)


def noise_draws(
    mechanism: Mechanism, problem: Problem, statistic: Statistic, *, digest: str, draws: int = DRAWS
) -> Floats:
    """Return errors of a linear statistic in independent releases of one public row, (draws, S).

    Raises:
        ParameterError: the mechanism's noise may depend on the data, or the errors would take too much memory.
    """
    if not mechanism.data_independent:
        raise ParameterError("The noise of this mechanism may depend on the data.")
    row = Dataset(problem.domain, np.zeros(1, dtype=np.int64), ONE_ROW)
    state = mechanism.prepare(row, dataclasses.replace(problem, n=1))
    truth = statistic(row.histogram[None].astype(np.float64))
    check_memory(draws * truth.shape[1], what="Draws of this noise", smaller="take fewer statistics", each=24)
    sampler, errors = Preview(seed_of(digest)), np.empty((draws, truth.shape[1]))
    rows = max(1, BLOCK // problem.domain.size)
    for start in range(0, draws, rows):
        checkpoint()
        release = mechanism.run(state, sampler, min(rows, draws - start))
        if not isinstance(release, DataRelease):
            raise ParameterError("This mechanism does not release rows per cell.")
        errors[start : start + rows] = statistic(release.histogram()) - truth
    return errors


def half_widths(errors: Floats, *, level: float) -> Floats:
    """Return the ⌈level (m + 1)⌉-th smallest size of errors (m, S) for each statistic, (S,); proved.

    Infinity where m is too small for the level.
    """
    check_level(level)
    rank = math.ceil(level * (len(errors) + 1))
    if rank > len(errors):
        return np.full(errors.shape[1], np.inf)
    # A copy: a view of one line would keep all of them.
    smallest: Floats = np.partition(np.abs(errors), rank - 1, axis=0)[rank - 1].copy()
    return smallest
