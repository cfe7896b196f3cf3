"""What a conversation believes: public, since it follows from the answers given and nothing else."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpcore.core import Booleans, Integers, ParameterError, Queries
from dpcore.queries.ranges import Cells, Intervals, Thresholds


class Belief(Protocol):
    """A guess at every question, on T trials at once."""

    def guess(self, asked: Integers) -> Integers:
        """Rows guessed for one question a trial, (T,) to (T,)."""

    def learn(self, rows: Integers, where: Booleans) -> None:
        """Take in the noisy rows (T,) of the question just guessed, in the trials where it was paid for."""


def ends(queries: Queries, asked: Integers) -> tuple[Integers, Integers]:
    """First and last cell of each question, both included; raises ParameterError for other classes."""
    if isinstance(queries, Thresholds | Intervals | Cells):
        return queries.ends(asked)
    raise ParameterError(f"No conversation is known here about {queries.title}")


def members(queries: Queries, asked: Integers) -> Booleans:
    """Which cells each question counts: (T,) to (T, size)."""
    first, last = ends(queries, asked)
    cells = np.arange(queries.domain.size)
    inside: Booleans = (cells >= first[:, None]) & (cells <= last[:, None])
    return inside


class Weights:
    """One weight for each cell, moved by multiplication towards every answer paid for (Hardt and Rothblum 2010).

    The step is 4 (noisy - believed share): the best one if the answer had no noise. A cell's weight in the question is
    multiplied by e^step.

    Attributes:
        shares: what is believed of each cell, fractions of n, (T, size).
    """

    def __init__(self, queries: Queries, *, rows: int, trials: int) -> None:
        self._queries, self._rows = queries, rows
        self._logs = np.zeros((trials, queries.domain.size))
        self.shares = np.full_like(self._logs, 1 / queries.domain.size)
        self._inside = np.zeros(self._logs.shape, dtype=np.bool_)
        self._believed = np.zeros(trials)

    def guess(self, asked: Integers) -> Integers:
        """See Belief."""
        self._inside = members(self._queries, asked)
        self._believed = np.where(self._inside, self.shares, 0.0).sum(axis=1)
        return np.rint(self._rows * self._believed).astype(np.int64)

    def learn(self, rows: Integers, where: Booleans) -> None:
        """See Belief. An answer outside 0..n is noise for certain: it is moved to the nearest end first."""
        if not where.any():
            return
        steps = 4 * (np.clip(rows, 0, self._rows) / self._rows - self._believed)
        self._logs += np.where(where[:, None] & self._inside, steps[:, None], 0.0)
        weights = np.exp(self._logs - self._logs.max(axis=1, keepdims=True))
        self.shares = weights / weights.sum(axis=1, keepdims=True)
