"""Linear-query release: choose one of all small databases, scored by weighted sums instead of counts.

The learning-theory release for queries that give every record a weight between 0 and 1. As in the net mechanism, a
database of m points is chosen with chance in proportion to e^(-epsilon · (its worst error)/(2 · sensitivity)); its size
m is far below n, so an output stands for n rows by a factor n/m. Here all databases are listed, so the list limits m.

Why it is private: let a query weigh record i by q_i, and let its average over the m points be a. Where a row is added
or removed, the number of rows N enters the score too, as in q(D) - N·a, and moves it by q_i - a, between -1 and 1;
where record i becomes j, the score moves by q_i - q_j. So the score's sensitivity is 1, and the choice is epsilon-DP.
The paper bounds it by 2 (its "1 + 1/m" is a slip for 1 + 1); that is private as well, and twice as noisy.
Where rows are added or removed, N itself is private: a tenth of epsilon buys a noisy N to scale the output by, at most
the public n. Scores use the true one.

Accuracy: the worst error is at most the net's resolution and the choice's loss, (2 · sensitivity/(epsilon n)) ·
ln(|N|/beta) with chance 1 - beta. Resolution: let KL(t) be the least relative entropy of two coins whose chances are t
apart. Then m points drawn from the data's own distribution err by more than t in some query with chance below 2|C| ·
e^(-m KL(t)) (Hoeffding), half of it for t > 1/2, where only one side can stray so far; where that is at most 1, some m
points do not. This t is at most √(ln(2|C|)/(2m)), and below 1 however few the points. And points in proportion to the
data, rounded by largest remainder, err by at most U/(4m), since rounding up k of U shares adds at most k(1 - k/U)/m.
With fat-shattering dimension in the place of ln|C| the theorem is known in order only.

Notation (paper): epsilon = α; points = m; n = ‖D‖₁; alpha = η; beta = δ; U = n, the size of the universe.

References:
    Roth (2010), section 4, Theorem 5; McSherry and Talwar (2007), Theorem 6; Blum, Ligett and Roth (2013), section 3;
    Hoeffding (1963), Theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Integers,
    Neighbours,
    ParameterError,
    PointsRelease,
    Problem,
    PureMechanism,
    Release,
    State,
    epsilon_param,
    param,
    rounded_up,
    rows_up,
)
from dpcore.core.bisection import bisect_range
from dpcore.mechanisms.net.databases import candidates
from dpcore.mechanisms.net.listed_net import ListedNet, listable_points
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.randomness import DatabaseChoice, NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile

SIZE_SHARE = 0.1
"""Part of epsilon that tells the number of rows, where that is private."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearNetState(State):
    """The listed net with its scores, and the true number of rows, (1, 1)."""

    net: ListedNet
    rows: Integers


def least_divergence(gap: float) -> float:
    """The least relative entropy of a coin to one that shows heads less often by ``gap``, more than 0, below 1."""

    def divergence(chance: float) -> float:
        heads, tails = chance + gap, 1 - chance - gap
        seldom = tails * math.log(tails / (1 - chance)) if tails > 0 else 0.0
        return heads * math.log(heads / chance) + seldom

    low, high = 0.0, 1 - gap
    for _ in range(60):  # it is convex in the chance
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, other) if divergence(one) < divergence(other) else (one, high)
    return divergence((low + high) / 2) * (1 - 1e-9)


@lru_cache(maxsize=256)
def sampled_resolution(count: int, points: int) -> float:
    """Return the error within which some m points answer any so many queries; cached: sizes alone."""

    def some(gap: float) -> bool:
        sides = 1 if gap > 0.5 else 2
        return sides * count * math.exp(-points * least_divergence(gap)) < 1

    return bisect_range(some, 0.0, 1.0, close=1e-6)[1]


def weighted_resolution(problem: Problem, points: int) -> float:
    """Share of n by which the best database of m points errs at most in any weighted sum, whatever the data."""
    return min(sampled_resolution(problem.queries.count, points), problem.domain.size / (4 * points))


