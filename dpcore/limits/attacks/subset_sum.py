"""Secret bits from noisy subset sums (Dinur and Nissim 2003).

Every person has one secret bit. No bit is ever released: only, for random groups, the number of ones in the group, with
noise. With enough answers, and noise that is small against √n, the bits can be reconstructed: find the bits that fit
the answers best and round. There are two ways to fit:

- least squares: fast, and it carries its own proof. If no answer errs by more than E, at most 4 m E²/s² bits are wrong,
  s the smallest singular value of the m groups' matrix, about (√m - √n)/2;
- a linear program, which also knows that bits lie between 0 and 1. Making the *largest* residual small suits bounded
  noise; making the *sum* of residuals small suits noise with rare large values, even wild answers.

So noise of constant size does not protect, however natural the queries; it must grow with √n, or the queries must be
few: this is the reason for a privacy budget.

Notation: n bits, m groups; masks (m, n), answers in rows.

References:
    Dinur and Nissim (2003), Theorem 5; Dwork, McSherry and Talwar (2007) for sums of residuals; Kasiviswanathan,
    Rudelson and Smith (2013) for least squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Assumption, Booleans, Bound, BoundKind, Floats, Integers, ParameterError, rounded_down
from dpcore.limits.chance import VACUOUS_STATEMENT, wrong_share
from dpcore.randomness import PublicCoins, Sampler

MAX_PEOPLE = 500
MAX_GROUPS = 2_000
LEAST_EIGENVALUE = 1e-10
"""Share of the largest eigenvalue of the groups' squared matrix that one must have to count as positive."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """Reconstructed bits and the estimates they are rounded from.

    Attributes:
        bits: the rounded estimates, shape (T, n).
        estimates: before rounding, shape (T, n).
        residuals: answers minus what the estimates would answer, shape (T, m): the witness.
        groups: how many answers were used, m.
        done: fraction of the work, 1 for the last guess.
    """

    bits: Booleans
    estimates: Floats
    residuals: Floats
    groups: int
    done: float = 1.0


def random_groups(sampler: Sampler, *, people: int, groups: int) -> Booleans:
    """Return the groups that everyone joins on a public fair coin, masks (m, n)."""
    if not (1 <= people <= MAX_PEOPLE and 1 <= groups <= MAX_GROUPS):
        raise ParameterError(f"At most {MAX_PEOPLE} people and {MAX_GROUPS:,} groups, at least one of each.")
    masks: Booleans = sampler.draw(PublicCoins(2, columns=people), groups) == 1
    return masks


def least_squares(masks: Booleans, answers: Floats) -> Guess:
    """Return the bits nearest to fitting the answers (T, m) in squares, all runs at once.

    Estimates are drawn towards 1/2 where the groups leave them open, so few groups do no harm.
    """
    _check(masks, answers)
    matrix = masks.astype(np.float64)
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    nonzero = values > LEAST_EIGENVALUE * values[-1]
    target = (answers - matrix.sum(axis=1) / 2) @ matrix
    estimates = 0.5 + (target @ vectors[:, nonzero] / values[nonzero]) @ vectors[:, nonzero].T
    return _guess(estimates, matrix, answers)


def linear_program(masks: Booleans, answers: Floats, *, cost: str = "largest") -> Iterator[Guess]:
    """Yield guesses from about the first n/2 answers, then twice as many each time, at last all; the caller may stop.

    Args:
        masks: groups (m, n).
        answers: one run's noisy counts (m,).
        cost: "largest" residual or "sum" of residuals.
    """
    from scipy.optimize import linprog

    _check(masks, answers[None, :])
    if cost not in ("largest", "sum"):
        raise ParameterError("The cost must be largest or sum.")
    groups, people = masks.shape
    stages = [groups]
    while stages[0] > people // 2 + 1:
        stages.insert(0, (stages[0] + 1) // 2)
    matrix = masks.astype(np.float64)
    for number, count in enumerate(stages, start=1):
        program = _largest if cost == "largest" else _sum
        # The interior-point method is several times faster here than the simplex method.
        solved = linprog(**program(matrix[:count], answers[:count]), method="highs-ipm")
        if solved.x is None:
            raise ParameterError("The solver found no bits that fit these answers.")
        estimates = np.clip(solved.x[None, :people], 0, 1)
        done = sum(stages[:number]) / sum(stages)
        yield _guess(estimates, matrix[:count], answers[None, :count], done=done)


def _largest(matrix: Floats, answers: Floats) -> dict[str, object]:
    """Minimise t subject to |answers - matrix x| <= t and 0 <= x <= 1."""
    groups, people = matrix.shape
    slack = np.ones((groups, 1))
    return {
        "c": np.append(np.zeros(people), 1.0),
        "A_ub": np.block([[matrix, -slack], [-matrix, -slack]]),
        "b_ub": np.concatenate([answers, -answers]),
        "bounds": [(0, 1)] * people + [(0, None)],
    }


def _sum(matrix: Floats, answers: Floats) -> dict[str, object]:
    """Minimise the sum of u + v subject to matrix x - u + v = answers, u, v >= 0 and 0 <= x <= 1."""
    from scipy import sparse

    groups, people = matrix.shape
    unit = sparse.eye_array(groups)
    return {
        "c": np.concatenate([np.zeros(people), np.ones(2 * groups)]),
        "A_eq": sparse.hstack([sparse.csc_array(matrix), -unit, unit]).tocsc(),
        "b_eq": answers,
        "bounds": [(0, 1)] * people + [(0, None)] * (2 * groups),
    }


def _guess(estimates: Floats, matrix: Floats, answers: Floats, *, done: float = 1.0) -> Guess:
    return Guess(
        bits=estimates > 0.5,
        estimates=estimates,
        residuals=answers - estimates @ matrix.T,
        groups=len(matrix),
        done=done,
    )


def _check(masks: Booleans, answers: Floats) -> None:
    if masks.ndim != 2 or answers.ndim != 2 or answers.shape[1] != len(masks):
        raise ParameterError(f"There must be one answer to each of {len(masks)} groups.")
    if not (1 <= masks.shape[1] <= MAX_PEOPLE and 1 <= len(masks) <= MAX_GROUPS):
        raise ParameterError(f"At most {MAX_PEOPLE} people and {MAX_GROUPS:,} groups, at least one of each.")
    if not np.isfinite(answers).all():
        raise ParameterError("Every answer must be a finite number.")


def recovered(guess: Guess, truth: Booleans) -> Floats:
    """Return the score: share of the true bits (n,) that were guessed, shape (T,)."""
    share: Floats = (guess.bits == truth).mean(axis=1)
    return share


def strength(masks: Booleans) -> float:
    """Return the smallest singular value s of the groups' matrix; 0 if they leave a bit open, or nearly."""
    if len(masks) < masks.shape[1]:
        return 0.0
    matrix = masks.astype(np.float64)
    values = np.linalg.eigvalsh(matrix.T @ matrix)
    return math.sqrt(float(values[0])) if values[0] > LEAST_EIGENVALUE * values[-1] else 0.0


