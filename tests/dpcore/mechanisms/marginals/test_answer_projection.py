"""Projected answers: the nearest point of the hull, how far a neighbour moves, and what the promise is about."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from dpcore import Neighbours, Number, Preview, Problem
from dpcore.core import HistogramState
from dpcore.data.product import Product
from dpcore.mechanisms.marginals.answer_projection import ProjectedAnswers, nearest_mixture
from dpcore.queries.at_least import AtLeast
from dpcore.queries.cube import on_cells
from dpcore.queries.linear import LinearQueries, generated


@pytest.mark.parametrize("far", [0.1, 3.0, 500.0])
def test_the_mixture_is_the_nearest_one(far: float, seed: int) -> None:
    """No distribution is nearer: the condition at every cell, and another solver of the same problem."""
    generator = np.random.default_rng(seed)
    weights, answers = generator.random((6, 9)), generator.normal(0, far, (4, 6))
    found = nearest_mixture(answers, weights)
    assert (found >= 0).all() and found.sum(axis=1) == pytest.approx(1)
    slopes = (found @ weights.T - answers) @ weights
    assert ((found * slopes).sum(axis=1) - slopes.min(axis=1)).max() < 1e-8 * max(1, far)
    for each, mixture in zip(answers, found, strict=True):
        other = minimize(
            lambda p, a=each: ((weights @ p - a) ** 2).sum(),
            np.full(9, 1 / 9),
            bounds=[(0, 1)] * 9,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            method="SLSQP",
        )
        assert ((weights @ mixture - each) ** 2).sum() <= other.fun + 1e-6 * max(1.0, other.fun)


def test_answers_that_data_have_stay_as_they_are() -> None:
    weights = np.array([[1.0, 1, 0], [0, 1, 1]])
    np.testing.assert_allclose(nearest_mixture(np.array([[0.7, 0.8]]), weights) @ weights.T, [[0.7, 0.8]], atol=1e-9)


@pytest.mark.parametrize("signed", [False, True])
def test_the_length_is_that_of_the_furthest_neighbours(signed: bool) -> None:
    queries = on_cells(AtLeast(domain=Product.yes_no("abcd"), width=2, signed=signed))
    weights = queries.units / 1000
    pairs = max(((weights[:, x] - weights[:, y]) ** 2).sum() for x, y in combinations(range(16), 2))
    single = (weights**2).sum(axis=0).max()
    for neighbours, length in ((Neighbours.REPLACE_ONE, pairs), (Neighbours.ADD_REMOVE_ONE, single)):
        problem = Problem(domain=queries.domain, queries=queries, n=5, neighbours=neighbours)
        assert len(ProjectedAnswers().shift(problem)) == length
    bumps = generated("bumps", queries=5, domain=Number(bits=3), seed=1)
    assert len(ProjectedAnswers().shift(Problem(domain=bumps.domain, queries=bumps, n=5))) == 5, "sums are rounded"


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_queries_that_no_replaced_row_can_move_have_noise_all_the_same(weight: float, seed: int) -> None:
    """A matrix of one's own may be constant: it is released like any other."""
    queries = LinearQueries.of(np.full((2, 4), weight), domain=Number(bits=2))
    problem, mechanism = Problem(domain=queries.domain, queries=queries, n=5), ProjectedAnswers()
    release = mechanism.run(HistogramState(problem=problem, histogram=np.array([1, 1, 1, 2])), Preview(seed), 2)
    assert mechanism.noise(problem).scale > 1 and release.histogram().sum(axis=1) == pytest.approx(5)


def test_projection_brings_answers_nearer_where_they_are_many(seed: int) -> None:
    """Every subset of eight cells is a query: noise in each is far larger than what data can have."""
    subsets = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.float64)
    queries = LinearQueries.of(subsets, domain=Number(bits=3))
    problem = Problem(domain=queries.domain, queries=queries, n=300)
    histogram = np.array([120, 60, 40, 30, 20, 15, 10, 5])
    release = ProjectedAnswers(delta=1e-6).run(HistogramState(problem=problem, histogram=histogram), Preview(seed), 40)
    truth = queries.answer(histogram[None], np.arange(256))
    raw = np.square(release.counts - truth).sum(axis=1)
    projected = np.square(queries.answer(release.histogram(), np.arange(256)) - truth).sum(axis=1)
    assert np.median(projected) < np.median(raw) / 4
    bound = ProjectedAnswers(delta=1e-6).accuracy(problem, 0.2).value
    assert (np.sqrt(projected) / problem.n <= bound).mean() > 0.8, "the promise is about the root of the sum of squares"
    assert release.histogram().sum(axis=1) == pytest.approx(300)
