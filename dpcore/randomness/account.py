"""Account: draws like another sampler and adds up what each draw really spends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcore.core import Booleans, Integers
from dpcore.privacy.composition import gaussian_delta
from dpcore.privacy.gaussian_vectors import delta_of
from dpcore.randomness.candidates import Net
from dpcore.randomness.gates import Gate
from dpcore.randomness.sampler import Sampler, Statistic


@dataclass(frozen=True)
class Charge:
    """What one draw spent: a pure epsilon, or a Gaussian's sigma, shift and how many numbers it drew."""

    draw: str
    epsilon: float = 0.0
    sigma: float = 0.0
    shift: tuple[int, ...] = ()
    numbers: int = 1


class Account(Sampler):
    """Wraps a sampler; ``charges`` lists what was spent, ``epsilon`` and ``delta(epsilon)`` add it up."""

    name: ClassVar[str] = "account"

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.charges: list[Charge] = []

    @property
    def epsilon(self) -> float:
        """The pure charges, added up (sequential composition)."""
        return sum(charge.epsilon for charge in self.charges)

    def delta(self, epsilon: float) -> float:
        """The delta of everything spent at this epsilon: pure charges first, then the Gaussian ones on what is left.

        One Gaussian draw that moves one or two cells by 1 is accounted by its exact discrete law, others by
        ``gaussian_vectors``.
        """
        left = epsilon - self.epsilon
        gaussians = [charge for charge in self.charges if charge.sigma]
        if left < -1e-9 * max(1.0, epsilon):
            return 1.0
        if not gaussians:
            return 0.0
        if len(gaussians) == 1 and gaussians[0].shift in {(1,), (1, 1)}:
            return gaussian_delta(max(left, 0.0), sigma=gaussians[0].sigma, shift=gaussians[0].shift)
        return delta_of(
            max(left, 0.0),
            sigmas=np.array([charge.sigma for charge in gaussians]),
            counts=np.array([float(charge.numbers) for charge in gaussians]),
            squared_shifts=np.array([[float(sum(s * s for s in charge.shift)) for charge in gaussians]]),
        )

    def noisy_counts(self, counts: Integers, *, epsilon: float, sensitivity: float, trials: int) -> Integers:
        """See Sampler."""
        self.charges.append(Charge("noisy_counts", epsilon=epsilon))
        return self._inner.noisy_counts(counts, epsilon=epsilon, sensitivity=sensitivity, trials=trials)

    def gaussian_counts(self, counts: Integers, *, sigma: float, shift: tuple[int, ...], trials: int) -> Integers:
        """See Sampler."""
        self.charges.append(Charge("gaussian_counts", sigma=sigma, shift=shift, numbers=counts.shape[1]))
        return self._inner.gaussian_counts(counts, sigma=sigma, shift=shift, trials=trials)

    def at_least(
        self, values: Integers, threshold: Any, *, epsilon: float, sensitivity: float, trials: int
    ) -> Booleans:
        """See Sampler."""
        self.charges.append(Charge("at_least", epsilon=epsilon))
        return self._inner.at_least(values, threshold, epsilon=epsilon, sensitivity=sensitivity, trials=trials)

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
        """See Sampler."""
        self.charges.append(Charge("choose", epsilon=epsilon))
        return self._inner.choose(
            scores, epsilon=epsilon, sensitivity=sensitivity, trials=trials, rule=rule, allowed=allowed
        )

    def choose_cut(
        self, cumulative: Integers, low: Integers, high: Integers, *, epsilon: float, sensitivity: float, trials: int
    ) -> Integers:
        """See Sampler."""
        self.charges.append(Charge("choose_cut", epsilon=epsilon))
        return self._inner.choose_cut(cumulative, low, high, epsilon=epsilon, sensitivity=sensitivity, trials=trials)

    def choose_multiset(
        self, net: Net, *, epsilon: float, sensitivity: float, trials: int, rule: str = "exponential"
    ) -> Integers:
        """See Sampler."""
        self.charges.append(Charge("choose_multiset", epsilon=epsilon))
        return self._inner.choose_multiset(net, epsilon=epsilon, sensitivity=sensitivity, trials=trials, rule=rule)

    def sparse_gate(self, *, epsilon: float, sensitivity: int, updates: int, trials: int, answers: float = 0.0) -> Gate:
        """See Sampler. One charge for the gate's whole life, however much is asked of it."""
        self.charges.append(Charge("sparse_gate", epsilon=epsilon))
        return self._inner.sparse_gate(
            epsilon=epsilon, sensitivity=sensitivity, updates=updates, trials=trials, answers=answers
        )

    def split(self, counts: Integers) -> Integers:
        """See Sampler."""
        return self._inner.split(counts)

    def integers(self, high: int, *, columns: int, trials: int) -> Integers:
        """See Sampler."""
        return self._inner.integers(high, columns=columns, trials=trials)

    def votes(self, counts: Integers, statistic: Statistic, *, rows: int, times: int, trials: int) -> Integers:
        """See Sampler."""
        return self._inner.votes(counts, statistic, rows=rows, times=times, trials=trials)
