"""A class of questions as a matrix with its shattered set, and the errors its dimension forbids and allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats, Neighbours
from dpcore.figures.figure import Figure, Records, framed, palette, percent
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall
from dpcore.figures.limits_plot import plot
from dpcore.limits import worth
from dpcore.limits.shattering import Shattering

MOST_ROWS, MOST_COLUMNS = 32, 32
"""Questions and points that are drawn."""
FLOOR = 0.001
"""Errors below are drawn here: a logarithmic axis has no zero."""
MOST_PEOPLE = 10**6
REPEATS = np.unique(np.geomspace(1, MOST_PEOPLE, 80).round().astype(np.int64))
"""Rows for each hidden point along the curve."""


def matrix(*, weights: Floats, found: Shattering, badge: str, dark: bool) -> Figure:
    """Questions as rows, points as columns; the shattered points framed, with what each subset's question does there.

    Args:
        weights: the class, (questions, points).
        found: its shattered set.
        badge: provenance.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    points = found.points.tolist()
    rows, columns = (
        _drawn(len(weights), found.queries.tolist(), MOST_ROWS),
        _drawn(weights.shape[1], points, MOST_COLUMNS, keep_order=True),
    )
    witness = {query: subset for subset, query in enumerate(found.queries.tolist())}
    cells: Records = [
        {"point": place, "question": _name(query), "weight": float(weights[query, column])}
        for query in rows
        for place, column in enumerate(columns)
    ]
    marks: Records = [
        {"point": columns.index(point), "question": _name(query),
         "mark": "●" if witness[query] >> bit & 1 else "○"}
        for query in rows if query in witness
        for bit, point in enumerate(points) if point in columns
    ]  # fmt: skip
    names = [str(column + 1) for column in columns]
    x: dict[str, Any] = {
        "field": "point", "type": "ordinal", "title": "point",
        "axis": {"orient": "top", "labelAngle": 0, "labelExpr": f"{names}[datum.value]", "labelOverlap": True,
                 "ticks": False},
    }  # fmt: skip
    y: dict[str, Any] = {
        "field": "question",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"ticks": False, "labelOverlap": True},
    }
    shade = {
        "field": "weight", "type": "quantitative", "scale": {"domain": [0, 1], "range": [colours.paper, colours.true]},
        "legend": {"title": "weight of the point", "gradientLength": 140, "tickCount": 2},
    }  # fmt: skip
    body = {
        "layer": [
            {
                "data": {"name": "cells"},
                "mark": {"type": "rect", "stroke": colours.grid, "strokeWidth": 1},
                "encoding": {"x": x, "y": y, "color": shade},
            },
            {
                "data": {"name": "marks"},
                "mark": {"type": "rect", "filled": False, "stroke": colours.theory, "strokeWidth": 2.5},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"name": "marks"},
                "mark": {"type": "text", "color": colours.theory, "fontSize": 13, "fontWeight": "bold"},
                "encoding": {"x": x, "y": y, "text": {"field": "mark"}},
            },
        ]
    }
    hidden = len(weights) - len(rows)
    part = f" {hidden:,} more questions are not drawn." if hidden else ""
    shattered = (
        f"Points {_list([point + 1 for point in points])} are shattered: of {len(found.queries):,} questions, one for "
        f"each subset, each takes (●) exactly its subset of them and leaves (○) the rest."
        if len(points) > 1
        else f"One question takes point {points[0] + 1} (●) and one leaves it (○): it alone is shattered."
        if points
        else "No question differs from another on any point: nothing is shattered."
    )
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=140 + 22 * len(rows),
                    datasets={"cells": cells, "marks": marks}),
        sentence=f"{found.sentence()} {shattered}{part}",
        table={
            "subset": [_list([point + 1 for bit, point in enumerate(points) if subset >> bit & 1]) or "none"
                       for subset in range(len(found.queries))],
            "question": (found.queries + 1).tolist(),
            **{f"weight of point {point + 1} (level {float(level):.6g})": weights[found.queries, point].tolist()
               for point, level in zip(points, found.levels, strict=True)},
        },
    )  # fmt: skip


def _drawn(number: int, first: list[int], most: int, *, keep_order: bool = False) -> list[int]:
    """As many places of ``number`` as are drawn: the first ones named, then others."""
    named = list(dict.fromkeys(first))[:most]
    others = [place for place in range(number) if place not in set(named)][: most - len(named)]
    return sorted(named + others) if keep_order else named + others


def _name(query: int) -> str:
    return f"question {query + 1}"


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def worst_errors(
    *, weights: Floats, found: Shattering, scale: float | None, epsilon: float, neighbours: Neighbours, beta: float,
    badge: str, dark: bool,
) -> Figure:  # fmt: skip
    """Worst error against the rows: below the wall nobody can promise it, above the curves the net mechanism does.

    Args:
        weights: the class, (questions, points).
        found: its shattered set.
        scale: γ for questions with weights; None for yes-or-no questions.
        epsilon: privacy loss.
        neighbours: the relation.
        beta: failure chance.
        badge: provenance.
        dark: for the dark theme.
    """
    questions, points = worth.different(weights), weights.shape[1]
    hidden = worth.hidden_points(found, scale=scale)
    people = np.maximum(1, REPEATS * hidden // 2) if hidden else REPEATS
    people = people[people <= MOST_PEOPLE]

    def promised(asked: int) -> Floats:
        return np.array([
            worth.net_promise(questions=asked, points=points, rows=int(n), epsilon=epsilon, beta=beta).value
            for n in people
        ])  # fmt: skip

    promises = promised(questions)
    series = [Series(name=f"net mechanism, {questions:,} questions", x=people, y=promises, role="theory")]
    most = worth.most_questions(points=points, dimension=found.at_most) if scale is None else 0
    if most > questions:
        series.append(Series(name=f"knowing its dimension alone, {found.at_most}", x=people, y=promised(most)))
    wall, forbidden = None, "Too few points are shattered to hide a half of them, so no error is forbidden here."
    if hidden:
        errors = []
        for repeats in REPEATS[: len(people)].tolist():
            bound = worth.hidden_half(
                found, scale=scale, repeats=repeats, epsilon=epsilon, neighbours=neighbours, beta=beta
            )
            errors.append(bound.value if bound else 0.0)
        seen = int(np.searchsorted(-np.array(errors), -FLOOR)) + 1  # errors fall; the last one seen meets the floor
        wall = Wall(
            x=people[:seen], y=np.maximum(errors, FLOOR)[:seen], end=FLOOR, label="impossible for a private method",
            corner="bottom left",
        )  # fmt: skip
        forbidden = (
            f"With one row for each hidden point, n = {people[0]:,}, nobody can promise less than "
            f"{percent(errors[0])} of n."
        )
    enough = people[promises <= 0.1]
    allowed = (
        f"The net mechanism promises 10% from about n = {enough[0]:,}."
        if len(enough)
        else f"Up to n = {MOST_PEOPLE:,} the net mechanism promises no 10%."
    )
    return plot(
        x=Axis(
            title="rows n",
            log=True,
            low=int(people[0]),
            high=int(people[-1]),
            form="~s",
            ticks=tuple(10.0**power for power in range(7)),
        ),
        y=Axis(title="worst error, share of n", log=True, low=FLOOR, high=10, form="~p", ticks=(0.001, 0.01, 0.1, 1)),
        series=series,
        wall=wall,
        marks=(Mark(label="vacuous above", y=1.0),),
        sentence=f"{forbidden} {allowed} Between the two nothing is settled here.",
        badge=badge,
        dark=dark,
        height=320,
    )
