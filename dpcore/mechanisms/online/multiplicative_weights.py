"""Private multiplicative weights: answer queries one at a time, most of them at no cost.

The mechanism keeps a public belief about the data: a weight for each cell, at first all equal. It guesses each answer
from it. If the guess is near the truth the guess is the answer, and costs nothing. If not, the answer comes from the
data, with noise, and the cells of the question are weighted up or down so that the same mistake is not made again. Each
such update brings the belief nearer to the data, and there is only so far to go: an analyst may ask forever, each
question chosen after the last answer, and pays a few times. When the updates have run out, it refuses.

Why it is private: whether a guess is far off is itself private, so a sparse vector decides it: one noise on the
threshold for the whole conversation, one on each comparison, a bounded number of positive answers. Guesses and updates
follow from what was said and are free. One row moves a count by at most 1, so all of it is epsilon-DP, for any number
of questions, under either relation (dpcore/randomness/gates.py has the proof in whole numbers).

Accuracy: with G, A the rows by which comparisons and paid answers stray (exact laws,
dpcore/mechanisms/online/slack.py), a free answer errs by at most threshold - 1 + G, a paid one by A. How many updates
are enough: let the relative entropy of the data to the belief be R, at first at most ln U. An update with step 4h, h
the noisy difference between answer and guess, lowers R by at least 4he - 2h^2 (Hoeffding's lemma), e the true
difference; with |h - e| <= A/n that is at least 2(e^2 - (A/n)^2). Paid guesses are off by e >= (threshold - G - 1/2)/n,
so there are at most ln U / (2(e^2 - (A/n)^2)) of them: at G, A <= alpha n/4 at most (8/3) ln U/alpha^2, against 4 ln
U/alpha^2 in the paper.

Weighted sums (weights from 0 to 1) are answered alike: a cell moves by its weight's share of a step, and the truth is
rounded to whole rows first, so that one row still moves it by at most 1; half a row is added to every error.

Notation (paper): epsilon = ε; alpha = α, the free answers' aim; updates = c (B in the paper); questions = k.

References:
    Hardt and Rothblum (2010), Theorem 1.1; Dwork and Roth (2014), section 4.2; Lyu, Su and Li (2017), Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from typing_extensions import override

from dpcore.core import DomainType, Entry, Problem
from dpcore.mechanisms.online.beliefs import Weights
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Thresholds


@dataclass(frozen=True, kw_only=True)
class MultiplicativeWeights(Interactive):
    """Beliefs are one weight for each cell."""

    @override
    def belief(self, problem: Problem, trials: int) -> Weights:
        return Weights(problem.queries, rows=problem.n, trials=trials)

    @override
    def question_seconds(self, problem: Problem) -> float:
        queries, size = problem.queries, problem.domain.size
        sums = 1.2e-9 * size * queries.count if isinstance(queries, LinearQueries) else 0.0
        return 1.5e-4 + 7e-9 * size + sums

    @override
    def max_paid_answers(self, problem: Problem, *, wrong: float, noise: float) -> float:
        """ln U/(2(e^2 - (A/n)^2)), rounded down."""
        if wrong <= noise:
            return math.inf
        return math.floor(math.log(problem.domain.size) * problem.n**2 / (2 * (wrong**2 - noise**2)))

    @override
    def reference(self) -> str:
        return "Hardt and Rothblum (2010), Theorem 1.1, with the constants of this implementation"


ENTRIES = (
    Entry(
        key="weights",
        mechanism=MultiplicativeWeights,
        title="Multiplicative weights",
        story="Answers each query from a belief about every cell. It pays only if a noisy comparison shows that "
        "the error is large. Free answers spend no privacy budget, however many there are.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells, LinearQueries),
        references=("Hardt and Rothblum (2010)", "Lyu, Su and Li (2017), Algorithm 1"),
        tiny={"epsilon": 1.0, "alpha": 0.5, "updates": 1, "questions": 3},
        tiny_size=3,
        tiny_rows=3,
    ),
)
