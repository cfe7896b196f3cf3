"""VC and fat-shattering reconstruction: sorts against searches, bounds against all mechanisms on tiny sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpcore.core import (
    Booleans,
    Floats,
    Guarantee,
    HistogramRelease,
    Integers,
    Neighbours,
    ParameterError,
    PointsRelease,
    Problem,
)
from dpcore.data.columns import Labels, Number
from dpcore.limits.attacks import fat_shattering, halves, vc
from dpcore.limits.chance import confusion, replacement_steps
from dpcore.queries.ranges import Cells
from dpcore.randomness import NoisyCounts, Preview
from dpcore.randomness.laws import compositions
from tests.dpcore.limits.best_mechanism import best_gain, neighbouring
from tests.kit.problems import counts_release

BOTH = pytest.mark.parametrize("neighbours", list(Neighbours))


def problem_on(points: int, *, rows: int, missing: bool = False) -> Problem:
    """Categories that are the shattered points."""
    domain = Labels(labels=tuple(f"p{i}" for i in range(points)), missing=missing)
    return Problem(domain=domain, queries=Cells(domain=domain), n=rows)


def released(counts: Integers, *, rows: int) -> HistogramRelease:
    """Return a release of these counts."""
    return counts_release(problem_on(counts.shape[1], rows=rows), counts)


def data_sets(*, points: int, rows: int, neighbours: Neighbours) -> Integers:
    """Every histogram of so many rows; under ADD_REMOVE_ONE also of fewer rows, and one more."""
    if neighbours is Neighbours.REPLACE_ONE:
        return compositions(rows, points)
    return np.concatenate([compositions(total, points) for total in range(rows + 2)])


def best_recovery(*, points: int, repeats: int, epsilon: float, delta: float, neighbours: Neighbours) -> float:
    """Largest expected share of a random half found, over all private mechanisms that name a half: a linear program."""
    rows = points * repeats // 2
    data = data_sets(points=points, rows=rows, neighbours=neighbours)
    named = halves.all_halves(points)
    pairs = neighbouring(data, apart=2 if neighbours is Neighbours.REPLACE_ONE else 1)
    shares = (named[:, None] & named[None]).sum(axis=2) / (points // 2)
    secrets = (data[None] == repeats * named[:, None]).all(axis=2)
    gains = (secrets[:, :, None] * shares[:, None]).mean(axis=0, keepdims=True)
    return best_gain(pairs, gains, epsilon=epsilon, delta=delta)


@BOTH
@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize(("points", "repeats"), [(2, 1), (2, 2), (2, 3), (4, 1)])
def test_no_mechanism_beats_the_recovery_ceiling(
    points: int, repeats: int, epsilon: float, delta: float, neighbours: Neighbours
) -> None:
    best = best_recovery(points=points, repeats=repeats, epsilon=epsilon, delta=delta, neighbours=neighbours)
    ceiling = vc.recovery_ceiling(epsilon=epsilon, repeats=repeats, neighbours=neighbours, delta=delta)
    assert best <= ceiling + 1e-8
    if points == 2:
        assert best == pytest.approx(ceiling, abs=1e-8)


@BOTH
def test_the_printed_fat_shattering_factor_is_beaten(neighbours: Neighbours) -> None:
    # Roth's chain says (1 - a)/a <= e^ε for a wrong share a. Under add-or-remove-one a private mechanism exceeds it;
    # under replace-one none does.
    best = best_recovery(points=2, repeats=1, epsilon=1.0, delta=0.0, neighbours=neighbours)
    odds = best / (1 - best)
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        assert odds == pytest.approx(2 * math.e - 1, abs=1e-6)
        assert math.e * 1.6 < odds < math.e**2
    else:
        assert odds == pytest.approx(math.e, abs=1e-6)


@pytest.mark.slow
@given(counts=arrays(np.int64, (3, 8), elements=st.integers(-5, 9)))
def test_the_sort_is_the_search(counts: Integers) -> None:
    guess = vc.reconstruct(released(counts, rows=4))

    def oracle(masks: Booleans) -> Floats:
        return counts @ masks.T / 4

    sought = halves.search(oracle, points=8)
    np.testing.assert_allclose(guess.mass, sought.mass)
    np.testing.assert_allclose(guess.mass, (guess.chosen * counts).sum(axis=1) / 4)
    assert (guess.chosen.sum(axis=1) == 4).all()


@pytest.mark.slow
@given(noise=arrays(np.float64, (2, 8), elements=st.floats(-1, 1)), seed=st.integers(0, 1000))
def test_an_accurate_release_is_reconstructed(noise: Floats, seed: int) -> None:
    # Lemma 3.13: at most 2 d α points differ, α the largest error over all halves as queries, here by trying all.
    truth = halves.random_half(Preview(seed), points=8)[0]
    released_mass = truth / 4 + noise
    errors = np.abs((released_mass - truth / 4) @ halves.all_halves(8).T).max(axis=1)
    guess = halves.heaviest_half(released_mass, np.zeros(2, dtype=np.bool_))
    differ = (guess.chosen != truth).sum(axis=1)
    assert (differ <= 2 * 8 * errors + 1e-9).all()


@pytest.mark.slow
@given(counts=arrays(np.int64, (2, 6), elements=st.integers(-3, 6)), seed=st.integers(0, 1000))
def test_worst_error_over_halves_is_exact(counts: Integers, seed: int) -> None:
    truth = halves.random_half(Preview(seed), points=6)[0]
    release = released(counts, rows=6)
    brute = np.abs((counts / 6 - truth / 3) @ halves.all_halves(6).T).max(axis=1)
    np.testing.assert_allclose(vc.worst_half_error(release, truth), brute, atol=1e-12)


def test_points_releases_and_the_spare_cell_are_welcome() -> None:
    problem = problem_on(4, rows=2, missing=True)
    points = PointsRelease(
        problem=problem,
        guarantee=Guarantee(epsilon=1.0, neighbours=problem.neighbours),
        sampler="test",
        refused=np.array([False, True]),
        points=np.array([[3, 1, 4], [0, 0, 0]]),
        weights=np.array([[0.4, 0.3, 0.3], [1.0, 0.0, 0.0]]),
    )
    guess = vc.reconstruct(points)
    np.testing.assert_array_equal(guess.chosen, [[False, True, False, True], [False] * 4])
    np.testing.assert_allclose(halves.recovered(guess, np.array([False, True, True, False])), [0.5, 0.5])


def test_the_sort_is_refused_where_it_is_not_the_search() -> None:
    even = np.array([[1, 0, 1, 0]])
    with pytest.raises(ParameterError, match="even number"):
        vc.reconstruct(released(np.array([[1, 0, 1]]), rows=2))
    with pytest.raises(ParameterError, match="equally often"):
        vc.reconstruct(released(even, rows=3))
    with pytest.raises(ParameterError, match="outside"):
        vc.reconstruct(released(even, rows=2), shattered=np.array([0, 1]))
    with pytest.raises(ParameterError, match="different cells"):
        vc.reconstruct(released(even, rows=2), shattered=np.array([0, 0]))
    inside = vc.reconstruct(released(np.array([[3, 0, 0, 1]]), rows=2), shattered=np.array([3, 0]))
    np.testing.assert_array_equal(inside.chosen, [[False, True]])
    with pytest.raises(ParameterError, match="at most 16"):
        halves.all_halves(18)


def test_ten_thousand_points(seed: int) -> None:
    sampler = Preview(seed)
    truth = halves.random_half(sampler, points=10_000)[0]
    counts = sampler.draw(NoisyCounts(truth[None].astype(np.int64), epsilon=8.0, sensitivity=1), 1)
    release = released(counts, rows=5_000)
    guess = vc.reconstruct(release)
    # Noise of scale 1/8 moves a count with chance 2/(e^8 + 1): nearly all is found.
    assert halves.recovered(guess, truth)[0] > 0.99


@BOTH
@pytest.mark.parametrize("beta", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("repeats", [1, 3])
def test_the_error_bound_against_its_chain(epsilon: float, beta: float, repeats: int, neighbours: Neighbours) -> None:
    steps = replacement_steps(neighbours, rows=repeats)
    printed = vc.printed_error(epsilon=epsilon, steps=steps, beta=beta)
    bound = vc.error_bound(epsilon=epsilon, repeats=repeats, neighbours=neighbours, beta=beta)
    assert bound.value >= printed - 1e-12
    assert bound.applies == (bound.value > 0) == ("cannot guarantee" in bound.statement)
    if printed:
        # The witness: found with chance (1-β)(1-2α) at least, and after the swap with (1-β)2α + β at most.
        inside, outside = (1 - beta) * (1 - 2 * printed), (1 - beta) * 2 * printed + beta
        assert inside == pytest.approx(math.exp(epsilon * steps) * outside, rel=1e-9)
    if beta == 0 and steps == 2:
        assert printed == pytest.approx(1 / (2 * (1 + math.exp(2 * epsilon))))
        assert epsilon > 1 or printed >= 1 / (4 + 16 * epsilon) - 1e-12
        assert bound.value == pytest.approx(math.exp(-epsilon) / 4)


def test_known_answer_at_epsilon_one() -> None:
    assert vc.printed_error(epsilon=1.0, steps=2) == pytest.approx(0.0596, abs=5e-5)


@BOTH
def test_the_paper_s_own_figure_does_not_depend_on_the_reader_s_relation(neighbours: Neighbours) -> None:
    # Theorem 3.11's proof: |T Δ T^| <= 2 and so e^(2ε), without β; only what follows it is about the reader's promise.
    bound = vc.error_bound(epsilon=1.0, repeats=1, neighbours=neighbours, beta=0.05, points=64)
    steps = replacement_steps(neighbours)
    assert "e^(2ε) in total and β = 0: 0.0596, or 0.05 simplified." in bound.note
    assert bound.note.endswith(f"and β = 0.05 gives {vc.printed_error(epsilon=1.0, steps=steps, beta=0.05):.3g}.")
    assert f"({neighbours.words})" in bound.statement
    assert "simplified" not in vc.error_bound(epsilon=1.5, repeats=1, neighbours=neighbours).note


@BOTH
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("repeats", [1, 2])
def test_two_points_exactly(epsilon: float, repeats: int, neighbours: Neighbours) -> None:
    # On two points a release within α < 1/2 names the data, so (α, β) can be promised if and only if β reaches the
    # confusion of both data sets, whatever α; below it, only α >= 1/2.
    limit = 1 - best_recovery(points=2, repeats=repeats, epsilon=epsilon, delta=0.0, neighbours=neighbours)
    settings: dict[str, Any] = {"epsilon": epsilon, "repeats": repeats, "neighbours": neighbours, "points": 2}
    assert vc.error_bound(**settings, beta=limit - 1e-6).value == 0.5
    assert vc.error_bound(**settings, beta=limit + 1e-6).value < 1e-5


def test_sure_promises_are_trivial() -> None:
    bound = vc.error_bound(epsilon=1.0, repeats=1, neighbours=Neighbours.REPLACE_ONE, beta=0.0, points=10_000)
    assert bound.value == 0.5


def test_two_worlds_tell_a_leak_from_a_private_release(seed: int) -> None:
    sampler = Preview(seed)
    data = np.array([[1, 1, 0, 0], [0, 1, 1, 0]])  # the second has point 0 swapped out for point 2
    private, leaking = (
        [
            vc.reconstruct(released(sampler.draw(NoisyCounts(row[None], epsilon=loss, sensitivity=2), 4000), rows=2))
            for row in data
        ]
        for loss in (1.0, 12.0)
    )
    worlds = halves.two_worlds(*private, point=0, epsilon=1.0, steps=1, confidence=1 - 1e-6)
    assert not worlds.impossible
    assert worlds.inside_interval[0] <= worlds.inside <= worlds.inside_interval[1]
    assert halves.two_worlds(*leaking, point=0, epsilon=1.0, steps=1, confidence=1 - 1e-6).impossible


# Fat-shattering.


@pytest.mark.slow
@given(
    counts=arrays(np.int64, (2, 6), elements=st.integers(-3, 5)),
    levels=arrays(np.float64, 6, elements=st.floats(0.4, 0.6)),
)
def test_the_fat_sort_is_the_search(counts: Integers, levels: Floats) -> None:
    scale = 0.3
    guess = fat_shattering.reconstruct(released(counts, rows=3), levels=levels, scale=scale)
    candidates = halves.all_halves(6)
    weights = fat_shattering.weights(half=candidates, levels=levels, scale=scale)
    own = (weights * candidates).sum(axis=1)
    shortfall = own - counts @ weights.T
    weight = fat_shattering.weights(half=guess.chosen, levels=levels, scale=scale)
    reached = (weight * guess.chosen).sum(axis=1) - (weight * counts).sum(axis=1)
    np.testing.assert_allclose(reached, shortfall.min(axis=1), atol=1e-9)
    # The witness: mass is minus the shortfall, up to what does not depend on the half.
    constant = ((levels - scale) * counts).sum(axis=1) - 3 * scale
    np.testing.assert_allclose(-guess.mass, reached + constant, atol=1e-9)


@pytest.mark.slow
@given(levels=arrays(np.float64, 6, elements=st.floats(0.4, 0.6)), seed=st.integers(0, 1000))
def test_own_data_are_worth_the_gap(levels: Floats, seed: int) -> None:
    # Lemma 1 with the real spread: q_T(T) - q_T(T') >= (2γ - spread) |T \ T'|, and so at least γ |T \ T'|.
    scale, spread = 0.25, float(np.ptp(levels))
    truth = halves.random_half(Preview(seed), points=6)[0]
    weight = fat_shattering.weights(half=truth, levels=levels, scale=scale)
    for other in halves.all_halves(6):
        gap = weight[truth].sum() - weight[other].sum()
        assert gap >= (2 * scale - spread) * (truth & ~other).sum() - 1e-12


@BOTH
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_constants_of_the_proofs(epsilon: float, neighbours: Neighbours) -> None:
    settings: dict[str, Any] = {"points": 40, "epsilon": epsilon, "neighbours": neighbours}
    widest = fat_shattering.constants(**settings, scale=0.2, spread=0.2)
    steps = replacement_steps(neighbours)
    assert widest.paper == pytest.approx(0.2 * 40 / (4 * (1 + math.exp(epsilon))))
    assert widest.corrected == pytest.approx(0.2 * 40 / (4 * (1 + math.exp(steps * epsilon))))
    assert widest.best == pytest.approx(0.2 * 10 * confusion(epsilon=epsilon, steps=steps))
    assert widest.best >= widest.corrected * (1 - 1e-12)
    # All levels and the scale at one half are yes-or-no queries: the same bound.
    plain = fat_shattering.error_bound(**settings, scale=0.5, spread=0.0, beta=0.01)
    twin = vc.error_bound(epsilon=epsilon, repeats=1, neighbours=neighbours, beta=0.01)
    assert plain.value == pytest.approx(twin.value, abs=1e-9)


@pytest.mark.slow
@given(
    levels=arrays(np.float64, st.integers(1, 40), elements=st.floats(0.15, 0.85)),
)
def test_alike_levels_are_found(levels: Floats) -> None:
    scale = 0.15
    chosen = fat_shattering.alike(levels=levels, scale=scale)
    assert len(chosen) % 2 == 0 and (len(chosen) == 0 or np.ptp(levels[chosen]) <= scale + 1e-9)
    assert len(chosen) >= fat_shattering.guaranteed_points(dimension=len(levels), scale=scale)
    largest = max(((levels >= start) & (levels <= start + scale)).sum() for start in levels)
    assert len(chosen) >= largest - largest % 2


@pytest.mark.parametrize("scale", [0.05, 0.1, 0.25, 0.3, 0.4, 0.5])
def test_at_least_the_papers_share_of_points(scale: float) -> None:
    for dimension in range(2, 200):
        assert fat_shattering.guaranteed_points(dimension=dimension, scale=scale) > scale * dimension - 2


def test_levels_that_do_not_fit_are_refused() -> None:
    release = released(np.array([[1, 0, 1, 0]]), rows=2)
    with pytest.raises(ParameterError, match="spread"):
        fat_shattering.reconstruct(release, levels=np.array([0.1, 0.3, 0.2, 0.5]), scale=0.1)
    with pytest.raises(ParameterError, match="Levels"):
        fat_shattering.reconstruct(release, levels=np.array([0.1, 0.3, 0.2, 0.2]), scale=0.3)
    with pytest.raises(ParameterError, match="shattered points alone"):
        fat_shattering.reconstruct(release, levels=np.full(6, 0.5), scale=0.3)
    with pytest.raises(ParameterError, match="scale"):
        fat_shattering.reconstruct(release, levels=np.full(4, 0.5), scale=0.6)


def test_a_line_serves_as_well() -> None:
    domain = Number(bits=2)
    release = counts_release(Problem(domain=domain, queries=Cells(domain=domain), n=2), np.array([[0, 2, 0, 1]]))
    np.testing.assert_array_equal(vc.reconstruct(release).chosen, [[False, True, False, True]])
