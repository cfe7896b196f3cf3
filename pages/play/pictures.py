"""The pictures at one ε with their captions, for the page and for every stop of the slider."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dpcore.core import Dataset, Floats, exactly
from dpcore.data.columns import is_number
from dpcore.data.product import is_map
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Intervals
from dplab.measure import ErrorReport
from pages.charts.axes import axis_range, round_up
from pages.charts.component import EncodedCharts
from pages.charts.histogram import histogram, playable_releases
from pages.charts.maps import MAX_FRAMES, darkest_count, released_map, true_map
from pages.charts.picture import Axis, Mark, Outline, Picture, Region
from pages.charts.words import percent, percent_up
from pages.charts.worst import shared_span, worst_error
from pages.play.figures.band import error_band
from pages.play.pin import Pinned
from pages.play.query import Query, edges

HEIGHT, LEGEND, NARROW, LOWER_HEIGHT, ANSWER = 235, 30, 52, 234, 22
"""Pixels of the upper row, of its legend, of a legend beside two maps, of the lower row, and of an answer."""
BAND = "band_chart"
"""Key of the error of every query."""
WORST, PINNED_WORST = "worst_chart", "pinned_worst"
"""Keys of the errors of the worst query, and of those of what is pinned."""
VALUE = "value"
"""Name of a number without a name of its own."""
HEADLINE_SHARE = 0.95
"""Share of the releases whose error the headline covers: 19 of 20."""
TITLES = {
    "data_chart": "true and released data",
    "true_map": "true map",
    "released_map": "released map",
    "pinned_chart": "true data and the pinned release",
    "pinned_map": "pinned map",
    BAND: "error of every query",
    PINNED_WORST: "worst error of the pinned release",
    WORST: "worst error",
}
"""Title of each picture's table."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Display settings, independent of the mechanism that the slider moves.

    Attributes:
        clean: whether releases are post-processed.
        log: whether the axis of counts is logarithmic.
        query: the selected query, if any.
        pinned: releases shown beside, if any.
        column: name of the number.
        records: what the rows are.
        cycling: whether releases follow each other slowly.
    """

    clean: bool
    log: bool
    query: Query | None
    pinned: Pinned | None = None
    column: str = VALUE
    records: str = "rows"
    cycling: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class EpsilonView:
    """Headline of the page at one ε, with pictures and captions by chart key.

    ``drawn`` caches the encoded pictures.
    """

    headline: str
    pictures: dict[str, Picture]
    captions: dict[str, str]
    frames: Floats
    drawn: EncodedCharts = field(default_factory=dict)


def build_epsilon_view(dataset: Dataset, report: ErrorReport, view: View, *, beta: float) -> EpsilonView:
    """Return the headline, pictures and captions at the ε of a report."""
    domain, n = dataset.domain, report.problem.n
    reports = {"released": report} | ({"pinned": view.pinned.report} if view.pinned else {})
    options = {"limit": MAX_FRAMES} if is_map(domain) else {}
    frames = {name: playable_releases(each.frames, n=n, clean=view.clean, **options) for name, each in reports.items()}
    pictures = _maps(dataset, frames, view, n=n) if is_map(domain) else _bars(dataset, frames, view, n=n)
    captions = dict.fromkeys(pictures, "")
    if view.pinned is None:
        band = error_band(report)
        height = band.height if band.y.labels else HEIGHT + LEGEND - (NARROW + _answer_pixels(view)) * is_map(domain)
        pictures[BAND] = dataclasses.replace(band, height=height)
        captions[BAND] = _band_caption(report)
    else:
        pinned, shown = ("pinned_map", "released_map") if is_map(domain) else ("pinned_chart", "data_chart")
        captions[pinned] = f"Pinned: {_short_headline(view.pinned.title, view.pinned.report, view.records)}"
        captions[shown] = _short_headline(view.pinned.beside, report, view.records)
    _add_worst(pictures, captions, reports, view, beta=beta)
    return EpsilonView(headline=headline(report, view), pictures=pictures, captions=captions, frames=frames["released"])


def _add_worst(
    pictures: dict[str, Picture],
    captions: dict[str, str],
    reports: Mapping[str, ErrorReport],
    view: View,
    *,
    beta: float,
) -> None:
    """Add the errors of the worst query, after those of what is pinned, on the same axis."""
    lower = {name: lower_bound(each.problem, each.guarantee, beta=beta) for name, each in reports.items()}
    pinned = view.pinned
    span = None
    if pinned is not None and all(len(each.answered) for each in reports.values()):
        span = shared_span([(each, lower[name]) for name, each in reports.items()])
    for name, key in (("pinned", PINNED_WORST), ("released", WORST)):
        if name not in reports:
            continue
        report = reports[name]
        worst = worst_error(report=report, lower=lower[name], span=span)
        axis = dataclasses.replace(worst.x, title=f"worst error, share of n{' (log)' if worst.x.log else ''}")
        pictures[key] = dataclasses.replace(worst, height=min(worst.height, LOWER_HEIGHT), x=axis)
        captions[key] = _worst_caption(report)
        if pinned is not None:
            start, title = ("Pinned: ", pinned.title) if name == "pinned" else ("", pinned.beside)
            captions[key] = f"{start}{_short_headline(title, report, view.records)}. {captions[key]}"


def _bars(dataset: Dataset, frames: Mapping[str, Floats], view: View, *, n: int) -> dict[str, Picture]:
    """Return the histogram with releases and the range of the query, and before it that of what is pinned."""
    domain, keys = dataset.domain, {"pinned": "pinned_chart", "released": "data_chart"}
    pictures = {
        name: histogram(domain=domain, n=n, truth=dataset.histogram, frames=each, brush=is_number(domain), log=view.log)
        for name, each in frames.items()
    }
    if view.query is not None and is_number(domain):
        query_region = Region(role="theory", x=edges(domain, view.query.cells[0]))
        pictures = {
            name: dataclasses.replace(each, marks=[*each.marks, query_region]) for name, each in pictures.items()
        }
    if is_number(domain):
        pictures = {
            name: dataclasses.replace(
                each,
                height=HEIGHT,
                x=dataclasses.replace(each.x, title=each.x.title.replace(VALUE, view.column, 1)),
                y=each.y if view.log else _stable_axis(each),
            )
            for name, each in pictures.items()
        }
    if len(pictures) > 1:
        pictures = _with_shared_axes(pictures)
    pictures["released"] = dataclasses.replace(pictures["released"], cycling=view.cycling)
    return {key: pictures[name] for name, key in keys.items() if name in pictures}


def _with_shared_axes(pictures: Mapping[str, Picture]) -> dict[str, Picture]:
    """Return the pictures with the same ends of both axes."""
    shared = {**pictures}
    for side in ("x", "y"):
        axes = {name: getattr(picture, side) for name, picture in pictures.items()}
        if any(axis.labels for axis in axes.values()):
            continue
        ends = [axis_range(axis, _all_marks(pictures[name]), across=side == "x") for name, axis in axes.items()]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        for name, axis in axes.items():
            shared[name] = dataclasses.replace(shared[name], **{side: dataclasses.replace(axis, low=low, high=high)})
    return shared


def _all_marks(picture: Picture) -> list[Mark]:
    """Return the marks of a picture and of its frames."""
    return [*picture.marks, *(mark for frame in picture.frames for mark in frame.marks.values())]


def _stable_axis(picture: Picture) -> Axis:
    """Return the axis of counts with round ends, which neighbouring stops of the slider share."""
    low, high = axis_range(picture.y, _all_marks(picture), across=False)
    high = round_up(high)
    return dataclasses.replace(picture.y, low=np.floor(10 * low / high) * high / 10, high=high)


def _maps(dataset: Dataset, frames: Mapping[str, Floats], view: View, *, n: int) -> dict[str, Picture]:
    """Return the maps with one colour scale, and the rectangle of the query."""
    domain, truth = dataset.domain, dataset.histogram
    assert is_map(domain)
    rectangle = None
    darkest = max(darkest_count(domain, truth, each) for each in frames.values())
    true = true_map(domain=domain, truth=truth, darkest=darkest)
    if view.query is not None:
        across, up = view.query.cells
        rectangle = (*across, *up)
        outline = Outline(role="theory", x=edges(domain.columns[0], across), y=edges(domain.columns[1], up))
        true = dataclasses.replace(true, marks=[*true.marks, outline])
    maps = {"true_map": true} | {
        f"{name}_map": released_map(
            domain=domain, n=n, truth=truth, frames=frames[name], outlined=rectangle, darkest=darkest
        )
        for name in ("pinned", "released")
        if name in frames
    }
    height = HEIGHT + LEGEND - _answer_pixels(view)
    return {key: dataclasses.replace(each, height=height) for key, each in maps.items()}


def _answer_pixels(view: View) -> int:
    """Return the pixels of the answer below the maps; 0 without a query."""
    return ANSWER * (view.query is not None)


def headline(report: ErrorReport, view: View) -> str:
    """Return the headline, which has room on one line: the error of the worst query in 19 of 20 releases, in rows."""
    start, queries = f"At ε = {exactly(report.guarantee.epsilon)}", report.problem.queries
    if not len(report.answered):
        return f"{start}, every release gives no answer (⊥)"
    one = f"{view.column} range" if isinstance(queries, Intervals) and view.column != VALUE else queries.one
    subject = f"a {one}" if isinstance(queries, LinearQueries) else f"any {one}'s count"
    given = " when there is an answer" if report.refused.any() else ""
    error, n = _largest_error(report), report.problem.n
    off = f"{error:,} of {n:,} {view.records}" if error <= n else f"{error:,} {view.records} (n = {n:,})"
    return f"{start}, {subject} is off by up to {off} in 19 of 20 simulations{given}"


def _short_headline(title: str, report: ErrorReport, records: str) -> str:
    """Return a mechanism with its ε and its error in 19 of 20 releases."""
    error = f"observed error ≤ {_largest_error(report):,} {records}" if len(report.answered) else "no answer (⊥)"
    return f"{title}, ε = {exactly(report.guarantee.epsilon)}: {error}"


def _largest_error(report: ErrorReport) -> int:
    """Return the error of the worst query in 19 of 20 releases, in rows; there is an answer."""
    reach = float(np.quantile(report.answered, HEADLINE_SHARE, method="higher"))
    return math.ceil(reach * report.problem.n - 1e-9)


def _band_caption(report: ErrorReport) -> str:
    """Return the caption on the error of the hardest query."""
    if not len(report.answered):
        return ""
    reach = percent_up(float(np.abs(report.band[[0, -1]]).max()))
    return f"Hardest {report.problem.queries.one} shown: error of 90 in 100 releases at most {reach}."


def _worst_caption(report: ErrorReport) -> str:
    """Return the caption on how many releases exceed the guaranteed error."""
    if not len(report.answered) or not report.bound.guaranteed:
        return "Each dot is 2 in 100 releases."
    exceeded = f"{report.failures:,} of {len(report.answered):,}"
    return f"Each dot is 2 in 100 releases. {exceeded} exceed the guaranteed error; {percent(report.bound.beta)} may."
