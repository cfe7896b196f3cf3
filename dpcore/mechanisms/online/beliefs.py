"""The public belief of a conversation: it follows from the answers alone."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpcore.core import Booleans, Floats, Integers, ParameterError, Queries
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Thresholds

HALFWAY = 1e-6
"""Rows by which sums of weights may differ from one computer to another: far more than they do."""


class Belief(Protocol):
    """Protocol of a public guess at every query, on T trials at once."""

    def guess(self, indices: Integers) -> Integers:
        """Return the rows guessed for one question a trial, (T,) to (T,)."""

    def may_guess(self, rows: Integers) -> Booleans:
        """Return whether the guess just made may be these rows where another computer adds up, (T,) to (T,)."""

    def learn(self, rows: Integers, where: Booleans) -> None:
        """Take in the noisy rows (T,) of the question just guessed, in the trials where it was paid for."""


def ends(queries: Queries, indices: Integers) -> tuple[Integers, Integers]:
    """Return the first and last cell of each question, both included; raises ParameterError for other classes."""
    if isinstance(queries, Thresholds | Intervals | Cells):
        return queries.ends(indices)
    raise ParameterError(f"No conversation is known here about {queries.title}")


def members(queries: Queries, indices: Integers) -> Booleans:
    """Return the cells that each query counts: (T,) to (T, size)."""
    first, last = ends(queries, indices)
    cells = np.arange(queries.domain.size)
    inside: Booleans = (cells >= first[:, None]) & (cells <= last[:, None])
    return inside


def weights_of(queries: Queries, indices: Integers) -> Booleans | Floats:
    """Return the weight of each cell in each query, 0 to 1: (T,) to (T, size); in a count 0 or 1."""
    if isinstance(queries, LinearQueries):
        weights: Floats = queries.padded[indices] / UNITS
        return weights
    return members(queries, indices)


def true_rows(queries: Queries, histogram: Integers, indices: Integers) -> Integers:
    """True answers in whole rows, (T,): weighted sums rounded, halves up, so that a row moves one by 1 at most.

    Whole numbers throughout: no sum of weights depends on the order in which they are added.
    """
    if isinstance(queries, LinearQueries):
        thousandths = queries.padded[indices] @ histogram
        rows: Integers = (thousandths + UNITS // 2) // UNITS
        return rows
    counts: Integers = np.rint(queries.answer(histogram[None], indices)[0]).astype(np.int64)
    return counts


class Weights:
    """One weight for each cell, moved by multiplication towards every answer paid for (Hardt and Rothblum 2010).

    The step is 4 (noisy - believed share): the best one if the answer had no noise. A cell that weighs q in the
    question has its weight multiplied by e^(q step).

    Attributes:
        shares: what is believed of each cell, fractions of n, (T, size).
    """

    def __init__(self, queries: Queries, *, rows: int, trials: int) -> None:
        self._queries, self._rows = queries, rows
        self._logs = np.zeros((trials, queries.domain.size))
        self.shares = np.full_like(self._logs, 1 / queries.domain.size)
        self._inside: Booleans | Floats = np.zeros(self._logs.shape, dtype=np.bool_)
        self._believed = np.zeros(trials)

    def guess(self, indices: Integers) -> Integers:
        """Return the weighted sums of the believed shares, in rows."""
        self._inside = weights_of(self._queries, indices)
        self._believed = (self._inside * self.shares).sum(axis=1)
        return np.rint(self._rows * self._believed).astype(np.int64)

    def may_guess(self, rows: Integers) -> Booleans:
        """Return whether the rows may be the guess: one halfway between two whole numbers may be rounded to either."""
        near: Booleans = np.abs(rows - self._rows * self._believed) <= 0.5 + HALFWAY
        return near

    def learn(self, rows: Integers, where: Booleans) -> None:
        """Update the weights; an answer outside 0..n is noise for certain, so it is moved to the nearest end first."""
        if not where.any():
            return
        steps = 4 * (np.clip(rows, 0, self._rows) / self._rows - self._believed)
        self._logs += np.where(where[:, None], self._inside * steps[:, None], 0.0)
        weights = np.exp(self._logs - self._logs.max(axis=1, keepdims=True))
        self.shares = weights / weights.sum(axis=1, keepdims=True)
