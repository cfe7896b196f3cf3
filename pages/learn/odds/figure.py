"""Pictures of ε as odds: belief before and after a release, and the probability of a right guess."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import exactly
from dpcore.limits.bounds import odds
from pages.charts.picture import Axis, Curve, Picture, Rule
from pages.charts.words import percent, percent_up
from pages.learn.pictures import epsilon_axis, epsilon_grid, epsilon_rule, guess_rule, impossible_side, lesson_picture

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
WIDE, TALL = 0.28, 0.08
"""Width and height of a corner label, as shares of the picture."""


def belief(*, prior: float, epsilon: float, delta: float, guess: float) -> Picture:
    """Return the largest and smallest belief after a release against the belief before, for δ = 0."""
    grid = np.unique(np.append(np.linspace(1e-6, 1 - 1e-6, 101), prior))
    low, high = odds.posterior_range(grid, epsilon=epsilon)
    impossible = "impossible if δ = 0" if delta else f"impossible at ε = {exactly(epsilon)}"
    if np.interp(WIDE, grid, high) > 1 - TALL:  # the label would be outside of the region
        impossible = ""
    left, right = prior < WIDE, prior > 1 - WIDE  # sides on which the rule would cross a label
    return lesson_picture(
        title="Belief, before and after",
        x=Axis(title="belief before the release", low=0, high=1, form=".0%", ticks=QUARTERS),
        y=Axis(title="belief after it", low=0, high=1, form=".0%", ticks=QUARTERS),
        marks=[
            impossible_side(grid, high, end=1.0, label="" if left else impossible, corner="top left"),
            impossible_side(grid, low, end=0.0, label="" if right else impossible, corner="bottom right"),
            Curve(role="theory", name="at most", x=grid, y=high),
            Curve(role="quiet", name="unchanged", x=grid, y=grid, dash="dot"),
            Curve(role="theory", name="at least", x=grid, y=low, dash="dash"),
            Rule(role="ink", x=prior, label=f"before: {percent(prior)}"),
            replace(guess_rule(y=guess), side="right" if prior < 0.5 else "left"),
        ],
        sentence=f"{odds.posterior_odds(prior=prior, epsilon=epsilon).sentence} You guessed at most {percent(guess)}."
        f"{delta_sentence(delta)}",
    )


def delta_sentence(delta: float) -> str:
    """Return the sentence on δ > 0, with a leading space; empty for δ = 0."""
    if not delta:
        return ""
    return f" This holds for δ = 0. With probability up to δ = {exactly(delta)}, a release may reveal everything."


def guessing(*, prior: float, epsilon: float, delta: float) -> Picture:
    """Return the probability of a right guess against ε, for the best possible attacker."""
    grid = epsilon_grid(epsilon)
    best = odds.best_guesses(prior, epsilons=grid, delta=delta)
    allowed, before = float(odds.best_guess(prior, epsilon=epsilon, delta=delta)), max(prior, 1 - prior)
    return lesson_picture(
        title="Guessing right",
        x=epsilon_axis(epsilon),
        y=Axis(title="probability of guessing right", low=0.45, high=1, form=".0%"),
        marks=[
            impossible_side(grid, best, end=1.0, label="impossible", corner="top left"),
            Curve(role="theory", name="the best attacker", x=grid, y=best),
            epsilon_rule(epsilon),
            Rule(role="quiet", y=before, label="without the release", below=True),
        ],
        sentence=f"An attacker who knows everything else guesses right {percent(before)} of the time without the "
        "release, and " + (f"at most {percent_up(allowed)} with it." if allowed > before else "no more often with it."),
    )
