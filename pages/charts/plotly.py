"""A picture as a Plotly figure: plain dictionaries, validated by Plotly's own classes in the tests only."""

from __future__ import annotations

import json
import math
import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pages.charts.axes import axis_layout, printed, reach, rows_layout
from pages.charts.picture import (
    Area,
    Axis,
    Band,
    Bars,
    Cloud,
    Curve,
    Dots,
    Heat,
    Mark,
    Outline,
    Picture,
    Region,
    Rule,
    Wall,
    Words,
    numbers,
)
from pages.charts.roles import BADGES, Look, Palette, look, palette
from pages.charts.words import shortened

Trace = dict[str, Any]
Numbers = Sequence[float | None] | None

BADGE_WIDTH = 62
"""Letters in a line of the badge: as many as a phone shows."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
MOVING = ("x", "y", "z", "customdata", "hovertext", "text", "base", "width", "marker")
"""What may differ between the frames of a trace."""
ROWS_ABOVE, SHADES_ABOVE = 34, 46
"""Pixels for an axis of rows, and for a scale of shades, above the picture."""
FINEST = 4000
"""Steps along an axis that can be told apart."""
NEAR = {"x": 1.1, "y": 1.1, "z": 0.75}
"""From where space is seen at first."""
LINE_OF_WORDS = 18
"""Pixels from one line of words at the top to the next."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A picture in Plotly's words.

    Attributes:
        data: traces.
        layout: axes, words, rules.
        places: numbers of the traces of each named mark.
        frames: for each state its label, its sentence, the numbers of the traces that change, and what they become.
    """

    data: list[Trace]
    layout: dict[str, Any]
    places: dict[str, list[int]]
    frames: list[dict[str, Any]]


def render(picture: Picture, *, badge: str, dark: bool) -> Drawn:
    """A picture in a theme, with its provenance drawn inside, so that a screenshot keeps it."""
    every = [*picture.marks, *(mark for frame in picture.frames for mark in frame.marks.values())]
    ends = (reach(picture.x, every, across=True), reach(picture.y, every, across=False))
    lines = textwrap.wrap(badge, BADGE_WIDTH) or [""]
    pen = _Pen(picture=picture, ends=ends, colours=palette(dark=dark), badge=lines)
    places: dict[str, list[int]] = {}
    for mark in picture.marks:
        traces = pen.traces(mark)
        mine = places.setdefault(mark.name, [])
        for trace in traces:
            # By it, what is hidden stays hidden although the order changes. Plotly looks elements up by it.
            uid = f"{zlib.crc32(mark.name.encode()):x}-{len(mine)}"
            pen.data.append({"uid": uid, **trace} if mark.name else trace)
            mine.append(len(pen.data) - 1)
    return Drawn(data=pen.data, layout=pen.layout(), places=places, frames=_frames(picture, pen, places))


def _frames(picture: Picture, pen: _Pen, places: dict[str, list[int]]) -> list[dict[str, Any]]:
    """The states in Plotly's words; what is the same in all of them is not sent again."""
    moved = [
        [
            (place, trace)
            for name, mark in frame.marks.items()
            for place, trace in zip(places[name], pen.traces(mark), strict=True)
        ]
        for frame in picture.frames
    ]
    changing = {
        (place, key)
        for state in moved
        for place, trace in state
        for key in MOVING
        if key in trace and trace[key] != pen.data[place].get(key)
    }
    return [
        {
            "label": frame.label,
            "sentence": frame.sentence,
            "traces": [place for place, _ in state],
            "data": [{key: trace[key] for key in MOVING if (place, key) in changing} for place, trace in state],
        }
        for frame, state in zip(picture.frames, moved, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class _Pen:
    """Draws marks of one picture: each becomes traces, or words and lines of the layout."""

    picture: Picture
    ends: tuple[tuple[float, float], tuple[float, float]]
    colours: Palette
    badge: list[str]
    data: list[Trace] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)

    @property
    def under_badge(self) -> int:
        """Pixels from the top to what is below the badge."""
        return 12 + 14 * len(self.badge)

    def layout(self) -> dict[str, Any]:
        """Everything but the traces."""
        picture, colours = self.picture, self.colours
        axis = {
            "linecolor": colours.quiet,
            "tickcolor": colours.quiet,
            "gridcolor": colours.grid,
            "showline": True,
        }
        above = ROWS_ABOVE * bool(picture.x.rows) + SHADES_ABOVE * bool(picture.find(Heat))
        legend = any(trace.get("showlegend") for trace in self.data)
        layout: dict[str, Any] = {
            "height": picture.height,
            "margin": {"l": 12, "r": 14, "t": self.under_badge + above, "b": 12},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": FONT, "size": 12, "color": colours.ink},
            "hoverlabel": {"font": {"family": FONT, "size": 12}, "align": "left"},
            "barmode": "overlay",
            "bargap": 0,
            "uirevision": f"{picture.title}|{picture.about}",
            "showlegend": legend,
            "legendbeside": picture.beside,
            "legend": {
                "orientation": "h",
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yref": "container",
                "yanchor": "bottom",
                "font": {"size": 12},
                "traceorder": "normal",
            },
            "hovermode": "closest",
            "clickanywhere": picture.clicks,
            "dragmode": "select" if picture.brush else "zoom",
            "selectdirection": "h" if picture.brush == "x" else "any",
            "newselection": {"line": {"color": colours.roles["theory"], "width": 2, "dash": "solid"}},
            "activeselection": {"fillcolor": colours.roles["theory"], "opacity": 0.12},
            "shapes": self.shapes,
            "annotations": self.words,
            "title": {
                "text": "<br>".join(map(printed, self.badge)),
                "xref": "container",
                "yref": "container",
                "x": 0,
                "y": 1,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": 4 + 13 * (len(self.badge) - 1)},
                "font": {"size": 11, "color": colours.quiet},
            },
        }
        if picture.find(Cloud):
            layout["scene"] = self._scene()
            return layout
        layout["xaxis"] = axis_layout(picture.x, self.ends[0], colours, across=True) | axis
        layout["yaxis"] = axis_layout(picture.y, self.ends[1], colours, across=False) | axis
        for side, one, ends in (("x", picture.x, self.ends[0]), ("y", picture.y, self.ends[1])):
            if one.rows:
                layout[f"{side}axis2"] = rows_layout(one, ends, across=side == "x") | axis
                # An axis is drawn only where a trace is on it.
                empty = {"type": "scatter", "x": [None], "y": [None], "showlegend": False, "hoverinfo": "skip"}
                self.data.append({**empty, f"{side}axis": f"{side}2"})
        if picture.equal:
            layout["yaxis"] |= {"scaleanchor": "x"}
        return layout

    def _scene(self) -> dict[str, Any]:
        """Three axes of a cloud."""
        axis = {
            "gridcolor": self.colours.grid,
            "showbackground": False,
            "zerolinecolor": self.colours.quiet,
            "nticks": 3,
            "tickfont": {"size": 11},
        }
        scene = {
            f"{name}axis": {**axis, "title": {"text": printed(title), "font": {"size": 11}}}
            for name, title in zip("xyz", self.picture.space, strict=True)
        }
        return {**scene, "aspectmode": "data", "dragmode": "turntable", "camera": {"eye": NEAR}}

    def look(self, mark: Mark) -> Look:
        """Colour, shape and dash of a mark's role."""
        return look(mark.role, self.colours)

    def places(self, values: ArrayLike, *, across: bool) -> list[float | None]:
        """Places along an axis, told apart as finely as the picture can show."""
        axis, (low, high) = (self.picture.x, self.ends[0]) if across else (self.picture.y, self.ends[1])
        return shortened(numbers(values), step=0.0 if axis.log else (high - low) / FINEST)

    def named(self, mark: Mark) -> Trace:
        """Name and place in the legend, where a click hides all marks of that name."""
        name = printed(mark.name)
        return {"name": name, "legendgroup": name, "showlegend": bool(name) and mark.legend}

    def hover(self, mark: Mark, xs: Numbers = None, ys: Numbers = None) -> Trace:
        """What pointing at it says: what it is, its numbers in share and rows, and what kind of number it is."""
        if (mark.hover is None and not mark.name) or (mark.hover is not None and not len(mark.hover)):
            return {"hoverinfo": "skip"}
        badge = BADGES.get(mark.role, "")
        end = f"<br>{badge}<extra></extra>" if badge else "<extra></extra>"
        if mark.hover is not None:
            return {"hovertext": [printed(text) for text in mark.hover], "hovertemplate": f"%{{hovertext}}{end}"}
        lines = [f"<b>{printed(mark.name)}</b>"]
        extra: Trace = {}
        for side, axis, values in (("x", self.picture.x, xs), ("y", self.picture.y, ys)):
            if not axis.shown:
                continue
            if axis.labels and values is not None:
                at = np.clip(
                    np.rint(np.nan_to_num(np.array(values, dtype=np.float64))), 0, len(axis.labels) - 1
                ).astype(int)
                extra["hovertext"] = [printed(axis.labels[place]) for place in at]
                lines.append("%{hovertext}")
                continue
            lines.append(f"{printed(axis.title) or side}: %{{{side}{_form(axis)}}}")
            if (axis.rows or axis.of) and values is not None and "customdata" not in extra:
                times = axis.rows or 1 / axis.of
                extra["customdata"] = shortened([np.nan if each is None else each * times for each in values])
                lines[-1] += " (%{customdata:,.3~r} rows)" if axis.rows else " (%{customdata:.3~p} of n)"
        return {**extra, "hovertemplate": "<br>".join(lines) + end}

    @singledispatchmethod
    def traces(self, mark: Mark) -> list[Trace]:
        """The traces of a mark; words, rules and outlines have none and go into the layout."""
        raise TypeError(f"no way to draw a {type(mark).__name__}")

    @traces.register
    def _(self, mark: Curve) -> list[Trace]:
        seen, xs, ys = self.look(mark), self.places(mark.x, across=True), self.places(mark.y, across=False)
        line = {"color": seen.colour, "dash": mark.dash or seen.dash, "width": mark.width}
        line["shape"] = "hv" if mark.step else "linear"
        return [
            {
                "type": "scatter",
                "mode": "lines",
                "x": xs,
                "y": ys,
                "line": line,
                **self.named(mark),
                **self.hover(mark, xs, ys),
            }
        ]

    @traces.register
    def _(self, mark: Band) -> list[Trace]:
        colour, xs = self.look(mark).colour, self.places(mark.x, across=True)
        edge = {"width": 0, "color": colour, "shape": "hv" if mark.step else "linear"}
        low: Trace = {
            "type": "scatter",
            "mode": "lines",
            "x": xs,
            "y": self.places(mark.low, across=False),
            "line": edge,
            "showlegend": False,
            "hoverinfo": "skip",
        }
        fill = {"fill": "tonexty", "fillcolor": _faint(colour, mark.opacity)}
        high = {**low, "y": self.places(mark.high, across=False), **fill, **self.named(mark)}
        return [low, high]

    @traces.register
    def _(self, mark: Area) -> list[Trace]:
        return [
            {
                "type": "scatter",
                "mode": "lines",
                "x": shortened(numbers(mark.x)),
                "y": shortened(numbers(mark.y)),
                "fill": "toself",
                "fillcolor": _faint(self.look(mark).colour, mark.opacity),
                "line": {"width": 0, "color": self.look(mark).colour},
                **self.named(mark),
                "hoverinfo": "skip",
            }
        ]

    @traces.register
    def _(self, mark: Wall) -> list[Trace]:
        colour = self.look(mark).colour
        xs = self.places(mark.x, across=True)
        floor: Trace = {
            "type": "scatter",
            "mode": "lines",
            "x": xs,
            "y": [mark.end] * len(xs),
            "line": {"width": 0},
            "showlegend": False,
            "hoverinfo": "skip",
        }
        edge = {
            **floor,
            "y": self.places(mark.y, across=False),
            "line": {"color": colour, "width": 2},
            "fill": "tonexty",
            **_hatched(colour),
        }
        self._corner(mark.label, mark.corner)
        return [floor, edge]

    @traces.register
    def _(self, mark: Dots) -> list[Trace]:
        seen, xs, ys = self.look(mark), self.places(mark.x, across=True), self.places(mark.y, across=False)
        marker: dict[str, Any] = {
            "symbol": mark.shape or seen.shape,
            "size": mark.size,
            "color": seen.colour,
            "opacity": mark.opacity,
            "line": {"color": seen.colour, "width": 1.5},
        }
        if mark.hollow and all(mark.hollow):
            marker["color"] = "rgba(0,0,0,0)"
        elif any(mark.hollow):
            marker["color"] = ["rgba(0,0,0,0)" if empty else seen.colour for empty in mark.hollow]
        trace: Trace = {
            "type": "scatter",
            "mode": "markers",
            "x": xs,
            "y": ys,
            "marker": marker,
            "unselected": {"marker": {"opacity": 1}},
            **self.named(mark),
            **self.hover(mark, xs, ys),
        }
        if mark.pick:
            trace["ids"] = [json.dumps(each) for each in mark.pick]
        if mark.low is not None and mark.high is not None:
            at = numbers(mark.x if mark.across else mark.y)
            trace["error_x" if mark.across else "error_y"] = {
                "type": "data",
                "symmetric": False,
                "array": shortened(numbers(mark.high) - at),
                "arrayminus": shortened(at - numbers(mark.low)),
                "color": seen.colour,
                "thickness": 2,
                "width": 0,
            }
        return [trace]

    @traces.register
    def _(self, mark: Bars) -> list[Trace]:
        start, end, value = numbers(mark.start), numbers(mark.end), numbers(mark.value)
        base = np.zeros_like(value) if mark.base is None else numbers(mark.base)
        place, size = ("y", "x") if mark.across else ("x", "y")
        middles, values = self.places((start + end) / 2, across=not mark.across), shortened(value)
        return [
            {
                "type": "bar",
                "orientation": "h" if mark.across else "v",
                place: self.places(start, across=not mark.across),
                size: shortened(value - base),
                **({} if mark.base is None else {"base": shortened(base)}),
                "width": shortened(end - start),
                "offset": 0,
                "marker": {"color": _faint(self.look(mark).colour, mark.opacity), "line": {"width": 0}},
                "unselected": {"marker": {"opacity": 1}},
                **self.named(mark),
                **self.hover(mark, *((values, middles) if mark.across else (middles, values))),
            }
        ]

    @traces.register
    def _(self, mark: Heat) -> list[Trace]:
        shades = self.colours.shades[mark.role]
        values = numbers(mark.value)
        cells = [shortened(row) for row in values]
        # Between the badge and the picture: measured from above, it pushes nothing away.
        bar = {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "yref": "container",
            "y": 1 - (self.under_badge + LINE_OF_WORDS) / self.picture.height,
            "yanchor": "top",
            "len": 0.6,
            "thickness": 8,
            "tickformat": mark.form,
            "nticks": 4,
            "outlinewidth": 0,
            "xpad": 0,
            "ypad": 2,
        }
        unit: Trace = {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "yshift": SHADES_ABOVE - 8,
        }
        if not any(unit.items() <= words.items() for words in self.words):  # frames are drawn, too
            self._say(mark.unit, colour=self.colours.quiet, size=11, **unit)
        name = f"<b>{printed(mark.name)}</b><br>" if mark.name else ""
        ends = (
            f"{printed(axis.title) or side}: %{{{side}{_form(axis)}}}"
            for side, axis in (("x", self.picture.x), ("y", self.picture.y))
        )
        badge = BADGES["released"] if mark.role == "error" else BADGES.get(mark.role, "")
        lines = [*ends, f"{mark.unit}: %{{z:{mark.form}}}"]
        said: Trace = {}
        if mark.rows:
            said["customdata"] = [shortened(row * mark.rows) for row in values]
            lines[-1] += " (%{customdata:,.3~r} rows)"
        said["hovertemplate"] = f"{name}{'<br>'.join([*lines, badge] if badge else lines)}<extra></extra>"
        if mark.hover is not None:
            said = self.hover(mark)
            texts = np.asarray(said.pop("hovertext"), dtype=object).reshape(values.shape)
            said = {**said, "hovertext": texts.tolist()}
        return [
            {
                "type": "heatmap",
                "x": self.places(mark.x, across=True),
                "y": self.places(mark.y, across=False),
                "z": cells,
                "zmin": mark.low,
                "zmax": mark.high,
                "colorscale": _scale(shades, root=mark.root),
                "colorbar": bar,
                "xgap": mark.gap,
                "ygap": mark.gap,
                "showlegend": False,
                **said,
            }
        ]

    @traces.register
    def _(self, mark: Region) -> list[Trace]:
        (left, right), (bottom, top) = mark.x or self.ends[0], mark.y or self.ends[1]
        colour = self.look(mark).colour
        fill = _hatched(colour) if mark.role == "impossible" else {"fillcolor": _faint(colour, 0.16)}
        self._corner(mark.label, mark.corner, within=(mark.x, mark.y))
        return [
            {
                "type": "scatter",
                "mode": "lines",
                "x": [left, right, right, left, left],
                "y": [bottom, bottom, top, top, bottom],
                "fill": "toself",
                "line": {"width": 0},
                "showlegend": False,
                "hoverinfo": "skip",
                **fill,
            }
        ]

    @traces.register
    def _(self, mark: Cloud) -> list[Trace]:
        colour = self.look(mark).colour
        return [
            {
                "type": "scatter3d",
                "mode": "lines" if mark.lines else "markers",
                **{name: shortened(numbers(values)) for name, values in (("x", mark.x), ("y", mark.y), ("z", mark.z))},
                "marker": {"size": mark.size, "color": colour, "opacity": mark.opacity, "symbol": mark.shape},
                "line": {"color": colour, "width": mark.size * 1.5},
                **self.named(mark),
                "hoverinfo": "name" if mark.name else "skip",
            }
        ]

    @traces.register
    def _(self, mark: Rule) -> list[Trace]:
        colour = self.look(mark).colour
        line = {"color": colour, "width": mark.width, "dash": mark.dash}
        upright = mark.x is not None
        side = {"xref": "x", "x0": mark.x, "x1": mark.x, "yref": "paper", "y0": 0, "y1": mark.reach}
        if not upright:
            side = {"yref": "y", "y0": mark.y, "y1": mark.y, "xref": "paper", "x0": 0, "x1": 1}
        self.shapes.append({"type": "line", "line": line, "layer": "above", **side})
        if not mark.label:
            return []
        if mark.x is not None:
            across = 1 if mark.side == "right" else -1
            self._say(
                mark.label,
                colour=colour,
                x=self._place(mark.x, across=True),
                y=1,
                xref="x",
                yref="paper",
                size=12,
                xanchor="left" if mark.side == "right" else "right",
                yanchor="top",
                xshift=5 * across,
                yshift=-LINE_OF_WORDS * mark.line,
            )
        elif mark.y is not None:
            self._say(
                mark.label,
                colour=colour,
                x=1 if mark.side == "right" else 0,
                y=self._place(mark.y, across=False),
                xref="paper",
                yref="y",
                xanchor=mark.side,
                yanchor="top" if mark.below else "bottom",
                size=12,
            )
        return []

    @traces.register
    def _(self, mark: Words) -> list[Trace]:
        refs = {"xref": "paper", "yref": "paper"} if mark.inside else {"xref": "x", "yref": "y"}
        self._say(
            mark.text,
            colour=self.look(mark).colour,
            size=mark.size,
            bold=mark.bold,
            x=mark.x if mark.inside else self._place(mark.x, across=True),
            y=mark.y if mark.inside else self._place(mark.y, across=False),
            xanchor=mark.align,
            yanchor="middle",
            xshift=mark.shift[0],
            yshift=mark.shift[1],
            textangle=-90 if mark.turned else 0,
            **refs,
        )
        return []

    @traces.register
    def _(self, mark: Outline) -> list[Trace]:
        line = {"color": self.look(mark).colour, "width": mark.width}
        (left, right), (bottom, top) = mark.x, mark.y
        self.shapes.append({"type": "rect", "x0": left, "x1": right, "y0": bottom, "y1": top, "line": line})
        return []

    def _place(self, value: float, *, across: bool) -> float:
        """Where words stand: on a logarithmic axis Plotly wants the exponent there, and only there."""
        axis = self.picture.x if across else self.picture.y
        return math.log10(value) if axis.log else value

    def _say(self, text: str, *, colour: str, size: float, bold: bool = False, **place: Any) -> None:
        """Words with an outline in the page's colour, readable across lines."""
        paper = self.colours.paper
        halo = ", ".join(f"{x}px {y}px 2px {paper}" for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)
        font = {"color": colour, "size": size, "shadow": halo, "weight": 600 if bold else 400}
        self.words.append({"text": printed(text), "font": font, "showarrow": False, **place})

    def _corner(
        self,
        label: str,
        corner: str,
        within: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None),
    ) -> None:
        """What a region is called, in a corner of it or of the picture."""
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
        self._say(
            label,
            colour=self.colours.ink,
            size=12,
            bold=True,
            **place,
            xanchor="right" if right else "left",
            yanchor="top" if upper else "bottom",
            xshift=-6 if right else 6,
            yshift=-4 if upper else 4,
        )


