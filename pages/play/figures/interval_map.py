"""The errors of intervals as a map over both ends."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.data.columns import Number
from dpcore.queries.ranges import Intervals
from dplab.measure import ErrorReport
from pages.charts.histogram import axis_along, extent
from pages.charts.picture import Heat, Outline, Picture, numbers
from pages.charts.words import percent_up, rows_up, short_numbers


def interval_map(report: ErrorReport, queries: Intervals, domain: Number) -> Picture:
    """Return a map of start against end, shaded by the error of 90% of releases (the larger of |5%| and |95%|)."""
    n = report.problem.n
    first, last = queries.ends(report.indices)
    size = np.abs(report.band[[0, -1]]).max(axis=0)
    start, end = numbers(domain.low + first * domain.width), numbers(domain.low + (last + 1) * domain.width)
    x, column = _tiles(start, domain)
    y, row = _tiles(end, domain)
    value = np.full((len(y) - 1, len(x) - 1), np.nan)
    value[row, column] = size
    worst = int(np.argmax(size))
    worst_tile = (
        (float(x[column[worst]]), float(x[column[worst] + 1])),
        (float(y[row[worst]]), float(y[row[worst] + 1])),
    )
    return Picture(
        title="Error of every query",
        x=axis_along(domain, "interval starts at"),
        y=axis_along(domain, "and ends at", upright=True),
        marks=[
            Heat(
                role="released",
                name="interval, near these ends",
                x=x,
                y=y,
                value=value,
                low=0.0,
                high=float(size.max()) or 1.0,
                unit="error of 90 in 100 releases, at most",
                form=".3~p",
                rows=n,
            ),
            # Two colours, of which one differs from every shade.
            Outline(role="paper", x=worst_tile[0], y=worst_tile[1], width=6),
            Outline(role="ink", x=worst_tile[0], y=worst_tile[1]),
        ],
        sentence="In 90 of 100 releases, the hardest interval shown "
        f"({queries.describe(int(report.indices[worst]))}, outlined) has an error of at most "
        f"{percent_up(float(size[worst]))} ({rows_up(float(size[worst]), n)}). Half of those shown have at "
        f"most {percent_up(float(np.median(size)))}. Short intervals are near the diagonal.",
        table={
            "from": short_numbers(start, step=domain.width),
            "to": short_numbers(end, step=domain.width),
            "true answer": short_numbers(report.truth),
            "90% of errors at most": short_numbers(size),
            "rows": short_numbers(size * n),
        },
        height=320,
        about=extent(domain),
    )


def _tiles(places: Floats, domain: Number) -> tuple[Floats, Integers]:
    """Return the edges of adjacent tiles around the positions, inside the domain, and the tile of each position."""
    middles, tile_of_place = np.unique(places, return_inverse=True)
    edges = np.concatenate([[domain.low], (middles[1:] + middles[:-1]) / 2, [domain.high]])
    return edges, tile_of_place
