"""Private median cuts of an ordered line, by the exponential mechanism: a closed form makes previews of them fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers
from dpcore.randomness.choices import Choice
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import PureDraw, Sampler, check_whole

FEW_PLACES = 4
"""Places of cuts, as a multiple of the line's, that are sooner weighed one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class MedianCuts(PureDraw[Integers]):
    """A private median cut of each segment low..high (1 or T, k) of an ordered line, by the exponential mechanism.

    ``cumulative`` (U + 1,) counts the rows before each cut. Cut c, low <= c <= high, scores
    -|2 * (rows in low..c) - (rows in low..high)|; the k segments of one trial are disjoint, and ``sensitivity`` is how
    far a neighbour can move all their scores together.
    """

    cumulative: Integers
    low: Integers
    high: Integers

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        for values in (self.cumulative, self.low, self.high):
            check_whole(values)

    @override
    def composed(self, sampler: Sampler, trials: int) -> Integers:
        """A choice for each segment: their cuts are independent given the data."""
        cuts = []
        for segment in range(self.low.shape[1]):
            scores, allowed = cut_scores(self.cumulative, self.low[:, segment], self.high[:, segment])
            choice = Choice(scores, allowed=allowed, epsilon=self.epsilon, sensitivity=self.sensitivity)
            cuts.append(sampler.draw(choice, trials))
        return np.stack(cuts, axis=1)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """Closed form: no cut is scored twice, unless that is quicker.

        Left of the middle the weight of cut c is e^(r (2C(c) - S)), right of it e^(r (S - 2C(c))), S the sum of C at
        the ends. So two running sums of e^(+-2rC), kept as logarithms, give the mass of any stretch of cuts by one
        subtraction. Neither loses digits: in each, later terms are at least as large as earlier ones.
        """
        cumulative, rate, shape = self.cumulative, self.rate, (trials, self.low.shape[1])
        low, high = np.broadcast_to(self.low, shape), np.broadcast_to(self.high, shape)
        if int((high - low + 1).sum()) <= FEW_PLACES * len(cumulative):
            return _cut_each(preview.generator, cumulative, low, high, rate=rate)
        rising, falling = self._running_sums(preview)
        ends = cumulative[low] + cumulative[high]
        middle = np.clip(np.searchsorted(2 * cumulative, ends, side="left"), low, high + 1)
        left = _log_difference(rising[middle], rising[low]) - rate * ends
        right = _log_difference(falling[middle], falling[high + 1]) + rate * ends
        goes_left = np.log(preview.generator.random(low.shape)) < left - np.logaddexp(left, right)
        uniform = preview.generator.random(low.shape)
        on_left = _log_mix(rising[low], rising[middle], uniform)
        on_right = _log_mix(falling[high + 1], falling[middle], uniform)
        cut_left = np.clip(np.searchsorted(rising, on_left, side="right") - 1, low, np.maximum(low, middle - 1))
        cut_right = np.searchsorted(-falling, -on_right, side="right") - 1
        cut_right = np.clip(cut_right, np.minimum(middle, high), high)
        return np.where(goes_left, cut_left, cut_right).astype(np.int64)

    def _running_sums(self, preview: Preview) -> tuple[Floats, Floats]:
        """Logarithms of the running sums of e^(2rC) from the left and e^(-2rC) from the right, (U + 2,) each.

        The preview keeps the last ones: the levels of one release cut the same line at the same rate.
        """
        cached = preview.memo.get(MedianCuts)
        if cached is None or cached[0] != self.rate or not np.array_equal(cached[1], self.cumulative):
            doubled = 2 * self.rate * self.cumulative.astype(np.float64)
            rising = np.concatenate([[-np.inf], np.logaddexp.accumulate(doubled)])
            falling = np.concatenate([np.logaddexp.accumulate(-doubled[::-1])[::-1], [-np.inf]])
            cached = preview.memo[MedianCuts] = self.rate, self.cumulative.copy(), rising, falling
        return cached[2], cached[3]


def cut_scores(cumulative: Integers, low: Integers, high: Integers) -> tuple[Integers, Booleans]:
    """Return the scores (T, U + 1) and which cuts are allowed, for one segment low..high (T,) a trial."""
    cuts = np.arange(len(cumulative))
    allowed = (cuts >= low[:, None]) & (cuts <= high[:, None])
    scores = -np.abs(2 * cumulative[None, :] - cumulative[low][:, None] - cumulative[high][:, None])
    return scores.astype(np.int64), allowed


def _cut_each(
    generator: np.random.Generator, cumulative: Integers, low: Integers, high: Integers, *, rate: float
) -> Integers:
    """Return a cut of each segment (T, k) by its weight beside the segment's best, all of them in one running sum."""
    ends = cumulative[low] + cumulative[high]
    # The best cut is the last one below half of the rows or the one behind it.
    middle = np.clip(np.searchsorted(2 * cumulative, ends, side="left"), low, high)
    best = np.minimum(*(np.abs(2 * cumulative[np.maximum(place, low)] - ends) for place in (middle - 1, middle)))
    widths = (high - low + 1).reshape(-1)
    stops = np.cumsum(widths)
    places = np.arange(stops[-1]) + np.repeat(low.reshape(-1) - (stops - widths), widths)
    losses = np.abs(2 * cumulative[places] - np.repeat(ends.reshape(-1), widths))
    losses -= np.repeat(best.reshape(-1), widths)
    weights = np.cumsum(np.exp(-rate * losses))
    before = np.concatenate([[0.0], weights[stops[:-1] - 1]])
    drawn = before + generator.random(len(stops)) * (weights[stops - 1] - before)
    positions = np.clip(np.searchsorted(weights, drawn, side="right"), stops - widths, stops - 1)
    cuts: Integers = places[positions].reshape(low.shape)
    return cuts


def _log_difference(larger: Floats, smaller: Floats) -> Floats:
    """log(e^larger - e^smaller), -inf where they are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(np.isneginf(smaller), 0.0, np.exp(np.minimum(smaller - larger, 0.0)))
        difference: Floats = np.where(np.isneginf(larger), -np.inf, larger + np.log1p(-gap))
    return difference


def _log_mix(start: Floats, stop: Floats, share: Floats) -> Floats:
    """log(e^start + share * (e^stop - e^start))."""
    with np.errstate(divide="ignore"):
        mixed: Floats = np.logaddexp(start, _log_difference(stop, start) + np.log(share))
    return mixed
