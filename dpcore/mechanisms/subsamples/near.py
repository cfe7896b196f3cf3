"""Median of subsamples' medians: answers that nearly agree are enough.

Subsample and aggregate wants subsamples that give the *same* answer. On a fine grid they never do, though all may be
close together. So the answers are put in order, and the exponential mechanism chooses a value near the middle of them
(the median of the votes). It never refuses. Nothing is asked of the data for privacy; for accuracy, most answers must
lie close to that of the whole data: however close they are, so is the released one.

Why it is private: let one row be in j of the k subsamples. Then j votes change, so the votes below or up to a cell
change by at most j, and a cell's score, minus the votes by which it misses the middle, by at most j too. With scores of
sensitivity c, the cap, this costs εj/c: at most ε for j <= c. For more, a loss of ε' = εj/c exceeds ε by at most
(e^ε' - e^ε)/(1 + e^ε'), and the slack of a mixture is at most the average slack: delta is the sum over j > c, with j's
binomial chances. c is the smallest cap that keeps delta.

Why it is close: let a share p of subsamples answer within w cells of the whole data, v of the k votes being further
away. A cell beyond w misses the middle by at least k/2 - v votes, the best cell by none; so one of B cells beyond is
released with chance at most B e^(-ε(k/2 - v)/(2c)), v binomial of mean k(1 - p). This holds for every w.

Notation: epsilon = ε, delta = δ; rows = m, subsamples = k, buckets = B, cap = c; agreement p; distance w.

References:
    Notes on stability-based mechanisms, section 2, whose Definition 2 asks for equal answers and names this as the more
    realistic notion; Nissim, Raskhodnikova and Smith (2007); McSherry and Talwar (2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    Integers,
    Problem,
    ValueRelease,
    param,
    rounded_up,
)
from dpcore.core.bisection import least_whole
from dpcore.mechanisms.subsamples.aggregate import REFERENCES, MedianBucket, VotesState, check_replaced
from dpcore.mechanisms.subsamples.subsampling import SubsamplingPlan, subsamples_with_a_row
from dpcore.mechanisms.subsamples.votes import binomial_law
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Choice, Sampler, SubsampleVotes


def overflow_delta(*, epsilon: float, cap: int, n: int, rows: int, subsamples: int) -> float:
    """Return the δ of a choice whose scores are said to move by ``cap`` votes: of a row that is in more subsamples."""
    first, chances = subsamples_with_a_row(n=n, rows=rows, subsamples=subsamples)
    changed = first + np.arange(len(chances))
    # (e^a - e^b)/(1 + e^a), without large exponentials.
    lost = epsilon * changed / cap
    slack = -np.expm1(np.minimum(epsilon - lost, 0.0)) / (1 + np.exp(-lost))
    return float((chances * slack).sum())


@lru_cache(maxsize=64)
def smallest_cap(*, epsilon: float, delta: float, n: int, rows: int, subsamples: int) -> SubsamplingPlan:
    """Return the plan with the smallest cap that keeps δ; it has no threshold. Cached: public numbers."""
    low, high, reached = 0, subsamples, 0.0  # a row is in no more than all of them
    while high - low > 1:
        cap = (low + high) // 2
        cost = overflow_delta(epsilon=epsilon, cap=cap, n=n, rows=rows, subsamples=subsamples)
        low, high, reached = (low, cap, cost) if cost <= delta else (cap, high, reached)
    return SubsamplingPlan(subsamples=subsamples, cap=high, threshold=0, delta=reached)


def middle_scores(votes: Integers) -> Integers:
    """Return minus twice the votes by which each cell misses the middle: (T, cells) to the same."""
    upto = np.cumsum(votes, axis=1)
    missed: Integers = np.maximum(np.maximum(2 * (upto - votes) - upto[:, -1:], upto[:, -1:] - 2 * upto), 0)
    return -missed


@dataclass(frozen=True, kw_only=True)
class MedianOfMedians(MedianBucket):
    """A bucket near the middle of the subsamples' answers, always."""

    may_refuse: ClassVar[bool] = False

    buckets: int = param(64, 2, 1024, label="Buckets", stops=(8, 16, 64, 256, 1024), help="Equal parts of the range.")

    @override
    def plan(self, problem: Problem) -> SubsamplingPlan:
        check_replaced(problem)
        return smallest_cap(
            epsilon=self.epsilon, delta=self.delta, n=problem.n, rows=self.rows, subsamples=self.subsamples
        )

    def miss_chance(self, plan: SubsamplingPlan, agreement: float) -> float:
        """Return a bound on the chance of an answer further away than such a share of subsamples' answers are."""
        first, chances = binomial_law(draws=plan.subsamples, chance=1 - agreement)
        far = first + np.arange(len(chances))
        logs = math.log(self.buckets) - self.epsilon * (plan.subsamples / 2 - far) / (2 * plan.cap)
        missed: Floats = np.exp(np.minimum(logs, 0.0))
        return float((chances * missed).sum())

    def agreement_needed(self, plan: SubsamplingPlan, beta: float) -> float:
        """Return the smallest share (to 0.0001, rounded up) at which that chance is at most beta; inf if none is."""

        def is_enough(agreement: int) -> bool:
            return self.miss_chance(plan, agreement / 10_000) <= beta

        return least_whole(is_enough, 4999, 10_000) / 10_000 if is_enough(10_000) else math.inf

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """As close as the subsamples' answers are, for every distance."""
        needed = self.agreement_needed(self.plan(problem), beta)
        statement = (
            f"If {rounded_up(100 * needed)}% of subsamples answer within a distance of the whole data's answer, the "
            f"released answer is that close with confidence {1 - beta:g}, for every distance."
        )
        if not math.isfinite(needed):
            statement = "No agreement is enough. Choose more or smaller subsamples, or a larger ε."
        return Bound(
            value=math.inf,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.ORDER_ONLY,
            statement=statement,
            formula=r"\Pr[\text{further}]\le\mathbb{E}\Bigl[\min\bigl(1,\,B\,e^{-\varepsilon(k/2-v)/(2c)}\bigr)\Bigr],"
            r"\quad v\sim\mathrm{Bin}(k,1-p)",
            reference="Compare Notes on stability-based mechanisms, Definition 2 and Theorem 3",
            beta=beta,
            assumptions=(
                Assumption(text="subsamples nearly agree (a property of the data, not known in advance)", met=False),
            ),
            note="Distances are between buckets.",
        )

    @override
    def run(self, state: VotesState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        """Votes, and a choice of a value near their middle."""
        plan = self.plan(state.problem)
        votes = sampler.draw(SubsampleVotes(state.counts, state.vote, rows=self.rows, times=plan.subsamples), trials)
        draw = Choice(middle_scores(votes), epsilon=self.epsilon, sensitivity=2 * plan.cap)
        values = state.question.values[sampler.draw(draw, trials)]
        return self.release(ValueRelease, state, sampler, trials, values=values)


ENTRIES = (
    Entry(
        key="subsample-near",
        mechanism=MedianOfMedians,
        title="Median of the subsamples' medians",
        story="Computes the median in many small random subsamples, and chooses a value near the middle of them. "
        "They need not be equal, only close.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=REFERENCES,
        presets={"accounting": "calibrated"},
        tiny={"epsilon": 1.0, "delta": 0.1, "rows": 1, "subsamples": 5},
    ),
)
