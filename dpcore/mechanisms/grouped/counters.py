"""Group counters: means of a number in every group, and further statistics of one number or two, from one draw.

Every row adds a weight to the few counters of its group, and all counters of all groups are released together. Their
sum says how many rows a group has, their ratios where its mean is, and its variance. A group without rows gets noise
like all others: groups are declared.

Why it is private: a row's weights are whole numbers of at least 0 that sum to M^k and lie in one group. A row without a
number adds nothing. One row more or less moves all counters together by at most M^k, in L1 and in L2. A replaced row
moves them by at most 2 M^k in L1, and in L2 by at most the square root of 2 times M^k, as two vectors without negative
numbers have no obtuse angle. Discrete Laplace noise of scale M^k/epsilon, or 2 M^k/epsilon, is the Laplace mechanism.
Everything else is post-processing. A person with c rows at most is c rows.

Notation: epsilon = ε, delta = δ; k the degree; s cells from L to U, M = 2s (1 for two labels); M^k is the product of
both where there are two numbers; C counters of a group of N rows, G groups.

References:
    Dwork, McSherry, Nissim and Smith (2006), Laplace mechanism; Fitzsimons et al. (2024) and Kulesza, Suresh and Wang
    (2024), two-ended counters; Canonne, Kamath and Steinke (2020), discrete Gaussian noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from dpcore.core import (
    DomainType,
    Entry,
    Integers,
    Problem,
    PureMechanism,
    delta_param,
    epsilon_param,
)
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.release import statistics_of
from dpcore.mechanisms.grouped.weights import counters_per_group
from dpcore.privacy.gaussian_vectors import sigma_of_draw
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.groups import GroupStatistics
from dpcore.randomness import GaussianCounts, NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile, laplace_variance


@dataclass(frozen=True, kw_only=True)
class GroupCounters(GroupMechanism, PureMechanism):
    """Counters of every group with discrete Laplace noise."""

    reference: ClassVar[str] = "Laplace tail; Fitzsimons et al. (2024)"

    epsilon: float = epsilon_param()

    def sensitivity(self, problem: Problem) -> int:
        """Return the L1 distance by which a neighbour moves all counters together."""
        return sum(self.shift(problem))

    @override
    def scale(self, problem: Problem) -> float:
        return self.sensitivity(problem) / self.epsilon

    @override
    def largest_noise(self, problem: Problem, beta: float) -> int:
        queries = statistics_of(problem)
        numbers = queries.count * counters_per_group(queries)
        return laplace_quantile(beta / numbers, scale=self.scale(problem)) - 1

    @override
    def noise_deviation(self, problem: Problem) -> float:
        return math.sqrt(laplace_variance(self.scale(problem)))

    @override
    def noisy(self, counters: Integers, problem: Problem, sampler: Sampler, trials: int) -> Integers:
        return sampler.draw(NoisyCounts(counters, epsilon=self.epsilon, sensitivity=self.sensitivity(problem)), trials)


@dataclass(frozen=True, kw_only=True)
class GaussianGroupCounters(GroupMechanism, GaussianMechanism):
    """Counters of every group with discrete Gaussian noise."""

    reference: ClassVar[str] = "sub-Gaussian tail; Canonne, Kamath and Steinke (2020)"

    epsilon: float = epsilon_param()
    delta: float = delta_param()

    def squared_shift(self, problem: Problem) -> int:
        """Return the squared L2 distance by which a neighbour moves all counters together, at most."""
        return sum(weight**2 for weight in self.shift(problem))

    @override
    def scale(self, problem: Problem) -> float:
        """Sigma of the discrete Gaussian."""
        queries = statistics_of(problem)
        numbers = queries.count * counters_per_group(queries)
        return sigma_of_draw(
            epsilon=self.epsilon, delta=self.delta, numbers=numbers, squared_shift=self.squared_shift(problem)
        )

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw of all counters."""
        queries = statistics_of(problem)
        return ((self.scale(problem), queries.count * counters_per_group(queries), self.squared_shift(problem)),)

    @override
    def largest_noise(self, problem: Problem, beta: float) -> int:
        queries = statistics_of(problem)
        numbers = queries.count * counters_per_group(queries)
        return math.floor(self.scale(problem) * math.sqrt(2 * math.log(2 * numbers / beta)))

    @override
    def noise_deviation(self, problem: Problem) -> float:
        """Sigma, which the deviation of the discrete Gaussian never exceeds."""
        return self.scale(problem)

    @override
    def noisy(self, counters: Integers, problem: Problem, sampler: Sampler, trials: int) -> Integers:
        draw = GaussianCounts(counters, sigma=self.scale(problem), squared_shift=self.squared_shift(problem))
        return sampler.draw(draw, trials)


REFERENCES = (
    "Dwork, McSherry, Nissim and Smith (2006)",
    "Fitzsimons et al. (2024)",
    "Kulesza, Suresh and Wang (2024)",
)
ENTRIES = (
    Entry(
        key="group-counters",
        mechanism=GroupCounters,
        title="Statistics by group",
        story="Mean, sum and number of rows in every group, and more, from one draw of a few counters for each group.",
        domains=(DomainType.TABLE,),
        queries=(GroupStatistics,),
        references=REFERENCES,
    ),
    Entry(
        key="group-counters-gaussian",
        mechanism=GaussianGroupCounters,
        title="Statistics by group, Gaussian",
        story="Statistics of every group from counters with Gaussian noise: for many statistics of the same rows.",
        domains=(DomainType.TABLE,),
        queries=(GroupStatistics,),
        references=(*REFERENCES, "Canonne, Kamath and Steinke (2020)"),
        tiny={"delta": 0.01},
    ),
)
