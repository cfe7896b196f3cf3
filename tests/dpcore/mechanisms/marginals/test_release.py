"""Releases of marginals: exact privacy on tiny cubes, what draws are told, and how answers stray."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpcore import Dataset, Neighbours, ParameterError, Preview, Problem, Provenance, ProvenanceKind
from dpcore.core import Booleans, Floats, Guarantee, Integers
from dpcore.data.product import Product
from dpcore.mechanisms.marginals import plans
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.release import MarginalRelease
from dpcore.queries.at_least import AtLeast
from dplab.audit import ROUNDING, exact_delta
from tests.cases import full_but
from tests.kit.contract import check_tiny_law
from tests.kit.statistics import assert_chance_at_most

PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def problem_of(
    attributes: int,
    *,
    n: int,
    width: int = 2,
    least: int = 1,
    signed: bool = False,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
) -> Problem:
    domain = Product.yes_no([f"a{i}" for i in range(attributes)])
    queries = AtLeast(domain=domain, width=width, least=least, signed=signed)
    return Problem(domain=domain, queries=queries, n=n, neighbours=neighbours)


def all_rows(attributes: int) -> Booleans:
    return np.array(list(product((False, True), repeat=attributes)))


def rows_of(seed: int, *, n: int, attributes: int) -> Booleans:
    """Attributes that go together: each row has a taste for having them."""
    random = np.random.Generator(np.random.SFC64(seed))
    return random.random((n, attributes)) < random.beta(0.5, 1.5, (n, 1))


def released(
    mechanism: PolynomialMarginals, problem: Problem, rows: Booleans, *, seed: int, trials: int
) -> MarginalRelease:
    return mechanism.run(mechanism.prepare(Dataset(problem.domain, rows, PUBLIC), problem), Preview(seed), trials)


TINY: list[tuple[int, int, int, dict[str, Any], dict[str, Any]]] = [
    # attributes, n, window beyond 0..n, what is asked, parameters: few enough counts to enumerate
    (2, 3, 3, {"width": 2}, {"method": "minimax", "degree": 2, "basis": "ones"}),
    (2, 2, 3, {"width": 2, "least": 2}, {"method": "minimax", "degree": 2, "basis": "zeros"}),
    (2, 2, 3, {"width": 2}, {"method": "chebyshev", "degree": 2, "basis": "ones"}),
    (2, 3, 3, {"width": 2, "signed": True}, {"method": "minimax", "degree": 1}),
    (2, 2, 3, {"width": 2, "signed": True}, {"method": "direct"}),
    (2, 3, 3, {"width": 2}, {"method": "direct"}),
    (3, 1, 1, {"width": 3}, {"method": "minimax", "degree": 2, "basis": "zeros"}),
    (3, 2, 2, {"width": 2}, {"method": "direct"}),
    (3, 2, 3, {"width": 3, "least": 2}, {"method": "direct"}),
    (3, 1, 1, {"width": 3, "signed": True}, {"method": "minimax", "degree": 1}),
]


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("attributes", "n", "margin", "asked", "values"), TINY)
def test_exact_privacy_with_laplace_noise(
    attributes: int, n: int, margin: int, asked: dict[str, Any], values: dict[str, Any], neighbours: Neighbours
) -> None:
    """No pair of neighbours is told apart by more than epsilon; some pair by all of it."""
    problem = problem_of(attributes, n=n, neighbours=neighbours, **asked)
    mechanism = PolynomialMarginals(epsilon=1.0, **values)
    settings: dict[str, Any] = {"window": (-margin, n + margin), "universe": all_rows(attributes)}
    finding = exact_delta(mechanism, problem, **settings)
    assert finding.pairs > 0
    assert finding.delta <= ROUNDING
    assert exact_delta(Understated(epsilon=1.0, **values), problem, **settings).delta > 1e-4, (
        "a promise of 0.98 is broken"
    )


class Understated(PolynomialMarginals):
    """Promises a little less than it spends: the control that shows the promise is tight."""

    def guarantee(self, problem: Problem) -> Guarantee:
        return dataclasses.replace(super().guarantee(problem), epsilon=0.98 * self.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(
    ("attributes", "n", "margin", "asked", "values"),
    [case for case in TINY if case[0] == 2 or case[4]["method"] == "direct"],
)
def test_exact_privacy_with_gaussian_noise(
    attributes: int, n: int, margin: int, asked: dict[str, Any], values: dict[str, Any], neighbours: Neighbours
) -> None:
    problem = problem_of(attributes, n=n, neighbours=neighbours, **asked)
    mechanism = PolynomialMarginals(epsilon=2.0, delta=0.05, noise="gaussian", **values)
    settings: dict[str, Any] = {"window": (-margin - 1, n + margin + 1), "universe": all_rows(attributes)}
    finding = exact_delta(mechanism, problem, **settings)
    assert 0 < finding.delta <= 0.05
    plan = mechanism.plan(problem)
    if sum(noise.moved for noise in plan.noise) <= 2:
        assert finding.delta > 0.04, "calibrated on its own exact law"
    assert exact_delta(TooQuiet(epsilon=2.0, delta=0.05, noise="gaussian", **values), problem, **settings).delta > 0.05


class TooQuiet(PolynomialMarginals):
    """The control: noise of 0.6 of the scale."""

    def plan(self, problem: Problem) -> plans.MarginalsPlan:
        plan = super().plan(problem)
        return dataclasses.replace(
            plan, noise=tuple(dataclasses.replace(noise, scale=0.6 * noise.scale) for noise in plan.noise)
        )


def halved(**told: Any) -> int:
    """Return half of what a neighbour moves."""
    from dpcore.mechanisms.marginals.noise import moved

    return max(1, moved(**told) // 2)


def test_a_halved_sensitivity_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(2, n=2, signed=True)
    settings: dict[str, Any] = {"window": (-3, 5), "universe": all_rows(2)}
    monkeypatch.setattr(plans, "moved", halved)
    plans.numbered_plan.cache_clear()
    try:
        assert (
            exact_delta(PolynomialMarginals(epsilon=1.0, method="minimax", degree=1), problem, **settings).delta > 0.05
        )
    finally:
        plans.numbered_plan.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("signed", full_but([False, True], True))
@pytest.mark.parametrize("method", ["minimax", "chebyshev", "direct"])
def test_draws_are_told_what_neighbours_move(method: str, signed: bool, neighbours: Neighbours) -> None:
    """Over all pairs of tiny data: each draw's counts move by at most the sensitivity told, and some by all of it."""
    problem = problem_of(3, n=2, width=3, signed=signed, neighbours=neighbours)
    mechanism = PolynomialMarginals(epsilon=5.0, method=method, degree=2)
    plan = mechanism.plan(problem)
    universe = all_rows(3)
    pairs = [(b, c) for b, c in product(range(8), repeat=2) if b != c]
    furthest = np.zeros(len(plan.noise))
    for base, (one, other) in product(range(8), pairs):
        first = universe[[base, one]]
        second = universe[[base, other]] if neighbours is Neighbours.REPLACE_ONE else universe[[base, one, other]]
        states = [mechanism.prepare(Dataset(problem.domain, rows, PUBLIC), problem) for rows in (first, second)]
        for place, (a, b) in enumerate(zip(*(state.protected(plan) for state in states), strict=True)):
            furthest[place] = max(furthest[place], np.abs(a - b).sum())
    assert plan.noise
    assert furthest.tolist() == [noise.moved for noise in plan.noise]


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("sampler", ["preview", "secure"])
def test_releases_have_the_exact_law(noise: str, sampler: str, seed: int) -> None:
    values: dict[str, Any] = {"method": "minimax", "degree": 2, "basis": "ones", "noise": noise, "delta": 0.01}
    problem, mechanism = problem_of(2, n=3), PolynomialMarginals(epsilon=4.0, **values)
    dataset = Dataset(problem.domain, all_rows(2)[[0, 1, 3]], PUBLIC)
    check_tiny_law(mechanism, dataset, problem, sampler, window=(-1, 4), seed=seed)


