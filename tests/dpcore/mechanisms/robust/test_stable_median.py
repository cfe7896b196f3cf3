"""The stable median: stability against brute force, delta against the exact divergence, what happens to refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dpcore.core import (
    Dataset,
    Guarantee,
    Integers,
    Neighbours,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.data.columns import Number
from dpcore.mechanisms.robust.stable_median import (
    StableMedian,
    answer_chance,
    paper_delta,
    rank_errors,
    stability,
)
from dpcore.queries.ranges import Thresholds, rank
from dpcore.randomness import Enumerate, Preview
from dplab.audit import exact_delta, hockey_stick, neighbouring_pairs
from tests.kit.problems import neighbouring_rows
from tests.kit.statistics import CONTROL, assert_law, assert_other_law

LINE = Number(low=0, high=4, bits=2)
GAPPED = Number(low=0, high=4, bits=2, missing=True)
MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
QUANTILES = (0.1, 0.25, 0.5, 0.6, 0.9)
RULES = pytest.mark.parametrize("rule", ["optimal", "threshold"])


def problem(*, n: int, domain: Number = LINE, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    return Problem(domain=domain, queries=Thresholds(domain=domain), n=n, neighbours=neighbours)


def histogram(rows: tuple[int, ...], domain: Number) -> Integers:
    return np.bincount(np.array(rows, dtype=np.int64), minlength=domain.size)


def quantile_cell(rows: tuple[int, ...], domain: Number, quantile: float) -> int:
    """The definition itself: sort the rows that fit and take number ceil(q N)."""
    fitting = sorted(row for row in rows if row < domain.ordered)
    return fitting[rank(len(fitting), quantile=quantile) - 1] if fitting else domain.ordered


def brute_stability(rows: tuple[int, ...], domain: Number, quantile: float, neighbours: Neighbours) -> int:
    """Changes until some data set has another quantile, one ring of data sets after the other."""
    answer, ring, seen, steps = quantile_cell(rows, domain, quantile), {rows}, {rows}, 0
    while all(quantile_cell(each, domain, quantile) == answer for each in ring):
        ring = {near for each in ring for near in neighbouring_rows(each, domain.size, neighbours)} - seen
        seen |= ring
        steps += 1
    return steps


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("domain", [LINE, GAPPED, Number(low=0, high=1, bits=1)])
@pytest.mark.parametrize("quantile", QUANTILES)
def test_stability_equals_brute_force(neighbours: Neighbours, domain: Number, quantile: float) -> None:
    most = 5 if domain.size < 5 else 4
    for n in range(1, most + 1):
        for rows in combinations_with_replacement(range(domain.size), n):
            stable = stability(histogram(rows, domain), domain=domain, quantile=quantile, neighbours=neighbours)
            expected = brute_stability(rows, domain, quantile, neighbours)
            assert stable == (quantile_cell(rows, domain, quantile), expected), rows


def test_the_notes_example() -> None:
    domain = Number(low=0, high=8, bits=3)
    assert stability(histogram((1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5), domain), domain=domain) == (3, 2)


def test_the_median_formula_of_the_notes() -> None:
    rng = np.random.default_rng(1)
    domain = Number(low=0, high=16, bits=4)
    for _ in range(300):
        rows = tuple(sorted(rng.integers(1, 15, 11).tolist()))  # away from the ends, which cannot be left outwards
        cell, stable = stability(histogram(rows, domain), domain=domain)
        above, below = sum(row > cell for row in rows), sum(row < cell for row in rows)
        assert cell == rows[5]
        assert stable == 6 - max(above, below)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_one_change_moves_the_stability_by_at_most_one(neighbours: Neighbours) -> None:
    for quantile in QUANTILES:
        for pair in neighbouring_pairs(size=GAPPED.size, rows=5, neighbours=neighbours):
            (cell, one), (other_cell, other) = (
                stability(histogram(rows, GAPPED), domain=GAPPED, quantile=quantile, neighbours=neighbours)
                for rows in (pair.one, pair.other)
            )
            assert abs(one - other) <= 1
            assert cell == other_cell or one == other == 1


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.1), (0.5, 1e-3), (1.0, 1e-6), (2.0, 0.05), (8.0, 1e-9)])
@pytest.mark.parametrize("quantile", [0.5, 0.75])
@RULES
def test_delta_is_exactly_the_divergence(
    rule: str, epsilon: float, delta: float, quantile: float, neighbours: Neighbours
) -> None:
    mechanism = StableMedian(epsilon=epsilon, delta=delta, quantile=quantile, rule=rule)
    setting = problem(n=4, domain=GAPPED, neighbours=neighbours)
    claimed = mechanism.guarantee(setting).delta
    assert claimed <= delta
    # p + (1 - p) may miss 1 by a rounding, which e^epsilon enlarges; the relative part is the formula's.
    rounding = 1e-15 * math.exp(epsilon)
    assert exact_delta(mechanism, setting).delta == pytest.approx(claimed, rel=1e-9, abs=rounding)
    # The threshold is the smallest: one less would already exceed delta. The optimal rule leaves nothing of delta.
    if rule == "optimal":
        assert claimed == pytest.approx(delta, rel=1e-15)
        return
    assert float(answer_chance(1, epsilon=epsilon, threshold=mechanism.threshold - 1)) > delta


class Careless(StableMedian):
    """Control: a threshold one too low."""

    @property
    def threshold(self) -> int:
        return super().threshold - 1

    def guarantee(self, problem: Problem) -> Guarantee:
        return StableMedian(epsilon=self.epsilon, delta=self.delta, rule="threshold").guarantee(problem)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_threshold_one_too_low_is_caught(neighbours: Neighbours) -> None:
    mechanism, asked = Careless(epsilon=0.5, delta=0.01, rule="threshold"), problem(n=4, neighbours=neighbours)
    assert exact_delta(mechanism, asked).delta > 1.5 * mechanism.guarantee(asked).delta


def laplace_above(level: float, scale: float) -> float:
    """Pr[Lap(scale) > level]."""
    return 0.5 * math.exp(-level / scale) if level >= 0 else 1 - 0.5 * math.exp(level / scale)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("relative", [0.0, 0.5, 0.9, 1.0, 1.5, 4.0, 20.0])
def test_delta_of_the_notes_mechanism_is_exactly_the_divergence(epsilon: float, relative: float) -> None:
    """The continuous mechanism: t from 0 to far above epsilon, every pair of 5 rows on 4 cells."""
    t = relative * epsilon
    worst = -1.0
    for pair in neighbouring_pairs(size=LINE.size, rows=5, neighbours=Neighbours.REPLACE_ONE):
        laws = []
        for rows in (pair.one, pair.other):
            cell, stable = stability(histogram(rows, LINE), domain=LINE)
            yes = laplace_above(t / epsilon - stable, 1 / epsilon)
            laws.append((np.array([[cell], [np.inf]], dtype=np.float64), np.array([yes, 1 - yes])))
        worst = max(worst, *(hockey_stick(*each, epsilon=epsilon) for each in (laws, laws[::-1])))
    assert worst == pytest.approx(paper_delta(epsilon=epsilon, t=t), rel=1e-12)


@RULES
def test_an_answer_is_always_right_and_its_chance_is_the_promised_one(rule: str, seed: int) -> None:
    """Chi-square on 20,000 releases, significance 1e-6; the control, epsilon 1.3 times larger, is rejected."""
    rows = np.repeat([2, 5, 9], [30, 20, 35]).astype(np.int64)
    domain = Number(low=0, high=16, bits=4)
    mechanism, asked = StableMedian(epsilon=0.3, delta=0.02, rule=rule), problem(n=85, domain=domain)
    state = mechanism.prepare(Dataset(domain, rows, MADE), asked)
    release = mechanism.run(state, Preview(seed), 20_000)
    assert set(release.values[~release.refused]) == {5}
    assert not rank_errors(state.histogram, release.values[~release.refused], domain=domain).any()
    _, stable = stability(state.histogram, domain=domain)
    for epsilon, check in ((0.3, assert_law), (0.3 * CONTROL, assert_other_law)):
        yes = float(replace(mechanism, epsilon=epsilon).chance(stable))
        check(np.bincount(release.refused), np.array([yes, 1 - yes]))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-11, 1e-6, 1e-2])
def test_the_optimal_rule_never_refuses_more_than_the_older_one(epsilon: float, delta: float) -> None:
    """The chances of both exact laws at every stability, the optimal one at the very delta that the older has."""
    older = StableMedian(epsilon=epsilon, delta=delta, rule="threshold")
    spent = older.guarantee(problem(n=9)).delta
    optimal, less = (StableMedian(epsilon=epsilon, delta=held) for held in (spent, spent / 2))
    stable = np.arange(1, 3 * older.threshold)  # data have a stability of 1 at least
    assert (optimal.chance(stable) >= older.chance(stable) - 1e-15).all()
    assert optimal.chance(2 * older.threshold) == 1 > older.chance(2 * older.threshold - 1)
    assert (less.chance(stable) < older.chance(stable) * (1 - 1e-9)).any()  # the control: half of the delta is seen


@RULES
def test_promise_of_an_answer(rule: str) -> None:
    for epsilon, delta, beta in ((0.1, 1e-6, 0.05), (1.0, 1e-3, 0.3), (5.0, 0.1, 0.9)):
        mechanism = StableMedian(epsilon=epsilon, delta=delta, rule=rule)
        needed = mechanism.stability_needed(beta)
        chance = mechanism.chance(np.array([needed - 1, needed]))
        assert 1 - chance[1] <= beta
        assert needed == 1 or 1 - chance[0] > beta
        bound = mechanism.accuracy(problem(n=10), beta)
        assert bound.value == 0


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("quantile", [*QUANTILES, 0.333333, 0.001, 0.999])
def test_rows_needed_are_the_fewest_of_which_any_data_are_so_stable(quantile: float, neighbours: Neighbours) -> None:
    """All rows in one inner cell are the most stable there are; one row less is not enough."""
    for epsilon, beta in ((0.1, 0.05), (1.0, 0.05), (5.0, 0.9), (20.0, 0.5)):
        mechanism = StableMedian(epsilon=epsilon, quantile=quantile)
        needed = mechanism.stability_needed(beta)
        bound = mechanism.accuracy(problem(n=10, neighbours=neighbours), beta)
        assert bound.rows_needed is not None
        for rows, enough in ((bound.rows_needed, True), (bound.rows_needed - 1, False)):
            if rows > 0:
                stable = stability(np.array([0, rows, 0, 0]), domain=LINE, quantile=quantile, neighbours=neighbours)[1]
                assert (stable >= needed) is enough
        assert mechanism.accuracy(problem(n=bound.rows_needed, neighbours=neighbours), beta).applies
        assert not mechanism.accuracy(problem(n=bound.rows_needed - 1, neighbours=neighbours), beta).applies
        words = "change before" if neighbours is Neighbours.REPLACE_ONE else "come or go before"
        assert f"{needed:,} rows must {words}" in bound.statement


def test_all_rows_missing_answers_the_reserved_cell_or_nothing() -> None:
    mechanism, asked = StableMedian(epsilon=1.0, delta=0.1), problem(n=2, domain=GAPPED)
    state = mechanism.prepare(Dataset(GAPPED, np.array([4, 4]), MADE), asked)
    outcomes, chances = Enumerate(window=(-4, 6)).law(mechanism, state)
    assert outcomes[:, 0].tolist() == [4, math.inf]
    assert chances[0] == pytest.approx(mechanism.guarantee(asked).delta)
