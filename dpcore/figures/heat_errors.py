"""Errors of rectangles: a band over the rectangles shown, fewest cells first."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.domains import Line
from dpcore.experiment import ErrorReport
from dpcore.figures.band_body import LEVELS, along_a_line
from dpcore.figures.figure import Figure, framed, palette, percent, rows, shortened
from dpcore.queries import Rectangles


def rectangle_band(report: ErrorReport, queries: Rectangles, *, badge: str, dark: bool) -> Figure:
    """A 90% and a 50% band of the error of each rectangle shown, over their rank by number of cells.

    Args:
        report: measured errors.
        queries: the class.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, n = palette(dark=dark), report.problem.n
    left, right, low, high = queries.ends(report.indices)
    cells = (right - left + 1) * (high - low + 1)
    order = np.argsort(cells, kind="stable")
    band = report.band[:, order]
    columns = {name: shortened(level) for name, level in zip(LEVELS, band, strict=True)}
    values = [
        {"x": rank, **dict(zip(columns, each, strict=True))}
        for rank, each in enumerate(zip(*columns.values(), strict=True), start=1)
    ]
    axis = Line(low=1, high=max(2, len(order)), unit="fewest cells first")
    # As queries.describe, each edge described once.
    across, up = (
        [line.describe(cell).split(" to ") for cell in range(line.ordered)]
        for line in (queries.domain.first, queries.domain.second)
    )
    described = [
        f"{across[a][0]} to {across[b][1]} × {up[c][0]} to {up[d][1]}"
        for a, b, c, d in zip(left[order], right[order], low[order], high[order], strict=True)
    ]
    size = np.abs(band[[0, -1]]).max(axis=0)
    widest = int(size.argmax())
    table: dict[str, list[Any]] = {
        "rectangle": described, "cells": cells[order].tolist(), "true answer": shortened(report.truth[order]),
    }  # fmt: skip
    for name, level in zip(("5%", "25%", "median", "75%", "95%"), band, strict=True):
        table[f"error, {name}"] = shortened(level)
    table["rows, 95%"] = shortened(band[-1] * n)
    return Figure(
        spec=framed(
            along_a_line(axis, one="rectangles shown", n=n, colour=colours.released),
            badge=badge, colours=colours, height=300, datasets={"queries": values},
        ),
        sentence=f"In 90 of 100 releases, the hardest of {len(order):,} rectangles shown ({described[widest]}) errs by "
        f"at most {percent(float(size[widest]))} ({rows(float(size[widest]), n)}); the bands hold 90% and 50% of "
        f"{len(report.answered):,} releases, the line is the median.",
        table=table,
        title="Error of every query",
    )  # fmt: skip
