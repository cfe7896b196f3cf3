"""Reconstruction's pictures: what is secret, what is released, where no private method can be."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest

from dpcore.core import Floats, Neighbours
from dpcore.limits.attacks import vc
from dpcore.limits.attacks.halves import Halves, TwoWorlds, two_worlds
from dplab.limits.reconstruction import EPSILONS, Attack, Recovery, recovery_bounds
from pages.charts.picture import Curve, Dots, Picture, Region, Rule, Wall, numbers
from pages.charts.words import percent_down, percent_up
from pages.learn.pictures import epsilon_grid
from pages.learn.vc import figure
from tests.kit.statistics import binomial_chances
from tests.pages.learn.test_lessons import lesson
from tests.pages.lessons import checked, interval
from tests.pages.opening import texts

REPLACE = Neighbours.REPLACE_ONE
KEYS = ("identity", "subset-sums")
TITLES = {"identity": "Identity histogram", "subset-sums": "Subset sums"}
ATTACK = Attack(
    truth=np.array([True, True, False, False]),
    released=np.array([5.0, -1.0, 2.0, 0.5]),
    chosen=np.array([True, False, True, False]),
    refused=False,
)


def seen(*, shares: Floats | None = None, errors: Floats | None = None) -> Recovery:
    """Runs that find what they are told to, (2, E, R) each."""
    usual = np.ones((2, len(EPSILONS), 20))
    usual[0] = 0.5
    return Recovery(
        keys=KEYS,
        shares=usual if shares is None else shares,
        errors=usual if errors is None else errors,
        delta=0.0,
    )


def recovered(*, neighbours: Neighbours = REPLACE, epsilon: float = 1.0, guess: float = 0.9) -> Picture:
    forbidden = recovery_bounds(epsilon_grid(epsilon), points=8, repeats=1, neighbours=neighbours, delta=0.0)
    return figure.recovered_shares(recovery=seen(), titles=TITLES, walls=forbidden, epsilon=epsilon, guess=guess)


def accuracy(errors: Floats, *, points: int = 8) -> Picture:
    forbidden = recovery_bounds(epsilon_grid(1.0), points=points, repeats=1, neighbours=REPLACE, delta=0.0)
    return figure.accuracy(recovery=seen(errors=errors), titles=TITLES, walls=forbidden, epsilon=1.0, n=4)


def test_one_run_tells_the_secret_half_from_the_others_and_crosses_what_is_wrong() -> None:
    picture = figure.one_run(ATTACK)
    checked(picture)
    secret, others = picture.one(Dots, role="true"), picture.one(Dots, name="not in it")
    assert numbers(secret.x).tolist() == [1, 2] and numbers(secret.y).tolist() == [5, -1]
    assert numbers(others.x).tolist() == [3, 4] and numbers(others.y).tolist() == [2, 0.5]
    wrong = picture.one(Dots, role="ink")
    assert numbers(wrong.x).tolist() == [2, 3] and numbers(wrong.y).tolist() == [-1, 2]
    cut = numbers(picture.one(Curve, role="quiet").y)[0]
    np.testing.assert_array_equal(ATTACK.released > cut, ATTACK.chosen)
    assert "finds 1 of the 2" in picture.sentence and "50%" in picture.sentence
    assert secret.hover is not None
    assert "rows released: −1; in the secret half; the attacker says not in" in secret.hover[1]


@pytest.mark.parametrize("points", [48, 64])
def test_points_that_are_not_drawn_are_counted(points: int) -> None:
    truth = np.arange(points) % 2 == 0
    picture = figure.one_run(Attack(truth=truth, released=truth * 3.0, chosen=truth, refused=False))
    checked(picture)
    assert sum(len(numbers(dots.x)) for dots in picture.find(Dots)) == 48
    assert ("the first 48 of 64 points are shown" in picture.sentence) == (points > 48)
    assert len(picture.table["secret"]) == points


def test_a_refusal_is_said() -> None:
    picture = figure.one_run(replace(ATTACK, refused=True))
    assert "The mechanism gave no answer (⊥)" in picture.sentence and not picture.find(Dots)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_more_than_privacy_allows_is_hatched_above_the_ceiling(neighbours: Neighbours) -> None:
    picture = recovered(neighbours=neighbours)
    checked(picture)
    wall = picture.one(Wall, role="impossible")
    assert (numbers(wall.y) < wall.end).all()
    for at, share in zip(numbers(wall.x).tolist(), numbers(wall.y).tolist(), strict=True):
        assert share == vc.recovery_ceiling(epsilon=at, repeats=1, neighbours=neighbours)
    assert numbers(wall.y)[0] < 0.6 and numbers(wall.y)[-1] > 0.99
    # Where rows come and go a swap is two steps: more is allowed, and the sentence follows.
    allowed = math.e / (1 + math.e) if neighbours is REPLACE else 1 - math.exp(-1) / 2
    assert f"no attack finds more than {percent_up(allowed)}" in picture.sentence
    assert "find 50% of the secret half (you guessed 90%)" in picture.sentence
    guess = picture.one(Rule, role="guess")
    assert guess.y == 0.9 and picture.one(Rule, role="ink").x == 1.0


def test_where_all_is_found_a_blind_guess_is_still_above_the_axis() -> None:
    everything = replace(seen(), shares=np.ones((2, len(EPSILONS), 20)))
    forbidden = recovery_bounds(epsilon_grid(10.0), points=8, repeats=10, neighbours=REPLACE, delta=0.0)
    checked(figure.recovered_shares(recovery=everything, titles=TITLES, walls=forbidden, epsilon=10.0, guess=0.9))


def test_a_mechanism_has_its_own_colour_and_one_that_is_not_in_the_catalogue_has_another() -> None:
    for picture in (recovered(), accuracy(np.full((2, len(EPSILONS), 20), 0.3))):
        own, other = picture.one(Dots, role="mechanism:identity"), picture.one(Dots, name="Subset sums")
        assert own.name == "Identity histogram" and other.role.startswith("other-")
        # Dots of two mechanisms at one ε stand beside each other.
        assert not set(numbers(own.x)) & set(numbers(other.x))
        np.testing.assert_allclose(numbers(own.x) / EPSILONS, numbers(own.x)[0] / EPSILONS[0])
    assert (numbers(recovered().one(Dots, role="mechanism:identity").y) == 0.5).all()


def test_what_nobody_can_promise_is_hatched_below_and_95_percent_of_errors_are_drawn() -> None:
    errors = np.full((2, len(EPSILONS), 20), 0.02)
    errors[0, :, 10:] = 0.3  # half of the runs
    errors[0, 0, :2] = math.inf  # more than one in twenty refused
    errors[1] = 0.0
    picture = accuracy(errors)
    checked(picture)
    wall = picture.one(Wall, role="impossible")
    assert wall.end == picture.y.low and (numbers(wall.y) > 0).all() and numbers(wall.y)[0] > wall.end
    own, other = picture.one(Dots, role="mechanism:identity"), picture.one(Dots, name="Subset sums")
    assert len(numbers(own.x)) == len(EPSILONS) - 1 and (numbers(own.y) == 0.3).all()
    # No error at all has no place on a logarithmic axis: it stands at the floor and says that it is none.
    assert (numbers(other.y) < 0.02).all() and (numbers(other.y) > wall.end).all()
    assert other.hover is not None and "error of 95% of releases at most 0% (0 of 4 rows)" in other.hover[0]
    assert picture.y.rows == 4  # the same in whole rows
    _, least = recovery_bounds(np.array([1.0]), points=8, repeats=1, neighbours=REPLACE, delta=0.0).at(1.0)
    assert least in numbers(wall.y)
    assert f"No private method can guarantee less than {percent_down(least)}" in picture.sentence
    # Of 34 points it is 11.76…%, and 11.8% would not hold; no error of 30.004% is at most 30%.
    picture = accuracy(np.where(errors == 0.3, 0.30004, errors), points=34)
    assert "have a worst error of at most 30.1%." in picture.sentence
    assert "guarantee less than 11.7%" in picture.sentence


def test_a_share_above_all_rows_is_not_said_to_be_of_n() -> None:
    picture = accuracy(np.full((2, len(EPSILONS), 20), 2.5))
    assert "have a worst error of at most 2.5·n." in picture.sentence


def told(inside: float, allowed: float = 0.03) -> TwoWorlds:
    return TwoWorlds(
        inside=inside,
        inside_interval=(inside - 0.01, inside),
        outside=0.0,
        outside_interval=(0.0, 0.01),
        allowed=allowed,
    )


def test_worlds_say_what_is_impossible_and_hatch_it_in_the_first_world() -> None:
    caught = figure.worlds(swap=told(1.0), epsilon=1.0, claimed=True)
    checked(caught)
    assert ", so the claim is false" in caught.sentence
    beyond = caught.one(Region, role="impossible")
    dots = caught.one(Dots, role="released")
    assert beyond.x == (0.03, 1.0) and beyond.y is not None
    inside, outside = numbers(dots.y).tolist()
    assert caught.y.labels[int(inside)] == "in the data"
    assert beyond.y[0] < inside < beyond.y[1] and not beyond.y[0] < outside < beyond.y[1]
    assert numbers(dots.x).tolist() == [1.0, 0.0]
    assert interval(dots).T.tolist() == [[0.99, 1.0], [0.0, 0.01]]
    sound = figure.worlds(swap=told(0.02), epsilon=1.0, claimed=True)
    assert "no contradiction" in sound.sentence
    free = figure.worlds(swap=told(0.9, allowed=1.0), epsilon=10.0, claimed=False)
    checked(free)
    assert not free.find(Region) and "private for any ε" in free.sentence and not free.find(Curve)


def test_both_intervals_of_two_worlds_hold_together_with_95_percent() -> None:
    """Exactly, for every pair of chances of a grid; the control: two intervals of 95% each do not."""
    words = texts(lesson("vc", **{"vc-picture": "Two data sets", "vc-points": "8"}))
    assert re.search(r"[\d,]+ releases of each data set; all intervals hold together with 95% confidence\.", words)
    assert signature(two_worlds).parameters["confidence"].default == 0.95
    trials, chances = 100, np.linspace(0.005, 0.995, 199)

    def world(hits: int) -> Halves:
        chosen = (np.arange(trials) < hits)[:, None]
        return Halves(chosen=chosen, mass=np.zeros(trials), refused=np.zeros(trials, dtype=np.bool_))

    def least(confidence: float) -> float:
        covered = np.zeros(len(chances))
        for hits in range(trials + 1):
            seen = two_worlds(world(hits), world(hits), point=0, epsilon=1.0, steps=1, confidence=confidence)
            assert seen.inside_interval == seen.outside_interval
            low, high = seen.inside_interval
            law = np.array([binomial_chances(trials, float(chance))[hits] for chance in chances])
            covered += law * ((low <= chances) & (chances <= high))
        return float(covered.min()) ** 2  # the worlds are independent

    assert least(0.95) >= 0.95 > least(0.9)
