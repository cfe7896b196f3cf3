"""A picture of released counts; made of the released file alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.charts.picture import Axis, Bars, Picture
from pages.charts.words import drawable

MOST_BARS = 2048
BESIDES = {"refused", "cell", "rows"}
"""Columns that do not say what a cell stands for."""


def released_counts(frame: pd.DataFrame) -> Picture | None:
    """A bar for each cell of one column; None where the file holds something else, or too much for a picture."""
    names = [str(name) for name in frame.columns if name not in BESIDES]
    if "rows" not in frame or len(names) != 1 or not 1 < len(frame) <= MOST_BARS:
        return None
    (name,) = names
    known = frame[frame[name].notna()]  # the last cell may be for whatever fits nowhere
    counts = known["rows"].to_numpy(dtype=float)
    if pd.api.types.is_numeric_dtype(known[name]):
        middle = known[name].to_numpy(dtype=float)
        half, labels = np.diff(middle).min() / 2 if len(middle) > 1 else 0.5, tuple[str, ...]()
    else:
        middle, half, labels = np.arange(len(known), dtype=float), 0.4, tuple(drawable(known[name].astype(str)))
    column = next(iter(drawable([name])))
    return Picture(
        title="Released counts",
        x=Axis(title=column, labels=labels),
        y=Axis(title="rows"),
        marks=[Bars(role="released", name="released", start=middle - half, end=middle + half, value=counts)],
        sentence=f"{len(known):,} released counts of {column}, from {counts.min():,.0f} to {counts.max():,.0f} rows.",
        table={column: list(known[name]), "rows": list(counts)},
        height=260,
    )
