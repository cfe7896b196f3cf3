"""Errors: of every query, and of the worst one beside its promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Bound, BoundKind, Floats
from dpcore.domains import Grid, Line
from dpcore.experiment import ErrorReport
from dpcore.figures.band_body import LEVELS, along_a_line, along_labels
from dpcore.figures.dotplot import DOTS, axis_for, dots, hatching
from dpcore.figures.figure import Figure, Records, framed, palette, percent, rows, shortened, significant
from dpcore.figures.heat_errors import rectangle_band
from dpcore.figures.interval_map import interval_map
from dpcore.figures.labels import drawable, fullest
from dpcore.figures.worst_body import worst_body
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
        return _nothing(badge=badge, dark=dark, title="Error of every query")
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


def typical_failure(answered: Floats) -> tuple[float, float]:
    """An error that about 16 in 100 releases exceed, and how many in 100 do.

    Sixteen is one side of a normal curve beyond one standard deviation. Where too many releases are equal, the
    largest error that some exceed; where all are, the error and 0.
    """
    ordered = np.sort(answered)
    level = float(ordered[len(ordered) - 1 - round(0.16 * len(ordered))])
    smaller = ordered[ordered < ordered[-1]]
    if len(smaller) and level == ordered[-1]:
        level = float(smaller[-1])
    return level, 100 * float((answered > level).mean())


def _in_100(share: float) -> str:
    """A percentage of releases: a whole number, unless it is less than one."""
    return significant(share) if share < 1 else f"{share:.0f}"


def worst_error(*, report: ErrorReport, bound_lower: Bound | None, badge: str, dark: bool) -> Figure:
    """The possible/impossible map at one setting: observed errors as dots, promise, lower bound, vacuous region.

    Args:
        report: measured errors.
        bound_lower: an error no mechanism can stay below, None where no theorem speaks.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    answered, bound, n = report.answered, report.bound, report.problem.n
    if not len(answered):
        return _nothing(badge=badge, dark=dark, title="Worst error, promised and observed")
    colours = palette(dark=dark)
    lower = bound_lower.value if bound_lower is not None and bound_lower.applies else 0.0
    promised = [bound.value] if 0 < bound.value < np.inf else []
    axis = axis_for(answered, [*promised, lower])
    level, beyond = typical_failure(answered)
    values, tallest = dots(answered, axis, threshold=level)
    # The upper third is for words.
    top = 1.7 * max(tallest, 10)
    sure = bound.kind is not BoundKind.ORDER_ONLY and bound.applies
    name = "promised" if sure else "order only" if bound.kind is BoundKind.ORDER_ONLY else "would be promised"
    datasets: dict[str, Records] = {
        "dots": values,
        "hatches": hatching(axis, until=lower, top=top) if lower > 0 else [],
        "impossible": [{"x": axis.left, "x2": min(lower, axis.right)}] if lower > 0 else [],
        "vacuous": [{"x": 1.0, "x2": axis.right}] if axis.right > 1 else [],
        "promise": [
            {"x": value, "label": f"{name} {percent(value)}", "sure": sure,
             "right": bool(axis.along(np.array([value]))[0] < 0.45)}
            for value in promised
        ],
        "typical": [{"text": f"○ about {_in_100(beyond)} in 100 err by more than {percent(level)}"}] if beyond else [],
        "refused": _refused(report),
        "reach": [{"x": axis.left, "y": 0.0}, {"x": axis.right, "y": top}],
    }  # fmt: skip
    return Figure(
        spec=framed(worst_body(colours, n=n, log=axis.log), badge=badge, colours=colours, height=300,
                    datasets=datasets),
        sentence=_worst_sentence(report, level=level, beyond=beyond, lower=lower),
        table={"releases out of 100": [100 / DOTS] * DOTS, "worst error": [value["error"] for value in values],
               "rows": shortened([value["error"] * n for value in values])},
        title="Worst error, promised and observed",
    )  # fmt: skip


def _refused(report: ErrorReport) -> Records:
    """Refusals, said apart: no error belongs to them."""
    count = int(report.refused.sum())
    return [{"text": f"⊥ {count:,} of {report.trials:,} refused"}] if count else []


def _worst_sentence(report: ErrorReport, *, level: float, beyond: float, lower: float) -> str:
    """Observed, promised, refused, impossible, in one sentence."""
    n, bound, answered = report.problem.n, report.bound, report.answered
    size = f"{percent(level)} ({rows(level, n)})"
    text = f"{report.guarantee.sentence()}: every release errs by {size} on its worst query"
    if beyond:
        text = (
            f"{report.guarantee.sentence()}: about {_in_100(beyond)} in 100 releases err by more than {size} on "
            "their worst query"
        )
    if report.refused.any():
        text += f"; {report.refused.sum():,} of {report.trials:,} refused to answer and are not counted"
    if lower > 0:
        text += f"; no mechanism can promise less than {percent(lower)}"
    if not bound.value < np.inf:
        return f"{text}; the theorem gives an order of size, no number."
    if bound.vacuous:
        needed = "" if bound.rows_needed is None else f": it would need n of at least {bound.rows_needed:,}"
        return f"{text}; the promise, {percent(bound.value)}, is vacuous here{needed}."
    low, high = report.failure_interval
    condition = "the promise" if bound.applies else "what would be promised if every assumption held"
    if bound.kind is BoundKind.ORDER_ONLY:
        condition = "the theorem's order of size"
    return (
        f"{text}; {condition}, {percent(bound.value)}, was exceeded in {report.failures:,} of {len(answered):,} "
        f"({percent(low)} to {percent(high)} with 95% confidence; allowed {percent(bound.beta)})."
    )


def _nothing(*, badge: str, dark: bool, title: str) -> Figure:
    """The picture of no answer at all."""
    colours = palette(dark=dark)
    mark = {"type": "text", "color": colours.ink, "fontSize": 14}
    body = {
        "data": {"name": "refused"}, "mark": mark, "encoding": {"text": {"field": "text"}},
    }  # fmt: skip
    said = "Every previewed release refused to answer."
    datasets: dict[str, Records] = {"refused": [{"text": said}]}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=120, datasets=datasets),
        sentence=said,
        table={"outcome": ["refused"]},
        title=title,
    )