def max_wrong_bits(masks: Booleans, *, error: ArrayLike) -> Integers:
    """Bits that least squares can get wrong if no answer errs by more than ``error`` rows: 4 m E²/s², at most n.

    A wrong bit is off by 1/2 before rounding, and |estimates - bits| <= |errors|/s: a root mean square error of
    ``error`` rows is enough. Elementwise on the errors.
    """
    errors, weakest, people = np.asarray(error, dtype=np.float64), strength(masks), masks.shape[1]
    if weakest == 0:
        return np.full(errors.shape, people)
    wrong = np.floor(4 * len(masks) * errors**2 / weakest**2 * (1 + 1e-9))
    return np.minimum(wrong, people).astype(np.int64)


def error_bound(masks: Booleans, *, epsilon: float, beta: float = 0.0, delta: float = 0.0) -> Bound:
    """Return the error that every (ε, δ)-private curator makes on one of these groups, with random bits.

    A bit is one row: any guess from the answers is wrong with chance 1/(1 + e^ε) at least (either relation). Least
    squares gets at most 4 m E²/s² wrong. Both hold, so E >= s √(n w/(4 m)), w the share that must be wrong: in
    proportion to √n, near √(n w)/4 where groups are many more than people.
    """
    groups, people = masks.shape
    share, weakest = wrong_share(epsilon=epsilon, steps=1, delta=delta), strength(masks)
    left = max(0.0, share - beta) / (1 - beta)
    rows = weakest * math.sqrt(people * left / (4 * groups))
    return Bound(
        value=rows / people,
        kind=BoundKind.LOWER,
        statement=f"A mechanism that answers these {groups:,} random groups of {people:,} people with ε = {epsilon:g} "
        + (
            f"cannot guarantee all answers within less than {rounded_down(rows)} people with "
            f"failure probability {beta:g}; √n is "
            f"{math.sqrt(people):.3g}."
            if rows > 0
            else VACUOUS_STATEMENT
        ),
        reference="Dinur and Nissim (2003); least squares as in Kasiviswanathan, Rudelson and Smith (2013)",
        beta=beta,
        assumptions=(Assumption(text="there are at least as many independent groups as people", met=weakest > 0),),
    )
