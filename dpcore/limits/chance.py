"""Changes of a chance over several neighbouring steps under ε and δ, and exact intervals of measured chances.

Every lower bound of this folder is one argument. A small privacy loss says that one changed row moves the chance of any
event by a factor e^ε at most. Then h changed rows, one after the other, cannot take an event from very unlikely to
very likely: the two ends of the walk must be confused now and then, however clever the mechanism. Usually this is told
with the factor e^(hε) from end to end; following the event *and* its complement step by step says more, because every
data set on the way is one the mechanism must answer too.

References:
    Dwork, McSherry, Nissim and Smith (2006), group privacy; Dong, Roth and Su (2022), Gaussian differential privacy,
    group privacy by composing trade-off functions; Clopper and Pearson (1934); Hoeffding (1963), Theorem 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.core import Floats, Neighbours, ParameterError

VACUOUS_STATEMENT = "may guarantee any error: this theorem excludes none."
"""The end of a lower bound's statement where the bound is 0, in place of "no error below 0"."""


def check_loss(*, epsilon: float, delta: float = 0.0, steps: int = 1) -> None:
    """Raise ParameterError unless epsilon, delta and the number of steps make sense."""
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise ParameterError(f"epsilon must be a finite number above 0, got {epsilon!r}.")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be at least 0 and below 1, got {delta!r}.")
    if steps < 0 or steps != int(steps):
        raise ParameterError(f"The number of steps must be a whole number from 0, got {steps!r}.")


def replacement_steps(neighbours: Neighbours, *, rows: int = 1) -> int:
    """Neighbouring steps that change the value of so many rows: one each, or a removal and an addition each."""
    return rows * (1 if neighbours is Neighbours.REPLACE_ONE else 2)


def after_steps(chance: ArrayLike, *, epsilon: float, steps: int, delta: float = 0.0) -> Floats:
    """Return the largest chance an event can reach from ``chance`` in so many neighbouring steps, elementwise.

    One step takes g to at most min(e^ε g + δ, 1 - e^-ε (1 - g - δ)): the definition for the event, and for its
    complement on the way back.
    """
    check_loss(epsilon=epsilon, delta=delta, steps=steps)
    start = np.asarray(chance, dtype=np.float64)
    reached = [_walked(each, epsilon=epsilon, steps=steps, delta=delta) for each in start.ravel().tolist()]
    return np.array(reached, dtype=np.float64).reshape(start.shape)


def _walked(chance: float, *, epsilon: float, steps: int, delta: float) -> float:
    """The same of one chance, on plain numbers: a bisection asks it sixty times."""
    growth, shrinkage = math.exp(min(epsilon, 700.0)), math.exp(-epsilon)
    for _ in range(steps):
        stepped = min(growth * chance + delta, 1 - shrinkage * (1 - chance - delta))
        stepped = min(max(stepped, 0.0), 1.0)
        if stepped == chance:
            break
        chance = stepped
    return chance


def confusion(*, epsilon: float, steps: int, delta: float = 0.0) -> float:
    """Return the smallest chance w of mistaking either of two data sets so many steps apart for the other.

    It solves 1 - w = after_steps(w). A step and the step back undo each other, so for an even number the walk passes
    1/2 in the middle, and for an odd one the middle step goes from (1 - δ)/(1 + e^ε) to its complement. Without δ:
    e^(-εh/2)/2 for even h, e^(-ε(h-1)/2)/(1 + e^ε) for odd h. Never below 1/(1 + e^(hε)), the usual form.
    """
    check_loss(epsilon=epsilon, delta=delta, steps=steps)
    middle = 0.5 if steps % 2 == 0 else (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
    fallen = math.exp(-epsilon * (steps // 2))
    leak = delta * (1 - fallen) * math.exp(-epsilon) / -math.expm1(-epsilon)
    return max(0.0, fallen * middle - leak)


def wrong_share(*, epsilon: float, steps: int, beta: float = 0.0, delta: float = 0.0) -> float:
    """Return the least share of swapped elements that a reconstruction sure up to ``beta`` must get wrong.

    A mechanism promises: except with chance beta, at most a share a of the secret set is reconstructed wrongly. Take a
    secret element out (so many steps away). It was found with chance at least (1 - β)(1 - a), and now is with chance at
    most (1 - β) a + β. The smallest a that one can be walked to from the other is returned.
    """
    check_loss(epsilon=epsilon, delta=delta, steps=steps)
    if not 0 <= beta < 1:
        raise ParameterError(f"beta must be at least 0 and below 1, got {beta!r}.")
    if beta == 0:
        return confusion(epsilon=epsilon, steps=steps, delta=delta)
    low, high = 0.0, 0.5
    if _walked(beta, epsilon=epsilon, steps=steps, delta=delta) >= 1 - beta:
        return 0.0
    for _ in range(60):
        share = (low + high) / 2
        reach = _walked((1 - beta) * share + beta, epsilon=epsilon, steps=steps, delta=delta)
        if (1 - beta) * (1 - share) <= reach:
            high = share
        else:
            low = share
    return low


def binomial_interval(successes: ArrayLike, trials: int, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the exact two-sided interval for each proportion (Clopper and Pearson 1934), shapes as ``successes``."""
    from scipy.special import betaincinv

    count: NDArray[np.float64] = np.asarray(successes, dtype=np.float64)
    if trials < 1 or (count < 0).any() or (count > trials).any():
        raise ParameterError(f"Successes must lie between 0 and the number of trials, at least 1; trials {trials}.")
    tail = (1 - confidence) / 2
    low = np.where(count == 0, 0.0, betaincinv(np.maximum(count, 1), trials - count + 1, tail))
    high = np.where(count == trials, 1.0, betaincinv(count + 1, np.maximum(trials - count, 1), 1 - tail))
    return low, high
