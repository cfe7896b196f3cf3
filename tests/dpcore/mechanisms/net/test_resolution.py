"""Nets of a resolution: the paper's sizes, what is drawn of them, and what each of them costs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpcore import Cells, Intervals, Number, ParameterError, Preview, Problem, Thresholds, entry
from dpcore.data.generators import generate
from dpcore.mechanisms.net.choice import NetMechanism
from dpcore.mechanisms.net.databases import candidates
from dpcore.mechanisms.net.resolution import (
    MAX_STEPS,
    NetOfResolution,
    by_dimension,
    by_queries,
    by_structure,
    log_candidates,
)
from dplab.printed.synthetic import net_table
from tests.kit.problems import dataset_of


def problem_of(kind: type[Thresholds | Intervals | Cells], *, bits: int = 6, n: int = 10_000) -> Problem:
    domain = Number(bits=bits)
    return Problem(domain=domain, queries=kind(domain=domain), n=n)


def test_the_papers_size_is_a_hundred_times_that_of_the_line() -> None:
    """All intervals of 1,024 cells at α = 0.1."""
    problem = problem_of(Intervals, bits=10)
    assert by_queries(problem.queries.count, 0.1) == 1_318
    assert by_structure(problem.queries, 0.1) == 10 and by_structure(Thresholds(domain=Number(bits=10)), 0.1) == 5
    assert by_dimension(2, 0.1) == 461
    printed = net_table(bits=10, alpha=0.1, epsilon=1.0, beta=0.05).lines[0]
    assert printed.printed == 1_318, "what Learn prints is what is drawn"


def test_sizes_follow_the_choice_as_far_as_they_are_quick() -> None:
    few, many = problem_of(Intervals), problem_of(Intervals, bits=10)
    sizes = {
        sizing: [NetOfResolution(alpha=0.1, sizing=sizing).size(each) for each in (few, many)]
        for sizing in ("structure", "queries", "dimension")
    }
    assert sizes == {"structure": [10, 10], "queries": [765, MAX_STEPS >> 10], "dimension": [461, MAX_STEPS >> 10]}
    # What is left resolves α all the same.
    for alpha in (0.005, 0.02, 0.1, 1.0):
        mechanism = NetOfResolution(alpha=alpha, sizing="queries")
        assert mechanism.requested_points(many) >= mechanism.size(many) >= by_structure(many.queries, alpha)


@pytest.mark.parametrize("kind", [Thresholds, Intervals, Cells])
@pytest.mark.parametrize("sizing", ["structure", "queries", "dimension"])
@pytest.mark.parametrize("alpha", [0.5, 0.9])
def test_it_is_the_net_mechanism_with_so_many_points(
    kind: type[Thresholds | Intervals | Cells], sizing: str, alpha: float, seed: int
) -> None:
    problem = problem_of(kind, bits=4, n=3_000)
    mechanism = NetOfResolution(alpha=alpha, sizing=sizing)
    same = NetMechanism(points=mechanism.size(problem))
    data = dataset_of(problem, generate("bimodal", n=3_000, size=16, seed=seed))
    drawn = [each.run(each.prepare(data, problem), Preview(seed), 50).outcomes() for each in (mechanism, same)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    bound = mechanism.accuracy(problem, 0.1)
    assert dataclasses.replace(bound, note="") == dataclasses.replace(same.accuracy(problem, 0.1), note="")
    resolution = bound.value - 2 / 3_000 * math.log(candidates(size=16, points=same.points) / 0.1)
    assert resolution <= alpha + 1e-9, "it is a net of that resolution"


def test_the_note_has_both_sizes_and_their_costs() -> None:
    problem = problem_of(Intervals, bits=10)
    note = NetOfResolution(alpha=0.1).accuracy(problem, 0.05).note
    for points in (10, 1_318):
        rows = 2 * (math.log(candidates(size=1024, points=points)) - math.log(0.05))
        assert log_candidates(1024, points) == pytest.approx(math.log(candidates(size=1024, points=points)))
        assert f"{points:,} points and {rows:,.0f} rows" in note


def test_the_entry_has_no_control_for_points() -> None:
    assert set(entry("net-alpha").controls()) == {"epsilon", "alpha", "sizing"}
    with pytest.raises(ParameterError):
        entry("net-alpha").make(points=3)
