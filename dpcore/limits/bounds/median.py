"""The lower bound for private medians on a long line.

Put all n rows at one grid point v. Every sensible median is then v, and a mechanism must say so. But from "all at 0"
to "all at v" only n rows change, so on the data "all at 0" it must already say v with chance e^(-εn) times as large,
and this for each of the N - 1 other points v of the grid. These chances are of different answers, so they add up, and
cannot exceed 1: with p the chance of being right,

    p + (N - 1) e^(-εn) p <= 1.

Once the grid has more than about εn/ln 2 bits there is no room left; on the real line there never was (Blum, Ligett
and Roth 2013, Theorem 5.1). The bound is tight: ``refusing`` below is a private mechanism that is right with
chance nearly 1/(1 + e^-ε) up to it. The usual mechanism, exponential, already fails at a quarter of that length. With
δ > 0 the theorem does not apply: on these data, the most stable there are, the stable median is right with the same
chance on every grid. For all data n must grow even then, at least like log* of N (Bun and others 2015).

All curves are natural logarithms of chances, for grids of any length: 10,000 bits overflow nothing.

Notation: N = 2^bits grid points; n rows; epsilon = ε; delta = δ; neighbours replace one row.

References:
    Blum, Ligett and Roth (2013), Theorem 5.1 and Corollary 5.2; McSherry and Talwar (2007); McKenna and Sheldon (2020);
    Dwork and Lei (2009), propose-test-release, for the stable median; Bun, Nissim, Stemmer and Vadhan (2015) for δ > 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Assumption, Bound, BoundKind, Floats, ParameterError, rounded_up
from dpcore.limits.chance import check_loss
from dpcore.randomness.laws import laplace_tail


def log_others(bits: ArrayLike) -> Floats:
    """ln(N - 1) for a grid of N = 2^bits >= 2 points, elementwise; bits need not be whole."""
    lengths = np.asarray(bits, dtype=np.float64)
    if not (np.isfinite(lengths).all() and (lengths >= 1).all()):
        raise ParameterError("The grid needs at least 1 bit, and finitely many.")
    logs: Floats = lengths * math.log(2) + np.log1p(-np.exp2(-lengths))
    return logs


def check_rows(*, n: int, odd: bool) -> int:
    """The middle row's number (n + 1)/2; raises ParameterError unless n is a whole number from 1, odd if it must be."""
    if n < 1 or n != int(n) or (odd and n % 2 == 0):
        raise ParameterError(f"n must be {'an odd' if odd else 'a'} whole number from 1, got {n!r}.")
    return (n + 1) // 2


def any_private(*, bits: ArrayLike, n: int, epsilon: float) -> Floats:
    """Return log of the largest chance p of being right on every constant data set, for any ε-private mechanism.

    p <= 1/(1 + (N - 1) e^(-εn)), the proof in the module's docstring.
    """
    check_loss(epsilon=epsilon)
    check_rows(n=n, odd=False)
    bound: Floats = -np.logaddexp(0.0, log_others(bits) - epsilon * n)
    return bound


def any_private_stepwise(*, bits: ArrayLike, n: int, epsilon: float) -> Floats:
    """Return log of a smaller bound on the same chance, from following the walk step by step.

    With u = 1 - p, some v is said on "all at 0" with chance at most u/(N - 1); n steps of the walk (chance.after_steps)
    take that to p at most. While the answer is unlikely a step multiplies its chance by e^ε; then a step divides the
    chance of the other answers by e^ε. So u is near the square root of (N - 1) e^(-εn), not near that number itself.
    Exact for N = 2 and for n = 1; equal to any_private wherever that is at most 1/(1 + e^ε).
    """
    simple = any_private(bits=bits, n=n, epsilon=epsilon)
    others = log_others(bits)
    turn = -np.logaddexp(0.0, epsilon)  # ln 1/(1 + e^ε), where the second kind of step takes over
    low, high = np.full_like(others, -epsilon * n - 50), np.log1p(-np.exp2(-np.asarray(bits, dtype=np.float64)))
    for _ in range(100):
        middle = (low + high) / 2
        possible = middle >= _log_miss(middle - others, n=n, epsilon=epsilon, turn=float(turn))
        low, high = np.where(possible, low, middle), np.where(possible, middle, high)
    # The smaller u is the safe end: a bound must not round below what a mechanism can do.
    with np.errstate(divide="ignore"):
        sharp: Floats = np.where(simple <= turn, simple, np.minimum(simple, np.log1p(-np.exp(low))))
    return sharp


