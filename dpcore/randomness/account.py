"""Account: draws like another sampler and adds up the cost of each draw."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.privacy.composition import gaussian_delta
from dpcore.privacy.gaussian_vectors import delta_of
from dpcore.randomness.sampler import Charge, Draw, DrawnT, Sampler


class Account(Sampler):
    """Wraps a sampler; ``charges`` lists what was spent, ``epsilon`` and ``delta(epsilon)`` add it up."""

    name: ClassVar[str] = "account"

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.charges: list[Charge] = []

    @property
    def epsilon(self) -> float:
        """The epsilons of all charges that have one, added up (sequential composition)."""
        return sum(charge.epsilon for charge in self.charges)

    def delta(self, epsilon: float) -> float:
        """The delta of everything spent at this epsilon: charges of an epsilon, then the Gaussian ones on what is left.

        Deltas that were charged are added up (basic composition).
        One Gaussian draw that moves one or two cells by 1 is accounted by its exact discrete law, others by
        ``gaussian_vectors``.
        """
        left = epsilon - self.epsilon
        gaussians = [charge for charge in self.charges if charge.sigma]
        if left < -1e-9 * max(1.0, epsilon):
            return 1.0
        charged = math.fsum(charge.delta for charge in self.charges)
        if not gaussians:
            return min(1.0, charged)
        return min(1.0, charged + self._gaussian(gaussians, max(left, 0.0)))

    def _gaussian(self, gaussians: list[Charge], left: float) -> float:
        """Return the delta of the Gaussian charges at an epsilon of their own."""
        if len(gaussians) == 1 and gaussians[0].squared_shift in {1, 2}:
            return gaussian_delta(left, sigma=gaussians[0].sigma, shift=(1,) * gaussians[0].squared_shift)
        return delta_of(
            left,
            sigmas=np.array([charge.sigma for charge in gaussians]),
            counts=np.array([float(charge.numbers) for charge in gaussians]),
            squared_shifts=np.array([[float(charge.squared_shift) for charge in gaussians]]),
        )

    @override
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        """The inner sampler's draw; its charge is written down."""
        if draw.charge is not None:
            self.charges.append(draw.charge)
        return self._inner.draw(draw, trials)
