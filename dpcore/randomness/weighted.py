"""Counts plus noise from a public list of whole weights, sampled exactly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers, ParameterError
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import MAX_COUNT, Charge, Draw, check_whole
from dpcore.randomness.secure import Secure, uniform


@dataclass(frozen=True, eq=False, repr=False)
class WeightedCounts(Draw[Integers]):
    """Counts (1, k) plus independent noise in each: (T, k).

    Attributes:
        counts: that it protects.
        weights: of the noise first, first + 1, ..., (m,): its chances are these over their sum, at most 2^61.
        first: smallest noise.
        epsilon, delta: what the mechanism proves for noise of these weights.
    """

    counts: Integers
    weights: Integers = field(kw_only=True)
    first: int = field(kw_only=True)
    epsilon: float = field(kw_only=True)
    delta: float = field(kw_only=True)

    def __post_init__(self) -> None:
        check_whole(self.counts)
        check_whole(self.weights, low=1)
        if not 0 < sum(map(int, self.weights)) <= MAX_COUNT or len(self.counts) != 1:
            raise ParameterError("The noise needs weights that add up to at most 2^61, and counts of one data set.")

    @override
    @property
    def charge(self) -> Charge:
        return Charge(type(self).__name__, epsilon=self.epsilon, delta=self.delta)

    def _noisy(self, uniforms: Integers, trials: int) -> Integers:
        """Return the counts with the noise of uniform whole numbers below the sum of the weights."""
        noise = np.searchsorted(np.cumsum(self.weights), uniforms, side="right") + self.first
        noisy: Integers = self.counts + noise.reshape(trials, -1)
        return noisy

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        size = trials * self.counts.shape[1]
        return self._noisy(preview.generator.integers(0, int(self.weights.sum()), size), trials)

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        return self._noisy(uniform(int(self.weights.sum()), trials * self.counts.shape[1]), trials)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        low, high = paths.window
        laws: Floats = np.zeros((1, self.counts.shape[1], len(paths.values)))
        for place, count in enumerate(self.counts[0]):
            noisy = np.clip(count + self.first + np.arange(len(self.weights)), low, high) - low
            np.add.at(laws[0, place], noisy, self.weights / int(self.weights.sum()))
        return paths.independent(laws, paths.values)
