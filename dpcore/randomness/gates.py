"""Sparse vector: compare private numbers with a threshold many times, at the cost of the few that reach it.

This is the algorithm that Lyu, Su and Li (2017) prove private as their Algorithm 1: one noise rho on the threshold for
the whole life of a gate, fresh noise nu on every comparison, at most c = ``updates`` positive answers, and answers with
noise of their own (NumericSparse). Dwork and Roth (2014, Algorithms 1 to 3) draw rho afresh after every positive
answer; that needs c times as much noise on the threshold for the same epsilon and buys nothing, so it is not done here.

Why it is private, in whole numbers. Neighbours move every value by at most s = ``sensitivity``, a whole number. Fix the
questions and all that was said. Given rho, comparisons are independent. Put rho + s in its place: its chance changes by
a factor e^(epsilon_1) at most. A negative answer, value + nu < threshold + rho, only becomes more likely, for nothing:
the neighbour's value grew by s at most. A positive one, value + nu >= threshold + rho, needs nu larger by 2s at most, a
factor e^(epsilon_2/c) at scale 2cs/epsilon_2, and there are at most c of them. Sum over rho. Paid answers are discrete
Laplace draws at epsilon_3/c. Together epsilon_1 + epsilon_2 + epsilon_3, however many questions there are, and even if
each depends on everything answered before; under either relation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers, ParameterError, check_memory
from dpcore.core.sizes import MAX_SENSITIVITY
from dpcore.randomness.counts import NoisyCounts
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.laws import clamped_law, laplace_mass, laplace_tail
from dpcore.randomness.sampler import PureDraw, Sampler, check_number, check_whole

REACH = 40.0
"""Scales of noise on a threshold told apart: beyond lies less than a double sees."""


@dataclass(frozen=True, kw_only=True)
class GateBudget:
    """Split of a gate's epsilon: cost of one draw of each kind at the gate's sensitivity."""

    threshold: float
    """Of the one noise on the threshold, epsilon_1."""
    comparison: float
    """Of the noise on a comparison, epsilon_2/(2c)."""
    answer: float
    """Of a paid answer, epsilon_3/c; 0 where none are given."""
    updates: int
    """Positive answers before the gate closes, c."""

    @property
    def total(self) -> float:
        """Everything the gate may spend."""
        return self.threshold + 2 * self.updates * self.comparison + self.updates * self.answer


def gate_budget(*, epsilon: float, updates: int, answers: float) -> GateBudget:
    """Return the split that makes the noise on a comparison, rho and nu together, as small as it can be.

    The variance of rho - nu grows with 1/epsilon_1^2 + (2c/epsilon_2)^2, least at epsilon_2 = (2c)^(2/3) epsilon_1
    (Lyu, Su and Li 2017, section 4.2).

    Args:
        epsilon: of the whole gate.
        updates: c, positive answers it gives at most.
        answers: share of epsilon kept for noisy answers; 0 for a gate that only compares.
    """
    if not (epsilon > 0 and np.isfinite(epsilon)):
        raise ParameterError(f"A gate needs a finite epsilon above 0, got {epsilon!r}.")
    check_number("number of updates", updates)
    if not 0 <= answers < 1:
        raise ParameterError(f"The share of answers must be at least 0 and below 1, got {answers!r}.")
    comparing = epsilon * (1 - answers)
    first = comparing / (1 + (2 * updates) ** (2 / 3))
    return GateBudget(
        threshold=first,
        comparison=(comparing - first) / (2 * updates),
        answer=epsilon * answers / updates,
        updates=updates,
    )


class Gate(Protocol):
    """An open sparse vector on T trials at once."""

    @property
    def closed(self) -> Booleans:
        """Trials that have given all their positive answers: from there on nothing of the data is looked at, (T,)."""

    def above(self, values: Integers, threshold: int) -> Booleans:
        """Return whether value + noise >= threshold + noise, (T,) to (T,); False where closed."""

    def answer(self, counts: Integers) -> Integers:
        """Counts (T,) plus noise where the last comparison was positive and not answered yet; 0 elsewhere."""


class DrawnGate:
    """A gate whose noise comes from a sampler's noisy counts.

    Args:
        sampler: draws the noise.
        budget: the split of epsilon.
        sensitivity: how far a neighbour moves any one value or count, a whole number.
        trials: T.
    """

    def __init__(self, sampler: Sampler, budget: GateBudget, *, sensitivity: int, trials: int) -> None:
        self._sampler, self._budget, self._sensitivity = sampler, budget, sensitivity
        self._left = np.full(trials, budget.updates)
        self._owed = np.zeros(trials, dtype=np.bool_)
        self._threshold = self._noisy(np.zeros(trials, dtype=np.int64), epsilon=budget.threshold)

    def _noisy(self, values: Integers, *, epsilon: float) -> Integers:
        draw = NoisyCounts(values[:, None], epsilon=epsilon, sensitivity=self._sensitivity)
        return self._sampler.draw(draw, len(values))[:, 0]

    @property
    def closed(self) -> Booleans:
        """Trials whose updates are used up, (T,)."""
        closed: Booleans = self._left == 0
        return closed

    def above(self, values: Integers, threshold: int) -> Booleans:
        """Compare with the trial's noisy threshold, by one draw."""
        noisy = self._noisy(values, epsilon=self._budget.comparison)
        self._owed = (noisy >= threshold + self._threshold) & ~self.closed
        self._left = self._left - self._owed
        return self._owed.copy()

    def answer(self, counts: Integers) -> Integers:
        """Add noise to the counts where an answer is owed."""
        owed, self._owed = self._owed, np.zeros_like(self._owed)
        return np.where(owed, self._noisy(counts, epsilon=self._budget.answer), 0)


