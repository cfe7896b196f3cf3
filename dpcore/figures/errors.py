"""Errors of every query over the releases."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.domains import Grid, Line
from dpcore.experiment import ErrorReport
from dpcore.figures.band_body import LEVELS, along_a_line, along_labels
from dpcore.figures.figure import Figure, Records, framed, palette, percent, rows, shortened
from dpcore.figures.heat_errors import rectangle_band
from dpcore.figures.interval_map import interval_map
from dpcore.figures.labels import drawable, fullest
from dpcore.linear_queries import LinearQueries
from dpcore.queries import Intervals, Rectangles

MOST_POINTS = 128
"""Queries of a band: more would not be seen."""


def error_band(*, report: ErrorReport, badge: str, dark: bool) -> Figure:
    """Error of each query over the trials: a 90% and a 50% band, or a map over both ends of an interval.

    Args:
        report: measured errors.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    if not len(report.answered):
        return nothing(badge=badge, dark=dark, title="Error of every query")
    domain, queries, n = report.problem.domain, report.problem.queries, report.problem.n
    if isinstance(queries, Intervals) and isinstance(domain, Line):
        return interval_map(report, queries, domain, badge=badge, dark=dark)
    if isinstance(queries, Rectangles):
        return rectangle_band(report, queries, badge=badge, dark=dark)
    colours = palette(dark=dark)
    described = [queries.describe(int(index)) for index in report.indices]
    if isinstance(domain, Line) and not isinstance(queries, LinearQueries):
        shown = np.unique(np.linspace(0, len(report.indices) - 1, min(len(report.indices), MOST_POINTS)).round())
        chosen = shown.astype(np.int64)
        # A threshold is at its cell's upper end, a cell at its middle.
        offset = 0.5 if queries.key == "cells" else 1.0
        at: list[Any] = shortened(domain.low + (report.indices[chosen] + offset) * domain.width)
        body = along_a_line(domain, one=queries.one, n=n, colour=colours.released)
        height = 300
    else:
        chosen = fullest(report.truth)
        at = drawable(described[index] for index in chosen)
        body = along_labels(n=n, colour=colours.released)
        height = 110 + 20 * len(chosen)
    columns: dict[str, list[Any]] = {"x": at, **{
        name: shortened(level) for name, level in zip(LEVELS, report.band[:, chosen], strict=True)
    }}  # fmt: skip
    columns["place"] = list(range(len(chosen)))
    values = [dict(zip(columns, value, strict=True)) for value in zip(*columns.values(), strict=True)]
    spec = framed(body, badge=badge, colours=colours, height=height, datasets={"queries": values})
    widest = int(np.argmax(np.abs(report.band[[0, -1]]).max(axis=0)))
    reach = float(np.abs(report.band[[0, -1], widest]).max())
    # A category's name is what somebody typed, and a sentence is printed where markup is read.
    which = f" ({described[widest]})" if isinstance(domain, Line | Grid) else ""
    sentence = (
        f"In 90 of 100 releases, the hardest {queries.one} shown{which} errs by at most {percent(reach)} "
        f"({rows(reach, n)}); the bands hold 90% and 50% of {len(report.answered):,} releases, "
        "the line is the median."
    )
    table: dict[str, list[Any]] = {"query": described, "true answer": shortened(report.truth)}
    for name, level in zip(("5%", "25%", "median", "75%", "95%"), report.band, strict=True):
        table[f"error, {name}"] = shortened(level)
    table["rows, 95%"] = shortened(report.band[-1] * n)
    return Figure(spec=spec, sentence=sentence, table=table, title="Error of every query")


def nothing(*, badge: str, dark: bool, title: str, said: str = "Every previewed release refused to answer.") -> Figure:
    """The picture of no answer at all."""
    colours = palette(dark=dark)
    mark = {"type": "text", "color": colours.ink, "fontSize": 14}
    body = {
        "data": {"name": "refused"}, "mark": mark, "encoding": {"text": {"field": "text"}},
    }  # fmt: skip
    datasets: dict[str, Records] = {"refused": [{"text": said}]}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=120, datasets=datasets),
        sentence=said,
        table={"outcome": ["refused"]},
        title=title,
    )
