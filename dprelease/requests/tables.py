"""Files of one release, and a release of mock data with the same columns and labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpcore.core import DataRelease, HistogramRelease, Mechanism, Release, ValueRelease
from dpcore.core.safe_csv import frame_csv
from dpcore.data.twin import twin
from dpcore.mechanisms.tables.whole_table import DISTANCES, SYNTHETIC_ROWS, RowsRelease
from dpcore.randomness import Preview
from dprelease.requests.intervals import with_intervals
from dprelease.requests.parts import RequestPart

if TYPE_CHECKING:
    import pandas as pd

NAMES: dict[type[Release], str] = {
    HistogramRelease: "counts",
    ValueRelease: "value",
    DataRelease: "synthetic",
}
BETA = 0.05
"""Failure probability of the bounds on synthetic rows' distances from the true tables."""
MAX_PREVIEW_ROWS = 1_000_000


def csv_files(drawn: Release, mechanism: Mechanism) -> dict[str, bytes]:
    """Return the released files by name: one table; for synthetic rows also their distances from the tables.

    Args:
        drawn: one release.
        mechanism: the one that made it; by its noise, statistics of groups have intervals.
    """
    if isinstance(drawn, RowsRelease):
        rows = drawn.rows()
        tables = {SYNTHETIC_ROWS: drawn.table(rows=rows), DISTANCES: drawn.distances(rows, beta=BETA)}
    else:
        name = next((name for kind, name in NAMES.items() if isinstance(drawn, kind)), "answers")
        frame = drawn.frame().iloc[:, 1:]  # without the number of the trial; a column may have that name
        tables = {name: with_intervals(frame, drawn, mechanism)}
    return {f"{name}.csv": frame_csv(_unsigned(table)).encode() for name, table in tables.items()}


def _unsigned(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with -0.0 replaced by 0.0, so that a number has one notation."""
    table = table.copy(deep=False)
    for place in range(table.shape[1]):
        column = table.iloc[:, place]
        if column.dtype.kind == "f":
            table.isetitem(place, column + 0.0)
    return table


def preview_of(question: RequestPart) -> Release:
    """Return a release of mock data by the same mechanism: its columns and labels depend on the request alone."""
    problem = replace(question.problem, n=min(question.n, MAX_PREVIEW_ROWS))
    dataset = twin(question.reading, n=problem.n).dataset()
    return question.mechanism.run(question.mechanism.prepare(dataset, problem), Preview(seed=1), 1)
