"""A conversation: one query at a time, answered at no cost from a belief, or from the data at a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, Floats, Guarantee, HistogramState, Integers, ParameterError, Problem, Release
from dpcore.mechanisms.online.beliefs import Belief, true_rows
from dpcore.randomness.gates import Gate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """Answer to one query, in T trials.

    Attributes:
        rows: the answer in rows, (T,); 0 where refused.
        guess: what was believed before, in rows, (T,).
        paid: whether the guess was too far off, so that the data answered, (T,).
        refused: whether the updates had run out, (T,).
    """

    rows: Integers
    guess: Integers
    paid: Booleans
    refused: Booleans

    def value(self, n: int) -> Floats:
        """Return the answer as a fraction of n, NaN where refused."""
        return np.where(self.refused, np.nan, self.rows / n)


@dataclass(frozen=True, kw_only=True, eq=False)
class Transcript(Release):
    """Queries and answers of a conversation of k queries, each array (T, k).

    ``refused`` of the release is False throughout: a refusal is an answer to one question (``declined``).
    """

    published = ("query_indices", "rows", "guesses", "paid", "declined")
    query_indices: Integers
    rows: Integers
    guesses: Integers
    paid: Booleans
    declined: Booleans

    @property
    def free(self) -> Booleans:
        """Answered from what was believed, (T, k)."""
        free: Booleans = ~(self.paid | self.declined)
        return free

    @override
    def outcomes(self) -> Floats:
        """Question by question: which, the answer, the guess, paid or not, declined or not."""
        columns = [getattr(self, name).astype(np.float64) for name in self.published]
        return np.stack(columns, axis=2).reshape(self.trials, -1)

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial and question: it, answer and guess in rows, and whether it was paid for or declined."""
        import pandas as pd

        trials, turns = np.indices(self.query_indices.shape).reshape(2, -1)
        which, places = np.unique(self.query_indices, return_inverse=True)
        words = np.array([self.problem.queries.describe(int(index)) for index in which], dtype=object)
        columns = {
            "query": self.query_indices,
            "question": words[places],
            "answer": np.where(self.declined, np.nan, self.rows),
            "guess": self.guesses,
            "paid": self.paid,
            "declined": self.declined,
        }
        return pd.DataFrame({"trial": trials, "turn": turns, **{name: each.ravel() for name, each in columns.items()}})

    def truth(self, histogram: Integers) -> Floats:
        """Return the true answers as fractions of n, (T, k). Needs the data: not private."""
        return self._true_rows(histogram) / self.problem.n

    def _true_rows(self, histogram: Integers) -> Floats:
        rows: Floats = self.problem.queries.answer(histogram[None], self.query_indices.reshape(-1))[0]
        return rows.reshape(self.query_indices.shape)

    def errors(self, histogram: Integers) -> Floats:
        """Error of every answer as a fraction of n, (T, k), NaN where declined. Needs the data: not private."""
        return np.where(self.declined, np.nan, (self.rows - self._true_rows(histogram)) / self.problem.n)


class Conversation:
    """Open until close(). What it spends was charged when its gate was opened.

    Args:
        state: the private counts.
        guarantee: of the whole conversation.
        sampler: name of the sampler behind the gate.
        gate: decides, with noise, whether a guess is too far off.
        threshold: rows by which a guess must be off, before noise, to be paid for.
        belief: guesses, and learns what was paid for.
        trials: T.
    """

    def __init__(
        self,
        state: HistogramState,
        *,
        guarantee: Guarantee,
        sampler: str,
        gate: Gate,
        threshold: int,
        belief: Belief,
        trials: int,
    ) -> None:
        self._state, self._guarantee, self._sampler = state, guarantee, sampler
        self._gate, self._threshold, self._belief, self._trials = gate, threshold, belief, trials
        self._exchanges: list[tuple[Integers, Answer]] = []
        self._open = True

    @property
    def problem(self) -> Problem:
        """Public problem of the conversation."""
        return self._state.problem

    def ask(self, query: int | Integers) -> Answer:
        """Ask one question (an index of the query class), the same in every trial or one a trial (T,)."""
        queries = self.problem.queries
        if not self._open:
            raise ParameterError("The conversation is over.")
        given = np.asarray(query)
        if not np.issubdtype(given.dtype, np.integer) or given.shape not in {(), (self._trials,)}:
            raise ParameterError("A query is one integer, or one per trial.")
        indices = np.broadcast_to(given.astype(np.int64), (self._trials,))
        if int(indices.min()) < 0 or int(indices.max()) >= queries.count:
            raise ParameterError(f"A query is an integer from 0 to {queries.count - 1}.")
        refused = self._gate.closed
        guess = self._belief.guess(indices)
        truth = true_rows(queries, self._state.histogram, indices)
        paid = self._gate.above(np.abs(truth - guess), self._threshold)
        noisy = self._gate.answer(truth)
        self._belief.learn(noisy, paid)
        rows = np.where(refused, 0, np.where(paid, noisy, guess))
        answer = Answer(rows=rows, guess=guess, paid=paid, refused=refused)
        self._exchanges.append((indices, answer))
        return answer

    def believed(self, indices: Integers) -> Integers:
        """Rows that would be guessed for the questions ``indices`` (Q,), (T, Q): free, it follows from what was said.

        It changes nothing.
        """
        guesses = [self._belief.guess(np.full(self._trials, index)) for index in indices]
        return np.stack(guesses, axis=1)

    def close(self) -> Transcript:
        """End the conversation and return its transcript."""
        self._open = False
        return self.transcript()

    def transcript(self) -> Transcript:
        """Return the transcript of the conversation up to now."""
        if not self._exchanges:
            raise ParameterError("No query was asked.")
        indices, answers = zip(*self._exchanges, strict=True)
        return Transcript(
            problem=self.problem,
            guarantee=self._guarantee,
            sampler=self._sampler,
            refused=np.zeros(self._trials, dtype=np.bool_),
            query_indices=np.stack(indices, axis=1),
            rows=np.stack([each.rows for each in answers], axis=1),
            guesses=np.stack([each.guess for each in answers], axis=1),
            paid=np.stack([each.paid for each in answers], axis=1),
            declined=np.stack([each.refused for each in answers], axis=1),
        )
