"""Distributional privacy: how clearly two samples of one population are told apart by a private count."""

from __future__ import annotations

import numpy as np

from dpcore.core import exactly
from dpcore.figures.figure import Figure, percent
from dpcore.figures.limits_parts import Axis, Mark, Series
from dpcore.figures.limits_plot import plot
from dpcore.limits.distributional import Separation

MOST_STEPS = 200


def told_apart(*, apart: Separation, n: int, limit: float | None, guess: float, badge: str, dark: bool) -> Figure:
    """Chance that two samples are told apart with at least so much loss; one row alone never costs more than ε.

    Args:
        apart: the exact law.
        n: rows of each sample.
        limit: what the chance at loss 1 tends to, where that is known.
        guess: what the reader expects at loss 1.
        badge: provenance.
        dark: for the dark theme.
    """
    steps = np.unique(np.linspace(0, apart.modulus - 1, min(apart.modulus, MOST_STEPS)).round())
    losses = apart.epsilon * steps
    chances = [apart.loss_reaches(float(loss)) for loss in losses]
    tends = f", which tends to {percent(limit)} for large n" if limit is not None else ""
    return plot(
        x=Axis(title="privacy loss between two samples, at least", low=0, high=max(2.0, float(losses.max()))),
        y=Axis(title="chance", low=0, high=1.02, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        series=[Series(name="two samples of one population", x=losses, y=chances, role="released")],
        marks=(
            Mark(label=f"one row: never above {exactly(apart.epsilon)}", x=apart.epsilon),
            Mark(label="your guess, at loss 1", y=guess, guess=True),
            Mark(label="loss 1", x=1.0),
        ),
        sentence=f"Two samples of {n:,} rows from the same population are told apart with a loss of 1 or more in "
        f"{percent(apart.far)} of all pairs (you guessed {percent(guess)}){tends}; one row alone costs "
        f"{exactly(apart.epsilon)} "
        "at most.",
        badge=badge,
        dark=dark,
        height=320,
    )
