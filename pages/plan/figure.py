"""The worst error of every statistic of a plan: expected, guaranteed, its target, and the lower bound."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from dprelease.plan.errors import Prediction
from dprelease.plan.groups import PEOPLE
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from pages.charts.picture import Axis, Bars, Dots, Mark, Picture
from pages.charts.words import percent, printable_labels, rows
from pages.plan.margin_words import of_scale

ABOVE, LINE, TWO_LINES = 86, 34, 46
"""Pixels of the picture besides its lines, of a line, and of a line whose label has two."""
TOP = 2.0
"""Upper end of the axis: a bound above 1 gives no guarantee."""
SMALL = 100
"""Rows of a small count, for relative errors."""
LABEL_LETTERS = 20
"""Letters in a line of a label, which leave half of a phone to the picture."""
IF_N = "guaranteed if n is correct"
"""Name of a bound that holds only if n is the number of rows; a certificate contains no such bound."""
WALL_HEIGHT = 0.62
"""Height of the impossible region, as a share of a line."""


def planned_errors(plan: Plan, predictions: Sequence[Prediction], *, titles: Sequence[str]) -> Picture:
    """Return a line for each statistic: a hollow dot at the expected worst error, a tick at the guaranteed one.

    Args:
        plan: the plan.
        predictions: one for each statistic.
        titles: of the statistics.
    """
    names = printable_labels(f"{place}. {title}" for place, title in enumerate(titles, 1))
    labels = tuple("\n".join(textwrap.wrap(name, LABEL_LETTERS, max_lines=2, placeholder="…")) for name in names)
    floor = min(
        [
            each
            for prediction in predictions
            for each in (prediction.worst, prediction.promised, prediction.impossible)
            if 0 < each < math.inf
        ]
        + [question.target for question in plan.questions if question.target is not None]
        + [0.5]
    )
    bottom = floor / 2
    wholes = sorted(
        {_of_what(question).removeprefix("of ").replace("its ", "the ") or "n" for question in plan.questions}
    )
    whole = " or ".join(wholes) if len(wholes) <= 2 else "its whole"
    marks: list[Mark] = []
    walls = [
        (place, prediction.impossible) for place, prediction in enumerate(predictions) if prediction.impossible > bottom
    ]
    if walls:
        middle = np.array([float(place) for place, _ in walls])
        bars = Bars(
            role="impossible", name="impossible (lower bound)", start=middle - WALL_HEIGHT / 2,
            end=middle + WALL_HEIGHT / 2,
            base=np.full(len(walls), bottom), value=np.array([error for _, error in walls]), across=True,
        )  # fmt: skip
        marks.append(bars)
    for role, name, shape, errors in (
        ("ink", "target", "diamond-open", [question.target for question in plan.questions]),
        ("theory", "guaranteed", "line-ns-open", [None if each.if_n else each.promised for each in predictions]),
        ("theory", IF_N, "line-ne-open", [each.promised if each.if_n else None for each in predictions]),
        ("released", "expected", "circle", [each.worst for each in predictions]),
    ):
        points = [(place, each) for place, each in enumerate(errors) if each is not None and 0 < each <= TOP]
        if points:
            dots = Dots(
                role=role,
                name=name,
                shape=shape,
                size=10 if role == "released" else 14,
                x=[error for _, error in points],
                y=[float(place) for place, _ in points],
                hollow=[role == "released"] * len(points),
                hover=[
                    f"{names[at]}: {name} {_amount(plan, at, error)}"
                    + (_relative(plan, at, predictions[at]) if role == "released" else "")
                    for at, error in points
                ],
            )
            marks.append(dots)
    return Picture(
        title="Worst error of every statistic of the plan",
        x=Axis(
            title=f"worst error, share of {whole} (log)",
            log=True,
            low=bottom,
            high=TOP,
            form=".3~p",
            rows=plan.n if wholes == ["n"] else 0,  # a mean's error is no number of rows
            ticks=tuple(10.0**power for power in range(-9, 1)),  # labels in between would overlap on a phone
        ),
        y=Axis(labels=labels, letters=LABEL_LETTERS),
        marks=marks,
        sentence=_sentence(plan, predictions, names),
        table=_table(plan, predictions, names),
        height=ABOVE + (TWO_LINES if any("\n" in each for each in labels) else LINE) * len(names),
        about=",".join(names),
    )


def _amount(plan: Plan, place: int, error: float) -> str:
    """Return an error in words: a share of n and rows, or a share of a mean's or a margin's scale."""
    words = _of_what(plan.questions[place])
    return f"{percent(error)} {words or f'({rows(error, plan.n)})'}"


def _of_what(question: PlannedQuestion) -> str:
    """Return what a statistic's errors are shares of; empty for n."""
    if question.statistic:
        return "" if question.statistic == PEOPLE else of_scale(question)
    return "of its range" if question.quantity == "mean" else ""


