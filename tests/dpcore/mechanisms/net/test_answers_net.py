"""Small databases of the size of Theorem 5: points found for noisy answers, and lists counted by cell."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import Dataset, Number, Preview, Problem, Secure
from dpcore.core import Floats, HistogramState, Integers, PointsRelease
from dpcore.data.generators import generate
from dpcore.mechanisms.net.answers_net import PointsOfAnswers, nearest_points, points_needed, points_resolution
from dpcore.mechanisms.net.linear import LinearNet
from dpcore.mechanisms.net.listed_net import ListedNet, listable_points
from dpcore.queries.linear import UNITS, LinearQueries, generated
from dpcore.randomness import Sampler
from dplab.audit import exact_epsilon
from dplab.measure import finish
from dplab.small_databases import SizeErrors, errors_by_size
from tests.kit.contract import check_privacy
from tests.kit.problems import dataset_of


def question(bits: int, *, queries: int = 50, n: int = 10_000, seed: int = 1) -> tuple[Dataset, Problem]:
    domain = Number(bits=bits)
    problem = Problem(domain=domain, queries=generated("bumps", queries=queries, domain=domain, seed=1), n=n)
    return dataset_of(problem, generate("bimodal", n=n, size=2**bits, seed=seed)), problem


def worst(points: Integers, weights: Floats, answers: Floats) -> Floats:
    """Worst error of each database, recomputed point by point."""
    sums = np.array([[sum(row[point] for point in each) / len(each) for row in weights] for each in points.tolist()])
    found: Floats = np.abs(sums - answers).max(axis=1)
    return found


@pytest.mark.parametrize("size", [2, 3, 40])
def test_points_keep_every_sum_of_any_distribution_within_the_resolution(size: int, seed: int) -> None:
    """Extreme weights and lopsided distributions; a database of the fullest cell alone breaks the claim."""
    generator = np.random.Generator(np.random.SFC64(seed))
    shares = np.concatenate([generator.dirichlet(np.full(size, a), size=8) for a in (0.05, 0.5, 5.0)])
    for weights in (generator.integers(0, 2, (30, size)).astype(np.float64), generator.random((7, size))):
        for points in (1, 5, 60):
            bound = points_resolution(len(weights), points)
            chosen = nearest_points(shares @ weights.T, weights, points=points)
            assert chosen.shape == (len(shares), points) and (np.diff(chosen, axis=1) >= 0).all()
            assert worst(chosen, weights, shares @ weights.T).max() <= bound + 1e-9
    lazy = np.repeat(shares.argmax(axis=1)[:, None], 60, axis=1)
    assert worst(lazy, weights, shares @ weights.T).max() > points_resolution(7, 60)


def test_answers_off_by_some_noise_cost_as_much_more(seed: int) -> None:
    generator = np.random.Generator(np.random.SFC64(seed))
    weights, shares, noise = (
        generator.integers(0, 2, (20, 12)).astype(np.float64),
        generator.dirichlet(np.ones(12)),
        0.1,
    )
    truth = (weights @ shares)[None]
    answers = np.clip(truth + noise * generator.choice((-1, 1), (40, 20)), 0, 1)
    chosen = nearest_points(answers, weights, points=80)
    assert worst(chosen, weights, answers).max() <= points_resolution(20, 80) + noise
    assert worst(chosen, weights, truth).max() <= points_resolution(20, 80) + 2 * noise


def test_the_theorem_takes_231_points_for_50_queries() -> None:
    assert points_needed(50, 0.1) == math.ceil(math.log(100) / 0.02) == 231
    assert points_resolution(50, 231) <= 0.1 < points_resolution(50, 230)
    _, problem = question(6)
    assert PointsOfAnswers(alpha=0.1).size(problem) == 231


class Halved(PointsOfAnswers):
    """The control: half of the noise."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        return PointsOfAnswers(epsilon=2 * self.epsilon, alpha=self.alpha).run(state, sampler, trials)


@pytest.mark.slow
def test_the_exact_law_of_more_queries_keeps_the_guarantee_and_half_of_the_noise_does_not() -> None:
    domain = Number(bits=1)
    queries = LinearQueries.of(np.array([[1.0, 0.0], [0.0, 1.0]]), domain=domain)
    problem = Problem(domain=domain, queries=queries, n=2)
    check_privacy(PointsOfAnswers(epsilon=4.0, alpha=0.5), problem)
    used, halved = (
        exact_epsilon(kind(epsilon=4.0, alpha=0.5), problem, window=(-3, 5)).epsilon
        for kind in (PointsOfAnswers, Halved)
    )
    assert 1.0 < used <= 4.0 * (1 + 1e-9)
    assert halved > 1.3 * used
    with pytest.raises(AssertionError, match="exact delta"):
        check_privacy(Halved(epsilon=1.0, alpha=0.2), problem)


