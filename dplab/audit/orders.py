"""Outcomes ordered by their estimated likelihood ratio between two data sets.

The best event to test a claim on is made of the outcomes that one data set gives more often than the other, by the
largest factor first (Neyman and Pearson). Nobody knows the factors of somebody else's program: they are estimated from
runs, in a few ways, and other runs say which way is best. A bad estimate costs power and never truth, as the test looks
at runs of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats

Outcomes = NDArray[Any]
"""What came out of runs, (T, w): numbers of any kind, finite."""

MAX_VALUES = 64
"""Values of a column told apart one by one; where there are more they are put into as many bins of equal mass."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples are spread over all 64-bit numbers."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """Estimated log-ratios of what was told apart: the places where each begins (K,), and a score for each.

    ``whole``: only the places themselves were seen, and anything between them scores 0. ``apart``: how far apart the
    data sets look, half the sum of the differences of the shares.
    """

    starts: NDArray[Any]
    scores: Floats
    whole: bool
    total_variation: float

    def __call__(self, values: NDArray[Any]) -> Floats:
        """Scores of values (T,)."""
        places = np.clip(np.searchsorted(self.starts, values, side="right") - 1, 0, None)
        scores: Floats = self.scores[places]
        return np.where(self.starts[places] == values, scores, 0.0) if self.whole else scores


def _tallied(one: NDArray[Any], other: NDArray[Any], starts: NDArray[Any], *, whole: bool) -> Ratios:
    """The table of values (R,) of each data set; a half is added to each tally, so that none is 0."""
    counts = [
        np.bincount(np.clip(np.searchsorted(starts, each, side="right") - 1, 0, None), minlength=len(starts))
        for each in (one, other)
    ]
    total_variation = float(np.abs(counts[0] - counts[1]).sum()) / (2 * max(1, len(one)))
    return Ratios(starts, np.log((counts[0] + 0.5) / (counts[1] + 0.5)), whole, total_variation)


def table(one: NDArray[Any], other: NDArray[Any]) -> Ratios:
    """Estimated from the values of one column under both data sets, (R,) each."""
    both = np.concatenate([one, other])
    starts = np.unique(both)
    if len(starts) > MAX_VALUES:
        starts = np.unique(np.quantile(both, np.linspace(0, 1, MAX_VALUES + 1)[:-1], method="higher"))
    return _tallied(one, other, starts, whole=False)


def joint(outcomes: Outcomes) -> NDArray[np.uint64]:
    """One number for each outcome (T,), the same for equal ones; different ones share one with negligible chance."""
    codes = np.zeros(len(outcomes), dtype=np.uint64)
    for column in outcomes.T:
        codes = (codes ^ (column.astype(np.float64) + 0.0).view(np.uint64)) * MIX
        codes ^= codes >> np.uint64(29)
    return codes


def _features(outcomes: Outcomes) -> list[Callable[[], NDArray[Any]]]:
    """What is looked at of outcomes (T, w), each (T,): columns, each less the one before it, and the sum of all.

    Differences show what the same noise in two places does not hide.
    """
    width = outcomes.shape[1]
    features: list[Callable[[], NDArray[Any]]] = [partial(outcomes.__getitem__, (slice(None), k)) for k in range(width)]
    if width > 1:
        features += [partial(_difference, outcomes, place) for place in range(1, width)]
        features.append(partial(outcomes.sum, axis=1, dtype=np.float64))
    return features


def _difference(outcomes: Outcomes, place: int) -> Floats:
    difference: Floats = outcomes[:, place].astype(np.float64) - outcomes[:, place - 1]
    return difference


@dataclass(frozen=True, eq=False)
class Order:
    """A way to score outcomes: a larger score where one data set gives an outcome more often.

    Scores of the features at ``places`` add up, as if they were independent; of no places: whole outcomes are scored.
    """

    places: tuple[int, ...]
    tables: tuple[Ratios, ...]

    def __call__(self, outcomes: Outcomes) -> Floats:
        """Scores of outcomes (T, w): (T,)."""
        if not self.places:
            return self.tables[0](joint(outcomes))
        features, scores = _features(outcomes), np.zeros(len(outcomes))
        for place, ratios in zip(self.places, self.tables, strict=True):
            scores += ratios(features[place]())
        return scores


def orders(one: Outcomes, other: Outcomes) -> tuple[Order, ...]:
    """Every way, estimated from outcomes of both data sets, (R, w) each: the simplest first.

    The feature that tells most by itself; all columns; all differences; whole outcomes.
    """
    codes, width = (joint(one), joint(other)), one.shape[1]
    tables = [table(first(), second()) for first, second in zip(_features(one), _features(other), strict=True)]
    ways: list[tuple[int, ...]] = [(int(np.argmax([ratios.total_variation for ratios in tables])),)]
    if width > 1:
        ways += [tuple(range(width)), tuple(range(width, len(tables)))]
    whole = Order((), (_tallied(*codes, np.unique(np.concatenate(codes)), whole=True),))
    return *(Order(places, tuple(tables[place] for place in places)) for places in ways), whole
