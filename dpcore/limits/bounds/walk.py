"""The hybrid walk: from n rows at 0 to n rows at v, one row at a time.

D_0 has all rows at 0; D_i has i copies of v and n - i zeros; D_n has all rows at v. Each step of the walk may change
the chance of the answer "v" by the factor e^ε and no more, so a mechanism that is right at the end must already say v
now and then at the start, where it is nonsense. Draw the walk of a real mechanism and watch it climb.

The stable median does not climb: its chance is exactly 0 until v is the median, and then jumps to a number below δ. No
factor allows a step away from 0; the slack δ does.

The walk can also be taken by a mechanism that never heard of medians: release a histogram, then find the half by binary
search (Blum, Ligett and Roth 2013, Corollary 5.2). If every threshold's error were below one half, the search would
end at v; so no ε-private release answers thresholds on a long line usefully.

References:
    Blum, Ligett and Roth (2013), Theorem 5.1, its proof, and Corollary 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, DataRelease, Floats, Integers, ParameterError
from dpcore.limits.bounds.median import check_rows, log_flip, log_others, refusing, stable_threshold
from dpcore.limits.chance import binomial_interval, check_loss
from dpcore.randomness.laws import laplace_tail


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """The chance of the answer v along D_0 .. D_n; v is the last point of the grid.

    Attributes:
        name: the mechanism.
        epsilon: its privacy loss.
        delta: its slack.
        log_chance: ln Pr[answer is v] on each D_i, shape (n + 1,); -inf where it cannot happen.
    """

    name: str
    epsilon: float
    delta: float
    log_chance: Floats

    @property
    def ratios(self) -> Floats:
        """Log of each step's factor, shape (n,): within ±ε for a pure mechanism; 0 where both are impossible."""
        before, after = self.log_chance[:-1], self.log_chance[1:]
        still = np.isneginf(before) & np.isneginf(after)
        return np.where(still, 0.0, np.where(still, 0.0, after) - np.where(still, 0.0, before))

    @property
    def excess(self) -> float:
        """Largest Pr[v after] - e^ε Pr[v before] over the steps: what the slack δ has to cover."""
        after, before = np.exp(self.log_chance[1:]), np.exp(np.minimum(self.log_chance[:-1] + self.epsilon, 700.0))
        return float(np.maximum(after - before, 0.0).max())


def exponential_walk(*, bits: float, n: int, epsilon: float) -> Walk:
    """Return the exponential mechanism's walk, exactly; n odd.

    With h = (n + 1)/2: before step h, 0 is the median and all other points score -(h - i); from then on v is, and all
    other points score -(i - h + 1).
    """
    is_median, weight, others = _scores(bits=bits, n=n, epsilon=epsilon)
    best = -np.logaddexp(0.0, others + weight)
    log_chance = best + np.where(is_median, 0.0, weight)
    return Walk(name="exponential mechanism", epsilon=epsilon, delta=0.0, log_chance=log_chance)


def permute_and_flip_walk(*, bits: float, n: int, epsilon: float) -> Walk:
    """Return permute-and-flip's walk, exactly; n odd. The points that are not the median share what it leaves."""
    is_median, weight, others = _scores(bits=bits, n=n, epsilon=epsilon)
    best = log_flip(np.full(n + 1, bits * math.log(2)), weight)
    # 1 - (chance of the best) is about (N - 1) q/2 where N q is small, and cancels there.
    crowd = others + weight
    with np.errstate(divide="ignore"):
        rest = np.where(crowd < -17, crowd - math.log(2), np.log(-np.expm1(np.minimum(best, -1e-18))))
    return Walk(
        name="permute-and-flip", epsilon=epsilon, delta=0.0, log_chance=np.where(is_median, best, rest - others)
    )


def _scores(*, bits: float, n: int, epsilon: float) -> tuple[Booleans, Floats, float]:
    """Return whether v is the median (n + 1,), the log weight of points that are not (n + 1,), and ln(N - 1)."""
    check_loss(epsilon=epsilon)
    half, copies = check_rows(n=n, odd=True), np.arange(n + 1)
    is_median = copies >= half
    weight = -epsilon / 2 * np.where(is_median, copies - half + 1, half - copies)
    return is_median, weight, float(log_others(bits))


def refusing_walk(*, bits: float, n: int, epsilon: float) -> Walk:
    """Return the walk of the refusing mechanism, which attains the bound: e^ε at every step."""
    last = float(refusing(bits=bits, n=n, epsilon=epsilon))
    return Walk(name="refusing", epsilon=epsilon, delta=0.0, log_chance=last - epsilon * np.arange(n, -1, -1.0))


def stable_walk(*, n: int, epsilon: float, delta: float) -> Walk:
    """Return the stable median's walk on any grid: impossible until v is the median, h - (n - i) rows from changing."""
    threshold = stable_threshold(epsilon=epsilon, delta=delta)
    half, copies = check_rows(n=n, odd=True), np.arange(n + 1)
    answered = laplace_tail(threshold - (half - (n - copies)), scale=1 / epsilon)
    with np.errstate(divide="ignore"):
        log_chance = np.log(np.where(copies >= half, answered, 0.0))
    return Walk(name="stable median", epsilon=epsilon, delta=delta, log_chance=log_chance)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredWalk:
    """A walk seen in trials: how often v was found on each D_i, and exact 95% intervals, all shapes (n + 1,)."""

    chance: Floats
    low: Floats
    high: Floats


def measured_walk(medians: Integers, *, target: int) -> MeasuredWalk:
    """Score medians (n + 1, T), found in T releases of each D_i, against v."""
    hits = (medians == target).sum(axis=1)
    trials = medians.shape[1]
    low, high = binomial_interval(hits, trials)
    return MeasuredWalk(chance=hits / trials, low=low, high=high)


def median_by_search(cumulative_share: Callable[[Integers], Floats], *, cells: int, trials: int) -> Integers:
    """Return the cell a binary search for one half ends at, from threshold answers alone; shape (T,).

    Args:
        cumulative_share: the oracle; for a cell in each trial (T,), the fraction of rows at most there (T,).
        cells: ordered cells of the line.
        trials: T.
    """
    if cells < 1 or trials < 1:
        raise ParameterError("A search needs at least one cell and one trial.")
    low, high = np.zeros(trials, dtype=np.int64), np.full(trials, cells - 1, dtype=np.int64)
    for _ in range((cells - 1).bit_length()):
        middle = (low + high) // 2
        half = cumulative_share(middle) >= 0.5
        high = np.where(half, middle, high)
        low = np.where(half, low, np.minimum(middle + 1, high))
    return low


def median_of_release(release: DataRelease) -> Integers:
    """The median found by binary search in each release of an ordered domain, shape (T,); -1 where it was refused."""
    sums = np.cumsum(release.histogram()[:, : release.problem.domain.ordered], axis=1) / release.problem.n
    rows = np.arange(release.trials)
    medians = median_by_search(lambda cell: sums[rows, cell], cells=sums.shape[1], trials=release.trials)
    return np.where(release.refused, -1, medians)
