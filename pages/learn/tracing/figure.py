"""Pictures of tracing: the scores of members and strangers, and the share found by ε and by attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import exactly
from dplab.limits.tracing import ACCUSED, LOSSES, Traced, TracedShares, ceilings
from pages.charts.histogram import back_to_back
from pages.charts.picture import Axis, Curve, Picture, Rule, numbers
from pages.charts.words import percent, short_numbers
from pages.learn.pictures import epsilon_rule, guess_rule, impossible_side, lesson_picture, runs

MEMBERS, STRANGERS = "in the data", "not in the data"
FOUND = Axis(title="share of members found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1))


def scores(traced: Traced) -> Picture:
    """Return the scores of those in the data upwards, of others downwards, and the threshold between them."""
    bars = back_to_back(traced.members, traced.outside, names=(MEMBERS, STRANGERS), roles=("released", "quiet"))
    edges = [*numbers(bars[0].start).tolist(), float(numbers(bars[0].end)[-1])]
    top = 1.15 * max(float(np.abs(numbers(each.value)).max()) for each in bars)
    picture = lesson_picture(
        title="Scores of everybody",
        x=Axis(
            title="score, in standard deviations of people outside",
            low=min(edges[0], traced.threshold) - 0.2, high=max(edges[-1], traced.threshold) + 0.2, form="~g",
        ),
        y=Axis(title="share of each group", low=-top, high=top, shown=False),
        marks=[*bars, Rule(role="ink", x=traced.threshold, label="accused from here")],
        sentence=f"{percent(traced.found)} of {len(traced.members):,} members and {percent(traced.accused)} of "
                 f"{len(traced.outside):,} others have a score at or above the threshold.",
    )  # fmt: skip
    table = {"score from": short_numbers(edges[:-1]), "to": short_numbers(edges[1:])}
    shares = {each.name: short_numbers(np.abs(numbers(each.value))) for each in bars}
    return replace(picture, table=table | shares)


def over_epsilon(shares: TracedShares, *, delta: float, epsilon: float | None, guess: float) -> Picture:
    """Return the share of members found against ε of all means, with the most that any attack finds."""
    grid = np.geomspace(LOSSES[0], LOSSES[-1], 80)
    means = shares.losses.mean(axis=1)
    return lesson_picture(
        title="How much noise stops it",
        x=Axis(
            title="← more private · ε · more accurate →", log=True, low=LOSSES[0] * 0.8, high=LOSSES[-1] * 1.25,
            ticks=(0.1, 1, 10, 100),
        ),
        y=FOUND,
        marks=[
            impossible_side(grid, ceilings(grid, delta=delta), end=1.05, corner="top left"),
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
        y=FOUND,
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
