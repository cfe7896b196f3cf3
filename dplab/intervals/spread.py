"""Intervals for central moments of the sample and what is made of them: variances, slopes, correlations, skewness.

Let L(f) be the noise of the sum of f over the rows, a combination of the counters' noises, and h(f) a bound that it
exceeds with chance α. The functions f are about the true means a and b, so that no weight is a matter of chance. With
released rows n, means, variances and covariances (hats), by expanding the squares,
    n (û - a) = L(u - a),        n vâr = N var + L((v - b)^2) - L(v - b)^2/n,
    n côv = N cov + L((u - a)(v - b)) - L(u - a) L(v - b)/n,
    n µ̂3 = N µ3 + L((v - b)^3) - 3 vâr L(v - b) - L(v - b)^3/n^2.
So a statistic θ with top - θ bottom = 0, both linear in these moments, has a released difference that is the noise of
one fixed combination, but for terms of second order: θ is refuted where the difference exceeds h of that combination
plus bounds of these terms. A slope is cov - θ var(v) = 0. A correlation is cov - θ (var(u)/r + r var(v))/2 = 0 at the
ratio r of the true deviations, and a skewness is µ3 - θ (3 s var - s^3)/2 = 0 at the true deviation s. For these, r and
s take all values that variances within their own intervals allow: to first order they change nothing.

The true means are unknown as well: h is a norm of the weights (see ``ratios.py``), so that h about the true means is at
most h about the released ones plus h of the difference, where |û - a| <= h(u - a)/n. The first combination takes MAIN
of α, and the others share the rest. Refuted values are two convex sets, as h is convex in θ: what is left is one
interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Floats
from dpcore.mechanisms.grouped.statistics import factors
from dplab.intervals.interval import Interval, Kind, check_level
from dplab.intervals.noise import CounterNoise
from dplab.intervals.ratios import inverted

MAIN = 0.8
"""Share of α of the combination of first order."""
OF_THE_MEAN = 0.1
"""Share of α that the mean takes in the interval of a variance."""
FAR = 1e6
"""Limit of a slope or a skewness on ranges of length 1; further is infinite."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Released moments of one number in n groups, on a range of length 1, and bounds of their noise, (n,) each.

    Attributes:
        rows: released rows, in units of the counters; others where too few are left to say anything.
        silent: where too few rows are left.
        mean: released mean; may be out of its range.
        variance: released variance; may be below 0.
        about: weights of the powers 0, 1, … of the distance from the released mean, (degree + 1, n, counters).
        reach: h of each power, at the chance of the first combination.
        of_mean: bound of the noise of the first power about the true mean.
        least: lower end of what the variance may be, at least 0.
        most: upper end.
    """

    rows: Floats
    silent: Booleans
    mean: Floats
    variance: Floats
    about: Floats
    reach: Floats
    of_mean: Floats
    least: Floats
    most: Floats

    @property
    def away(self) -> Floats:
        """Bound of the distance of the released mean from the true one."""
        return self.of_mean / self.rows


def moments(
    counters: Floats, powers: Floats, noise: CounterNoise, *, of_mean: float, of_variance: float, main: float
) -> Moments:
    """Return the moments of one number from counters (n, m).

    Args:
        counters: released counters of each group.
        powers: weights of the powers 0, 1, 2, … of the number, (degree + 1, m).
        noise: of one counter.
        of_mean: chance that the bound of the mean fails; none of the others is smaller.
        of_variance: chance that an end of the variance does.
        main: chance of the first combination.
    """
    sums, none = counters @ powers.T, noise.reach(powers[:1], of_mean)
    silent = sums[:, 0] <= none
    rows = np.where(silent, 2 * none, sums[:, 0])
    means = (sums / rows[:, None]).T
    mean, variance = means[1], means[2] - means[1] ** 2
    ones, first, squares = (np.broadcast_to(each, counters.shape) for each in powers[:3])
    d = mean[:, None]
    about = [ones, first - d * ones, squares - 2 * d * first + d**2 * ones]
    if len(powers) > 3:
        about.append(powers[3] - 3 * d * squares + 3 * d**2 * first - d**3 * ones)
    line = noise.reach(about[1], of_mean) / (1 - none / rows)
    away = line / rows
    # Less the variance of as many rows: a number of rows that is too large has squares that are too many.
    off = noise.reach(about[2] - variance[:, None] * ones, of_variance)
    off += 2 * away * noise.reach(about[1], of_variance) + away**2 * none
    largest = np.clip(0.5, mean - away, mean + away)
    most = np.clip(variance + (off + line * away) / (rows - none), 0.0, np.maximum(0.0, largest * (1 - largest)))
    return Moments(
        rows=rows, silent=silent, mean=mean, variance=variance, about=np.stack(about),
        reach=np.stack([noise.reach(each, main) for each in about]), of_mean=line,
        least=np.clip(variance - off / (rows - none), 0.0, most), most=most,
    )  # fmt: skip


def variance(
    counters: NDArray[Any], powers: Floats, noise: CounterNoise, *, level: float, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return intervals for variances (divisor n) from counters (n, m); proved.

    Args:
        counters: released counters of each group.
        powers: weights of the powers of the number, (3 or more, m).
        noise: of one counter.
        level: share of releases whose interval holds the true variance.
        low: lower bound of the line.
        high: upper bound of the line.
    """
    alpha = check_level(level)
    of_mean, rest = OF_THE_MEAN * alpha, (1 - OF_THE_MEAN) * alpha
    found = moments(np.asarray(counters, np.float64), powers, noise, of_mean=of_mean, of_variance=rest, main=rest)
    ends = {"low": np.where(found.silent, 0.0, found.least), "high": np.where(found.silent, 0.25, found.most)}
    whole = Interval(**ends, level=level, kind=Kind.PROVED, says_nothing=found.silent)
    return whole.rescaled(0.0, (high - low) ** 2)


