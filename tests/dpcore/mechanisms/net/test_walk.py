"""The walk: what it may not do, and how near it comes where the law is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpcore import Account, Enumerate, Neighbours, Number, ParameterError, Preview, Problem, Secure
from dpcore.core import PointsRelease, Queries
from dpcore.data.product import Product
from dpcore.mechanisms.net import walk as net_walk
from dpcore.mechanisms.net.walk import NetWalk, WalkedNet
from dpcore.queries.linear import UNITS, generated
from dpcore.queries.ranges import Rectangles
from tests.cases import full_but
from tests.kit.problems import dataset_of
from tests.kit.statistics import CONTROL, assert_law, assert_other_law, tally_rows

CLASSES: list[Queries] = [
    generated("bumps", queries=5, domain=Number(bits=2), seed=2),
    generated("waves", queries=5, domain=Number(bits=1, missing=True), seed=2),
    Rectangles(domain=Product.map(Number(bits=1), Number(bits=1))),
]
every_class = pytest.mark.parametrize("queries", CLASSES, ids=["bumps", "waves", "rectangles"])


def problem_of(queries: Queries, *, n: int) -> Problem:
    return Problem(domain=queries.domain, queries=queries, n=n)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@every_class
def test_a_walk_is_never_released(queries: Queries, neighbours: Neighbours) -> None:
    problem = dataclasses.replace(problem_of(queries, n=20), neighbours=neighbours)
    long, short = NetWalk(points=100), NetWalk(points=3)
    assert long.walks(problem) is True
    assert long.guarantee(problem).releasable is False
    assert "no privacy guarantee" in long.guarantee(problem).why_not
    state = long.prepare(dataset_of(problem, np.zeros(20)), problem)
    for sampler in (Secure(), Account(Secure())):
        with pytest.raises(ParameterError, match="no privacy guarantee"):
            long.run(state, sampler)
    release = long.run(state, Preview(1), 2)
    assert release.guarantee.releasable is False
    # Where all databases are listed the choice is exact.
    assert short.guarantee(problem).releasable is True
    assert short.run(short.prepare(dataset_of(problem, np.zeros(20)), problem), Secure()).guarantee.releasable is True


@pytest.mark.slow
@pytest.mark.parametrize("queries", full_but(CLASSES, *CLASSES[:2]), ids=["bumps", "waves", "rectangles"])
def test_a_long_walk_has_nearly_the_listed_law(queries: Queries, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """12,000 walks of 120 moves; controls at 1.3 times epsilon and from a walk among ordered points."""
    monkeypatch.setattr(net_walk, "STEPS", 40)
    problem = problem_of(queries, n=12)
    mechanism = NetWalk(points=3, epsilon=1.5)
    data = dataset_of(problem, np.random.Generator(np.random.SFC64(seed)).integers(0, queries.domain.size, 12))
    state = mechanism.prepare(data, problem)
    outcomes, chances = Enumerate(window=(0, 1)).law(mechanism, state)
    order = np.argsort(-chances)
    blind = WalkedNet(problem=problem, histogram=state.histogram, points=3)

    def walked(made: NetWalk) -> PointsRelease:
        return made.run(blind, Preview(seed), 12_000)

    drawn = tally_rows(walked(mechanism).outcomes(), outcomes)[order]
    assert_law(drawn, chances[order])
    louder = dataclasses.replace(mechanism, epsilon=CONTROL * 1.5)
    assert_other_law(tally_rows(walked(louder).outcomes(), outcomes)[order], chances[order])
    repeats = np.array([len(set(each[:3].tolist())) for each in outcomes])
    ordered = chances * np.select([repeats == 1, repeats == 2], [1, 3], 6)
    assert_other_law(drawn, (ordered / ordered.sum())[order])


@every_class
def test_scores_are_the_worst_query_in_whole_thousandths(queries: Queries, seed: int) -> None:
    problem, generator = problem_of(queries, n=1_000_003), np.random.Generator(np.random.SFC64(seed))
    size = queries.domain.size
    data = generator.multinomial(1_000_003, generator.dirichlet(np.ones(size)))
    copies = generator.multinomial(7, np.full(size, 1 / size), 50)
    difference = 7 * data - 1_000_003 * copies
    wanted = np.abs(queries.answer(difference, np.arange(queries.count))).max(axis=1) * UNITS
    scores = WalkedNet(problem=problem, histogram=data, points=7).scores(copies)
    assert (scores == np.rint(scores)).all()
    np.testing.assert_allclose(-scores, wanted, atol=0.01)


def test_what_a_walk_takes_grows_with_the_rectangles_to_search() -> None:
    """Measured: 0.3 seconds on 64 × 64 cells and 0.02 on 32 × 32, with 20 points; 0.04 for 64 sums of 2^14 cells."""

    def each(bits: int, points: int = 20) -> float:
        grid = Product.map(Number(bits=bits), Number(bits=bits))
        return NetWalk(points=points).preview_seconds(problem_of(Rectangles(domain=grid), n=10**6))[1]

    assert 0.1 < each(6) < 1.0
    assert each(6) == pytest.approx(8 * each(5))
    assert each(6, points=100) == pytest.approx(5 * each(6))
    assert NetWalk(points=2).preview_seconds(problem_of(CLASSES[0], n=20)) == (0.0, 0.0)
    sums = generated("bumps", queries=64, domain=Number(bits=14), seed=1)
    assert 0.01 < NetWalk().preview_seconds(problem_of(sums, n=10**6))[1] < 0.2
