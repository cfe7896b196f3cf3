"""The lesson's pictures: errors of every direction, and how far random matrices move inner products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import exactly, rounded_down, rounded_up
from dplab.limits.directions import BETA, Distortions, EveryDirection
from pages.charts.picture import Axis, Curve, Dots, Picture, Region, Rule
from pages.charts.words import percent, percent_up, significant
from pages.learn.pictures import OTHERS, axis_floor, guess_rule, lesson_picture

PROMISED = "promised: the margin is there"
ANGLE = Axis(title="direction, degrees", low=0, high=360, ticks=tuple(float(at) for at in range(0, 361, 45)))


def errors(*, seen: EveryDirection, n: int, epsilon: float, guess: float) -> Picture:
    """What 95% of the releases err by in each direction; shaded, the promise where the margin is there.

    Args:
        seen: the releases.
        n: rows.
        epsilon: of each.
        guess: what the reader expects of the promised directions, a share.
    """
    inside = np.concatenate([[False], seen.promised, [False]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(inside) > 0), np.flatnonzero(np.diff(inside) < 0) - 1
    half = float(seen.degrees[1] - seen.degrees[0]) / 2
    floor = axis_floor(seen.error, min(seen.bound, guess)) / 2
    boxes = [
        Region(
            role="theory",
            x=(float(seen.degrees[start]) - half, float(seen.degrees[end]) + half),
            y=(floor, seen.bound),
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    promised = np.where(seen.promised, seen.bound, np.nan)
    kept = f"{int(seen.promised.sum())} of {len(seen.promised)} directions"
    said = (
        f"within {percent_up(seen.worst)} in {kept} that have margin {rounded_down(seen.margin)}"
        if seen.promised.any()
        else f"of no direction promised, for none has margin {rounded_up(seen.margin)}"
    )
    beyond = f", and up to {percent_up(seen.beyond)} off in the others" if not seen.promised.all() else ""
    return lesson_picture(
        title="Error in every direction",
        x=ANGLE,
        y=Axis(title="95% of releases err by at most", log=True, low=floor, form=".3~p", rows=n),
        marks=[
            *boxes,
            Curve(role="theory", name=PROMISED, x=seen.degrees, y=promised, dash="dash"),
            Curve(role="released", name="observed", x=seen.degrees, y=np.maximum(seen.error, floor)),
            replace(guess_rule(y=guess), side="right"),  # a first measured direction's error stands at the left
        ],
        caption="Orange: what is promised, where the margin is there."
        if seen.promised.any()
        else "No direction has the margin: nothing is promised.",
        sentence=f"At ε = {exactly(epsilon)} a release of {seen.counts} counts is {said}{beyond}. Promised of the "
        f"former, but for a chance of {BETA:g}: {percent(seen.bound)}. You guessed {percent(guess)}.",
    )


def moved(*, seen: Distortions) -> Picture:
    """Distortions of lengths and inner products against the dimensions kept, and what the theorem promises."""
    claimed = seen.claimed()
    places = np.array(seen.dimensions, dtype=np.float64)
    last = seen.dimensions[-1]
    marks = [
        Curve(role="theory", name="promised (Corollary 6.4)", x=places, y=claimed, dash="dash"),
        Dots(
            role="released",
            name="inner products, worst pair",
            x=places,
            y=seen.products.max(axis=1),
            low=np.median(seen.products, axis=1),
            high=seen.products.max(axis=1),
        ),
        Curve(role=OTHERS[0], name="lengths, worst row", x=places, y=seen.lengths.max(axis=1), dash="dot"),
        Rule(role="ink", x=float(seen.before), label=f"{seen.before} numbers before"),
    ]
    return lesson_picture(
        title="Shrinking the dimensions",
        x=Axis(title="dimensions T kept", log=True, low=0.8, high=1.25 * last, ticks=(1, 4, 16, 64, 256, 1024)),
        y=Axis(title="distortion", log=True, low=0.03, high=4),
        marks=marks,
        caption="Dots end at the median pair; the promise starts to the right of the rows' own dimensions.",
        sentence=f"At T = {seen.before} random signs move an inner product of {seen.before}-number digits by at most "
        f"{rounded_up(float(seen.products[seen.dimensions.index(seen.before)].max()))} in "
        f"{percent(1 - 2 * seen.chance)} of the matrices; the theorem says nothing below T = {seen.starts}. At "
        f"T = {last:,} it promises {rounded_up(float(claimed[-1]))}, and "
        f"{significant(float(seen.products[-1].max()))} is seen.",
    )
