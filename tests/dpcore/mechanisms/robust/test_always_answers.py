"""The two that never refuse: the exponential median's law and promise, and the clipped mean's noise and promise."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import Dataset, Neighbours, Number, Preview, Problem, Provenance, ProvenanceKind
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian, scores
from dpcore.mechanisms.robust.stable_median import StableMedian, rank_errors, stability
from dpcore.queries.ranges import Thresholds
from tests.kit.statistics import assert_chance_at_most, assert_law, tally

PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
LINE = Number(low=0, high=16, bits=4, missing=True)


def case(records: list[int]) -> tuple[Dataset, Problem]:
    dataset = Dataset(LINE, np.array(records, dtype=np.int64), PROVENANCE)
    return dataset, Problem(domain=LINE, queries=Thresholds(domain=LINE), n=dataset.n)


@pytest.mark.slow
@given(
    records=st.lists(st.integers(0, 16), min_size=1, max_size=30),
    quantile=st.sampled_from([0.25, 0.5, 0.9, 0.333333]),
    row=st.integers(0, 29),
    value=st.integers(0, 16),
)
def test_one_row_moves_no_score_by_more_than_the_sensitivity(
    records: list[int], quantile: float, row: int, value: int
) -> None:
    mechanism = ExponentialMedian(quantile=quantile)
    changed = [value if place == row % len(records) else each for place, each in enumerate(records)]
    for other, relation in (
        (changed, Neighbours.REPLACE_ONE),
        ([*records, value], Neighbours.ADD_REMOVE_ONE),
    ):
        one, two = (scores(case(rows)[0].histogram, domain=LINE, share=mechanism.share) for rows in (records, other))
        assert np.abs(one - two).max() <= mechanism.sensitivity(relation)


@pytest.mark.slow
@given(records=st.lists(st.integers(0, 15), min_size=1, max_size=30), quantile=st.sampled_from([0.25, 0.5, 0.9]))
def test_the_quantile_itself_has_the_best_score(records: list[int], quantile: float) -> None:
    histogram = case(records)[0].histogram
    cell, _ = stability(histogram, domain=LINE, quantile=quantile)
    values = scores(histogram, domain=LINE, share=Fraction(str(quantile)))
    assert values[cell] == 0 == values.max()


def test_the_law_is_the_exponential_of_the_score(seed: int) -> None:
    dataset, problem = case([1, 2, 2, 9, 9, 14, 16])
    mechanism = ExponentialMedian(epsilon=2.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 40_000)
    weights = np.exp(0.5 * scores(dataset.histogram, domain=LINE, share=Fraction(1, 2)))
    assert_law(tally(release.values, low=0, high=LINE.ordered - 1), weights / weights.sum())


@pytest.mark.parametrize("quantile", [0.1, 0.5])
@pytest.mark.parametrize("relation", list(Neighbours))
def test_rows_between_the_answer_and_the_quantile_keep_the_promise(
    quantile: float, relation: Neighbours, seed: int
) -> None:
    rng = np.random.Generator(np.random.SFC64(seed))
    dataset, _ = case(rng.integers(0, 16, 300).tolist())
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=300, neighbours=relation)
    mechanism = ExponentialMedian(epsilon=0.5, quantile=quantile)
    bound = mechanism.accuracy(problem, 0.2)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 2000)
    errors = rank_errors(dataset.histogram, release.values, domain=LINE, quantile=quantile)
    assert_chance_at_most(int((errors > bound.value).sum()), trials=2000, chance=0.2)


def test_the_clipped_mean_keeps_its_promise_and_centres_on_the_mean(seed: int) -> None:
    rng = np.random.Generator(np.random.SFC64(seed))
    line = dataclasses.replace(LINE, missing=False)
    dataset = Dataset(line, rng.integers(2, 9, 500), PROVENANCE)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=dataset.n)
    mechanism = ClippedMean(epsilon=0.2)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 2000)
    bound = mechanism.accuracy(problem, 0.2)
    mean = dataset.records.mean()
    off = np.abs(release.values - mean) / (LINE.ordered - 1)
    assert_chance_at_most(int((off > bound.value).sum()), trials=2000, chance=0.2)
    assert abs(release.values.mean() - mean) < 0.1


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.9])
def test_at_least_the_share_of_rows_lies_at_or_below_the_quantile(quantile: float, seed: int) -> None:
    """Of rows that have a number, and at or below no cell before it."""
    helps = [each.parameters()["quantile"].help for each in (ExponentialMedian, StableMedian)]
    assert helps[0].startswith("0.5 is the median: at least half of the rows lie at or below it")
    assert helps[1] == "0.5 is the median: at least half of the rows that have a number lie at or below it."
    rng = np.random.Generator(np.random.SFC64(seed))
    for rows in range(1, 40):
        dataset, _ = case(rng.integers(0, 17, rows).tolist())
        cell, _ = stability(dataset.histogram, domain=LINE, quantile=quantile)
        below, fitting = dataset.histogram[: LINE.ordered].cumsum(), int(dataset.histogram[: LINE.ordered].sum())
        if not fitting:
            continue
        assert below[cell] >= quantile * fitting > (below[cell - 1] if cell else 0)
