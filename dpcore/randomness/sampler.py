"""Where coins come from: the protocol every mechanism draws through.

A draw receives the value it protects, its epsilon and its sensitivity, never a scale alone. So the same run() can be
previewed, released, accounted for, or enumerated. Sensitivity is the L1 distance a neighbour can move the *whole*
vector of one call; one call costs its epsilon once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Floats, Integers, ParameterError
from dpcore.randomness.candidates import Candidates, Net
from dpcore.randomness.gates import Gate

RULES = ("exponential", "permute_and_flip")
NEVER = 1 << 62
"""A threshold that no noisy count reaches: the answer is public."""


class Statistic(Protocol):
    """A question with few possible answers, asked of subsamples of the data."""

    @property
    def answers(self) -> int:
        """How many answers there are."""

    def answer(self, counts: Integers) -> Integers:
        """The answer on each subsample's histogram: (S, cells) to (S,)."""

    def law(self, counts: Integers, *, rows: int) -> Floats:
        """Chance of each answer on so many rows drawn with replacement from counts (cells,): (answers,)."""


class Sampler(ABC):
    """A source of coins. ``name`` is printed beside every number drawn; only a ``secure`` one may feed a release."""

    name: ClassVar[str]
    secure: ClassVar[bool] = False

    @abstractmethod
    def noisy_counts(self, counts: Integers, *, epsilon: float, sensitivity: float, trials: int) -> Integers:
        """Counts (1 or T, k) plus discrete Laplace noise of scale sensitivity/epsilon in each cell: (T, k)."""

    @abstractmethod
    def gaussian_counts(self, counts: Integers, *, sigma: float, shift: tuple[int, ...], trials: int) -> Integers:
        """Counts (1 or T, k) plus discrete Gaussian noise of parameter sigma in each cell: (T, k).

        ``shift`` lists how far a neighbour moves the cells it moves; (epsilon, delta) follow from it and sigma.
        """

    @abstractmethod
    def at_least(
        self, values: Integers, threshold: NDArray[Any] | int, *, epsilon: float, sensitivity: float, trials: int
    ) -> Booleans:
        """Whether value + discrete Laplace noise >= threshold, elementwise on values (1 or T, k): (T, k).

        Thresholds are public whole numbers, broadcast against the values; noise has scale sensitivity/epsilon. Where
        nobody needs the answer, NEVER as the one threshold keeps the draw and its charge, and a preview from work.
        """

    @abstractmethod
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
        """A candidate by its whole-number score, weights e^(epsilon * score / (2 sensitivity)); (1 or T, K) to (T,).

        ``allowed`` (same shape) rules candidates out by public knowledge.
        """

    @abstractmethod
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
        """A private median cut of each segment low..high (T, k) of an ordered universe, by the exponential mechanism.

        ``cumulative`` (U + 1,) counts the rows before each cut. Cut c, low <= c <= high, scores
        -|2 * (rows in low..c) - (rows in low..high)|; the k segments of one trial are disjoint, and ``sensitivity`` is
        how far a neighbour can move all their scores together.
        """

    @abstractmethod
    def choose_multiset(
        self, net: Net, *, epsilon: float, sensitivity: float, trials: int, rule: str = "exponential"
    ) -> Integers:
        """One of a net's small databases by its whole-number score, weights as in choose: points in order, (T, m).

        Exponential mechanism on nets of any size; permute-and-flip on those that can be listed.
        """

    @abstractmethod
    def sparse_gate(self, *, epsilon: float, sensitivity: int, updates: int, trials: int, answers: float = 0.0) -> Gate:
        """A sparse vector: any number of comparisons, at most ``updates`` positive, for one charge of epsilon.

        ``answers`` is the share of epsilon kept for a noisy count after each positive one. Questions may depend on all
        that was answered before; ``sensitivity`` is how far a neighbour moves any one value (randomness.gates).
        """

    @abstractmethod
    def split(self, counts: Integers) -> Integers:
        """How many of each count's rows get heads on their own fair coin, shape as counts (T, k); costs nothing."""

    @abstractmethod
    def integers(self, high: int, *, columns: int, trials: int) -> Integers:
        """Public coins: uniform whole numbers in [0, high), shape (T, columns); record them in the Release."""

    @abstractmethod
    def votes(self, counts: Integers, statistic: Statistic, *, rows: int, times: int, trials: int) -> Integers:
        """How often each answer comes out of ``times`` subsamples of ``rows`` rows, with replacement: (T, answers).

        ``counts`` (cells,) is the data. The coins are private and cost nothing themselves: the votes must meet noise
        before anyone sees them.
        """


def check_draw(*, epsilon: float, sensitivity: float, trials: int) -> None:
    """Raise ParameterError unless a draw's arguments make sense."""
    if not (0 < epsilon < math.inf):
        raise ParameterError(f"A draw needs a finite epsilon above 0, got {epsilon!r}.")
    if not (0 < sensitivity < math.inf):
        raise ParameterError(f"A draw needs a finite sensitivity above 0, got {sensitivity!r}.")
    if trials < 1:
        raise ParameterError(f"At least one trial is needed, got {trials}.")


def check_choice(*, rule: str, allowed: Booleans | None) -> None:
    """Raise ParameterError unless the rule is known and every trial has a candidate."""
    if rule not in RULES:
        raise ParameterError(f"The rule must be one of {', '.join(RULES)}.")
    if allowed is not None and not allowed.any(axis=1).all():
        raise ParameterError("A choice needs at least one allowed candidate in every trial.")


def check_listed(net: Net) -> Candidates:
    """A net's candidates; raises ParameterError if they are too many to list."""
    if net.candidates is None:
        raise ParameterError("This draw needs a list of all candidates, and there are too many.")
    return net.candidates


def cut_scores(cumulative: Integers, low: Integers, high: Integers) -> tuple[Integers, Booleans]:
    """Scores (T, U + 1) and which cuts are allowed, for one segment low..high (T,) a trial."""
    cuts = np.arange(len(cumulative))
    allowed = (cuts >= low[:, None]) & (cuts <= high[:, None])
    scores = -np.abs(2 * cumulative[None, :] - cumulative[low][:, None] - cumulative[high][:, None])
    return scores.astype(np.int64), allowed
