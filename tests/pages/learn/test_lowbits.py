"""The lesson on low bits: verdicts in their place, and the attack behind them."""

from __future__ import annotations

import math
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpcore.limits.bounds import low_bits
from dpcore.limits.bounds.low_bits import Verdict
from dpcore.randomness import Secure
from pages.charts.axes import axis_range
from pages.charts.picture import Dots, Region, Rule, Words, numbers
from pages.learn.lowbits import figure
from pages.shell.tasks.memory import with_progress
from tests.kit import in_blocks, searched
from tests.kit.statistics import HARDLY_EVER, assert_chance_at_most
from tests.pages.learn.test_page import opened, texts
from tests.pages.lessons import sound
from tests.pages.opening import run_with

BROKEN = Verdict(success=0.83, interval=(0.82, 0.84), allowed=0.62, certain=0.6, trials=10_000)
SOUND = Verdict(success=0.61, interval=(0.6, 0.62), allowed=0.62, certain=0.3, trials=10_000)


def test_a_broken_sampler_lies_in_what_is_impossible() -> None:
    shown = sound(figure.verdicts(naive=BROKEN, secure=SOUND, epsilon=0.5, guess=0.5))
    dots, beyond = shown.one(Dots, role="released"), shown.one(Region, role="impossible")
    assert beyond.x == (0.62, 1.0) and dots.across
    assert shown.y.labels == ("textbook noise", "secure sampler")
    assert (numbers(dots.x).tolist(), numbers(dots.y).tolist()) == ([0.83, 0.61], [0, 1])
    assert dots.low is not None and dots.high is not None and dots.hover is not None
    assert (numbers(dots.low).tolist(), numbers(dots.high).tolist()) == ([0.82, 0.6], [0.84, 0.62])
    assert "83% of 10,000" in dots.hover[0] and "allowed 62%" in dots.hover[0] and "secure" in dots.hover[1]
    assert [(each.text, each.x, each.y) for each in shown.find(Words)] == [("broken", 0.82, 0), ("not caught", 0.62, 1)]
    assert shown.one(Rule, role="guess").x == 0.5
    assert shown.table["success"] == [0.83, 0.61] and shown.table["from"] == [0.82, 0.6]
    assert "83% of 10,000 tries. You guessed 50%." in shown.sentence and "nothing is shown" not in shown.sentence


def test_a_bar_astride_the_limit_shows_nothing() -> None:
    astride = replace(BROKEN, success=0.64, interval=(0.61, 0.66), trials=100)
    shown = sound(figure.verdicts(naive=astride, secure=SOUND, epsilon=0.5, guess=0.5))
    assert [each.text for each in shown.find(Words)] == ["not caught", "not caught"]
    assert shown.sentence.endswith(
        "The confidence interval of the textbook noise contains values on both "
        "sides of the limit: nothing is shown against it."
    )


@pytest.mark.parametrize("guess", [0.45, 0.5, 0.6, 0.7])
@pytest.mark.parametrize("success", [0.5, 0.62, 0.8, 0.98])
def test_no_verdict_lies_on_other_words(success: float, guess: float) -> None:
    naive = replace(SOUND, success=success, interval=(success - 0.02, success + 0.02))
    sound(figure.verdicts(naive=naive, secure=SOUND, epsilon=0.5, guess=guess))


@pytest.mark.parametrize("guess", [0.0, 0.1, 1.0])
def test_every_guess_is_within_the_picture(guess: float) -> None:
    shown = sound(figure.verdicts(naive=BROKEN, secure=SOUND, epsilon=0.5, guess=guess))
    low, high = axis_range(shown.x, shown.marks, across=True)
    assert low <= guess <= high


def test_both_samplers_are_attacked_alike(seed: int) -> None:
    found, said = in_blocks(low_bits.attack_both(low=0, epsilon=0.5, seed=seed, each=2000, shown=6))
    assert said == sorted(said) and said[0] > 0 and said[-1] < 1
    assert found.naive.trials == found.secure.trials == 4000
    assert found.naive.broken
    # No seed repeats the secure sampler's entropy: within the verdict's interval it is not, once in a million times.
    right = round(found.secure.success * found.secure.trials)
    assert_chance_at_most(right, trials=4000, chance=found.secure.allowed, significance=HARDLY_EVER)
    with pytest.raises(AssertionError, match="promised"):
        right = round(found.naive.success * found.naive.trials)
        assert_chance_at_most(right, trials=4000, chance=found.naive.allowed, significance=HARDLY_EVER)
    assert len(found.outputs) == 6 and found.possible.shape == (2, 6)
    # What came out of a count can come out of it: three of the lower count, then three of the higher.
    assert found.possible[0, :3].all() and found.possible[1, 3:].all()
    np.testing.assert_array_equal(found.guesses.certain, found.possible[0] != found.possible[1])
    assert found.guesses.high[found.guesses.certain].tolist() == (np.arange(6) >= 3)[found.guesses.certain].tolist()


