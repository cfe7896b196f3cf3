"""The halfspace release is private, spends what it says, draws its exact law, and answers as it is defined."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats, Neighbours, Problem
from dpcore.data.sphere import Sphere
from dpcore.mechanisms.halfspaces.counting import side_counts
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease, SphereState, side_answers
from dpcore.randomness import Preview, Sampler
from dplab.audit import ROUNDING, exact_delta
from tests.cases import one_relation
from tests.kit.contract import check_tiny_law
from tests.kit.halfspaces import PLANE, SPACE, dataset_of, problem_of

every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
# universe, rows, parameters: nothing projected, one matrix, two, projections in space, and a net of three.
TINY = [
    pytest.param(PLANE, 2, {"projected": 2, "directions": 2}, id="identity"),
    pytest.param(PLANE, 1, {"projected": 4, "directions": 3}, id="identity-3-directions"),
    pytest.param(PLANE, 2, {"projected": 1, "projections": 1}, id="one-matrix"),
    pytest.param(PLANE, 1, {"projected": 1, "projections": 2}, id="two-matrices"),
    pytest.param(SPACE, 2, {"projected": 1, "projections": 1}, id="space"),
    pytest.param(SPACE, 1, {"projected": 2, "projections": 1, "directions": 1}, id="space-to-plane"),
]
cases = pytest.mark.parametrize(("universe", "rows", "values"), TINY)


def window_for(rows: int) -> tuple[int, int]:
    """Noisy counts told apart."""
    return -3, rows + 3


def delta_of(mechanism: HalfspaceCounts, problem: Problem, universe: Floats) -> float:
    """The largest exact divergence at the told epsilon."""
    return exact_delta(mechanism, problem, window=window_for(problem.n), universe=universe).delta


@pytest.mark.slow
@every_relation
@cases
def test_exact_privacy(universe: Floats, rows: int, values: dict[str, Any], neighbours: Neighbours) -> None:
    problem = problem_of(universe.shape[1], rows, neighbours)
    for epsilon in (0.3, 2.0):
        mechanism = HalfspaceCounts(epsilon=epsilon, **values)
        assert mechanism.guarantee(problem).neighbours is neighbours
        assert mechanism.guarantee(problem).delta == 0
        assert delta_of(mechanism, problem, universe) <= ROUNDING


class Quiet(HalfspaceCounts):
    """Noise for half of the counts' sensitivity."""

    def run(self, state: SphereState, sampler: Sampler, trials: int = 1) -> HalfspaceRelease:
        loud = dataclasses.replace(self, epsilon=2 * self.epsilon)
        return dataclasses.replace(
            HalfspaceCounts.run(loud, state, sampler, trials), guarantee=self.guarantee(state.problem)
        )


class Peeks(HalfspaceCounts):
    """Turns its matrices towards the data."""

    def run(self, state: SphereState, sampler: Sampler, trials: int = 1) -> HalfspaceRelease:
        release = super().run(state, sampler, trials)
        middle = state.records.sum(axis=0)
        turned = np.where(release.signs[..., :1, :] @ middle < 0, -1, 1)[..., None]
        return dataclasses.replace(release, signs=(release.signs * turned).astype(np.int8))


class Ties(HalfspaceCounts):
    """Also publishes, without noise, how many rows lie on a plane of the net: what an exact opposite would need."""

    def run(self, state: SphereState, sampler: Sampler, trials: int = 1) -> HalfspaceRelease:
        release = super().run(state, sampler, trials)
        above, below = (state.counts(release.signs, net) for net in (release.net, -release.net))
        ties = len(state.records) - above - below
        counts = np.concatenate([release.counts, np.broadcast_to(ties, release.counts.shape)], axis=2)
        return dataclasses.replace(release, counts=counts)


@pytest.mark.slow
@every_relation
@cases
def test_half_the_noise_is_caught(universe: Floats, rows: int, values: dict[str, Any], neighbours: Neighbours) -> None:
    problem = problem_of(universe.shape[1], rows, neighbours)
    assert delta_of(Quiet(epsilon=2.0, **values), problem, universe) > 0.01


@every_relation
def test_matrices_that_saw_the_data_and_ties_without_noise_are_caught(neighbours: Neighbours) -> None:
    problem = problem_of(2, 1, neighbours)
    values: dict[str, Any] = {"epsilon": 1.0, "projected": 1, "projections": 1}
    assert delta_of(HalfspaceCounts(**values), problem, PLANE) <= ROUNDING
    assert delta_of(Peeks(**values), problem, PLANE) > 0.01
    assert delta_of(Ties(**values), problem, PLANE) > 0.01