def standard_deviation(squares: Interval) -> Interval:
    """Return intervals for standard deviations (divisor n): roots of the variance's; proved."""
    return replace(squares, low=np.sqrt(squares.low), high=np.sqrt(squares.high))


@dataclass(frozen=True, kw_only=True, eq=False)
class Equation:
    """top - θ bottom = 0 about released moments, (n,) each, and bounds of what is not of first order.

    Attributes:
        top: released top.
        least: least value of the released bottom that the intervals of the variances allow.
        most: largest such value.
        up: weights of the top's noise, (n, m).
        down: weights of the bottom's noise.
        remainder: bound of the other terms.
        slope: bound of those that grow with θ.
        silent: where nothing can be said.
        noise: of one counter.
        alpha: chance of the first combination.
        limit: of θ; FAR for none.
    """

    top: Floats
    least: Floats
    most: Floats
    up: Floats
    down: Floats
    remainder: Floats
    slope: Floats
    silent: Booleans
    noise: CounterNoise
    alpha: float
    limit: float

    def tail(self, values: Floats) -> Floats:
        """Return a bound of the chance of a release at least as far from each value, (n,)."""
        ends = np.sort([self.top - values * self.least, self.top - values * self.most], axis=0)
        gap = np.maximum(0.0, np.maximum(ends[0], -ends[1])) - self.remainder - np.abs(values) * self.slope
        return self.noise.tail(np.maximum(0.0, gap), self.up - values[:, None] * self.down)

    def interval(self, *, level: float) -> Interval:
        """Return all θ between both limits that are not refuted; an end without a limit may be infinite."""
        # Where the bottom may be 0, nothing bounds θ.
        unbounded = self.least <= self.noise.reach(self.down, self.alpha) + self.slope
        silent: Booleans = self.silent | (unbounded & (self.limit == FAR))
        start = np.clip(self.top / np.where(silent | (self.least <= 0), 1.0, self.least), -self.limit, self.limit)
        found = inverted(
            self.tail, start, silent, low=-self.limit, high=self.limit, level=1 - self.alpha, kind=Kind.PROVED
        )
        if self.limit == FAR:
            found.low[found.low <= -FAR], found.high[found.high >= FAR] = -np.inf, np.inf
        return replace(found, level=level)


def slope(
    counters: Floats, first: Floats, second: Floats, product: Floats, noise: CounterNoise, *, level: float
) -> Equation:
    """Return the equation of slopes of the first number on the second, on ranges of length 1.

    Args:
        counters: released counters of each group, (n, m).
        first: weights of the powers of the first number, (3, m).
        second: those of the second.
        product: weights of the product of both, (m,).
        noise: of one counter.
        level: share of releases whose interval holds the true slope; proved.
    """
    u, v, top, up = _pair(counters, first, second, product, noise, level=level, bounds=2)
    bottom = v.rows * v.variance
    return Equation(
        top=top, least=bottom, most=bottom, up=up, down=v.about[2], remainder=_remainder(u, v), slope=_remainder(v, v),
        silent=u.silent, noise=noise, alpha=MAIN * check_level(level), limit=FAR,
    )  # fmt: skip


