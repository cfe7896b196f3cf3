"""The parts of a picture: axes, marks with a role, one sentence and a table; `roles` and `palette` have the styles.

A mark has a role, positions, and the unit of its axis. `component.draw` adds theme, badge, alternative text and
toolbar. Tests query a picture for its marks: "at which value is the bound, in which role?"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpcore.core import Floats

Corner = Literal["top left", "top right", "bottom left", "bottom right"]
Anchor = Literal["left", "center", "right"]
BEHIND = 0.38
"""Opacity of bars that lie behind dots and lines."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Title, scale, range and tick labels of one axis.

    Attributes:
        title: the quantity, with its unit.
        log: whether it is logarithmic.
        low: lower end; None: that of the marks.
        high: upper end; None: that of the marks.
        form: number format in d3-format's notation: ".3~p" for shares, "~s" for large counts.
        ticks: positions of numbers; empty: chosen by the chart.
        labels: names at 0, 1, 2, … instead of numbers, from the top on a vertical axis.
        named: names at some positions besides the numbers, such as that of the bar of missing values.
        rows: n, for a second axis in whole rows beside one of shares; 0: none.
        of: n, on an axis of rows: hover texts then have the share as well; 0: they have not.
        shown: whether it is visible.
        grid: whether it has grid lines.
        letters: maximum length of a label; hover texts have all of it.
    """

    title: str = ""
    log: bool = False
    low: float | None = None
    high: float | None = None
    form: str = ""
    ticks: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    named: Mapping[float, str] = field(default_factory=dict)
    rows: int = 0
    of: int = 0
    shown: bool = True
    grid: bool = False
    letters: int = 20


def budget_axis(losses: Sequence[float], *, title: str, ticks: tuple[float, ...]) -> Axis:
    """Return an axis of privacy budgets, with room beyond the smallest and the largest."""
    return Axis(title=title, log=True, low=losses[0] * 0.8, high=losses[-1] * 1.25, ticks=ticks)


@dataclass(frozen=True, kw_only=True, eq=False)
class Mark:
    """Role, name and hover text that all marks have.

    Attributes:
        role: see `roles.style_for`.
        name: in the legend and in hover texts; empty: in neither.
        hover: hover text of each point instead of name and numbers; empty: none, and it receives no clicks.
        legend: whether it has a legend entry, which toggles all marks of that name.
    """

    role: str
    name: str = ""
    hover: Sequence[str] | None = None
    legend: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve(Mark):
    """A line through points (K,), interrupted at NaN; with ``step`` each value holds until the next x."""

    x: ArrayLike
    y: ArrayLike
    dash: str = ""
    width: float = 2.5
    step: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Band(Mark):
    """The area between two curves, (K,) each."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    opacity: float = 0.22
    step: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Area(Mark):
    """The inside of a closed line through corners (K,)."""

    x: ArrayLike
    y: ArrayLike
    opacity: float = 0.22


