"""Axes as Plotly wants them: how far they reach, where numbers stand, and a second one that counts whole rows."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpcore.core import Floats
from pages.charts.palette import Palette
from pages.charts.picture import (
    Axis,
    Band,
    Bars,
    Cloud,
    Dots,
    Mark,
    Words,
    numbers,
)
from pages.charts.words import minus

Layout = dict[str, Any]

MAX_DECADES = 3
"""Powers of ten on an axis that leave room for other numbers between them."""
FEW_DECADES = 2.1
"""Powers of ten on an axis whose ticks are 1, 2 and 5 times a power: Plotly's default of all ten is too many."""
TICK_COUNT = 5
"""Number of ticks that an axis aims for."""
MARGIN = 0.04
"""Share of the picture's side that stays free beyond the outermost marks."""


ROUND = (1, 1.5, 2, 3, 5, 7, 10)
"""Leading digits at which an axis may end, so that it does not change with every small change of the data."""
NAME_GAP = 0.09
"""Share of the axis on either side of a name that has no numbers."""
LEGEND = 36
"""Pixels of a legend below tilted labels."""
TITLE_LETTERS = 44
"""Letters in a line of a title below a picture: the width of a phone."""
MAX_ACROSS, MAX_FLAT = 24, 6
"""Maximum number of labels along a horizontal axis, and the number up to which they are not tilted."""
EDGE, TICK, TITLE_SPACE, TEXT_BELOW, LINE = 12, 5, 21, 36, 18
"""Pixels of: an edge, a tick, a title beside numbers, numbers and title below a picture, a
line of text."""
CHARACTER_WIDTHS = {"%": 11.5, ",": 3.9, ".": 3.9, "−": 10.1}
"""Pixels of the characters that are wider or narrower than a digit."""
LETTER_WIDTH, PHONE_WIDTH = 7.7, 300
"""Pixels of any other character, and of a picture between its axes on a phone."""


def escape_text(text: str) -> str:
    """Return text with its markup escaped: Plotly interprets HTML, and users' labels may contain some."""
    return html.escape(text, quote=False).replace("\n", "<br>")


