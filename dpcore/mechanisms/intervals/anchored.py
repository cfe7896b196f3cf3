"""Interval release, anchored: search for fixed quantiles of all the data, so that errors do not add up.

The printed algorithm starts each block where the last one ended, and carries every error along. Here m = ⌈2/α⌉ binary
searches look for the places where the cumulative count reaches (i - ½)/m of the rows, i = 1..m, each counted from the
left end of the line. The release has mass 1/m at each cell found. A cell that holds many rows is found by many
searches and gets much mass: nothing is assumed about repeated values.

Why it is private: all searches advance together, d steps in all. In one step each asks a noisy question about the
number of rows up to some cell, which one row moves by at most 1 (by 0 or 1, under either relation); so the m counts of
a step move by at most m in L1, and noise of scale d·m/ε rows costs ε/d a step.

Accuracy: thresholds err by at most 1/(2m) + J/n and intervals by 1/m + 2J/n, where J is what one tail of the noise
exceeds with chance β/(d·m); for every data set, however many rows are equal (accuracy).

Notation: epsilon = ε, alpha = α, beta = β, d = depth, questions of one search.

References:
    after Blum, Ligett and Roth (2013), section 4; the proof is with accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    HistogramState,
    PointsRelease,
    Problem,
    PureMechanism,
    Release,
    alpha_param,
    epsilon_param,
    rounded_up,
)
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import NoisyComparisons, Sampler
from dpcore.randomness.laws import laplace_quantile


@dataclass(frozen=True, kw_only=True)
class AnchoredIntervals(PureMechanism):
    """Noisy binary searches for m mid-quantiles of the cumulative distribution."""

    epsilon: float = epsilon_param()
    alpha: float = alpha_param()

    @property
    def searches(self) -> int:
        """Number of released points, m."""
        return math.ceil(2 / self.alpha)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Half a point's mass plus the largest noise for thresholds; twice that for intervals, and a cell is one.

        Let t_i = ⌈(i - ½)n/m⌉ be the targets and C(b) the rows in cells up to b. The question "is C(b) at least t?"
        has one wrong answer, so its noise misleads by more than J rows with the chance of one tail, Pr[Z > J]; J is the
        least with d·m such chances adding up to at most β. Otherwise each found b_i has C(b_i) ≥ t_i - J (the last yes;
        or the last cell, where C = n) and C(b_i - 1) ≤ t_i - 1 + J (the last no). If k points lie at or below b, the
        largest of their numbers is at least k and the smallest of the others' at most k + 1. So C(b) lies between
        t_k - J (0 if k is 0) and t_(k+1) - 1 + J (n if k is m), neither of which is further than n/(2m) + J from kn/m.
        An interval is a difference of two such sums.
        """
        d, m, n = problem.domain.depth, self.searches, problem.n
        # One tail of each answer: a two-sided tail of 2β/(d·m).
        noise = laplace_quantile(min(1.0, 2 * beta / (d * m)), scale=d * m / self.epsilon) - 1
        sides = 1 if isinstance(problem.queries, Thresholds) else 2
        resolution = sides / (2 * m)
        return Bound(
            value=resolution + sides * noise / n,
            kind=BoundKind.GUARANTEE,
            statement=f"{m} points approximate the worst {problem.queries.one} within {rounded_up(resolution)} of n. "
            f"{d * m:,} noisy answers have an error of at most {noise:,} rows, counted "
            f"{'once' if sides == 1 else 'twice'}, with confidence 1 − {beta:g}.",
            formula=rf"\alpha\le\frac{{{sides}}}{{2m}}+\frac{{{'' if sides == 1 else 2}J}}{{n}},\quad "
            r"dm\,\Pr[Z>J]\le\beta,\quad Z\sim\mathrm{DLap}(dm/\varepsilon)",
            reference="union bound on exact tails, proved beside the mechanism",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=max(1, math.ceil(sides * noise / (self.alpha - resolution))),
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """All searches take d steps together; a search that has ended goes on drawing and ignores the answer."""
        problem, m = state.problem, self.searches
        d, size = problem.domain.depth, problem.domain.size
        up_to = np.cumsum(state.histogram)
        targets = -(-(2 * np.arange(1, m + 1) - 1) * problem.n // (2 * m))
        low = np.zeros((trials, m), dtype=np.int64)
        high = np.full((trials, m), size - 1, dtype=np.int64)
        for _ in range(d):
            middle = (low + high) >> 1
            draw = NoisyComparisons(up_to[middle], targets[None, :], epsilon=self.epsilon / d, sensitivity=m)
            reached = sampler.draw(draw, trials)
            low = np.where(reached, low, np.minimum(middle + 1, high))
            high = np.where(reached, middle, high)
        points, weights = np.sort(low, axis=1), np.full((trials, m), 1 / m)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=weights)

    @override
    def possible(self, release: Release) -> bool:
        """A point for each search, in order, of one share."""
        m = self.searches
        return isinstance(release, PointsRelease) and release.is_database(points=m, share=1 / m)


ENTRIES = (
    Entry(
        key="intervals-anchored",
        mechanism=AnchoredIntervals,
        title="Interval release, anchored",
        story="Finds evenly spaced quantiles, each by its own noisy bisection of the whole line, and puts equal "
        "mass at each.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals, Cells),
        references=("after Blum, Ligett and Roth (2013), section 4",),
        tiny={"alpha": 1.0},
    ),
)
