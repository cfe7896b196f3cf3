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
both where there are two numbers; C counters of a group of N rows, G groups, J what no noise exceeds.

Error: let A and B be counters, and a and b their noise, k = 1. Then (B + b)/(M N + a + b) differs from p = B/(M N) by
((1 - p) b - p a)/(M N + a + b), at most J/(M N - 2J). For any degree, the factors of the C noises less p sum to C/2 at
most, in absolute value, and a mean errs by at most (C/2) J/(M^k N - C J). A mean of cells' middles is off by half a
cell at most besides.

References:
    Dwork, McSherry, Nissim and Smith (2006), Laplace mechanism; Fitzsimons et al. (2024) and Kulesza, Suresh and Wang
    (2024), two-ended counters; Canonne, Kamath and Steinke (2020), discrete Gaussian noise.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    ErrorUnit,
    Guarantee,
    Integers,
    Mechanism,
    ParameterError,
    Problem,
    PureMechanism,
    check_memory,
    delta_param,
    epsilon_param,
    rounded_up,
)
from dpcore.data.columns import is_number
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState, statistics_of
from dpcore.mechanisms.grouped.statistics import factors
from dpcore.mechanisms.grouped.weights import (
    check_whole_weights,
    counters_of_rows,
    counters_per_group,
    row_weight,
)
from dpcore.privacy.gaussian_vectors import calibrate
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.groups import GroupStatistics
from dpcore.randomness import GaussianCounts, NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile, laplace_variance
from dpcore.randomness.sampler import MAX_SCALE


class GroupMechanism(Mechanism):
    """Noisy counters of every group; a subclass says which noise."""

    releases: ClassVar[str] = "groups"

    @abstractmethod
    def scale(self, problem: Problem) -> float:
        """Return the parameter of the noise, in units of the counters."""

    @abstractmethod
    def largest_noise(self, problem: Problem, beta: float) -> int:
        """Return J: no counter's noise is larger in absolute value, except with chance beta."""

    @abstractmethod
    def noise_deviation(self, problem: Problem) -> float:
        """Return the standard deviation of the noise."""

    @abstractmethod
    def noisy(self, counters: Integers, problem: Problem, sampler: Sampler, trials: int) -> Integers:
        """Return the counters (1, numbers) with noise, (T, numbers), from one draw."""

    def shift(self, problem: Problem) -> tuple[int, ...]:
        """Return the weights of the rows in which neighbours differ: one for each changed group."""
        return (row_weight(statistics_of(problem)),) * len(problem.neighbours.histogram_shift)

    def check_numbers(self, problem: Problem) -> None:
        """Raise ParameterError where counters and noise do not fit whole numbers, by public numbers alone."""
        queries = statistics_of(problem)
        check_whole_weights(queries, n=problem.n, shift=len(self.shift(problem)))
        if self.scale(problem) > MAX_SCALE:
            raise ParameterError("Noise of this scale does not fit: take fewer cells or a larger epsilon.")

    @override
    def check_size(self, problem: Problem) -> None:
        """A line for each group."""
        self.check_numbers(problem)
        queries = statistics_of(problem)
        fields = queries.count * (len(queries.shape) + 4 * counters_per_group(queries))
        check_memory(fields, what=f"The {queries.count:,} lines", smaller="take fewer groups", each=24)

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> GroupState:
        self.check_numbers(problem)
        return GroupState(problem=problem, counters=counters_of_rows(dataset.records, statistics_of(problem)))

    @override
    def run(self, state: GroupState, sampler: Sampler, trials: int = 1) -> GroupRelease:
        self.check_numbers(state.problem)
        drawn = self.noisy(state.counters.reshape(1, -1), state.problem, sampler, trials)
        counters = drawn.reshape(len(drawn), *state.counters.shape)
        return self.release(GroupRelease, state, sampler, trials, counters=counters)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """How far the mean of a group is off, of all groups at once, as a fraction of the declared range."""
        self.check_numbers(problem)
        queries = statistics_of(problem)
        each, weight = counters_per_group(queries), row_weight(queries)
        rounding = max(
            1 / (2 * column.ordered) if is_number(column) else 0.0
            for column in (queries.domain.columns[place] for place in queries.numbers)
        )
        if not queries.min_rows:
            return self._expected(problem, beta, rounding)
        noise = self.largest_noise(problem, beta)
        left = weight * queries.min_rows - each * noise
        value = each / 2 * noise / left + rounding if left > 0 else math.inf
        rows = f"{queries.min_rows:,} rows with a number or more"
        return Bound(
            value=value,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.GUARANTEE,
            statement=f"With chance at least {1 - beta:g}, the mean of every group of {rows} errs by at most "
            f"{rounded_up(value)} of the distance of the bounds."
            if value < 1
            else f"Of groups of {rows}, no error is guaranteed: noise may hide their number.",
            formula=r"|\hat\mu_g-\mu_g|\le(U-L)\Bigl(\frac{CJ/2}{M^kN_g-CJ}+\frac1{2s}\Bigr),"
            r"\quad\Pr[|Z|>J]\le\frac\beta{CG}",
            reference=self.reference,
            beta=beta,
            assumptions=(
                Assumption(text=f"every group has {rows}, as was declared; nothing here can check it", met=False),
            ),
            note="Of the mean after cutting off at the bounds; a fraction of the range.",
        )

    reference: ClassVar[str]
    """Source of the tail of the noise."""

    def _expected(self, problem: Problem, beta: float, rounding: float) -> Bound:
        """Return the expected error where all groups have equally many rows: the root of the mean square."""
        queries = statistics_of(problem)
        others = counters_per_group(queries) // (queries.degree + 1)
        # The factors of the noises less the mean's share; the largest where that is 0 or 1.
        length = math.sqrt(others * float((factors(queries.degree, 1) ** 2).sum()))
        noise = self.noise_deviation(problem) / row_weight(queries)
        value = length * noise * queries.count / problem.n + rounding
        return Bound(
            value=value,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.ORDER_ONLY,
            statement=f"Expected error of a mean: about {rounded_up(value)} of the distance of the bounds, where all "
            f"{queries.count:,} groups have equally many of {problem.n:,} rows. For a guarantee, declare how many rows "
            "the smallest group has.",
            reference=self.reference,
            beta=beta,
        )


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

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=problem.neighbours)

    def squared_shift(self, problem: Problem) -> int:
        """Return the squared L2 distance by which a neighbour moves all counters together, at most."""
        return sum(weight**2 for weight in self.shift(problem))

    @override
    def scale(self, problem: Problem) -> float:
        """Sigma of the discrete Gaussian."""
        queries = statistics_of(problem)
        numbers = queries.count * counters_per_group(queries)
        return _sigma(
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


@lru_cache(maxsize=256)
def _sigma(*, epsilon: float, delta: float, numbers: int, squared_shift: int) -> float:
    """Return the smallest sigma found for numbers that neighbours move by at most this squared length; kept."""
    [sigma] = calibrate(
        np.ones(1),
        epsilon=epsilon,
        delta=delta,
        counts=np.array([float(numbers)]),
        squared_shifts=np.array([[float(squared_shift)]]),
    )
    return float(sigma)


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
