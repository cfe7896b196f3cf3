"""What the pictures of lessons share: an axis of ε, runs as dots with intervals, walls, the reader's guess, a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Floats, exactly
from pages.charts.palette import LIGHT
from pages.charts.picture import Axis, Corner, Curve, Dots, Heat, Mark, Picture, Rule, Wall, Words, numbers
from pages.charts.roles import DASHES
from pages.charts.words import short_numbers, significant

IMPOSSIBLE = "impossible for a private method"
MIN_EPSILON, MAX_EPSILON = 0.08, 12.5
"""Usual ends of an axis of ε; the measured ones are well inside."""
OTHERS = tuple(f"other-{place}" for place in range(len(LIGHT.others)))
"""Roles of what a picture compares."""
MEASURED = ("mechanism:", "released")
"""How roles begin of what only a run can tell."""


def epsilon_axis(epsilon: float) -> Axis:
    """The axis of ε, at least as far as where the reader stands."""
    return Axis(
        title="← private · privacy loss ε · accurate →",
        log=True,
        low=min(MIN_EPSILON, epsilon * 0.8),
        high=max(MAX_EPSILON, epsilon * 1.25),
        ticks=(0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    )


def epsilon_grid(epsilon: float, size: int = 60) -> Floats:
    """Values of ε all along its axis, in equal factors; the reader's and 1 among them. About (size,)."""
    axis = epsilon_axis(epsilon)
    return np.unique(np.append(np.geomspace(axis.low or 0, axis.high or 0, size), (epsilon, 1.0)))


def curves(x: ArrayLike, by_name: Mapping[str, ArrayLike]) -> list[Curve]:
    """Curves over the same places (K,), told apart by colour and dash; none is the picture's promise or release."""
    return [
        Curve(role=OTHERS[place % len(OTHERS)], name=name, x=x, y=y, dash=DASHES[(place + 1) % len(DASHES)])
        for place, (name, y) in enumerate(by_name.items())
    ]


def runs(name: str, x: ArrayLike, values: Floats, *, role: str = "released", share: float = 0.9) -> Dots:
    """The mean over runs (K, R) at each place (K,), with the middle share of the runs."""
    low, high = np.quantile(values, ((1 - share) / 2, (1 + share) / 2), axis=1)
    return Dots(role=role, name=name, x=x, y=values.mean(axis=1), low=low, high=high)


def impossible_side(x: ArrayLike, y: ArrayLike, *, end: float, corner: Corner, label: str = IMPOSSIBLE) -> Wall:
    """The impossible side of a curve (K,): from it to ``end``."""
    return Wall(x=x, y=y, end=end, label=label, corner=corner)


def axis_floor(values: ArrayLike, usual: float) -> float:
    """Where a logarithmic axis of these values starts: at the usual place, or below the least that is above 0."""
    above = numbers(values)[np.isfinite(numbers(values)) & (numbers(values) > 0)]
    return min(usual, float(above.min()) / 1.5) if len(above) else usual


def error_dots(
    name: str,
    x: Floats,
    *,
    quantile_95: Floats,
    median: Floats,
    floor: float,
    role: str,
    error_words: Callable[[float], str],
) -> Dots:
    """Errors that 95% of the runs stay within, with bars to the median, (K,) each; refusals (infinite) have no dot.

    Errors of 0 stand just above the floor, and say that they are 0 when pointed at.

    Args:
        name: of what errs.
        x: places, values of ε.
        quantile_95: errors of 95%.
        median: medians.
        floor: where the logarithmic axis starts.
        role: of the dots.
        error_words: an error in words, with its unit.
    """
    answered = np.isfinite(quantile_95)
    x, quantile_95, median = x[answered], quantile_95[answered], median[answered]
    least = 1.25 * floor  # whole dots
    high = np.maximum(quantile_95, least)
    return Dots(
        role=role,
        name=name,
        x=x,
        y=high,
        low=np.maximum(median, least),
        high=high,
        hover=[
            f"{name} at ε = {significant(at)}: 95% of releases err by at most {error_words(upper)}, half by at most "
            f"{error_words(middle)}"
            for at, upper, middle in zip(x.tolist(), quantile_95.tolist(), median.tolist(), strict=True)
        ],
    )


def as_crosses(dots: Dots) -> Dots:
    """The dots as thin crosses, with what is below still seen: what somebody got wrong."""
    return replace(dots, shape="x-thin", size=14)


def blind_guess_rule() -> Rule:
    """The share that a blind guess finds of a half."""
    return Rule(role="quiet", y=0.5, label="a blind guess", dash="dot", below=True)


def guess_rule(*, x: float | None = None, y: float | None = None, label: str = "your guess") -> Rule:
    """What the reader guessed."""
    return Rule(role="guess", x=x, y=y, label=label, dash="dash", side="left")


