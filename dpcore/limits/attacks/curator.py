"""Curators of the subset-sum attack, who hold the bits and answer with noise.

They stand for agencies that publish many statistics about the same people. An attack sees only their answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Integers, ParameterError
from dpcore.randomness import NoisyCounts, PublicCoins, Sampler


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoundedNoise:
    """Adds a uniform whole number from -error to error to each count: accurate, and not private at all.

    Attributes:
        bits: the secret, shape (n,).
        error: largest noise, in rows.
        sampler: where the coins come from.
        trials: independent runs, T.
    """

    bits: Booleans
    error: int
    sampler: Sampler
    trials: int = 1

    def __post_init__(self) -> None:
        if self.error < 0 or self.trials < 1:
            raise ParameterError("The largest noise must be at least 0, over at least one trial.")

    def __call__(self, masks: Booleans) -> Floats:
        """Return the noisy counts of the groups (m, n), shape (T, m)."""
        noise = self.sampler.draw(PublicCoins(2 * self.error + 1, columns=len(masks)), self.trials) - self.error
        return (masks.astype(np.int64) @ self.bits.astype(np.int64) + noise).astype(np.float64)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateNoise:
    """Adds discrete Laplace noise to each count, so that all the answers together are ε-private.

    One bit moves a count by 1 at most, and so all m of them by m: noise of scale m/ε each.
    """

    bits: Booleans
    epsilon: float
    sampler: Sampler
    trials: int = 1

    def __call__(self, masks: Booleans) -> Floats:
        """Return the noisy counts of the groups (m, n), shape (T, m)."""
        counts: Integers = (masks.astype(np.int64) @ self.bits.astype(np.int64))[None, :]
        draw = NoisyCounts(counts, epsilon=self.epsilon, sensitivity=max(1, len(masks)))
        return self.sampler.draw(draw, self.trials).astype(np.float64)