def worst_sentence(plan: Plan, place: int, prediction: Prediction) -> str:
    """Return the expected and the guaranteed worst error of one statistic, as a sentence."""
    expected = "not predicted" if not prediction.worst < math.inf else _amount(plan, place, prediction.worst)
    if not prediction.promised < math.inf:
        return f"Worst error: expected {expected}. No theorem guarantees it."
    return f"Worst error: expected {expected}, {IF_N if prediction.if_n else 'guaranteed'} " + (
        f"{_amount(plan, place, prediction.promised)}."
    )


def _relative(plan: Plan, place: int, prediction: Prediction) -> str:
    """Return the mean error relative to a small count; empty for means, quantiles and statistics by group."""
    if plan.questions[place].quantity or plan.questions[place].statistic:
        return ""
    return f"\nmean error {percent(prediction.typical * plan.n / SMALL)} of a count of {SMALL} rows"


def _sentence(plan: Plan, predictions: Sequence[Prediction], names: Sequence[str]) -> str:
    """Return the expected errors and the missed targets as sentences."""
    errors = "; ".join(
        f"{name}: {_expected(question, each)}"
        for name, question, each in zip(names, plan.questions, predictions, strict=True)
    )
    missed_places = missed_targets(plan, predictions)
    text = f"Expected worst errors (half of all releases have at most this error): {errors}."
    if any(each.if_n for each in predictions):
        depends_on_n = ", ".join(name for name, each in zip(names, predictions, strict=True) if each.if_n)
        text += f" Guaranteed only if n is the true number of rows, which is not checked: {depends_on_n}."
    if missed_places:
        text += f" No theorem guarantees the target of: {', '.join(names[place] for place in missed_places)}."
    if not all(each.on_all_data for each in predictions):
        text += " If the error of a mechanism depends on the rows, its expected error is computed on mock data."
    return text


def _expected(question: PlannedQuestion, prediction: Prediction) -> str:
    """Return an expected error in words."""
    if math.isnan(prediction.promised):
        return "not computed yet"
    if prediction.worst == math.inf:
        return "not predicted"
    return f"{percent(prediction.worst)} {_of_what(question)}".strip()


def missed_targets(plan: Plan, predictions: Sequence[Prediction]) -> list[int]:
    """Return the indices of the statistics whose theorem does not guarantee the target; see also ``wide_margins``."""
    pairs = enumerate(zip(plan.questions, predictions, strict=True))
    return [
        place
        for place, (question, prediction) in pairs
        if question.target is not None and not question.statistic and prediction.promised > question.target
    ]


def _table(plan: Plan, predictions: Sequence[Prediction], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the table of all predictions."""
    return {
        "statistic": list(names),
        "mechanism": [question.entry.title for question in plan.questions],
        "ε": [question.epsilon for question in plan.questions],
        "target": [question.target for question in plan.questions],
        "worst error, expected": [each.worst for each in predictions],
        "root mean square of the worst error": [
            each.mean_square if math.isfinite(each.mean_square) else None for each in predictions
        ],
        "mean error, expected": [each.typical for each in predictions],
        f"mean error, relative to a count of {SMALL} rows": [
            None if planned.quantity or planned.statistic else each.typical * plan.n / SMALL
            for planned, each in zip(plan.questions, predictions, strict=True)
        ],
        "worst error, guaranteed": [each.promised if each.promised < math.inf else None for each in predictions],
        "guaranteed only if n is correct": [each.if_n for each in predictions],
        "impossible below": [each.impossible for each in predictions],
        "margin of a group": [each.margin.half_width if each.margin else None for each in predictions],
        "group's rows": [each.margin.people if each.margin else None for each in predictions],
        "holds on all data": [each.on_all_data for each in predictions],
    }