def round_up(value: float) -> float:
    """Return the next round number at or above a positive one, so that small changes keep the same axis.

    >>> [round_up(value) for value in (0.0131, 2.0, 61)]
    [0.015, 2.0, 70.0]
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{each * power:.3g}") for each in ROUND if each * power >= value * (1 - 1e-9))


def axis_range(axis: Axis, marks: Iterable[Mark], *, across: bool) -> tuple[float, float]:
    """Return the ends of an axis: the declared ones, else those of its marks with a margin."""
    if axis.labels:
        return -0.5, len(axis.labels) - 0.5
    ends = [values for mark in marks for values in _ends(mark, across=across)]
    known = np.concatenate([*ends, []]) if ends else np.array([])
    known = known[np.isfinite(known) & ((known > 0) | (not axis.log))]
    low = axis.low if axis.low is not None else float(known.min()) if len(known) else (0.1 if axis.log else 0.0)
    high = axis.high if axis.high is not None else float(known.max()) if len(known) else 1.0
    if axis.log:
        free = (high / low) ** MARGIN if high > low else 2.0
        return low if axis.low is not None else low / free, high if axis.high is not None else high * free
    free = MARGIN * (high - low) or max(abs(low) * MARGIN, 0.5)
    # A bar or a share starts at 0: nothing lies below it.
    below = axis.low is not None or low == 0
    return low if below else low - free, high if axis.high is not None else high + free


def _ends(mark: Mark, *, across: bool) -> list[Floats]:
    """Return the values of a mark along one axis; a mark across the whole picture has none there."""
    if isinstance(mark, Cloud) or (isinstance(mark, Words) and mark.inside):
        return []
    if isinstance(mark, Band) and not across:
        return [numbers(mark.low), numbers(mark.high)]
    if isinstance(mark, Bars):
        base = np.zeros(1) if mark.base is None else numbers(mark.base)
        along = mark.across != across
        return [numbers(mark.start), numbers(mark.end)] if along else [numbers(mark.value), base]
    places = getattr(mark, "x" if across else "y")
    ends = [] if places is None else [np.atleast_1d(numbers(places))]
    if isinstance(mark, Dots) and mark.low is not None and mark.high is not None and mark.across == across:
        ends += [numbers(mark.low), numbers(mark.high)]
    return ends


def axis_layout(axis: Axis, ends: tuple[float, float], colours: Palette, *, across: bool) -> Layout:
    """Return one axis as Plotly's layout."""
    layout: Layout = {
        "title": {"text": escape_text(balanced(axis.title, TITLE_LETTERS) if across else axis.title), "standoff": 8},
        "type": "log" if axis.log else "linear",
        "range": [math.log10(end) for end in ends] if axis.log else list(ends),
        "showgrid": axis.grid,
        "zeroline": False,
        # Upright, a number at the upper end would move the picture down, from below its scale of shades.
        "automargin": True if across else "width",
        "visible": axis.shown,
        "ticks": "outside" if not axis.labels else "",
        "nticks": TICK_COUNT + 2,
        "tickangle": 0,
        "minexponent": 5,
    }
    if axis.form:
        layout["tickformat"] = axis.form
        decades = math.log10(ends[1] / ends[0]) if axis.log else 0
        if decades > MAX_DECADES:  # Plotly would write twice and five times each power too, one over the other
            layout["dtick"] = math.ceil(decades / (TICK_COUNT + 2))
        elif 1 <= decades <= FEW_DECADES:  # and here three, four, six, … times each
            layout["dtick"] = "D2"
    elif axis.log:
        layout |= {"tickformat": ",~g", "dtick": 1 if ends[1] / ends[0] > 20 else "D2"}
    if axis.labels:
        places = range(0, len(axis.labels), -(-len(axis.labels) // MAX_ACROSS) if across else 1)
        cut = ["\n".join(_cut(line, axis.letters) for line in text.split("\n")) for text in axis.labels]
        layout |= {"tickvals": list(places), "ticktext": [escape_text(cut[place]) for place in places]}
        if not across:
            layout["range"] = layout["range"][::-1]
        elif len(places) > MAX_FLAT:
            layout["tickangle"] = -40
    elif axis.ticks or axis.named:
        along = math.log10 if axis.log else float
        clear = NAME_GAP * (along(ends[1]) - along(ends[0]))
        ticks_left = [
            place
            for place in axis.ticks or (_powers(*ends) if axis.log else round_ticks(*ends, whole=False))
            if all(abs(along(place) - along(other)) >= clear for other in axis.named)
        ]
        layout["tickvals"] = [*ticks_left, *axis.named]
        if axis.named:
            layout["ticktext"] = [
                *(_number(place, axis) for place in ticks_left),
                *map(escape_text, axis.named.values()),
            ]
    return layout


def axis_margins(layout: Layout, *, across: bool) -> dict[str, float]:
    """Return roughly the pixels that an axis needs at each side, keyed by the side's first letter.

    The browser computes the exact margins. With enough room from the start it draws the picture once instead of twice:
    without this, a first drawing took 1.4 to 2 times as long on a phone and on a screen.
    """
    if not layout.get("visible", True):
        return {}
    tick, title = TICK * bool(layout["ticks"]), layout["title"]["text"]
    labels = tick_labels(layout)
    if not across:
        widest = max((_width(text) for _, text in labels), default=0.0)
        width = EDGE + tick + widest + (TITLE_SPACE + LINE * title.count("<br>") if title else 0)
        return {"r" if layout.get("side") == "right" else "l": width}
    if layout["tickangle"]:
        return {}
    lines = max((text.count("<br>") for _, text in labels), default=0)
    lines += title.count("<br>")
    margins: dict[str, float] = {"b": EDGE + tick + (TEXT_BELOW if title else TEXT_BELOW - LINE - 2) + LINE * lines}
    low, high = layout["range"]
    for side, end in (("l", low), ("r", high)):
        over = [_width(text) / 2 - PHONE_WIDTH * abs((place - end) / (high - low)) for place, text in labels]
        margins[side] = EDGE + max(over, default=0.0)
    return margins


def room_below(layout: Layout) -> float:
    """Return the pixels that tilted labels and a legend take below a picture; 0 where labels are not tilted."""
    if not layout.get("tickangle"):
        return 0.0
    widest = max((_width(text) for _, text in tick_labels(layout)), default=0.0)
    return LEGEND + math.sin(math.radians(abs(layout["tickangle"]))) * widest


def balanced(text: str, letters: int) -> str:
    r"""Return a text in as few lines of at most so many letters as it needs, with lines of about the same length.

    >>> balanced("worst error, share of n", 20)
    'worst error,\nshare of n'
    """
    wrapped = textwrap.wrap(text, letters)
    for width in range(len(text) // max(1, len(wrapped)), letters if len(wrapped) > 1 else 0):
        lines = textwrap.wrap(text, max(1, width), break_long_words=False)
        if len(lines) <= len(wrapped) and max(map(len, lines)) <= letters:
            return "\n".join(lines)
    return "\n".join(wrapped)


def tick_labels(layout: Layout) -> list[tuple[float, str]]:
    """Return the approximate positions of an axis's tick labels, with their texts."""
    log, form = layout["type"] == "log", layout.get("tickformat", "")
    ticks = layout.get("tickvals")
    if not ticks:
        low, high = sorted(layout["range"])
        ticks = _powers(10.0**low, 10.0**high) if log else round_ticks(low, high, whole=False)
    labels = layout.get("ticktext") or [format_tick(place, form) for place in ticks]
    return [(math.log10(place) if log else float(place), text) for place, text in zip(ticks, labels, strict=True)]


def format_tick(value: float, form: str) -> str:
    """Return a number roughly as the browser formats it."""
    if form.endswith(("p", "%")):
        return f"{100 * value:,.3g}%"
    if form.endswith("s") or (not form and abs(value) >= 1e5):
        return f"{value:.0e}"
    return minus(f"{value:,.6g}")


def _width(text: str) -> float:
    """Return the pixels of the longest line of a label."""
    return max(
        sum(CHARACTER_WIDTHS.get(letter, LETTER_WIDTH) for letter in line) for line in html.unescape(text).split("<br>")
    )


def _number(place: float, axis: Axis) -> str:
    """Return a tick's number as text, for an axis that also has names: Plotly then formats nothing itself."""
    return minus(f"{100 * place:,.6g}%" if axis.form.endswith("p") else f"{place:,.6g}")


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten from low to high; 2 and 5 times these as well if there are at most three."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 3 else (1,)
    places = [float(f"{step}e{power}") for power in powers for step in steps]
    return [place for place in places if low <= place <= high]


def _cut(line: str, letters: int) -> str:
    """Return a label's line, cut to a number of letters."""
    return line if len(line) <= letters else f"{line[: letters - 1]}…"


def rows_layout(axis: Axis, ends: tuple[float, float], *, across: bool) -> Layout:
    """Return the layout of a second axis in whole rows beside one of shares; it moves with the first."""
    base = "x" if across else "y"
    counts = _whole_ticks(ends, axis.rows, log=axis.log)
    return {
        "title": {"text": "rows", "standoff": 6},
        "type": "log" if axis.log else "linear",
        "overlaying": base,
        "matches": base,
        "side": "top" if across else "right",
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticks": "outside",
        "tickvals": [count / axis.rows for count in counts],
        "ticktext": [minus(f"{count:,}") for count in counts],
    }


def _whole_ticks(ends: tuple[float, float], n: int, *, log: bool) -> list[int]:
    """Return whole numbers of rows between two shares of n: powers of ten, or equal steps."""
    low, high = ends[0] * n, ends[1] * n
    if log:
        first, last = math.ceil(math.log10(max(low, 1))), math.floor(math.log10(max(high, 1)))
        if last - first >= 1:
            every = max(1, math.ceil((last - first + 1) / (TICK_COUNT + 2)))
            return [10**power for power in range(first, last + 1, every)]
        whole = [math.ceil(low), math.floor(high)]
        return sorted({count for count in whole if low <= count <= high and count > 0})
    return [int(place) for place in round_ticks(low, high, whole=True)]


def round_ticks(low: float, high: float, *, whole: bool) -> list[float]:
    """Return round numbers from low to high, in steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / TICK_COUNT
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= 0.8 * rough)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, last + 1)]
