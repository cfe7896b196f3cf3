"""Noisy counts: discrete Laplace, Gaussian or weighted noise, and comparisons of noisy values with thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers, ParameterError
from dpcore.core.sizes import MAX_COUNT, MAX_SENSITIVITY
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.laws import clamped_law, laplace_tail
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import Charge, Draw, PureDraw, Sampler, check_number, check_scale, check_whole
from dpcore.randomness.secure import Secure, uniform

NEVER = 1 << 62
"""A threshold that no noisy count reaches: the answer is public."""


@dataclass(frozen=True, eq=False, repr=False)
class NoisyCounts(PureDraw[Integers]):
    """Counts (1 or T, k) plus discrete Laplace noise of scale sensitivity/epsilon in each cell: (T, k)."""

    counts: Integers

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.counts)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """On one block of doubles after another."""
        return preview.laplace(self.counts, scale=self.scale, trials=trials)

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        return secure.laplace(self.counts, scale=self.scale, trials=trials)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        laws = clamped_law(self.counts, window=paths.window, kind="laplace", scale=self.scale)
        return paths.independent(laws, paths.values)


@dataclass(frozen=True, eq=False, repr=False)
class GaussianCounts(Draw[Integers]):
    """Counts (1 or T, k) plus discrete Gaussian noise of parameter sigma in each cell: (T, k).

    ``squared_shift`` is the squared L2 distance by which a neighbour moves the counts, a whole number; (epsilon,
    delta) follow from it and sigma. 1 and 2 are one and two cells moved by 1 each; of several draws, the pair of
    neighbours that costs most may leave some unmoved.
    """

    counts: Integers
    sigma: float = field(kw_only=True)
    squared_shift: int = field(kw_only=True)

    def __post_init__(self) -> None:
        if not (0 < self.sigma < math.inf):
            raise ParameterError(f"The noise needs a finite sigma above 0, got {self.sigma!r}.")
        check_scale(self.sigma)
        check_number("squared shift", self.squared_shift, low=0, high=MAX_SENSITIVITY**2)
        check_whole(self.counts)

    @override
    @property
    def charge(self) -> Charge:
        """Sigma, squared shift and how many numbers are drawn."""
        numbers = self.counts.shape[1]
        return Charge(type(self).__name__, sigma=self.sigma, squared_shift=self.squared_shift, numbers=numbers)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """A rounded normal, thinned to the discrete law."""
        noise = preview.gaussian((trials, self.counts.shape[1]), sigma=self.sigma)
        noise += self.counts
        return noise

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        return secure.gaussian(self.counts, sigma=self.sigma, trials=trials)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        laws = clamped_law(self.counts, window=paths.window, kind="gaussian", scale=self.sigma)
        return paths.independent(laws, paths.values)


@dataclass(frozen=True, eq=False, repr=False)
class NoisyComparisons(PureDraw[Booleans]):
    """Comparison value + discrete Laplace noise >= threshold, elementwise on values (1 or T, k): (T, k).

    Thresholds are public whole numbers, broadcast against the values; noise has scale sensitivity/epsilon. NEVER as
    the one threshold stands for an unused comparison: the draw and its charge stay, and a preview does no work.
    """

    values: Integers
    threshold: NDArray[Any] | int

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.values)
        check_whole(np.asarray(self.threshold), low=-NEVER, high=NEVER)

    @override
    def composed(self, sampler: Sampler, trials: int) -> Booleans:
        counts = NoisyCounts(self.values, epsilon=self.epsilon, sensitivity=self.sensitivity)
        reached: Booleans = sampler.draw(counts, trials) >= self.threshold
        return reached

    @override
    def previewed(self, preview: Preview, trials: int) -> Booleans:
        """Draw as composed, except for unused comparisons."""
        if isinstance(self.threshold, int) and self.threshold >= NEVER:
            return np.zeros((trials, self.values.shape[1]), dtype=np.bool_)
        return self.composed(preview, trials)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Booleans:
        """The tail of the noise: two branches a value."""
        needed = np.broadcast_to(self.threshold, np.broadcast_shapes(np.shape(self.threshold), self.values.shape))
        yes = laplace_tail(needed - self.values, scale=self.scale)
        reached: Booleans = paths.independent(np.stack([1 - yes, yes], axis=-1), np.array([False, True]))
        return reached


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
