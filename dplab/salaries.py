"""Three mechanisms for one number against epsilon: the stable median, the exponential median and the clipped mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Problem, ValueRelease
from dpcore.data.columns import Number, is_number
from dpcore.limits.bounds.rank import hard_data, rank_bound
from dpcore.limits.bounds.refusal import max_answer_chance
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian, scores
from dpcore.mechanisms.robust.stable_median import StableMedian, rank_errors, stability
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Preview
from dplab.robust import present_rows

KEYS = ("stable_median", "exponential_median", "clipped_mean")
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
CURVE = np.geomspace(EPSILONS[0], EPSILONS[-1], 81)
"""Values of ε of the curves of guarantee and lower bound."""
BETA = 0.05
"""Failure probability of the guaranteed rank error."""
LEVEL = 0.95
"""The quantile of errors, and the confidence of its interval."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Simulated errors and refusals of each mechanism at each epsilon, in the data's unit.

    Attributes:
        error: 95% quantile of the distance from the exact value; NaN where every run refused, (3, E).
        refused: share of runs without an answer, (3, E).
        exact: median, median, mean.
        delta: δ of the stable median.
        stable: number of rows that must change before the median does.
        rank: 95% quantile of the exponential median's rank error, a share of the rows, and the ends of its 95%
            confidence interval, (3, E).
    """

    domain: Number
    n: int
    trials: int
    exact: tuple[float, float, float]
    error: Floats
    refused: Floats
    delta: float
    stable: int
    rank: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class EpsilonCurves:
    """Observed values at each of EPSILONS, with guarantee and lower bound along CURVE.

    Attributes:
        observed: observed values, (E,).
        low: lower end of its 95% interval, (E,).
        high: upper end, (E,).
        promise: guarantee of the theorem, (CURVE,).
        lower_bound: bound that no mechanism's guarantee beats, (CURVE,).
        hard: exact value on the hardest known data, (E,); empty where it equals the guarantee.
    """

    observed: Floats
    low: Floats
    high: Floats
    promise: Floats
    lower_bound: Floats
    hard: Floats


def some_rows(dataset: Dataset, *, n: int, seed: int) -> Dataset:
    """Return ``n`` rows sampled without replacement."""
    if n >= dataset.n:
        return dataset
    rows = np.random.Generator(np.random.SFC64(seed)).choice(dataset.n, n, replace=False)
    return Dataset(dataset.domain, dataset.records[rows], dataset.provenance)


def compare(dataset: Dataset, *, delta: float, trials: int, seed: int) -> Generator[float, None, Comparison]:
    """Simulate all three at every epsilon; yields the fraction done. Rows without a number are left out."""
    dataset = present_rows(dataset)
    domain = dataset.domain
    assert is_number(domain)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=dataset.n)
    points = domain.points()
    error, refused, rank = (np.full((len(KEYS), len(EPSILONS)), np.nan) for _ in range(3))
    cell, stable = stability(dataset.histogram, domain=domain)
    median, order = float(points[cell]), order_of_interval(trials)
    exact = (median, median, float(points[dataset.records].mean()))
    for row, key in enumerate(KEYS):
        for column, epsilon in enumerate(EPSILONS):
            yield (row * len(EPSILONS) + column) / error.size
            values = {"epsilon": epsilon} | ({"delta": delta} if key == "stable_median" else {})
            mechanism = entry(key).make(**values)
            release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)
            assert isinstance(release, ValueRelease)
            refused[row, column] = release.refused.mean()
            if not release.refused.all():
                off = np.abs(points[release.values[~release.refused]] - exact[row])
                error[row, column] = np.quantile(off, LEVEL)
            if key == "exponential_median":
                rank[:, column] = np.sort(rank_errors(dataset.histogram, release.values, domain=domain))[order]
    return Comparison(
        domain=domain,
        n=dataset.n,
        trials=trials,
        exact=exact,
        error=error,
        refused=refused,
        delta=delta,
        stable=stable,
        rank=rank,
    )


def order_of_interval(trials: int) -> list[int]:
    """Return the order statistics of a sample's 95% quantile and of the two ends of its exact 95% confidence interval.

    The quantile of the distribution is below order statistic k (counted from 0) unless at most k values are below the
    quantile, which has a binomial probability. With too few trials the ends are the smallest and the largest value.
    """
    from scipy.special import bdtr

    tail = (1 - LEVEL) / 2
    below = bdtr(np.arange(trials + 1), trials, LEVEL)
    low = int(np.searchsorted(below, tail, side="right")) - 1
    high = int(np.searchsorted(below, 1 - tail))
    last = trials - 1
    return [min(math.ceil(LEVEL * trials), trials) - 1, max(low, 0), min(high, last)]


def nearest(epsilon: float) -> int:
    """Return the index of the nearest value in EPSILONS, by ratio."""
    return int(np.argmin(np.abs(np.log(np.array(EPSILONS) / epsilon))))


def refusals(comparison: Comparison) -> EpsilonCurves:
    """Return the stable median's refusal probability: observed, exact, and the bound for mechanisms never wrong."""
    exact, least = np.empty_like(CURVE), np.empty_like(CURVE)
    for place, epsilon in enumerate(CURVE.tolist()):
        exact[place] = 1 - float(StableMedian(epsilon=epsilon, delta=comparison.delta).chance(comparison.stable))
        least[place] = 1 - float(max_answer_chance(comparison.stable, epsilon=epsilon, delta=comparison.delta))
    observed = comparison.refused[0]
    low, high = binomial_interval(np.rint(observed * comparison.trials), comparison.trials)
    return EpsilonCurves(observed=observed, low=low, high=high, promise=exact, lower_bound=least, hard=np.array([]))


