"""Attack me: exact counts give every secret back, private ones stay below the wall, and the picture says which."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtr

from dpcore.core import Booleans, Floats, finish, rounded_up
from dpcore.limits.attacks.curator import PrivateNoise
from dpcore.limits.attacks.subset_sum import least_squares
from dpcore.randomness import NoisyCounts, Preview
from dpcore.randomness.laws import laplace_mass
from dplab.limits.typed_bits import (
    GROUPS,
    LEVEL,
    LOSSES,
    PEOPLE,
    RUNS,
    TIMES,
    attack,
    best_possible,
    group_members,
    repeat_count,
    sweep,
)
from pages.charts.picture import Band, Curve, Dots, Mark, Rule, Wall, Words, numbers
from pages.charts.plotly import render
from pages.learn.attackme import figure
from pages.learn.attackme.lesson import BEFORE
from tests.kit import searched
from tests.pages.label_overlap import on_dots
from tests.pages.learn.test_page import opened, texts
from tests.pages.lessons import sound


def secret(seed: int) -> Booleans:
    return np.random.default_rng(seed).random(PEOPLE) < 0.5


@pytest.mark.parametrize("seed", range(20))
def test_exact_counts_give_every_answer_back(seed: int) -> None:
    found = attack(secret(seed), epsilon=None, seed=seed)
    assert found.share == 1 and found.groups.shape == (GROUPS, PEOPLE)
    for place in range(GROUPS):
        assert found.answers[place] == secret(seed)[group_members(found, place) - 1].sum()


def test_private_counts_stay_below_the_wall_and_a_loud_one_above_it() -> None:
    shares = np.concatenate([finish(sweep(secret(seed), seed=seed)) for seed in range(5)], axis=1)
    mean, best = shares.mean(axis=1), best_possible(np.array(LOSSES))
    spread = 0.5 / np.sqrt(5 * RUNS)  # at most: bits of one run are not independent
    assert (mean <= best + 4 * spread).all() and mean[0] < 0.55
    assert mean[-1] == 1
    # The control: counts with a hundredth of the noise that they claim are over the wall at ε = 1.
    assert mean[LOSSES.index(100.0)] > best[LOSSES.index(1.0)] + 4 * spread


@pytest.mark.parametrize("seed", range(5))
def test_the_sentence_has_the_means_at_1_and_1000_and_the_best_of_fair_coins(seed: int) -> None:
    shares = finish(sweep(secret(seed), seed=seed))
    sentence = figure.over_epsilon(shares=shares, epsilon=1.0, guess=0.5).sentence
    at_one, loud, at_most = (float(each) for each in re.findall(r"([\d.]+)%", sentence))
    assert at_one == pytest.approx(100 * float(shares[2].mean()), rel=0.006) and LOSSES[2] == 1
    assert loud == 100 and LOSSES[-1] == 1000 and (shares[-1] == 1).all()
    assert 0 <= at_most - 100 * np.e / (1 + np.e) < 0.1 and at_one < at_most


@pytest.mark.parametrize("loss", [0.1, 1.0, 100.0])
def test_the_loss_is_of_all_counts_together(loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[NoisyCounts] = []
    draw_of = Preview.draw

    def recorded(self: Preview, draw: Any, trials: int = 1) -> Any:
        if isinstance(draw, NoisyCounts):
            draws.append(draw)
        return draw_of(self, draw, trials)

    monkeypatch.setattr(Preview, "draw", recorded)
    found = attack(secret(1), epsilon=loss, seed=1)
    (draw,) = draws
    # One answer moves each count of a group that it is in by 1; discrete Laplace noise charges each of them alike.
    together = float(found.groups.sum(axis=0).max()) * draw.epsilon / draw.sensitivity
    assert loss / 4 < together <= loss
    finish(sweep(secret(1), seed=1))
    assert [each.epsilon for each in draws[1:]] == list(LOSSES)
    assert all(each.sensitivity >= found.groups.sum(axis=0).max() for each in draws)


@pytest.mark.parametrize("seed", range(5))
def test_the_attack_needs_the_groups_and_nothing_else(seed: int) -> None:
    asked = "An attacker knows only who is in which group. How many of the 16 answers follow from the"
    assert asked in texts(opened(lesson="attack-me"))
    found = attack(secret(seed), epsilon=None, seed=seed)
    guess = least_squares(found.groups, found.answers[None, :])
    assert (guess.bits[0] == secret(seed)).all()
    # The control: whoever takes other groups for those that were counted finds about as much as a coin.
    wrong = least_squares(attack(secret(seed), epsilon=None, seed=seed + 100).groups, found.answers[None, :])
    assert (wrong.bits[0] == secret(seed)).mean() < 0.9


def test_private_counts_at_epsilon_1_break_the_attack() -> None:
    """Exact counts give all, private ones no more than the best that anyone finds of fair coins; the button does it."""
    private = np.mean([attack(secret(seed), epsilon=1.0, seed=seed).share for seed in range(200)])
    assert private < best_possible(np.array([1.0]))[0] and abs(private - 0.5) < 0.1
    app = opened(lesson="attack-me", attack_me_shown="true")
    (button,) = (each for each in app.button if each.label == "Make the counts private")
    assert "With exact counts, least squares finds **16 of 16**" in texts(app)
    page_text = texts(button.click().run())
    match = searched(r"With noise at ε = 1, least squares finds \*\*(\d+) of 16\*\*", page_text)
    assert int(match[1]) < 16


def turned(marks: Iterable[Mark], name: str) -> list[int]:
    """People whose tile has a mark of this name."""
    (found,) = (mark for mark in marks if isinstance(mark, Dots) and mark.name == name)
    return np.flatnonzero(np.isfinite(numbers(found.x))).tolist()


@pytest.mark.parametrize("epsilon", [None, 1.0])
def test_tiles_turn_one_by_one_to_what_the_attacker_says_or_to_a_cross(epsilon: float | None) -> None:
    truth = secret(3)
    found = attack(truth, epsilon=epsilon, seed=3)
    shown = sound(figure.bits(truth=truth, attack=found))
    says, right = found.guess.bits[0], found.guess.bits[0] == truth
    assert bool(epsilon) == bool((~right).any())
    for count, frame in enumerate(shown.frames):
        marks, known = frame.marks.values(), np.arange(PEOPLE) < count
        assert turned(marks, "wrong") == np.flatnonzero(known & ~right).tolist()
        assert turned(marks, "“yes”, right") == np.flatnonzero(known & right & says).tolist()
        assert turned(marks, "“no”, right") == np.flatnonzero(known & right & ~says).tolist()
        assert turned(marks, "not yet") == list(range(count, PEOPLE))
    for name in frame.marks:
        assert turned(shown.marks, name) == turned(marks, name), "the picture is its last state"
    assert count == PEOPLE and f"{right.sum()} of {PEOPLE} secret answers" in shown.sentence
    assert [word.text for word in shown.find(Words)] == [*figure.NAMES]


def test_no_name_hides_a_tile() -> None:
    shown = figure.bits(truth=secret(3), attack=attack(secret(3), epsilon=1.0, seed=3))
    assert not (hidden := on_dots(shown, render(shown, badge="", dark=False))), hidden


@pytest.mark.parametrize("epsilon", [None, 3.0])
def test_nobody_is_drawn_beyond_the_wall(epsilon: float | None) -> None:
    shares = np.linspace(0.5, 1, len(LOSSES))[:, None] * np.ones(4)
    shown = sound(figure.over_epsilon(shares=shares, epsilon=epsilon, guess=0.5))
    curve, wall = shown.one(Curve, role="theory"), shown.one(Wall, role="impossible")
    np.testing.assert_array_equal(numbers(curve.y), numbers(wall.y))
    np.testing.assert_allclose(numbers(curve.y), best_possible(numbers(curve.x)))
    assert wall.end == 1.05 and shown.one(Rule, role="guess").y == 0.5
    assert [rule.x for rule in shown.find(Rule, role="ink")] == ([] if epsilon is None else [epsilon])
    dots = shown.one(Dots, role="released")
    assert numbers(dots.x).tolist() == list(LOSSES) and numbers(dots.y) == pytest.approx(shares.mean(axis=1))


FALSE_ALARM = 1e-6


def law_of_sum(times: int, *, epsilon: float) -> Floats:
    """Pr[|sum of so many noises at ε each| = s] for s = 0, 1, …, by plain convolution."""
    reach = round(40 / epsilon) + 1
    one = laplace_mass(np.arange(-reach, reach + 1), scale=1 / epsilon)
    law = one
    for _ in range(times - 1):
        law = np.convolve(law, one)
    middle = len(law) // 2
    return np.concatenate([law[middle : middle + 1], law[middle + 1 :] + law[:middle][::-1]])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 1000.0])
def test_the_interval_of_an_average_is_that_of_the_exact_law(epsilon: float) -> None:
    repeated = repeat_count(secret(1), epsilon=epsilon, seed=1)
    for place, times in enumerate(TIMES[:4]):
        for half, of_one in ((repeated.fresh[place], epsilon), (repeated.shared[place], epsilon / times)):
            inside = np.cumsum(law_of_sum(times, epsilon=of_one))
            assert half == pytest.approx(int(np.argmax(inside >= LEVEL)) / times)
    assert repeated.stored == repeated.fresh[0] == repeated.shared[0]


def test_fresh_answers_close_in_and_shared_ones_move_away() -> None:
    repeated = repeat_count(secret(1), epsilon=1.0, seed=1)
    assert (np.diff(repeated.fresh) < 0).all() and (np.diff(repeated.shared) > 0).all()
    # The attacker reads the count off a hundred fresh answers, and the shared ones say nothing about 16 people.
    assert repeated.fresh[-1] < 0.5 and repeated.shared[-1] > PEOPLE


@pytest.mark.parametrize("times", [5, 100])
def test_averages_of_the_sampler_lie_in_their_interval_and_no_others(times: int, seed: int) -> None:
    bits, runs = secret(2), 4000
    repeated, place = repeat_count(bits, epsilon=1.0, seed=seed), TIMES.index(times)

    def chance(half: float, *, epsilon: float) -> float:
        """Probability of so few averages within this distance if each is with probability LEVEL."""
        noise = PrivateNoise(bits=bits, epsilon=epsilon, sampler=Preview(seed), trials=runs * times)
        answers = noise(np.ones((1, PEOPLE), dtype=np.bool_)).reshape(runs, times)
        inside = np.abs(answers.mean(axis=1) - bits.sum()) <= half + 1e-9
        return float(bdtr(int(inside.sum()), runs, LEVEL))

    assert chance(repeated.fresh[place], epsilon=1.0) > FALSE_ALARM
    assert chance(repeated.shared[place], epsilon=1.0 / times) > FALSE_ALARM
    # The controls: noise at ε/k is too much for the interval at ε, and a narrower interval is too narrow.
    assert chance(repeated.fresh[place], epsilon=1.0 / times) < FALSE_ALARM
    assert chance(0.8 * repeated.fresh[place], epsilon=1.0) < FALSE_ALARM


@pytest.mark.parametrize(("times", "of_one"), [(3, 1.0), (3, 1.0 / 3)])
def test_k_answers_cost_k_times_the_budget_of_one(times: int, of_one: float) -> None:
    """By enumeration: the largest log ratio of the joint laws of neighbouring counts is the sum, and is reached."""
    answers = np.arange(-4, 6)
    one, other = (np.log(laplace_mass(answers - count, scale=1 / of_one)) for count in (0, 1))
    joint = [sum(np.meshgrid(*[each] * times)) for each in (one, other)]
    assert np.abs(joint[0] - joint[1]).max() == pytest.approx(times * of_one)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1000.0])
def test_averages_are_drawn_in_their_intervals_around_the_true_count(epsilon: float) -> None:
    bits = secret(3)
    repeated, yes = repeat_count(bits, epsilon=epsilon, seed=3), int(bits.sum())
    shown = sound(figure.averages(true_count=yes, times=20, repeated=repeated))
    stored = np.full(len(TIMES), repeated.stored)
    for name, half in (
        ("fresh ε each", repeated.fresh),
        ("shared ε", repeated.shared),
        ("stored answer", stored),
    ):
        curve = shown.one(Curve, name=name)
        np.testing.assert_array_equal(numbers(curve.x), [*TIMES, np.nan, *TIMES])
        np.testing.assert_allclose(numbers(curve.y), [*(yes - half), np.nan, *(yes + half)])
    band, dots = shown.one(Band), shown.one(Dots)
    np.testing.assert_allclose(numbers(band.high) - numbers(band.low), 2 * repeated.fresh)
    np.testing.assert_array_equal(numbers(dots.y), repeated.averages)
    assert shown.one(Rule, role="true").y == yes and shown.one(Rule, role="ink").x == 20
    assert f"within {rounded_up(float(repeated.shared[TIMES.index(20)]))} if they share ε" in shown.sentence


def test_the_lesson_says_what_asking_again_finds_and_what_it_costs() -> None:
    app = opened(lesson="attack-me", attack_me_shown="true", attack_me_picture="Ask again")
    repeated = repeat_count(np.isin(np.arange(PEOPLE) + 1, BEFORE), epsilon=1.0, seed=1)

    def said(times: int, total: str) -> None:
        page, place = texts(app), TIMES.index(times)
        fresh, shared = (rounded_up(float(each[place])) for each in (repeated.fresh, repeated.shared))
        assert f"The average of {times} answers is this near the true {len(BEFORE)} (95%):" in page
        assert f"Fresh noise at ε = 1 each, ε = {total} in total: **± {fresh}**." in page
        assert f"ε = 1 shared by all: **± {shared}**." in page
        assert f"as *Release* does: **± {rounded_up(repeated.stored)}**." in page

    said(20, "20")
    (button,) = (each for each in app.button if each.label == "Ask 100 times")
    button.click().run()
    said(100, "100")