@every_relation
def test_the_guarantee_is_tight_and_all_rows_count_in_all_directions(neighbours: Neighbours) -> None:
    """Replacing a row by its opposite moves every count: no smaller noise would do."""
    universe = np.array([[1, 0], [-1, 0]], dtype=np.float64)
    problem = problem_of(2, 1, neighbours)
    mechanism = HalfspaceCounts(epsilon=1.0, projected=1, projections=1)
    window = (-30, 31)
    delta = exact_delta(mechanism, problem, window=window, universe=universe)
    assert delta.delta <= ROUNDING

    class Told(HalfspaceCounts):
        def guarantee(self, problem: Problem) -> Any:
            return dataclasses.replace(super().guarantee(problem), epsilon=0.99 * self.epsilon)

    false_delta = exact_delta(Told(epsilon=1.0, projected=1, projections=1), problem, window=window, universe=universe)
    assert false_delta.delta > 1e-4


@pytest.mark.slow
@one_relation
@cases
@pytest.mark.parametrize("sampler", ["preview", "secure"])
def test_samplers_draw_the_exact_law(
    universe: Floats, rows: int, values: dict[str, Any], neighbours: Neighbours, sampler: str, seed: int
) -> None:
    problem = problem_of(universe.shape[1], rows, neighbours)
    # Noise of scale 1 in every case: enough beside the middle to tell it from the control's.
    mechanism = HalfspaceCounts(epsilon=HalfspaceCounts(**values).measured(problem), **values)
    dataset = dataset_of(problem, universe[:rows])
    check_tiny_law(mechanism, dataset, problem, sampler, window=(-2, rows + 2), seed=seed)


@pytest.mark.parametrize(("dimensions", "projected"), [(2, 4), (3, 3), (3, 2), (5, 1), (5, 4)])
def test_trials_are_an_axis_and_outcomes_hold_everything(dimensions: int, projected: int, seed: int) -> None:
    problem = problem_of(dimensions, 50)
    dataset = dataset_of(problem, np.random.default_rng(seed).normal(size=(50, dimensions)))
    mechanism = HalfspaceCounts(projected=projected, projections=3)
    state = mechanism.prepare(dataset, problem)
    assert "private" in repr(state) and "[" not in repr(state)
    release, again = (mechanism.run(state, Preview(seed), 7) for _ in range(2))
    np.testing.assert_array_equal(release.outcomes(), again.outcomes())
    m, k = mechanism.matrices(problem), len(mechanism.net(problem))
    assert release.counts.shape == (7, m, k)
    assert release.signs.shape == (7, m if dimensions > projected else 0, min(projected, dimensions), dimensions)
    assert not release.refused.any()
    published = np.concatenate([release.signs.reshape(7, -1), release.counts.reshape(7, -1)], axis=1)
    np.testing.assert_array_equal(release.outcomes(), published)
    part = release.part(2, 5)
    towards = np.random.default_rng(seed).normal(size=(4, dimensions))
    assert release.answer(towards).shape == (7, 4)
    np.testing.assert_array_equal(part.answer(towards), release.answer(towards)[2:5])
    np.testing.assert_array_equal(part.outcomes(), release.outcomes()[2:5])
    assert mechanism.run(state, Preview(seed)).trials == 1


