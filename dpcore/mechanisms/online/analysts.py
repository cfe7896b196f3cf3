"""Simulated analysts with a public rule; the bisecting one chooses each query by the answers so far."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpcore.core import Floats, Integers, Queries
from dpcore.mechanisms.online.conversation import Answer
from dpcore.queries.ranges import Intervals, Thresholds

FIXED = "sweeping"
"""The analyst whose list of questions is fixed in advance."""
ANALYSTS = ("bisecting", FIXED)


class Analyst(Protocol):
    """Asks a question a trial, hears the answer, asks the next."""

    def question(self) -> Integers:
        """Return an index of the query class for each trial, (T,)."""

    def hear(self, answer: Answer) -> None:
        """The answer to it."""


class Sweeping:
    """Asks evenly spread questions in a scattered order, whatever the answers; then again."""

    def __init__(self, queries: Queries, *, questions: int, trials: int) -> None:
        batch = queries.batch(questions)
        self._order = batch[np.argsort(spread(len(batch)), kind="stable")]
        self._trials, self._turn = trials, 0

    def question(self) -> Integers:
        """Return the next query of the fixed order."""
        return np.full(self._trials, self._order[self._turn % len(self._order)])

    def hear(self, answer: Answer) -> None:
        """Move on to the next query."""
        self._turn += 1


class Bisecting:
    """Looks for one quantile after another by binary search, in every trial by its own answers.

    Thresholds: the quantiles 1/2, 1/4, 3/4, 1/8, … of all rows. Intervals: from a first cell in that same order, the
    last cell by which a quarter of all rows is reached. A refusal counts as "not reached".
    """

    def __init__(self, queries: Thresholds | Intervals, *, rows: int, questions: int, trials: int) -> None:
        self._queries, self._rows, self._places = queries, rows, spread(questions)
        self._search = np.zeros(trials, dtype=np.int64)  # searches done
        self._low, self._high = self._first(), np.full(trials, queries.domain.ordered - 1)

    def _first(self) -> Integers:
        """Return the cell where each trial's search begins."""
        if isinstance(self._queries, Thresholds):
            return np.zeros_like(self._search)
        return np.floor(self._places[self._search] * self._queries.domain.ordered).astype(np.int64)

    def question(self) -> Integers:
        """Return the next query of the search."""
        first, last = self._first(), (self._low + self._high) // 2
        size = self._queries.domain.ordered
        before = 0 if isinstance(self._queries, Thresholds) else first * size - first * (first - 1) // 2
        indices: Integers = before + last - first
        return indices

    def hear(self, answer: Answer) -> None:
        """Narrow the search by the answer."""
        share = self._places[self._search] if isinstance(self._queries, Thresholds) else 0.25
        reached = (answer.rows >= share * self._rows) & ~answer.refused
        middle = (self._low + self._high) // 2
        self._high = np.where(reached, middle, self._high)
        self._low = np.where(reached, self._low, middle + 1)
        is_complete = self._low >= self._high
        self._search = np.minimum(self._search + is_complete, len(self._places) - 1)
        self._low = np.where(is_complete, self._first(), self._low)
        self._high = np.where(is_complete, self._queries.domain.ordered - 1, self._high)


def spread(count: int) -> Floats:
    """1/2, 1/4, 3/4, 1/8, 5/8, …: van der Corput's sequence, each number far from those before it, (count,).

    >>> spread(5).tolist()
    [0.5, 0.25, 0.75, 0.125, 0.625]
    """
    values, left, unit = np.zeros(count), np.arange(1, count + 1), 0.5
    while left.any():
        values += unit * (left & 1)
        left, unit = left >> 1, unit / 2
    return values


def analyst_kind(wanted: str, queries: Queries) -> str:
    """Return the analyst that asks; cells and weighted sums have no order to bisect, so they are always swept."""
    return wanted if isinstance(queries, Thresholds | Intervals) else FIXED


def analyst(kind: str, queries: Queries, *, rows: int, questions: int, trials: int) -> Analyst:
    """Return an analyst by name: see ``analyst_kind``."""
    if analyst_kind(kind, queries) != FIXED and isinstance(queries, Thresholds | Intervals):
        return Bisecting(queries, rows=rows, questions=questions, trials=trials)
    return Sweeping(queries, questions=questions, trials=trials)
