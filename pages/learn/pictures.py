"""Shared parts of the lessons' pictures: the axis of ε, dots with intervals, lower bounds, the guess, a table."""

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

IMPOSSIBLE = "impossible (lower bound)"
MIN_EPSILON, MAX_EPSILON = 0.08, 12.5
"""Default ends of an axis of ε."""
OTHERS = tuple(f"other-{place}" for place in range(len(LIGHT.others)))
"""Roles of compared series."""
MEASURED = ("mechanism:", "released")
"""Prefixes of the roles of measured marks."""


def epsilon_axis(epsilon: float) -> Axis:
    """Return the axis of ε, which includes the current one."""
    return Axis(
        title="← private · ε · accurate →",
        log=True,
        low=min(MIN_EPSILON, epsilon * 0.8),
        high=max(MAX_EPSILON, epsilon * 1.25),
        ticks=(0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    )


def epsilon_grid(epsilon: float, size: int = 60) -> Floats:
    """Return about ``size`` values of ε along its axis in equal factors, with the current one and 1."""
    axis = epsilon_axis(epsilon)
    return np.unique(np.append(np.geomspace(axis.low or 0, axis.high or 0, size), (epsilon, 1.0)))


def curves(x: ArrayLike, by_name: Mapping[str, ArrayLike]) -> list[Curve]:
    """Return curves over the same x (K,), with different colours and dashes."""
    return [
        Curve(role=OTHERS[place % len(OTHERS)], name=name, x=x, y=y, dash=DASHES[(place + 1) % len(DASHES)])
        for place, (name, y) in enumerate(by_name.items())
    ]


def runs(name: str, x: ArrayLike, values: Floats, *, role: str = "released", share: float = 0.9) -> Dots:
    """Return the mean over runs (K, R) at each x (K,), with error bars for the middle share of the runs."""
    low, high = np.quantile(values, ((1 - share) / 2, (1 + share) / 2), axis=1)
    return Dots(role=role, name=name, x=x, y=values.mean(axis=1), low=low, high=high)


def impossible_side(x: ArrayLike, y: ArrayLike, *, end: float, corner: Corner, label: str = IMPOSSIBLE) -> Wall:
    """Return the region between a lower or upper bound (K,) and ``end``, which is impossible."""
    return Wall(x=x, y=y, end=end, label=label, corner=corner)


def axis_floor(values: ArrayLike, usual: float) -> float:
    """Return the lower end of a logarithmic axis: the default, or below the smallest positive value."""
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
    """Return the errors of 95% of the runs with bars to the median, (K,) each; infinite ones (refusals) have no dot.

    Errors of 0 are just above the floor; their hover texts have the value 0.

    Args:
        name: of the series.
        x: values of ε.
        quantile_95: 95% quantiles of the error.
        median: medians.
        floor: lower end of the logarithmic axis.
        role: of the dots.
        error_words: returns an error in words, with its unit.
    """
    answered = np.isfinite(quantile_95)
    x, quantile_95, median = x[answered], quantile_95[answered], median[answered]
    least = 1.25 * floor  # so that dots are not cut off
    high = np.maximum(quantile_95, least)
    return Dots(
        role=role,
        name=name,
        x=x,
        y=high,
        low=np.maximum(median, least),
        high=high,
        hover=[
            f"{name} at ε = {significant(at)}: error of 95% of releases at most {error_words(upper)}, of "
            f"half at most {error_words(middle)}"
            for at, upper, middle in zip(x.tolist(), quantile_95.tolist(), median.tolist(), strict=True)
        ],
    )


def as_crosses(dots: Dots) -> Dots:
    """Return dots as thin crosses, for wrong guesses; marks below them stay visible."""
    return replace(dots, shape="x-thin", size=14)


def blind_guess_rule() -> Rule:
    """Return the rule of the share that a blind guess finds."""
    return Rule(role="quiet", y=0.5, label="a random guess", dash="dot", below=True)


def guess_rule(*, x: float | None = None, y: float | None = None, label: str = "your guess") -> Rule:
    """Return the rule of the user's guess."""
    return Rule(role="guess", x=x, y=y, label=label, dash="dash", side="left")


def epsilon_rule(epsilon: float) -> Rule:
    """Return the rule of the current ε."""
    return Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}")


def hide_measured(shown: Picture) -> Picture:
    """Return the picture before the result is revealed: axes, known marks and the guess, without measured marks."""
    visible_marks: list[Mark] = [
        mark for mark in shown.marks if isinstance(mark, Rule | Heat) and not mark.role.startswith(MEASURED)
    ]
    guess = any(mark.role == "guess" for mark in visible_marks)
    return replace(
        shown,
        x=_with_ends(shown.x, [each for mark in shown.marks for each in _places(mark, "x")]),
        y=_with_ends(shown.y, [each for mark in shown.marks for each in _places(mark, "y")]),
        marks=[*visible_marks, Words(role="guess", text="?", x=0.5, y=0.45, inside=True, size=72, bold=True)],
        caption=f"{'Your guess is marked; the' if guess else 'The'} result is hidden.",
        sentence=f"{shown.title}: hidden until you have guessed.",
        table={"result": ["hidden until you have guessed"]},
        frames=(),
    )


def _places(mark: Mark, name: str) -> list[float]:
    """Return the positions of a mark's points along an axis; empty for marks across the picture."""
    value = getattr(mark, name, None) if isinstance(mark, Curve | Dots) else None
    return [float(each) for each in numbers(value).ravel() if np.isfinite(each)]


def _with_ends(axis: Axis, values: Sequence[float]) -> Axis:
    """Return the axis with fixed ends, which the hidden marks determine."""
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
    """Return a picture with the table of its numbers and with separate labels of its vertical rules."""
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
    """Return the marks with the labels of vertical rules on different lines, so that they do not overlap."""
    lines = count(int(any(isinstance(mark, Wall) and mark.corner.startswith("top") for mark in marks)))
    return [
        replace(mark, line=next(lines), side="left" if _along(x, mark.x) > 0.6 else "right")
        if isinstance(mark, Rule) and mark.x is not None and mark.label
        else mark
        for mark in marks
    ]


def _drop_zero_walls(marks: Sequence[Mark], y: Axis) -> list[Mark]:
    """Return the marks without bounds of 0 on a logarithmic axis."""
    return [
        replace(mark, x=numbers(mark.x)[numbers(mark.y) > 0], y=numbers(mark.y)[numbers(mark.y) > 0])
        if isinstance(mark, Wall) and y.log
        else mark
        for mark in marks
    ]


def _along(axis: Axis, value: float) -> float:
    """Return the position of a value along an axis, 0 to 1; one half if an end is open."""
    if axis.low is None or axis.high is None:
        return 0.5
    low, high, at = np.log([axis.low, axis.high, value]) if axis.log else (axis.low, axis.high, value)
    return float((at - low) / (high - low))


def _table(marks: Sequence[Mark], *, x: str, y: str) -> dict[str, list[Any]]:
    """Return a table with a row for each point of every curve, dot and bound, with intervals if there are any."""
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
