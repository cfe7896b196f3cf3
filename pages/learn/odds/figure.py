"""What an ε means as odds: belief before and after, and the chance of guessing right."""

from __future__ import annotations

import numpy as np

from dpcore.core import exactly
from dpcore.limits.bounds import odds
from pages.charts.picture import Axis, Curve, Picture, Rule
from pages.charts.words import percent, percent_up
from pages.learn.pictures import epsilon_axis, epsilon_grid, epsilon_rule, guess_rule, impossible_side, lesson_picture

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
WIDE, TALL = 0.28, 0.08
"""Of a picture: what words in its corner take."""


def belief(*, prior: float, epsilon: float, delta: float, guess: float) -> Picture:
    """Largest and smallest belief after a release, against the belief before (δ = 0)."""
    grid = np.unique(np.append(np.linspace(1e-6, 1 - 1e-6, 101), prior))
    low, high = odds.posterior_range(grid, epsilon=epsilon)
    impossible = "impossible were δ = 0" if delta else f"impossible at ε = {exactly(epsilon)}"
    if np.interp(WIDE, grid, high) > 1 - TALL:  # the words would reach beyond what they name
        impossible = ""
    return lesson_picture(
        title="Belief, before and after",
        x=Axis(title="belief before the release", low=0, high=1, form=".0%", ticks=QUARTERS),
        y=Axis(title="belief after it", low=0, high=1, form=".0%", ticks=QUARTERS),
        marks=[
            impossible_side(grid, high, end=1.0, label=impossible, corner="top left"),
            impossible_side(grid, low, end=0.0, label=impossible, corner="bottom right"),
            Curve(role="theory", name="at most", x=grid, y=high),
            Curve(role="quiet", name="unchanged", x=grid, y=grid, dash="dot"),
            Curve(role="theory", name="at least", x=grid, y=low, dash="dash"),
            Rule(role="ink", x=prior, label=f"before: {percent(prior)}"),
            guess_rule(y=guess),
        ],
        sentence=f"{odds.told(prior=prior, epsilon=epsilon).sentence} You guessed at most {percent(guess)}."
        f"{delta_sentence(delta)}",
    )


def delta_sentence(delta: float) -> str:
    """What a slack leaves open, in a sentence with a space before it; nothing without one."""
    if not delta:
        return ""
    return f" That is for δ = 0: with a chance of up to δ = {exactly(delta)} a release may tell everything."


def guessing(*, prior: float, epsilon: float, delta: float) -> Picture:
    """Chance of guessing right against ε, for the best attacker there can be."""
    grid = epsilon_grid(epsilon)
    best = odds.best_guesses(prior, epsilons=grid, delta=delta)
    allowed, before = float(odds.best_guess(prior, epsilon=epsilon, delta=delta)), max(prior, 1 - prior)
    return lesson_picture(
        title="Guessing right",
        x=epsilon_axis(epsilon),
        y=Axis(title="chance of guessing right", low=0.45, high=1, form=".0%"),
        marks=[
            impossible_side(grid, best, end=1.0, label="impossible", corner="top left"),
            Curve(role="theory", name="the best attacker", x=grid, y=best),
            epsilon_rule(epsilon),
            Rule(role="quiet", y=before, label="without the release", below=True),
        ],
        sentence=f"Whoever knows everything else guesses right {percent(before)} of the time without the release, and "
        + (f"at most {percent_up(allowed)} with it." if allowed > before else "no more often with it."),
    )
