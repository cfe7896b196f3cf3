"""The weights of a class of weighted sums: a line for each of a few queries, otherwise a row of shades."""

from __future__ import annotations

import numpy as np

from dpcore.core import Domain, Floats, Integers
from dpcore.data.columns import is_number
from dpcore.queries.linear import UNITS, LinearQueries
from pages.charts.histogram import axis_along, block_names, blocks_of, extent
from pages.charts.picture import Axis, Curve, Heat, Mark, Picture
from pages.charts.roles import DASHES
from pages.charts.words import printable_labels, short_numbers, significant

MAX_LINES = 8
"""Maximum number of queries that are drawn as lines."""
MAX_ROWS, MAX_COLUMNS = 50, 64
"""Maximum numbers of queries and cells of a map; more cells are drawn in blocks, of more queries some."""
LINES_HEIGHT, ROWS_HEIGHT = 220, 300


def weights_picture(queries: LinearQueries) -> Picture:
    """Return the weight of every cell in every query, as lines for a few queries of numbers, otherwise as a map."""
    domain, shown = queries.domain, queries.batch(MAX_ROWS)
    starts = np.arange(0, domain.ordered, -(-domain.ordered // MAX_COLUMNS))
    mean_weights = _means(queries.units[shown] / UNITS, starts)
    has_lines = queries.count <= MAX_LINES and is_number(domain)
    names = [f"query {place + 1}" for place in shown.tolist()]
    axis, edges, cell_names = _across(domain, starts)
    marks: list[Mark]
    if has_lines:
        marks = [
            Curve(
                role=f"other-{place}",
                name=name,
                x=edges,
                y=np.append(row, row[-1]),
                dash=DASHES[place // 2 % len(DASHES)],
                width=2,
                step=True,
            )
            for place, (name, row) in enumerate(zip(names, mean_weights, strict=True))
        ]
    else:
        number = shown + 1.0
        edges_up = np.concatenate([[0.5], (number[1:] + number[:-1]) / 2, [queries.count + 0.5]])
        marks = [
            Heat(
                role="other-0",
                name="weights",
                x=edges,
                y=edges_up,
                value=mean_weights,
                low=0,
                high=1,
                unit="weight",
                form=".3~f",
            )
        ]
    return Picture(
        title="Weights of the queries",
        x=axis,
        y=Axis(title="weight", low=0, high=1) if has_lines else Axis(title="query", low=0.5, high=queries.count + 0.5),
        marks=marks,
        sentence=_sentence(queries, len(shown), len(starts)),
        table={
            "cells": cell_names,
            **{name: short_numbers(row) for name, row in zip(names, mean_weights, strict=True)},
        },
        height=LINES_HEIGHT if has_lines else ROWS_HEIGHT,
        about=extent(domain),
    )


def _means(weights: Floats, starts: Integers) -> Floats:
    """Return the mean weight over each block of cells, (queries, blocks)."""
    sizes = np.diff(np.append(starts, weights.shape[1]))
    means: Floats = np.add.reduceat(weights, starts, axis=1) / sizes
    return means


def _across(domain: Domain, starts: Integers) -> tuple[Axis, Floats, list[str]]:
    """Return the axis of cells, the edges of the blocks, and their names."""
    if is_number(domain):
        names = block_names(domain, MAX_COLUMNS)
        return axis_along(domain), blocks_of(domain, MAX_COLUMNS)[1], names
    sizes = np.diff(np.append(starts, domain.ordered))
    labels = printable_labels(
        domain.describe(start) + (f" and {size - 1:,} more" if size > 1 else "")
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    )
    return Axis(labels=tuple(labels)), np.arange(len(starts) + 1, dtype=np.float64) - 0.5, labels


def _sentence(queries: LinearQueries, rows: int, columns: int) -> str:
    """Return the number of queries, their weights, and how many are drawn, as a sentence."""
    cells, totals = queries.domain.ordered, queries.units.sum(axis=1) / UNITS
    light, heavy = (significant(float(end) / cells) for end in (totals.min(), totals.max()))
    text = f"{queries.count:,} weighted sums of {cells:,} cells. A query's mean weight is "
    text += light if light == heavy else f"from {light} to {heavy}"
    text += f", and {significant(100 * float((queries.units > 0).mean()))}% of all weights are above 0"
    if rows < queries.count:
        text += f"; {rows} of the queries are shown"
    if columns < cells:
        text += f"; each place in the picture is the mean of up to {-(-cells // MAX_COLUMNS)} cells"
    return f"{text}."
