"""What an ε means as odds: belief before and after, and the chance of guessing right."""

from __future__ import annotations

import numpy as np

from dpcore.core import exactly
from dpcore.figures.figure import Figure, percent
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall
from dpcore.figures.limits_plot import plot
from dpcore.figures.limits_vc import EPSILON
from dpcore.limits import odds

TENTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


def belief(*, prior: float, epsilon: float, delta: float, guess: float, badge: str, dark: bool) -> Figure:
    """Largest and smallest belief after a release, against the belief before (δ = 0)."""
    grid = np.unique(np.concatenate([np.linspace(0.005, 0.995, 100), [prior]]))
    low, high = odds.posterior_range(grid, epsilon=epsilon)
    told = odds.told(prior=prior, epsilon=epsilon)
    hole = f" Except in an event of chance about {exactly(delta)}, in which anything may come out." if delta else ""
    return plot(
        x=Axis(title="belief before the release", low=0, high=1, form=".0%", ticks=TENTHS),
        y=Axis(title="belief after it", low=0, high=1.02, form=".0%", ticks=TENTHS),
        series=[
            Series(name="at most", x=grid, y=high, role="theory"),
            Series(name="unchanged", x=grid, y=grid),
            Series(name="at least", x=grid, y=low, role="released"),
        ],
        wall=Wall(x=grid, y=high, end=1.02, label=f"impossible at ε = {exactly(epsilon)}", corner="top left"),
        marks=(Mark(label=f"before: {percent(prior)}", x=prior), Mark(label="your guess", y=guess, guess=True)),
        sentence=f"{told.sentence} You guessed at most {percent(guess)}.{hole}",
        badge=badge,
        dark=dark,
        height=320,
    )


def guessing(*, prior: float, epsilon: float, delta: float, badge: str, dark: bool) -> Figure:
    """Chance of guessing right against ε, for the best attacker there can be."""
    grid = np.geomspace(0.08, 12.5, 80)
    best = np.array([float(odds.best_guess(prior, epsilon=float(at), delta=delta)) for at in grid])
    here, before = float(odds.best_guess(prior, epsilon=epsilon, delta=delta)), max(prior, 1 - prior)
    return plot(
        x=EPSILON,
        y=Axis(title="chance of guessing right", low=0.45, high=1.02, form=".0%"),
        series=[Series(name="the best attacker", x=grid, y=best, role="theory")],
        wall=Wall(x=grid, y=best, end=1.02, label="impossible", corner="top left"),
        marks=(
            Mark(label=f"ε = {exactly(epsilon)}", x=epsilon),
            Mark(label="without the release", y=before, below=True),
        ),
        sentence=f"Whoever knows everything else guesses right {percent(before)} of the time without the release, and "
        + (f"at most {percent(here)} with it." if here > before else "no more often with it."),
        badge=badge,
        dark=dark,
        height=320,
    )
