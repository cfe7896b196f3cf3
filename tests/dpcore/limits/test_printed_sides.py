"""A bound is printed on the side where it holds: what nobody can do is rounded down, what anybody can do up."""

from __future__ import annotations

import math
import re

import pytest

from dpcore.core import Assumption, Bound, Neighbours, Problem
from dpcore.data.sources import generated_vectors
from dpcore.data.sphere import Halfspaces
from dpcore.limits.attacks import fat_shattering, subset_sum, vc
from dpcore.limits.bounds import median, minimax
from dpcore.mechanisms import entry
from dpcore.randomness import Preview

LOSSES = (0.013, 0.1, 0.37, 0.5, 0.9, 1.0, 1.7, 2.0)
REPLACE = Neighbours.REPLACE_ONE


def printed(bound: Bound, words: str) -> float:
    """The number that stands after some words of a statement."""
    found = re.search(rf"{words} (\d[\d.,]*(?:e-\d+)?)", bound.statement)
    assert found is not None, bound.statement
    return float(found[1].rstrip(".").replace(",", ""))


@pytest.mark.parametrize("epsilon", LOSSES)
def test_what_nobody_can_do_is_printed_no_larger_than_it_is_proved(epsilon: float) -> None:
    groups = subset_sum.random_groups(Preview(1), people=64, groups=256)
    cases = [
        (minimax.risk_bound(cells=64, rows=1000, epsilon=epsilon), "expected total error is at least", 1.0),
        (
            fat_shattering.error_bound(
                points=64, scale=0.1, spread=0.0, epsilon=epsilon, neighbours=REPLACE, beta=0.05
            ),
            "within less than",
            32.0,
        ),
        (subset_sum.error_bound(groups, epsilon=epsilon), "within less than", 64.0),
        (vc.error_bound(epsilon=epsilon, repeats=1, neighbours=REPLACE, beta=0.05, points=64), "error below", 1.0),
    ]
    for bound, words, unit in cases:
        if bound.value > 0:
            proved = bound.value * unit
            assert 0.99 * proved <= printed(bound, words) <= proved * (1 + 1e-12), bound.statement


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize("bits", [8, 64, 200])
def test_what_anybody_can_do_is_printed_no_smaller_than_it_is_proved(epsilon: float, bits: int) -> None:
    bound = median.impossibility(bits=bits, n=51, epsilon=epsilon)
    proved = math.exp(float(median.any_private_stepwise(bits=bits, n=51, epsilon=epsilon)))
    if "this theorem excludes nothing yet" in bound.statement:
        assert proved > 0.999, "as is said"
    else:
        said = printed(bound, "with a probability above")
        assert proved * (1 - 1e-12) <= said < 1 and said <= 1.01 * proved


@pytest.mark.parametrize("directions", [4, 5, 7, 9, 16])
def test_the_margin_that_a_promise_needs_is_printed_no_smaller_than_it_is(directions: int) -> None:
    domain = generated_vectors(n=1000, dimensions=2, margin=0.3, seed=1).domain
    machine = entry("halfspaces").make(directions=directions, projected=2)

    def needed(margin: float) -> Assumption:
        problem = Problem(domain=domain, queries=Halfspaces(domain=domain, margin=margin), n=1000)
        return machine.accuracy(problem, 0.05).assumptions[0]

    said = re.search(r"only directions of margin ([\d.]+) are queried", needed(0.9).text)
    assert said is not None and needed(float(said[1])).met and not needed(0.985 * float(said[1])).met