def test_the_seed_is_of_the_textbook_noise_and_the_secure_sampler_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    draw_of = Secure.draw

    def recorded(self: Secure, draw: Any, trials: int = 1) -> Any:
        drawn.append(draw_of(self, draw, trials))
        return drawn[-1]

    monkeypatch.setattr(Secure, "draw", recorded)
    runs = []
    for _ in range(2):
        runs.append(in_blocks(low_bits.attack_both(low=0, epsilon=0.5, seed=3, each=500, shown=6))[0])
    assert runs[0].outputs.tolist() == runs[1].outputs.tolist() and runs[0].naive == runs[1].naive
    assert len(drawn) == 4 and not np.array_equal(drawn[0], drawn[2]) and not np.array_equal(drawn[1], drawn[3])
    control = opened(lesson="low-bits").number_input(key="limits-seed")
    assert "The secure sampler has none" in control.help and "the same picture" not in control.help


def test_naive_releases_are_taken_apart_on_the_page() -> None:
    app = opened(lesson="low-bits", low_bits_shown="true")
    run_with(app, {"lowbits_open": True})
    (shown,) = [each.value for each in app.dataframe]
    assert shown["truth"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    # Whatever came out of a count can come out of it.
    assert [shown[f"can come from {count}"][place] for place, count in shown["truth"].items()] == ["yes"] * 8


def test_20_000_releases_are_drawn_and_attacked_unless_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many of each of two counts, by each of two samplers, and the page says so while they are drawn."""
    labels = list[str]()

    def noted(key: str, work: Any, *, label: str) -> Any:
        labels.append(label)
        return with_progress(key, work, label=label)

    monkeypatch.setattr("pages.shell.tasks.memory.with_progress", noted)
    opened(lesson="low-bits", low_bits_shown="true")
    number = 4 * signature(low_bits.attack_both).parameters["each"].default
    assert set(labels) == {"Sampling and attacking 20,000 releases."} and number == 20_000


def test_what_is_told_is_the_verdict_rounded_to_be_true() -> None:
    page_text = texts(opened(lesson="low-bits", low_bits_shown="true"))
    match = searched(
        r"\*\*([\d.]+)%\*\* right guesses, where \*\*([\d.]+)%\*\* are allowed; at least ([\d.]+)% with confidence "
        r"99\.9999%\. ([\d.]+)% of the releases exclude one count \*\*with certainty\*\*",
        page_text,
    )
    success, allowed, least, certain = (float(each) / 100 for each in match.groups())
    found, _ = in_blocks(low_bits.attack_both(low=0, epsilon=0.5, seed=1))
    assert (success, certain) == pytest.approx((found.naive.success, found.naive.certain), abs=5e-4)
    assert math.exp(0.5) / (1 + math.exp(0.5)) <= allowed < found.naive.allowed + 1e-3
    # Were the attack right less often than that, it would be so lucky in one case of a million at most.
    right = round(found.naive.success * found.naive.trials)
    assert binom.sf(right - 1, found.naive.trials, least) < 1e-6 < binom.sf(right - 1, found.naive.trials, least + 2e-3)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0])
def test_what_this_guess_does_not_catch_is_not_private_either(epsilon: float) -> None:
    """An output that one count can lead to and the other cannot refutes every ε: each uniform was tried."""
    outputs = low_bits.naive_laplace(1000, scale=1 / epsilon, trials=5000, seed=1)
    possible = [low_bits.reachable(outputs, count, scale=1 / epsilon) for count in (1000, 1001)]
    assert possible[0].all() and not possible[1].all()


def test_the_button_leads_to_large_counts_which_the_guess_does_not_catch() -> None:
    app = opened(lesson="low-bits", low_bits_shown="true", low_bits_epsilon="0.1", low_bits_count="10")
    (button,) = (each for each in app.button if each.label == "Counts 1,000 and 1,001 at ε = 0.5")
    page_text = texts(button.click().run())
    assert "right guesses between 1000 and 1001, for any attack." in page_text
    assert "One release at ε = 0.5." in page_text
    match = searched(
        r"This attack does not show it, but the release is not private: ([\d.]+)% of the releases exclude one count",
        page_text,
    )
    assert float(match[1]) > 0 and "**Broken**" not in page_text
