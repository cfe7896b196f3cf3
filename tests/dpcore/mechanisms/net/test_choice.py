"""The net mechanism: its size, scores, sensitivity, resolution, promise, and its draws on nets large and small.

The contract of every mechanism (exact privacy among it) is checked in test_contract.py, the counting in test_bands.py.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from dpcore import (
    Account,
    Cells,
    Enumerate,
    Intervals,
    Labels,
    Neighbours,
    Number,
    ParameterError,
    Preview,
    Problem,
    Secure,
    Thresholds,
    entry,
)
from dpcore.core import Domain, Integers, Queries
from dpcore.data.generators import generate
from dpcore.mechanisms.net import databases as nets
from dpcore.mechanisms.net.choice import NetMechanism, NetState
from dpcore.mechanisms.net.databases import ScoredNet, candidates, listable, multisets
from dpcore.queries.ranges import classes_for
from dpcore.randomness import DatabaseChoice
from dpcore.randomness.choices import RULES
from dpcore.randomness.laws import exponential_law
from dplab.audit import neighbouring_pairs
from dplab.measure import finish, measure
from dplab.sweep import sweep
from tests.cases import full_but
from tests.kit.problems import dataset_of
from tests.kit.statistics import CONTROL, HARDLY_EVER, assert_chance_at_most, assert_law, assert_other_law, tally_rows

CLASSES: list[Any] = [Thresholds, Intervals, Cells]
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.key)


def problem_of(
    kind: type[Queries], domain: Domain, *, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> Problem:
    return Problem(domain=domain, queries=kind(domain=domain), n=n, neighbours=neighbours)


def histograms(points: Integers, size: int) -> Integers:
    """Points per cell of each database, (K, size)."""
    return np.stack([np.bincount(each, minlength=size) for each in points])


def counted_only(net: ScoredNet) -> ScoredNet:
    """The same net, unable to list its candidates."""
    net.candidates = None
    return net


def test_known_sizes() -> None:
    assert candidates(size=5, points=4) == 70 == len(multisets(size=5, points=4))
    assert candidates(size=16, points=8) == 490_314 == len(multisets(size=16, points=8))
    assert math.log(candidates(size=64, points=40)) == pytest.approx(66, abs=0.5)


@pytest.mark.parametrize(("size", "points"), [(1, 3), (2, 1), (3, 4), (7, 3)])
def test_multisets_by_brute_force(size: int, points: int) -> None:
    wanted = list(combinations_with_replacement(range(size), points))
    assert multisets(size=size, points=points).tolist() == [list(each) for each in wanted]


@every_class
@pytest.mark.parametrize("missing", [False, True])
def test_scores_are_the_worst_query_of_the_class(kind: type[Queries], missing: bool, seed: int) -> None:
    domain = Number(bits=2, missing=missing)
    data = np.bincount(np.random.Generator(np.random.SFC64(seed)).integers(0, domain.size, 23), minlength=domain.size)
    queries = problem_of(kind, domain, n=23).queries
    candidates = ScoredNet(queries, data, points=5, rows=23).candidates
    assert candidates is not None
    difference = 5 * data - 23 * histograms(candidates.points, domain.size)
    np.testing.assert_array_equal(-candidates.scores, queries.max_error(difference))
    everything = np.arange(queries.count)
    np.testing.assert_array_equal(-candidates.scores, np.abs(queries.answer(difference, everything)).max(axis=1))


@pytest.mark.slow
@every_class
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_row_moves_a_score_by_m_and_no_more(kind: type[Queries], neighbours: Neighbours) -> None:
    domain = Number(bits=2, missing=True)
    queries = problem_of(kind, domain, n=4).queries

    def scores(rows: tuple[int, ...]) -> Integers:
        candidates = ScoredNet(queries, np.bincount(rows, minlength=domain.size), points=3, rows=4).candidates
        assert candidates is not None
        return candidates.scores

    pairs = neighbouring_pairs(size=domain.size, rows=4, neighbours=neighbours)
    assert max(int(np.abs(scores(pair.one) - scores(pair.other)).max()) for pair in pairs) == 3


@every_class
@pytest.mark.parametrize("missing", [False, True])
def test_some_candidate_is_within_the_resolution(kind: type[Queries], missing: bool, seed: int) -> None:
    """And on some data none is within half of it, or within all of it less a few rows for thresholds."""
    domain, generator, m, n = Number(bits=3, missing=missing), np.random.Generator(np.random.SFC64(seed)), 4, 200
    problem = problem_of(kind, domain, n=n)
    mechanism = NetMechanism(points=m)
    resolution = mechanism.accuracy(problem, 0.5).value - 2 / n * math.log(candidates(size=domain.size, points=m) / 0.5)
    assert resolution == pytest.approx(1 / (2 * m) if kind is Thresholds else 1 / m)
    best = []
    for _ in range(60):
        data = generator.multinomial(n, generator.dirichlet(np.full(domain.size, 0.5)))
        found = ScoredNet(problem.queries, data, points=m, rows=n).candidates
        assert found is not None
        best.append(-int(found.scores.max()) / (m * n))
    assert max(best) <= resolution + 1e-12
    assert max(best) > 0.5 * resolution


@pytest.mark.slow
@every_class
@pytest.mark.parametrize(
    "domain",
    [
        pytest.param(Number(bits=3), id="line", marks=pytest.mark.full),
        pytest.param(Number(bits=2, missing=True), id="missing"),
    ],
)
def test_counted_and_listed_nets_draw_alike(kind: type[Queries], domain: Domain, seed: int) -> None:
    """200,000 previews each way against the enumerated law; the control at 1.3 times its epsilon."""
    problem = problem_of(kind, domain, n=30)
    data = dataset_of(problem, np.random.Generator(np.random.SFC64(seed)).integers(0, domain.size, 30))
    mechanism = NetMechanism(points=3, epsilon=0.7)
    state = mechanism.prepare(data, problem)
    outcomes, chances = Enumerate(window=(0, 1)).law(mechanism, state)
    assert len(outcomes) == candidates(size=domain.size, points=3)
    order = np.argsort(-chances)
    counted = NetState(problem=problem, net=counted_only(mechanism.prepare(data, problem).net))
    louder = dataclasses.replace(mechanism, epsilon=CONTROL * 0.7)
    for made, beside, check in (
        (mechanism, state, assert_law),
        (mechanism, counted, assert_law),
        (louder, counted, assert_other_law),
    ):
        drawn = made.run(beside, Preview(seed), 200_000).outcomes()
        check(tally_rows(drawn, outcomes)[order], chances[order])


@every_class
def test_flips_of_tied_candidates(kind: type[Queries], seed: int) -> None:
    """100,000 flips against the law worked out candidate by candidate; the control is the exponential mechanism."""
    domain = Labels(labels=("a", "b"), missing=True) if kind is Cells else Number(bits=2)
    problem = problem_of(kind, domain, n=6)
    mechanism = NetMechanism(points=3, epsilon=6.0, rule="permute_and_flip")
    state = mechanism.prepare(dataset_of(problem, [0, 0, 0, 1, 1, 1]), problem)
    candidates = state.net.candidates
    assert candidates is not None
    assert len(np.unique(candidates.scores)) < len(candidates.scores), "nothing is tied"
    allowed = np.ones(len(candidates.scores), dtype=np.bool_)
    law = exponential_law(candidates.scores, allowed, rate=1.0, rule="permute_and_flip")
    known = np.concatenate([candidates.points, np.full(candidates.points.shape, 1 / 3)], axis=1)
    order = np.argsort(-law)
    assert_law(tally_rows(mechanism.run(state, Preview(seed), 100_000).outcomes(), known)[order], law[order])
    other = dataclasses.replace(mechanism, rule="exponential").run(state, Preview(seed), 100_000).outcomes()
    assert_other_law(tally_rows(other, known)[order], law[order])


def test_flips_take_the_longest_list_that_can_be_made() -> None:
    for bits, m in ((2, 20), (5, 6), (10, 2), (16, 1)):
        for kind in CLASSES:
            problem = problem_of(kind, Number(bits=bits), n=10)
            size = NetMechanism(points=20, rule="permute_and_flip").size(problem)
            assert size <= m
            assert listable(problem.queries, points=size)
            assert size == 20 or not listable(problem.queries, points=size + 1)
            assert NetMechanism(points=20).size(problem) == 20
    wide = problem_of(Intervals, Number(bits=10), n=10)
    state = NetMechanism().prepare(dataset_of(wide, np.zeros(10)), wide)
    for sampler in (Preview(1), Enumerate(window=(0, 1))):
        with pytest.raises(ParameterError, match="too many"):
            sampler.draw(DatabaseChoice(state.net, epsilon=1.0, sensitivity=20, rule="permute_and_flip"), 1)


@pytest.mark.slow
@every_class
@pytest.mark.parametrize(("n", "epsilon"), full_but([(500, 1.0), (10_000, 0.1), (10_000, 5.0)], (500, 1.0)))
def test_promises_hold_where_nothing_could_be_listed(kind: type[Queries], n: int, epsilon: float, seed: int) -> None:
    """300 releases of 20 points on 256 cells with gaps and heavy cells."""
    domain = Number(bits=8, missing=True)
    problem = problem_of(kind, domain, n=n)
    mechanism = NetMechanism(points=20, epsilon=epsilon)
    bound = mechanism.accuracy(problem, 0.1)
    assert bound.value == pytest.approx(
        (1 / 40 if kind is Thresholds else 1 / 20) + 2 / (epsilon * n) * math.log(math.comb(276, 20) / 0.1)
    )
    for shape in ("bimodal", "sparse"):
        data = dataset_of(problem, generate(shape, n=n, size=domain.size, seed=seed))
        release = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 300)
        errors = problem.queries.max_error(release.histogram() - data.histogram) / n
        assert_chance_at_most(int((errors > bound.value).sum()), trials=300, chance=0.1)
        assert (release.points[:, 1:] >= release.points[:, :-1]).all()


def test_bounds_say_what_they_count() -> None:
    small, large = problem_of(Intervals, Number(bits=2), n=100), problem_of(Thresholds, Number(bits=16), n=100)
    assert "84 databases" in NetMechanism(points=6).accuracy(small, 0.1).statement
    bound = NetMechanism(points=100).accuracy(large, 0.1)
    assert f"about 10^{math.log10(math.comb(65_635, 100)):.0f} databases" in bound.statement
    needed = bound.rows_needed
    assert needed is not None
    at = dataclasses.replace(large, n=needed)
    assert NetMechanism(points=100).accuracy(at, 0.1).value < 1
    assert NetMechanism(points=100).accuracy(dataclasses.replace(large, n=needed - 1), 0.1).value >= 1 - 1e-9
    assert NetMechanism(points=1).accuracy(small, 0.1).rows_needed is None


@pytest.mark.slow
@every_class
def test_a_secure_release_where_nothing_could_be_listed(kind: type[Queries], seed: int) -> None:
    domain = Number(bits=6)
    problem = problem_of(kind, domain, n=2_000)
    data = dataset_of(problem, generate("skewed", n=2_000, size=64, seed=seed))
    mechanism = NetMechanism(points=10)
    state = mechanism.prepare(data, problem)
    assert state.net.candidates is None
    sampler = Account(Secure())
    release = mechanism.run(state, sampler, 2)
    assert release.trials == 2
    assert sampler.epsilon == 1.0
    worst = problem.queries.max_error(release.histogram() - data.histogram) / 2_000
    assert worst.max() <= mechanism.accuracy(problem, HARDLY_EVER).value


def test_moving_epsilon_lists_and_scores_nothing_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Number(bits=4)
    problem = problem_of(Intervals, domain, n=3_000)
    data = dataset_of(problem, generate("bimodal", n=3_000, size=16, seed=seed))
    state = NetMechanism(points=8).prepare(data, problem)
    assert state.net.candidates is not None
    fresh = NetMechanism(points=8, epsilon=0.3).run(state, Preview(seed), 50)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("counted again")

    for name in ("multisets", "candidates"):
        monkeypatch.setattr(nets, name, never)
    monkeypatch.setattr(type(state.net.kernel), "extent", never)
    monkeypatch.setattr(type(state.net.kernel), "sums", never)
    NetMechanism(points=8, epsilon=4.0).run(state, Preview(seed), 50)
    again = NetMechanism(points=8, epsilon=0.3).run(state, Preview(seed), 50)
    np.testing.assert_array_equal(fresh.outcomes(), again.outcomes())


def test_slow_previews_show_progress_and_stay_out_of_sweeps(seed: int) -> None:
    domain = Number(bits=8)
    problem = problem_of(Thresholds, domain, n=1_000)
    data = dataset_of(problem, generate("uniform", n=1_000, size=256, seed=seed))
    mechanism = NetMechanism()
    state = mechanism.prepare(data, problem)
    shares = list(measure(mechanism, data, state, Preview(seed), trials=10))
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert list(measure(mechanism, data, state, Preview(seed), trials=10)) == [1.0]
    # A long list takes its time, whichever rule chooses from it.
    for rule in RULES:
        before, each = NetMechanism(points=3, rule=rule).preview_seconds(problem_of(Intervals, Number(bits=8), n=10**6))
        assert 0.2 < before < 1.0
        assert each < 0.1
    slow = problem_of(Thresholds, Number(bits=13), n=50)
    before, each = mechanism.preview_seconds(slow)
    assert before > 1
    assert each > 0
    curve = finish(
        sweep(
            [entry("identity"), entry("net")],
            dataset_of(slow, np.zeros(50)),
            slow,
            shared={},
            trials=5,
            epsilons=(1.0,),
        )
    )
    assert curve.keys == ("identity",)
    assert curve.left_out == ("net",)
    quick = finish(sweep([entry("net")], data, problem, shared={}, trials=5, epsilons=(1.0,)))
    assert quick.keys == ("net",)
    assert quick.left_out == ()


def test_only_classes_that_can_be_counted_are_served() -> None:
    for domain in (Number(bits=3), Labels(labels=("a", "b", "c"))):
        for kind in classes_for(domain):
            assert entry("net").serves(problem_of(kind, domain, n=3).queries)

    class Unknown:
        domain = Number(bits=1)
        title = "Parities?"

    unknown: Any = Unknown()
    with pytest.raises(ParameterError, match="Parities"):
        ScoredNet(unknown, np.array([1, 2]), points=1, rows=3)


def test_a_single_point_is_said_in_the_singular() -> None:
    problem = problem_of(Thresholds, Number(bits=3), n=100)
    for points, words in ((1, "1 point resolves the worst "), (2, "2 points resolve the worst ")):
        assert NetMechanism(epsilon=1.0, points=points).accuracy(problem, 0.05).statement.startswith(words)