def test_the_promise_adds_up_and_the_rows_it_needs_are_the_least() -> None:
    for beta, epsilon in itertools.product((0.05, 0.2), (0.3, 3.0)):
        _, problem = question(4, queries=9)
        bound = PointsOfAnswers(epsilon=epsilon).accuracy(problem, beta)
        # Recomputed: J is the least with 9 Pr[|Z| > J] at most beta, Z discrete Laplace of scale 9/epsilon.
        p, reach = math.exp(-epsilon / 9), 0
        while 9 * 2 * p ** (reach + 1) / (1 + p) > beta:
            reach += 1
        expected = points_resolution(9, points_needed(9, 0.1)) + (2 * reach + 1) / problem.n
        assert bound.value == pytest.approx(expected, rel=1e-12)
        assert bound.rows_needed is not None
        for n, enough in ((bound.rows_needed, True), (bound.rows_needed - 1, False)):
            at = Problem(domain=problem.domain, queries=problem.queries, n=n)
            assert (PointsOfAnswers(epsilon=epsilon).accuracy(at, beta).value < 1) is enough


def test_a_list_counted_by_cell_is_the_list_of_points(seed: int) -> None:
    """Every database of 5 points on 3 cells, in whatever order: the same scores, and points in order."""
    generator = np.random.Generator(np.random.SFC64(seed))
    units, counts = generator.integers(0, UNITS + 1, (4, 3)), generator.integers(0, 30, 3)
    net = ListedNet(units, truth=units @ counts, points=5, rows=int(counts.sum()))
    assert net.candidates.counted
    every = net.candidates.at(np.arange(len(net.candidates.scores)))
    assert sorted(map(tuple, every.tolist())) == list(itertools.combinations_with_replacement(range(3), 5))
    for points, score in zip(every, net.candidates.scores, strict=True):
        sums = units[:, points].sum(axis=1)
        assert score == -np.abs(5 * (units @ counts) - counts.sum() * sums).max()


@pytest.mark.slow
def test_the_theorem_s_own_choice_of_231_points_is_drawn_on_four_cells(seed: int) -> None:
    data, problem = question(2)
    assert [listable_points(size=size, queries=50, points=231) for size in (4, 8, 16)] == [231, 23, 7]
    mechanism = LinearNet(epsilon=1.0, points=231)
    state = mechanism.prepare(data, problem)
    assert len(state.net.candidates.scores) == math.comb(234, 3)
    for sampler, trials in ((Preview(seed), 200), (Secure(), 2)):
        release = mechanism.run(state, sampler, trials)
        errors = problem.queries.max_error(release.histogram() - data.histogram) / problem.n
        assert errors.max() <= mechanism.accuracy(problem, 1e-6).value
        assert errors.max() < 0.01


def by_size(bits: int) -> SizeErrors:
    data, problem = question(bits)
    return finish(errors_by_size(data, problem, epsilon=1.0, seed=1))


def test_231_points_err_less_than_half_as_much_as_the_seven_that_can_be_listed() -> None:
    """Figures of the picture, recomputed: the error of points found is that of the releases themselves."""
    data, problem = question(4)
    errors = by_size(4)
    assert errors.needed == 231
    place = int(np.flatnonzero(errors.points == 231)[0])
    listed = np.flatnonzero(~np.isnan(errors.exact))
    assert errors.points[listed].max() == 7
    assert errors.answers[place] < errors.exact[listed[-1]] / 2
    release = PointsOfAnswers(epsilon=1.0).run(
        HistogramState(problem=problem, histogram=data.histogram), Preview(1), 40
    )
    seen = problem.queries.max_error(release.histogram() - data.histogram) / problem.n
    assert errors.answers[place] == pytest.approx(float(np.quantile(seen, 0.95)), rel=1e-9)
    assert (errors.noiseless <= [points_resolution(50, m) for m in errors.points.tolist()]).all()
    assert (errors.exact[listed] <= errors.resolution[listed] + 0.02).all()
