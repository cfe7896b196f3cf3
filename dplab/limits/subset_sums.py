"""Attack noisy subset sums: once with a growing number of answers, and often over the noise and number of queries."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats
from dpcore.limits.attacks import subset_sum
from dpcore.limits.attacks.curator import BoundedNoise, PrivateNoise
from dpcore.randomness import Preview

MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Largest noise values, in units of √n."""
QUESTION_SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Shares of the queries."""
RUNS, LEVELS = 6, 200


def attack(
    masks: Booleans, truth: Booleans, *, error: int, method: str, seed: int
) -> Generator[float, None, subset_sum.Guess]:
    """Run one attack by "squares" or by a linear program, which yields after every doubling of the answers it uses."""
    answers = BoundedNoise(bits=truth, error=error, sampler=Preview(seed))(masks)
    guess = None
    if method != "squares":
        yield 0.0
        for guess in subset_sum.linear_program(masks, answers[0], cost=method):
            yield guess.done
    return guess or subset_sum.least_squares(masks, answers)


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveredShares:
    """Shares of the secret bits that least squares recovers.

    Attributes:
        errors: largest noise in rows, (K,).
        by_noise: recovered shares with all queries, (K, RUNS).
        levels: a finer grid of noise over the same range, (G,).
        proved: lower bound on the recovered share on that grid, (G,).
        questions: numbers of queries, (J,).
        by_questions: recovered shares with so many queries, (J, RUNS).
    """

    errors: Floats
    by_noise: Floats
    levels: Floats
    proved: Floats
    questions: Floats
    by_questions: Floats


def sweep(masks: Booleans, truth: Booleans, *, error: int, seed: int) -> Generator[float, None, RecoveredShares]:
    """Attack at all noise levels, ``error`` included, then with fewer and more queries; yields the fraction done."""
    yield 0.0
    groups, people = masks.shape
    sampler, root = Preview(seed), math.sqrt(people)

    def noisy(queries: Booleans, noise: int) -> Floats:
        return BoundedNoise(bits=truth, error=noise, sampler=sampler, trials=RUNS)(queries)

    errors = sorted({round(multiple * root) for multiple in MULTIPLES} | {error})
    guess = subset_sum.least_squares(masks, np.concatenate([noisy(masks, each) for each in errors]))
    by_noise = subset_sum.recovered(guess, truth).reshape(len(errors), RUNS)
    yield 0.4
    levels = np.linspace(0, errors[-1], LEVELS)
    proved = 1 - subset_sum.max_wrong_bits(masks, error=levels) / people
    yield 0.5
    questions = sorted({max(5, round(groups * share)) for share in QUESTION_SHARES})
    shares = []
    for number, each in enumerate(questions, start=1):
        guess = subset_sum.least_squares(masks[:each], noisy(masks[:each], error))
        shares.append(subset_sum.recovered(guess, truth))
        yield 0.5 + 0.5 * number / len(questions)
    return RecoveredShares(
        errors=np.array(errors, dtype=np.float64),
        by_noise=by_noise,
        levels=levels,
        proved=proved,
        questions=np.array(questions, dtype=np.float64),
        by_questions=np.array(shares),
    )


def private_share(masks: Booleans, truth: Booleans, *, epsilon: float, seed: int) -> float:
    """Return the mean share that least squares recovers from answers that are ε-private together."""
    curator = PrivateNoise(bits=truth, epsilon=epsilon, sampler=Preview(seed), trials=RUNS)
    return float(subset_sum.recovered(subset_sum.least_squares(masks, curator(masks)), truth).mean())
