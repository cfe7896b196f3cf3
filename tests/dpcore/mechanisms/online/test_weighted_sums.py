"""Conversations about weighted sums: exact privacy, what rounding may move, beliefs, and promises."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dpcore import Labels, Neighbours, Number, Preview, Problem
from dpcore.core import Entry, Integers, Queries
from dpcore.mechanisms import catalogue
from dpcore.mechanisms.online import conversation
from dpcore.mechanisms.online.beliefs import Weights, true_rows, weights_of
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.online.small_databases import Listed
from dpcore.queries.linear import LinearQueries, generated
from dplab.audit import exact_delta
from tests.kit import contract
from tests.kit.problems import dataset_of, tiny_mechanism
from tests.kit.statistics import assert_chance_at_most

ENTRIES = [each for each in catalogue() if each.mechanism.releases == "conversation"]
every_entry = pytest.mark.parametrize("entry", [pytest.param(each, id=each.key) for each in ENTRIES])
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
HALVES = LinearQueries.of(np.array([[0.0, 0.5, 1.0], [1.0, 0.25, 0.0]]), domain=Number(bins=3))
"""Of these sums rounding to even would move one by 2: half a row is 0 rows, and one and a half are 2."""


def to_even(queries: Queries, histogram: Integers, asked: Integers) -> Integers:
    """A fault: half a row is rounded to even."""
    rows: Integers = np.rint(queries.answer(histogram[None], asked)[0]).astype(np.int64)
    return rows


def fivefold(queries: Queries, histogram: Integers, asked: Integers) -> Integers:
    """A fault: a row moves a sum by 5."""
    return 5 * true_rows(queries, histogram, asked)


@pytest.mark.slow
@every_entry
@every_relation
def test_whole_conversations_are_private_exactly(
    entry: Entry, neighbours: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem(domain=HALVES.domain, queries=HALVES, n=2, neighbours=neighbours)
    mechanism = tiny_mechanism(entry, alpha=0.5, questions=2)
    contract.check_privacy(mechanism, problem)
    monkeypatch.setattr(conversation, "true_rows", fivefold)
    assert exact_delta(mechanism, problem).delta > 1e-3


@pytest.mark.slow
def test_a_row_moves_a_rounded_sum_by_one_at_most(seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    queries = LinearQueries.of(random.integers(0, 1001, (40, 4)) / 1000, domain=Number(bits=2, missing=True))
    indices = np.arange(40)
    for histogram in random.integers(0, 9, (50, 5)):
        truth = true_rows(queries, histogram, indices)
        assert np.abs(truth - queries.answer(histogram[None], indices)[0]).max() <= 0.5 + 1e-9
        for come, gone in product(range(5), repeat=2):
            more = histogram + np.eye(5, dtype=np.int64)[come]
            assert np.abs(true_rows(queries, more, indices) - truth).max() <= 1
            other = more - np.eye(5, dtype=np.int64)[gone]
            assert np.abs(true_rows(queries, other, indices) - truth).max() <= 1
    one, other = np.array([0, 1, 0]), np.array([0, 1, 1])
    assert to_even(HALVES, other, indices[:1]) - to_even(HALVES, one, indices[:1]) == 2, "another rounding would not do"
    np.testing.assert_allclose(weights_of(queries, indices)[:, :4], queries.units / 1000)
    assert not weights_of(queries, indices)[:, 4].any()


def test_the_guess_is_the_median_of_the_listed_sums(seed: int) -> None:
    queries = generated("waves", queries=5, domain=Number(bits=2), seed=4)
    listed = Listed(queries, points=3, rows=1_000, radius=200.0, trials=2)
    random = np.random.Generator(np.random.PCG64(seed))
    for _ in range(4):
        indices = random.integers(0, 5, 2)
        guess = listed.guess(indices)
        for trial in range(2):
            sums = np.sort(queries.units[indices[trial]][listed.points[listed.alive[trial]]].sum(axis=1))
            assert guess[trial] == np.rint(1_000 * sums[(len(sums) - 1) // 2] / 3_000)
        left = listed.alive.sum(axis=1)
        listed.learn(guess + np.array([150, -150]), np.array([True, False]))
        assert 0 < listed.alive[0].sum() <= (left[0] + 1) // 2 or listed.alive[0].sum() == left[0]
        assert listed.alive[1].sum() == left[1]


def test_updates_of_weights_near_the_data(seed: int) -> None:
    """The relative entropy falls by 2(e^2 - noise^2) at least, as is proved for weights from 0 to 1."""
    queries, random = generated("ramps", queries=9, domain=Number(bits=2), seed=4), np.random.default_rng(seed)
    data = random.dirichlet(np.ones(4))
    belief = Weights(queries, rows=10**6, trials=1)
    for _ in range(30):
        asked, before = random.integers(0, 9, 1), belief.shares[0].copy()
        belief.guess(asked)
        weights = weights_of(queries, asked)[0]
        wrong, noise = float(weights @ (data - before)), float(random.normal(0, 0.01))
        rows = np.array([round((float(weights @ data) + noise) * 10**6)])
        belief.learn(rows, np.array([True]))
        gained = float((data * np.log(belief.shares[0] / before)).sum())
        assert gained >= 2 * (wrong**2 - noise**2) - 1e-5


@pytest.mark.slow
@every_entry
def test_errors_stay_within_the_promise(entry: Entry, seed: int) -> None:
    domain = Labels(labels=tuple("abcd"), missing=False)
    queries, beta, trials = generated("bumps", queries=12, domain=domain, seed=4), 0.1, 150
    problem = Problem(domain=domain, queries=queries, n=20_000)
    settings: dict[str, Any] = {"epsilon": 1.0, "alpha": 0.2, "updates": 12, "questions": 30}
    mechanism = entry.make(**settings)
    assert isinstance(mechanism, Interactive)
    bound = mechanism.accuracy(problem, beta)
    assert bound.applies and bound.value < 0.3
    dataset = dataset_of(problem, np.minimum(np.arange(problem.n) % 40, 3))
    transcript = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)
    worst = np.nanmax(np.abs(transcript.errors(dataset.histogram)), axis=1)
    assert_chance_at_most(int((worst > bound.value).sum()), trials=trials, chance=beta)
    assert transcript.paid.any(), "nothing was asked that the belief was wrong about"
