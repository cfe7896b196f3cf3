"""The attack on floating-point Laplace noise.

Textbook code draws Laplace noise as scale * log(uniform) with doubles. On paper that is private. In a computer the
uniform is one of 2^53 numbers, so the noise is one of at most 2^54 numbers, full of holes; and adding it to the true
count rounds it differently for each count. Most doubles that can come out of the count 0 cannot come out of the count
1. So an attacker tries, for each suspected count, every uniform that could have led to the number on the page: if
none does, the count is ruled out *for certain*, whatever ε was. Looking at the lowest bits undoes the privacy of the
highest.

Drawing discrete noise on whole numbers exactly leaves no such trace: every whole number can come out of every count,
with the right chances. The same attack, run on the secure sampler, does no better than e^ε/(1 + e^ε), the most that
any attack can (odds.py).

``naive_laplace`` is the deliberately broken implementation, here so that it can be attacked; nothing releases with it.

References:
    Mironov (2012), On Significance of the Least Significant Bits for Differential Privacy, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, ParameterError
from dpcore.limits.bounds.odds import best_guess
from dpcore.limits.chance import binomial_interval, check_loss
from dpcore.randomness import NoisyCounts, Secure

UNIFORMS = 2.0**53
"""Uniform doubles as generators make them: whole multiples of 2^-53."""
MAX_CANDIDATES = 4096
"""Uniforms tried on either side; where more could lead to an output, it is taken to be reachable."""


def naive_laplace(value: float, *, scale: float, trials: int, seed: int) -> Floats:
    """BROKEN ON PURPOSE: value plus floating-point Laplace noise, shape (T,), by the textbook's inverse transform."""
    _check_scale(scale)
    generator = np.random.default_rng(seed)
    uniform = 1 - generator.random(trials)  # in (0, 1]
    sign = np.where(generator.random(trials) < 0.5, -1.0, 1.0)
    return _noisy(value, sign, uniform, scale)


def _noisy(value: float, sign: Floats, uniform: Floats, scale: float) -> Floats:
    """Return the output of the naive implementation, operation by operation."""
    noisy: Floats = value + sign * (scale * np.log(uniform))
    return noisy


def reachable(outputs: Floats, value: float, *, scale: float) -> Booleans:
    """Return whether the naive implementation can turn ``value`` into each output at all, shape (T,).

    False is a proof: every uniform that could round to the output was tried. The output is within half a unit in its
    last place of value + noise, which bounds the distance of the uniform from e^(-|output - value|/scale).
    """
    _check_scale(scale)
    noise = outputs - value
    with np.errstate(under="ignore"):
        centre = np.rint(np.exp(-np.abs(noise) / scale) * UNIFORMS)
    unit = np.spacing(np.maximum(np.abs(outputs), np.abs(value))) + 4 * np.spacing(np.abs(noise))
    reach = np.ceil(centre * (unit / scale + (np.abs(noise) / scale + 4) * 2.0**-51)) + 8
    is_reachable: Booleans = reach > MAX_CANDIDATES
    sign = np.where(noise > 0, -1.0, 1.0)  # the logarithm is negative
    for offset in range(int(reach[~is_reachable].max(initial=-1)) + 1):
        todo = np.flatnonzero(~is_reachable & (reach >= offset))
        for side in (offset, -offset):
            candidate = centre[todo] + side
            possible = (candidate >= 1) & (candidate <= UNIFORMS)
            rebuilt = _noisy(value, sign[todo], np.where(possible, candidate, 1.0) / UNIFORMS, scale)
            is_reachable[todo] |= possible & (rebuilt == outputs[todo])
    return is_reachable


