"""What ε lets a chance do over several steps, against linear programs over all mechanisms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from dpcore.core import Neighbours, ParameterError
from dpcore.limits.chance import after_steps, binomial_interval, confusion, replacement_steps, wrong_share


def exact_confusion(*, epsilon: float, steps: int, delta: float) -> float:
    """The smallest w by linear programming over the chances g_0 .. g_h of an event along the walk."""
    rows, limits = [], []
    for first, second in itertools.chain(*(((i, i + 1), (i + 1, i)) for i in range(steps))):
        event, complement = np.zeros(steps + 2), np.zeros(steps + 2)
        event[first], event[second] = 1, -math.exp(epsilon)
        complement[first], complement[second] = -1, math.exp(epsilon)
        rows += [event, complement]
        limits += [delta, delta + math.exp(epsilon) - 1]
    start, end = np.zeros(steps + 2), np.zeros(steps + 2)
    start[0], start[-1], end[steps], end[-1] = 1, -1, -1, -1
    solved = linprog(
        np.append(np.zeros(steps + 1), 1.0), A_ub=[*rows, start, end], b_ub=[*limits, 0, -1], bounds=(0, 1)
    )
    return float(solved.fun)


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_confusion_is_the_exact_optimum(epsilon: float, steps: int, delta: float) -> None:
    w = confusion(epsilon=epsilon, steps=steps, delta=delta)
    assert w == pytest.approx(exact_confusion(epsilon=epsilon, steps=steps, delta=delta), abs=1e-9)
    if w > 0:
        assert 1 - w == pytest.approx(float(after_steps(w, epsilon=epsilon, steps=steps, delta=delta)), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("steps", [1, 2, 3, 10])
def test_steps_say_more_than_end_to_end(epsilon: float, steps: int) -> None:
    end_to_end = 1 / (1 + math.exp(steps * epsilon))
    w = confusion(epsilon=epsilon, steps=steps)
    assert w >= end_to_end * (1 - 1e-12)
    assert (w == pytest.approx(end_to_end, rel=1e-12)) == (steps == 1)


@pytest.mark.parametrize("beta", [0.0, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_wrong_share_is_where_the_walk_closes(beta: float, delta: float) -> None:
    share = wrong_share(epsilon=0.8, steps=2, beta=beta, delta=delta)

    def possible(a: float) -> bool:
        return (1 - beta) * (1 - a) <= float(after_steps((1 - beta) * a + beta, epsilon=0.8, steps=2, delta=delta))

    assert possible(share + 1e-9)
    assert share == 0 or not possible(share - 1e-9)


def test_nothing_is_proved_for_a_large_failure_chance() -> None:
    assert wrong_share(epsilon=1.0, steps=2, beta=0.4) == 0.0


def test_replacing_is_removing_and_adding() -> None:
    assert replacement_steps(Neighbours.REPLACE_ONE, rows=3) == 3
    assert replacement_steps(Neighbours.ADD_REMOVE_ONE, rows=3) == 6


def test_interval_is_exact() -> None:
    low, high = binomial_interval([0, 3, 10], 10, confidence=0.95)
    assert low[0] == 0 and high[2] == 1
    k = np.arange(11)
    for end, tail in ((low[1], k >= 3), (high[1], k <= 3)):
        masses = np.array([math.comb(10, int(i)) * end**i * (1 - end) ** (10 - i) for i in k])
        assert masses[tail].sum() == pytest.approx(0.025, rel=1e-9)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        confusion(epsilon=0.0, steps=1)
    with pytest.raises(ParameterError, match="delta"):
        confusion(epsilon=1.0, steps=1, delta=1.0)
    with pytest.raises(ParameterError, match="beta"):
        wrong_share(epsilon=1.0, steps=1, beta=1.0)
