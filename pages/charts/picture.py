"""What a picture is made of: axes, marks with a role, one sentence, a table. How it looks is said elsewhere.

A mark says what it shows (`role`), where, and in which unit (its axis). Theme, badge, alternative text and toolbar are
added when it is drawn (`component.draw`). Tests ask a picture for its marks: "where is the promise, in which role?"
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


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis.

    Attributes:
        title: what is measured, with its unit.
        log: equal factors instead of equal steps.
        low: where it starts; None: where the marks do.
        high: where it ends, likewise.
        form: how numbers are written (the notation of d3-format): ".3~p" for shares, "~s" for large counts.
        ticks: where numbers stand; empty: chosen by the chart.
        labels: names at 0, 1, 2, … instead of numbers; the first is at the top of a vertical axis.
        named: names at some places besides the numbers, such as that of a bar for missing values, or of 0 where factors
            are equal.
        rows: n, for a second axis beside one of shares that counts whole rows; 0: none.
        of: n, on an axis of rows: pointing at a number says its share as well; 0: it does not.
        shown: whether there is anything to read on it.
        grid: whether lines go across the picture.
        letters: of a label that there is room for; pointing at a mark says all of it.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Mark:
    """Anything drawn.

    Attributes:
        role: what it shows: see `roles.look`.
        name: in the legend and when pointed at; empty: in neither.
        hover: what pointing at each of its points says, instead of name and numbers; empty: nothing does, and it takes
            no click from what lies there as well.
        legend: whether it has a line in the legend, which hides all marks of that name.
    """

    role: str
    name: str = ""
    hover: Sequence[str] | None = None
    legend: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve(Mark):
    """A line through points (K,); NaN where it is interrupted. ``step`` holds each value until the next place."""

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
    """Points (K,), with intervals where ``low`` and ``high`` are given.

    Attributes:
        x: places.
        y: places.
        low: lower ends of intervals.
        high: upper ends.
        across: whether the intervals lie along x.
        shape: of the points; empty: the role's.
        size: of the points, in pixels.
        opacity: of the points.
        hollow: which ones have no filling.
        pick: what a click on each point sends; none: they cannot be clicked.
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
    """Bars from ``base`` (none: 0) to ``value`` over the places ``start`` to ``end``, (K,) each.

    ``across``: lying, along y.
    """

    start: ArrayLike
    end: ArrayLike
    value: ArrayLike
    base: ArrayLike | None = None
    across: bool = False
    opacity: float = 0.38


@dataclass(frozen=True, kw_only=True, eq=False)
class Heat(Mark):
    """Shaded cells between edges x (A + 1,) and y (B + 1,), values (B, A); NaN: empty.

    Attributes:
        x: edges.
        y: edges.
        value: of each cell.
        low: value of the first shade.
        high: value of the last shade; low = -high for errors.
        unit: title of the scale of shades.
        root: shades by the square root, for counts.
        gap: pixels between cells.
        rows: n, where values are shares: pointing at one says its rows as well; 0: it does not.
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
    """A rectangle across the picture, between two values of x or of y; impossible ones are hatched."""

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
    """A line across the picture at one ``x`` or one ``y``, with words beside it.

    Attributes:
        x: place of an upright rule.
        y: place of a lying rule.
        label: its words.
        dash: how it is drawn.
        side: where the words stand: of an upright rule left or right, of a lying one at which end.
        line: which line of words at the top, for upright rules that may be close to each other.
        below: whether words stand under a lying rule.
        reach: how far an upright rule goes up, as a share of the picture: words may stand above it.
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
    """Words at data coordinates, or at shares of the picture (``inside``: 0 to 1 from left and bottom)."""

    text: str
    x: float
    y: float
    inside: bool = False
    align: Anchor = "center"
    shift: tuple[float, float] = (0, 0)
    size: float = 12
    bold: bool = False
    turned: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Outline(Mark):
    """The edge of a rectangle."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = 2.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Cloud(Mark):
    """Points in space, (K,) each; a picture with one has three axes and can be turned."""

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
        label: what it is: "release 2 of 20".
        sentence: the picture's sentence in this state.
        marks: new marks by the name of those they replace; same kind, same number of points.
    """

    label: str
    sentence: str
    marks: Mapping[str, Mark]


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A place that can be dragged by mouse, finger and arrow keys; where it is let go is sent as "moved" (x, y).

    Attributes:
        x: place.
        y: place.
        label: for screen readers.
        letter: written on it.
        step: how far an arrow key moves it.
        origin: where a curve to the handle starts, and what it is turned around.
        follows: name of that curve; empty: none.
        turned: whether it stays as far from the origin as it is; keys then turn it, to the left for right and up.
        turns: names of curves and areas that turn with it.
        sides: names of the dots on the handle's side of a line through the origin, and of those on the other.
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
    """A picture.

    Attributes:
        title: what kind of picture it is, whatever its numbers.
        x: horizontal axis.
        y: vertical axis.
        marks: drawn in this order.
        sentence: the same in one sentence, for whoever does not see it.
        table: its numbers, column by column.
        caption: a few words below it, for whoever does; none where its title says enough.
        height: in pixels, without the legend.
        frames: states that can be played; the first is how it opens.
        playing: what the control of the frames is called.
        brush: a range ("x") or rectangle ("xy") can be drawn; it is sent as "brush".
        equal: whether a step is as long on both axes.
        handle: a place that can be dragged.
        clicks: a click anywhere is sent as "picked" (x, y), unless it is on a dot that sends something else.
        space: titles of three axes, where there is a Cloud.
        about: what zoom and brush belong to: they are kept as long as it stays the same.
        legend_right: whether the legend stands at the right, where there is room.
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
    brush: Literal["", "x", "xy"] = ""
    equal: bool = False
    handle: Handle | None = None
    clicks: bool = False
    space: tuple[str, str, str] = ("", "", "")
    about: str = ""
    legend_right: bool = False

    def frame(self) -> pd.DataFrame:
        """The table as a DataFrame."""
        return pd.DataFrame(dict(self.table))

    def find(self, kind: type[MarkType], *, role: str = "", name: str = "") -> list[MarkType]:
        """The marks of a kind, of a role and with a name where these are given."""
        return [
            mark
            for mark in self.marks
            if isinstance(mark, kind) and role in ("", mark.role) and name in ("", mark.name)
        ]

    def one(self, kind: type[MarkType], *, role: str = "", name: str = "") -> MarkType:
        """The only such mark.

        Raises:
            ValueError: if there are several, or none.
        """
        (mark,) = self.find(kind, role=role, name=name)
        return mark


def numbers(values: ArrayLike | None) -> Floats:
    """Values as an array of floats, (K,) or more; none where there are none, such as the ends of no interval."""
    return np.asarray([] if values is None else values, dtype=np.float64)


def empty_picture(*, title: str, sentence: str) -> Picture:
    """The picture of no answer at all."""
    blank = Axis(low=0, high=1, shown=False)
    words = Words(role="ink", text=sentence, x=0.5, y=0.5, inside=True, size=14)
    return Picture(
        title=title, x=blank, y=blank, marks=[words], sentence=sentence, table={"outcome": ["refused"]}, height=120
    )