def may_be_right(*, bits: float, n: int, epsilon: float, beta: float) -> bool:
    """Return whether any_private_stepwise allows a chance of 1 - beta to be right, without computing that chance."""
    aim = math.log1p(-beta)
    if float(any_private(bits=bits, n=n, epsilon=epsilon)) < aim:
        return False
    turn = -float(np.logaddexp(0.0, epsilon))
    if aim <= turn or beta == 0:
        return beta > 0
    missed = math.log(beta)
    return bool(missed >= _log_miss(np.asarray(missed - log_others(bits)), n=n, epsilon=epsilon, turn=turn))


def _log_miss(start: Floats, *, n: int, epsilon: float, turn: float) -> Floats:
    """ln(1 - chance after n steps) from the log chances ``start``, in closed form."""
    rising = np.clip(np.floor((turn - start) / epsilon) + 1, 0, n)
    risen = np.minimum(start + epsilon * rising, 0.0)
    with np.errstate(divide="ignore"):
        miss: Floats = np.log1p(-np.exp(risen)) - epsilon * (n - rising)
    return miss


def refusing(*, bits: ArrayLike, n: int, epsilon: float) -> Floats:
    """Log of the chance of a private mechanism that attains the bound, to show that the bound cannot be much better.

    It says v with chance p e^(-ε (rows that are not v)), and otherwise refuses. Each answer's chance moves by e^ε a
    row; so does the refusal's for p = 1/(1 + e^-ε + (N - 2) e^(-εn)), the tightest pair being a constant data set and
    its neighbour. That is more than half of any_private on every grid, and all of it for n = 1.
    """
    check_loss(epsilon=epsilon)
    check_rows(n=n, odd=False)
    lengths = np.asarray(bits, dtype=np.float64)
    with np.errstate(divide="ignore"):
        rest = log_others(bits) + np.log1p(-np.exp(-log_others(lengths)))  # ln(N - 2), -inf for one bit
    reached: Floats = -np.logaddexp(np.logaddexp(0.0, -epsilon), rest - epsilon * n)
    return reached


def exponential(*, bits: ArrayLike, n: int, epsilon: float) -> Floats:
    """Return log of the exponential mechanism's chance: 1/(1 + (N - 1) e^(-ε(n+1)/4)), n odd.

    A point's score is minus the rows to replace before it is a median, so all other points score -(n + 1)/2.
    """
    check_loss(epsilon=epsilon)
    reached: Floats = -np.logaddexp(0.0, log_others(bits) - epsilon * check_rows(n=n, odd=True) / 2)
    return reached


def permute_and_flip(*, bits: ArrayLike, n: int, epsilon: float) -> Floats:
    """Return log of permute-and-flip's chance: (1 - (1 - q)^N)/(N q) with q = e^(-ε(n+1)/4), n odd."""
    check_loss(epsilon=epsilon)
    return log_flip(np.asarray(bits, dtype=np.float64) * math.log(2), -epsilon * check_rows(n=n, odd=True) / 2)