def ranks(comparison: Comparison) -> EpsilonCurves:
    """Return the 95% quantile of the exponential median's rank error, as a share of the rows."""
    problem, promised, impossible = _rank_theorems(comparison)
    observed, low, high = comparison.rank
    return EpsilonCurves(
        observed=observed,
        low=low,
        high=high,
        promise=np.array([promised(epsilon) for epsilon in CURVE.tolist()]),
        lower_bound=np.array([impossible(epsilon) for epsilon in CURVE.tolist()]),
        hard=np.array([hardest(problem, epsilon=each, lower_bound=impossible(each)) for each in EPSILONS]),
    )


def promised_rank(comparison: Comparison, epsilon: float) -> tuple[float, float]:
    """Return the guaranteed rank error and its lower bound at one epsilon."""
    _, promised, impossible = _rank_theorems(comparison)
    return promised(epsilon), impossible(epsilon)


def _rank_theorems(comparison: Comparison) -> tuple[Problem, Callable[[float], float], Callable[[float], float]]:
    """Return the problem, and functions of epsilon for the guaranteed rank error and its lower bound."""
    problem = Problem(domain=comparison.domain, queries=Thresholds(domain=comparison.domain), n=comparison.n)

    def promised(epsilon: float) -> float:
        return ExponentialMedian(epsilon=epsilon).accuracy(problem, BETA).value

    def impossible(epsilon: float) -> float:
        bound = rank_bound(problem, ExponentialMedian(epsilon=epsilon).guarantee(problem), beta=BETA)
        return 0.0 if bound is None else bound.value

    return problem, promised, impossible


def hardest(problem: Problem, *, epsilon: float, lower_bound: float) -> float:
    """Return the exact 95% quantile of the exponential median's rank error on the lower bound's own data."""
    mechanism, cells, off = ExponentialMedian(epsilon=epsilon), problem.domain.ordered, []
    for place in (0, cells // 2):
        histogram = hard_data(place=place, moved=round(2 * problem.n * lower_bound), n=problem.n, cells=cells)
        score = scores(histogram, domain=problem.domain, share=mechanism.share)
        law = np.exp(epsilon * (score - score.max()) / (2 * mechanism.sensitivity(problem.neighbours)))
        missed = rank_errors(histogram, np.arange(cells), domain=problem.domain)
        order = np.argsort(missed, kind="stable")
        enough = int(np.searchsorted(np.cumsum(law[order]) / law.sum(), 1 - BETA))
        off.append(float(missed[order][min(enough, cells - 1)]))
    return max(off)
