"""Subsample and aggregate: ask many small subsamples, and answer if they agree.

A question whose answer survives on a small random part of the data cannot depend on any one person. So draw k
subsamples of m rows with replacement, answer the question on each, add noise to the number of votes of the commonest
answer, and release that answer if the noisy number reaches a threshold; else give no answer. The question may be
anything with few answers, however sensitive.

Why it is private: one row is in few subsamples, so it moves few votes, and noise hides that. Where one row changes the
commonest answer, the votes are nearly split, and the threshold is so high that both data sets get no answer, except
with a small chance. Both exceptions (the row in unusually many subsamples; noise that lifts split votes over the
threshold) are added up exactly over the binomial number of subsamples that the row is in; their sum is delta.

Two accounts of the same mechanism:
- calibrated (ours): noise and threshold are the best for the epsilon, delta, k and m that you choose;
- paper: k = ε(n/m)³, noise of scale 2km/(εn), threshold 5k/8, whatever delta follows.

Notation: epsilon = ε, delta = δ; rows = m, subsamples = k; cap = c, noise has scale c/ε; threshold = τ. The agreement
is the chance that a subsample answers as the whole data do; the notes call data stable when it is at least 3/4.

References:
    Nissim, Raskhodnikova and Smith (2007); Notes on stability-based mechanisms, section 2, Theorems 3 and 4.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Dataset,
    Domain,
    DomainType,
    Entry,
    ErrorUnit,
    Guarantee,
    Integers,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Release,
    State,
    ValueRelease,
    delta_param,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.core.sizes import MAX_ROWS_DRAWN
from dpcore.data.columns import is_number
from dpcore.mechanisms.subsamples.subsampling import SubsamplingPlan, agreement_needed, calibrated_plan, paper_plan
from dpcore.mechanisms.subsamples.votes import CachedVote, Commonest, Middle, Vote
from dpcore.queries.ranges import Cells, Thresholds
from dpcore.randomness import NoisyComparisons, Sampler, SubsampleVotes


def check_replaced(problem: Problem) -> None:
    """Raise ParameterError under ADD_REMOVE_ONE."""
    if problem.neighbours is not Neighbours.REPLACE_ONE:
        raise ParameterError(
            "Subsample and aggregate is available only for replacing one of n rows. How often a row is "
            "sampled depends on n, so n must be public."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """Statistic that is computed on each subsample of data on a domain.

    Attributes:
        vote: the question, about counted cells.
        groups: counted cell of each cell of the domain, (size,); one past the last is ignored.
        counted: how many cells are counted.
        values: the cell that stands for each answer in a release, (answers,).
        names: each answer in words.
    """

    vote: Vote
    groups: Integers
    counted: int
    values: Integers
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VotesState(State):
    """Rows in each counted cell, the ignored ones last, and the question with the laws that were worked out."""

    question: Question
    counts: Integers
    vote: CachedVote


@dataclass(frozen=True, kw_only=True)
class SubsampleAggregate(Mechanism):
    """The answer most subsamples give, if enough of them do."""

    releases: ClassVar[str] = "value"
    may_refuse: ClassVar[bool] = True

    epsilon: float = epsilon_param()
    delta: float = delta_param()
    rows: int = param(
        25, 1, 100_000, label="Rows of a subsample", symbol="m", log=True, stops=(5, 10, 25, 50, 100, 250, 1000),
        help="With more rows, a subsample is more often right. With fewer rows, more subsamples do not contain "
            "a given person.",
    )  # fmt: skip
    subsamples: int = param(
        4096, 1, 1 << 20, label="Subsamples", symbol="k", log=True, stops=tuple(4**power for power in range(3, 11)),
        help="More subsamples need less agreement, with smaller and smaller gains. The paper's accounting sets "
            "its own number.",
    )  # fmt: skip
    accounting: str = param(
        "calibrated",
        label="Accounting",
        choices=("calibrated", "paper"),
        help="“Calibrated” meets your δ with the smallest agreement. The paper's parameters have a δ of their own.",
    )

    @abstractmethod
    def question(self, domain: Domain) -> Question:
        """Return the statistic for a domain."""

    def plan(self, problem: Problem) -> SubsamplingPlan:
        """Return the public plan: number of subsamples, noise, and the threshold of an answer.

        Raises:
            ParameterError: under ADD_REMOVE_ONE, or when the parameters leave no promise at all.
        """
        check_replaced(problem)
        if self.accounting == "paper":
            return paper_plan(epsilon=self.epsilon, n=problem.n, rows=self.rows)
        return calibrated_plan(
            epsilon=self.epsilon, delta=self.delta, n=problem.n, rows=self.rows, subsamples=self.subsamples
        )

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP when one of n rows is replaced; delta is the plan's, not released above the one asked."""
        delta = self.plan(problem).delta
        # The paper's parameters leave no choice of delta: at some n and m it is far above the one asked for.
        within = delta <= self.delta
        return Guarantee(
            epsilon=self.epsilon,
            delta=delta,
            neighbours=problem.neighbours,
            releasable=within,
            why_not="" if within else "The paper's parameters have a larger δ than the one you set.",
        )

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The data's own answer, for data whose subsamples agree enough."""
        plan = self.plan(problem)
        needed = agreement_needed(plan, epsilon=self.epsilon, beta=beta)
        statement = (
            f"The answer of the whole data is given with probability at least {1 - beta:g} under one "
            f"condition. A subsample must give it with probability at least {rounded_up(needed)} "
            f"({plan.subsamples:,} subsamples, threshold {plan.threshold:,} votes)."
        )
        if not math.isfinite(needed):
            statement = (
                "No data give an answer with that probability. Choose more or smaller subsamples, or a larger ε."
            )
        return Bound(
            value=0.0,
            unit=ErrorUnit.EXACT,
            kind=BoundKind.GUARANTEE,
            statement=statement,
            formula=r"\Pr\bigl[V>\tfrac k2,\;V+Z\ge T\bigr]\ge1-\beta,\quad V\sim\mathrm{Bin}(k,p),\quad "
            r"Z\sim\mathrm{DLap}(c/\varepsilon)",
            reference="Exact binomial votes; compare Notes on stability-based mechanisms, Theorem 3 (agreement 3/4)",
            beta=beta,
            assumptions=(
                Assumption(
                    text="enough agreement between subsamples (a property of the data, not known in advance)", met=False
                ),
            ),
            note="Otherwise it mostly gives no answer. It can also give an answer that differs from that of the "
            "whole data.",
        )

    @override
    def check_size(self, problem: Problem) -> None:
        """Raise ParameterError also where the question makes no sense on the domain: nothing may be charged for it."""
        super().check_size(problem)
        self.question(problem.domain)

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: all subsamples row by row, or the law of one, which mock data need."""
        paper = self.epsilon * (problem.n / self.rows) ** 3
        drawn = (self.subsamples if self.accounting == "calibrated" else paper) * self.rows
        return 0.0, max(1e-7 * min(MAX_ROWS_DRAWN, drawn), self.question(problem.domain).vote.seconds(rows=self.rows))

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> VotesState:
        question = self.question(problem.domain)
        counts = np.zeros(question.counted + 1, dtype=np.int64)
        np.add.at(counts, question.groups, dataset.histogram)
        return VotesState(problem=problem, question=question, counts=counts, vote=CachedVote(vote=question.vote))

    @override
    def run(self, state: VotesState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        """Votes, the commonest answer (lowest on a tie), one noisy comparison."""
        problem = state.problem
        plan = self.plan(problem)
        votes = sampler.draw(SubsampleVotes(state.counts, state.vote, rows=self.rows, times=plan.subsamples), trials)
        largest = votes.max(axis=1)[:, None]
        draw = NoisyComparisons(largest, plan.threshold, epsilon=self.epsilon, sensitivity=plan.cap)
        answers = sampler.draw(draw, trials)
        values = state.question.values[votes.argmax(axis=1)]
        return self.release(ValueRelease, state, sampler, trials, refused=~answers[:, 0], values=values)

    @override
    def possible(self, release: Release) -> bool:
        """The cell of one of the few answers."""
        assert isinstance(release, ValueRelease)
        return bool(np.isin(release.values, self.question(release.problem.domain).values).all())


@dataclass(frozen=True, kw_only=True)
class CommonestCategory(SubsampleAggregate):
    """Which label is most common? Rows without a label are ignored."""

    @override
    def question(self, domain: Domain) -> Question:
        labels = domain.ordered
        return Question(
            vote=Commonest(answers=labels),
            groups=np.arange(domain.size),
            counted=labels,
            values=np.arange(labels),
            names=tuple(domain.describe(cell) for cell in range(labels)),
        )


@dataclass(frozen=True, kw_only=True)
class MedianBucket(SubsampleAggregate):
    """Which of a few equal buckets holds the median? Released as the bucket's middle cell."""

    buckets: int = param(8, 2, 64, label="Buckets", stops=(2, 4, 8, 16, 32, 64), help="Equal parts of the range.")

    @override
    def question(self, domain: Domain) -> Question:
        """Buckets of equal width up to one cell; rows that fit no cell are ignored."""
        assert is_number(domain)
        edges = np.unique(np.arange(self.buckets + 1) * domain.ordered // self.buckets)
        names = tuple(domain.between(start, stop - 1) for start, stop in itertools.pairwise(edges.tolist()))
        return Question(
            vote=Middle(answers=len(names)),
            groups=np.searchsorted(edges, np.arange(domain.size), side="right") - 1,
            counted=len(names),
            values=(edges[:-1] + edges[1:] - 1) // 2,
            names=names,
        )


REFERENCES = ("Notes on stability-based mechanisms, Theorems 3 and 4", "Nissim, Raskhodnikova and Smith (2007)")
TINY: dict[str, Any] = {"epsilon": 1.0, "delta": 0.1, "rows": 1, "subsamples": 6}

ENTRIES = (
    Entry(
        key="subsample_commonest",
        mechanism=CommonestCategory,
        title="Most common category, by subsamples",
        story="Computes the most common category of many small random subsamples, and answers if they agree.",
        domains=(DomainType.LABELS,),
        queries=(Cells,),
        references=REFERENCES,
        tiny=TINY,
    ),
    Entry(
        key="subsample_median",
        mechanism=MedianBucket,
        title="Bucket of the median, by subsamples",
        story="Computes the median's bucket in many small random subsamples, and answers if they agree.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=REFERENCES,
        tiny=TINY,
    ),
)
