"""Preview: seeded, reproducible, fast, on many trials at once. Not private: the seed undoes the noise."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Floats, Integers, ParameterError
from dpcore.randomness.candidates import Net
from dpcore.randomness.gates import DrawnGate, Gate, gate_budget
from dpcore.randomness.sampler import NEVER, Sampler, Statistic, check_choice, check_draw, check_listed

BLOCK = 1 << 15
"""Draws made at once: a block of doubles that stays in the processor's cache."""
SIGN = np.uint64(1 << 63)
WIDE = 4096.0
"""Deviations of Gaussian noise up to which the chances are worth a table."""
FEW_PLACES = 4
"""Places of cuts, as a multiple of the line's, that are sooner weighed one by one."""


def _kept(far: Integers, *, sigma: float) -> Floats:
    """Chance that a rounded normal this far from 0 is kept, elementwise, so that the kept ones are discrete Gaussian.

    e^(-z^2/(2 sigma^2)) over the normal's mass within a half of z. That mass is an average of the same curve, times
    cosh(z t/sigma^2) over |t| <= 1/2 with weights that do not depend on z: the chance is largest, and 1, at z = 0.
    """
    from scipy.special import ndtr

    z = far.astype(np.float64)
    mass = ndtr(-(z - 0.5) / sigma) - ndtr(-(z + 0.5) / sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(mass > 0, np.exp(-0.5 * (z / sigma) ** 2) / mass, 0.0)
    chance: Floats = ratio * (ndtr(0.5 / sigma) - ndtr(-0.5 / sigma))
    return chance


@lru_cache(maxsize=64)
def _laplace_offset(scale: float) -> float:
    """c = scale * ln(2/(1 + p)), at most 1, kept: a mechanism asks for the same noise thousands of times."""
    return float(scale * np.log(2 / (1 + np.exp(-1 / scale))))


class Preview(Sampler):
    """NumPy's SFC64 from a seed; the laws are those of the secure sampler."""

    name: ClassVar[str] = "preview"

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < 2**63:
            raise ParameterError("A seed is a whole number from 0 to 2^63 - 1.")
        self.seed = seed
        self._bits = np.random.SFC64(seed)
        self._generator = np.random.Generator(self._bits)
        self._summed: tuple[float, Integers, Floats, Floats] | None = None

    def _add_laplace(self, values: NDArray[Any], *, scale: float, shape: tuple[int, ...]) -> Integers:
        """Values (broadcast to shape) plus discrete Laplace noise, from one exponential and one sign bit a draw.

        |Z| = floor(scale * E + c) has Pr[|Z| >= k] = 2 p^k/(1 + p), the two-sided geometric (_laplace_offset).
        """
        offset = _laplace_offset(scale)
        out = np.empty(shape, dtype=np.int64)
        flat = out.reshape(-1)
        buffer = np.empty(min(BLOCK, flat.size))
        for start in range(0, flat.size, BLOCK):
            noise = buffer[: min(BLOCK, flat.size - start)]
            self._generator.standard_exponential(out=noise)
            noise *= scale
            noise += offset
            signs = self._bits.random_raw(noise.size)
            signs &= SIGN
            doubles = noise.view(np.uint64)
            doubles ^= signs
            flat[start : start + noise.size] = noise  # cut off towards 0
        out += values
        return out

    def noisy_counts(self, counts: Integers, *, epsilon: float, sensitivity: float, trials: int) -> Integers:
        """See Sampler."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        return self._add_laplace(counts, scale=sensitivity / epsilon, shape=(trials, counts.shape[1]))

    def gaussian_counts(self, counts: Integers, *, sigma: float, shift: tuple[int, ...], trials: int) -> Integers:
        """See Sampler. A rounded normal, thinned to the discrete law: nearly every draw is kept."""
        reach = int(np.ceil(9 * sigma)) + 2
        table = _kept(np.arange(reach + 1), sigma=sigma) if sigma <= WIDE else None
        noise = np.empty((trials, counts.shape[1]), dtype=np.int64).reshape(-1)
        todo = np.arange(noise.size)
        while todo.size:
            drawn = np.rint(self._generator.standard_normal(todo.size) * sigma).astype(np.int64)
            far = np.abs(drawn)
            chance = _kept(far, sigma=sigma) if table is None else table[np.minimum(far, reach)]
            kept = (self._generator.random(todo.size) < chance) & (far <= reach)
            noise[todo[kept]] = drawn[kept]
            todo = todo[~kept]
        return noise.reshape(trials, -1) + counts

    def at_least(
        self, values: Integers, threshold: NDArray[Any] | int, *, epsilon: float, sensitivity: float, trials: int
    ) -> Booleans:
        """See Sampler."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        if isinstance(threshold, int) and threshold >= NEVER:
            return np.zeros((trials, values.shape[1]), dtype=np.bool_)
        noisy = self._add_laplace(values, scale=sensitivity / epsilon, shape=(trials, values.shape[1]))
        reached: Booleans = noisy >= threshold
        return reached

    def choose(
        self,
        scores: Integers,
        *,
        epsilon: float,
        sensitivity: float,
        trials: int,
        rule: str = "exponential",
        allowed: Booleans | None = None,
    ) -> Integers:
        """See Sampler. Shared scores are inverted from one cumulative sum; others race with Gumbel noise.

        Permute-and-flip is the race with exponential noise (Ding et al. 2021).
        """
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        check_choice(rule=rule, allowed=allowed)
        utility = scores * (epsilon / (2 * sensitivity))
        if allowed is not None:
            utility = np.where(allowed, utility, -np.inf)
        if rule == "exponential" and len(utility) == 1:
            weights = np.cumsum(np.exp(utility[0] - utility[0].max()))
            uniform = self._generator.random(trials) * weights[-1]
            inverted: Integers = np.searchsorted(weights, uniform, side="right").astype(np.int64)
            return inverted
        chosen = np.empty(trials, dtype=np.int64)
        step = max(1, (1 << 20) // scores.shape[1])
        for start in range(0, trials, step):
            stop = min(trials, start + step)
            shape = (stop - start, scores.shape[1])
            noise = self._generator.standard_exponential(shape)
            if rule == "exponential":
                noise = -np.log(noise)
            chosen[start:stop] = np.argmax(noise + (utility if len(utility) == 1 else utility[start:stop]), axis=1)
        return chosen

    def choose_cut(
        self,
        cumulative: Integers,
        low: Integers,
        high: Integers,
        *,
        epsilon: float,
        sensitivity: float,
        trials: int,
    ) -> Integers:
        """See Sampler. Closed form: no cut is scored twice, unless that is quicker.

        Left of the middle the weight of cut c is e^(r (2C(c) - S)), right of it e^(r (S - 2C(c))), S the sum of C at
        the ends. So two running sums of e^(+-2rC), kept as logarithms, give the mass of any stretch of cuts by one
        subtraction. Neither loses digits: in each, later terms are at least as large as earlier ones.
        """
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        rate = epsilon / (2 * sensitivity)
        low, high = np.broadcast_to(low, (trials, low.shape[1])), np.broadcast_to(high, (trials, high.shape[1]))
        if int((high - low + 1).sum()) <= FEW_PLACES * len(cumulative):
            return self._cut_each(cumulative, low, high, rate=rate)
        rising, falling = self._running_sums(cumulative, rate=rate)
        ends = cumulative[low] + cumulative[high]
        middle = np.clip(np.searchsorted(2 * cumulative, ends, side="left"), low, high + 1)
        left = _log_difference(rising[middle], rising[low]) - rate * ends
        right = _log_difference(falling[middle], falling[high + 1]) + rate * ends
        goes_left = np.log(self._generator.random(low.shape)) < left - np.logaddexp(left, right)
        uniform = self._generator.random(low.shape)
        on_left = _log_mix(rising[low], rising[middle], uniform)
        on_right = _log_mix(falling[high + 1], falling[middle], uniform)
        cut_left = np.clip(np.searchsorted(rising, on_left, side="right") - 1, low, np.maximum(low, middle - 1))
        cut_right = np.searchsorted(-falling, -on_right, side="right") - 1
        cut_right = np.clip(cut_right, np.minimum(middle, high), high)
        return np.where(goes_left, cut_left, cut_right).astype(np.int64)

    def _running_sums(self, cumulative: Integers, *, rate: float) -> tuple[Floats, Floats]:
        """Logarithms of the running sums of e^(2rC) from the left and e^(-2rC) from the right, (U + 2,) each.

        The last ones are kept: the levels of one release cut the same line at the same rate.
        """
        if self._summed is None or self._summed[0] != rate or not np.array_equal(self._summed[1], cumulative):
            doubled = 2 * rate * cumulative.astype(np.float64)
            rising = np.concatenate([[-np.inf], np.logaddexp.accumulate(doubled)])
            falling = np.concatenate([np.logaddexp.accumulate(-doubled[::-1])[::-1], [-np.inf]])
            self._summed = rate, cumulative.copy(), rising, falling
        return self._summed[2:]

    def _cut_each(self, cumulative: Integers, low: Integers, high: Integers, *, rate: float) -> Integers:
        """A cut of each segment (T, k) by its weight beside the segment's best, all of them in one running sum."""
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
        drawn = before + self._generator.random(len(stops)) * (weights[stops - 1] - before)
        found = np.clip(np.searchsorted(weights, drawn, side="right"), stops - widths, stops - 1)
        cuts: Integers = places[found].reshape(low.shape)
        return cuts

    def choose_multiset(
        self, net: Net, *, epsilon: float, sensitivity: float, trials: int, rule: str = "exponential"
    ) -> Integers:
        """See Sampler. Scores of listed candidates are drawn first, then one that has it."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        check_choice(rule=rule, allowed=None)
        rate = epsilon / (2 * sensitivity)
        if net.candidates is None and rule == "exponential":
            return net.draw(self._generator, rate=rate, trials=trials)
        listed = check_listed(net)
        return listed.points[listed.draw(self._generator, rate=rate, rule=rule, trials=trials)].astype(np.int64)

    def sparse_gate(self, *, epsilon: float, sensitivity: int, updates: int, trials: int, answers: float = 0.0) -> Gate:
        """See Sampler."""
        budget = gate_budget(epsilon=epsilon, updates=updates, answers=answers)
        return DrawnGate(self, budget, sensitivity=sensitivity, trials=trials)

    def split(self, counts: Integers) -> Integers:
        """See Sampler. A row's coin is a bit of one word; where 64 are too few, a binomial draw."""
        heads = np.zeros(counts.shape, dtype=np.int64)
        (tossed,) = counts.reshape(-1).nonzero()
        if tossed.size:
            rows = counts.reshape(-1)[tossed]
            spare = (64 - np.minimum(rows, 64)).astype(np.uint64)
            found = np.bitwise_count(self._bits.random_raw(rows.size) >> spare).astype(np.int64)
            many = rows > 64
            if many.any():
                found[many] = self._generator.binomial(rows[many], 0.5)
            heads.reshape(-1)[tossed] = found
        return heads

    def integers(self, high: int, *, columns: int, trials: int) -> Integers:
        """See Sampler."""
        return self._generator.integers(0, high, (trials, columns))

    def votes(self, counts: Integers, statistic: Statistic, *, rows: int, times: int, trials: int) -> Integers:
        """See Sampler. Subsamples are independent, so the votes are one multinomial draw of the exact law."""
        law = statistic.law(counts, rows=rows)
        return self._generator.multinomial(times, law / law.sum(), size=trials)


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
