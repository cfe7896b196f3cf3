"""What every question of a plan will be wrong by: predicted, promised, wanted, impossible."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from dprelease.plan.errors import Prediction
from dprelease.plan.questions import Plan
from pages.charts.picture import Axis, Bars, Dots, Mark, Picture
from pages.charts.words import percent, printable_labels, rows

ABOVE, LINE, TWO_LINES = 86, 34, 46
"""Pixels of the picture besides its lines, of each line, and of each where a name takes two."""
TOP = 2.0
"""From 1 on a promise says nothing."""
SMALL = 100
"""Rows of a count that is small."""
LABEL_LETTERS = 20
"""Letters beside the picture that leave it half of a phone."""
IF_N = "promised if n is right"
"""The tick of a promise whose n nothing checks: a certificate of the release gives no such number."""
WALL_HEIGHT = 0.62
"""Of a line: its bar of what is impossible."""


def planned_errors(plan: Plan, predictions: Sequence[Prediction], *, titles: Sequence[str]) -> Picture:
    """A line for each question: a hollow dot where the worst error is expected, a tick where it is promised to stay.

    Args:
        plan: the questions.
        predictions: one for each.
        titles: of the questions.
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
    marks: list[Mark] = []
    walls = [
        (place, prediction.impossible) for place, prediction in enumerate(predictions) if prediction.impossible > bottom
    ]
    if walls:
        middle = np.array([float(place) for place, _ in walls])
        marks.append(
            Bars(
                role="impossible", name="impossible to promise", start=middle - WALL_HEIGHT / 2,
                end=middle + WALL_HEIGHT / 2,
                base=np.full(len(walls), bottom), value=np.array([error for _, error in walls]), across=True,
            )
        )  # fmt: skip
    for role, name, shape, errors in (
        ("ink", "target", "diamond-open", [question.target for question in plan.questions]),
        (
            "theory",
            "promised",
            "line-ns-open",
            [None if prediction.if_n else prediction.promised for prediction in predictions],
        ),
        (
            "theory",
            IF_N,
            "line-ne-open",
            [prediction.promised if prediction.if_n else None for prediction in predictions],
        ),
        ("released", "predicted", "circle", [prediction.worst for prediction in predictions]),
    ):
        points = [(place, each) for place, each in enumerate(errors) if each is not None and 0 < each <= TOP]
        if points:
            marks.append(
                Dots(
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
            )
    return Picture(
        title="Worst error of every question of the plan",
        x=Axis(
            title="worst error, share of n (log)",
            log=True,
            low=bottom,
            high=TOP,
            form=".3~p",
            rows=plan.n,
            ticks=tuple(10.0**power for power in range(-9, 1)),  # those between touch on a phone
        ),
        y=Axis(labels=labels, letters=LABEL_LETTERS),
        marks=marks,
        sentence=_sentence(plan, predictions, names),
        table=_table(plan, predictions, names),
        height=ABOVE + (TWO_LINES if any("\n" in each for each in labels) else LINE) * len(names),
        about=",".join(names),
    )


def _amount(plan: Plan, place: int, error: float) -> str:
    """An error in words: a share of n and rows, or for a mean a share of the declared range."""
    mean = plan.questions[place].quantity == "mean"
    return f"{percent(error)} {'of its range' if mean else f'({rows(error, plan.n)})'}"


def _relative(plan: Plan, place: int, prediction: Prediction) -> str:
    """What the mean error is of a small count; nothing of a value."""
    if plan.questions[place].quantity:
        return ""
    return f"\nmean error {percent(prediction.typical * plan.n / SMALL)} of a count of {SMALL} rows"


def _sentence(plan: Plan, predictions: Sequence[Prediction], names: Sequence[str]) -> str:
    """What is to be expected, and which targets are missed."""
    errors = "; ".join(
        f"{name}: {'not worked out yet' if math.isnan(each.promised) else percent(each.worst)}"
        f"{' of its range' * (question.quantity == 'mean')}"
        for name, question, each in zip(names, plan.questions, predictions, strict=True)
    )
    missed_places = missed_targets(plan, predictions)
    text = f"Worst errors to be expected (at most half of all releases err by more): {errors}."
    if any(each.if_n for each in predictions):
        depends_on_n = ", ".join(name for name, each in zip(names, predictions, strict=True) if each.if_n)
        text += f" Promised only if n is the number of rows, which nothing checks: {depends_on_n}."
    if missed_places:
        text += f" Not promised to keep the target: {', '.join(names[place] for place in missed_places)}."
    if not all(each.on_all_data for each in predictions):
        text += " Where the mechanism's error depends on the rows, this is a forecast on made-up ones."
    return text


def missed_targets(plan: Plan, predictions: Sequence[Prediction]) -> list[int]:
    """Places of the questions whose theorem does not promise the target."""
    pairs = enumerate(zip(plan.questions, predictions, strict=True))
    return [
        place
        for place, (question, prediction) in pairs
        if question.target is not None and prediction.promised > question.target
    ]


def _table(plan: Plan, predictions: Sequence[Prediction], names: Sequence[str]) -> dict[str, list[Any]]:
    """All of it."""
    return {
        "question": list(names),
        "mechanism": [question.entry.title for question in plan.questions],
        "ε": [question.epsilon for question in plan.questions],
        "target": [question.target for question in plan.questions],
        "worst error, predicted": [each.worst for each in predictions],
        "root mean square of the worst error": [each.mean_square for each in predictions],
        "mean error, predicted": [each.typical for each in predictions],
        f"mean error, relative to a count of {SMALL} rows": [
            None if planned.quantity else each.typical * plan.n / SMALL
            for planned, each in zip(plan.questions, predictions, strict=True)
        ],
        "worst error, promised": [each.promised if each.promised < math.inf else None for each in predictions],
        "promised only if n is right": [each.if_n for each in predictions],
        "impossible below": [each.impossible for each in predictions],
        "holds on all data": [each.on_all_data for each in predictions],
    }
