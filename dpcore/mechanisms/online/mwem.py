"""MWEM: measure the query with the worst answer so far, move the weights towards its noisy answer, and repeat.

The release that put multiplicative weights to use: it starts from even weights on all cells. In each round half of the
round's ε chooses the query of the class with the worst error, the other half buys a noisy answer to it, and the cells
of the query are weighted up or down. What is released is the mean of all weights on the way. It pays for a few queries
only, however many there are; but each round knows less of the data than a baseline that looks once at every cell.

Why it is private: the weights follow from what was chosen and answered. A row, whether replaced, added or removed,
moves every query's count by at most 1, so the scores, |true count - believed count| with the second one rounded to
whole rows, by at most 1; and so with the noisy answer. Each costs ε/(2T), both in all T rounds together ε.

Accuracy: let the relative entropy of the data to the weights be R, at first at most ln U. An update with step 4h, h the
noisy difference between answer and belief, lowers R by at least 2(e^2 - z^2), e being the true difference and z the
noise, as shares (Hoeffding's lemma, as for private multiplicative weights). So the mean of e^2 is at most ln U/(2T) +
z^2, and that of e at most its root. Each query chosen errs by at most L rows less than the worst, the choice's loss,
and by 1 for rounding; the mean of all weights errs by at most the mean of the worst errors. Except with chance beta all
noise is within J rows and all losses within L. The paper's step is an eighth of this one, and its constant larger.

Notation (paper): epsilon = ε; rounds = T; queries = |Q|; U = |X|; rows = n.

References:
    Hardt, Ligett and McSherry (2012), Figure 1 and Theorem 2.2; Hardt and Rothblum (2010) for the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
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
    param,
    rounded_up,
    rows_up,
)
from dpcore.core.basics import SUM_TOLERANCE
from dpcore.mechanisms.online.beliefs import Weights, true_rows
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import Choice, NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile

MAX_SCORED = 4096
"""Queries of a class among which the worst is looked for."""


def candidate_queries(problem: Problem) -> Integers:
    """Return the queries that may be chosen, evenly spread over a class with more of them; public, (K,)."""
    return problem.queries.batch(MAX_SCORED)


class Course:
    """Weights that follow from what is chosen and answered; the same for who draws and who reads a release."""

    def __init__(self, problem: Problem, *, trials: int) -> None:
        self._weights = Weights(problem.queries, rows=problem.n, trials=trials)
        self._problem, self._queries = problem, candidate_queries(problem)
        self._sum = np.zeros_like(self._weights.shares)

    def believed(self) -> Integers:
        """Return the rows that each query has by the weights so far, rounded, (T, K)."""
        problem = self._problem
        rows: Integers = np.rint(problem.queries.answer(self._weights.shares * problem.n, self._queries))
        return rows.astype(np.int64)

    def learn(self, chosen: Integers, answers: Integers) -> None:
        """Take in a round: places of queries and their noisy rows, (T,) each."""
        self._sum += self._weights.shares
        self._weights.guess(self._queries[chosen])
        self._weights.learn(answers, np.ones(len(chosen), dtype=np.bool_))

    def mean(self, rounds: int) -> Floats:
        """Return the mean of the weights with which so many rounds began, times n, (T, size)."""
        mean: Floats = self._sum / rounds * self._problem.n
        return mean


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundsRelease(DataRelease):
    """Places of the chosen queries among the scored ones, and their noisy rows, (T, rounds) each."""

    published = ("chosen", "answers")
    chosen: Integers
    answers: Integers

    @override
    def histogram(self) -> Floats:
        """Rows per cell, (T, size): the mean of the weights, times n."""
        rounds = self.chosen.shape[1]
        course = Course(self.problem, trials=self.trials)
        for place in range(rounds):
            course.learn(self.chosen[:, place], self.answers[:, place])
        return course.mean(rounds)

    @override
    def may_show(self, numbers: Floats) -> bool:
        """Return whether neighbouring cells differ only where a query of an earlier round may begin or end.

        The last round's answer comes after all weights that are shown. Weighted sums may differ anywhere.
        """
        rounds = self.chosen.shape[1]
        steps = np.count_nonzero(np.abs(np.diff(numbers)) > SUM_TOLERANCE * self.problem.n)
        return bool(steps <= 2 * (rounds - 1)) or (rounds > 1 and isinstance(self.problem.queries, LinearQueries))


@dataclass(frozen=True, kw_only=True)
class RoundsOfWeights(PureMechanism):
    """Multiplicative weights that choose their own questions by the exponential mechanism."""

    epsilon: float = epsilon_param()
    rounds: int = param(
        10, 1, 64, label="Rounds", symbol="T", log=True, stops=(1, 2, 5, 10, 20, 50),
        help="Each round measures one query, with ε/T. More rounds learn more about the data, each with more noise.",
    )  # fmt: skip

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The mean of the worst errors on the way."""
        rounds, n, queries = self.rounds, problem.n, len(candidate_queries(problem))
        each = self.epsilon / (2 * rounds)
        noise = laplace_quantile(beta / (2 * rounds), scale=1 / each) - 1
        loss = 2 / each * math.log(2 * queries * rounds / beta)
        half = 0.5 if isinstance(problem.queries, LinearQueries) else 0.0  # true sums are rounded before they are used
        learnt = math.sqrt(math.log(problem.domain.size) / (2 * rounds) + ((noise + half) / n) ** 2)
        rows = loss + 1 + 2 * half
        return Bound(
            value=learnt + rows / n,
            kind=BoundKind.GUARANTEE,
            statement=f"{rounds} round{'s leave' if rounds > 1 else ' leaves'} an error of {rounded_up(learnt)} of n. "
            f"Choosing each query among {queries:,} adds at most {rows_up(rows)} rows, with confidence 1 − "
            f"{beta:g}.",
            formula=r"\alpha\le\sqrt{\frac{\ln|X|}{2T}+\frac{J^2}{n^2}}+\frac{L+1}{n},\quad"
            r"L=\frac{4T}{\varepsilon}\ln\frac{2T|Q|}\beta,\quad 2T\cdot\Pr[|\mathrm{DLap}(2T/\varepsilon)|>J]\le\beta",
            reference="Hardt, Ligett and McSherry (2012), Theorem 2.2, with the constants of this step",
            beta=beta,
            assumptions=(
                *problem.unchecked_n,
                Assumption(
                    text=f"each of {problem.queries.count:,} queries may be chosen",
                    met=queries == problem.queries.count,
                ),
            ),
            rows_needed=self._rows_needed(problem.domain.size, noise=noise + half, rows=rows),
        )

    def _rows_needed(self, size: int, *, noise: float, rows: float) -> int | None:
        """The least n at which the bound is below 1: learnt^2 + (noise/n)^2 < (1 - rows/n)^2, a quadratic in 1/n."""
        learnt = math.log(size) / (2 * self.rounds)
        if learnt >= 1:
            return None
        # (1 - learnt) n^2 - 2 rows n + rows^2 - noise^2 > 0 and n > rows.
        root = math.sqrt(max(0.0, rows**2 - (1 - learnt) * (rows**2 - noise**2)))
        return math.floor(max(rows, (rows + root) / (1 - learnt))) + 1

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: a score for every query and a weight for every cell in each round."""
        queries = len(candidate_queries(problem))
        sums = problem.domain.size * queries * 1e-10 if isinstance(problem.queries, LinearQueries) else 0.0
        return 0.0, self.rounds * (5e-8 * (queries + problem.domain.size) + sums)

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> RoundsRelease:
        """T rounds of a choice and an answer."""
        problem, each = state.problem, self.epsilon / (2 * self.rounds)
        truth = true_rows(problem.queries, state.histogram, candidate_queries(problem))
        course = Course(problem, trials=trials)
        chosen, answers = np.zeros((2, trials, self.rounds), dtype=np.int64)
        for place in range(self.rounds):
            differences = np.abs(truth - course.believed())
            chosen[:, place] = sampler.draw(Choice(differences, epsilon=each, sensitivity=1), trials)
            counts = NoisyCounts(truth[chosen[:, place], None], epsilon=each, sensitivity=1)
            answers[:, place] = sampler.draw(counts, trials)[:, 0]
            course.learn(chosen[:, place], answers[:, place])
        return self.release(RoundsRelease, state, sampler, trials, chosen=chosen, answers=answers)


ENTRIES = (
    Entry(
        key="mwem",
        mechanism=RoundsOfWeights,
        title="MWEM",
        story="Starts from uniform rows and finds the query they answer worst. It moves them towards the noisy "
        "answer, for a few rounds. Good for few queries; little is learned about others.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells, LinearQueries),
        references=("Hardt, Ligett and McSherry (2012)", "Hardt and Rothblum (2010)"),
        weights=r"\Pr[q]\propto\exp\Bigl(\frac{\varepsilon_t n}{2}\,|q(D)-q(D_t)|\Bigr)",
        tiny={"rounds": 1},
    ),
)
