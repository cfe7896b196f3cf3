"""Pictures of a class of queries: its matrix with a shattered set, and its lower and upper error bounds."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats, Integers, Neighbours
from dpcore.limits.attacks.shattering import Shattering
from dpcore.limits.attacks.vc import recovery_ceiling
from dplab.limits.class_errors import MAX_ROWS, ClassErrors
from dplab.limits.own_class import LOSSES, REPEATS, ClassAttacks
from pages.charts.picture import Axis, Curve, Dots, Heat, Picture, Region, budget_axis
from pages.charts.words import percent, percent_down, significant
from pages.learn.pictures import blind_guess_rule, curves, impossible_side, lesson_picture, runs

MAX_QUESTIONS, MAX_POINTS = 32, 32
"""Maximum numbers of queries and points that are drawn."""
NAMED_POINTS = 16
"""Number of point names that fit side by side on a phone."""
NAMED_QUERIES = 26
"""Number of query names that fit below each other in the highest matrix."""
TALLEST = 450
"""Maximum pixels of the matrix, so that the lesson fits one screen."""
FLOOR, TOP = 0.001, 10.0
"""Ends of the axis of errors."""


def matrix(*, weights: Floats, shattering: Shattering) -> Picture:
    """Return the matrix of queries and points, with marks for each subset's query on the shattered points.

    Args:
        weights: the class, (questions, points).
        shattering: its shattered set.
    """
    points, queries = shattering.points.tolist(), shattering.queries.tolist()
    rows = _choose_places(len(weights), queries, MAX_QUESTIONS)
    columns = sorted(_choose_places(weights.shape[1], points, MAX_POINTS))
    every = math.ceil(len(columns) / NAMED_POINTS)
    names = [str(column + 1) if place % every == 0 else "" for place, column in enumerate(columns)]
    each = math.ceil(len(rows) / NAMED_QUERIES)
    marked = np.array(
        [
            (columns.index(point), rows.index(query), bool(subset >> bit & 1))
            for subset, query in enumerate(queries)
            for bit, point in enumerate(points)
            if query in rows and point in columns
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    hidden = len(weights) - len(rows)
    hover_texts = [
        f"query {row + 1}, point {column + 1}: weight {significant(float(weights[row, column]))}"
        for row in rows
        for column in columns
    ]
    return Picture(
        title="The class, and the points it shatters",
        x=Axis(title="point", labels=tuple(names)),
        y=Axis(labels=tuple(f"query {row + 1}" if place % each == 0 else "" for place, row in enumerate(rows))),
        marks=[
            Heat(
                role="true",
                x=np.arange(len(columns) + 1) - 0.5,
                y=np.arange(len(rows) + 1) - 0.5,
                value=weights[np.ix_(rows, columns)],
                low=0,
                high=1,
                unit="weight of the point",
                gap=1,
                hover=hover_texts,
            ),
            _marks(marked, "included by its subset's query", hover_texts, len(columns), takes=True),
            _marks(marked, "excluded by it", hover_texts, len(columns), takes=False),
        ],
        sentence=f"{shattering.sentence()} {_shattered(shattering)}"
        + (f" {hidden:,} more queries are not shown." if hidden else ""),
        table={
            "subset": [
                ", ".join(str(point + 1) for bit, point in enumerate(points) if subset >> bit & 1) or "none"
                for subset in range(len(queries))
            ],
            "question": [query + 1 for query in queries],
            **{
                f"weight of point {point + 1} (level {float(level):.6g})": weights[shattering.queries, point].tolist()
                for point, level in zip(points, shattering.levels, strict=True)
            },
        },
        height=min(120 + 22 * len(rows), TALLEST),
    )


def _marks(positions: Integers, name: str, hover_texts: list[str], width: int, *, takes: bool) -> Dots:
    """Return marks for shattered points that are included (filled) or excluded (hollow)."""
    shown = positions[positions[:, 2] == takes]
    texts = [
        f"{hover_texts[row * width + column]}: {'taken' if takes else 'left'}" for column, row, _ in shown.tolist()
    ]
    return Dots(
        role="theory", name=name, x=shown[:, 0], y=shown[:, 1], hollow=[not takes] * len(shown), size=10, hover=texts
    )


def _shattered(shattering: Shattering) -> str:
    """Return the shattered points, and how the picture marks them, as a sentence."""
    names = [str(point + 1) for point in shattering.points]
    if not names:
        return "No two queries differ by 2γ or more on any point: no point is shattered."
    if len(names) == 1:
        return f"One query includes point {names[0]} (●) and one excludes it (○), so this point alone is shattered."
    return (
        f"Points {', '.join(names)} are shattered. For each of their subsets, one of "
        f"{len(shattering.queries):,} queries includes (●) exactly that subset and excludes (○) the rest."
    )


def _choose_places(number: int, first: list[int], limit: int) -> list[int]:
    """Return at most ``limit`` indices below ``number``: the given ones first, then others."""
    chosen = list(dict.fromkeys(first))[:limit]
    others = [place for place in range(number) if place not in set(chosen)][: limit - len(chosen)]
    return chosen + others


def worst_errors(bounds: ClassErrors, *, dimension: int) -> Picture:
    """Return the worst error against the number of rows: the lower bound, and the net mechanism's guaranteed error.

    Args:
        bounds: both, along a grid of rows.
        dimension: of the class, at most.
    """
    rows, forbidden = bounds.rows, bounds.forbidden
    accurate_rows = rows[bounds.promised <= 0.1]
    lower_sentence = (
        "Too few points with similar levels are shattered to hide half of them. No error is impossible here."
        if forbidden is None
        else f"With one row per hidden point (n = {rows[0]:,}), an error below "
        f"{percent_down(float(forbidden[0]))} of n is impossible."
    )
    promise_sentence = f"Up to n = {MAX_ROWS:,} the net mechanism does not guarantee 10%."
    if len(accurate_rows):
        promise_sentence = f"The net mechanism guarantees 10% from about n = {accurate_rows[0]:,}."
    known = {} if bounds.by_dimension is None else {f"knowing its dimension alone, {dimension}": bounds.by_dimension}
    return lesson_picture(
        title="Impossible error and guaranteed error",
        x=Axis(title="rows n", log=True, low=int(rows[0]), high=int(rows[-1]), form="~s"),
        y=Axis(
            title="worst error, share of n", log=True, low=FLOOR, high=TOP, form="~p", ticks=(0.001, 0.01, 0.1, 1, 10)
        ),
        marks=[
            Region(role="vacuous", y=(1.0, TOP), label="no guarantee", corner="top right"),
            *([] if forbidden is None else [impossible_side(rows, forbidden, end=FLOOR, corner="bottom left")]),
            Curve(role="theory", name=f"net mechanism, {bounds.questions:,} queries", x=rows, y=bounds.promised),
            *curves(rows, known),
        ],
        sentence=f"{lower_sentence} {promise_sentence} Between the two curves nothing is proved here.",
    )


def reconstructed(attacks: ClassAttacks) -> Picture:
    """Return the share of the secret half that two attacks find, against ε, with the most that any attack finds."""
    losses, grid = np.array(LOSSES), np.geomspace(LOSSES[0], LOSSES[-1], 80)
    ceiling = np.array(
        [recovery_ceiling(epsilon=each, repeats=REPEATS, neighbours=Neighbours.REPLACE_ONE) for each in grid.tolist()]
    )
    final = float(attacks.brute_force.mean(axis=1)[-1]), float(attacks.program.mean(axis=1)[-1])
    return lesson_picture(
        title="A secret half, reconstructed",
        x=budget_axis(LOSSES, title="← private · ε of all answers · accurate →", ticks=(0.1, 1, 10, 100)),
        y=Axis(title="share of the half found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            impossible_side(grid, ceiling, end=1.05, corner="top left", label="impossible on average"),
            runs("every half tried, middle 90% of runs", losses, attacks.brute_force),
            runs("linear program", losses * 1.1, attacks.program, role="other-1"),
            blind_guess_rule(),
        ],
        sentence=f"Half of {attacks.points} shattered points are the data, one row each. All answers of the class have "
                 f"noise. At ε = {LOSSES[-1]:g} trying every half finds {percent(final[0])} of it on average, a linear "
                 f"program {percent(final[1])}.",
    )  # fmt: skip
