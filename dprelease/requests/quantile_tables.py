"""The file of quantiles by group: each group's rows and quantiles with their intervals.

All of it is post-processing of the rows per cell in the file beside it. Half-widths come from noise that is drawn again
with public random numbers, whose seed follows from the request's digest: they can be computed again. A quantile's
interval ends at edges of cells. Another computer's half-widths may differ in their last bits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Floats, Problem
from dpcore.mechanisms.grouped.quantiles import (
    GroupQuantileCounts,
    GroupQuantilesRelease,
    line_of,
    quantiles_of,
    quantiles_of_rows,
)
from dpcore.mechanisms.grouped.release import group_labels
from dplab.intervals.interval import around
from dplab.intervals.quantiles import centred_counts, quantile_cells
from dplab.intervals.released import group_half_widths
from dprelease.requests.intervals import LEVEL, end_names, written_ends

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = "quantiles"
"""Name of the file."""
SLACK = 1e-9
"""Relative difference of a half-width on another computer."""


def quantile_name(share: float) -> str:
    """Return the name of a quantile's column."""
    return f"quantile {share:g}"


def quantile_table(
    rows: Floats,
    mechanism: GroupQuantileCounts,
    problem: Problem,
    *,
    digest: str,
    level: float = LEVEL,
    factor: float = 1.0,
) -> pd.DataFrame:
    """Return a line for each group: its labels, rows, quantiles, and both ends of each interval.

    Args:
        rows: estimated rows in each cell of each group, (groups, cells).
        mechanism: the one that released them.
        problem: that they are released for.
        digest: of the request.
        level: of each interval.
        factor: of the half-widths.
    """
    import pandas as pd

    queries, line = quantiles_of(problem), line_of(problem)
    anybody = replace(problem, n=1, person_rows=0)  # the noise does not depend on them
    widths = group_half_widths(mechanism, anybody, queries.quantiles, level=level, digest=digest)
    values = quantiles_of_rows(rows, line, shares=queries.quantiles)
    edges = line.low + (line.high - line.low) * np.arange(line.ordered + 1) / line.ordered
    total = np.cumsum(rows, axis=1)[:, -1]
    columns = dict[str, object](group_labels(queries, np.arange(queries.count)))
    found = {"rows": (total, written_ends(around(total, factor * widths.of_rows, level=level)))}
    for place, share in enumerate(queries.quantiles):
        centred = centred_counts(rows, share, ordered=line.ordered)
        cells = quantile_cells(centred, factor * widths.of_quantiles[place], level=level)
        ends = edges[cells.low.astype(np.int64)], edges[cells.high.astype(np.int64) + 1]
        found[quantile_name(share)] = values[:, place], ends
    for name, (value, ends) in found.items():
        columns |= {name: value} | dict(zip(end_names(name), ends, strict=True))
    return pd.DataFrame(columns)


def quantile_table_of(
    drawn: GroupQuantilesRelease, mechanism: GroupQuantileCounts, *, digest: str, level: float = LEVEL
) -> pd.DataFrame:
    """Return the table of one release."""
    return quantile_table(drawn.rows()[0], mechanism, drawn.problem, digest=digest, level=level)
