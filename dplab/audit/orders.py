"""Outcomes ordered by their estimated likelihood ratio between two data sets.

The most powerful event for testing a claim collects the outcomes with the largest likelihood ratio first (Neyman and
Pearson). The ratios of an unknown program are estimated from runs, in a few ways; a second set of runs selects the best
way. A bad estimate costs power but not validity, as the test uses a third set of runs.
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
"""Outcomes of runs, (T, w): finite numbers of any type."""

MAX_VALUES = 64
"""Largest number of distinct values in a column; more values are grouped into as many bins of equal mass."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose multiples are spread over all 64-bit numbers."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """Estimated log-likelihood ratios of bins or values.

    Attributes:
        starts: the first value of each bin, (K,).
        scores: log-ratio of each bin, (K,).
        whole: each bin is a single value; values between them score 0.
        total_variation: observed total variation distance between the two data sets.
    """

    starts: NDArray[Any]
    scores: Floats
    whole: bool
    total_variation: float

    def __call__(self, values: NDArray[Any]) -> Floats:
        """Return the scores of values (T,)."""
        places = np.clip(np.searchsorted(self.starts, values, side="right") - 1, 0, None)
        scores: Floats = self.scores[places]
        return np.where(self.starts[places] == values, scores, 0.0) if self.whole else scores


def _tallied(one: NDArray[Any], other: NDArray[Any], starts: NDArray[Any], *, whole: bool) -> Ratios:
    """Estimate the log-ratios of values (R,) of each data set; every count gets one half more, so that none is 0."""
    counts = [
        np.bincount(np.clip(np.searchsorted(starts, each, side="right") - 1, 0, None), minlength=len(starts))
        for each in (one, other)
    ]
    total_variation = float(np.abs(counts[0] - counts[1]).sum()) / (2 * max(1, len(one)))
    return Ratios(starts, np.log((counts[0] + 0.5) / (counts[1] + 0.5)), whole, total_variation)


def table(one: NDArray[Any], other: NDArray[Any]) -> Ratios:
    """Estimate log-ratios from the values of one column under both data sets, (R,) each."""
    both = np.concatenate([one, other])
    starts = np.unique(both)
    if len(starts) > MAX_VALUES:
        starts = np.unique(np.quantile(both, np.linspace(0, 1, MAX_VALUES + 1)[:-1], method="higher"))
    return _tallied(one, other, starts, whole=False)


def joint(outcomes: Outcomes) -> NDArray[np.uint64]:
    """Hash each outcome to one number, (T,); different outcomes collide with negligible probability."""
    codes = np.zeros(len(outcomes), dtype=np.uint64)
    for column in outcomes.T:
        codes = (codes ^ (column.astype(np.float64) + 0.0).view(np.uint64)) * MIX
        codes ^= codes >> np.uint64(29)
    return codes


def _features(outcomes: Outcomes) -> list[Callable[[], NDArray[Any]]]:
    """Return the features of outcomes (T, w), (T,) each: columns, differences of adjacent columns, and their sum.

    Differences reveal noise that two columns share.
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
    """Scoring of outcomes: a larger score where data set 0 gives an outcome more often.

    The scores of the features at ``places`` are added, as if they were independent; without places, whole outcomes
    are scored.
    """

    places: tuple[int, ...]
    tables: tuple[Ratios, ...]

    def __call__(self, outcomes: Outcomes) -> Floats:
        """Return the scores (T,) of outcomes (T, w)."""
        if not self.places:
            return self.tables[0](joint(outcomes))
        features, scores = _features(outcomes), np.zeros(len(outcomes))
        for place, ratios in zip(self.places, self.tables, strict=True):
            scores += ratios(features[place]())
        return scores


def orders(one: Outcomes, other: Outcomes) -> tuple[Order, ...]:
    """Return all scorings, estimated from outcomes of both data sets, (R, w) each, the simplest first.

    They use the feature with the largest total variation; all columns; all differences; whole outcomes.
    """
    codes, width = (joint(one), joint(other)), one.shape[1]
    tables = [table(first(), second()) for first, second in zip(_features(one), _features(other), strict=True)]
    ways: list[tuple[int, ...]] = [(int(np.argmax([ratios.total_variation for ratios in tables])),)]
    if width > 1:
        ways += [tuple(range(width)), tuple(range(width, len(tables)))]
    whole = Order((), (_tallied(*codes, np.unique(np.concatenate(codes)), whole=True),))
    return *(Order(places, tuple(tables[place] for place in places)) for places in ways), whole