def true_answers(rows: Booleans, sets: Integers, negated: Booleans, least: int) -> Floats:
    return np.array([((rows[:, s] ^ f).sum(axis=1) >= least).mean() for s, f in zip(sets, negated, strict=True)])


CASES = [
    (method, noise, signed, least)
    for method in ("noise-aware", "minimax", "direct")
    for noise in ("laplace", "gaussian")
    for signed in (False, True)
    for least in (1, 2, 3)
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "noise", "signed", "least"), CASES)
def test_predicted_deviation_and_bias(method: str, noise: str, signed: bool, least: int, seed: int) -> None:
    """25,000 releases: the observed deviation within 2% of the predicted one, the bias within gamma."""
    rows = rows_of(seed, n=2_000, attributes=6)
    problem = problem_of(6, n=2_000, width=3, least=least, signed=signed)
    mechanism = PolynomialMarginals(epsilon=1.0, noise=noise, method=method, degree=2)
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    sets, negated = queries.sets(np.array([0, queries.count // 2, queries.count - 1]))
    release = released(mechanism, problem, rows, seed=seed, trials=25_000)
    answers = release.answers(sets, negated)
    np.testing.assert_allclose(answers.std(axis=0), release.plan.deviation, rtol=0.02)
    bias = answers.mean(axis=0) - true_answers(rows, sets, negated, least)
    assert np.abs(bias).max() <= release.plan.gamma + 6 * release.plan.deviation / np.sqrt(25_000)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("basis", ["ones", "zeros"])
def test_without_bias_answers_are_right_on_average_and_narrower_ones_too(basis: str, signed: bool, seed: int) -> None:
    """Degree k, so no bias; the control, a query answered with the wrong sign, is far off."""
    rows = rows_of(seed, n=5_000, attributes=5)
    problem = problem_of(5, n=5_000, width=3, signed=signed)
    mechanism = PolynomialMarginals(epsilon=8.0, method="minimax", degree=3, basis=basis)
    release = released(mechanism, problem, rows, seed=seed, trials=4_000)
    assert release.plan.gamma == 0
    for width in (1, 2, 3):
        if basis == "zeros" and width < 3:
            with pytest.raises(ParameterError, match="3 attributes only"):
                release.answers(np.array([[0, 2, 4]])[:, :width])
            continue
        sets = np.array([[0, 2, 4], [1, 2, 3]])[:, :width]
        negated = np.array([[True, False, True], [False, False, True]])[:, :width] & signed
        means = release.answers(sets, negated).mean(axis=0)
        np.testing.assert_allclose(means, true_answers(rows, sets, negated, 1), atol=0.004)
        if signed:
            assert np.abs(means - true_answers(rows, sets, ~negated, 1)).max() > 0.02


def test_a_polynomial_with_every_level_answers_narrower_queries(seed: int) -> None:
    """Within its bias, from the end where attributes are absent."""
    rows = rows_of(seed, n=5_000, attributes=5)
    mechanism = PolynomialMarginals(epsilon=8.0, method="minimax", degree=2, basis="zeros")
    release = released(mechanism, problem_of(5, n=5_000, width=4), rows, seed=seed, trials=4_000)
    assert release.plan.gamma == pytest.approx(1 / 6)
    for width in (1, 2, 3, 4):
        sets = np.array([[0, 1, 2, 4], [1, 2, 3, 4]])[:, :width]
        bias = release.answers(sets).mean(axis=0) - true_answers(rows, sets, np.zeros(sets.shape, dtype=bool), 1)
        assert np.abs(bias).max() <= 1 / 6 + 0.005


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("method", ["noise-aware", "direct"])
def test_the_promise_is_kept(noise: str, method: str, seed: int) -> None:
    """Of 500 releases no more than beta stray further on any of all 120 queries; a tenth of it is not kept."""
    rows = rows_of(seed, n=3_000, attributes=10)
    problem = problem_of(10, n=3_000, width=3)
    mechanism = PolynomialMarginals(epsilon=1.0, noise=noise, method=method)
    bound = mechanism.accuracy(problem, 0.2)
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    sets, negated = queries.sets(queries.batch(1_000))
    truth = true_answers(rows, sets, negated, 1)
    release = released(mechanism, problem, rows, seed=seed, trials=500)
    worst = np.abs(release.answers(sets) - truth).max(axis=1)
    assert bound.applies
    assert_chance_at_most(int((worst > bound.value).sum()), trials=500, chance=0.2)
    assert (worst > bound.value / 10).mean() > 0.2
    clipped = np.abs(release.answers(sets, clip=True) - truth)
    assert (clipped <= np.abs(release.answers(sets) - truth) + 1e-12).all(), "clipping never hurts"
    added = dataclasses.replace(problem, neighbours=Neighbours.ADD_REMOVE_ONE)
    assert not mechanism.accuracy(added, 0.2).applies


def test_the_choice_is_the_least_predicted_error() -> None:
    """Few attributes: the marginals themselves. Many: a polynomial. Told in words, and overridable."""
    small, large = problem_of(6, n=10_000, width=3), problem_of(64, n=1_000_000, width=8)
    for problem, words in ((small, "the answers themselves"), (large, "a polynomial of degree 2")):
        plan = PolynomialMarginals(epsilon=1.0).plan(problem)
        assert plan.words.startswith(words)
        others = [
            PolynomialMarginals(epsilon=1.0, method=m).plan(problem)
            for m in ("noise-aware", "minimax", "chebyshev-rescaled")
        ]
        assert plan.predicted <= min(other.predicted for other in others) + 1e-9
    forced = PolynomialMarginals(epsilon=1.0, method="minimax", degree=3, basis="ones").plan(large)
    assert forced.words == (
        "a polynomial of degree 3, computed from noisy counts of rows that have all of 1, 2 and 3 attributes"
    )
    assert forced.deviation > plan.deviation
    assert plan.gamma == pytest.approx(0.3, abs=1e-6)
    direct = PolynomialMarginals(epsilon=1.0, method="direct").plan(large)
    assert direct.deviation == pytest.approx(6_000, rel=0.05)
    with pytest.raises(ParameterError, match="more than the"):
        PolynomialMarginals(method="direct").prepare(
            Dataset(large.domain, np.zeros((1_000_000, 64), dtype=bool), PUBLIC), large
        )


def test_trials_are_an_axis(seed: int) -> None:
    problem = problem_of(5, n=200, width=3, signed=True)
    rows = rows_of(seed, n=200, attributes=5)
    for method in ("noise-aware", "direct"):
        release, again = (
            released(PolynomialMarginals(method=method), problem, rows, seed=seed, trials=7) for _ in range(2)
        )
        np.testing.assert_array_equal(release.outcomes(), again.outcomes())
        assert release.outcomes().shape == (7, sum(level.shape[1] for level in release.levels))
        sets = np.array([[0, 1, 4]])
        part = release.part(2, 5)
        assert part.trials == 3
        np.testing.assert_array_equal(part.answers(sets), release.answers(sets)[2:5])
    with pytest.raises(ParameterError, match="3 attributes only"):
        release.answers(np.array([[0, 1]]))
    plain = released(PolynomialMarginals(), problem_of(5, n=200, width=3), rows, seed=seed, trials=1)
    with pytest.raises(ParameterError, match="without negation"):
        plain.answers(sets, np.array([[True, False, False]]))


def test_plans_follow_from_public_numbers_alone(seed: int) -> None:
    problem = problem_of(6, n=500, width=3)
    for mechanism in (PolynomialMarginals(method="minimax", degree=2), PolynomialMarginals(method="direct")):
        rows = (rows_of(seed, n=500, attributes=6), np.ones((500, 6), dtype=np.bool_))
        plans_used = [released(mechanism, problem, each, seed=seed, trials=1).plan for each in rows]
        assert plans_used[0] == plans_used[1] == mechanism.plan(problem)
