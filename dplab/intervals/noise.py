"""Noise of one counter, and bounds of the tail of a combination of few counters' noises.

Discrete Laplace: with q = e^(-1/b) and E exponential of mean 1, |Z| is the whole part of b E + c, c = b ln(2/(1 + q)).
So the same E and sign give a continuous Laplace variable within d = 1 - c of Z (c is at most 1/2, and d tends to it
as b grows). A combination sum of w_i Z_i is therefore within d sum |w_i| of the continuous one, whose tail is
    Pr[|S| >= x] = sum over j of A_j e^(-x/(b |w_j|)),  A_j = product over i != j of w_j^2/(w_j^2 - w_i^2),
by partial fractions of its characteristic function. A larger |w_i| makes that tail larger (the laws are symmetric and
unimodal), so that weights of nearly equal size may be moved apart, upwards, before the formula is used.

The sum alternates, and loses all digits for more than a few weights. Then the tail is read off the characteristic
function phi(t) = product of 1/(1 + (b w_j t)^2) at t_k = (k + 1/2) h, in units of the largest b |w_j| (Davies 1973):
    sum over k of phi(t_k) sin(t_k x) 2/(pi (k + 1/2)) = E[square(x + S)],
square the wave that is 1 on (0, 2 pi/h) and -1 on (-2 pi/h, 0). So the sum is Pr[|S| < x] but for at most twice the
chance of |S| > 2 pi/h - x, which is at most 2 (4/3)^m e^(-(2 pi/h - x)/2) by Chernoff's bound at 1/2. The terms left
out after K are at most phi(T) (1 + T^2)/(pi T^2) together, T = K h, as phi(t) t^2 falls beyond T.

Discrete Gaussian: by Poisson summation (Peikert 2010), Z plus an independent N(0, r^2) has at most 1 + eta times the
density of N(0, sigma^2 + r^2), where with s^2 = sigma^2 r^2/(sigma^2 + r^2) and y = e^(-2 pi^2 s^2)
    eta = 2 (y + y^4 + y^9 + ...) <= 2 y/(1 - y^3).
The added part of a combination is above -3.5 of its deviations except with chance 2.4e-4, so
    Pr[S >= x] <= (1 + eta)^m Pr[N(0, (sigma^2 + r^2) |w|^2) >= x - 3.5 r |w|]/(1 - 2.4e-4).
The same holds of noises of several sigma, with the sum of (sigma_i^2 + r^2) w_i^2 and the eta of the smallest sigma.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers, ParameterError
from dpcore.randomness.laws import gaussian_masses, laplace_quantile, laplace_tail, laplace_variance

APART = 1e-3
"""Relative distance to which weights of nearly equal size are moved apart."""
MAX_WEIGHTS = 4
"""Weights of the closed formula: with more, its alternating sum loses too many digits."""
FREQUENCIES = (96, 192, 512)
"""K: terms of the sum for more weights; the fewest that leave out less than LEFT_OUT."""
LEFT_OUT = 1e-7
NEGLIGIBLE = 1e-9
"""Chance of a sum so far out that it is taken for a nearer one."""
ROWS_AT_ONCE = 2048
"""Combinations of more weights whose terms are held at once."""
REACH_HALVINGS = 18
RADIUS = 0.8
"""r: deviation of the normal part that smooths discrete Gaussian noise."""
LIKELY, UNLIKELY = 3.5, 2.4e-4
"""Deviations that the normal part exceeds downwards with at most this chance."""
WIDE = 4096.0
"""Sigma up to which the exact law of Gaussian noise is tabulated."""


@dataclass(frozen=True)
class CounterNoise(ABC):
    """Independent noise of whole-number counters; ``scale`` is in the counters' own units."""

    scale: float

    def __post_init__(self) -> None:
        if not (0 < self.scale < math.inf):
            raise ParameterError(f"Noise needs a finite scale above 0, got {self.scale!r}.")

    enumerated_up_to: ClassVar[float]
    """Largest scale at which the bound of ``tail`` widens intervals by over 1%, so that both noises are enumerated."""
    of_sums: ClassVar[bool] = False
    """Whether it is the noise of a coarser group's counters, not of each of the counters that add up to them."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """Standard deviation of one counter's noise."""

    @abstractmethod
    def half_width(self, alpha: float) -> int:
        """Return the least whole k with Pr[|Z| > k] at most alpha, by the exact law."""

    def coverage(self, half_width: float) -> float:
        """Return Pr[|Z| <= half_width], by the exact law; the half-width is at least 0."""
        return 1 - 2 * float(self.upper(np.array(math.floor(half_width) + 1.0)))

    @abstractmethod
    def upper(self, j: Floats) -> Floats:
        """Return Pr[Z >= j] for whole numbers j, elementwise, exactly."""

    @abstractmethod
    def log_mgf(self, t: Floats) -> Floats:
        """Return an upper bound of ln E e^(t Z), elementwise; infinity where there is none."""

    @abstractmethod
    def tail(self, x: Floats, weights: Floats) -> Floats:
        """Return a proved upper bound of Pr[|sum of w_i Z_i| >= x]: x (...), weights (..., m)."""

    def reach(self, weights: Floats, alpha: float) -> Floats:
        """Return x with Pr[|sum of w_i Z_i| > x] at most alpha, weights (n, m): shape (n,); proved."""
        size = np.abs(weights).sum(axis=1)
        # Each noise exceeds this with a chance of at most alpha/m.
        outside: Floats = size * self.half_width(alpha / weights.shape[1])
        inside = np.zeros_like(outside)
        tail = self.tails(weights)
        for _ in range(REACH_HALVINGS):
            middle = (inside + outside) / 2
            above = tail(middle) > alpha
            inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
        return outside

    def tails(self, weights: Floats) -> Callable[[Floats], Floats]:
        """Return ``tail`` of these weights, for many x."""
        return lambda x: self.tail(x, weights)