def test_counts_of_equal_matrices_are_made_once_and_in_steps(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(2, 30)
    dataset = dataset_of(problem, np.random.default_rng(seed).normal(size=(30, 2)))
    mechanism = HalfspaceCounts(projected=1, projections=3)
    signs, net = mechanism.signs(problem, Preview(seed), 50), mechanism.net(problem)
    monkeypatch.setattr("dpcore.mechanisms.halfspaces.structure.STEP_WORK", 30)
    state = mechanism.prepare(dataset, problem)
    assert list(state.counting(signs, net)) == [0.25, 0.5, 0.75, 1.0]  # four different rows of two signs
    assert list(state.counting(signs, net)) == []
    one_by_one = [[side_counts(dataset.records, matrix[None], net)[0] for matrix in trial] for trial in signs]
    np.testing.assert_array_equal(state.counts(signs, net), one_by_one)
    release = mechanism.run(state, Preview(seed), 50)
    np.testing.assert_array_equal(release.signs, signs)
    assert len(state.counted) == 1


def test_counts_are_kept_between_epsilons_and_forgotten_in_time(seed: int) -> None:
    problem = problem_of(5, 30)
    dataset = dataset_of(problem, np.random.default_rng(seed).normal(size=(30, 5)))
    state = HalfspaceCounts().prepare(dataset, problem)
    for epsilon in (0.5, 1.0, 2.0):
        HalfspaceCounts(epsilon=epsilon).run(state, Preview(seed), 3)
    assert len(state.counted) == 1
    for place in range(40):
        HalfspaceCounts(projected=1).run(state, Preview(place), 3)
    assert len(state.counted) == 32


@pytest.mark.parametrize(("dimensions", "projected"), [(2, 2), (3, 4), (4, 1), (4, 2), (4, 3), (6, 4)])
def test_answers_as_defined(dimensions: int, projected: int, seed: int) -> None:
    """Without noise: the mean over matrices of the rows on the side of the net's direction nearest to Ay."""
    generator = np.random.default_rng(seed)
    problem = problem_of(dimensions, 40)
    dataset = dataset_of(problem, generator.normal(size=(40, dimensions)))
    mechanism = HalfspaceCounts(projected=projected, projections=3, directions=4)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 5)
    towards = generator.normal(size=(6, dimensions))
    counts = mechanism.prepare(dataset, problem).counts(release.signs, release.net)
    answers = side_answers(counts, release.signs, release.net, towards, n=40)
    both = np.concatenate([release.net, -release.net])
    for trial, place in product(range(5), range(6)):
        each = []
        matrices = release.signs[trial] if dimensions > projected else np.eye(dimensions)[None]
        for matrix in matrices:
            y = matrix @ towards[place]
            u = both[np.linalg.norm(both - y / np.linalg.norm(y), axis=1).argmin()]
            each.append(np.mean([(matrix @ x) @ u > 0 for x in dataset.records]))
        assert answers[min(trial, len(answers) - 1), place] == pytest.approx(np.mean(each))


def test_opposite_directions_add_up_to_the_public_n(seed: int) -> None:
    """Under add or remove, n is the problem's own figure; the number of rows is nowhere."""
    problem = problem_of(3, 100, Neighbours.ADD_REMOVE_ONE)
    generator = np.random.default_rng(seed)
    dataset = dataset_of(problem, generator.normal(size=(83, 3)))
    for projected in (1, 2, 3):
        mechanism = HalfspaceCounts(projected=projected)
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 4)
        towards = generator.normal(size=(5, 3))
        np.testing.assert_allclose(release.answer(towards) + release.answer(-towards), 1)


def test_a_tie_counts_one_half_in_the_mean_over_all_matrices() -> None:
    problem, diagonal = problem_of(2, 1), np.array([[1.0, 1.0]])
    signs = np.array(list(product((1, -1), repeat=2)), dtype=np.int8).reshape(4, 1, 1, 2)
    net = HalfspaceCounts(projected=1).net(problem)
    for rows, told in ((diagonal, 0.75), (np.array([[0.0, 0.0]]), 0.5), (np.array([[1.0, -1.0]]), 0.75)):
        state = HalfspaceCounts(projected=1).prepare(dataset_of(problem, rows), problem)
        for towards in (np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])):
            answers = side_answers(state.counts(signs, net), signs, net, towards, n=1)
            side = told if towards[0, 0] > 0 else 1 - told
            assert answers.mean() == pytest.approx(side)


@pytest.mark.slow
def test_noise_has_the_deviation_told_and_opposites_halve_it(seed: int) -> None:
    trials, problem = 40_000, problem_of(3, 200)
    assert isinstance(problem.domain, Sphere)
    dataset = dataset_of(problem, np.random.default_rng(seed).normal(size=(200, 3)))
    towards = problem.domain.unit(np.array([[0.3, -0.5, 0.7]]))
    for projected, projections in ((3, 1), (2, 4), (1, 8)):
        mechanism = HalfspaceCounts(epsilon=0.5, projected=projected, projections=projections, directions=6)
        state = mechanism.prepare(dataset, problem)
        release = mechanism.run(state, Preview(seed), trials)
        exact = side_answers(state.counts(release.signs, release.net), release.signs, release.net, towards, n=200)
        noise = (release.answer(towards) - exact)[:, 0]
        deviation = mechanism.noise_deviation(problem)
        # Within 2%: about five standard deviations of a deviation from 40,000 draws of a Laplace-like law.
        assert noise.std() == pytest.approx(deviation, rel=0.02)
        assert abs(noise.mean()) < 5.5 * deviation / math.sqrt(trials)
        k, m = len(release.net), mechanism.matrices(problem)
        both_measured = math.sqrt(2) * m * 2 * k / (0.5 * 200) / math.sqrt(m)
        assert deviation == pytest.approx(both_measured / 2, rel=0.01)
        assert noise.std() != pytest.approx(both_measured, rel=0.3)
