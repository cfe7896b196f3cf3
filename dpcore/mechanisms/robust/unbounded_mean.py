"""Mean without bounds: noise as wide as two people of *this* population differ; random differential privacy.

A mean of numbers without bounds has no sensitivity, so the usual way is to cut large numbers off first. This mechanism
looks at the data instead: it pairs the rows, takes a high quantile d of the differences within pairs, and adds Laplace
noise of scale 2d/epsilon to the sum of all rows (the noise itself costs epsilon/2).

Why it is private, as far as that is proved (rows are independent draws from one population; one of them is replaced):
- explicit: except with chance gamma over the data, the two rows that differ are no further apart than d, whichever of
  the two data sets d is taken from. Proof: leave out the pair with the differing row; both data sets share the other
  pairs. If the differing rows are further apart than d, at most e shared pairs are as far apart as they, e being the
  pairs that may exceed d. The differing rows and the shared pairs are n/2 independent differences of one law, and at
  most e + 1 of any n/2 numbers have at most e others as large: the chance is at most (e + 1)/(n/2);
- only asymptotic: that d is nearly the same for both data sets (gamma_1) and what its change costs (eta). No finite
  number is known for them, so nothing of this mechanism may ever be released.

Rows without a number would be left out, and how many they are is private: it is for columns without empty cells.

Notation: epsilon = ε (2α in the paper), gamma = γ₂, d = d_δ(X), pairs (x_i, x_{i + n/2}) in row order, e = δn/2.

References:
    Hall, Rinaldo and Wasserman (2013), section 6 (whose bound on gamma_2 this rank argument replaces);
    Nissim, Raskhodnikova and Smith (2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    Neighbours,
    ParameterError,
    Problem,
    State,
    ValueRelease,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import NoisyCounts, Sampler

WHY_NOT = (
    "Only the probability that two people differ by more than the noise covers has a numerical bound. What "
    "the change of the noise scale reveals is proved to vanish for large n, without a number. So this "
    "mechanism has previews only."
)


EMPTY_CELLS = (
    "The mean without bounds divides by n. Here cells may be empty, so the number of rows with a value is "
    "private. Use a column in which every row has a number."
)


def exception_chance(*, n: int, exceptions: int) -> float:
    """Explicit part of gamma: bound on the chance that the differing rows are further apart than either data set's d.

    Args:
        n: rows.
        exceptions: pairs, of n//2, that may be further apart than d.
    """
    return min(1.0, (exceptions + 1) / max(1, n // 2))


def max_exceptions(*, n: int, gamma: float) -> int:
    """Return the most pairs that may be further apart than d for this gamma.

    Raises:
        ParameterError: not even none may, for so few rows.
    """
    limit = math.floor(gamma * (n // 2) * (1 + 1e-12)) - 1  # a hair more, so that 0.1 of 30 pairs is 3
    if limit < 0:
        raise ParameterError(f"{n:,} rows are too few for γ = {gamma:g}: at least {math.ceil(2 / gamma)} are needed.")
    return limit


def scale_change(differences: Integers, *, exceptions: int) -> float:
    """Return β: replacing one row of these data changes d by a factor of at most e^β.

    One pair changes, so d moves to the next difference at most. Infinite where there is none beyond, as the changed
    pair may be as far apart as it likes. Of these data alone; the theorem wants it of all, or of all but a share.

    Args:
        differences: within pairs, sorted, (n//2,).
        exceptions: pairs that may be further apart than d.
    """
    place = len(differences) - 1 - exceptions
    if exceptions == 0 or place == 0:
        return math.inf
    below, d, above = (max(1, int(each)) for each in differences[place - 1 : place + 2])
    return max(math.log(above / d), math.log(d / below))


def slack(*, epsilon: float, change: float) -> float:
    """Return η = e^(-α/2β) of equation (9), α = epsilon/2: 0 where d does not change, 1 where nothing bounds β."""
    return math.exp(-epsilon / (4 * change)) if change else 0.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairsState(State):
    """The sum of all rows' cells and the sorted differences within pairs, shape (n//2,)."""

    total: int
    differences: Integers


@dataclass(frozen=True, kw_only=True)
class UnboundedMean(Mechanism):
    """The mean's cell, with noise scaled by a quantile of differences between rows."""

    releases: ClassVar[str] = "value"

    epsilon: float = epsilon_param()
    gamma: float = param(
        0.1,
        0.001,
        0.5,
        label="Failing share",
        symbol="γ₂",
        log=True,
        stops=(0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        help="Only the explicit part: the probability that two people differ by more than the noise covers.",
    )

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, eta, gamma_1 + gamma)-random DP, eta and gamma_1 only asymptotic: never releasable.

        Raises:
            ParameterError: under ADD_REMOVE_ONE, or with too few rows for gamma.
        """
        if problem.neighbours is not Neighbours.REPLACE_ONE:
            raise ParameterError(
                "The mean without bounds is available only for replacing one of n rows, with n public."
            )
        max_exceptions(n=problem.n, gamma=self.gamma)
        return Guarantee(
            epsilon=self.epsilon, gamma=self.gamma, neighbours=problem.neighbours, releasable=False, why_not=WHY_NOT
        )

    @override
    def unsuitable(self, problem: Problem) -> str:
        """Return why the sum must not be divided by n; empty where every row has a number."""
        return EMPTY_CELLS if problem.domain.missing else ""

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Nothing in advance: the noise depends on how far rows of the data differ."""
        # Pr[|Z| >= j] <= e^(-(j - 1)/b) for discrete Laplace noise of scale b = 2d/epsilon, d at least 1.
        rows = 1 - 2 * math.log(beta) / self.epsilon
        return Bound(
            value=math.inf,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.ORDER_ONLY,
            statement=f"With confidence {1 - beta:g}, the mean changes by at most {rounded_up(rows / problem.n)} of "
            "the difference d between rows, plus rounding to a cell.",
            formula=r"|\hat\mu-\mu|\le\frac dn\Bigl(1+\frac2\varepsilon\ln\frac1\beta\Bigr)",
            reference="Laplace tail; Hall, Rinaldo and Wasserman (2013), section 6",
            beta=beta,
            assumptions=(Assumption(text="rows are independent samples from one population", met=False),),
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> PairsState:
        """Return sum and differences, in cells.

        Raises:
            ParameterError: a cell may be empty.
        """
        if problem.domain.missing:
            raise ParameterError(EMPTY_CELLS)
        cells, half = dataset.records, dataset.n // 2
        differences = np.sort(np.abs(cells[:half] - cells[half : 2 * half]))
        return PairsState(problem=problem, total=int(cells.sum()), differences=differences)

    @override
    def run(self, state: PairsState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        """One noisy sum, its mean rounded to the nearest cell."""
        problem, n = state.problem, state.problem.n
        self.guarantee(problem)  # refuses before anything is drawn
        exceptions = max_exceptions(n=n, gamma=self.gamma)
        # At least one cell: a wider scale only helps, and noise needs one.
        difference = max(1, int(state.differences[-1 - exceptions]))
        draw = NoisyCounts(np.array([[state.total]]), epsilon=self.epsilon / 2, sensitivity=difference)
        noisy = sampler.draw(draw, trials)
        values = np.clip((2 * noisy[:, 0] + n) // (2 * n), 0, problem.domain.ordered - 1)
        return self.release(ValueRelease, state, sampler, trials, values=values)


ENTRIES = (
    Entry(
        key="unbounded_mean",
        mechanism=UnboundedMean,
        title="Mean without bounds (preview only)",
        story="Noise scaled to the differences between people here, not to the distance of the bounds. Never for "
        "release.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=("Hall, Rinaldo and Wasserman (2013), section 6",),
        # On two cells d is always 1, so that nothing asymptotic is left and the law can be judged exactly.
        tiny={"gamma": 0.5},
        tiny_size=2,
        tiny_rows=6,
    ),
)
