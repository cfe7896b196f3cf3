"""Interval release in three variants: exact privacy, planted faults, and searches that find what they should."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.core import (
    Integers,
    Mechanism,
    Neighbours,
    PointsRelease,
)
from dpcore.data.columns import Number
from dpcore.mechanisms.intervals.anchored import AnchoredIntervals
from dpcore.mechanisms.intervals.printed import PrintedIntervals
from dpcore.mechanisms.intervals.recursive import RecursiveIntervals, error_growth
from dpcore.randomness import Account, Enumerate, Preview
from dpcore.randomness.cuts import cut_scores
from dplab.audit import exact_delta
from tests.cases import full_but
from tests.kit.contract import pair_divergence
from tests.kit.intervals import (
    TINY_LINES,
    Adversary,
    Broken,
    case,
    cell_counts,
    dataset_of,
    every_relation,
    problem_on,
    released,
    seeds,
    shaped,
)

# Privacy.


def tiny_cases() -> list[Any]:
    """Every variant on every tiny line, the largest of them in `run.py test full`."""
    mechanisms = {
        "printed": PrintedIntervals(alpha=1.0, tie_bits=0),
        "printed-ties": PrintedIntervals(alpha=1.0, tie_bits=1, epsilon=3.0),
        "anchored": AnchoredIntervals(alpha=1.0),
        "anchored-4": AnchoredIntervals(alpha=0.5, epsilon=3.0),
        "recursive": RecursiveIntervals(alpha=1.0),
        "recursive-2-levels": RecursiveIntervals(alpha=0.99, epsilon=3.0),
    }
    return [
        pytest.param(mechanism, domain, id=f"{name}-{domain.size}-cells", marks=[pytest.mark.full] * (domain.size > 4))
        for name, mechanism in mechanisms.items()
        for domain in TINY_LINES
    ]


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize(("mechanism", "domain"), tiny_cases())
def test_every_pair_of_neighbours_is_within_epsilon(
    mechanism: Mechanism, domain: Number, neighbours: Neighbours
) -> None:
    rows = 3 if domain.size == 2 else 2
    assert exact_delta(mechanism, problem_on(domain, n=rows, neighbours=neighbours)).delta <= 1e-12


@pytest.mark.slow
@every_relation
def test_more_coins_than_bits_are_private(neighbours: Neighbours) -> None:
    mechanism = PrintedIntervals(alpha=1.0, tie_bits=2, epsilon=3.0)
    assert exact_delta(mechanism, problem_on(Number(bits=1), n=2, neighbours=neighbours)).delta <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "factor"),
    [
        # The whole budget on every block; noise of scale d·m/(2ε); no division by the levels, and more.
        pytest.param(PrintedIntervals(alpha=1.0, tie_bits=0), 8.0, id="printed"),
        pytest.param(AnchoredIntervals(alpha=1.0), 2.0, id="anchored"),
        pytest.param(RecursiveIntervals(alpha=0.99), 4.0, id="recursive"),
    ],
)
def test_an_overspend_is_caught(mechanism: Mechanism, factor: float) -> None:
    problem = problem_on(Number(bits=2), n=2)
    assert exact_delta(Broken(inner=mechanism), problem).delta <= 1e-12
    assert exact_delta(Broken(inner=mechanism, factor=factor), problem).delta > 1e-3


def test_half_the_sensitivity_of_cuts_is_caught_where_many_cuts_tie() -> None:
    """Replacing a row costs 2: with a long gap before the median and a short one behind it, 1.2 epsilon shows."""
    domain, mechanism = Number(bits=6), RecursiveIntervals(alpha=1.0, epsilon=4.0)
    problem = problem_on(domain, n=5)
    pair = ([0, 0, 61, 61, 63], [0, 61, 61, 63, 63])

    def loss(factor: float) -> float:
        broken, data = Broken(inner=mechanism, factor=factor), [dataset_of(domain, rows) for rows in pair]
        return pair_divergence(broken, problem, data, window=(0, 1), epsilon=4.0)

    assert loss(1.0) <= 1e-12
    assert loss(2.0) > 1e-3


class KeepsGoing(PrintedIntervals):
    """The outer loop stops at the right end only, as printed: repair 4 is missing."""

    def run(self, state: Any, sampler: Any, trials: int = 1) -> PointsRelease:
        search = self.search(state, sampler, trials)
        for _ in range(1_000):
            if search.done.all():
                break
            search.next_bound()
        return super().run(state, Preview(0), trials)


def test_an_outer_loop_without_an_end_overspends(seed: int) -> None:
    domain = Number(bits=8)
    dataset, problem = shaped(domain, 200, "even"), problem_on(domain, n=200)
    for mechanism, overspends in ((PrintedIntervals(alpha=0.8), False), (KeepsGoing(alpha=0.8), True)):
        account = Account(Preview(seed))
        mechanism.run(mechanism.prepare(dataset, problem), account, 5)
        assert (account.epsilon > mechanism.epsilon * (1 + 1e-9)) == overspends


@pytest.mark.parametrize(
    "mechanism",
    [PrintedIntervals(), AnchoredIntervals(), RecursiveIntervals()],
    ids=["printed", "anchored", "recursive"],
)
def test_a_run_spends_epsilon(mechanism: Any, seed: int) -> None:
    domain = Number(bits=6, missing=True)
    account = Account(Preview(seed))
    mechanism.run(mechanism.prepare(shaped(domain, 500, "even"), problem_on(domain, n=500)), account, 2)
    assert account.epsilon == pytest.approx(mechanism.epsilon, rel=1e-9)


@pytest.mark.slow
@given(counts=st.lists(st.integers(0, 3), min_size=3, max_size=5), seed=seeds)
def test_joint_sensitivity_of_the_cuts(counts: list[int], seed: int) -> None:
    """All scores of a level move by at most 1 row when one is added and 2 when one is replaced; cuts within cells."""
    parts, generator = 4, np.random.Generator(np.random.PCG64(seed))
    last = parts * len(counts)
    ends = np.sort(np.concatenate([[0, last], generator.integers(0, last + 1, size=3)]))

    def moved(one: Integers, other: Integers) -> int:
        total = 0
        for low, high in itertools.pairwise(ends):
            scores = []
            for histogram in (one, other):
                cumulative = np.concatenate([[0], np.cumsum(np.repeat(histogram, parts))])
                scored, allowed = cut_scores(cumulative, np.array([low]), np.array([high]))
                scores.append(scored[allowed])
            total += int(np.abs(scores[0] - scores[1]).max())
        return total

    histogram, unit = np.array(counts, dtype=np.int64), np.eye(len(counts), dtype=np.int64)
    for cell in range(len(counts)):
        assert moved(histogram, histogram + unit[cell]) <= parts
        for other in range(len(counts)):
            assert moved(histogram + unit[cell], histogram + unit[other]) <= 2 * parts


def test_joint_sensitivity_is_reached() -> None:
    one, other = (np.concatenate([[0], np.cumsum(rows)]) for rows in ([3, 0, 0, 0], [2, 0, 0, 1]))
    scores = [cut_scores(cumulative, np.array([0]), np.array([4]))[0] for cumulative in (one, other)]
    assert np.abs(scores[0] - scores[1]).max() == 2


# The search itself.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bits", "tie_bits", "cells"),
    full_but([(2, 1, (0, 2, 2)), (1, 2, (0, 1, 1)), (1, 2, (0, 0, 0))], (2, 1, (0, 2, 2)), (1, 2, (0, 1, 1))),
)
def test_lazy_coins_have_the_law_of_coins_thrown_first(bits: int, tie_bits: int, cells: tuple[int, ...]) -> None:
    """Exactly: the mean, over every way the rows' coins can fall, of the law without tie-breaking on the finer line."""
    coarse, fine = Number(bits=bits), Number(bits=bits + tie_bits)
    lazy = PrintedIntervals(alpha=1.0, tie_bits=tie_bits, epsilon=8.0)
    eager = PrintedIntervals(alpha=1.0, tie_bits=0, epsilon=8.0)
    problem, finer = problem_on(coarse, n=len(cells)), problem_on(fine, n=len(cells))
    outcomes, chances = Enumerate(window=(0, 1)).law(lazy, lazy.prepare(dataset_of(coarse, cells), problem))
    expected: dict[tuple[float, ...], float] = {}
    ways = list(itertools.product(range(2**tie_bits), repeat=len(cells)))
    for coins in ways:
        rows = [(cell << tie_bits) + coin for cell, coin in zip(cells, coins, strict=True)]
        for outcome, chance in zip(
            *Enumerate(window=(0, 1)).law(eager, eager.prepare(dataset_of(fine, rows), finer)), strict=True
        ):
            numbers = (*(float(int(point) >> tie_bits) for point in outcome[:8]), *map(float, outcome[8:]))
            expected[numbers] = expected.get(numbers, 0.0) + chance / len(ways)
    law = {tuple(map(float, outcome)): chance for outcome, chance in zip(outcomes, chances, strict=True)}
    assert law == pytest.approx(expected, abs=1e-12)


