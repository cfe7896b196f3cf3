"""A small database from noisy answers: Theorem 5's number of points on any number of cells.

The theorem's own choice is among all databases of m points, which can be listed on few cells only. This is a stand-in
of the same size with another law. Every query is answered with noise; m points are then put, one after the other, where
multiplicative weights on the queries say that the sums are furthest off.

Why it is private: a row moves each query's answer, rounded to whole rows, by at most 1, and all |Q| of them by at most
|Q| together. So noise of scale |Q|/epsilon in each is epsilon-DP under either relation; the points are post-processing.

Accuracy: except with chance beta no noise exceeds J, so the answers a_q are within (J + 1/2)/n of the data's, all as
shares of n. Let S_q be query q's sum over the first i points. Each point goes to the cell at which Φ = sum over q of
e^(l(S_q - i a_q)) + e^(-l(S_q - i a_q)) becomes least. A cell drawn from the data would multiply Φ by at most e^(l²/8
+ l(J + 1/2)/n) in expectation (Hoeffding's lemma), so the best cell does. After m points e^(l m e) ≤ Φ ≤ 2|Q| e^(m(l²/8
+ l(J + 1/2)/n)) for the largest difference e to the a_q; at l = √(8 ln(2|Q|)/m), e ≤ √(ln(2|Q|)/(2m)) + (J + 1/2)/n.
So points are found of which Hoeffding's bound only says that they exist, and the error to the data is at most
√(ln(2|Q|)/(2m)) + 2(J + 1/2)/n; the first term is at most α for m = ⌈ln(2|Q|)/(2α²)⌉.

The noise grows with the number of queries; in the theorem it grows with its logarithm only.

Notation (paper): epsilon = α; alpha = η; points = m; queries = |C|, and ln|C| stands for the dimension (Remark 1).

References:
    Roth (2010), Corollary 1, Theorem 5 and Remark 1; Dwork, McSherry, Nissim and Smith (2006); Hoeffding (1963).
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
    Floats,
    HistogramState,
    Integers,
    ParameterError,
    PointsRelease,
    Problem,
    PureMechanism,
    Release,
    epsilon_param,
    param,
    rounded_up,
    rows_up,
)
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile

BLOCK = 1 << 22
"""Numbers computed at once."""


def points_needed(count: int, alpha: float) -> int:
    """Return the points with which some database is within alpha in so many queries, ⌈ln(2|Q|)/(2α²)⌉.

    >>> points_needed(50, 0.1)
    231
    """
    return max(1, math.ceil(math.log(2 * count) / (2 * alpha**2)))


def points_resolution(count: int, points: int) -> float:
    """Return the largest error that so many points add in so many queries, √(ln(2|Q|)/(2m)), a share of n."""
    return math.sqrt(math.log(2 * count) / (2 * points))


def weighted(problem: Problem) -> LinearQueries:
    """Return the problem's weighted sums; raises ParameterError for other queries."""
    if not isinstance(problem.queries, LinearQueries):
        raise ParameterError("This mechanism needs weights.")
    return problem.queries


