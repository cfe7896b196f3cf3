"""Pictures of released statistics with their intervals, from the released file only; of mock data with a watermark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from dpcore.core import Floats, Integers
from dprelease.downloads.statistics import ReleasedStatistic
from pages.charts.axes import round_ticks
from pages.charts.picture import Axis, Bars, Dots, Picture, Words
from pages.charts.words import printable_labels

MAX_BARS = 2048
MISSING = "missing"
"""Name of the bar of missing and unfit values."""
ROWS = ",.3~r"
"""Form of a number of rows."""
BESIDES = {"refused", "rows"}
"""Columns that do not name a cell."""


def released_counts(
    frame: pd.DataFrame, statistic: ReleasedStatistic | None = None, *, column: str = ""
) -> Picture | None:
    """Return a bar for each cell of one column, the last for missing values; None for files of another kind.

    Args:
        frame: the released table.
        statistic: its counts with their intervals, where these are known.
        column: its name, instead of the file's own.
    """
    other_columns = BESIDES | ({"cell"} if list(frame.get("cell", ())) == list(range(len(frame))) else set())
    names = [str(name) for name in frame.columns if name not in other_columns]
    if "rows" not in frame or len(names) != 1 or not 1 < len(frame) <= MAX_BARS:
        return None
    (name,) = names
    fitting, missing_rows = frame[frame[name].notna()], frame[frame[name].isna()]
    counts = np.append(fitting["rows"], missing_rows["rows"]).astype(np.float64)
    bar_names = [*fitting[name], *[MISSING] * len(missing_rows)]
    column = next(iter(printable_labels([column or name])))
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
    ends = dict[str, Floats]()
    if statistic is not None:
        order = np.concatenate([np.flatnonzero(frame[name].notna()), np.flatnonzero(frame[name].isna())])
        ends = {"low": statistic.low[order], "high": statistic.high[order]}
    return Picture(
        title="Released counts",
        x=axis,
        y=Axis(title="rows", form=ROWS),
        marks=[
            Bars(role="released", name="released", start=start, end=end, value=counts),
            *([_whiskers((start + end) / 2, counts, statistic, **ends)] if statistic else []),
        ],
        sentence=f"{len(counts):,} released counts of {column}, from {counts.min():,.0f} to {counts.max():,.0f} rows."
        + (f" Missing or unfit: {missing_rows['rows'].sum():,.0f}." if len(missing_rows) else ""),
        table={column: bar_names, "rows": list(counts)} | {end: list(each) for end, each in ends.items()},
        height=260,
    )


def released_groups(statistic: ReleasedStatistic) -> Picture | None:
    """Return a bar with a whisker for each group that has enough rows; None for too many groups, or none of them."""
    shown = np.flatnonzero(~np.isnan(statistic.values))[: MAX_BARS + 1]
    if not 0 < len(shown) <= MAX_BARS or len(statistic.labels) == 1:
        return None
    value, place = statistic.values[shown], np.arange(len(shown), dtype=np.float64)
    low, high = (np.where(np.isfinite(each[shown]), each[shown], value) for each in (statistic.low, statistic.high))
    unit = f" ({statistic.unit})" if statistic.unit else " (rows)" * statistic.whole
    hidden = len(statistic.labels) - len(shown)
    return Picture(
        title=statistic.title,
        x=Axis(labels=tuple(printable_labels(statistic.labels[each] for each in shown))),
        y=Axis(title=next(iter(printable_labels([statistic.title.partition(" by ")[0]]))) + unit),
        marks=[
            Bars(role="released", name="released", start=place - 0.4, end=place + 0.4, value=value),
            _whiskers(place, value, statistic, low=np.minimum(low, value), high=np.maximum(high, value)),
            *_of_population(statistic, shown, place),
        ],
        sentence=f"{len(shown):,} groups with their intervals, from {value.min():,.6g} to {value.max():,.6g}{unit}."
        + (f" {hidden:,} have too few rows to say." if hidden else ""),
        table={
            "group": list(statistic.labels),
            "released": [statistic.amount(each) for each in range(len(statistic.labels))],
        }
        | (
            {statistic.of_population: [statistic.wider(each) for each in range(len(statistic.labels))]}
            if statistic.population is not None
            else {}
        ),
        height=260,
    )


def _of_population(statistic: ReleasedStatistic, shown: Integers, place: Floats) -> list[Dots]:
    """Return whiskers of the wider intervals, right of those of the noise; none without such intervals."""
    if statistic.population is None:
        return []
    low, high = (ends[shown] for ends in statistic.population)
    middle = np.clip(statistic.values[shown], low, high)
    return [Dots(role="other-0", name=statistic.of_population, x=place + 0.2, y=middle, low=low, high=high, size=3)]


def _whiskers(x: Floats, value: Floats, statistic: ReleasedStatistic, *, low: Floats, high: Floats) -> Dots:
    return Dots(role="ink", name=f"interval, {100 * statistic.level:g}%", x=x, y=value, low=low, high=high, size=3)


def watermarked(picture: Picture) -> Picture:
    """Return the picture of a test run, which says across it that it is of mock data."""
    mark = Words(role="quiet", text="mock data", x=0.5, y=0.5, inside=True, size=40, bold=True)
    marks = [replace(each, name="mock data") if each.name == "released" else each for each in picture.marks]
    return replace(picture, marks=[*marks, mark], sentence=f"Mock data. {picture.sentence}")
