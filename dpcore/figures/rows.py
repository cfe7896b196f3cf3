"""A data set alone: how many of its rows lie where, with nothing released beside them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpcore.core import Dataset, Floats
from dpcore.domains import Line
from dpcore.figures.data import binned
from dpcore.figures.figure import Figure, framed, palette

BAR_HEIGHT = 18
"""Of a label's bar, in pixels."""
REST = "anything else"
"""Name of the cell for missing values and those that do not fit."""


def rows_histogram(*, dataset: Dataset, badge: str, dark: bool) -> Figure:
    """Rows in each bar of cells; not private, so only for data that may be seen.

    Args:
        dataset: the true data.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    domain, colours = dataset.domain, palette(dark=dark)
    counts = binned(dataset.histogram[None, :].astype(np.float64), domain)[0]
    held, missing = counts[:-1], int(counts[-1])
    mark = "rect" if isinstance(domain, Line) else "bar"
    if isinstance(domain, Line):
        names, values, encoding = _on_a_line(domain, held)
        height = 220
    else:
        names = [domain.describe(cell) for cell in range(len(held))]
        if domain.ordered > len(held):
            names[-1] += f" and {domain.ordered - len(held)} more"
        shown = zip([*names, REST], counts.tolist(), strict=True)
        values = [{"label": name, "rows": rows} for name, rows in shown]
        label = {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 140}}
        encoding = {"y": label, "x": {"field": "rows", "type": "quantitative", "title": "rows"}}
        height = 70 + BAR_HEIGHT * len(values)
    # The sentence speaks for the bars: a reader of the page aloud needs no name for each.
    look = {"type": mark, "color": colours.true, "aria": False}
    body = {"data": {"name": "rows"}, "mark": look, "encoding": encoding}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=height, datasets={"rows": values}),
        sentence=_sentence(dataset.n, names, held, missing),
        table={"rows where": [*names, REST], "rows": [*held.astype(int).tolist(), missing]},
    )


def _on_a_line(domain: Line, held: Floats) -> tuple[list[str], list[dict[str, Any]], dict[str, Any]]:
    """Names, values and channels of bars that touch, over the data's unit."""
    step = -(-domain.ordered // len(held))
    edges = np.minimum(domain.low + np.arange(len(held) + 1) * step * domain.width, domain.high)
    names = [f"{start:.5g} to {end:.5g}" for start, end in itertools.pairwise(edges)]
    values = [
        {"start": start, "end": end, "rows": rows, "where": name}
        for start, end, rows, name in zip(edges[:-1].tolist(), edges[1:].tolist(), held.tolist(), names, strict=True)
    ]
    scale = {"domain": [domain.low, domain.high], "nice": False}
    title = f"value ({domain.unit})" if domain.unit else "value"
    encoding = {
        "x": {"field": "start", "type": "quantitative", "title": title, "scale": scale},
        "x2": {"field": "end"},
        "y": {"field": "rows", "type": "quantitative", "title": "rows in a bar"},
        "y2": {"datum": 0},
        "tooltip": [{"field": "where", "title": "value"}, {"field": "rows"}],
    }
    return names, values, encoding


def _sentence(n: int, names: list[str], held: Floats, missing: int) -> str:
    """Where most rows are, and how many bars have none."""
    fullest = int(held.argmax())
    empty = int((held == 0).sum())
    bars = "1 bar" if len(held) == 1 else f"{len(held)} bars"
    text = f"{n:,} rows in {bars}: the fullest, {names[fullest]}, has {held[fullest]:,.0f}"
    rest = "1 row is missing or fits nowhere" if missing == 1 else f"{missing:,} rows are missing or fit nowhere"
    return f"{text}; {empty} {'is' if empty == 1 else 'are'} empty; {rest}."
