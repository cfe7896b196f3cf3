"""Drawing context of one picture: positions along its axes, styles, legend entries, hover texts and annotations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pages.charts.axes import escape_text
from pages.charts.palette import Palette, faint
from pages.charts.picture import Axis, Mark, Picture, numbers
from pages.charts.roles import BADGES, MarkStyle, style_for
from pages.charts.words import short_numbers

Trace = dict[str, Any]
Numbers = Sequence[float | None] | None
Ends = tuple[float, float]

FINEST = 4000
"""Resolution of an axis: number of positions that are distinguishable."""
SHADES_ABOVE = 46
"""Pixels of a colour bar above the picture."""
LINE_OF_WORDS = 18
"""Pixels between two lines of annotations at the top."""
GROUND = 0.8
"""Opacity of the background of an annotation: a dot behind it stays visible."""


@dataclass(frozen=True, kw_only=True)
class Pen:
    """Converts the marks of one picture.

    Attributes:
        picture: the picture.
        ends: lower and upper end of both axes.
        colours: of the theme.
        badge: provenance, line by line.
        shapes: lines and outlines drawn so far.
        words: annotations drawn so far.
    """

    picture: Picture
    ends: tuple[Ends, Ends]
    colours: Palette
    badge: list[str]
    shapes: list[dict[str, Any]] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)

    @property
    def under_badge(self) -> int:
        """Pixels from the top to the lower edge of the badge."""
        return 12 + 14 * len(self.badge)

    def style(self, mark: Mark) -> MarkStyle:
        """Return the colour, shape and dash of a mark's role."""
        return style_for(mark.role, self.colours)

    def places(self, values: ArrayLike, *, across: bool) -> list[float | None]:
        """Return positions along an axis, rounded to what the picture can show."""
        axis, (low, high) = (self.picture.x, self.ends[0]) if across else (self.picture.y, self.ends[1])
        return short_numbers(numbers(values), step=0.0 if axis.log else (high - low) / FINEST)

    def named(self, mark: Mark) -> Trace:
        """Return the name and the legend group: a click in the legend hides all marks of that name."""
        name = escape_text(mark.name)
        return {"name": name, "legendgroup": name, "showlegend": bool(name) and mark.legend}

    def hover(self, mark: Mark, xs: Numbers = None, ys: Numbers = None) -> Trace:
        """Return the hover text: name, numbers as shares and rows, and the kind of number."""
        if (mark.hover is None and not mark.name) or (mark.hover is not None and not len(mark.hover)):
            return {"hoverinfo": "skip"}
        badge = BADGES.get(mark.role, "")
        suffix = f"<br>{badge}<extra></extra>" if badge else "<extra></extra>"
        if mark.hover is not None:
            return {"hovertext": [escape_text(text) for text in mark.hover], "hovertemplate": f"%{{hovertext}}{suffix}"}
        lines = [f"<b>{escape_text(mark.name)}</b>"]
        trace: Trace = {}
        for side, axis, values in (("x", self.picture.x, xs), ("y", self.picture.y, ys)):
            if not axis.shown:
                continue
            if axis.labels and values is not None:
                indices = np.rint(np.nan_to_num(np.array(values, dtype=np.float64))).clip(0, len(axis.labels) - 1)
                trace["hovertext"] = [escape_text(axis.labels[int(place)]) for place in indices]
                lines.append("%{hovertext}")
                continue
            lines.append(f"{escape_text(axis.title) or side}: %{{{side}{form(axis)}}}")
            if (axis.rows or axis.of) and values is not None and "customdata" not in trace:
                times = axis.rows or 1 / axis.of
                trace["customdata"] = short_numbers([np.nan if each is None else each * times for each in values])
                lines[-1] += " (%{customdata:,.3~r} rows)" if axis.rows else " (%{customdata:.3~p} of n)"
        return {**trace, "hovertemplate": "<br>".join(lines) + suffix}

    def place(self, value: float, *, across: bool) -> float:
        """Return the position of an annotation: on a logarithmic axis Plotly expects its exponent."""
        axis = self.picture.x if across else self.picture.y
        return math.log10(value) if axis.log else value

    def draw_text(
        self, text: str, *, colour: str, size: float, bold: bool = False, ground: bool = False, **place: Any
    ) -> None:
        """Add an annotation with an outline in the page's colour; with ``ground`` it has a background."""
        paper = self.colours.paper
        halo = ", ".join(f"{x}px {y}px 2px {paper}" for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)
        font = {"color": colour, "size": size, "shadow": halo, "weight": 600 if bold else 400}
        behind = {"bgcolor": faint(paper, GROUND)} if ground else {}
        self.words.append({"text": escape_text(text), "font": font, "showarrow": False, **behind, **place})

    def corner(self, label: str, corner: str, within: tuple[Ends | None, Ends | None] = (None, None)) -> None:
        """Add the label of a region in one of its corners, or in one of the picture's."""
        if not label:
            return
        upper, right = corner.startswith("top"), corner.endswith("right")
        place: dict[str, Any] = {}
        for name, side, far, axis in (("x", within[0], right, self.picture.x), ("y", within[1], upper, self.picture.y)):
            ref = {f"{name}ref": "paper", name: float(far)}
            if side is not None:
                end = side[1] if far else side[0]
                ref = {f"{name}ref": name, name: math.log10(end) if axis.log else end}
            place |= ref
        place |= {"xanchor": "right", "xshift": -6} if right else {"xanchor": "left", "xshift": 6}
        place |= {"yanchor": "top", "yshift": -4} if upper else {"yanchor": "bottom", "yshift": 4}
        self.draw_text(label, colour=self.colours.ink, size=12, bold=True, ground=True, **place)


def form(axis: Axis) -> str:
    """Return the format of an axis's number in a hover text."""
    if axis.labels:
        return ""
    return f":{axis.form}" if axis.form else ":.4~g"
