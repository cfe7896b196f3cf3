"""What every picture has: a specification, a sentence that says the same, a table of its numbers; and the look."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The specification's name, which Vega-Lite wants; nothing is fetched from it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """A picture.

    Attributes:
        spec: Vega-Lite specification, data included.
        sentence: the same in one sentence, for whoever does not see the picture.
        table: its numbers, column by column.
        title: what kind of picture it is, whatever its numbers.
    """

    spec: dict[str, Any]
    sentence: str
    table: dict[str, list[Any]]
    title: str = "Chart"


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours with a meaning, readable on one of the two backgrounds."""

    ink: str
    quiet: str
    grid: str
    true: str
    released: str
    theory: str
    impossible: str
    others: tuple[str, ...]


LIGHT = Palette(
    ink="#1b1e23", quiet="#5a616b", grid="#e3e6eb", true="#2b2f36", released="#1b68cb", theory="#b85c00",
    impossible="#7a808a", others=("#00806b", "#a8418f", "#6a51c7", "#8a6d00", "#2a8fae", "#8c4a2f"),
)  # fmt: skip
DARK = Palette(
    ink="#e9ecf0", quiet="#a5acb8", grid="#262c36", true="#d5d9e0", released="#6aa9f5", theory="#f59a3c",
    impossible="#8d95a1", others=("#3cc2a5", "#e38fcd", "#ab9bf2", "#d9bc4a", "#7cd0e8", "#d79a7d"),
)  # fmt: skip


def palette(*, dark: bool) -> Palette:
    """The colours for a theme."""
    return DARK if dark else LIGHT


Records = list[dict[str, Any]]


def framed(
    body: dict[str, Any],
    *,
    badge: str,
    colours: Palette,
    height: int,
    datasets: dict[str, Records] | None = None,
) -> dict[str, Any]:
    """A specification in the house's look, with its provenance drawn inside the picture.

    ``datasets`` are referred to by name in the body. A specification whose datasets alone change is repainted in place,
    which is far faster than drawing it anew: so what a slider moves belongs there, not into the body.
    """
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "background": "transparent",
        "autosize": {"type": "fit", "contains": "padding"},
        "title": {
            "text": badge, "anchor": "start", "color": colours.quiet, "fontSize": 11, "fontWeight": "normal",
            "limit": 700,
        },
        "config": {
            "font": "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
            "view": {"stroke": None},
            "mark": {"tooltip": None},
            "axis": {
                "labelColor": colours.ink, "titleColor": colours.ink, "gridColor": colours.grid,
                "domainColor": colours.quiet, "tickColor": colours.quiet, "labelFontSize": 12, "titleFontSize": 12,
                "titleFontWeight": "normal",
            },
            "legend": {
                "labelColor": colours.ink, "titleColor": colours.ink, "orient": "bottom", "labelFontSize": 12,
                "columns": 2, "labelLimit": 230, "titleLimit": 400, "symbolOpacity": 1, "title": None,
            },
        },
        **({"datasets": datasets} if datasets else {}),
        **body,
    }  # fmt: skip


def shortened(values: NDArray[Any] | list[float]) -> list[float | None]:
    """Numbers with four significant digits, null where there is none."""
    return [float(f"{value:.4g}") if math.isfinite(value) else None for value in np.asarray(values, dtype=float)]


def percent(value: float) -> str:
    """A fraction of n with three significant digits; beyond all rows, how many times n."""
    if value > 1:
        return f"{value:.3g} times n"
    return f"{100 * abs(value):.3g}%"


def rows(value: float, n: int) -> str:
    """A fraction of n as a number of rows."""
    count = abs(value) * n
    return f"{count:,.0f} rows" if count > n else f"{count:,.0f} of {n:,} rows"
