"""Attack sixteen bits that the reader enters: by exact counts of random groups, and by private counts over ε."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Integers
from dpcore.limits.attacks.curator import BoundedNoise, PrivateNoise
from dpcore.limits.attacks.subset_sum import Guess, least_squares, random_groups, recovered
from dpcore.randomness import Preview

PEOPLE, GROUPS = 16, 32
LOSSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Values of ε for all answers together."""
RUNS = 400


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
