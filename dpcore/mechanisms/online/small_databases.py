"""All databases of m points that agree with the answers paid for so far: listed, or counted as paths."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers, Queries
from dpcore.mechanisms.net.databases import multisets
from dpcore.mechanisms.online.beliefs import ends
from dpcore.queries.linear import UNITS, LinearQueries


class SmallDatabases(ABC):
    """Guesses by the median candidate, and drops those that an answer contradicts (Roth and Roughgarden 2010).

    Dropped are all candidates on the median's side of the answer, the median's own answer included, so at least half
    of them; and those further from the answer than ``radius``. If none were left, none is dropped.

    Args:
        queries: what can be asked.
        points: m, points of a candidate.
        rows: n, public.
        radius: rows a candidate's answer may lie off a paid one.
        trials: T.
    """

    def __init__(self, queries: Queries, *, points: int, rows: int, radius: float, trials: int) -> None:
        self._queries, self._points, self._rows, self._radius = queries, points, rows, radius
        self._levels = points * (UNITS if isinstance(queries, LinearQueries) else 1)
        self._indices = np.zeros(trials, dtype=np.int64)
        self._median = np.zeros(trials, dtype=np.int64)

    @abstractmethod
    def _spread(self, indices: Integers) -> Floats:
        """Return the number of candidates, up to a factor, at each level 0 .. L in each trial's query: (T, L + 1).

        Of counts the levels are points, L = m; of weighted sums they are thousandths of points.
        """

    @abstractmethod
    def _keep(self, low: Integers, high: Integers, where: Booleans) -> None:
        """Keep those at levels low..high of the question just asked, in the trials ``where``; all if none has."""

    def guess(self, indices: Integers) -> Integers:
        """Return the lower median of the candidates' answers, in rows."""
        self._indices = indices
        sums = np.cumsum(self._spread(indices), axis=1)
        # A billionth of slack: counts of paths are rounded, and ties must fall the same way every time.
        self._median = np.argmax(sums >= sums[:, -1:] * (0.5 - 1e-9), axis=1)
        return np.rint(self._rows * self._median / self._levels).astype(np.int64)

    def may_guess(self, rows: Integers) -> Booleans:
        """Return whether the rows round to the median's level."""
        same: Booleans = np.rint(self._rows * self._median / self._levels) == rows
        return same

    def learn(self, rows: Integers, where: Booleans) -> None:
        """Drop the candidates that the noisy answer excludes."""
        if not where.any():
            return
        unit = self._levels / self._rows
        low = np.ceil((rows - self._radius) * unit).astype(np.int64)
        high = np.floor((rows + self._radius) * unit).astype(np.int64)
        above = rows * self._levels > self._median * self._rows
        low = np.where(above, np.maximum(low, self._median + 1), low)
        high = np.where(above, high, np.minimum(high, self._median - 1))
        self._keep(np.clip(low, 0, None), np.clip(high, None, self._levels), where)


class Listed(SmallDatabases):
    """Every candidate in a list.

    Attributes:
        points: cells of each candidate's m points, (K, m).
        alive: which are left, (T, K).
    """

    def __init__(self, queries: Queries, *, points: int, rows: int, radius: float, trials: int) -> None:
        super().__init__(queries, points=points, rows=rows, radius=radius, trials=trials)
        self.points = multisets(size=queries.domain.size, points=points)
        self.alive = np.ones((trials, len(self.points)), dtype=np.bool_)

    def _inside(self, question: int) -> Integers:
        """Return the level of each candidate in a question, (K,)."""
        if isinstance(self._queries, LinearQueries):
            sums: Integers = self._queries.padded[question][self.points].sum(axis=1)
            return sums
        first, last = ends(self._queries, np.array([question], dtype=np.int64))
        inside: Integers = ((self.points >= first[0]) & (self.points <= last[0])).sum(axis=1)
        return inside

    @override
    def _spread(self, indices: Integers) -> Floats:
        spread = np.zeros((len(indices), self._levels + 1))
        for question in np.unique(indices).tolist():
            inside, trials = self._inside(question), np.flatnonzero(indices == question)
            for trial in trials.tolist():
                spread[trial] = np.bincount(inside, weights=self.alive[trial], minlength=self._levels + 1)
        return spread

    @override
    def _keep(self, low: Integers, high: Integers, where: Booleans) -> None:
        for question in np.unique(self._indices[where]).tolist():
            inside, trials = self._inside(question), np.flatnonzero(where & (self._indices == question))
            left = self.alive[trials] & (inside >= low[trials, None]) & (inside <= high[trials, None])
            some = left.any(axis=1)
            self.alive[trials[some]] = left[some]