@pytest.mark.full
@given(counts=cell_counts, seed=seeds)
def test_printed_without_noise_closes_each_block_at_its_row(counts: list[int], seed: int) -> None:
    """With coins enough to part all rows, block k ends at row k·(⌊an⌋ + 1) of the sorted data."""
    dataset, problem = case(counts)
    mechanism = PrintedIntervals(alpha=0.5, tie_bits=24)
    release = released(mechanism, dataset, problem, Adversary(seed), 3)
    block = math.floor(0.5 * problem.n / 6) + 1
    blocks = math.ceil(problem.n / block)
    bounds = np.sort(dataset.records)[block - 1 :: block]
    for trial in range(3):
        used = release.points[trial][release.weights[trial] > 0]
        # Where n is no multiple of a block, or rows end before the line does, the last block ends at the line's end.
        assert len(used) in (blocks, blocks + 1)
        np.testing.assert_array_equal(used[:-1], bounds[: len(used) - 1])
        assert used[-1] == problem.domain.size - 1
        np.testing.assert_allclose(release.weights[trial][: len(used)], 1 / len(used))


@pytest.mark.slow
@given(counts=cell_counts)
def test_printed_without_noise_or_ties_follows_the_definition(counts: list[int]) -> None:
    dataset, problem = case(counts)
    release = released(PrintedIntervals(alpha=0.5, tie_bits=0), dataset, problem, Adversary(0), 1)
    needed, start = math.floor(0.5 * problem.n / 6) + 1, 0
    bounds: list[int] = []
    while start < problem.domain.size and len(bounds) < 16:
        full = [b for b in range(start, problem.domain.size) if dataset.histogram[start : b + 1].sum() >= needed]
        bounds.append(full[0] if full else problem.domain.size - 1)
        start = bounds[-1] + 1
    assert release.points[0][release.weights[0] > 0].tolist() == bounds


