"""Subset-sum answers: noisy counts of many groups, from which the rows of every single point follow.

Nothing is said about any point alone. Of D points, D a power of two, there are D - 1 groups, each of half the points:
point x is in group g if the binary numbers x and g share an odd number of ones. So any two points are told apart by
half of the groups, and the D - 1 counts, with n, determine every point's rows: they are sums of its rows and all
others', with signs that cancel. A fast Walsh-Hadamard transform finds them, as least squares would; all answers are
then those of one data set, and to look for the heaviest half is a sort.

Why it is private: a row that is replaced changes the D/2 counts of the groups that hold just one of its two points, and
a row more or less those of the D/2 groups that hold it. Noise of scale D/(2ε) in each count hides that. It comes back
as noise of about √(2D)/ε rows at each point, √(D)/2 times what noise on the points themselves would be: group counts
are no cheaper to protect because they are groups.

Notation: D = points, rounded up to a power of two; epsilon = ε.

References:
    Dinur and Nissim (2003) for sums over subsets; Dwork, McSherry, Nissim and Smith (2006), Proposition 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    Problem,
    PureMechanism,
    epsilon_param,
)
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Sampler


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupCounts(DataRelease):
    """Released counts of groups 1 to D - 1, shape (T, D - 1)."""

    published = ("counts",)
    counts: Integers

    @override
    def histogram(self) -> Floats:
        """The rows at each point that all counts together mean, shape (T, size)."""
        signed = np.empty((self.trials, self.counts.shape[1] + 1))
        signed[:, 0] = self.problem.n
        signed[:, 1:] = self.problem.n - 2 * self.counts
        rows: Floats = transform(signed)[:, : self.problem.domain.size] / signed.shape[1]
        return rows


def transform(values: Floats) -> Floats:
    """Sums of each row of values (T, D) with the signs (-1)^(ones that x and g share), for every g: (T, D)."""
    sums, size = np.array(values, dtype=np.float64), values.shape[1]
    half = 1
    while half < size:
        pairs = sums.reshape(len(values), size // (2 * half), 2, half)
        sums = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(sums.shape)
        half *= 2
    return sums


@dataclass(frozen=True, kw_only=True)
class SubsetSums(PureMechanism):
    """Every group's count plus discrete Laplace noise."""

    epsilon: float = epsilon_param()

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """No constant is proved: it is here to be attacked."""
        return Bound(
            value=math.inf,
            kind=BoundKind.ORDER_ONLY,
            statement=f"Noise of about {math.sqrt(2 * groups(problem)) / self.epsilon:.3g} rows at every point.",
            reference="the variance of the transform",
            beta=beta,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> GroupCounts:
        size = groups(state.problem)
        padded = np.zeros((1, size))
        padded[0, : len(state.histogram)] = state.histogram
        counts = np.round((padded.sum() - transform(padded)[:, 1:]) / 2).astype(np.int64)
        noisy = sampler.draw(NoisyCounts(counts, epsilon=self.epsilon, sensitivity=size // 2), trials)
        return self.release(GroupCounts, state, sampler, trials, counts=noisy)


def groups(problem: Problem) -> int:
    """Return D, the problem's cells, rounded up to a power of two."""
    return 1 << max(1, (problem.domain.size - 1).bit_length())


SUBSET_SUMS = Entry(
    key="subset-sums",
    mechanism=SubsetSums,
    title="Subset sums: counts of random groups",
    story="Publish no count of a single point, only noisy counts of many groups of about half the points.",
    domains=(DomainType.NUMBER, DomainType.LABELS),
    queries=(Thresholds, Intervals, Cells),
    references=("Dinur and Nissim (2003)",),
)
"""In no catalogue: worse than noise on the points themselves, and here to be attacked."""