def noisy_answers(sampler: Sampler, histogram: Integers, problem: Problem, *, epsilon: float, trials: int) -> Floats:
    """Return every query's answer with noise, as shares of n within 0 and 1, (T, queries)."""
    queries = weighted(problem)
    truth = (queries.padded @ histogram + UNITS // 2) // UNITS  # halves up, so that a row moves one by 1 at most
    noisy = sampler.draw(NoisyCounts(truth[None, :], epsilon=epsilon, sensitivity=queries.count), trials)
    answers: Floats = np.clip(noisy, 0, problem.n) / problem.n
    return answers


def nearest_points(answers: Floats, weights: Floats, *, points: int) -> Integers:
    """Put points so that their weighted sums are near some answers, those within reach of some distribution.

    Args:
        answers: weighted sums, shares of n, (T, queries).
        weights: of each cell in each query, 0 to 1, (queries, cells).
        points: m.

    Returns:
        The cells of the points, in order, (T, m).
    """
    rate = math.sqrt(8 * math.log(2 * len(weights)) / points)
    factors = np.exp(rate * np.concatenate([weights, -weights]))
    chosen = np.empty((len(answers), points), dtype=np.int64)
    step = max(1, BLOCK // max(weights.shape))
    for start in range(0, len(answers), step):
        aims = answers[start : start + step]
        above = np.zeros_like(aims)
        for place in range(points):
            above -= aims
            # Of the factors e^(±rate * above) only their ratios matter: the largest is 1, so that none overflows.
            largest = np.abs(above).max(axis=1, keepdims=True)
            before = np.exp(rate * (np.concatenate([above, -above], axis=1) - largest))
            best = (before @ factors).argmin(axis=1)
            chosen[start : start + step, place] = best
            above += weights.T[best]
    return np.sort(chosen, axis=1)


@dataclass(frozen=True, kw_only=True)
class PointsOfAnswers(PureMechanism):
    """Noisy answers to every query, as a database of m points."""

    epsilon: float = epsilon_param()
    alpha: float = param(
        0.1, 0.05, 1.0, label="Error of the points", symbol="α", log=True, stops=(0.05, 0.1, 0.2, 0.5, 1.0),
        help="Largest error, as a share of n, that comes from the number of points: ln(2|Q|)/(2α²) for |Q| queries.",
    )  # fmt: skip

    def size(self, problem: Problem) -> int:
        """Return the points of a database, m."""
        return points_needed(problem.queries.count, self.alpha)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """What m points cannot show, and twice the largest noise."""
        count, m = problem.queries.count, self.size(problem)
        resolution = points_resolution(count, m)
        # Rounding to whole rows is the half.
        rows = 2 * (laplace_quantile(beta / count, scale=count / self.epsilon) - 1 + 0.5)
        return Bound(
            value=resolution + rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"{m} point{'s resolve' if m > 1 else ' resolves'} the worst of {count:,} weighted sums to "
            f"{rounded_up(resolution)} of n. Twice the largest noise is at most {rows_up(rows)} rows, with confidence "
            f"1 − {beta:g}.",
            formula=r"\alpha\le\sqrt{\frac{\ln(2|Q|)}{2m}}+\frac{2J+1}{n},\quad"
            r"|Q|\cdot\Pr[|\mathrm{DLap}(|Q|/\varepsilon)|>J]\le\beta",
            reference="Roth (2010), Corollary 1 and Remark 1, with constants and points that are found",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.floor(rows / (1 - resolution)) + 1 if resolution < 1 else None,
            note="A stand-in of the size of Theorem 5. Its noise grows with the number of queries, the theorem's only "
            "with the logarithm.",
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: for each point, a score of every cell."""
        m, count = self.size(problem), problem.queries.count
        return 0.0, m * count * (1e-9 * problem.domain.size + 3e-8)

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """One noisy answer a query; the points follow from them."""
        problem = state.problem
        m, weights = self.size(problem), weighted(problem).padded / UNITS
        answers = noisy_answers(sampler, state.histogram, problem, epsilon=self.epsilon, trials=trials)
        points = nearest_points(answers, weights, points=m)
        shares = np.full(points.shape, 1 / m)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=shares)

    @override
    def possible(self, release: Release) -> bool:
        """So many points in order, of one share of n."""
        assert isinstance(release, PointsRelease)
        m = self.size(release.problem)
        return release.is_database(points=m, share=1 / m)


ENTRIES = (
    Entry(
        key="answers-net",
        mechanism=PointsOfAnswers,
        title="Small database from noisy answers",
        story="Answers every weighted sum with noise, then places points that come near all answers, as many as the "
        "theorem on small databases asks for. It works on many cells, where databases of this size cannot be listed.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(LinearQueries,),
        references=("Roth (2010), Corollary 1", "Dwork, McSherry, Nissim and Smith (2006)"),
        tiny={"alpha": 0.5},
    ),
)
