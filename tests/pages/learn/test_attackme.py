"""Attack me: exact counts give every secret back, private ones stay below the wall, and the picture says which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore.core import Booleans, finish
from dplab.limits.typed_bits import GROUPS, LOSSES, PEOPLE, RUNS, attack, best_possible, sweep, told
from pages.charts.picture import Curve, Dots, Rule, Wall, numbers
from pages.charts.plotly import render
from pages.learn.attackme import figure
from tests.pages.apart import on_dots
from tests.pages.lessons import sound


def secret(seed: int) -> Booleans:
    return np.random.default_rng(seed).random(PEOPLE) < 0.5


@pytest.mark.parametrize("seed", range(20))
def test_exact_counts_give_every_answer_back(seed: int) -> None:
    found = attack(secret(seed), epsilon=None, seed=seed)
    assert found.share == 1 and found.groups.shape == (GROUPS, PEOPLE)
    for place in range(GROUPS):
        assert found.answers[place] == secret(seed)[told(found, place) - 1].sum()


def test_private_counts_stay_below_the_wall_and_a_loud_one_above_it() -> None:
    shares = np.concatenate([finish(sweep(secret(seed), seed=seed)) for seed in range(5)], axis=1)
    mean, best = shares.mean(axis=1), best_possible(np.array(LOSSES))
    spread = 0.5 / np.sqrt(5 * RUNS)  # at most: bits of one run are not independent
    assert (mean <= best + 4 * spread).all() and mean[0] < 0.55
    assert mean[-1] == 1
    # The control: counts with a hundredth of the noise that they claim are over the wall at ε = 1.
    assert mean[LOSSES.index(100.0)] > best[LOSSES.index(1.0)] + 4 * spread


def test_a_cross_is_an_answer_that_was_missed() -> None:
    truth = secret(3)
    found = attack(truth, epsilon=1.0, seed=3)
    shown = sound(figure.bits(truth=truth, found=found))
    right, wrong = (shown.one(Dots, role=role, name=name) for role, name in (("released", "right"), ("ink", "wrong")))
    missed = np.flatnonzero(found.guess.bits[0] != truth) + 1
    assert len(missed) > 0 and numbers(wrong.x).tolist() == missed.tolist()
    assert sorted([*numbers(right.x), *numbers(wrong.x)]) == list(range(1, PEOPLE + 1))
    estimates = found.guess.estimates[0]
    assert numbers(wrong.y).tolist() == estimates[missed - 1].tolist()
    assert f"{PEOPLE - len(missed)} of {PEOPLE} secret answers" in shown.sentence


def test_numbers_of_people_keep_apart_on_a_phone() -> None:
    shown = figure.bits(truth=secret(3), found=attack(secret(3), epsilon=None, seed=3))
    ticks, inside = shown.x.ticks, 285  # pixels; a number of two digits takes 17
    apart = inside / (float(shown.x.high or 0) - float(shown.x.low or 0)) * float(np.diff(ticks).min())
    assert apart > 17 and ticks[-1] == PEOPLE


def test_no_words_hide_an_answer() -> None:
    found = attack(secret(3), epsilon=1.0, seed=3)
    estimates = found.guess.estimates.copy()
    estimates[0, -4:] = 0.5 + 0.03 * np.ptp(estimates)  # just above the line, where its words would stand
    near = replace(found, guess=replace(found.guess, estimates=estimates))
    shown = figure.bits(truth=secret(3), found=near)
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
