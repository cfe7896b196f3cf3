"""Losses of the net mechanism between two samples of one population, against enumeration and counts of candidates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcore.core import Floats, Integers, ParameterError
from dpcore.limits.bounds import distributional
from dpcore.limits.bounds.net_samples import draw_pairs, draw_sample, max_extent_difference
from dpcore.mechanisms.net.bands import Bands


def law(counts: Integers, *, points: int, epsilon: float) -> tuple[Integers, Floats]:
    """Extent and chance of every multiset of points, from the definition."""
    rows, cells = int(counts.sum()), len(counts)
    extents = []
    for places in itertools.combinations_with_replacement(range(cells), points):
        path = np.cumsum(np.bincount(places, minlength=cells))
        extents.append(int(np.abs(points * np.cumsum(counts) - rows * path).max()))
    weights = np.exp(-epsilon / (2 * points) * np.array(extents))
    return np.array(extents), weights / weights.sum()


def log_sum(counts: Integers, *, points: int, epsilon: float) -> float:
    """Logarithm of the sum of all weights, from the candidates counted within each extent."""
    rows, rate = int(counts.sum()), epsilon / (2 * points)
    limits = np.arange(rows * points + 1)
    kernel = Bands(counts=counts, points=points, rows=rows, free_end=False)
    logs = kernel.sums(limits[:, None], keep=False).logs() - rate * limits
    logs[:-1] += np.log(-np.expm1(-rate))  # within every limit from its extent on: a geometric series
    return float(np.logaddexp.reduce(logs))


@pytest.mark.parametrize(("rows", "points"), [(1, 1), (2, 3), (3, 2), (4, 4), (5, 3)])
def test_the_bound_is_below_the_loss_over_all_candidates(rows: int, points: int, seed: int) -> None:
    epsilon, pairs = 0.7, 8
    drawn = draw_pairs(rows=rows, points=points, pairs=pairs, seed=seed)
    generator = np.random.Generator(np.random.SFC64(seed))
    for bound in drawn.losses(epsilon):
        samples = [draw_sample(generator, rows) for _ in range(2)]
        before, after = (law(each, points=points, epsilon=epsilon)[1] for each in samples)
        assert bound <= np.abs(np.log(before / after)).max() + 1e-9
        exact = epsilon / (2 * points) * max_extent_difference(*samples, points=points)
        shift = log_sum(samples[1], points=points, epsilon=epsilon) - log_sum(
            samples[0], points=points, epsilon=epsilon
        )
        assert exact + shift == pytest.approx(np.log(before / after).max(), abs=1e-9)


@pytest.mark.parametrize("points", [1, 2, 3, 4])
def test_the_closed_form_is_the_most_over_all_candidates(points: int, seed: int) -> None:
    generator = np.random.Generator(np.random.SFC64(seed))
    for _ in range(40):
        near, far = generator.multinomial(7, generator.dirichlet(np.full(5, 0.5)), size=2)
        (near_law, _), (away, _) = (law(each, points=points, epsilon=1.0) for each in (near, far))
        assert max_extent_difference(near, far, points=points) == (away - near_law).max()


@pytest.mark.slow
def test_the_net_mechanism_has_no_distributional_privacy_at_its_epsilon() -> None:
    # Definition 7.2: 512 of 1,024 distinct people, no replacement; ε = 0.1. Half of all pairs lose about 0.9.
    rows, points, epsilon, pairs = 512, 8, 0.1, 8
    generator = np.random.Generator(np.random.SFC64(1))
    losses = []
    for _ in range(pairs):
        one, other = (draw_sample(generator, rows) for _ in range(2))
        shift = log_sum(one, points=points, epsilon=epsilon) - log_sum(other, points=points, epsilon=epsilon)
        rate = epsilon / (2 * points)
        losses.append(
            max(
                rate * max_extent_difference(other, one, points=points) + shift,
                rate * max_extent_difference(one, other, points=points) - shift,
            )
        )
    bounds = draw_pairs(rows=rows, points=points, pairs=pairs, seed=1).losses(epsilon)
    assert (bounds <= np.array(losses) + 1e-9).all()
    assert np.median(bounds) > 0.95 * np.median(losses)
    many = draw_pairs(rows=rows, points=points, pairs=400, seed=1).losses(epsilon)
    assert np.median(many) == pytest.approx(0.9, abs=0.07)


@pytest.mark.slow
def test_the_loss_grows_like_the_root_of_the_rows() -> None:
    medians = [np.median(draw_pairs(rows=n, points=8, pairs=200, seed=1).losses(0.1)) for n in (625, 2500, 10_000)]
    np.testing.assert_allclose(np.array(medians[1:]) / medians[:-1], 2, rtol=0.15)
    # At 10,000 rows nearly every pair is told apart, far more than by the paper's own bad example.
    share = float((draw_pairs(rows=10_000, points=8, pairs=400, seed=1).losses(0.1) >= 1).mean())
    assert share > 0.95 > 0.3 > distributional.separation(n=10_000, epsilon=0.1).far


@pytest.mark.parametrize("rows", [100, 1000, 10_000])
def test_the_net_mechanism_needs_an_epsilon_of_about_one_over_the_root_of_the_rows(rows: int) -> None:
    pairs = draw_pairs(rows=rows, points=8, pairs=60, seed=2)
    limit = pairs.max_epsilon(loss=1.0, beta=0.05)
    assert 1 < limit * rows**0.5 < 3
    # It is the least such number: at it 5% of the pairs, 3 of 60, lose more, and with a hundredth more 4 of 60 do.
    assert (pairs.losses(limit) > 1 + 1e-9).sum() == 3 and (pairs.losses(1.01 * limit) > 1).sum() >= 4
    with pytest.raises(ParameterError):
        pairs.max_epsilon(loss=0.0, beta=0.05)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_what_publishing_one_database_costs_is_counted(n: int) -> None:
    """All pairs of samples, one by one: of n coins with replacement, and of n of n + 1 distinct rows without."""
    coins = list(itertools.product((0, 1), repeat=n))
    subsets = list(itertools.combinations(range(n + 1), n))
    for samples, replacement in ((coins, True), (subsets, False)):
        pairs = list(itertools.product(samples, samples))
        distance = sum((one == samples[0]) != (other == samples[0]) for one, other in pairs) / len(pairs)
        assert distributional.giveaway(n=n, replacement=replacement) == pytest.approx(distance)


def test_one_database_is_noticed_without_replacement_alone() -> None:
    for n in (10, 100, 1000):
        allowed = distributional.differential_from(n=n)
        assert (
            distributional.giveaway(n=n, replacement=True) < allowed < distributional.giveaway(n=n, replacement=False)
        )
    with pytest.raises(ParameterError):
        distributional.giveaway(n=0, replacement=True)


def test_nothing_to_draw() -> None:
    with pytest.raises(ParameterError, match="1 to 1,000,000 rows"):
        draw_pairs(rows=0, points=8, pairs=1, seed=1)