def log_flip(log_points: Floats, log_weight: ArrayLike) -> Floats:
    """ln((1 - (1 - q)^N)/(N q)) from ln N and ln q < 0: permute-and-flip's best of N, when all others weigh q."""
    weight: Floats = np.asarray(log_weight, dtype=np.float64)
    # ln(-ln(1 - q)): for small q it is ln q, and q itself may underflow.
    rate = np.where(weight > -30, np.log(-np.log1p(-np.exp(np.clip(weight, -30, -1e-300)))), weight)
    exponent = log_points + rate
    # (1 - e^-x)/x as a logarithm; e^exponent is infinite exactly where the numerator is 1.
    inside = np.exp(np.minimum(exponent, 700.0))
    with np.errstate(divide="ignore"):
        ratio = np.where(exponent < -30, 0.0, np.log(-np.expm1(-inside)) - exponent)
    flipped: Floats = ratio + rate - weight
    return flipped


def stable_threshold(*, epsilon: float, delta: float) -> int:
    """Smallest whole threshold τ at which the stable median is (ε, δ)-private: e^(-ε(τ-1))/(1 + e^-ε) <= δ, τ >= 1."""
    check_loss(epsilon=epsilon, delta=delta)
    if delta == 0:
        raise ParameterError("The stable median needs a δ above 0.")
    first = -(math.log(delta) + math.log1p(math.exp(-epsilon))) / epsilon + 1
    return max(1, math.ceil(first - 1e-12))


def stable(*, bits: ArrayLike, n: int, epsilon: float, delta: float) -> Floats:
    """Return log of the stable median's chance of answering, and then rightly: the same on every grid, n odd.

    The median of a constant data set changes only after (n + 1)/2 replacements; it is answered when that number plus
    discrete Laplace noise of scale 1/ε is at least τ (stable_threshold).
    """
    needed = stable_threshold(epsilon=epsilon, delta=delta) - check_rows(n=n, odd=True)
    chance = np.log(laplace_tail(needed, scale=1 / epsilon))
    return np.broadcast_to(chance, log_others(bits).shape).astype(np.float64)


def wall(*, n: int, epsilon: float) -> float:
    """Bits at which no ε-private mechanism is right more than half the time: log2(1 + e^(εn)), about εn/ln 2."""
    check_loss(epsilon=epsilon)
    check_rows(n=n, odd=False)
    return float(np.logaddexp(0.0, epsilon * n) / math.log(2))


def impossibility(*, bits: float, n: int, epsilon: float) -> Bound:
    """Return Theorem 5.1 on a grid, as a lower bound on the chance of a *wrong* answer (``value``, not an error)."""
    right = float(any_private(bits=bits, n=n, epsilon=epsilon))
    sharp = float(any_private_stepwise(bits=bits, n=n, epsilon=epsilon))
    # A chance of "at most 1" would say nothing, and as if it were something.
    statement = (
        f"On 2^{bits:g} grid points this theorem excludes nothing yet. A mechanism with ε = {epsilon:g} "
        f"may find the median of {n:,} equal rows with a probability above 99.9%."
    )
    steps = ""
    if _forbids(sharp):
        statement = (
            f"On 2^{bits:g} grid points, take {n:,} equal rows at the worst position. No mechanism with ε "
            f"= {epsilon:g} (replace one row, δ = 0) finds their median with a probability above "
            f"{rounded_up(math.exp(sharp))}."
        )
        ends = f"gives {rounded_up(math.exp(right))}" if _forbids(right) else "excludes nothing yet"
        steps = f"From end to end the paper's argument {ends}; row by row it gives the number above. "
    return Bound(
        value=-math.expm1(sharp),
        kind=BoundKind.LOWER,
        statement=statement,
        reference="Blum, Ligett and Roth (2013), Theorem 5.1, with constants",
        assumptions=(Assumption(text="δ = 0 (pure ε-differential privacy)", met=True),),
        note=f"{steps}The limit is at {wall(n=n, epsilon=epsilon):,.4g} bits.",
    )


def _forbids(log_chance: float) -> bool:
    """Return whether a bound on a chance is below 1 in the three digits that are shown."""
    return rounded_up(math.exp(log_chance)) != "1"
