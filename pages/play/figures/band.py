"""The error of every query over the releases: a band along the data or by size, or a bar for each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.core import Domain, Floats
from dpcore.data.columns import is_labels, is_number
from dpcore.data.product import is_map
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Intervals, Rectangles
from dplab.measure import ErrorReport
from pages.charts.histogram import axis_along, extent
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, empty_picture, numbers
from pages.charts.words import largest_cells, percent, percent_up, printable_labels, rows_up, short_numbers
from pages.play.figures.interval_map import interval_map

TITLE = "Error of every query"
MAX_POINTS = 128
"""Maximum number of queries in a band."""
AROUND, LINE = 145, 16
"""Pixels of both axes with a badge of two lines, and minimum pixels of a label."""
THIN, THICK = 3.0, 9.0
"""Widths of a label's bars for 90% and 50% of the releases."""


def error_band(report: ErrorReport) -> Picture:
    """Return the error of each query as a 90% and a 50% band, or as a map over the ends of intervals."""
    if not len(report.answered):
        return empty_picture(title=TITLE, sentence="Every previewed release gave no answer (⊥).")
    domain, queries = report.problem.domain, report.problem.queries
    if isinstance(queries, Intervals) and is_number(domain):
        return interval_map(report, queries, domain)
    if isinstance(queries, Rectangles):
        return _by_size(report, queries)
    descriptions = [queries.describe(int(index)) for index in report.indices]
    # Labels are user input and not part of a sentence.
    named = descriptions if not _is_typed(domain) else None
    if is_number(domain) and not isinstance(queries, LinearQueries):
        places = np.linspace(0, len(report.indices) - 1, min(len(report.indices), MAX_POINTS))
        places_shown = np.unique(places.round()).astype(np.int64)
        # A threshold is at the upper end of its cell, a cell at its middle.
        offset = 0.5 if queries.key == "cells" else 1.0
        positions = numbers(domain.low + (report.indices[places_shown] + offset) * domain.width)
        axis = axis_along(domain, queries.one)
        marks = _along(
            positions, report.band[:, places_shown], [descriptions[place] for place in places_shown], n=report.problem.n
        )
        return _picture(report, axis, marks, descriptions, named, band=report.band)
    places_shown = largest_cells(report.truth)
    names = printable_labels(descriptions[place] for place in places_shown)
    return _by_label(report, names, report.band[:, places_shown], descriptions, named)


def _is_typed(domain: Domain) -> bool:
    """Return True if cells are named by labels, which are user input."""
    return any(map(is_labels, domain.columns)) if is_map(domain) else is_labels(domain)


def _by_size(report: ErrorReport, queries: Rectangles) -> Picture:
    """Return the errors of rectangles, in the order of their number of cells."""
    left, right, low, high = queries.ends(report.indices)
    cells = (right - left + 1) * (high - low + 1)
    order = np.argsort(cells, kind="stable")
    # The same as queries.describe, but each edge is described only once.
    sides = queries.domain.columns
    across, up = ([line.ends(cell, cell) for cell in range(line.ordered)] for line in sides)
    descriptions = [
        f"{across[a][0]} to {across[b][1]} × {up[c][0]} to {up[d][1]}"
        for a, b, c, d in zip(left[order], right[order], low[order], high[order], strict=True)
    ]
    band = report.band[:, order]
    axis = Axis(title="rectangles shown (fewest cells first)", low=1, high=max(2, len(order)))
    marks = _along(np.arange(1.0, len(order) + 1), band, descriptions, n=report.problem.n)
    extra_columns = {"rectangle": descriptions, "cells": cells[order].tolist()}
    named = None if _is_typed(queries.domain) else descriptions
    return _picture(report, axis, marks, descriptions, named, band=band, order=order, extra_columns=extra_columns)


