"""Intervals of counts that are released above a threshold: their exact coverage among the released ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from dpcore.core import Floats, Integers, Neighbours, Problem
from dpcore.data.unlisted.texts import LabelCounts, Texts
from dpcore.mechanisms.histograms.labels import FindLabels
from dpcore.mechanisms.histograms.optimal_labels import OptimalLabels
from dpcore.randomness.laws import laplace_tail
from dplab.intervals.above_threshold import released_counts
from dplab.intervals.interval import Interval, around
from dplab.intervals.noise import LaplaceNoise

ADDED, REPLACED = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
MECHANISMS = [
    (FindLabels(epsilon=1.0, delta=1e-6), ADDED),
    (FindLabels(epsilon=1.0, delta=1e-6), REPLACED),
    (FindLabels(epsilon=6.0, delta=0.01), ADDED),
    (FindLabels(epsilon=0.2, delta=1e-9), ADDED),
    (OptimalLabels(epsilon=1.0, delta=1e-6), ADDED),
    (OptimalLabels(epsilon=0.4, delta=1e-4), ADDED),
    (OptimalLabels(epsilon=0.2, delta=1e-8), ADDED),
]
Method = Callable[[Integers], Interval]


def problem_of(neighbours: Neighbours) -> Problem:
    domain = Texts()
    return Problem(domain=domain, queries=LabelCounts(domain=domain), n=1000, neighbours=neighbours)


def exact_coverage(mechanism: FindLabels, problem: Problem, intervals: Method) -> tuple[Integers, Floats]:
    """Return true counts from 1 on, and the probability of each that its interval holds it, given its release."""
    threshold, tails = mechanism.threshold(problem), partial(mechanism.noise_tails, problem=problem)
    far = 1
    while float(tails(np.array(far))) > 1e-14:
        far *= 2
    rows = np.arange(1, threshold + far)
    counts = np.arange(threshold + 1, threshold + 2 * far)
    ends = intervals(counts)
    held = (ends.low[None, :] <= rows[:, None]) & (rows[:, None] <= ends.high[None, :])
    noise = counts[None, :] - rows[:, None]
    masses = np.where(held, tails(noise) - tails(noise + 1), 0.0)
    return rows, masses.sum(axis=1) / tails(threshold + 1 - rows)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(("mechanism", "neighbours"), MECHANISMS)
def test_they_hold_every_count_given_its_release(mechanism: FindLabels, neighbours: Neighbours, level: float) -> None:
    """By enumeration of all released counts, for every true count; and the half-width of the noise alone does not."""
    problem = problem_of(neighbours)
    threshold, tails = mechanism.threshold(problem), partial(mechanism.noise_tails, problem=problem)

    def usual(counts: Integers) -> Interval:
        return around(counts, mechanism.half_width(problem, 1 - level), level=level)

    def narrower(counts: Integers) -> Interval:
        found = released_counts(counts, tails, threshold=threshold, level=level)
        return around(counts, 0.6 * found.half_width, level=level)

    rows, covered = exact_coverage(
        mechanism, problem, partial(released_counts, tails=tails, threshold=threshold, level=level)
    )
    assert covered.min() >= level - 1e-9
    few = rows <= max(1, threshold // 4)
    assert exact_coverage(mechanism, problem, usual)[1][few].max() < 0.2, "the control: few rows, much noise"
    assert exact_coverage(mechanism, problem, narrower)[1].min() < level


@pytest.mark.parametrize(("mechanism", "neighbours"), MECHANISMS)
def test_far_above_the_threshold_they_are_those_of_the_noise_alone(
    mechanism: FindLabels, neighbours: Neighbours
) -> None:
    problem = problem_of(neighbours)
    threshold, tails = mechanism.threshold(problem), partial(mechanism.noise_tails, problem=problem)
    half = mechanism.half_width(problem, 0.05)
    if not isinstance(mechanism, OptimalLabels):
        sensitivity = sum(neighbours.histogram_shift)
        assert half == LaplaceNoise.of(epsilon=mechanism.epsilon, sensitivity=sensitivity).half_width(0.05)
    counts = np.array([threshold + 1, threshold + 1000, 1 << 40])
    found = released_counts(counts, tails, threshold=threshold, level=0.95)
    assert found.low.tolist() == [1, *(counts[1:] - half)] and found.high[1:].tolist() == [*(counts[1:] + half)]
    assert counts[0] <= found.high[0] <= counts[0] + 2 * half
    assert released_counts(counts[:0], tails, threshold=threshold, level=0.95).low.shape == (0,)


@pytest.mark.parametrize(("mechanism", "neighbours"), MECHANISMS)
def test_tails_are_sums_of_the_law_from_which_noise_is_drawn(mechanism: FindLabels, neighbours: Neighbours) -> None:
    problem = problem_of(neighbours)
    values = np.arange(-2000, 2001)
    if isinstance(mechanism, OptimalLabels):
        weights = mechanism.weights()
        places = mechanism.threshold(problem) - values
        shares = np.where((places >= 0) & (places < len(weights)), weights[np.clip(places, 0, len(weights) - 1)], 0)
        tails = np.cumsum(shares[::-1])[::-1] / weights.sum()
    else:
        tails = laplace_tail(values, scale=sum(neighbours.histogram_shift) / mechanism.epsilon)
    np.testing.assert_allclose(mechanism.noise_tails(values, problem), tails, rtol=1e-12)
