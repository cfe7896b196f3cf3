"""Base class of mechanisms that answer queries one at a time."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    HistogramState,
    Problem,
    PureMechanism,
    Release,
    alpha_param,
    epsilon_param,
    param,
)
from dpcore.mechanisms.online.analysts import ANALYSTS, FIXED, analyst
from dpcore.mechanisms.online.beliefs import Belief
from dpcore.mechanisms.online.conversation import Conversation, Transcript
from dpcore.mechanisms.online.slack import answer_slack, gate_slack
from dpcore.queries.linear import LinearQueries
from dpcore.randomness import Sampler, SparseVector
from dpcore.randomness.gates import GateBudget, gate_budget

ANSWERS = 0.25
"""Share of epsilon for the noise of paid answers; the rest pays for knowing when to pay."""
AIM = 0.75
"""A guess is paid for if it is off by this share of alpha, before noise; the rest of alpha is for the noise."""


def rounding(problem: Problem) -> float:
    """Return the rounding error of a true answer in rows: a weighted sum is rounded to whole rows."""
    return 0.5 if isinstance(problem.queries, LinearQueries) else 0


@dataclass(frozen=True, kw_only=True)
class Interactive(PureMechanism):
    """Guess each answer from a public belief; if the guess is far off, answer from the data and mend the belief.

    A sparse vector (``randomness.SparseVector``) compares |count - guess| with a threshold. One row more, less or other
    moves any count by at most 1, and the guess follows from what was said before: so the values it compares have
    sensitivity 1, and the gate's epsilon is that of the whole conversation, under either relation.
    """

    releases: ClassVar[str] = "conversation"

    epsilon: float = epsilon_param()
    alpha: float = alpha_param(0.1)
    updates: int = param(
        20, 1, 1000, label="Updates", symbol="c", log=True, stops=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
        help="Maximum number of paid answers. More updates allow a longer conversation, but they share one ε, "
             "so each comparison gets more noise. When they are used up, every further query is refused.",
    )  # fmt: skip
    questions: int = param(
        500, 1, 10_000, label="Queries", symbol="k", log=True, stops=(10, 50, 100, 500, 1000, 5000),
        help="Number of queries that the guaranteed error covers. Free answers spend no privacy budget, but "
             "with more queries a large noise value is more likely.",
    )  # fmt: skip
    analyst: str = param(
        "bisecting",
        label="Analyst",
        choices=ANALYSTS,
        help="Simulated analyst: adaptive (each query depends on the answers so far) or sweeping (evenly spread "
        "queries).",
    )

    @abstractmethod
    def belief(self, problem: Problem, trials: int) -> Belief:
        """Return the belief before the first query."""

    @abstractmethod
    def question_seconds(self, problem: Problem) -> float:
        """Return roughly how long a guess takes, with learning from its answer; measured on two cores."""

    @abstractmethod
    def max_paid_answers(self, problem: Problem, *, wrong: float, noise: float) -> float:
        """Return the most answers that can be paid for, if every guess paid for was off by at least ``wrong`` rows.

        ``noise`` is the largest error of paid answers, in rows; math.inf where no error is guaranteed.
        """

    def threshold(self, problem: Problem) -> int:
        """Return the rows by which a guess must be off, before noise, to be paid for."""
        return max(1, math.ceil(AIM * self.alpha * problem.n))

    def budget(self) -> GateBudget:
        """Split of epsilon over the draws."""
        return gate_budget(epsilon=self.epsilon, updates=self.updates, answers=ANSWERS)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The worst error of every answer given, and what is known about refusals."""
        n, threshold = problem.n, self.threshold(problem)
        slack, noise = self._slack(beta)
        half = rounding(problem)
        free, paid = threshold - 1 + slack + half, self.paid_within(problem, beta)
        noise += half
        refusals = (
            # No number of updates that would do is named: more of them have more noise, and then more are paid for.
            f"At this noise up to {paid:,.0f} answers may need an update, with confidence 1 − {beta:g}; "
            f"you allow {self.updates:,}, so "
            + (
                "no query is refused."
                if self.updates > paid
                else "some queries may be refused. More updates increase the noise."
            )
            if math.isfinite(paid)
            else "Nothing is guaranteed about refusals here: noise alone may use up the updates."
        )
        return Bound(
            value=max(free, noise) / n,
            kind=BoundKind.GUARANTEE,
            statement=f"Take {self.questions:,} queries, each chosen after the previous answer. A free answer has an "
            f"error of at most {free:,} rows ({threshold - 1:,} before noise) and a paid one {noise:,}, "
            f"with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac1n\max(T-1+G,\;A)",
            reference=self.reference(),
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.ceil(max((slack + half) / (1 - AIM), noise) / self.alpha),
            note=f"{refusals} No answer (⊥) does not count as an error.",
        )

    @property
    def adaptive(self) -> bool:
        """Return whether the simulated analyst's queries depend on the answers so far."""
        return self.analyst != FIXED

    def paid_within(self, problem: Problem, beta: float) -> float:
        """Return the most answers that are paid for, except with chance beta; math.inf without a guarantee."""
        slack, noise = self._slack(beta)
        # Belief is a share of n and the guess its nearest whole number: half a row is lost, as it is in a weighted sum.
        half = rounding(problem)
        return self.max_paid_answers(problem, wrong=self.threshold(problem) - slack - 0.5 - half, noise=noise + half)

    def never_refuses(self, problem: Problem, beta: float) -> bool:
        """Return whether the promise rules refusals out, in the same conversations in which it holds for answers."""
        return self.updates > self.paid_within(problem, beta)

    def _slack(self, beta: float) -> tuple[float, float]:
        """Rows by which noise moves a comparison and a paid answer at most, in all of them, except with chance beta."""
        budget = self.budget()
        return gate_slack(budget, questions=self.questions, beta=beta / 2), answer_slack(budget, beta=beta / 2)

    @abstractmethod
    def reference(self) -> str:
        """Authors, year and theorem of the mechanism."""

    def open(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> Conversation:
        """Charge epsilon and begin."""
        problem, budget = state.problem, self.budget()
        draw = SparseVector(epsilon=self.epsilon, sensitivity=1, updates=budget.updates, answers=ANSWERS)
        return Conversation(
            state,
            guarantee=self.guarantee(problem),
            sampler=sampler.name,
            gate=sampler.draw(draw, trials),
            threshold=self.threshold(problem),
            belief=self.belief(problem, trials),
            trials=trials,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> Transcript:
        problem, conversation = state.problem, self.open(state, sampler, trials)
        questioner = analyst(self.analyst, problem.queries, rows=problem.n, questions=self.questions, trials=trials)
        for _ in range(self.questions):
            questioner.hear(conversation.ask(questioner.question()))
        return conversation.close()

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        """A conversation, which is held once more where its file is checked."""
        return 0.0, 2 * self.questions * self.question_seconds(problem)

    @override
    def possible(self, release: Release) -> bool:
        """Return whether each guess follows from paid answers before it, and all is declined without updates left.

        As much work as a run: the belief learns what is told instead of what is drawn.
        """
        assert isinstance(release, Transcript)
        transcript, belief = release.part(0, 1), self.belief(release.problem, 1)
        left = self.updates
        for turn in range(transcript.query_indices.shape[1]):
            indices, rows, guess, paid, declined = (getattr(transcript, name)[:, turn] for name in transcript.published)
            unpaid = rows == np.where(declined, 0, guess)
            if declined[0] != (left == 0) or (paid & declined).any() or not (unpaid | paid).all():
                return False
            belief.guess(indices)
            if not belief.may_guess(guess)[0]:
                return False
            belief.learn(rows, paid)
            left -= int(paid[0])
        return True
