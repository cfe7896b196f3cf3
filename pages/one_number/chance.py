"""The chance of an answer against the robustness of the data: exact, observed, and impossible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats
from dplab.robust import FAR, Chances, ObservedAnswers
from pages.charts.picture import Anchor, Axis, Band, Curve, Dots, Mark, Picture, Rule, Wall, Words
from pages.charts.words import percent, short_numbers
from pages.one_number.words import nearly

CURVES = ("theory", "other-0")
"""Roles of the curves: this mechanism's, then the paper's parameters."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A data set on the curve: its place, its chance of an answer, and its name."""

    name: str
    x: float
    chance: float


def stability_axis(x: Floats, *, threshold: int) -> Axis:
    """Return the axis of rows that must change, logarithmic where the data are far beyond the threshold."""
    log = bool(x[-1] > FAR * threshold)
    title = f"stability: rows that must change{' (log)' if log else ''}"
    return Axis(title=title, log=log, low=float(x[0]), high=float(x[-1]), form="" if log else ",d")


def chance_curve(
    *,
    curves: Mapping[str, Chances],
    data: Sequence[Place],
    x: Axis,
    sentence: str,
    threshold: int | None = None,
    seen: ObservedAnswers | None = None,
) -> Picture:
    """Return the picture of answer chances, shaded under the first curve and hatched where they are impossible.

    Args:
        curves: chances by the name of the curve, at the same places; at most two, the first with the wall.
        data: data sets on the first curve, the user's first; none where they may not be shown.
        x: the axis of robustness, in whole rows or as a share.
        sentence: the sentence of the picture.
        threshold: the place of a vertical line, at which about half of the runs answer.
        seen: the share of previews of the user's data with an answer, if there were previews.
    """
    first = next(iter(curves.values()))
    marks: list[Mark] = []
    table: dict[str, Sequence[float | None]] = {x.title: short_numbers(first.x)}
    if len(first.never_wrong_bound):
        # Where the bound rises at once there is no room for the label.
        label = "impossible" if first.never_wrong_bound[len(first.x) // 5] < 0.8 else ""
        marks += [
            Wall(x=first.x, y=first.never_wrong_bound, end=1, label=label, corner="top left"),
            Curve(
                role="impossible",
                name="upper bound, if wrong answers are allowed",
                x=first.x,
                y=first.may_err_bound,
                dash="dot",
                width=1.5,
            ),
        ]
    marks.append(Band(role=CURVES[0], x=first.x, low=np.zeros_like(first.answer), high=first.answer, opacity=0.12))
    for role, (name, curve) in zip(CURVES, curves.items(), strict=False):
        dash = "solid" if role == CURVES[0] else "dash"
        marks.append(Curve(role=role, name=name, x=curve.x, y=curve.answer, dash=dash))
        table[f"probability of an answer{f', {name}' if len(curves) > 1 else ''}"] = short_numbers(curve.answer)
    if len(first.never_wrong_bound):
        table["upper bound, if no answer may be wrong"] = short_numbers(first.never_wrong_bound)
        table["upper bound, if wrong answers are allowed"] = short_numbers(first.may_err_bound)
    if threshold is not None:
        marks.append(Rule(role="quiet", x=threshold, label="half answer", dash="dash", line=2))
    if seen is not None and data:
        count = f"{seen.answered:,} of {seen.trials:,} previews gave an answer"
        interval = f"{percent(seen.low)} to {percent(seen.high)} with 95% confidence"
        hover = [f"{count}: {percent(seen.share)} ({interval})"]
        dots = Dots(
            role="released",
            name="previews answered",
            x=[data[0].x],
            y=[seen.share],
            low=[seen.low],
            high=[seen.high],
            size=11,
            hover=hover,
        )
        marks.append(dots)
    for place, each in reversed(list(enumerate(data))):  # the user's on top
        shape, size = ("diamond", 8) if place else ("circle", 7)
        at = f"{each.x:,.0f} rows" if threshold is not None else percent(each.x)
        hover = [f"{each.name}: {at}, probability of an answer {nearly(each.chance, digits=4)}"]
        marks.append(Dots(role="true", x=[each.x], y=[each.chance], shape=shape, size=size, hover=hover))
    # Only the user's data have a label: their neighbours are often at the same place.
    for mine in data[:1]:
        past = mine.x > (first.x[0] + first.x[-1]) / 2
        shift = (-10 if past else 10, -15 if mine.chance > 0.5 else 12)
        align: Anchor = "right" if past else "left"
        words = Words(role="true", text=mine.name, x=mine.x, y=mine.chance, align=align, shift=shift, bold=True)
        marks.append(words)
    return Picture(
        title=f"Probability of an answer against {x.title}",
        x=x,
        y=Axis(title="probability of an answer", low=-0.04, high=1.04, form="~p"),
        marks=marks,
        sentence=sentence,
        table=table,
        height=265,
    )