class EnumeratedGate:
    """A gate whose answers branch with their exact chances.

    The noise on the threshold is never walked: each path keeps its law given the answers so far, shape (paths, noises).
    """

    def __init__(
        self,
        independent: Callable[[Floats, NDArray[Any]], NDArray[Any]],
        window: tuple[int, int],
        budget: GateBudget,
        *,
        sensitivity: int,
        trials: int,
    ) -> None:
        self._independent, self._window, self._budget, self._sensitivity = independent, window, budget, sensitivity
        scale = sensitivity / budget.threshold
        numbers = 2 * REACH * scale * trials
        check_memory(numbers, what="The exact law of a noisy threshold", smaller="take a larger epsilon", each=64)
        self._noises = np.arange(-int(np.ceil(REACH * scale)), int(np.ceil(REACH * scale)) + 1)
        self._posterior = np.broadcast_to(laplace_mass(self._noises, scale=scale), (trials, len(self._noises)))
        self._left = np.full(trials, budget.updates)
        self._owed = np.zeros(trials, dtype=np.bool_)

    @property
    def closed(self) -> Booleans:
        """Trials whose updates are used up, (T,)."""
        closed: Booleans = self._left == 0
        return closed

    def above(self, values: Integers, threshold: int) -> Booleans:
        """Compare with the noisy threshold, over all enumerated noises."""
        check_whole(values)
        needed = threshold + self._noises[None, :] - values[:, None]
        scale = self._sensitivity / self._budget.comparison
        # Either tail by itself: one minus the other would lose the digits of a rare answer.
        no = np.where(self.closed[:, None], 1.0, laplace_tail(1 - needed, scale=scale)) * self._posterior
        yes = np.where(self.closed[:, None], 0.0, laplace_tail(needed, scale=scale)) * self._posterior
        laws = np.stack([no.sum(axis=1), yes.sum(axis=1)], axis=-1)
        self._owed = self._independent((laws / laws.sum(axis=1, keepdims=True))[:, None, :], np.array([False, True]))[
            :, 0
        ]
        likelihood = np.where(self._owed[:, None], yes, no)
        self._posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
        self._left = self._left - self._owed
        return self._owed.copy()

    def answer(self, counts: Integers) -> Integers:
        """Add noise to the counts, clamped to the window, and 0 where no answer is owed."""
        if not self._budget.answer:
            raise ParameterError("This gate keeps nothing for answers.")
        check_whole(counts)
        owed, self._owed = self._owed, np.zeros_like(self._owed)
        symbols = np.arange(self._window[0], self._window[1] + 1)
        scale = self._sensitivity / self._budget.answer
        laws = clamped_law(counts[:, None], window=self._window, kind="laplace", scale=scale)
        nothing = symbols == np.clip(0, *self._window)
        answers: Integers = self._independent(np.where(owed[:, None, None], laws, nothing.astype(np.float64)), symbols)
        return np.where(owed, answers[:, 0], 0)


@dataclass(frozen=True, eq=False, repr=False)
class SparseVector(PureDraw[Gate]):
    """A sparse vector: any number of comparisons, at most ``updates`` positive, for one charge of epsilon.

    ``answers`` is the share of epsilon kept for a noisy count after each positive one. Questions may depend on all
    that was answered before; ``sensitivity`` is how far a neighbour moves any one value, a whole number.
    """

    sensitivity: int = field(kw_only=True)
    updates: int = field(kw_only=True)
    answers: float = field(default=0.0, kw_only=True)
    budget: GateBudget = field(init=False)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("sensitivity of a sparse vector", self.sensitivity, high=MAX_SENSITIVITY)
        budget = gate_budget(epsilon=self.epsilon, updates=self.updates, answers=self.answers)
        object.__setattr__(self, "budget", budget)

    @override
    def composed(self, sampler: Sampler, trials: int) -> Gate:
        return DrawnGate(sampler, self.budget, sensitivity=self.sensitivity, trials=trials)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Gate:
        """The noise on the threshold is summed out, not walked."""
        return EnumeratedGate(paths.independent, paths.window, self.budget, sensitivity=self.sensitivity, trials=trials)
