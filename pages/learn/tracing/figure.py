"""Pictures of tracing: the share of members found by ε and by attributes."""

from __future__ import annotations

import numpy as np

from dpcore.core import exactly
from dplab.limits.tracing import ACCUSED, LOSSES, TracedShares, ceilings
from pages.charts.picture import Axis, Curve, Picture, Rule, budget_axis
from pages.charts.words import percent
from pages.learn.pictures import epsilon_rule, guess_rule, impossible_side, lesson_picture, runs

SHARE = Axis(title="share of members found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1))


def over_epsilon(shares: TracedShares, *, delta: float, epsilon: float | None, guess: float) -> Picture:
    """Return the share of members found against ε of all means, with the most that any attack finds."""
    grid = np.geomspace(LOSSES[0], LOSSES[-1], 80)
    means = shares.losses.mean(axis=1)
    return lesson_picture(
        title="How much noise stops it",
        x=budget_axis(LOSSES, title="← more private · ε · more accurate →", ticks=(0.1, 1, 10, 100)),
        y=SHARE,
        marks=[
            impossible_side(
                grid, ceilings(grid, delta=delta), end=1.05, corner="top left", label="impossible on average"
            ),
            Curve(role="theory", name="the best attacker, at most", x=grid, y=ceilings(grid, delta=delta)),
            runs("this attacker, middle 90% of runs", np.array(LOSSES), shares.losses),
            Rule(role="quiet", y=ACCUSED, label=f"others accused: {percent(ACCUSED)}"),
            guess_rule(y=guess),
            *([] if epsilon is None else [epsilon_rule(epsilon)]),
        ],
        sentence=f"At ε = {exactly(LOSSES[2])} this attack finds {percent(float(means[2]))} of the members on average, "
                 f"at ε = {exactly(LOSSES[-1])} it finds {percent(float(means[-1]))}.",
    )  # fmt: skip


def over_attributes(shares: TracedShares, *, members: int, epsilon: float, guess: float) -> Picture:
    """Return the share of members found against the number of attributes, from exact and from private means."""
    exact, private = shares.exact.mean(axis=1), shares.private.mean(axis=1)
    return lesson_picture(
        title="More attributes, more found",
        x=Axis(title="attributes d", log=True, low=12, high=5600, form="~s", ticks=(16, 64, 256, 1024, 4096)),
        y=SHARE,
        marks=[
            runs("exact means, middle 90% of runs", shares.attributes, shares.exact),
            runs(f"private means, ε = {exactly(epsilon)}", shares.attributes, shares.private, role="other-1"),
            Rule(role="ink", x=members, label=f"d = n = {members:,}"),
            guess_rule(y=guess),
        ],
        sentence=f"From exact means of {shares.attributes[0]:,.0f} attributes the attack finds "
                 f"{percent(float(exact[0]))} of {members:,} members, of {shares.attributes[-1]:,.0f} it finds "
                 f"{percent(float(exact[-1]))}. From means with noise at ε = {exactly(epsilon)} it finds "
                 f"{percent(float(private[-1]))} there.",
    )  # fmt: skip