def correlation(
    counters: Floats, first: Floats, second: Floats, product: Floats, noise: CounterNoise, *, level: float
) -> Equation:
    """Return the equation of correlations. The rest is as in ``slope``."""
    u, v, top, up = _pair(counters, first, second, product, noise, level=level, bounds=4)
    silent = u.silent | (u.least <= 0) | (v.least <= 0)
    (a, least_u, largest_u), (b, least_v, largest_v) = (
        [np.where(silent, 1.0, each) for each in (of.variance, of.least, of.most)] for of in (u, v)
    )
    ratio, low, high = np.sqrt(a / b), np.sqrt(least_u / largest_v), np.sqrt(largest_u / least_v)
    low, high = np.minimum(low, ratio), np.maximum(high, ratio)  # a range ends at the largest variance of all
    ends = [(a / each + each * b) / 2 for each in (low, high)]
    change = np.maximum(1 / low - 1 / ratio, 1 / ratio - 1 / high) * u.reach[2]
    change += np.maximum(high - ratio, ratio - low) * v.reach[2]
    return Equation(
        top=top, least=u.rows * np.sqrt(a * b), most=u.rows * np.maximum(*ends), up=up,
        down=(u.about[2] / ratio[:, None] + ratio[:, None] * v.about[2]) / 2,
        remainder=_remainder(u, v), slope=(change + _remainder(u, u) / low + high * _remainder(v, v)) / 2,
        silent=silent, noise=noise,
        alpha=MAIN * check_level(level), limit=1.0,
    )  # fmt: skip


def _pair(
    counters: Floats,
    first: Floats,
    second: Floats,
    product: Floats,
    noise: CounterNoise,
    *,
    level: float,
    bounds: int,
) -> tuple[Moments, Moments, Floats, Floats]:
    """Return the moments of both numbers, the released sum of products about both means, and its weights.

    So many bounds share what the first combination leaves of α.
    """
    alpha = check_level(level)
    each, main = (1 - MAIN) * alpha / bounds, MAIN * alpha
    u, v = (moments(counters, powers, noise, of_mean=each, of_variance=each, main=main) for powers in (first, second))
    a, b = u.mean[:, None], v.mean[:, None]
    weights = product - a * second[1] - b * first[1] + a * b * first[0]
    return u, v, (counters * weights).sum(axis=1), weights


def _remainder(u: Moments, v: Moments) -> Floats:
    """Return a bound of the terms of second order in the sum of products about both means."""
    of_means = u.of_mean * v.of_mean * (1 + u.reach[0] / u.rows)
    remainder: Floats = (u.of_mean * v.reach[1] + v.of_mean * u.reach[1] + of_means) / u.rows
    return remainder


def skewness(counters: Floats, powers: Floats, noise: CounterNoise, *, level: float) -> Equation:
    """Return the equation of skewness from counters (n, m) and the weights of powers 0 to 3, (4, m)."""
    alpha = check_level(level)
    each, main = (1 - MAIN) * alpha / 2, MAIN * alpha
    u = moments(counters, powers, noise, of_mean=each, of_variance=each, main=main)
    silent = u.silent | (u.least <= 0)
    square, least, most = (np.where(silent, 1.0, each) for each in (u.variance, u.least, u.most))
    most = np.maximum(most, square)
    middle, low, high = np.sqrt(square), np.sqrt(least), np.sqrt(most)
    ends = [1.5 * each * square - 0.5 * each**3 for each in (low, high)]
    none, line, _, _ = u.reach
    off, change, away = np.maximum(square - least, most - square), np.maximum(middle - low, high - middle), u.away
    squares = noise.reach(u.about[2] - square[:, None] * u.about[0], main)
    remainder = 3 * away * squares + 3 * away**2 * line + away**3 * none + 3 * off * (line + away * none)
    remainder += u.of_mean * (3 * off + away**2)
    grows = 1.5 * change * squares + (1.5 * middle * change**2 + 0.5 * change**3) * none
    grows += 1.5 * high * away * (2 * line + away * none + u.of_mean)
    return Equation(
        top=(counters * u.about[3]).sum(axis=1), least=u.rows * np.minimum(*ends), most=u.rows * middle**3,
        up=u.about[3] - 3 * square[:, None] * u.about[1],
        down=1.5 * middle[:, None] * u.about[2] - 0.5 * (middle**3)[:, None] * u.about[0],
        remainder=remainder, slope=grows, silent=silent, noise=noise,
        alpha=MAIN * check_level(level), limit=FAR,
    )  # fmt: skip


def powers_of(degree: int) -> Floats:
    """Return the weights of the powers 0 to ``degree`` of a number, (degree + 1, degree + 1)."""
    return np.stack([factors(degree, power) for power in range(degree + 1)])
