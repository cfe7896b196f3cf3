"""Attack sixteen bits that the reader enters: by counts of random groups, and by asking one count again and again."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Integers
from dpcore.limits.attacks.curator import BoundedNoise, PrivateNoise
from dpcore.limits.attacks.subset_sum import Guess, least_squares, random_groups, recovered
from dpcore.randomness import Preview
from dplab.intervals.combinations import half_width
from dplab.intervals.noise import LaplaceNoise

PEOPLE, GROUPS = 16, 32
LOSSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Values of ε for all answers together."""
RUNS = 400
TIMES = (1, 2, 5, 10, 20, 50, 100)
"""How many times one count may be asked."""
LEVEL = 0.95
"""Level of the intervals of its average."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BitsAttack:
    """Published answers and reconstruction of one attack.

    Attributes:
        groups: membership of each group, (m, n).
        answers: published answers, (m,).
        guess: the bits that fit best.
        share: share of the bits that are right.
    """

    groups: Booleans
    answers: Floats
    guess: Guess
    share: float


def attack(bits: Booleans, *, epsilon: float | None, seed: int) -> BitsAttack:
    """Publish counts of random groups, exact or ε-private together, and reconstruct the bits.

    Args:
        bits: secret bits, (n,).
        epsilon: ε of all answers together; None publishes exact counts.
        seed: seed of groups and noise.
    """
    sampler = Preview(seed)
    groups = random_groups(sampler, people=len(bits), groups=GROUPS)
    if epsilon is None:
        answers = BoundedNoise(bits=bits, error=0, sampler=sampler)(groups)
    else:
        answers = PrivateNoise(bits=bits, epsilon=epsilon, sampler=sampler)(groups)
    guess = least_squares(groups, answers)
    return BitsAttack(groups=groups, answers=answers[0], guess=guess, share=float(recovered(guess, bits)[0]))


def sweep(bits: Booleans, *, seed: int) -> Generator[float, None, Floats]:
    """Compute shares of right bits at each of LOSSES, (K, RUNS), groups as in attack(); yields the fraction done."""
    sampler = Preview(seed)
    groups = random_groups(sampler, people=len(bits), groups=GROUPS)
    shares = []
    for place, epsilon in enumerate(LOSSES):
        yield place / len(LOSSES)
        noisy = PrivateNoise(bits=bits, epsilon=epsilon, sampler=sampler, trials=RUNS)
        shares.append(recovered(least_squares(groups, noisy(groups)), bits))
    return np.array(shares)


def best_possible(epsilons: Floats) -> Floats:
    """Return the largest expected share of right bits for fair coins, e^ε/(1 + e^ε), elementwise."""
    best: Floats = 1 / (1 + np.exp(-np.asarray(epsilons)))
    return best


def group_members(attacked: BitsAttack, place: int) -> Integers:
    """Return the members of a published group, counted from 1."""
    return np.flatnonzero(attacked.groups[place]) + 1


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedCount:
    """One count that is asked k times, for each k of TIMES (K,), and the average of its k answers.

    Half-widths are of the average's interval around the true count: it lies in there with probability LEVEL or more.

    Attributes:
        fresh: half-widths if every answer has noise of its own at ε, so that all of them cost kε.
        shared: half-widths if every answer has noise of its own at ε/k, so that all of them cost ε.
        stored: half-width if the first answer, at ε, is returned every time: it costs ε, however large k is.
        averages: averages of one run with fresh noise at ε.
    """

    fresh: Floats
    shared: Floats
    stored: float
    averages: Floats


def repeat_count(bits: Booleans, *, epsilon: float, seed: int) -> RepeatedCount:
    """Ask for the number of ones again and again, and average the answers.

    Args:
        bits: secret bits, (n,).
        epsilon: ε of one fresh answer, of all shared ones together, and of the stored one.
        seed: seed of the noise.
    """
    everyone = np.ones((1, len(bits)), dtype=np.bool_)
    answers = PrivateNoise(bits=bits, epsilon=epsilon, sampler=Preview(seed), trials=TIMES[-1])(everyone)[:, 0]
    fresh, shared = (
        np.array([_average_half_width(times, epsilon=of_one) for times, of_one in costs])
        for costs in (((times, epsilon) for times in TIMES), ((times, epsilon / times) for times in TIMES))
    )
    return RepeatedCount(
        fresh=fresh,
        shared=shared,
        stored=float(fresh[0]),
        averages=np.array([answers[:times].mean() for times in TIMES]),
    )


def _average_half_width(times: int, *, epsilon: float) -> float:
    """Return the half-width of the average's interval, of so many independent answers at ε each."""
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=1)
    return half_width(np.ones(times), noise, LEVEL) / times
