"""Pictures of intervals: twenty surveys, normal intervals of a count, and the counters that one person changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import exactly
from dpcore.data.columns import Labels, Number
from dpcore.mechanisms.grouped.weights import column_weights
from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.surveys import LEVEL, Surveys
from pages.charts.picture import Area, Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import epsilon_axis, epsilon_grid, epsilon_rule, lesson_picture

NORMAL = 1.96
"""Standard deviations to both sides that hold 95% of a normal law."""
SHOWN = 20
"""Surveys in the picture."""
WORDS = 2.2
"""Width in surveys at the right of the last one, for the label of the population's share."""
CELLS = 16
"""Cells of the number whose rows are drawn."""


def surveys(seen: Surveys) -> Picture:
    """Return the first surveys: both intervals of each, the share of the people asked, and the population's."""
    places, share = np.arange(1, SHOWN + 1), percent(seen.population)
    hold, own, wider = (each[:SHOWN] for each in seen.hits)
    middle = (seen.of_rows.low + seen.of_rows.high) / 2  # where noise leaves no people, the whole range is the interval
    dots = [
        Dots(
            role=role,
            name=name,
            x=places + shift,
            y=np.where(np.isnan(seen.released), middle, seen.released)[:SHOWN],
            low=each.low[:SHOWN],
            high=each.high[:SHOWN],
            hollow=(~covered).tolist(),
            size=7,
        )
        for role, name, each, covered, shift in (
            ("released", "noise alone", seen.of_rows, hold, -0.15),
            ("other-0", "noise and sampling", seen.of_population, wider, 0.2),
        )
    ]
    asked = Dots(role="true", name="people asked", x=places - 0.15, y=seen.asked[:SHOWN], shape="line-ew", size=9)
    return lesson_picture(
        title="Twenty surveys",
        x=Axis(title="survey", low=0.3, high=SHOWN + WORDS, ticks=tuple(range(5, SHOWN + 1, 5)), form="d"),
        y=Axis(title="share of yes", form=".0%"),
        marks=[*dots, asked, Rule(role="true", y=seen.population, label=share, dash="dash")],
        sentence=f"{hold.sum()} of {SHOWN} intervals of the noise hold the population's {share}; {own.sum()} hold the "
        f"share of the people asked. With the sampling error, {wider.sum()} hold the population's.",
        caption=f"Dashed: population. Hollow: does not hold {share}.",
    )


def normal_words(epsilon: float) -> str:
    """Return in how many releases a count ± 1.96 standard deviations holds the truth, and the exact interval."""
    noise = LaplaceNoise.of(epsilon=epsilon, sensitivity=1)
    half, k = NORMAL * noise.deviation, noise.half_width(1 - LEVEL)
    return (
        f"At ε = {exactly(epsilon)}, a count ± {NORMAL} standard deviations (± {significant(half)}) holds the true "
        f"count in {percent(noise.coverage(half))} of releases; ± {k} holds it in {percent(noise.coverage(k))}."
    )


def normal(epsilon: float) -> Picture:
    """Return the exact chance that a count's interval holds the true count, against ε."""
    grid = epsilon_grid(epsilon, size=400)
    noises = [LaplaceNoise.of(epsilon=each, sensitivity=1) for each in grid.tolist()]
    usual = np.array([each.coverage(NORMAL * each.deviation) for each in noises])
    exact = np.array([each.coverage(each.half_width(1 - LEVEL)) for each in noises])
    return lesson_picture(
        title="±1.96 deviations",
        x=epsilon_axis(epsilon),
        y=Axis(title="chance to hold the true count", low=float(usual.min()) - 0.02, high=1.005, form=".0%"),
        marks=[
            Curve(role="other-0", name=f"± {NORMAL} standard deviations", x=grid, y=usual, width=1.5, dash="solid"),
            Curve(role="theory", name="exact interval", x=grid, y=exact, width=1.5, dash="dash"),
            Rule(role="quiet", y=LEVEL, label=percent(LEVEL), below=True),
            epsilon_rule(epsilon),
        ],
        sentence=normal_words(epsilon),
    )


def one_person() -> Picture:
    """Return what one row more or less adds to the counters, turned by 45°: people A + B, and B − A."""
    turn = np.array([[1, -1], [1, 1]])  # (A, B) to (A + B, B − A)
    line, ends = Number(bins=CELLS), Labels(missing=False)
    rows, corners = (column_weights(each, 1) / each.scale.steps for each in (line, ends))
    together = float(np.abs(rows).sum(axis=1).max())
    rows, ball = rows @ turn, np.concatenate([corners, -corners]) @ turn  # in order around the L1 ball of A and B
    apart = float(np.abs(ball).sum(axis=1).max())
    diamond = apart * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    marks = [
        Area(role="other-0", name="two queries", x=diamond[:, 0], y=diamond[:, 1], opacity=0.2),
        Area(role="theory", name="two counters", x=ball[:, 0], y=ball[:, 1], opacity=0.35),
        Dots(role="true", name="a row more", x=rows[:, 0], y=rows[:, 1], size=6),
        Dots(role="true", name="a row less", x=-rows[:, 0], y=-rows[:, 1], size=6, hollow=[True] * CELLS),
    ]
    ticks, end = (-2, -1, 0, 1, 2), 1.15 * apart
    shown = lesson_picture(
        title="One person, two counters",
        x=Axis(title="change of A + B, people", low=-end, high=end, ticks=ticks),
        y=Axis(title="change of B − A", low=-end, high=end, ticks=ticks),
        marks=marks,
        sentence=f"A row more or less changes the counters A and B by {significant(together)} together: two sides of "
        f"the square. As two queries, people A + B and B − A have sensitivity {significant(apart)}: the diamond, and "
        "more noise.",
    )
    return replace(shown, equal=True)
