"""Errors: of every query, and of the worst one beside its promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Bound, BoundKind
from dpcore.domains import Line
from dpcore.experiment import ErrorReport
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, rows, shortened
from dpcore.queries import Intervals

DOTS = 50


def error_band(*, report: ErrorReport, badge: str, dark: bool) -> Figure:
    """Error of each query over the trials: a 90% and a 50% band, or a map over both ends of an interval."""
    if not len(report.answered):
        return _nothing(badge=badge, dark=dark)
    if isinstance(report.problem.queries, Intervals):
        return _interval_map(report, badge=badge, dark=dark)
    colours, domain, n = palette(dark=dark), report.problem.domain, report.problem.n
    if isinstance(domain, Line):
        position: list[Any] = shortened(domain.low + (report.indices + 1) * domain.width)
        x: dict[str, Any] = {"field": "x", "type": "quantitative", "title": f"query: {report.problem.queries.one}"}
        x["scale"] = {"domain": [domain.low, domain.high], "nice": False}
    else:
        position = [domain.describe(int(index)) for index in report.indices]
        x = {"field": "x", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 90}}
    columns = dict(zip(("q05", "q25", "q50", "q75", "q95"), (shortened(row) for row in report.band), strict=True))
    values = [{"x": place, **{name: column[i] for name, column in columns.items()}} for i, place in enumerate(position)]
    y_title = "error, fraction of n"

    mark = "area" if isinstance(domain, Line) else "bar"

    def band(low: str, high: str, opacity: float) -> dict[str, Any]:
        return {
            "mark": {"type": mark, "opacity": opacity, "color": colours.released},
            "encoding": {
                "x": x, "y": {"field": low, "type": "quantitative", "title": y_title, "axis": {"format": "~p"}},
                "y2": {"field": high},
            },
        }  # fmt: skip

    median = {
        "mark": {"type": "line" if isinstance(domain, Line) else "tick", "color": colours.released, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": {"field": "q50", "type": "quantitative"}},
    }
    body = {"data": {"name": "queries"}, "layer": [band("q05", "q95", 0.25), band("q25", "q75", 0.4), median]}
    spec = framed(body, badge=badge, colours=colours, height=280, datasets={"queries": values})
    widest = int(np.argmax(np.abs(report.band[[0, -1]]).max(axis=0)))
    reach = float(np.abs(report.band[[0, -1], widest]).max())
    sentence = (
        f"In 90 of 100 releases, the hardest {report.problem.queries.one} shown "
        f"({report.problem.queries.describe(int(report.indices[widest]))}) errs by at most {percent(reach)} "
        f"({rows(reach, n)}); the bands hold 90% and 50% of {len(report.answered):,} releases."
    )
    described = [report.problem.queries.describe(int(index)) for index in report.indices]
    table: dict[str, list[Any]] = {"query": described, "true answer": shortened(report.truth)}
    for level, row in zip(("5%", "25%", "median", "75%", "95%"), report.band, strict=True):
        table[f"error, {level}"] = shortened(row)
    return Figure(spec=spec, sentence=sentence, table=table, title="Error of every query")


def _interval_map(report: ErrorReport, *, badge: str, dark: bool) -> Figure:
    """Where intervals err: start against end, darker where 95% of releases err by less than a larger number."""
    colours, domain, n = palette(dark=dark), report.problem.domain, report.problem.n
    queries = report.problem.queries
    if not isinstance(queries, Intervals) or not isinstance(domain, Line):
        return _nothing(badge=badge, dark=dark)
    first, last = queries.ends(report.indices)
    size = np.abs(report.band[[0, -1]]).max(axis=0)
    starts = np.unique(first)
    half = (domain.ordered / max(1, len(starts)) / 2) * domain.width
    start, end = domain.low + first * domain.width, domain.low + (last + 1) * domain.width
    values = [
        {"a": a, "a2": a2, "b": b, "b2": b2, "error": error, "from": left, "to": right}
        for a, a2, b, b2, error, left, right in zip(
            shortened(start - half), shortened(start + half), shortened(end - half), shortened(end + half),
            shortened(size), shortened(start), shortened(end), strict=True,
        )
    ]  # fmt: skip
    scale = {"domain": [domain.low, domain.high], "nice": False, "clamp": True}
    body = {
        "data": {"name": "intervals"},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "a", "type": "quantitative", "title": "interval starts at", "scale": scale},
            "x2": {"field": "a2"},
            "y": {"field": "b", "type": "quantitative", "title": "and ends at", "scale": scale},
            "y2": {"field": "b2"},
            "color": {
                "field": "error", "type": "quantitative", "title": "90% of errors below",
                "scale": {"scheme": "blues", "reverse": dark, "zero": True},
                "legend": {"format": "~p", "title": "90% of releases err by less than", "orient": "bottom"},
            },
            "tooltip": [
                {"field": "from", "title": "from"}, {"field": "to", "title": "to"},
                {"field": "error", "title": "error", "format": ".3p"},
            ],
        },
    }  # fmt: skip
    spec = framed(body, badge=badge, colours=colours, height=280, datasets={"intervals": values})
    worst = int(np.argmax(size))
    sentence = (
        f"In 90 of 100 releases, the hardest interval shown ({queries.describe(int(report.indices[worst]))}) errs by "
        f"at most {percent(float(size[worst]))} ({rows(float(size[worst]), n)}); short intervals are at the diagonal."
    )
    table: dict[str, list[Any]] = {
        "from": shortened(start), "to": shortened(end), "true answer": shortened(report.truth),
        "90% of errors below": shortened(size),
    }  # fmt: skip
    return Figure(spec=spec, sentence=sentence, table=table, title="Error of every query")


def worst_error(*, report: ErrorReport, bound_lower: Bound | None, badge: str, dark: bool) -> Figure:
    """The possible/impossible map at one setting: observed errors as dots, promise, lower bound, vacuous region."""
    answered = report.answered
    if not len(answered):
        return _nothing(badge=badge, dark=dark)
    colours, n, bound = palette(dark=dark), report.problem.n, report.bound
    dots = np.quantile(answered, (np.arange(DOTS) + 0.5) / DOTS)
    promised = bound.kind is not BoundKind.ORDER_ONLY and np.isfinite(bound.value)
    right = max(float(answered.max()), bound.value if promised and bound.value < 4 * answered.max() else 0.0) * 1.08
    if right <= 0:
        right = 1 / n
    bins = 25
    column = np.minimum((dots / right * bins).astype(int), bins - 1)
    height = np.zeros(bins, dtype=int)
    values = []
    for dot, place in zip(dots, column, strict=True):
        height[place] += 1
        values.append({"x": float(f"{(place + 0.5) * right / bins:.4g}"), "y": int(height[place]), "error": float(dot)})
    datasets: dict[str, Records] = {
        "dots": values,
        "impossible": [{"x": 0, "x2": min(bound_lower.value, right)}] if bound_lower is not None else [],
        "vacuous": [{"x": 1, "x2": right}] if right > 1 else [],
        "promise": [
            {
                "x": bound.value,
                "label": "promised" if bound.applies else "would be promised",
                "early": bool(bound.value < 0.35 * right),
            }
        ]
        if promised and bound.value <= right
        else [],
        "reach": [{"x": float(f"{right:.4g}")}],
    }
    return Figure(
        spec=framed(_worst_body(colours), badge=badge, colours=colours, height=200, datasets=datasets),
        sentence=_worst_sentence(report, promised=promised),
        table={"releases out of 100": [2.0] * DOTS, "worst error": shortened(dots)},
        title="Worst error, promised and observed",
    )


def _worst_body(colours: Palette) -> dict[str, Any]:
    """Regions, then dots, then the promise; the axis reaches as far as the data sets say."""
    x = {
        "field": "x",
        "type": "quantitative",
        "title": "worst error over all queries, share of n",
        "scale": {"zero": True, "nice": False},
        "axis": {"format": "~p"},
    }
    count = {
        "field": "y",
        "type": "quantitative",
        "title": "2 in 100 a dot",
        "axis": {"tickMinStep": 1, "grid": False},
    }
    dash = {"field": "label", "scale": {"domain": ["promised", "would be promised"], "range": [[1, 0], [5, 4]]}}
    # The label stands on the side of the rule that has room.
    labels: Records = [
        {
            "data": {"name": "promise"},
            "transform": [{"filter": condition}],
            "mark": {"type": "text", "color": colours.theory, "fontSize": 12, "align": align, "dx": shift},
            "encoding": {"x": x, "text": {"field": "label"}, "y": {"value": 8}},
        }
        for condition, align, shift in (("datum.early", "left", 6), ("!datum.early", "right", -6))
    ]
    return {
        "layer": [
            {
                "data": {"name": "impossible"},
                "mark": {"type": "rect", "color": colours.impossible, "opacity": 0.35},
                "encoding": {"x": x, "x2": {"field": "x2"}},
            },
            {
                "data": {"name": "vacuous"},
                "mark": {"type": "rect", "color": colours.grid},
                "encoding": {"x": x, "x2": {"field": "x2"}},
            },
            {
                "data": {"name": "dots"},
                "mark": {"type": "circle", "color": colours.released, "size": 46, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": count,
                    "tooltip": [{"field": "error", "title": "worst error", "format": ".3p"}],
                },
            },
            {"data": {"name": "reach"}, "mark": {"type": "rule", "opacity": 0}, "encoding": {"x": x}},
            {
                "data": {"name": "promise"},
                "mark": {"type": "rule", "color": colours.theory, "strokeWidth": 3},
                "encoding": {"x": x, "strokeDash": {**dash, "type": "nominal", "legend": None}},
            },
            *labels,
        ]
    }


def _worst_sentence(report: ErrorReport, *, promised: bool) -> str:
    """Observed, promised, refused, in one or two sentences."""
    n, bound, answered = report.problem.n, report.bound, report.answered
    level = float(np.quantile(answered, 0.84))
    text = f"About 16 in 100 releases err by more than {percent(level)} ({rows(level, n)}) on their worst query"
    if report.refused.any():
        text += f"; {report.refused.sum():,} of {report.trials:,} refused to answer"
    if not promised:
        return f"{text}; no error is promised."
    low, high = report.failure_interval
    if bound.value > 1:
        return f"{text}; the promise, {percent(bound.value)}, is vacuous here."
    condition = "the promise" if bound.applies else "what would be promised at a larger n"
    return (
        f"{text}; {condition}, {percent(bound.value)}, was exceeded in {report.failures:,} of {len(answered):,} "
        f"({percent(low)} to {percent(high)}; allowed {percent(bound.beta)})."
    )


def _nothing(*, badge: str, dark: bool) -> Figure:
    """The picture of no answer at all."""
    colours = palette(dark=dark)
    body = {"data": {"values": [{"text": "every release refused"}]}, "mark": {"type": "text", "color": colours.ink}}
    body["encoding"] = {"text": {"field": "text"}}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=120),
        sentence="Every previewed release refused to answer.",
        table={},
    )
