"""The base of group counters: what they prepare, release and guarantee, whichever noise is added.

Notation: J is what no noise exceeds, in units of the counters; everything else as in ``counters.py``.

Error: let A and B be counters, and a and b their noise, k = 1. Then (B + b)/(M N + a + b) differs from p = B/(M N) by
((1 - p) b - p a)/(M N + a + b), at most J/(M N - 2J). For any degree, the factors of the C noises less p sum to C/2 at
most, in absolute value, and a mean errs by at most (C/2) J/(M^k N - C J). A mean of cells' middles is off by half a
cell at most besides.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Dataset,
    ErrorUnit,
    Floats,
    Integers,
    Mechanism,
    ParameterError,
    Problem,
    check_memory,
    rounded_up,
)
from dpcore.core.sizes import MAX_SCALE
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState, statistics_of
from dpcore.mechanisms.grouped.statistics import factors
from dpcore.mechanisms.grouped.weights import check_whole_weights, counters_of_rows, counters_per_group, row_weight
from dpcore.randomness import Sampler


class GroupMechanism(Mechanism):
    """Noisy counters of every group; a subclass says which noise."""

    releases: ClassVar[str] = "groups"
    reference: ClassVar[str]
    """Source of the tail of the noise."""

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
    def noisy(self, counters: Integers, problem: Problem, sampler: Sampler, trials: int) -> Integers | Floats:
        """Return the counters (1, numbers) with noise, (T, numbers)."""

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
        records, times = dataset.counted()
        return GroupState(problem=problem, counters=counters_of_rows(records, statistics_of(problem), times))

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
        rounding = max(scale.rounding for scale in queries.scales)
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
            statement=f"With confidence {1 - beta:g}, the mean of every group of {rows} has an error of at most "
            f"{rounded_up(value)} of the range."
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
            has_proved_intervals=True,
        )

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
            statement=f"Expected error of a mean: about {rounded_up(value)} of the range, if all {queries.count:,} "
            f"groups have equally many of {problem.n:,} rows. For a guarantee, declare the number of rows of the "
            "smallest group.",
            reference=self.reference,
            beta=beta,
            has_proved_intervals=True,
        )