@pytest.mark.slow
@given(counts=cell_counts, alpha=st.sampled_from([1.0, 0.5, 0.3, 0.1]))
def test_anchored_without_noise_finds_true_quantiles(counts: list[int], alpha: float) -> None:
    dataset, problem = case(counts)
    mechanism = AnchoredIntervals(alpha=alpha)
    release = released(mechanism, dataset, problem, Adversary(0), 2)
    ordered, m, n = np.sort(dataset.records), mechanism.searches, problem.n
    quantiles = [ordered[math.ceil((2 * i - 1) * n / (2 * m)) - 1] for i in range(1, m + 1)]
    np.testing.assert_array_equal(release.points, [quantiles, quantiles])


@pytest.mark.slow
@given(counts=cell_counts, alpha=st.sampled_from([1.0, 0.5, 0.3]), seed=seeds)
def test_recursive_without_noise_finds_quantiles_up_to_subcells(counts: list[int], alpha: float, seed: int) -> None:
    dataset, problem = case(counts)
    mechanism = RecursiveIntervals(alpha=alpha)
    release = released(mechanism, dataset, problem, Adversary(seed), 2)
    pieces, up_to = 2**mechanism.levels, np.cumsum(dataset.histogram)
    stray = error_growth(mechanism.levels) * dataset.histogram.max() / mechanism.subcells(problem) / 2
    targets = np.arange(pieces + 1) * problem.n / pieces
    for points in release.points:
        assert points[0] == 0
        assert points[-1] == problem.domain.size - 1
        assert (np.diff(points) >= 0).all()
        assert (up_to[points] >= targets - stray - 1e-9).all()
        assert (up_to[points] - dataset.histogram[points] <= targets + stray + 1e-9).all()


def test_a_cut_can_fall_inside_a_heavy_cell(seed: int) -> None:
    """All rows equal: 31 of 33 points are at their cell, and the two ends of the line hold 1/64 each."""
    domain = Number(bits=10)
    dataset, problem = shaped(domain, 20_000, "equal"), problem_on(domain, n=20_000)
    release = released(RecursiveIntervals(), dataset, problem, Preview(seed), 200)
    assert (release.points[:, 1:-1] == domain.size // 3).all()
    errors = problem.queries.max_error(release.histogram() - dataset.histogram) / problem.n
    np.testing.assert_allclose(errors, 1 / 32)