def _along(positions: Floats, band: Floats, descriptions: Sequence[str], *, n: int) -> list[Mark]:
    """Return both bands and the median at positions (K,), from quantiles (5, K)."""
    return [
        Band(role="released", name="90% band", x=positions, low=band[0], high=band[-1]),
        Band(role="released", name="50% band", x=positions, low=band[1], high=band[-2], opacity=0.38),
        Curve(role="released", name="median", x=positions, y=band[2], width=2, hover=_hover(band, descriptions, n=n)),
    ]


def _by_label(
    report: ErrorReport, names: list[str], band: Floats, descriptions: list[str], named: list[str] | None
) -> Picture:
    """Return a thin and a thick bar for each label, with its median."""
    positions = np.arange(len(names), dtype=np.float64)
    gap = np.full(len(names), np.nan)

    def bar(low: Floats, high: Floats, *, name: str, width: float) -> Curve:
        endpoints = np.stack([low, high, gap], axis=1).ravel()
        return Curve(
            role="released",
            name=name,
            x=endpoints,
            y=np.stack([positions, positions, gap], axis=1).ravel(),
            width=width,
        )

    marks: list[Mark] = [
        bar(band[0], band[-1], name="90 in 100 releases", width=THIN),
        bar(band[1], band[-2], name="50 in 100 releases", width=THICK),
        Dots(
            role="released",
            name="median",
            x=band[2],
            y=positions,
            shape="line-ns",
            size=17,
            hover=_hover(band, names, n=report.problem.n),
        ),
    ]
    return _picture(report, Axis(labels=tuple(names)), marks, descriptions, named, band=report.band)


def _picture(
    report: ErrorReport,
    places: Axis,
    marks: list[Mark],
    descriptions: list[str],
    named: list[str] | None,
    *,
    band: Floats,
    order: Any = slice(None),
    extra_columns: dict[str, list[Any]] | None = None,
) -> Picture:
    """Return the picture of a band (5, Q), with its hardest query and its table.

    Args:
        report: measured errors.
        places: the axis of queries.
        marks: of the band.
        descriptions: queries (Q,), as in the table.
        named: their names that a sentence may say; None: none may.
        band: quantiles of the errors (5, Q).
        order: of the report's queries in the table.
        extra_columns: first columns of the table.
    """
    n, query_noun = report.problem.n, report.problem.queries.one
    size = np.abs(band[[0, -1]]).max(axis=0)
    hardest = int(size.argmax())
    reach = float(size[hardest])
    table: dict[str, list[Any]] = {
        **(extra_columns or {"query": descriptions}),
        "true answer": short_numbers(report.truth[order]),
    }
    for name, level in zip(("5%", "25%", "median", "75%", "95%"), band, strict=True):
        table[f"error, {name}"] = short_numbers(level)
    table["rows, 95%"] = short_numbers(band[-1] * n)
    errors = Axis(title="error, share of n", form=".3~p", rows=n, grid=True)
    is_lying = bool(places.labels)
    return Picture(
        title=TITLE,
        x=errors if is_lying else places,
        y=places if is_lying else errors,
        marks=marks,
        sentence=f"In 90 of 100 releases, the error of the hardest {query_noun} "
        f"shown{f' ({named[hardest]})' if named else ''} is at most {percent_up(reach)} "
        f"({rows_up(reach, n)}). The bands hold 90% and 50% of {len(report.answered):,} releases. The line "
        "is the median.",
        table=table,
        height=max(110 + 20 * len(places.labels), AROUND + LINE * len(places.labels)) if is_lying else 300,
        about=extent(report.problem.domain),
    )


def _hover(band: Floats, descriptions: Sequence[str], *, n: int) -> list[str]:
    """Return the hover texts of queries."""
    within = np.abs(band[[0, -1]]).max(axis=0)
    return [
        f"{name}: median error {percent(median)}; error of 90 in 100 releases at most {percent_up(bound)} "
        f"({rows_up(bound, n)})"
        for name, median, bound in zip(descriptions, band[2].tolist(), within.tolist(), strict=True)
    ]