def _form(axis: Axis) -> str:
    """How a number of an axis is written when pointed at."""
    if axis.labels:
        return ""
    return f":{axis.form}" if axis.form else ":.4~g"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _faint(colour: str, opacity: float) -> str:
    """A colour that lets the background through."""
    return f"rgba({','.join(map(str, _rgb(colour)))},{opacity:g})"


def _hatched(colour: str) -> Trace:
    """The filling of what is impossible: stripes on a tint, never a colour alone."""
    pattern = {"shape": "/", "size": 9, "solidity": 0.18, "fgcolor": colour, "bgcolor": _faint(colour, 0.13)}
    return {"fillpattern": {**pattern, "fillmode": "overlay"}, "fillcolor": _faint(colour, 0.13)}


def _scale(shades: tuple[str, ...], *, root: bool) -> list[list[Any]]:
    """Stops of a scale of shades: equal steps, or by the square root, which tells small counts apart."""
    places = np.linspace(0, 1, 17)
    parts = np.array([_rgb(shade) for shade in shades], dtype=np.float64)
    at = np.sqrt(places) if root else places
    mixed = [np.interp(at, np.linspace(0, 1, len(shades)), parts[:, part]) for part in range(3)]
    return [
        [float(place), f"rgb({red:.0f},{green:.0f},{blue:.0f})"]
        for place, red, green, blue in zip(places, *mixed, strict=True)
    ]
