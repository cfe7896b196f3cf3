"""Projected answers: noise in every answer, then the nearest answers that some data could have.

True answers are averages of the rows' own answers, so they lie in the convex hull of the answers of single rows. Noise
in very many answers leads far out of it; the nearest point of the hull is closer to the truth, whatever the truth. It
is the answer of a distribution on the rows there may be, which is the synthetic data.

Why it is private: a neighbour moves the counts of K queries by at most 1 each, so their vector by a squared length of
at most S: the largest squared distance between the answers of two rows, or of a row from 0 where rows come and go.
Where weights are not all 0 or 1, sums are rounded to whole rows, and S is K. Gaussian noise is calibrated on a proved
delta for that length (``dpcore/privacy/gaussian_vectors.py``). The projection is post-processing.

Accuracy: let y be the true answers, w the noise, z the projection, all in rows. z is nearest to y + w in the hull, so
⟨z - y - w, z - v⟩ ≤ 0 for every v of it; with v = y, |z - y|² ≤ ⟨w, z - y⟩, at most the largest ⟨w, v - y⟩ over single
rows v. Each of these has a sub-Gaussian law of deviation at most σ n √S', S' the largest squared distance of two rows'
weights. So |z - y|² ≤ σ n √(2 S' ln(|X|/β)) except with chance β, and no answer errs by more than the root. Rounding of
weighted sums adds √K/2 rows to it. The paper bounds the mean square, over many answers far smaller.

Notation (paper): epsilon = ε, delta = δ; queries K = |Q|, cells = |X|, rows = n.

References:
    Nikolov, Talwar and Zhang (2013), The Geometry of Differential Privacy: the Sparse and Approximate Cases.
    Lawson and Hanson (1974) for least squares without negative weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DataRelease,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    Neighbours,
    Problem,
    check_memory,
    delta_param,
    epsilon_param,
    rounded_up,
)
from dpcore.mechanisms.marginals.noise import LevelNoise, gaussian_levels
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.randomness import GaussianCounts, Sampler


def _are_counts(queries: LinearQueries) -> bool:
    """Return whether all weights are 0 or 1, so that sums are whole."""
    return bool(np.isin(queries.units, (0, UNITS)).all())


def farthest(queries: LinearQueries, neighbours: Neighbours) -> float:
    """Return the largest squared distance of two cells' weights, or of one from 0 where rows come and go."""
    weights = queries.padded / UNITS
    lengths = np.square(weights).sum(axis=0)
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        return float(lengths.max())
    check_memory(weights.shape[1] ** 2, what="Distances of all pairs of cells", smaller="take fewer cells", each=24)
    return float((lengths[:, None] + lengths - 2 * weights.T @ weights).max())


def nearest_mixture(answers: Floats, weights: Floats) -> Floats:
    """Return distributions on cells (T, size) whose answers are nearest to the given ones (T, K).

    With u >= 0 that minimises |V u|² + (1 - sum u)², V the weights less the answers, u/sum u is the one: for every
    distribution p the best u along it leaves |V p|²/(1 + |V p|²).

    Args:
        answers: shares of n.
        weights: weight of each cell in each query, (K, size).
    """
    from scipy.optimize import nnls

    one = np.eye(1, len(weights) + 1, len(weights))[0]
    scale = np.maximum(1.0, np.abs(answers).max(axis=1))  # answers far outside would hide the 1
    solutions = np.empty((len(answers), weights.shape[1]))
    for trial, each in enumerate(answers):
        stacked = np.vstack([(weights - each[:, None]) / scale[trial], np.ones(weights.shape[1])])
        solutions[trial] = nnls(stacked, one, maxiter=30 * weights.shape[1])[0]
    mixture: Floats = solutions / solutions.sum(axis=1, keepdims=True)
    return mixture


@dataclass(frozen=True, kw_only=True, eq=False)
class ProjectedRelease(DataRelease):
    """Noisy counts of all queries, (T, K); the nearest distribution follows from them."""

    published = ("counts",)
    counts: Integers

    @cached_property
    def _rows(self) -> Floats:
        queries = self.problem.queries
        assert isinstance(queries, LinearQueries)
        return self.problem.n * nearest_mixture(self.counts / self.problem.n, queries.padded / UNITS)

    @override
    def histogram(self) -> Floats:
        """Rows per cell, (T, size), of sum n."""
        return self._rows


@dataclass(frozen=True, kw_only=True)
class ProjectedAnswers(GaussianMechanism):
    """Gaussian noise in the count of every query, and the nearest counts that data can have."""

    epsilon: float = epsilon_param()
    delta: float = delta_param()

    def shift(self, problem: Problem) -> tuple[int, ...]:
        """Return by how much a neighbour moves the counts, at most: 1 for each of S of them; of one if S is 0."""
        queries = problem.queries
        assert isinstance(queries, LinearQueries)
        if not _are_counts(queries):
            return (1,) * queries.count
        return (1,) * max(1, math.ceil(farthest(queries, problem.neighbours) - 1e-6))

    def noise(self, problem: Problem) -> LevelNoise:
        """Return the noise of each count."""
        (noise,) = gaussian_levels(
            levels=[1],
            moves=[len(self.shift(problem))],
            counts=[problem.queries.count],
            weights=np.ones(1),
            epsilon=self.epsilon,
            delta=self.delta,
        )
        return noise

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw for all counts."""
        return ((self.noise(problem).scale, problem.queries.count, len(self.shift(problem))),)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The root of the squared length that the noise can move the projection by."""
        queries, n = problem.queries, problem.n
        assert isinstance(queries, LinearQueries)
        rounding = 0.0 if _are_counts(queries) else math.sqrt(queries.count) / (2 * n)  # all sums together
        moved = (
            self.noise(problem).scale
            / n
            * math.sqrt(2 * farthest(queries, Neighbours.REPLACE_ONE) * math.log(problem.domain.size / beta))
        )
        value = math.sqrt(moved) + rounding
        return Bound(
            value=value,
            kind=BoundKind.GUARANTEE,
            statement=f"With confidence {1 - beta:g}, no answer has an error above {rounded_up(value)} of n. Even the "
            f"root of the sum of squared errors of all {queries.count:,} answers is no larger.",
            formula=r"\alpha\le\sqrt{\frac\sigma n\sqrt{2S\ln\tfrac{|X|}\beta}}",
            reference="Nikolov, Talwar and Zhang (2013), for the sum of squares, with these constants",
            beta=beta,
            assumptions=problem.unchecked_n,
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: about as many least squares as there are queries."""
        return 0.0, 2e-7 * problem.queries.count * problem.domain.size

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ProjectedRelease:
        problem = state.problem
        noise, queries = self.noise(problem), problem.queries
        assert isinstance(queries, LinearQueries)
        truth = queries.whole_rows(state.histogram, np.arange(queries.count))
        draw = GaussianCounts(truth[None, :], sigma=noise.scale, squared_shift=noise.moved)
        return self.release(ProjectedRelease, state, sampler, trials, counts=sampler.draw(draw, trials))


ENTRIES = (
    Entry(
        key="answer-projection",
        mechanism=ProjectedAnswers,
        title="Projected answers",
        story="Adds noise to every answer and takes the nearest answers that some data could have. Good where answers "
        "are many and rows few.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(LinearQueries,),
        references=("Nikolov, Talwar and Zhang (2013)",),
    ),
)
