"""Pictures of rows that look real: twenty intervals of a slope, how many hold by ε, and how alike they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpcore.core import Floats
from dplab.utility.inference import LEVEL, RELEASES, SlopeIntervals
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import epsilon_axis, epsilon_rule, lesson_picture

AS_REAL, FROM_TABLES, REAL = "synthetic rows, as if real", "released tables", "sampled rows"
"""Names of the three kinds of interval."""
WORDS = 3.4
"""Width in releases at the right of the last one, for the label of the slope."""


def twenty(seen: SlopeIntervals) -> Picture:
    """Return both intervals of each release, and the slope of all people."""
    places = np.arange(1, RELEASES + 1)
    dots = [
        Dots(
            role=role,
            name=name,
            x=(places + shift)[known],
            y=intervals[known].mean(axis=1),
            low=intervals[known, 0],
            high=intervals[known, 1],
            hollow=(~seen.holds(intervals))[known].tolist(),
            size=7,
        )
        for role, name, intervals, shift in (
            ("other-0", AS_REAL, seen.synthetic, -0.15),
            ("released", FROM_TABLES, seen.released, 0.2),
        )
        if (known := ~np.isnan(intervals[:, 0])).any()
    ]
    label = f"{significant(seen.truth)} hours"
    return lesson_picture(
        title="Twenty releases",
        x=Axis(title="release", low=0.3, high=RELEASES + WORDS, ticks=tuple(range(5, RELEASES + 1, 5)), form="d"),
        y=Axis(title="hours a week for a year of education"),
        marks=[*dots, Rule(role="true", y=seen.truth, label=label, dash="dash")],
        sentence=f"{counted(seen, seen.synthetic)} of {RELEASES} intervals from synthetic rows hold the slope of all "
        f"people, {counted(seen, seen.released)} from released tables{refusals(seen)}.",
        caption="Dashed: slope of all people. Hollow: does not hold it.",
    )


def counted(seen: SlopeIntervals, intervals: Floats) -> int:
    """Return how many intervals hold the slope."""
    return int(seen.holds(intervals).sum())


def refusals(seen: SlopeIntervals) -> str:
    """Return how many releases say nothing, with a comma before it; empty for none."""
    count = int(seen.refused.sum())
    return f", and {count} {'says' if count == 1 else 'say'} nothing" if count else ""


def holding(by_epsilon: Mapping[float, SlopeIntervals], *, epsilon: float) -> Picture:
    """Return the share of intervals that hold the slope, by ε and kind."""
    x, kinds = np.array(list(by_epsilon)), dict[str, Floats]()
    for name, field in ((REAL, "real"), (FROM_TABLES, "released"), (AS_REAL, "synthetic")):
        shares = [float(each.holds(getattr(each, field)).mean()) for each in by_epsilon.values()]
        kinds[name] = np.array(shares)
    refused = np.array([float(each.refused.mean()) for each in by_epsilon.values()])
    said, silent = np.where(refused < 1, kinds[FROM_TABLES], np.nan), np.where(refused > 0, refused, np.nan)
    least, most = min(by_epsilon), max(by_epsilon)
    return lesson_picture(
        title="Intervals that hold",
        x=epsilon_axis(epsilon),
        y=Axis(title="share of releases", low=-0.03, high=1.05, form=".0%"),
        marks=[
            Curve(role="true", name=REAL, x=x, y=kinds[REAL], dash="dot", width=1.5),
            Dots(role="released", name=FROM_TABLES, x=x, y=said, size=9),
            Dots(role="quiet", name="nothing said", x=x, y=silent, shape="x-thin", size=10),
            Dots(role="other-0", name=AS_REAL, x=x, y=kinds[AS_REAL], size=9),
            Rule(role="quiet", y=LEVEL, label=percent(LEVEL), below=True),
            epsilon_rule(epsilon),
        ],
        sentence=f"As if real, {percent(kinds[AS_REAL][0])} of intervals hold the slope at ε = {least:g}, and "
        f"{percent(kinds[AS_REAL][-1])} at ε = {most:g}. From sampled rows: {percent(kinds[REAL][0])}.",
    )


def alike(by_epsilon: Mapping[float, SlopeIntervals], *, epsilon: float) -> Picture:
    """Return how far tables of two columns are from those of the sampled rows, by ε, beside two yardsticks."""
    x = np.array(list(by_epsilon))
    rows = np.array([float(each.distances.mean()) for each in by_epsilon.values()])
    first = next(iter(by_epsilon.values()))
    other, mixed = float(first.other_rows.mean()), float(first.shuffled_rows.mean())
    return lesson_picture(
        title="Distance of pairs",
        x=epsilon_axis(epsilon),
        y=Axis(title="mean total variation of pairs", low=0, form=".0%"),
        marks=[
            Curve(role="quiet", name="between the values of ε", x=x, y=rows, width=1.5, dash="dot", legend=False),
            Dots(role="released", name="synthetic rows", x=x, y=rows, size=9),
            Rule(role="true", y=other, label="another sample", below=True),
            Rule(role="quiet", y=mixed, label="columns shuffled", dash="dash"),
            epsilon_rule(epsilon),
        ],
        sentence=f"Pairs of columns of another real sample differ by {percent(other)}, those of synthetic rows by "
        f"{percent(rows[0])} at ε = {x[0]:g} and {percent(rows[-1])} at ε = {x[-1]:g}; shuffled, {percent(mixed)}.",
    )
