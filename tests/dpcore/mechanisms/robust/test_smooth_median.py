"""The smooth median: its widths by definition, its steps, its exact δ, and the rounding that breaks it."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpcore.core import Dataset, Floats, Integers, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.mechanisms.robust import smooth_median
from dpcore.mechanisms.robust.smooth_median import (
    SmoothMedian,
    divergence,
    ladder,
    median_moves,
    power_of_two_delta,
    smooth_sensitivity,
)
from dpcore.mechanisms.robust.stable_median import stability
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Enumerate, Preview
from dpcore.randomness.laws import laplace_mass
from dplab.audit.exact import hockey_stick
from tests.kit.contract import pair_divergence
from tests.kit.problems import neighbouring_rows
from tests.kit.statistics import assert_chance_at_most

Rows = tuple[int, ...]
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def median(rows: Rows) -> int:
    """The lower median; of no rows the first cell."""
    return sorted(rows)[-(-len(rows) // 2) - 1] if rows else 0


RELATIONS = pytest.mark.parametrize("relation", Neighbours)


def moves_by_definition(rows: Rows, cells: int, relation: Neighbours) -> list[int]:
    """How far one row moves the median of any data set within 0, 1, … n changes: every data set is visited."""
    level, found = {rows}, []
    for _ in range(len(rows) + 1):
        near = {each: neighbouring_rows(each, cells, relation) for each in level}
        found.append(max(abs(median(each) - median(one)) for each in level for one in near[each]))
        level = level.union(*near.values())
    return found


def all_data(cells: int, most: int, *, least: int = 1) -> list[Rows]:
    return [rows for n in range(least, most + 1) for rows in itertools.combinations_with_replacement(range(cells), n)]


def moves_of(
    rows: Rows, cells: int, *, most: int = 100, relation: Neighbours = Neighbours.REPLACE_ONE
) -> tuple[int, Integers]:
    counts = np.bincount(np.array(rows, dtype=np.int64), minlength=cells)
    return median_moves(counts, domain=Number(bins=cells), max_changes=most, neighbours=relation)


@pytest.mark.slow
@RELATIONS
@pytest.mark.parametrize(("cells", "most"), [(3, 5), (5, 4)])
def test_moves_and_smooth_sensitivity_are_those_of_every_data_set_within_reach(
    cells: int, most: int, relation: Neighbours
) -> None:
    for rows in all_data(cells, most, least=int(relation is Neighbours.REPLACE_ONE)):
        cell, moves = moves_of(rows, cells, relation=relation)
        expected = moves_by_definition(rows, cells, relation)
        assert cell == median(rows) and moves.tolist() == expected, rows
        largest = max(math.exp(-0.3 * k) * move for k, move in enumerate(expected))
        assert smooth_sensitivity(moves, smoothness=0.3) == pytest.approx(largest, rel=1e-12)


@RELATIONS
def test_one_row_moves_the_step_by_at_most_one_and_the_median_by_at_most_its_width(relation: Neighbours) -> None:
    steps = ladder(epsilon=1.0, delta=0.05, cells=4)
    moved = set()
    for rows in all_data(4, 5, least=int(relation is Neighbours.REPLACE_ONE)):
        (cell, moves), at = moves_of(rows, 4, relation=relation), 0
        at = steps.step(moves)
        assert moves[0] <= steps.widths[at]
        for other in neighbouring_rows(rows, 4, relation):
            near, others = moves_of(other, 4, relation=relation)
            moved.add(abs(at - steps.step(others)))
            assert abs(cell - near) <= min(steps.widths[at], steps.widths[steps.step(others)])
    assert moved == {0, 1}


def test_moves_beyond_those_that_are_asked_for_do_not_matter(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    steps = ladder(epsilon=1.0, delta=1e-3, cells=64)
    for _ in range(20):
        rows = tuple(np.sort(generator.integers(0, 64, 151)).tolist())
        few, many = (moves_of(rows, 64, most=most)[1] for most in (len(steps.widths), 10_000))
        assert len(few) < len(many) and steps.step(few) == steps.step(many)


def divergence_by_definition(one: float, other: float, shift: int, *, epsilon: float) -> float:
    z = np.arange(-5_000, 5_001)
    p, q = laplace_mass(z, scale=one), laplace_mass(z - shift, scale=other)
    return float(max(np.maximum(p - np.exp(epsilon) * q, 0).sum(), np.maximum(q - np.exp(epsilon) * p, 0).sum()))


def test_the_divergence_of_two_widths_is_the_sum_over_all_numbers(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    for _ in range(200):
        narrow, shift = float(generator.uniform(0.02, 60)), int(generator.integers(0, 30))
        wide = narrow * math.exp(float(generator.choice([0.0, 0.03, 0.2, 0.7])))
        epsilon = float(generator.choice([0.05, 0.3, 1.0, 3.0]))
        found = float(divergence(np.array([narrow]), np.array([wide]), np.array([shift]), epsilon=epsilon)[0])
        expected = divergence_by_definition(narrow, wide, shift, epsilon=epsilon)
        assert found == pytest.approx(expected, abs=1e-12)
        nearer = divergence_by_definition(narrow, wide, max(0, shift - 1), epsilon=epsilon)
        assert nearer <= expected + 1e-12, "the largest shift is the worst"


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (1.0, 0.1), (3.0, 1e-9), (12.0, 0.1)])
def test_the_noise_is_the_narrowest_and_narrower_than_the_papers(epsilon: float, delta: float) -> None:
    steps = ladder(epsilon=epsilon, delta=delta, cells=256)
    assert steps.delta <= delta and epsilon * steps.factor < 2.2
    assert np.allclose(np.diff(np.log(steps.widths)), steps.smoothness, rtol=1e-9) and steps.widths[-1] >= 255
    least = smooth_median.steps_delta(steps.widths, 0.99 * steps.factor, epsilon=epsilon, cells=256)
    assert least > delta or epsilon * steps.factor < 1.01  # below 1/ε not even equal widths are private


@pytest.mark.parametrize("epsilon", [4.393471037370922, 3.795711332220101, 3.712707933051662])
def test_data_that_move_over_the_whole_range_have_a_step_where_the_last_width_is_rounded_down(epsilon: float) -> None:
    """A refusal of such data alone would be an outcome that their neighbours never have."""
    domain, mechanism = Number(bits=2), SmoothMedian(epsilon=epsilon, delta=1e-6)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=2)
    assert mechanism.ladder(problem).widths[-1] >= 3
    pair = [Dataset(domain, np.array(rows), GENERATED) for rows in ([0, 3], [0, 2])]
    found = pair_divergence(mechanism, problem, pair, window=(0, 3), epsilon=epsilon)
    assert found <= mechanism.guarantee(problem).delta <= 1e-6


def test_powers_of_two_break_it_and_an_enumeration_of_two_data_sets_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """δ is 0.1 and more instead of a millionth; a pair of neighbours shows most of it, and the right ladder none."""
    claimed = 1e-6
    assert 0.11 < power_of_two_delta(epsilon=1.0, delta=claimed, cells=64) < 0.12
    domain = Number(bits=6)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=101)
    right = ladder(epsilon=1.0, delta=claimed, cells=64)
    widths: Floats = 2.0 ** np.arange(-8.0, 7.0)
    coarse = dataclasses.replace(right, widths=widths, factor=2.0)

    def worst() -> float:
        found, mechanism = 0.0, SmoothMedian(epsilon=1.0, delta=claimed)
        for equal in range(1, 100, 2):  # rows in the middle; one of them leaves for the end
            side = (101 - equal) // 2
            counts = [side, equal, side], [side, equal - 1, side + 1]
            pair = [Dataset(domain, np.repeat([0, 32, 63], each), GENERATED) for each in counts]
            found = max(found, pair_divergence(mechanism, problem, pair, window=(0, 63), epsilon=1.0))
        return found

    assert worst() <= claimed
    smoothness = coarse.smoothness

    def of_sensitivity(moves: Integers) -> int:
        return int(np.searchsorted(widths, smooth_sensitivity(moves, smoothness=smoothness)))

    object.__setattr__(coarse, "step", of_sensitivity)
    monkeypatch.setattr(smooth_median, "ladder", lambda **_: coarse)
    assert worst() > 1000 * claimed


@pytest.mark.parametrize("beta", [0.05, 0.2])
def test_errors_are_within_what_is_said_of_the_smooth_sensitivity_and_of_stability(beta: float, seed: int) -> None:
    domain, mechanism = Number(bits=8), SmoothMedian(epsilon=1.0, delta=1e-6)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=2_001)
    for equal in (1, 60, 2_001):
        rows = np.concatenate([np.full(equal, 127), np.arange(2_001 - equal) * 256 // (2_002 - equal)])
        state = mechanism.prepare(Dataset(domain, rows, GENERATED), problem)
        cell, _, moves = mechanism.step(state)
        errors = np.abs(mechanism.run(state, Preview(seed), 4_000).values - cell)
        smooth = smooth_sensitivity(moves, smoothness=mechanism.ladder(problem).smoothness)
        said = 1 + mechanism.multiple(problem, beta) * smooth
        assert_chance_at_most(int((errors > said).sum()), trials=4_000, chance=beta)
        _, stable = stability(np.bincount(rows, minlength=256), domain=domain)
        promised = int(mechanism.error_at(np.array([stable]), problem, beta)[0])
        assert_chance_at_most(int((errors > promised).sum()), trials=4_000, chance=beta)
    assert promised == 0 and (errors == 0).all(), "all rows are equal"


def test_with_a_row_more_or_less_every_pair_is_within_the_claim_and_moves_known_a_change_too_late_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The exact law of the answer for up to seven rows in each of three cells, and one that may be missing."""
    domain, usual = Number(bins=16, missing=True), median_moves
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=3, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = SmoothMedian(epsilon=1.0, delta=0.1)

    def worst() -> float:
        @functools.cache
        def law(*counts: int) -> Any:
            rows = Dataset(domain, np.repeat([0, 7, 15, 16], counts), GENERATED)
            return Enumerate(window=(0, 15)).law(mechanism, mechanism.prepare(rows, problem))

        found = 0.0
        for counts in itertools.product(range(7), range(7), range(7), range(2)):
            for place in range(4):
                one, other = law(*counts), law(*(count + (at == place) for at, count in enumerate(counts)))
                found = max(found, hockey_stick(one, other, epsilon=1.0), hockey_stick(other, one, epsilon=1.0))
        return found

    claimed = mechanism.guarantee(problem).delta
    assert 0.02 < worst() <= claimed <= 0.1

    def late(histogram: Integers, **more: Any) -> tuple[int, Integers]:
        cell, moves = usual(histogram, **more)
        return cell, np.append(0, moves[:-1])

    monkeypatch.setattr(smooth_median, "median_moves", late)
    assert worst() > 10 * claimed


def test_it_ranks_a_public_number_of_rows() -> None:
    domain = Number(bits=2, missing=True)
    queries, rows = Thresholds(domain=domain), Dataset(domain, np.array([0, 1, 2]), GENERATED)
    problem = Problem(domain=domain, queries=queries, n=3)
    mechanism = SmoothMedian()
    with pytest.raises(ParameterError, match="Here cells may be empty"):
        mechanism.run(mechanism.prepare(rows, problem), Preview(1), 1)
    added = dataclasses.replace(problem, neighbours=Neighbours.ADD_REMOVE_ONE)
    assert not mechanism.unsuitable(added) and mechanism.unsuitable(problem)
    mechanism.run(mechanism.prepare(rows, added), Preview(1), 1)
    with pytest.raises(ParameterError, match="take a larger δ"):
        ladder(epsilon=1.0, delta=1e-15, cells=4)
