"""The best of all private mechanisms on tiny data, by linear programming: what no bound may deny."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from dpcore.core import Booleans, Integers


def best_gain(
    pairs: Integers, gains: NDArray[Any], *, epsilon: float, delta: float = 0.0, allowed: Booleans | None = None
) -> float:
    """Return the largest v such that some (ε, δ)-private mechanism has every expected gain at least v.

    Variables are the chance of each outcome on each data set, its excess over e^ε times that of a neighbour, and v.

    Args:
        pairs: ordered pairs of neighbouring data sets, (P, 2).
        gains: what each outcome on each data set is worth in each expectation, (C, D, K).
        epsilon: of all mechanisms.
        delta: of all mechanisms: what the excesses of a pair add up to at most.
        allowed: outcomes that the mechanism may have on each data set, (D, K); all if None.
    """
    cases, data, outcomes = gains.shape
    pair, outcome = np.divmod(np.arange(len(pairs) * outcomes), outcomes)
    count, law = len(pair), data * outcomes
    one, other = (sparse.csr_array((np.ones(count), (np.arange(count), side * outcomes + outcome)), shape=(count, law))
                  for side in np.asarray(pairs)[pair].T)  # fmt: skip
    above = sparse.block_array(
        [
            [one - math.exp(epsilon) * other, -sparse.eye_array(count), None],
            [None, sparse.kron(sparse.eye_array(len(pairs)), np.ones((1, outcomes))), None],
            [sparse.csr_array(-gains.reshape(cases, law)), None, np.ones((cases, 1))],
        ]
    )
    sums = sparse.hstack([sparse.kron(sparse.eye_array(data), np.ones((1, outcomes))), np.zeros((data, count + 1))])
    most = np.append(np.ones(law) if allowed is None else allowed.reshape(law), np.full(count + 1, np.inf))
    solved = linprog(
        np.append(np.zeros(law + count), -1.0),
        A_ub=above.tocsr(),
        b_ub=np.concatenate([np.zeros(count), np.full(len(pairs), delta), np.zeros(cases)]),
        A_eq=sums.tocsr(),
        b_eq=np.ones(data),
        bounds=np.column_stack([np.append(np.zeros(law + count), -np.inf), most]),
    )
    return float(-solved.fun)


def neighbouring(histograms: Integers, *, apart: int = 2) -> Integers:
    """Return the ordered pairs of histograms, (P, 2), whose cells differ by so many rows: 2 where one is replaced."""
    return np.argwhere(np.abs(histograms[:, None] - histograms[None]).sum(axis=2) == apart)