def epsilon_rule(epsilon: float) -> Rule:
    """Where the reader stands on an axis of ε."""
    return Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}")


def hide_measured(shown: Picture) -> Picture:
    """The picture before the reader has asked to see: axes, what is known already, and the guess; nothing measured."""
    visible_marks: list[Mark] = [
        mark for mark in shown.marks if isinstance(mark, Rule | Heat) and not mark.role.startswith(MEASURED)
    ]
    guess = any(mark.role == "guess" for mark in visible_marks)
    return replace(
        shown,
        x=_with_ends(shown.x, [each for mark in shown.marks for each in _places(mark, "x")]),
        y=_with_ends(shown.y, [each for mark in shown.marks for each in _places(mark, "y")]),
        marks=[*visible_marks, Words(role="guess", text="?", x=0.5, y=0.45, inside=True, size=72, bold=True)],
        caption=f"{'Your guess is marked; what' if guess else 'What'} happens is hidden.",
        sentence=f"{shown.title}: hidden until you have guessed.",
        table={"what happens": ["hidden until you have guessed"]},
        frames=(),
    )


def _places(mark: Mark, name: str) -> list[float]:
    """Where a mark's points are along an axis; none for marks across the picture."""
    value = getattr(mark, name, None) if isinstance(mark, Curve | Dots) else None
    return [float(each) for each in numbers(value).ravel() if np.isfinite(each)]


def _with_ends(axis: Axis, values: Sequence[float]) -> Axis:
    """The axis with both ends, as wide as the marks need: without them it would go anywhere."""
    if axis.labels or not values:
        return axis
    usable_values = [each for each in values if each > 0] if axis.log else list(values)
    ends = (min(usable_values, default=1.0), max(usable_values, default=10.0))
    return replace(
        axis,
        low=axis.low if axis.low is not None else ends[0],
        high=axis.high if axis.high is not None else ends[1] if ends[1] > ends[0] else ends[0] + 1,
    )


def lesson_picture(
    *, title: str, x: Axis, y: Axis, marks: Sequence[Mark], sentence: str, caption: str = "", height: int = 360
) -> Picture:
    """A picture with the table of its numbers, whose upright rules have a line of words each, on the side with room."""
    return Picture(
        title=title,
        x=x,
        y=y,
        marks=_separate_labels(_drop_zero_walls(marks, y), x),
        sentence=sentence,
        caption=caption,
        table=_table(marks, x=x.title, y=y.title),
        height=height,
    )


def _separate_labels(marks: Sequence[Mark], x: Axis) -> list[Mark]:
    """Upright rules may be at the same place: their words stand on a line each, below those of a wall at the top."""
    lines = count(int(any(isinstance(mark, Wall) and mark.corner.startswith("top") for mark in marks)))
    return [
        replace(mark, line=next(lines), side="left" if _along(x, mark.x) > 0.6 else "right")
        if isinstance(mark, Rule) and mark.x is not None and mark.label
        else mark
        for mark in marks
    ]


def _drop_zero_walls(marks: Sequence[Mark], y: Axis) -> list[Mark]:
    """Walls where the axis has a place for them: an error of 0 is no wall, and a logarithmic axis has no 0."""
    return [
        replace(mark, x=numbers(mark.x)[numbers(mark.y) > 0], y=numbers(mark.y)[numbers(mark.y) > 0])
        if isinstance(mark, Wall) and y.log
        else mark
        for mark in marks
    ]


def _along(axis: Axis, value: float) -> float:
    """Where a value lies on an axis with both ends, 0 to 1; one half where an end is open."""
    if axis.low is None or axis.high is None:
        return 0.5
    low, high, at = np.log([axis.low, axis.high, value]) if axis.log else (axis.low, axis.high, value)
    return float((at - low) / (high - low))


def _table(marks: Sequence[Mark], *, x: str, y: str) -> dict[str, list[Any]]:
    """Every curve, dot and wall, a row for each of its points, with intervals where there are any."""
    table: dict[str, list[Any]] = {"what": [], x: [], y: [], "from": [], "to": []}
    for mark in marks:
        if not isinstance(mark, Curve | Dots | Wall):
            continue
        places = short_numbers(numbers(mark.x))
        table["what"] += [mark.label if isinstance(mark, Wall) else mark.name] * len(places)
        table[x] += places
        table[y] += short_numbers(numbers(mark.y))
        for column in ("from", "to"):
            ends = (mark.low if column == "from" else mark.high) if isinstance(mark, Dots) else None
            table[column] += [None] * len(places) if ends is None else short_numbers(numbers(ends))
    if all(end is None for end in table["from"]):
        del table["from"], table["to"]
    return table