@dataclass(frozen=True)
class LaplaceNoise(CounterNoise):
    """Discrete Laplace noise of scale b = sensitivity/epsilon."""

    enumerated_up_to: ClassVar[float] = 24.0

    @classmethod
    def of(cls, *, epsilon: float, sensitivity: int) -> LaplaceNoise:
        """Return the noise of ``NoisyCounts`` at this epsilon and L1 sensitivity."""
        if not (epsilon > 0 and sensitivity > 0):
            raise ParameterError(f"Epsilon and the sensitivity must be above 0, got {epsilon!r} and {sensitivity!r}.")
        return cls(sensitivity / epsilon)

    @override
    @property
    def deviation(self) -> float:
        return math.sqrt(laplace_variance(self.scale))

    @property
    def shift(self) -> float:
        """d: largest distance of the noise from a continuous Laplace variable drawn with it."""
        return 1 - self.scale * (math.log(2) - math.log1p(math.exp(-1 / self.scale)))

    @override
    def half_width(self, alpha: float) -> int:
        k = max(0, laplace_quantile(alpha, scale=self.scale) - 2)  # one less than the last, which rounding may raise
        while 2 * float(laplace_tail(k + 1, scale=self.scale)) > alpha:
            k += 1
        return k

    @override
    def upper(self, j: Floats) -> Floats:
        return laplace_tail(j, scale=self.scale)

    @override
    def log_mgf(self, t: Floats) -> Floats:
        # (1 - q)^2/((1 - q e^t)(1 - q e^-t)), finite for |t| < 1/b.
        size = np.abs(t)
        near = np.minimum(size, (1 - 1e-9) / self.scale)
        factors = np.log(-np.expm1(near - 1 / self.scale)) + np.log(-np.expm1(-near - 1 / self.scale))
        finite = size * self.scale < 1 - 1e-9
        return np.where(finite, 2 * np.log(-np.expm1(-1 / self.scale)) - factors, np.inf)

    def mixture(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return scales (..., m) and factors A (..., m) of a continuous combination, weights (..., m): see above.

        Raises:
            ParameterError: there are more weights than the formula takes.
        """
        size = np.sort(np.abs(weights), axis=-1)
        count = size.shape[-1]
        if count > MAX_WEIGHTS:
            raise ParameterError(f"The formula of a tail takes at most {MAX_WEIGHTS} weights, got {count}.")
        size[..., 0] = np.maximum(size[..., 0], np.maximum(1e-9 * size[..., -1], 1e-300))
        for j in range(1, count):
            size[..., j] = np.maximum(size[..., j], size[..., j - 1] * (1 + APART))
        square = size**2
        others = square[..., :, None] - square[..., None, :] + np.eye(count) * square[..., None]
        return self.scale * size, np.prod(square[..., None] / others, axis=-1)

    @override
    def tail(self, x: Floats, weights: Floats) -> Floats:
        if weights.shape[-1] > MAX_WEIGHTS:
            flat = np.broadcast_to(weights, (*np.shape(x), weights.shape[-1])).reshape(-1, weights.shape[-1])
            return self.tails(flat)(np.ravel(x)).reshape(np.shape(x))
        scales, factors = self.mixture(weights)
        left = np.maximum(0.0, x - self.shift * np.abs(weights).sum(axis=-1))
        total = (factors * np.exp(-left[..., None] / scales)).sum(axis=-1)
        rounding = 1e-15 * (1 / APART) ** (weights.shape[-1] - 1)
        return np.where(left > 0, np.clip(total + rounding, 0.0, 1.0), 1.0)

    @override
    def tails(self, weights: Floats) -> Callable[[Floats], Floats]:
        if weights.shape[-1] <= MAX_WEIGHTS:
            return super().tails(weights)
        shares = (np.abs(weights) / np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1e-300)) ** 2
        # Both the largest x and what lies beyond it are this far away.
        far = 2 * math.log(2 / NEGLIGIBLE) + 2 * weights.shape[1] * math.log(4 / 3)
        ends = [count * math.pi / far for count in FREQUENCIES]
        left_out = [(1 + end**2) / (math.pi * end**2) / np.prod(1 + shares * end**2, axis=1) for end in ends]
        enough = np.stack([*(each < LEFT_OUT for each in left_out[:-1]), np.ones(len(weights), dtype=np.bool_)])
        choice = enough.argmax(axis=0)
        parts = list[tuple[Integers, Callable[[Floats], Floats]]]()
        for place, count in enumerate(FREQUENCIES):
            rows = np.flatnonzero(choice == place)
            for at in range(0, len(rows), ROWS_AT_ONCE):
                some = rows[at : at + ROWS_AT_ONCE]
                error = left_out[place][some] + 2 * NEGLIGIBLE + 1e-12
                parts.append((some, self._by_frequencies(weights[some], shares[some], count, far, error)))

        def tail(x: Floats) -> Floats:
            chances = np.ones(len(weights))
            for rows, part in parts:
                chances[rows] = part(x[rows])
            return chances

        return tail

    def _by_frequencies(
        self, weights: Floats, shares: Floats, count: int, far: float, error: Floats
    ) -> Callable[[Floats], Floats]:
        """Return the tail of combinations (n, m) by so many terms, with squares of weights relative to the largest."""
        sizes = np.abs(weights)
        unit, moved = self.scale * np.maximum(sizes.max(axis=1), 1e-300), self.shift * sizes.sum(axis=1)
        times = (np.arange(count) + 0.5) * (math.pi / far)
        inverse = np.ones((len(weights), count))
        for share in shares.T:
            inverse *= 1 + share[:, None] * times**2
        terms = 2 / (math.pi * (np.arange(count) + 0.5)) / inverse

        def tail(x: Floats) -> Floats:
            away = np.minimum(far, (x - moved) / unit)
            within = (terms * np.sin(away[:, None] * times)).sum(axis=1)
            return np.where(away > 0, np.minimum(1.0, 1 - within + error), 1.0)

        return tail


@dataclass(frozen=True)
class GaussianNoise(CounterNoise):
    """Discrete Gaussian noise of parameter sigma."""

    enumerated_up_to: ClassVar[float] = 128.0

    @override
    @property
    def deviation(self) -> float:
        return self.scale

    @property
    def is_exact(self) -> bool:
        """Whether the exact law of one counter's noise is tabulated."""
        return self.scale <= WIDE

    @override
    def half_width(self, alpha: float) -> int:
        if not self.is_exact:
            return math.ceil(self.normal_bound(alpha))
        reach, masses = gaussian_masses(self.scale)
        beyond = 2 * np.cumsum(masses[::-1])[:reach]  # Pr[|Z| >= j] for j = reach..1
        return int(reach - np.searchsorted(beyond, alpha, side="right"))

    @override
    def upper(self, j: Floats) -> Floats:
        if not self.is_exact:
            raise ParameterError(f"The exact law of Gaussian noise is tabulated up to sigma {WIDE:g}.")
        reach, masses = gaussian_masses(self.scale)
        tails = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
        return tails[np.clip(np.asarray(j).astype(np.int64) + reach, 0, 2 * reach + 1)]

    @override
    def log_mgf(self, t: Floats) -> Floats:
        # Canonne, Kamath and Steinke (2020): it is subgaussian with its parameter.
        return np.asarray((t * self.scale) ** 2 / 2)

    def normal_bound(self, alpha: float) -> float:
        """Return a bound of one noise: Pr[Z >= k + 1] is at most that of a normal to exceed k.

        Canonne, Kamath and Steinke (2020).
        """
        from scipy.special import ndtri

        return -self.scale * float(ndtri(alpha / 2)) * (1 + 1e-9)

    @property
    def parts(self) -> tuple[float, float, int]:
        """Euclidean length of the coefficients of one counter's noises, their least sigma, and their number."""
        return 1.0, self.scale, 1

    def _smoothed(self, weights: Floats) -> tuple[Floats, Floats, float]:
        """Return how far smoothing moves a sum at most, its deviation then, and the factor of its tail; see above."""
        (length, smallest, numbers), size = self.parts, np.sqrt((weights**2).sum(axis=-1))
        square = (smallest * RADIUS) ** 2 / (smallest**2 + RADIUS**2)
        first = math.exp(-2 * math.pi**2 * square)
        factor = 2 * (1 + 2 * first / (1 - first**3)) ** (numbers * weights.shape[-1]) / (1 - UNLIKELY)
        return LIKELY * RADIUS * length * size, math.hypot(self.scale, RADIUS * length) * size, factor

    @override
    def tail(self, x: Floats, weights: Floats) -> Floats:
        from scipy.special import ndtr

        moved, deviation, factor = self._smoothed(weights)
        return np.where(x > moved, np.minimum(1.0, factor * ndtr(-np.maximum(0.0, x - moved) / deviation)), 1.0)

    def bound_of(self, weights: Floats, alpha: float) -> float:
        """Return x with ``tail`` of at most alpha, for weights (m,) of any number."""
        from scipy.special import ndtri

        moved, deviation, factor = self._smoothed(weights)
        return float(moved - deviation * ndtri(alpha / factor) * (1 + 1e-9))


@dataclass(frozen=True)
class PlannedNoise(GaussianNoise):
    """Noise of counters that are put together from Gaussian noises of several sigma; the scale is its deviation.

    Attributes:
        length: Euclidean length of the coefficients of the noises.
        smallest: least sigma of the noises.
        numbers: noises of one counter.
    """

    length: float
    smallest: float
    numbers: int
    enumerated_up_to: ClassVar[float] = 0.0
    of_sums: ClassVar[bool] = True

    @override
    @property
    def is_exact(self) -> bool:
        return False

    @override
    @property
    def parts(self) -> tuple[float, float, int]:
        return self.length, self.smallest, self.numbers

    @override
    def normal_bound(self, alpha: float) -> float:
        return self.bound_of(np.ones(1), alpha)