SURE = 1 - 1e-6
"""Confidence of a verdict: at 95%, one visitor in forty would read that the secure sampler is broken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Guesses:
    """Which of two counts each output came from, as the attacker thinks.

    Attributes:
        high: True where the guess is the higher count, shape (T,).
        certain: True where naive_laplace cannot make the other count this, shape (T,): the witness a test recomputes.
    """

    high: Booleans
    certain: Booleans


def attack(outputs: Floats, *, low: float, high: float, scale: float) -> Guesses:
    """Guess the count behind each output (T,): the only one that can lead to it, or else the nearer one."""
    if not low < high:
        raise ParameterError("The two counts must differ, the lower one first.")
    from_low, from_high = reachable(outputs, low, scale=scale), reachable(outputs, high, scale=scale)
    certain = from_low != from_high
    return Guesses(high=np.where(certain, from_high, outputs > (low + high) / 2), certain=certain)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """An attack scored over many outputs of both counts.

    Attributes:
        success: share guessed rightly.
        interval: its exact interval.
        allowed: the most that any attack on an ε-private release can expect, e^ε/(1 + e^ε).
        certain: share in which the attack rules one count out, rightly so if the outputs are naive_laplace's.
        trials: outputs in all.
    """

    success: float
    interval: tuple[float, float]
    allowed: float
    certain: float
    trials: int

    @property
    def broken(self) -> bool:
        """Return whether the success is above what privacy allows even at the low end of its interval."""
        return self.interval[0] > self.allowed


def score(
    from_low: Floats, from_high: Floats, *, low: float, high: float, epsilon: float, confidence: float = SURE
) -> Verdict:
    """Attack equally many outputs of each count, released with privacy loss ε (noise of scale (high - low)/ε)."""
    check_loss(epsilon=epsilon)
    if len(from_low) != len(from_high):
        raise ParameterError("There must be equally many outputs of each count.")
    scale = (high - low) / epsilon
    guesses = attack(np.concatenate([from_low, from_high]), low=low, high=high, scale=scale)
    truth = np.repeat([False, True], len(from_low))
    right, trials = int((guesses.high == truth).sum()), len(truth)
    bottom, top = binomial_interval(right, trials, confidence=confidence)
    return Verdict(
        success=right / trials,
        interval=(float(bottom), float(top)),
        allowed=float(best_guess(0.5, epsilon=epsilon)),
        certain=float(guesses.certain.mean()),
        trials=trials,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """Results of the same attack on both implementations, and some naive releases in detail.

    Attributes:
        low: the lower count; the other is one more.
        naive: verdict on floating-point noise.
        secure: verdict on the secure sampler.
        outputs: naive releases, the first half of them of the lower count, (S,).
        possible: whether each can come from the lower count and from the higher, (2, S).
        guesses: what the attacker says of each.
    """

    low: int
    naive: Verdict
    secure: Verdict
    outputs: Floats
    possible: Booleans
    guesses: Guesses


def attack_both(
    *, low: int, epsilon: float, seed: int, each: int = 5_000, shown: int = 8
) -> Generator[float, None, Attacked]:
    """Release two neighbouring counts both ways and attack; yields the fraction done.

    Args:
        low: the lower count.
        epsilon: privacy loss claimed.
        seed: of the naive noise; the secure sampler has the system's entropy.
        each: releases of each count.
        shown: naive releases taken apart.
    """
    counts, scale = (low, low + 1), 1 / epsilon
    noisy = [naive_laplace(count, scale=scale, trials=each, seed=seed + count) for count in counts]
    naive = score(*noisy, low=low, high=low + 1, epsilon=epsilon)
    yield 0.4
    exact = []
    for count in counts:
        drawn = Secure().draw(NoisyCounts(np.array([[count]]), epsilon=epsilon, sensitivity=1), each)
        exact.append(drawn[:, 0].astype(np.float64))
        yield 0.6 + 0.2 * (count - low)
    outputs = np.concatenate([some[: shown // 2] for some in noisy])
    return Attacked(
        low=low,
        naive=naive,
        secure=score(*exact, low=low, high=low + 1, epsilon=epsilon),
        outputs=outputs,
        possible=np.array([reachable(outputs, count, scale=scale) for count in counts]),
        guesses=attack(outputs, low=low, high=low + 1, scale=scale),
    )


def _check_scale(scale: float) -> None:
    if not (scale > 0 and np.isfinite(scale)):
        raise ParameterError(f"The noise needs a finite scale above 0, got {scale!r}.")
