"""Statistical assertions: a sample against an exact law, and a number of failures against a promised chance.

Every test that draws states its size, tests at SIGNIFICANCE, takes its seed from its name (the fixture ``seed``), and
has a positive control: a sample of the same size from a law that is a little wrong, which must be rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, betaincinv, chdtrc, gammaln, rel_entr, xlog1py, xlogy

from dpcore.core import Floats, Integers
from dpcore.randomness import Sampler
from dpcore.randomness.distinct import distinct_rows

SIGNIFICANCE = 1e-6
"""Chance that a right sampler fails one test, nominally (the chi-square law is a limit; see chi_square_tail)."""

SECURE_SAMPLES = 3
"""Samples in a row that must fail before a sampler of the system's entropy does."""

HARDLY_EVER = 1e-13
"""Chance that one exact test of the system's entropy may fail by chance: there are a few, and no seed repeats them."""

FEWEST_EXPECTED = 100.0
"""Outcomes are pooled with their neighbours until so many draws are expected."""

CONTROL = 1.3
"""Factor on epsilon by which the noise of a positive control is too small."""


def chi_square_tail(observed: NDArray[Any], chances: Floats) -> float:
    """Chance of a Pearson statistic at least as large as the sample's, if the sample has the law.

    Consecutive outcomes are pooled until FEWEST_EXPECTED draws are expected in each pool: from there on the statistic
    follows its limit closely (at SIGNIFICANCE the true tail is heavier by a factor of 3 at most, that of two pools, one
    of them of so many draws).

    Args:
        observed: how often each outcome came, shape (K,).
        chances: the law, shape (K,), adding up to 1.
    """
    if abs(float(chances.sum()) - 1) > 1e-9:
        raise ValueError(f"The chances of a law add up to 1, not to {chances.sum()}.")
    draws = observed.sum()
    if (observed[chances == 0] > 0).any():
        return 0.0
    pools: list[tuple[float, float]] = []
    seen = expected = 0.0
    for count, chance in zip(observed.tolist(), chances.tolist(), strict=True):
        seen, expected = seen + count, expected + draws * chance
        if expected >= FEWEST_EXPECTED:
            pools.append((seen, expected))
            seen = expected = 0.0
    if pools:
        pools[-1] = (pools[-1][0] + seen, pools[-1][1] + expected)
    if len(pools) < 2:
        raise ValueError(f"{draws} draws leave fewer than two pools of {FEWEST_EXPECTED:g}: this tests nothing.")
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in pools)
    return float(chdtrc(len(pools) - 1, statistic))


def assert_law(observed: NDArray[Any], chances: Floats) -> None:
    """Fail if the sample does not have the law, at SIGNIFICANCE."""
    tail = chi_square_tail(observed, chances)
    assert tail >= SIGNIFICANCE, f"{observed.sum()} draws do not have the exact law: chi-square tail {tail:.3g}"


def assert_law_from(sampler: Sampler, draw: Callable[[], NDArray[Any]], chances: Floats) -> None:
    """Fail if what is drawn does not have the law; from the system's entropy, if SECURE_SAMPLES in a row do not.

    Entropy follows no seed: now and then one sample of a right sampler fails, and nobody can repeat it. Three do with
    chance (3e-6)^3 = 2.7e-17 at most. A sampler so wrong that one sample shows it is shown by all three.
    """
    for _ in range(SECURE_SAMPLES - 1 if sampler.secure else 0):
        if chi_square_tail(draw(), chances) >= SIGNIFICANCE:
            return
    assert_law(draw(), chances)


def assert_other_law(observed: NDArray[Any], chances: Floats) -> None:
    """Fail if the sample of a positive control passes for the law."""
    tail = chi_square_tail(observed, chances)
    assert tail < SIGNIFICANCE, f"{observed.sum()} draws of a wrong law pass: chi-square tail {tail:.3g}"


def tally(values: Integers, *, low: int, high: int) -> Integers:
    """How often each of low..high came, values beyond clamped to the ends: shape (high - low + 1,)."""
    return np.bincount(np.clip(values, low, high) - low, minlength=high - low + 1)


def tally_rows(outcomes: Floats, known: Floats) -> Integers:
    """How often each known outcome (K, w) came among outcomes (T, w); fails on an outcome that is not known."""
    distinct, which = distinct_rows(np.concatenate([known, outcomes]))
    assert len(distinct) == len(known), "an outcome came that the exact law gives no chance"
    counts = np.bincount(which[len(known) :], minlength=len(known))
    in_order: Integers = counts[which[: len(known)]]
    return in_order


def uniform_below(generator: np.random.Generator) -> Callable[[int], int]:
    """Uniform whole numbers below any bound, from a seed, by rejection."""

    def below(high: int) -> int:
        width = (high - 1).bit_length()
        while True:
            drawn = int.from_bytes(generator.bytes((width + 7) // 8 or 1)) & ((1 << width) - 1)
            if drawn < high:
                return drawn

    return below


def binomial_chances(trials: int, chance: float) -> Floats:
    """Chance of each number of successes 0..trials, shape (trials + 1,)."""
    k = np.arange(trials + 1)
    ways = gammaln(trials + 1.0) - gammaln(k + 1.0) - gammaln(trials - k + 1.0)
    law: Floats = np.exp(ways + xlogy(k, chance) + xlog1py(trials - k, -chance))
    return law


def binomial_tail(successes: int, *, trials: int, chance: float) -> float:
    """Exact chance of at least so many successes."""
    return 1.0 if successes <= 0 else float(bdtrc(successes - 1, trials, chance))


def assert_chance_at_most(successes: int, *, trials: int, chance: float, significance: float = SIGNIFICANCE) -> None:
    """Fail if so many successes show that the chance of one is larger than promised."""
    tail = binomial_tail(successes, trials=trials, chance=chance)
    assert tail >= significance, f"{successes} of {trials} where at most {chance:g} was promised: tail {tail:.3g}"


def clopper_pearson(successes: int, *, trials: int, significance: float = SIGNIFICANCE) -> tuple[float, float]:
    """Exact confidence interval for the chance of a success (Clopper and Pearson 1934)."""
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, significance / 2))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - significance / 2))
    return low, high


def surprise(mean: float, *, limit: float, trials: int) -> float:
    """Bound on the chance that independent numbers in [0, 1] of expectation at most ``limit`` average ``mean`` or more.

    Hoeffding (1963), Theorem 1; 1 where the mean does not exceed the limit.
    """
    divergence = rel_entr(mean, limit) + rel_entr(1 - mean, 1 - limit)
    return 1.0 if mean <= limit else float(np.exp(-trials * divergence))
