"""Tools of the coverage tests: releases from a seed, and an exact test that refutes a level."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpcore import Preview
from dpcore.core import Integers
from dpcore.randomness import NoisyCounts
from dplab.intervals.noise import LaplaceNoise

TRIALS = 10_000
FAMILY_CHANCE = 1e-6
"""Chance that any of all coverage tests refutes a level that holds."""
MAX_TESTS = 1000
"""No more tests than these are made."""


def released(counters: list[int], noise: LaplaceNoise, *, seed: int, trials: int = TRIALS) -> Integers:
    """Return releases of counters, (trials, k), with noise of whole scale times ε."""
    draw = NoisyCounts(np.array([counters], dtype=np.int64), epsilon=1 / noise.scale, sensitivity=1)
    return Preview(seed).draw(draw, trials)


def refuted(covered: ArrayLike, *, level: float) -> bool:
    """Return whether a true coverage of at least the level would rarely miss as often: exact binomial tail."""
    from scipy.stats import binom

    held = np.asarray(covered, dtype=np.bool_)
    return bool(binom.sf(int((~held).sum()) - 1, held.size, 1 - level) < FAMILY_CHANCE / MAX_TESTS)
