"""Exact answers or none: chances of an answer are the core's, walls above them, laws in steps that can be stopped."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import Dataset, Neighbours, Number, Problem, Provenance, ProvenanceKind, Thresholds
from dpcore.core import DataError
from dpcore.data.bundled import bundled
from dpcore.limits.bounds.refusal import max_answer_chance
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.stable_median import StableMedian, stability
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import answer_chance as vote_chance
from dpcore.queries.ranges import Cells
from dplab.measure import finish
from dplab.robust import (
    AGREEMENTS,
    FAR,
    STEPS,
    TRIALS,
    StableRuns,
    always_answering,
    chances_by_agreement,
    mean_errors,
    present_rows,
    stability_grid,
    stable_runs,
    subsample_votes,
    vote_runs,
)
from tests.kit import in_blocks

LINE = Number(low=0, high=100, bits=4, unit="USD")


def heap(*, rows: int, in_the_middle: int) -> Dataset:
    """So many rows, so many of them in one cell and the others on both sides of it."""
    rest = rows - in_the_middle
    records = np.repeat([2, 8, 13], [rest // 2, in_the_middle, rest - rest // 2])
    return Dataset(LINE, records, Provenance(kind=ProvenanceKind.GENERATED, title="test"))


def runs(dataset: Dataset, *, epsilon: float, relation: Neighbours = Neighbours.REPLACE_ONE) -> StableRuns:
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=dataset.n, neighbours=relation)
    return stable_runs(StableMedian(epsilon=epsilon), dataset, problem, seed=1)


@pytest.mark.parametrize("stable", [1, 7, 40, 9000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_a_curve_reaches_beyond_the_threshold_and_the_data(stable: int, epsilon: float) -> None:
    threshold = StableMedian(epsilon=epsilon).threshold
    x = stability_grid(stable=stable, threshold=threshold)
    assert x[0] == 1 and threshold < x[-1] and stable <= x[-1]
    assert (np.diff(x) > 0).all() and len(x) <= STEPS and (x == x.round()).all()
    near = x[(x > threshold / 2) & (x < 2 * threshold)]
    assert x[-1] <= FAR * threshold or len(near) >= min(threshold, 8), "the step is not lost on the way to far data"


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_chances_are_exact_and_what_nobody_can_do_stands_above_them(epsilon: float, relation: Neighbours) -> None:
    dataset = heap(rows=200, in_the_middle=60)
    simulated = runs(dataset, epsilon=epsilon, relation=relation)
    assert (simulated.cell, simulated.stable) == stability(dataset.histogram, domain=LINE, neighbours=relation)
    assert set(simulated.chance) == {simulated.stable - 1, simulated.stable, simulated.stable + 1} - {0}
    for rows, chance in simulated.chance.items():
        assert chance == float(StableMedian(epsilon=epsilon).chance(rows))
    assert simulated.edge == float(StableMedian(epsilon=epsilon).chance(1))
    assert simulated.max_chance == float(max_answer_chance(simulated.stable, epsilon=epsilon, delta=simulated.edge))
    curve = simulated.curve
    assert (curve.answer <= curve.never_wrong_bound * (1 + 1e-9)).all() and (
        np.diff(curve.never_wrong_bound) >= 0
    ).all()
    known = ~np.isnan(curve.may_err_bound)
    assert (curve.answer[known] <= curve.may_err_bound[known] + 1e-12).all() and known[0]
    if relation is Neighbours.REPLACE_ONE:
        assert known.sum() == (curve.x <= 100).sum(), "no two data sets of 200 rows are more stable than their halves"
    else:
        assert known.all()


def test_previews_are_as_often_answered_as_the_exact_chance_says() -> None:
    simulated = runs(heap(rows=200, in_the_middle=28), epsilon=1.0)
    chance = simulated.chance[simulated.stable]
    assert 0.1 < chance < 0.9 and simulated.observed.trials == TRIALS
    assert abs(simulated.observed.share - chance) < 5 * math.sqrt(chance * (1 - chance) / TRIALS)
    assert (
        simulated.observed.low
        < simulated.observed.share
        == simulated.observed.answered / TRIALS
        < simulated.observed.high
    )


def test_one_that_always_answers_errs_where_the_stable_one_is_silent() -> None:
    dataset = heap(rows=40, in_the_middle=2)
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=40)
    values = always_answering(dataset, problem, epsilon=0.2, quantile=0.5, seed=1)
    assert values.shape == (TRIALS,) and 0.02 < (values == 8).mean() < 0.5


@pytest.mark.slow
def test_laws_are_worked_out_in_steps_that_can_be_stopped() -> None:
    """A hundred labels and subsamples of 1,000 rows: many steps, in order; one may be stopped after any."""
    dataset = bundled("pets", "zip_code").dataset()
    mechanism = entry("subsample_commonest").make(rows=1000)
    assert isinstance(mechanism, SubsampleAggregate)
    problem = Problem(domain=dataset.domain, queries=Cells(domain=dataset.domain), n=dataset.n)
    votes, shares = in_blocks(subsample_votes(mechanism, dataset, problem))
    assert len(shares) > 20 and shares == sorted(shares) and shares[0] == 0 and shares[-1] < 1
    assert votes.after < votes.agreement == votes.law.max()
    stopped = subsample_votes(mechanism, dataset, problem)
    assert [next(stopped) for _ in range(5)] == shares[:5]
    stopped.close()


def test_votes_answer_as_often_as_their_exact_chance_says() -> None:
    dataset = bundled("penguins", "species").dataset()
    mechanism = entry("subsample_commonest").make(epsilon=0.5, rows=10)
    assert isinstance(mechanism, SubsampleAggregate)
    problem = Problem(domain=dataset.domain, queries=Cells(domain=dataset.domain), n=dataset.n)
    votes = finish(subsample_votes(mechanism, dataset, problem))
    trials, refused, wrong = vote_runs(mechanism, votes, seed=1)
    plan = mechanism.plan(problem)
    chance = vote_chance(plan, epsilon=0.5, agreement=votes.agreement)
    assert trials == TRIALS and wrong <= 1 - chance
    assert abs(1 - refused - wrong - chance) < 5 * math.sqrt(0.25 / TRIALS)
    curve = chances_by_agreement(plan, epsilon=0.5)
    exact = [vote_chance(plan, epsilon=0.5, agreement=float(each)) for each in AGREEMENTS]
    np.testing.assert_allclose(curve.answer, exact, atol=1e-3)


def test_mean_errors_are_of_the_rows_that_have_a_number() -> None:
    domain = Number(low=0, high=100, bits=4, missing=True)
    dataset = Dataset(domain, np.array([5] * 90 + [16] * 10), heap(rows=2, in_the_middle=1).provenance)
    present = present_rows(dataset)
    assert present.n == 90 and present.domain == Number(low=0, high=100, bits=4)
    problem = Problem(domain=present.domain, queries=Thresholds(domain=present.domain), n=present.n)
    mean, (off,) = mean_errors([entry("clipped_mean").make(epsilon=10.0)], present, problem, seed=1)
    assert mean == pytest.approx(domain.points()[5])
    assert 0 <= off < 10
    with pytest.raises(DataError, match="No row has a number"):
        present_rows(Dataset(domain, np.array([16] * 3), dataset.provenance))
