"""Largest chance of an answer, and of a right one, on data of a given stability.

Data x have stability s if s changed rows, and no fewer, can change the right answer: some y is s neighbouring steps
away and has another one.

**A mechanism that is never wrong**, and refuses instead, never gives x's answer on y. So the chance of that answer
starts at 0 on y and has s steps to grow in. A step takes g to min(e^ε g + δ, 1 - e^-ε (1 - g - δ)) at most
(chance.after_steps): at the edge, s = 1, to δ; then it grows e^ε-fold a row; once it is beyond (1 - δ)/(1 + e^ε), what
shrinks e^ε-fold is the chance of a refusal. No mechanism answers more often; and one that answers exactly so often is
private: one row moves the stability by one at most, and where it moves the answer both neighbours have stability 1. So
the bound is tight. (The same recursion says which labels a private group-by may show: rows of one label take
the place of stability.)

**A mechanism that may be wrong** is not bound by that, but by two data sets. Walk from x to the first data with another
answer (s steps, the last of which changes it) and on to data as stable as x, where there are some: s - 1 more. An
answer that is right with chance p on both is said with chance 1 - p at most on the other side, so 1 - p is at least the
confusion of data 2s - 1 steps apart (chance.confusion). Where rows are replaced there are such data for the quantile
that is row number r of n for every s up to the smaller of r and n - r + 1: two cells that share the rows, r + s - 1 of
them in the lower one, or r - s. Beyond that all data so stable may have the same answer, and then nothing follows.
Where rows come and go there always are: rows can be added until it is so.

References:
    Desfontaines, Voss, Gipson and Mandayam (2022), differentially private partition selection, the recursion and its
    closed form; Dwork and Lei (2009), propose-test-release; Dwork, McSherry, Nissim and Smith (2006), group privacy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Floats, ParameterError
from dpcore.limits.chance import check_loss, confusion


def max_answer_chance(stable_rows: ArrayLike, *, epsilon: float, delta: float) -> Floats:
    """Return the largest chance of an answer on data of this stability, for mechanisms that are never wrong.

    The recursion in closed form: π_s = δ (e^(εs) - 1)/(e^ε - 1) up to the first s = r at which it exceeds
    (1 - δ)/(1 + e^ε); from there on 1 - π falls to e^-ε (1 - π - δ) in each step, and never below 0.

    Args:
        stable_rows: neighbouring steps to the nearest data with another answer, whole numbers from 0.
        epsilon: of the mechanism.
        delta: its δ.

    Raises:
        ParameterError: a loss or a stability that makes no sense.
    """
    check_loss(epsilon=epsilon, delta=delta)
    steps = np.asarray(stable_rows, dtype=np.float64)
    if (steps < 0).any() or (steps != np.floor(steps)).any():
        raise ParameterError("A stability is a whole number of rows from 0.")
    if delta == 0:
        return np.zeros_like(steps)
    # A step beyond the turn: there both kinds of step agree, so a rounding that picks the other one costs nothing.
    rising = math.floor(math.log1p((1 - delta) * math.tanh(epsilon / 2) / delta) / epsilon) + 1
    risen, backwards = np.minimum(steps, rising), -math.expm1(-epsilon)
    reached = delta * np.exp(epsilon * (risen - 1)) * -np.expm1(-epsilon * risen) / backwards
    shrunk = np.exp(-epsilon * (steps - risen))
    missed = shrunk * (1 - reached) - delta * math.exp(-epsilon) * (1 - shrunk) / backwards
    # A small chance is not subtracted from 1: rounded down, the bound would exclude what is possible.
    answered: Floats = np.clip(np.where(steps <= rising, reached, 1 - missed), 0.0, 1.0)
    return answered


def max_right_chance(stable_rows: int, *, epsilon: float, delta: float) -> float:
    """Return the largest chance of the right answer on all data of this stability, wrong answers allowed.

    It holds where two data sets so stable, with different answers, are as near as can be: 2s - 1 steps.
    """
    if stable_rows < 1:
        raise ParameterError(f"A stability is a whole number of rows from 1, got {stable_rows!r}.")
    return 1 - confusion(epsilon=epsilon, steps=2 * stable_rows - 1, delta=delta)
