"""The pictures at one ε with their captions, for the page and for every stop of the slider."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np

from dpcore.core import Dataset, Floats, exactly
from dpcore.data.columns import is_number
from dpcore.data.product import is_map
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.queries.linear import LinearQueries
from dplab.measure import ErrorReport
from pages.charts.axes import axis_range, round_up
from pages.charts.component import EncodedCharts
from pages.charts.histogram import histogram, playable_releases
from pages.charts.maps import MAX_FRAMES, darkest_count, released_map, true_map
from pages.charts.picture import Axis, Outline, Picture, Region
from pages.charts.words import percent, percent_up
from pages.charts.worst import worst_error
from pages.play.figures.band import error_band
from pages.play.query import Query, edges

HEIGHT, LEGEND, NARROW, LOWER_HEIGHT, ANSWER = 235, 30, 52, 234, 22
"""Pixels of the upper row, of its legend, of a legend beside two maps, of the lower row, and of an answer."""
HEADLINE_SHARE = 0.95
"""Share of the releases whose error the headline covers: 19 of 20."""
TITLES = {
    "data_chart": "true and released data",
    "true_map": "true map",
    "released_map": "released map",
    "band_chart": "error of every query",
    "worst_chart": "worst error",
}
"""Title of each picture's table."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Display settings, independent of the mechanism.

    Attributes:
        clean: whether releases are post-processed.
        log: whether the axis of counts is logarithmic.
        query: the selected query, if any.
    """

    clean: bool
    log: bool
    query: Query | None


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
    options = {"limit": MAX_FRAMES} if is_map(domain) else {}
    frames = playable_releases(report.frames, n=n, clean=view.clean, **options)
    pictures = _maps(dataset, frames, view, n=n) if is_map(domain) else _bars(dataset, frames, view, n=n)
    band = error_band(report)
    height = band.height if band.y.labels else HEIGHT + LEGEND - (NARROW + _answer_pixels(view)) * is_map(domain)
    pictures["band_chart"] = dataclasses.replace(band, height=height)
    lower = lower_bound(report.problem, report.guarantee, beta=beta)
    worst = worst_error(report=report, lower=lower)
    axis = dataclasses.replace(worst.x, title=f"worst error, share of n{' (log)' if worst.x.log else ''}")
    pictures["worst_chart"] = dataclasses.replace(worst, height=min(worst.height, LOWER_HEIGHT), x=axis)
    captions = dict.fromkeys(pictures, "") | {
        "band_chart": _band_caption(report),
        "worst_chart": _worst_caption(report),
    }
    return EpsilonView(headline=headline(report), pictures=pictures, captions=captions, frames=frames)


def _bars(dataset: Dataset, frames: Floats, view: View, *, n: int) -> dict[str, Picture]:
    """Return the histogram with releases and the range of the query."""
    domain = dataset.domain
    picture = histogram(
        domain=domain, n=n, truth=dataset.histogram, frames=frames, brush=is_number(domain), log=view.log
    )
    if view.query is not None and is_number(domain):
        query_region = Region(role="theory", x=edges(domain, view.query.cells[0]))
        picture = dataclasses.replace(picture, marks=[*picture.marks, query_region])
    if not is_number(domain):
        return {"data_chart": picture}
    return {
        "data_chart": dataclasses.replace(picture, height=HEIGHT, y=picture.y if view.log else _stable_axis(picture))
    }


def _stable_axis(picture: Picture) -> Axis:
    """Return the axis of counts with round ends, which neighbouring stops of the slider share."""
    every = [*picture.marks, *(mark for frame in picture.frames for mark in frame.marks.values())]
    low, high = axis_range(picture.y, every, across=False)
    high = round_up(high)
    return dataclasses.replace(picture.y, low=np.floor(10 * low / high) * high / 10, high=high)


def _maps(dataset: Dataset, frames: Floats, view: View, *, n: int) -> dict[str, Picture]:
    """Return both maps with one colour scale, and the rectangle of the query."""
    domain, truth = dataset.domain, dataset.histogram
    assert is_map(domain)
    rectangle = None
    true = true_map(domain=domain, truth=truth, darkest=darkest_count(domain, truth, frames))
    if view.query is not None:
        across, up = view.query.cells
        rectangle = (*across, *up)
        outline = Outline(role="theory", x=edges(domain.columns[0], across), y=edges(domain.columns[1], up))
        true = dataclasses.replace(true, marks=[*true.marks, outline])
    released = released_map(domain=domain, n=n, truth=truth, frames=frames, outlined=rectangle)
    return {
        "true_map": dataclasses.replace(true, height=HEIGHT + LEGEND - _answer_pixels(view)),
        "released_map": dataclasses.replace(released, height=HEIGHT + LEGEND - _answer_pixels(view)),
    }


def _answer_pixels(view: View) -> int:
    """Return the pixels of the answer below the maps; 0 without a query."""
    return ANSWER * (view.query is not None)


def headline(report: ErrorReport) -> str:
    """Return the headline, which has room on one line: the error of the worst query in 19 of 20 releases, in rows."""
    start, queries = f"At ε = {exactly(report.guarantee.epsilon)}", report.problem.queries
    if not len(report.answered):
        return f"{start}, every release gives no answer (⊥)"
    reach = float(np.quantile(report.answered, HEADLINE_SHARE, method="higher"))
    subject = f"a {queries.one}" if isinstance(queries, LinearQueries) else f"the count of any {queries.one}"
    given = " when there is an answer" if report.refused.any() else ""
    off = math.ceil(reach * report.problem.n - 1e-9)
    return f"{start}, {subject} is off by up to {off:,} rows, 19 times in 20{given}"


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