@dataclass(frozen=True, kw_only=True, eq=False)
class Dots(Mark):
    """Points (K,), with error bars if ``low`` and ``high`` are given.

    Attributes:
        x: positions.
        y: positions.
        low: lower ends of the error bars.
        high: upper ends of the error bars.
        across: whether the error bars are along x.
        shape: marker; empty: the role's.
        size: in pixels.
        opacity: from 0 to 1.
        hollow: which points have no fill.
        pick: value that a click on each point sends; empty: the points are not clickable.
    """

    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    across: bool = False
    shape: str = ""
    size: float = 8
    opacity: float = 1
    hollow: Sequence[bool] = ()
    pick: Sequence[Any] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars(Mark):
    """Bars from ``base`` (None: 0) to ``value``, each over ``start`` to ``end``, (K,) each.

    Attributes:
        across: horizontal bars, with ``start`` and ``end`` along y.
        opacity: smallest opacity of the bars, raised to a contrast of 3:1 with the page; of tiles, the exact one.
        tiles: the bars cover the picture side by side, so that their shades are compared with each other.
    """

    start: ArrayLike
    end: ArrayLike
    value: ArrayLike
    base: ArrayLike | None = None
    across: bool = False
    opacity: float = 0.8
    tiles: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Heat(Mark):
    """Shaded cells between edges x (A + 1,) and y (B + 1,), values (B, A); NaN: empty.

    Attributes:
        x: edges.
        y: edges.
        value: value of each cell.
        low: value of the first shade.
        high: value of the last shade; low = -high for errors.
        unit: title of the colour bar.
        root: whether shades are by the square root, for counts.
        gap: pixels between cells.
        rows: n, if values are shares: hover texts then have rows as well; 0: they have not.
    """

    x: ArrayLike
    y: ArrayLike
    value: ArrayLike
    low: float
    high: float
    unit: str
    form: str = ",.3~r"
    root: bool = False
    gap: float = 0
    rows: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Region(Mark):
    """A rectangle between two values of x, of y, or of both; hatched for the role "impossible"."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    label: str = ""
    corner: Corner = "top left"


@dataclass(frozen=True, kw_only=True, eq=False)
class Wall(Mark):
    """The impossible side of a curve: from ``y`` (K,) to ``end``, hatched, with a label in a corner."""

    x: ArrayLike
    y: ArrayLike
    end: float
    label: str
    corner: Corner = "top right"
    role: str = "impossible"


@dataclass(frozen=True, kw_only=True, eq=False)
class Rule(Mark):
    """A line across the picture at one ``x`` or one ``y``, with a label.

    Attributes:
        x: position of a vertical rule.
        y: position of a horizontal rule.
        label: text beside it.
        dash: dash style.
        side: side of a vertical rule, or end of a horizontal one, at which the label is.
        line: line of the label at the top, for vertical rules that may be close to each other.
        below: whether the label is below a horizontal rule.
        reach: height of a vertical rule as a share of the picture.
    """

    x: float | None = None
    y: float | None = None
    label: str = ""
    dash: str = "solid"
    width: float = 2
    side: Anchor = "right"
    line: int = 0
    below: bool = False
    reach: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Words(Mark):
    """Text at data coordinates, or with ``inside`` at shares of the picture (0 to 1 from left and bottom).

    With ``ground``, or as the bold name of a region or a curve, it has a background: lines stop behind it.
    """

    text: str
    x: float
    y: float
    inside: bool = False
    align: Anchor = "center"
    shift: tuple[float, float] = (0, 0)
    size: float = 12
    bold: bool = False
    turned: bool = False
    ground: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Outline(Mark):
    """The outline of a rectangle."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = 2.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Cloud(Mark):
    """Points in three dimensions, (K,) each; a picture with one has three axes and can be rotated."""

    x: ArrayLike
    y: ArrayLike
    z: ArrayLike
    size: float = 3
    shape: str = "circle"
    opacity: float = 0.8
    lines: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Frame:
    """Another state of some marks, shown without a round trip to the server.

    Attributes:
        label: its name: "release 2 of 20".
        sentence: the picture's sentence in this state.
        marks: new marks, by the name of those they replace, with the same type and number of points.
    """

    label: str
    sentence: str
    marks: Mapping[str, Mark]


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A handle for mouse, finger and arrow keys; the position where it is released is sent as "moved" (x, y).

    Attributes:
        x: position.
        y: position.
        label: name for screen readers.
        letter: letter drawn on it.
        step: distance that an arrow key moves it.
        origin: start of the curve to the handle, and centre of its rotation.
        follows: name of that curve; empty: none.
        turned: whether its distance from the origin is fixed; keys then rotate it, right and up to the left.
        turns: names of the curves and areas that rotate with it.
        sides: names of the dots on the handle's side of a line through the origin, and on the other side.
    """

    x: float
    y: float
    label: str
    letter: str = ""
    step: float = 0.05
    origin: tuple[float, float] = (0.0, 0.0)
    follows: str = ""
    turned: bool = False
    turns: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()


MarkType = TypeVar("MarkType", bound=Mark)


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """Axes and marks, with a sentence and a table that say the same.

    Attributes:
        title: kind of picture, independent of its numbers.
        x: horizontal axis.
        y: vertical axis.
        marks: in drawing order.
        sentence: text alternative for screen readers.
        table: its numbers, by column.
        caption: short text below it; empty if the title is enough.
        height: in pixels, without the legend.
        frames: states that can be played; the first is the initial one.
        playing: name of the frames' control.
        turning: whether they are shown one by one at first, up to the last, which the marks are; with reduced motion
            the last is shown at once.
        cycling: whether the frames follow each other slowly until the reader does anything; never with reduced motion.
        brush: whether a range ("x") or rectangle ("xy") can be selected; it is sent as "brush".
        equal: whether both axes have the same scale.
        handle: a handle that can be dragged.
        clicks: whether a click is sent as "picked" (x, y), unless it is on a dot with its own value.
        space: titles of the three axes, with a Cloud.
        about: key of zoom and brush, which are kept as long as it is the same.
        legend_right: whether the legend is at the right if there is room.
    """

    title: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]
    sentence: str
    table: Mapping[str, Sequence[Any]]
    caption: str = ""
    height: int = 300
    frames: Sequence[Frame] = ()
    playing: str = "release"
    turning: bool = False
    cycling: bool = False
    brush: Literal["", "x", "xy"] = ""
    equal: bool = False
    handle: Handle | None = None
    clicks: bool = False
    space: tuple[str, str, str] = ("", "", "")
    about: str = ""
    legend_right: bool = False

    def frame(self) -> pd.DataFrame:
        """Return the table as a DataFrame."""
        return pd.DataFrame(dict(self.table))

    def find(self, kind: type[MarkType], *, role: str = "", name: str = "") -> list[MarkType]:
        """Return the marks of a type, and of a role and a name if these are given."""
        return [
            mark
            for mark in self.marks
            if isinstance(mark, kind) and role in ("", mark.role) and name in ("", mark.name)
        ]

    def one(self, kind: type[MarkType], *, role: str = "", name: str = "") -> MarkType:
        """Return the only such mark.

        Raises:
            ValueError: if there are several, or none.
        """
        (mark,) = self.find(kind, role=role, name=name)
        return mark


def numbers(values: ArrayLike | None) -> Floats:
    """Return values as an array of floats; None becomes an empty array."""
    return np.asarray([] if values is None else values, dtype=np.float64)


def empty_picture(*, title: str, sentence: str) -> Picture:
    """Return a picture with a sentence only, for results in which every run refused."""
    blank = Axis(low=0, high=1, shown=False)
    words = Words(role="ink", text=sentence, x=0.5, y=0.5, inside=True, size=14)
    return Picture(
        title=title, x=blank, y=blank, marks=[words], sentence=sentence, table={"outcome": ["refused"]}, height=120
    )