@dataclass(frozen=True, kw_only=True)
class LinearNet(PureMechanism):
    """A private choice among all databases of m points, by their worst weighted sum."""

    epsilon: float = epsilon_param()
    points: int = param(
        10, 1, 1000, label="Synthetic points", symbol="m", log=True, stops=(2, 5, 10, 20, 50, 100, 231, 500, 1000),
        help="Number of points that represent all rows. All databases of this size are listed, so on many cells "
             "fewer points are used than you choose.",
    )  # fmt: skip
    proof: str = param(
        "tight",
        label="Sensitivity",
        choices=("tight", "paper"),
        help="Effect of one row on a score: 1 by a careful proof, 2 in the paper. Both are private; 2 gives the "
        "noise of half the ε.",
    )

    @property
    def sensitivity(self) -> int:
        """Sensitivity of a score, according to the chosen proof."""
        return 1 if self.proof == "tight" else 2

    def requested_points(self, problem: Problem) -> int:
        """Return the number of points that the mechanism is set to."""
        return self.points

    def size(self, problem: Problem) -> int:
        """Return the points of a database, m: the most, up to those asked for, whose databases can be listed."""
        return listable_points(size=problem.domain.size, queries=problem.queries.count, points=self.points)

    def shares(self, problem: Problem) -> tuple[float, float]:
        """Return the parts of epsilon for the choice and for the number of rows."""
        if problem.neighbours is Neighbours.REPLACE_ONE:
            return self.epsilon, 0.0
        return self.epsilon * (1 - SIZE_SHARE), self.epsilon * SIZE_SHARE

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Resolution, choice and, where it is private, the number of rows, added up."""
        m, size, n = self.size(problem), problem.domain.size, problem.n
        chance, count = self.shares(problem)
        each = beta / 2 if count else beta
        resolution = weighted_resolution(problem, m)
        number = candidates(size=size, points=m)
        rows = 2 * self.sensitivity / chance * (math.log(number) - math.log(each))
        if count:
            rows += laplace_quantile(each, scale=1 / count) - 1
        total = resolution + rows / n
        return Bound(
            value=total,
            kind=BoundKind.GUARANTEE,
            statement=f"{m} point{'s resolve' if m > 1 else ' resolves'} the worst of {problem.queries.count:,} "
            f"weighted sums to {rounded_up(resolution)} of n. Choosing among {number:,} databases adds an "
            f"error of at most {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\min\Bigl(t,\tfrac{|X|}{4m}\Bigr)"
            r"+\frac{2\Delta}{\varepsilon' n}\ln\frac{\binom{|X|+m-1}{m}}{\beta'}"
            + (r"+\frac Jn" if count else "")
            + r",\quad 2|Q|\,e^{-m\,\mathrm{KL}(t)}=1",
            reference="Roth (2010), Theorem 5, for finite classes, its terms apart",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.floor(rows / (1 - resolution)) + 1 if resolution < 1 else None,
            note=f"So (Definition 1) it is ({rounded_up(min(1.0, total))}, {beta:g})-relatively useful for {n:,} rows "
            "or more. Remark 1: for finite classes the number of queries stands for the fat-shattering dimension, with "
            "which the theorem holds only up to constants.",
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> LinearNetState:
        queries = problem.queries
        if not isinstance(queries, LinearQueries):
            raise ParameterError("This mechanism needs weights.")
        units = queries.padded
        net = ListedNet(units, truth=units @ dataset.histogram, points=self.size(problem), rows=dataset.n)
        return LinearNetState(problem=problem, net=net, rows=np.array([[dataset.n]], dtype=np.int64))

    @override
    def run(self, state: LinearNetState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """One choice and, where the number of rows is private, one noisy count of them."""
        m, n = self.size(state.problem), state.problem.n
        chance, count = self.shares(state.problem)
        draw = DatabaseChoice(state.net, epsilon=chance, sensitivity=self.sensitivity * m * UNITS)
        points = sampler.draw(draw, trials)
        share = np.ones((trials, 1))
        if count:
            noisy = sampler.draw(NoisyCounts(state.rows, epsilon=count, sensitivity=1), trials)
            share = np.clip(noisy, 0, n) / n
        weights = np.repeat(share / m, m, axis=1)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=weights)

    @override
    def possible(self, release: Release) -> bool:
        """So many points in order, of one share: of n where that is public, else of a whole number of rows up to it.

        Where that noisy number is 0, no point has a share, and the file has no line.
        """
        assert isinstance(release, PointsRelease)
        m, n = self.size(release.problem), release.problem.n
        counted = self.shares(release.problem)[1] > 0
        if not release.weights.any():
            return counted
        rows = round(float(release.weights[0, 0]) * m * n) if counted else n
        return 0 < rows <= n and release.is_database(points=m, share=rows / n / m)


ENTRIES = (
    Entry(
        key="linear-net",
        mechanism=LinearNet,
        title="Net mechanism for weighted sums",
        story="Chooses one small synthetic database among all possible ones. The closer its weighted sums, the "
        "more likely it is. Every database is listed, so it works best on few cells.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(LinearQueries,),
        references=("Roth (2010), section 4", "McSherry and Talwar (2007)"),
        weights=r"\Pr[D']\propto\exp\Bigl(-\frac{\varepsilon' n}{2\Delta}\max_{q\in Q}|q(D)-q(D')|\Bigr)",
        tiny={"points": 2},
    ),
)
