"""The parts of the error add up and are what they are called; half-circles are intervals of angles, or their rest."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import Intervals
from dpcore.core import Dataset, Floats, Problem
from dpcore.data.bundled import VECTORS, vectors_of
from dpcore.data.columns import is_number
from dpcore.data.sources import generated_vectors
from dpcore.data.sphere import Halfspaces, Sphere
from dpcore.mechanisms.halfspaces.agreement import agreement
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.randomness import Preview
from dplab.halfspace_parts import (
    CIRCLE,
    angle_to_net,
    angles,
    circle_of_errors,
    count_sides,
    directions_at,
    expected_after_projection,
    half_circles,
    parts,
    predicted,
    preview_releases,
    sides,
    with_unmet_conditions,
)
from tests.kit.halfspaces import dataset_of, problem_of


def rows_of(dimensions: int, n: int, seed: int) -> Floats:
    """Rows in all directions, more of them on one side."""
    return np.random.default_rng(seed).normal(loc=0.3, size=(n, dimensions))


@pytest.mark.parametrize(("dimensions", "projected"), [(2, 2), (3, 3), (3, 2), (8, 1), (8, 4)])
def test_the_parts_by_brute_force(dimensions: int, projected: int, seed: int) -> None:
    problem = problem_of(dimensions, 150)
    dataset = dataset_of(problem, rows_of(dimensions, 150, seed))
    mechanism = HalfspaceCounts(projected=projected, projections=3)
    state = mechanism.prepare(dataset, problem)
    release = mechanism.run(state, Preview(seed), 6)
    y = np.random.default_rng(seed + 1).normal(size=dimensions)
    decomposed = parts(state, release, y)
    errors = decomposed.errors()
    assert decomposed.truth == pytest.approx(np.mean(dataset.records @ y > 0))
    np.testing.assert_allclose(errors["projection"] + errors["net"] + errors["noise"], errors["total"], atol=1e-12)
    np.testing.assert_allclose(decomposed.released, release.answer(y[None])[:, 0])
    few = parts(state, release, y, max_trials=4)
    for name in ("projected", "netted", "released"):
        np.testing.assert_array_equal(getattr(few, name), getattr(decomposed, name)[:4])
    if dimensions <= projected:
        assert (errors["projection"] == 0).all()
        assert np.ptp(decomposed.netted) == 0
        nearest = mechanism.net(problem)[np.abs(mechanism.net(problem) @ y).argmax()]
        cosine = abs(nearest @ y) / np.linalg.norm(y) / np.linalg.norm(nearest)
        assert angle_to_net(mechanism, problem, y) == pytest.approx(np.arccos(cosine), abs=1e-5)
    else:
        for trial, matrices in enumerate(release.signs):
            agreement = [np.mean([(a @ x) @ (a @ y) > 0 for x in dataset.records]) for a in matrices.astype(float)]
            assert decomposed.projected[trial] == pytest.approx(np.mean(agreement))
        assert angle_to_net(mechanism, problem, y) == mechanism.reach(problem)


def test_the_expected_share_is_the_mean_agreement(seed: int) -> None:
    source = generated_vectors(n=500, dimensions=6, margin=0.3, seed=seed % 1000)
    records = source.dataset().records
    towards = source.on(Sphere).unit(np.random.default_rng(seed).normal(size=(5, 6)))
    for dimensions in (1, 3):
        exact = [agreement(records @ y, dimensions=dimensions).mean() for y in towards]
        np.testing.assert_allclose(expected_after_projection(records, towards, dimensions=dimensions), exact, atol=1e-3)


@pytest.mark.slow
def test_dense_rows_show_the_expected_projection_error(seed: int) -> None:
    """The digits' 64 pixels: the observed mean is within what 200 releases leave unsure of the formula's."""
    source = vectors_of("digits")
    dataset = source.dataset()
    problem = Problem(domain=source.domain, queries=Halfspaces(domain=source.domain), n=dataset.n)
    y = VECTORS["digits"].reading.plane()[0]
    for projected in (1, 2, 3):
        mechanism = HalfspaceCounts(projected=projected, projections=8, directions=16)
        state = mechanism.prepare(dataset, problem)
        decomposed = parts(state, mechanism.run(state, Preview(seed), 200), y)
        expected = expected_after_projection(dataset.records, y[None], dimensions=projected)[0] - decomposed.truth
        errors = decomposed.errors()
        unsure = 5 * errors["projection"].std() / np.sqrt(200)
        assert abs(errors["projection"].mean() - expected) < unsure + 0.005
        assert abs(expected) > 0.04
        # 200 draws leave about 5% of a deviation unsure; a factor of two would show.
        assert errors["noise"].std() == pytest.approx(mechanism.noise_deviation(problem), rel=0.3)


def test_conditions_that_the_rows_break_take_the_promise_away() -> None:
    problem = problem_of(2, 1000, margin=0.5)
    bound = HalfspaceCounts(directions=16).accuracy(problem, 0.05)
    assert bound.applies and with_unmet_conditions(bound, margin=0.5, with_margin=3, without_direction=0) == bound
    for directions, zero_rows, conditions in (
        (0, 0, ["directions must have margin 0.5 (none has)"]),
        (3, 2, ["every row has a direction (2"]),
    ):
        bound_here = with_unmet_conditions(bound, margin=0.5, with_margin=directions, without_direction=zero_rows)
        assert not bound_here.applies and bound_here.value == bound.value
        added = bound_here.assumptions[len(bound.assumptions) :]
        assert all(words in each.text and not each.met for words, each in zip(conditions, added, strict=True))


def plane_rows(n: int, seed: int) -> Dataset:
    """Rows in the plane, one of them without a direction."""
    rows = rows_of(2, n, seed)
    rows[0] = 0.0
    return dataset_of(problem_of(2, n), rows)


def test_angles_of_rows(seed: int) -> None:
    dataset = plane_rows(200, seed)
    turned = angles(dataset)
    assert is_number(turned.domain)
    assert turned.records[0] == turned.domain.ordered and (turned.records[1:] < turned.domain.ordered).all()
    middle = np.radians(turned.domain.points()[turned.records[1:]])
    cosines = np.cos(middle) * dataset.records[1:, 0] + np.sin(middle) * dataset.records[1:, 1]
    assert np.degrees(np.arccos(np.clip(cosines, -1, 1))).max() <= turned.domain.width


def test_half_circles_are_intervals_or_what_they_leave(seed: int) -> None:
    dataset = plane_rows(300, seed)
    turned = angles(dataset)
    domain = turned.domain
    assert is_number(domain)
    intervals = Intervals(domain=domain)
    histogram = turned.histogram[None, :].astype(np.float64)
    towards = np.array([[np.cos(a), np.sin(a)] for a in np.radians([5.0, 90.0, 200.0, 355.0])])
    shares = half_circles(histogram, domain, towards, n=300)[0]
    for share, degrees in zip(shares, (5.0, 90.0, 200.0, 355.0), strict=True):
        low, high = (degrees - 90) % 360, (degrees + 90) % 360
        wraps = low > high
        # The cells whose middle lies inside.
        points = domain.points()
        inside = (points > min(low, high)) & (points < max(low, high))
        first, last = np.flatnonzero(inside)[[0, -1]]
        between = intervals.answer(histogram, np.array([intervals.index(int(first), int(last))]))[0, 0]
        fitting = histogram[0, : domain.ordered].sum()
        assert share == pytest.approx((fitting - between if wraps else between) / 300)
    queries = problem_of(2, 300).queries
    assert isinstance(queries, Halfspaces)
    queries = Halfspaces(domain=queries.sphere)
    # A cell of a third of a degree at either end may count for the other side.
    near = queries.near(dataset.records, towards, width=np.radians(domain.width))
    assert (np.abs(shares - queries.truth(dataset.records, towards)) <= near).all()


def test_crowded_angles_are_better_released_as_intervals_and_spread_ones_are_not(seed: int) -> None:
    """The link between the two, both ways: at the same epsilon and n, by where the rows lie."""
    better = {}
    for key in ("penguins", "penguins-raw"):
        source = vectors_of(key)
        dataset = source.dataset()
        problem = Problem(domain=source.domain, queries=Halfspaces(domain=source.domain), n=dataset.n)
        mechanism = HalfspaceCounts(epsilon=1.0, directions=8)
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 100)
        circle = circle_of_errors(dataset, release, epsilon=1.0, alpha=0.1, seed=seed)
        assert all(errors.shape == (100, len(CIRCLE)) and (errors >= 0).all() for errors in circle.errors.values())
        better[key] = circle.worst("intervals-recursive") / circle.worst("halfspaces")
    assert better["penguins-raw"] < 0.5
    assert better["penguins"] > 1.0


def test_sides_of_a_direction_leave_out_rows_without_one() -> None:
    problem = problem_of(2, 4)
    dataset = dataset_of(problem, np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6], [0.0, 0.0]]))
    both_sides = sides(dataset, np.array([1.0, 0.0]), margin=0.7)
    assert both_sides.inside.tolist() == [True, True, False, False]
    assert (both_sides.share, both_sides.near) == (0.5, 0.5), "the row without a direction lies on the line"
    assert both_sides.nearest == pytest.approx(0.6, abs=1e-5)
    np.testing.assert_allclose(directions_at(np.array([0.0, 90.0]), np.eye(2)), np.eye(2), atol=1e-12)


@pytest.mark.parametrize("projected", [1, 3])
def test_what_is_predicted_of_the_parts_holds_of_most_releases(projected: int, seed: int) -> None:
    """Nine in ten for the noise, all for the net; and what is counted ahead is what the release counts."""
    records = np.random.default_rng(seed).standard_normal((500, 3))
    problem = problem_of(3, 500)
    mechanism = HalfspaceCounts(epsilon=1.0, projected=projected, directions=8, projections=4)
    state = mechanism.prepare(dataset_of(problem, records), problem)
    direction = np.array([0.6, 0.0, 0.8])
    signs = [*count_sides(mechanism, state, seed=seed, trials=100)]
    assert all(0 <= share <= 1 for share in signs)
    release = preview_releases(mechanism, state, seed=seed, trials=100)
    np.testing.assert_array_equal(release.outcomes(), mechanism.run(state, Preview(seed), 100).outcomes())
    decomposed = parts(state, release, direction)
    theory, errors = predicted(mechanism, state, direction, truth=decomposed.truth), decomposed.errors()
    low, high = theory["noise"]
    assert -low == high and ((errors["noise"] >= low) & (errors["noise"] <= high)).mean() > 0.8
    assert (errors["noise"] < low).any() or (errors["noise"] > high).any(), "90 in 100, and not all"
    if projected == 3:
        low, high = theory["net"]
        assert theory["projection"] == (0, 0)
        assert ((errors["net"] >= low - 1e-9) & (errors["net"] <= high + 1e-9)).all() and low <= 0 <= high
    else:
        assert theory["projection"][0] == theory["projection"][1] and "net" not in theory
