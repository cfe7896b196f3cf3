"""Intervals for the variance and the standard deviation of the sample, from three Bernstein counters or four.

Two steps. A mean interval takes a tenth of α. For a fixed m, the mean of (u - m)^2 is a ratio of the same counters, and
its interval takes the rest of α. It is the variance plus (m - mean)^2. The m are the nodes of a fixed grid, so that the
node nearest to the true mean is no matter of chance: it is at most half a step away. The reported interval joins those
of all nodes near the mean interval, and no variance on [0, 1] is above mean (1 - mean).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import ParameterError, check_memory
from dplab.intervals.interval import Interval, Kind, check_level
from dplab.intervals.noise import CounterNoise
from dplab.intervals.ratios import mean, ratio

NODES = 128
"""Steps of the grid of means: half a step adds 1.6e-5 to a variance on [0, 1]."""
OF_THE_MEAN = 0.1
"""Share of α that the mean takes."""


def variance(
    counters: NDArray[Any], noise: CounterNoise, *, level: float, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return intervals for variances (divisor n), from Bernstein counters of degree 2 or 3, (..., 3 or 4); proved.

    Args:
        counters: sums of (1 - u)^2, 2 u (1 - u) and u^2 over the rows of a group, times a common weight; or the four
            of degree 3.
        noise: of one counter.
        level: share of releases whose interval holds the true variance.
        low: lower bound of the line.
        high: upper bound of the line.
    """
    alpha, numbers = check_level(level), np.asarray(counters, dtype=np.float64)
    degree = numbers.shape[-1] - 1
    if degree not in (2, 3):
        raise ParameterError("A variance needs three counters or four.")
    flat = numbers.reshape(-1, degree + 1)
    check_memory(len(flat) * NODES, what="All steps of these variances", smaller="take fewer groups", each=200)
    of_mean = mean(flat, noise, level=1 - OF_THE_MEAN * alpha)
    half = 0.5 / NODES
    nodes = np.arange(NODES + 1) / NODES
    near = (of_mean.low[:, None] <= nodes + half) & (nodes - half <= of_mean.high[:, None])
    place, node = np.nonzero(near & ~of_mean.says_nothing[:, None])
    m, j = nodes[node][:, None], np.arange(degree + 1)
    squares = j * (j - 1) / (degree * (degree - 1)) - 2 * m * j / degree + m**2  # factors of the mean of (u - m)^2
    of_squares = 1 - (1 - OF_THE_MEAN) * alpha
    around_node = ratio(flat[place], squares, np.ones(degree + 1), noise, level=of_squares, high=0.25 + half**2)
    first, last = np.full(len(flat), 0.25), np.zeros(len(flat))
    np.minimum.at(first, place, np.maximum(0.0, around_node.low - half**2))
    np.maximum.at(last, place, around_node.high)
    middle = np.clip(0.5, of_mean.low, of_mean.high)
    last = np.minimum(last, middle * (1 - middle))
    silent = of_mean.says_nothing
    first, last = np.where(silent, 0.0, np.minimum(first, last)), np.where(silent, 0.25, last)
    found = Interval(low=first, high=last, level=level, kind=Kind.PROVED, says_nothing=silent)
    return found.reshaped(numbers.shape[:-1]).rescaled(0.0, (high - low) ** 2)


def standard_deviation(
    counters: NDArray[Any], noise: CounterNoise, *, level: float, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return intervals for standard deviations (divisor n): roots of the variance's; proved."""
    squares = variance(counters, noise, level=level, low=low, high=high)
    return replace(squares, low=np.sqrt(squares.low), high=np.sqrt(squares.high))
