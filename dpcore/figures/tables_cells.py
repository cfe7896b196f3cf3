"""One table: true and released rows in its cells, and their errors over the noise that was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Records, framed, palette, significant

MOST_CELLS = 16
"""Cells of a table that are drawn: the fullest; all others are in its numbers."""
LINE, GAP = 13, 9
"""Pixels for a line of a cell's name, and between cells."""
LONGEST = 24
"""Letters of a name that fit one line beside the picture on a phone; longer ones are broken at their commas."""
TRUE, RELEASED = "true", "released"
LEGEND = {"legend": {"columns": 1}}
"""One below the other: beside long names of cells a phone has no room for two."""


def cell_counts(*, cells: Sequence[str], truth: NDArray[Any], released: Floats, badge: str, dark: bool) -> Figure:
    """True and released rows of the fullest cells of one table.

    Args:
        cells: what each is, (C,).
        truth: true rows, (C,); not private.
        released: rows in one previewed release, (C,).
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, order = palette(dark=dark), fullest(truth)
    records: Records = [
        {"cell": cells[place], TRUE: int(truth[place]), RELEASED: rows}
        for place, rows in zip(order, tenths(released[order]), strict=True)
    ]
    names, hues = [TRUE, RELEASED], [colours.true, colours.released]
    body = {
        "data": {"name": "cells"},
        "transform": [{"fold": names, "as": ["kind", "rows"]}],
        "mark": {"type": "point", "filled": False, "size": 80, "strokeWidth": 2, "opacity": 1, "aria": False},
        "encoding": {
            "y": _cell_axis(_lines(cells)),
            "x": {
                "field": "rows", "type": "quantitative", "title": "rows in the cell",
                "scale": {"padding": 9}, "axis": {"format": ",.3~r", "tickCount": 4},
            },
            "color": {"field": "kind", "type": "nominal", "scale": {"domain": names, "range": hues}, **LEGEND},
            "shape": {
                "field": "kind", "type": "nominal",
                "scale": {"domain": names, "range": ["square", "cross"]},
                **LEGEND,
            },
            "tooltip": [
                {"field": "cell"}, {"field": TRUE, "format": ","}, {"field": RELEASED, "format": ",.1f"},
            ],
        },
    }  # fmt: skip
    errors = released - truth
    worst = int(np.abs(errors).argmax())
    sentence = (
        f"{_drawn(len(order), len(cells))}. In this preview the cell that is furthest off is {cells[worst]}: "
        f"{int(truth[worst]):,} rows, released {released[worst]:,.1f}."
    )
    table: dict[str, list[Any]] = {
        "cell": list(cells), "true rows": truth.astype(int).tolist(), "released rows": tenths(released),
        "error in rows": tenths(errors),
    }  # fmt: skip
    return Figure(
        spec=framed(
            body, badge=badge, colours=colours, height=_height(len(order), _lines(cells)), datasets={"cells": records}
        ),
        sentence=sentence,
        table=table,
        title="Cells of one table",
    )  # fmt: skip


def cell_errors(
    *, cells: Sequence[str], truth: NDArray[Any], released: Floats, predicted: float, observed: float, trials: int,
    badge: str, dark: bool,
) -> Figure:  # fmt: skip
    """Errors in rows of the fullest cells in a few previews, over the noise predicted before anything was fitted.

    Args:
        cells: what each is, (C,).
        truth: true rows, (C,); not private.
        released: rows in some previewed releases, (previews, C).
        predicted: standard deviation of a cell of the unbiased table, in rows.
        observed: the same, observed.
        trials: previews it was observed in.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, order = palette(dark=dark), fullest(truth)
    errors = released - truth
    records: Records = [
        {"cell": cells[place], "error": error, "which": "this preview" if number == 0 else "other previews"}
        for place in order
        for number, error in reversed(list(enumerate(tenths(errors[:, place]))))
    ]
    band: Records = [{"low": -wide * predicted, "high": wide * predicted} for wide in (2, 1)]
    names, hues = ["this preview", "other previews"], [colours.released, colours.quiet]
    x = {"type": "quantitative", "title": "released less true rows", "axis": {"tickCount": 5, "format": ",.3~r"}}
    body = {
        "layer": [
            {
                "data": {"name": "band"},
                "mark": {"type": "rect", "color": colours.theory, "opacity": 0.14, "clip": True},
                "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "data": {"name": "cells"},
                "mark": {"type": "point", "filled": False, "size": 60, "strokeWidth": 2, "opacity": 1, "aria": False},
                "encoding": {
                    "y": _cell_axis(_lines(cells)), "x": {"field": "error", **x},
                    "color": {"field": "which", "type": "nominal", "scale": {"domain": names, "range": hues}, **LEGEND},
                    "shape": {
                        "field": "which", "type": "nominal", "scale": {"domain": names, "range": ["cross", "circle"]},
                        **LEGEND,
                    },
                    "tooltip": [{"field": "cell"}, {"field": "error", "format": ",.1f"}],
                },
            },
        ]
    }  # fmt: skip
    sentence = (
        f"Predicted standard deviation of a cell before anything is fitted: {significant(predicted)} rows (orange: "
        f"once and twice it); observed over {trials} previews: {significant(observed)}. As shown here, the "
        f"cells' root mean square error is {significant(float(np.sqrt(np.mean(errors**2))))} rows."
    )
    table: dict[str, list[Any]] = {"cell": list(cells)}
    table |= {f"error in preview {number}": tenths(each) for number, each in enumerate(errors, start=1)}
    return Figure(
        spec=framed(
            body, badge=badge, colours=colours, height=_height(len(order), _lines(cells)),
            datasets={"cells": records, "band": band},
        ),
        sentence=sentence,
        table=table,
        title="Errors of one table's cells",
    )  # fmt: skip


def fullest(truth: NDArray[Any]) -> list[int]:
    """The cells that are drawn, fullest first."""
    places: list[int] = np.argsort(-truth, kind="stable")[:MOST_CELLS].tolist()
    return places


def tenths(rows: Floats) -> list[float]:
    """Rows to a tenth: four digits would blur the cells of many rows."""
    rounded: list[float] = (np.round(rows, 1) + 0.0).tolist()
    return rounded


def _lines(cells: Sequence[str]) -> int:
    """Lines of the names: one, or one for each attribute."""
    return 1 if max(map(len, cells)) <= LONGEST else cells[0].count(", ") + 1


def _cell_axis(lines: int) -> dict[str, Any]:
    broken = {"labelExpr": "split(datum.label, ', ')", "labelLineHeight": LINE - 1, "labelFontSize": 11}
    return {
        "field": "cell", "type": "nominal", "sort": None, "title": None,
        "axis": {"labelLimit": 170, "grid": True, "labelOverlap": False, **(broken if lines > 1 else {})},
    }  # fmt: skip


def _height(cells: int, lines: int) -> int:
    return 130 + (LINE * lines + GAP) * cells


def _drawn(shown: int, every: int) -> str:
    return f"The {shown} fullest of {every:,} cells" if shown < every else f"All {every} cells"
