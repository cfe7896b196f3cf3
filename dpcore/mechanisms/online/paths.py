"""All small databases on a line, counted as nondecreasing paths: any number of cells, nothing listed.

The points at or below each cell, s_0 <= s_1 <= … <= s_U = m, are the database. A threshold asks for one s_i, so an
answer paid for confines the path at one place, and between two places p < q there are C(s' - s + q - p - 1, s' - s)
ways from s to s'. Chances of every s_i among the paths that are left follow from one pass forward and one backward over
the places asked, whatever the number of cells. Logarithms of counts, in doubles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers, Queries
from dpcore.mechanisms.online.small_databases import SmallDatabases


class Paths(SmallDatabases):
    """Candidates of thresholds, counted as paths.

    A place of a trial is a number of cells; places are kept sorted, those not used yet at 0, where they do nothing.
    """

    def __init__(self, queries: Queries, *, points: int, rows: int, radius: float, trials: int, updates: int) -> None:
        super().__init__(queries, points=points, rows=rows, radius=radius, trials=trials)
        self._places = np.zeros((trials, updates + 2), dtype=np.int64)
        self._places[:, -1] = queries.domain.size
        self._low, self._high = np.zeros_like(self._places), np.zeros_like(self._places)
        self._low[:, -1] = self._high[:, -1] = points
        self._forward = np.zeros((*self._places.shape, points + 1))
        self._backward = np.zeros_like(self._forward)
        self._count(np.arange(trials))

    def _ways(self, gaps: Integers) -> Floats:
        """Return the logarithm of the ways from s to s' over so many cells (T,): (T, s, s')."""
        from scipy.special import gammaln

        gaps, which = np.unique(gaps, return_inverse=True)  # few: most trials are at the same places
        points = np.arange(self._points + 1)
        more = np.broadcast_to(points[None, :] - points[:, None], (len(gaps), self._points + 1, self._points + 1))
        cells = np.maximum(gaps, 1)[:, None, None].astype(np.float64)
        placed = np.maximum(more, 0)
        logs = gammaln(placed + cells) - gammaln(cells) - gammaln(placed + 1.0)
        possible = np.where((gaps == 0)[:, None, None], more == 0, more >= 0)
        ways: Floats = np.where(possible, logs, -np.inf)[which]
        return ways

    def _count(self, trials: Integers) -> None:
        """Repeat both passes for some trials, once for all with the same paid answers."""
        paid = np.stack([self._places[trials], self._low[trials], self._high[trials]], axis=1)
        different, which = np.unique(paid, axis=0, return_inverse=True)
        places, low, high = different.swapaxes(0, 1)
        points = np.arange(self._points + 1)
        outside = (points < low[..., None]) | (points > high[..., None])
        allowed = np.where(outside, -np.inf, 0.0)
        forward, backward = allowed.copy(), allowed.copy()
        start = int((places == 0).sum(axis=1).min()) - 1  # before it, every trial is still at 0
        ways = {at: self._ways(places[:, at + 1] - places[:, at]) for at in range(start, places.shape[1] - 1)}
        for at, step in ways.items():
            forward[:, at + 1] += _log_sum(forward[:, at, :, None] + step, axis=1)
        for at, step in reversed(ways.items()):
            backward[:, at] += _log_sum(step + backward[:, at + 1, None, :], axis=2)
        self._forward[trials], self._backward[trials] = forward[which], backward[which]

    @override
    def _spread(self, indices: Integers) -> Floats:
        place, trials = indices + 1, np.arange(len(indices))
        before = np.minimum((self._places <= place[:, None]).sum(axis=1) - 1, self._places.shape[1] - 2)
        from_left = self._ways(place - self._places[trials, before])
        to_right = self._ways(self._places[trials, before + 1] - place)
        left = _log_sum(self._forward[trials, before][:, :, None] + from_left, axis=1)
        right = _log_sum(to_right + self._backward[trials, before + 1][:, None, :], axis=2)
        logs = left + right
        spread: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        return spread

    @override
    def _keep(self, low: Integers, high: Integers, where: Booleans) -> None:
        trials = np.flatnonzero(where)
        old = [array[trials].copy() for array in (self._places, self._low, self._high)]
        for array, new in ((self._places, self._indices + 1), (self._low, low), (self._high, high)):
            array[trials, 0] = new[trials]
        order = np.argsort(self._places[trials], axis=1, kind="stable")
        for array in (self._places, self._low, self._high):
            array[trials] = np.take_along_axis(array[trials], order, axis=1)
        self._count(trials)
        none_left = np.isneginf(self._forward[trials, -1, -1])
        if none_left.any():
            for array, was in zip((self._places, self._low, self._high), old, strict=True):
                array[trials[none_left]] = was[none_left]
            self._count(trials[none_left])


def _log_sum(logs: NDArray[np.float64], *, axis: int) -> Floats:
    """Return the logarithm of the sum of exponentials; -inf where there is none."""
    top = logs.max(axis=axis, keepdims=True)
    finite = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - finite).sum(axis=axis)) + finite.squeeze(axis)
    return total
