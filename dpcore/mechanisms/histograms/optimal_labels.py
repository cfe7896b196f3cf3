"""Find the most labels: noise of the law with which a label is released as often as (ε, δ) allows at all.

A label of k rows may be released with a probability π_k of at most min(e^ε π_{k-1} + δ, 1 - e^-ε (1 - π_{k-1} - δ)),
from π_0 = 0 on, as neighbours have a row more or less (Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1). The
increases d_j = π_{j+1} - π_j are the chances of a noise Z = T - j: a count k + Z is above T with probability π_k. So
one noise decides which labels are released, and gives them counts, at the same ε and δ.

Why it is private: a row moves one count by 1, and the noise by as much as its chances differ between neighbouring
values: to (Σ (d_j - e^ε d_{j-1})+) in one direction and (Σ (d_j - e^ε d_{j+1})+) in the other. Here the chances are
whole weights over their sum, and these two sums are computed exactly, with a fraction below e^ε; they are at most δ,
or the mechanism has no guarantee. Labels that have no rows are not sampled: there π_0 = 0. A replaced row moves two
counts, and is not covered; a person of several rows is, by group privacy.

Notation: epsilon = ε; delta = δ; threshold T, the place of the largest chance, so that the noise has its mode at 0.

References:
    Desfontaines, Voss, Gipson and Mandayam (2022), Theorem 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import DomainType, Entry, Floats, Guarantee, Integers, Mechanism, Neighbours, ParameterError, Problem
from dpcore.data.unlisted.texts import LabelCounts
from dpcore.mechanisms.histograms.labels import FindLabels
from dpcore.randomness import Sampler, WeightedCounts

TOTAL = ONE = 1 << 60
"""About the sum of all weights; what stands for 1 in whole numbers with a factor."""
MAX_WEIGHTS = 1 << 14
ADDED = "The most labels are found where rows are added or removed. Choose “Find labels”."


@lru_cache(maxsize=64)
def noise_weights(*, epsilon: float, delta: float) -> tuple[int, ...]:
    """Return the weights of the noise T, T - 1, ..., whose exact δ is at most delta and close to it.

    Raises:
        ParameterError: there are too many, or delta is too small for whole weights.
    """
    charged = Fraction(str(delta))  # in decimals, as a ledger charges it: a double of 0.1 is more
    spent = math.floor(charged * TOTAL)
    while spent > 0:
        weights = _weights(spent, _below(epsilon))
        over = exact_delta_of(weights, epsilon=epsilon) - charged
        if over <= 0:
            return weights
        spent -= math.ceil(over * TOTAL)
    raise ParameterError("This δ is too small for whole weights. Choose a larger one.")


def _below(epsilon: float) -> int:
    """Return a whole number below e^ε·ONE, close to it."""
    return math.floor(Fraction(math.exp(epsilon)) * (1 - Fraction(1, 1 << 50)) * ONE)


def _weights(spent: int, factor: int) -> tuple[int, ...]:
    """Return the weights with a δ of so many of TOTAL parts, but for rounding: each step is as large as it may be."""
    hidden, weights = TOTAL, list[int]()
    while hidden > spent:
        if len(weights) >= MAX_WEIGHTS:
            raise ParameterError("This noise has too many values. Choose a larger ε.")
        rising = (factor - ONE) * (TOTAL - hidden) // ONE + spent
        falling = hidden + (-(hidden - spent) * ONE // factor)
        weights.append(min(rising, falling))
        hidden -= weights[-1]
    weights.append(max(1, hidden))
    peak = max(range(len(weights)), key=weights.__getitem__)
    for place in range(1, peak + 1):  # rounding leaves no weight more than e^ε times the one before
        weights[place] = min(weights[place], factor * weights[place - 1] // ONE)
    for place in range(len(weights) - 3, peak - 1, -1):  # nor than the one behind it, except before the last
        weights[place] = min(weights[place], factor * weights[place + 1] // ONE)
    return tuple(weights)


def exact_delta_of(weights: Sequence[int], *, epsilon: float) -> Fraction:
    """Return δ of noise with these weights when a count moves by 1, in the worse direction, rounded up."""
    factor, before, behind = _below(epsilon), [0, *weights[:-1]], [*weights[1:], 0]
    losses = [
        sum(max(0, here * ONE - factor * other) for here, other in zip(weights, others, strict=True))
        for others in (before, behind)
    ]
    return Fraction(max(losses), ONE * sum(weights))


class OptimalLabels(FindLabels):
    """Labels with noisy counts above a threshold, by the noise that hides the fewest labels."""

    def weights(self) -> Integers:
        """Return the weights of the noise, from the largest value down."""
        return np.array(noise_weights(epsilon=self.epsilon, delta=self.delta), dtype=np.int64)

    @override
    def threshold(self, problem: Problem) -> int:
        return int(self.weights().argmax())

    @override
    def half_width(self, problem: Problem, beta: float) -> int:
        weights = self.weights()
        far = np.abs(int(weights.argmax()) - np.arange(len(weights)))
        mass = np.bincount(far, weights=weights / int(weights.sum()))
        beyond = 1 - np.cumsum(mass)
        return int(np.argmax(beyond <= beta))

    @override
    def noise_tails(self, at_least: Integers, problem: Problem) -> Floats:
        weights = self.weights()
        sums = np.append(0, np.cumsum(weights))  # of the largest values, down from the threshold
        values = np.clip(self.threshold(problem) + 1 - np.asarray(at_least), 0, len(weights))
        tails: Floats = sums[values] / sums[-1]
        return tails

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP where rows are added or removed."""
        if problem.neighbours is not Neighbours.ADD_REMOVE_ONE:
            raise ParameterError(ADDED)
        _ = self.weights()  # which raises where there are none
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=problem.neighbours)

    @override
    def person_guarantee(self, problem: Problem, rows: int) -> Guarantee:
        """By group privacy, which is exact where a person has one label: δ of c rows is π_c."""
        group = Mechanism.person_guarantee(self, problem, rows)
        return replace(group, epsilon=float(max(rows, 1) * Decimal(repr(self.epsilon))))

    @override
    def noisy(self, counts: Integers, problem: Problem, sampler: Sampler, trials: int) -> Integers:
        weights = self.weights()
        first = int(weights.argmax()) + 1 - len(weights)
        noise = WeightedCounts(
            counts, weights=weights[::-1].copy(), first=first, epsilon=self.epsilon, delta=self.delta
        )
        return sampler.draw(noise, trials)


ENTRIES = (
    Entry(
        key="find_labels_optimal",
        mechanism=OptimalLabels,
        title="Find the most labels",
        story="Adds noise of a special law to the count of each label, and releases labels above a threshold. At the "
        "same ε and δ, no mechanism finds a label noticeably more often.",
        domains=(DomainType.TEXTS,),
        queries=(LabelCounts,),
        references=("Desfontaines, Voss, Gipson and Mandayam (2022), Theorem 1",),
        tiny={"epsilon": 1.0, "delta": 0.1},
    ),
)
