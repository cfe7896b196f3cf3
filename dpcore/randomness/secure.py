"""Secure: exact discrete noise on whole numbers, from the operating system's entropy.

Laplace, Gaussian and noisy-max draws are OpenDP's, whose samplers are exact and proved; fair coins and public whole
numbers come from ``os.urandom``. OpenDP is imported at the first draw: it is slow to load and previews do not need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import Integers
from dpcore.randomness.sampler import Draw, DrawnT, Sampler, check_whole

WHOLE = "i64"
"""OpenDP's type for our whole numbers: its default, 32 bits, is too narrow for scores, and the error quotes them."""


AT_ONCE = 1 << 20
"""Numbers drawn at once: OpenDP gives them back as a list, which takes five times their memory."""


def rounded_up(scale: float) -> float:
    """Return a scale a few roundings wider, so that epsilons split in floating point never add up to more."""
    return scale * (1 + 2**-48)


def _opendp() -> Any:
    """Return OpenDP with the constructors we rely on switched on."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


class Secure(Sampler):
    """OpenDP's exact samplers; about a hundred thousand draws a second, so for one release, not for previews."""

    name: ClassVar[str] = "secure"
    secure: ClassVar[bool] = True

    @override
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        return draw.released(self, trials)

    def laplace(self, counts: Integers, *, scale: float, trials: int) -> Integers:
        """Return the counts (1 or T, k) plus discrete Laplace noise, (T, k)."""
        dp = _opendp()
        domain = dp.vector_domain(dp.atom_domain(T=WHOLE))
        return _measured(
            dp.m.make_laplace(domain, dp.l1_distance(T=WHOLE), scale=rounded_up(scale)), counts, trials=trials
        )

    def gaussian(self, counts: Integers, *, sigma: float, trials: int) -> Integers:
        """Return the counts (1 or T, k) plus discrete Gaussian noise, (T, k)."""
        dp = _opendp()
        domain = dp.vector_domain(dp.atom_domain(T=WHOLE))
        return _measured(dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=sigma), counts, trials=trials)

    def noisy_max(self, *, gumbel: bool, scale: float) -> Callable[[Integers], int]:
        """Return the place of the largest of some scores, Gumbel or exponential noise of this scale added to each."""
        dp = _opendp()
        race = dp.m.make_noisy_max(
            dp.vector_domain(dp.atom_domain(T=WHOLE)),
            dp.linf_distance(T=WHOLE),
            dp.zero_concentrated_divergence() if gumbel else dp.max_divergence(),
            scale=rounded_up(scale),
        )

        def largest(scores: Integers) -> int:
            check_whole(scores)
            return int(race(scores.astype(np.int64)))

        return largest


def _measured(measurement: Any, counts: Integers, *, trials: int) -> Integers:
    """Return the counts (1 or T, k) with one of OpenDP's noises, (T, k)."""
    check_whole(counts)
    rows = np.broadcast_to(counts, (trials, counts.shape[1]))
    # OpenDP draws from its own entropy; a vector call amortises the cost of crossing into it. It takes arrays as they
    # are: of a list it looks at every number in Python, which took most of the time of a draw.
    flat = rows.reshape(-1)
    drawn = np.empty(flat.size, dtype=np.int64)
    for start in range(0, flat.size, AT_ONCE):
        drawn[start : start + AT_ONCE] = measurement(flat[start : start + AT_ONCE].astype(np.int64))
    return drawn.reshape(rows.shape)


def uniform(high: int, size: int) -> Integers:
    """Draw uniform whole numbers in [0, high) from the operating system's entropy, shape (size,); high at most 2^61."""
    kind: type[np.uint32 | np.uint64] = np.uint32 if high <= 1 << 32 else np.uint64
    width = np.dtype(kind).itemsize
    highest = (1 << 8 * width) // high * high - 1
    accepted = np.empty(0, dtype=kind)
    while len(accepted) < size:
        words = np.frombuffer(os.urandom(width * (size - len(accepted))), dtype=kind)
        # Words in the last, incomplete round of remainders are thrown away, so that none is more likely.
        accepted = np.concatenate([accepted, words[words <= kind(highest)]])
    return (accepted.astype(np.uint64) % np.uint64(high)).astype(np.int64)
