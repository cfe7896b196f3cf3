"""Files of one release, and a release of mock data with the same columns and labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from dpcore.core import Blocks, DataRelease, HistogramRelease, Mechanism, Release, ValueRelease, finish, scaled
from dpcore.core.safe_csv import frame_csv, unescape_formula, write_frame
from dpcore.data.twin import twin
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.histograms.labels import LabelsRelease
from dpcore.mechanisms.tables.release import marginals_of
from dpcore.mechanisms.tables.rows_release import DISTANCES, MEASURED, SYNTHETIC_ROWS, RowsRelease
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.randomness import Preview
from dprelease.requests.intervals import LEVEL, with_intervals
from dprelease.requests.parts import RequestPart
from dprelease.requests.quantile_tables import QUANTILES, quantile_table_of

if TYPE_CHECKING:
    import pandas as pd

ANSWERS = "answers"
"""Name of the file of a release of any other kind."""
LABELS = "labels"
"""Name of the file of found labels."""
NAMES: dict[type[Release], str] = {
    HistogramRelease: "counts",
    ValueRelease: "value",
    DataRelease: "synthetic",
    LabelsRelease: LABELS,
}
BETA = 0.05
"""Failure probability of the bounds on synthetic rows' distances from the true tables."""
MAX_PREVIEW_ROWS, MAX_SYNTHETIC_ROWS = 1_000_000, 100
MAX_MEASURED_CELLS = 1 << 17
"""Largest number of cells of tables whose measured numbers are in a file beside synthetic rows."""


def csv_files(drawn: Release, mechanism: Mechanism, *, digest: str, level: float = LEVEL) -> dict[str, bytes]:
    """Return the released files by name; see ``write_files``."""
    return finish(write_files(drawn, mechanism, digest=digest, level=level))


def write_files(
    drawn: Release, mechanism: Mechanism, *, digest: str, level: float = LEVEL
) -> Generator[float, None, dict[str, bytes]]:
    """Write the released files by name: one table; for some mechanisms others that belong to it. Yields the share done.

    Synthetic rows also have their distances from the measured tables and, unless they have too many cells, these;
    cells of groups have the groups' quantiles.

    Args:
        drawn: one release.
        mechanism: the one that made it; by its noise, statistics of groups have intervals.
        digest: of the request: the seed of public noise that intervals are found from.
        level: of the intervals.
    """
    if isinstance(drawn, RowsRelease):
        rows = yield from scaled(drawn.make_rows(), 0, 2)
        tables = {SYNTHETIC_ROWS: drawn.table(rows=rows), DISTANCES: drawn.distances(rows, beta=BETA)}
        if marginals_of(drawn.problem).count <= MAX_MEASURED_CELLS:
            tables[MEASURED] = drawn.measured_frame()
        files, written, lines = dict[str, bytes](), 0, sum(map(len, tables.values()))
        for name, table in tables.items():
            for share in (work := Blocks(write_frame(_unsigned(table)))):
                yield (1 + (written + share * len(table)) / max(lines, 1)) / 2
            files[f"{name}.csv"], written = work.result.encode(), written + len(table)
        return files
    yield 0.0
    name = next((name for kind, name in NAMES.items() if isinstance(drawn, kind)), ANSWERS)
    files = {f"{name}.csv": answers_csv(drawn, mechanism, level=level, digest=digest)}
    if isinstance(drawn, GroupQuantilesRelease) and isinstance(mechanism, GroupQuantileCounts):
        files[f"{QUANTILES}.csv"] = table_csv(quantile_table_of(drawn, mechanism, digest=digest, level=level))
    return files


def answers_csv(drawn: Release, mechanism: Mechanism, *, level: float = LEVEL, digest: str = "") -> bytes:
    """Return the file of all that a release published, with the intervals that follow from it alone."""
    frame = drawn.frame().iloc[:, 1:]  # without the number of the trial; a column may have that name
    return table_csv(with_intervals(frame, drawn, mechanism, level=level, digest=digest))


def released_labels(contents: bytes) -> list[str]:
    """Return the labels in the file of found labels, those with the largest released counts first."""
    lines = list(csv.reader(io.StringIO(contents.decode(), newline="")))[1:]
    return [unescape_formula(label) for label, *_ in sorted(lines, key=lambda line: -int(line[1]))]


def table_csv(table: pd.DataFrame) -> bytes:
    """Return a table as the bytes of its file."""
    return frame_csv(_unsigned(table)).encode()


def _unsigned(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with -0.0 replaced by 0.0, so that a number has one notation."""
    table = table.copy(deep=False)
    for place in range(table.shape[1]):
        column = table.iloc[:, place]
        if column.dtype.kind == "f":
            table.isetitem(place, column + 0.0)
    return table


def preview_of(question: RequestPart) -> Release:
    """Return a release of mock data by the same mechanism: its columns and labels depend on the request alone.

    Synthetic rows are few: no other number of them is compared with anything, and a million take minutes.
    """
    max_rows = MAX_SYNTHETIC_ROWS if isinstance(question.mechanism, WholeTable) else MAX_PREVIEW_ROWS
    problem = replace(question.problem, n=min(question.n, max_rows))
    dataset = twin(question.reading, n=problem.n).dataset()
    return question.mechanism.run(question.mechanism.prepare(dataset, problem), Preview(seed=1), 1)
