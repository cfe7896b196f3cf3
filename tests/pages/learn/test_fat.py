"""Fat-shattering's pictures: whom a query weighs more, shares at every scale, errors that cannot be avoided."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import Neighbours
from dpcore.limits.attacks import fat_shattering
from dplab.limits.reconstruction import EPSILONS
from dplab.limits.weighted_halves import AttackedHalf, attack, measured_errors, unavoidable, uneven_levels
from pages.charts.picture import Curve, Dots, Rule, Wall, numbers
from pages.charts.words import significant
from pages.learn.fat import figure
from pages.learn.pictures import epsilon_grid
from tests.pages.learn.test_lessons import lesson
from tests.pages.lessons import checked, interval
from tests.pages.opening import texts

SCALES = (0.01, 0.1, 0.5)


def one(points: int = 4) -> AttackedHalf:
    """A half of every second person, guessed wrong about the second and the third."""
    truth = np.arange(points) % 2 == 0
    chosen = truth.copy()
    chosen[[1, 2]] = ~chosen[[1, 2]]
    return AttackedHalf(truth=truth, levels=np.linspace(0.45, 0.55, points), chosen=chosen, shares=np.ones((3, 5)))


def test_a_query_weighs_its_own_half_above_the_levels_and_the_others_below() -> None:
    picture = figure.weights(one(), scale=0.1)
    checked(picture)
    secret, others = picture.one(Dots, role="true"), picture.one(Dots, name="the others")
    assert numbers(secret.x).tolist() == [1, 3] and numbers(others.x).tolist() == [2, 4]
    levels = one().levels
    np.testing.assert_allclose(numbers(secret.y), levels[[0, 2]] + 0.1)
    np.testing.assert_allclose(numbers(others.y), levels[[1, 3]] - 0.1)
    # The stem goes from the level to the weight.
    np.testing.assert_allclose(interval(secret), np.array([levels[[0, 2]], levels[[0, 2]] + 0.1]))
    np.testing.assert_allclose(interval(others), np.array([levels[[1, 3]] - 0.1, levels[[1, 3]]]))
    assert numbers(picture.one(Dots, role="ink").x).tolist() == [2, 3]
    assert "weights 0.2 larger than the others" in picture.sentence
    assert "wrong about 2 of 4 people (×)" in picture.sentence


@pytest.mark.parametrize(
    ("points", "told"), [(32, "of 32 people (×)."), (64, "of 64 people (×); the first 32 of 64 are shown.")]
)
def test_people_who_are_not_drawn_are_counted(points: int, told: str) -> None:
    picture = figure.weights(one(points), scale=0.1)
    checked(picture)
    drawn = [*picture.find(Dots, role="true"), *picture.find(Dots, name="the others")]
    assert picture.sentence.endswith(told) and sum(len(numbers(dots.x)) for dots in drawn) == 32


def test_the_same_releases_are_attacked_at_every_scale(seed: int) -> None:
    seen = attack(
        points=16,
        scale=0.1,
        scales=SCALES,
        spread=0.5,
        epsilon=5.0,
        neighbours=Neighbours.REPLACE_ONE,
        seed=seed % 1000,
    )
    picture = figure.by_scale(scales=SCALES, shares=seen.shares, scale=0.1)
    checked(picture)
    dots = picture.one(Dots, role="mechanism:identity")
    assert numbers(dots.x).tolist() == list(SCALES)
    np.testing.assert_allclose(numbers(dots.y), seen.shares.mean(axis=1))
    assert picture.one(Rule, role="ink").x == 0.1
    # The attacker scales the weights away; uneven levels matter a little.
    assert np.ptp(seen.shares.mean(axis=1)) < 0.05 and seen.shares.mean() > 0.7
    assert np.ptp(seen.levels) == pytest.approx(0.05) and len(seen.chosen) == 16


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_the_corrected_constant_is_never_above_the_paper_s(neighbours: Neighbours, epsilon: float) -> None:
    forbidden = unavoidable(epsilon_grid(epsilon), points=8, scale=0.1, spread=0.05, neighbours=neighbours)
    measured = np.linspace(0, 1, len(EPSILONS) * 20).reshape(len(EPSILONS), 20)
    picture = figure.errors_by_epsilon(forbidden=forbidden, points=8, epsilon=epsilon, measured=measured)
    checked(picture)
    corrected, paper = picture.one(Curve, role="theory"), picture.one(Curve, name="the paper's constant")
    assert corrected.name == "corrected constant"
    assert (numbers(corrected.y) <= numbers(paper.y)).all()
    wall = picture.one(Wall, role="impossible")
    # Where nothing is impossible the wall leaves the picture: its edge along the floor would deny the floor's error.
    assert wall.end == picture.y.low and (numbers(wall.y) != wall.end).all() and (numbers(wall.y) > 0).all()
    dots = picture.one(Dots, role="mechanism:identity")
    np.testing.assert_allclose(numbers(dots.y), np.quantile(measured, 0.95, axis=1))
    np.testing.assert_allclose(interval(dots)[0], np.quantile(measured, 0.5, axis=1))
    exact = fat_shattering.constants(points=8, scale=0.1, spread=0.05, epsilon=epsilon, neighbours=neighbours)
    assert f"the corrected one {significant(exact.corrected)}. " in picture.sentence
    assert f"paper's constant gives {significant(exact.paper)} rows" in picture.sentence


def test_no_weighted_error_of_identity_is_where_none_can_be(seed: int) -> None:
    """95% of the releases err by more than the wall, at every ε that is measured."""
    levels = np.full(16, 0.5)
    errors = measured_errors(points=16, levels=levels, scale=0.2, neighbours=Neighbours.REPLACE_ONE, seed=seed % 1000)
    wall = unavoidable(np.array(EPSILONS), points=16, scale=0.2, spread=0.0, neighbours=Neighbours.REPLACE_ONE)
    assert errors.shape == (len(EPSILONS), 200)
    assert (np.quantile(errors, 0.95, axis=1) >= wall.best).all()


@pytest.mark.parametrize(("scale", "taken", "left"), [(0.5, 1.0, 0.0), (0.01, 0.51, 0.49)])
def test_questions_weigh_in_and_out_as_the_guess_says(scale: float, taken: float, left: float) -> None:
    told = "The weights 1 and 0 (γ = 0.5) become about 0.51 and 0.49 (γ = 0.01)."
    assert told in texts(lesson("fat"))
    levels = uneven_levels(64, scale=scale, spread=0.5, seed=1)  # as the lesson opens
    assert np.abs(levels + scale - taken).max() < 0.005 and np.abs(levels - scale - left).max() < 0.005
