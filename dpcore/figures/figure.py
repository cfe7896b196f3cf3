"""What every picture has: a specification, a sentence that says the same, a table of its numbers; and the look."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The specification's name, which Vega-Lite wants; nothing is fetched from it."""
BADGE_WIDTH = 62
"""Letters in a line of the badge: as many as a phone shows."""
MOST_COUNTED = 2.0**53
"""Whole numbers from here on are no counts."""


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
    paper: str


LIGHT = Palette(
    ink="#1b1e23", quiet="#5a616b", grid="#e3e6eb", true="#2b2f36", released="#1b68cb", theory="#b85c00",
    impossible="#7a808a", others=("#00806b", "#a8418f", "#6a51c7", "#8a6d00", "#2a8fae", "#8c4a2f"), paper="#ffffff",
)  # fmt: skip
DARK = Palette(
    ink="#e9ecf0", quiet="#a5acb8", grid="#262c36", true="#d5d9e0", released="#6aa9f5", theory="#f59a3c",
    impossible="#8d95a1", others=("#3cc2a5", "#e38fcd", "#ab9bf2", "#d9bc4a", "#7cd0e8", "#d79a7d"), paper="#030508",
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
            "text": textwrap.wrap(badge, BADGE_WIDTH) or [""], "anchor": "start", "color": colours.quiet,
            "fontSize": 11, "fontWeight": "normal", "limit": 700,
        },
        "config": {
            "font": "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
            "view": {"stroke": None},
            "mark": {"tooltip": None},
            "axis": {
                "labelColor": colours.ink, "titleColor": colours.ink, "gridColor": colours.grid,
                "domainColor": colours.quiet, "tickColor": colours.quiet, "labelFontSize": 12, "titleFontSize": 12,
                "titleFontWeight": "normal", "labelSeparation": 5,
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
    """Numbers with four significant digits, whole ones (counts) with all of theirs; null where there is none."""
    array = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(array)
    held = np.where(finite, array, 0.0)
    size = np.where(held != 0, np.abs(held), 1.0)
    # One of the two is 1 and the other a whole power of ten: the division rounds as reading the decimal number would.
    digits = 3 - np.floor(np.log10(size))
    up, down = 10.0 ** np.clip(digits, 0, 300), 10.0 ** np.clip(-digits, 0, 300)
    short = np.rint(held * up / down) * down / up
    # A count is often a share times n, and then off by its last bit.
    whole = np.rint(held)
    count = (np.abs(held - whole) <= 1e-12 * size) & (size < MOST_COUNTED)
    short = np.where(count, whole, short)
    return [number if known else None for number, known in zip(short.tolist(), finite.tolist(), strict=True)]


def minus(text: str) -> str:
    """A number in print, its hyphens made minus signs."""
    return text.replace("-", "−")


def significant(value: float) -> str:
    """A number with three significant digits, written out: 1,230 and 0.0000123."""
    if not math.isfinite(value):
        return "no value" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(abs(value)))
    if not -13 < places < 10:
        return minus(f"{value:.2e}")
    text = f"{round(value, places):,.{max(0, places)}f}"
    return minus(text.rstrip("0").rstrip(".") if "." in text else text)


def percent(value: float) -> str:
    """A fraction of n with three significant digits; beyond all rows, how many times n."""
    return f"{significant(value)} times n" if abs(value) > 1 else f"{significant(100 * value)}%"


def rows(value: float, n: int) -> str:
    """A fraction of n as a number of rows."""
    count = minus(f"{value * n:,.0f}")
    return f"{'0' if count == '−0' else count} {'' if abs(value) > 1 else f'of {n:,} '}rows"


def haloed(layer: dict[str, Any], colours: Palette) -> list[dict[str, Any]]:
    """A layer of text twice, the first time as an outline in the page's colour: readable across lines."""
    outline = {"stroke": colours.paper, "strokeWidth": 4, "strokeJoin": "round", "color": colours.paper}
    return [{**layer, "mark": {**layer["mark"], **outline}}, layer]


def rows_axis(n: int, *, orient: str) -> dict[str, Any]:
    """A second axis beside one of fractions, in rows; the whole number n is all that enters its expression."""
    return {
        "orient": orient, "title": "rows", "grid": False, "tickCount": 5, "labelOverlap": True,
        "labelExpr": f"format(datum.value * {int(n)}, ',.3~r')",
    }  # fmt: skip
