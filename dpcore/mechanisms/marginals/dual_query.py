"""DualQuery: queries that err are drawn, and each round adds one row that answers them best.

A game. One player holds a distribution on the queries and their opposites, which gains weight e^(η·error) for every row
that the other has played. In each round s queries are drawn from it, and the answer is the row that these queries count
most. The rows played, all with the same weight, are the release. The data are only looked at to draw queries, so the
work of finding rows is public: this is what lets it run where the rows there may be cannot be listed. Here they are
listed.

Why it is private: a drawn query is an exponential mechanism. In round t its score is the sum of t - 1 differences
between the true answer and a row's, in rows; a neighbour moves each true count by at most 1, so the score by at most
t - 1. With weights e^(η·score/n) a draw costs 2η(t - 1)/n. The s draws of all T rounds cost ηT(T - 1)s/n together,
which is epsilon for η = εn/(T(T - 1)s). The first round's queries are uniform and cost nothing.

Accuracy: errors on one row lie between -1 and 1. The player of weights does no worse than any one query, up to
ln(2|Q|)/(ηT) + η/2 a round. On average over the data each query has error 0, so some row has no positive error on the s
drawn queries, and by Hoeffding's inequality none above √(2 ln(|X|T/β)/s) on the distribution itself, for all rows there
may be in all rounds, except with chance β. So no query's error is above the sum of the three.

Notation (paper): epsilon = ε; rounds = T, samples = s, rate = η; queries = |Q|, cells = |X|, rows = n.

References:
    Gaboardi, Gallego Arias, Hsu, Roth and Wu (2014), Algorithm 1 and Theorem 3.1.
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
    HistogramState,
    PointsRelease,
    Problem,
    PureMechanism,
    check_memory,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.randomness import Choice, PublicCoins, Sampler


@dataclass(frozen=True, kw_only=True)
class DualQuery(PureMechanism):
    """Rows that answer drawn queries best, where queries with errors are drawn more often."""

    epsilon: float = epsilon_param()
    rounds: int = param(
        20, 2, 64, label="Rounds", symbol="T", log=True, stops=(2, 5, 10, 20, 30, 50),
        help="Each round adds a row to the release. More rounds learn more, each from noisier draws of queries.",
    )  # fmt: skip
    samples: int = param(
        50, 1, 200, label="Queries per round", symbol="s", log=True, stops=(1, 5, 10, 20, 50, 100, 200),
        help="Queries drawn in each round. More give a better row, each at a smaller share of ε.",
    )  # fmt: skip

    def rate(self, n: int) -> float:
        """Return the rate η of the weights that ε pays for, for n rows."""
        return self.epsilon * n / (self.rounds * (self.rounds - 1) * self.samples)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """What the player of weights, the step and the drawn queries each add."""
        rounds, queries, rate = self.rounds, problem.queries.count, self.rate(problem.n)
        learnt = math.log(2 * queries) / (rate * rounds) + rate / 2
        drawn = math.sqrt(2 * math.log(problem.domain.size * rounds / beta) / self.samples)
        return Bound(
            value=learnt + drawn,
            kind=BoundKind.GUARANTEE,
            statement=f"{rounds} rounds leave an error of {rounded_up(learnt)}. Drawing {self.samples} of {queries:,} "
            f"queries a round adds at most {rounded_up(drawn)}, with confidence {1 - beta:g}.",
            formula=r"\alpha\le\frac{\ln 2|Q|}{\eta T}+\frac\eta2+\sqrt{\frac2s\ln\frac{|X|T}\beta},\quad"
            r"\eta=\frac{\varepsilon n}{T(T-1)s}",
            reference="Gaboardi, Gallego Arias, Hsu, Roth and Wu (2014), Theorem 3.1, with the constants of this proof",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=self._rows_needed(queries, drawn=drawn),
            note="With many rows the step η is too large for so few rounds: take more rounds." if rate > 1 else "",
        )

    def _rows_needed(self, queries: int, *, drawn: float) -> int | None:
        """The least n at which the bound is below 1: ln(2|Q|)/(ηT) + η/2 = 1 - drawn, a quadratic in η."""
        left, learnt = 1 - drawn, 2 * math.log(2 * queries) / self.rounds
        if left <= 0 or left**2 <= learnt:
            return None
        rate = left - math.sqrt(left**2 - learnt)
        return math.floor(rate * self.rounds * (self.rounds - 1) * self.samples / self.epsilon) + 1

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: a race of all queries for each draw, and a best row for each round."""
        queries, size = 2 * problem.queries.count, problem.domain.size
        return 0.0, self.rounds * (self.samples * (2e-8 * queries + 1e-8 * size) + 2e-10 * queries * size)

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """T rounds of s drawn queries and their best row."""
        problem, queries = state.problem, state.problem.queries
        assert isinstance(queries, LinearQueries)
        check_memory(trials * (2 * queries.count + queries.domain.size), what="The scores", smaller="take fewer cells")
        half = queries.padded
        weights = np.concatenate([half, -half])
        truth, played = weights @ state.histogram, np.zeros((trials, len(weights)), dtype=np.int64)
        share = self.epsilon / (self.rounds * (self.rounds - 1) * self.samples)
        points = np.empty((trials, self.rounds), dtype=np.int64)
        for before in range(self.rounds):
            scores = before * truth - problem.n * played  # in thousandths of rows: whole numbers
            if before:
                draw = Choice(scores, epsilon=2 * before * share, sensitivity=UNITS * before)
                chosen = np.stack([sampler.draw(draw, trials) for _ in range(self.samples)], axis=1)
            else:
                chosen = sampler.draw(PublicCoins(len(weights), columns=self.samples), trials)
            counted = np.stack([np.bincount(row, minlength=len(weights)) for row in chosen])
            points[:, before] = (counted @ weights).argmax(axis=1)
            played += weights[:, points[:, before]].T
        points.sort(axis=1)
        shares = np.full(points.shape, 1 / self.rounds)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=shares)


ENTRIES = (
    Entry(
        key="dual-query",
        mechanism=DualQuery,
        title="DualQuery",
        story="Draws queries with wrong answers, and adds the row that these queries count most. Its few rows are the "
        "synthetic data. With few rows in the data it learns little.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(LinearQueries,),
        references=("Gaboardi, Gallego Arias, Hsu, Roth and Wu (2014)",),
        tiny={"rounds": 2, "samples": 1},
    ),
)
