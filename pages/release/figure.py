"""A picture of released counts, from the released file only."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.charts.axes import round_ticks
from pages.charts.picture import Axis, Bars, Picture
from pages.charts.words import printable_labels

MAX_BARS = 2048
MISSING = "missing"
"""Name of the bar of missing and unfit values."""
BESIDES = {"refused", "rows"}
"""Columns that do not name a cell."""


def released_counts(frame: pd.DataFrame) -> Picture | None:
    """Return a bar for each cell of one column, the last for missing values; None for files of another kind."""
    other_columns = BESIDES | ({"cell"} if list(frame.get("cell", ())) == list(range(len(frame))) else set())
    names = [str(name) for name in frame.columns if name not in other_columns]
    if "rows" not in frame or len(names) != 1 or not 1 < len(frame) <= MAX_BARS:
        return None
    (name,) = names
    fitting, missing_rows = frame[frame[name].notna()], frame[frame[name].isna()]
    counts = np.append(fitting["rows"], missing_rows["rows"]).astype(np.float64)
    bar_names = [*fitting[name], *[MISSING] * len(missing_rows)]
    column = next(iter(printable_labels([name])))
    if len(fitting) and pd.api.types.is_numeric_dtype(fitting[name]):
        middle = fitting[name].to_numpy(dtype=float)
        half = np.diff(middle).min() / 2 if len(middle) > 1 else 0.5
        axis = Axis(title=column)
        if len(missing_rows):  # at the right of the others, which are in the data's unit
            span = middle[-1] - middle[0] + 2 * half
            missing_start = middle[-1] + half + span * np.arange(1, len(missing_rows) + 1) / 12
            start, end = np.append(middle - half, missing_start), np.append(middle + half, missing_start + span / 16)
            ticks = tuple(round_ticks(float(middle[0] - half), float(middle[-1] + half), whole=False))
            axis = Axis(title=column, ticks=ticks, named={float(missing_start[0] + span / 32): MISSING})
        else:
            start, end = middle - half, middle + half
    else:
        axis = Axis(title=column, labels=tuple(printable_labels(map(str, bar_names))))
        start, end = np.arange(len(bar_names)) - 0.4, np.arange(len(bar_names)) + 0.4
    return Picture(
        title="Released counts",
        x=axis,
        y=Axis(title="rows"),
        marks=[Bars(role="released", name="released", start=start, end=end, value=counts)],
        sentence=f"{len(counts):,} released counts of {column}, from {counts.min():,.0f} to {counts.max():,.0f} rows."
        + (f" {missing_rows['rows'].sum():,.0f} rows are missing or do not fit." if len(missing_rows) else ""),
        table={column: bar_names, "rows": list(counts)},
        height=260,
    )
