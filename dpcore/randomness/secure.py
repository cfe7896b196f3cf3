"""Secure: exact discrete noise on whole numbers, from the operating system's entropy.

Laplace, Gaussian and noisy-max draws are OpenDP's, whose samplers are exact and proved; fair coins and public whole
numbers come from ``os.urandom``. OpenDP is imported at the first draw: it is slow to load and previews do not need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from dpcore.core import Integers
from dpcore.randomness.sampler import Draw, Drawn, Sampler

WHOLE = "i64"
"""OpenDP's type for our whole numbers: its default, 32 bits, is too narrow for scores, and the error quotes them."""


def rounded_up(scale: float) -> float:
    """A scale a few roundings wider, so that epsilons split and divided in floating point never add up to more."""
    return scale * (1 + 2**-48)


def _opendp() -> Any:
    """OpenDP with the constructors we rely on switched on."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


class Secure(Sampler):
    """OpenDP's exact samplers; about a hundred thousand draws a second, so for one release, not for previews."""

    name: ClassVar[str] = "secure"
    secure: ClassVar[bool] = True

    def make(self, draw: Draw[Drawn], trials: int) -> Drawn:
        """See Draw."""
        return draw.released(self, trials)

    def laplace(self, counts: Integers, *, scale: float, trials: int) -> Integers:
        """Counts (1 or T, k) plus discrete Laplace noise, (T, k)."""
        dp = _opendp()
        domain = dp.vector_domain(dp.atom_domain(T=WHOLE))
        return _measured(
            dp.m.make_laplace(domain, dp.l1_distance(T=WHOLE), scale=rounded_up(scale)), counts, trials=trials
        )

    def gaussian(self, counts: Integers, *, sigma: float, trials: int) -> Integers:
        """Counts (1 or T, k) plus discrete Gaussian noise, (T, k)."""
        dp = _opendp()
        domain = dp.vector_domain(dp.atom_domain(T=WHOLE))
        return _measured(dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=sigma), counts, trials=trials)

    def noisy_max(self, *, gumbel: bool, scale: float) -> Callable[[Integers], int]:
        """The place of the largest of some scores, Gumbel or exponential noise of this scale added to each."""
        dp = _opendp()
        race = dp.m.make_noisy_max(
            dp.vector_domain(dp.atom_domain(T=WHOLE)),
            dp.linf_distance(T=WHOLE),
            dp.zero_concentrated_divergence() if gumbel else dp.max_divergence(),
            scale=rounded_up(scale),
        )
        return lambda scores: int(race(scores.astype(np.int64)))


def _measured(measurement: Any, counts: Integers, *, trials: int) -> Integers:
    """Counts (1 or T, k) with one of OpenDP's noises, (T, k)."""
    rows = np.broadcast_to(counts, (trials, counts.shape[1]))
    # OpenDP draws from its own entropy; a vector call amortises the cost of crossing into it. It takes arrays as they
    # are: of a list it looks at every number in Python, which took most of the time of a draw.
    flat = measurement(rows.reshape(-1).astype(np.int64))
    return np.array(flat, dtype=np.int64).reshape(rows.shape)


def uniform(high: int, size: int) -> Integers:
    """Uniform whole numbers in [0, high) from the operating system's entropy, shape (size,); high below 2^32."""
    most = (1 << 32) // high * high
    kept = np.empty(0, dtype=np.uint32)
    while len(kept) < size:
        words = np.frombuffer(os.urandom(4 * (size - len(kept))), dtype=np.uint32)
        # Words in the last, incomplete round of remainders are thrown away, so that none is more likely.
        kept = np.concatenate([kept, words[words < most]])
    return (kept % np.uint32(high)).astype(np.int64)
