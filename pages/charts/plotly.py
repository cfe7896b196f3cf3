"""Converts a picture to a Plotly figure of plain dictionaries; Plotly's classes validate them in the tests only."""

from __future__ import annotations

import textwrap
import zlib
from dataclasses import dataclass, replace
from typing import Any

from pages.charts.axes import (
    EDGE,
    axis_layout,
    axis_margins,
    axis_range,
    balanced,
    escape_text,
    room_below,
    rows_layout,
)
from pages.charts.palette import palette
from pages.charts.pen import SHADES_ABOVE, Pen, Trace
from pages.charts.picture import Cloud, Heat, Picture
from pages.charts.traces import traces

BADGE_WIDTH = 62
"""Letters in a line of the badge: the width of a phone."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
FRAME_KEYS = ("x", "y", "z", "customdata", "hovertext", "text", "base", "width", "marker")
"""Keys of a trace that may differ between frames."""
BELOW, LETTER, TITLE, NAME = 50, 7.4, 12, 13
"""Pixels of an axis below the picture and of a letter, letters in a title's line at least, pixels between names."""
ROWS_ABOVE = 34
"""Pixels for an axis of rows above the picture."""
NEAR = {"x": 1.1, "y": 1.1, "z": 0.75}
"""Initial camera position of a three-dimensional picture."""
CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True, kw_only=True)
class PlotlyFigure:
    """Traces, layout and frames of a picture.

    Attributes:
        data: traces.
        layout: axes, words, rules.
        places: indices of the traces of each named mark.
        frames: label, sentence, indices of the changing traces and their new values, for each state.
    """

    data: list[Trace]
    layout: dict[str, Any]
    places: dict[str, list[int]]
    frames: list[dict[str, Any]]


def render(picture: Picture, *, badge: str, dark: bool, played: bool = True) -> PlotlyFigure:
    """Return a picture in a theme, with its provenance inside, so that a screenshot keeps it.

    If not ``played``, the figure has no frames.
    """
    all_marks = [*picture.marks, *(mark for frame in picture.frames for mark in frame.marks.values())]
    ends = (axis_range(picture.x, all_marks, across=True), axis_range(picture.y, all_marks, across=False))
    lines = textwrap.wrap(badge, BADGE_WIDTH) or [""]
    pen = Pen(picture=picture, ends=ends, colours=palette(dark=dark), badge=lines)
    places: dict[str, list[int]] = {}
    data: list[Trace] = []
    for mark in picture.marks:
        indices = places.setdefault(mark.name, [])
        for trace in traces(mark, pen):
            # Plotly identifies traces by uid: hidden ones stay hidden when the order changes.
            uid = f"{zlib.crc32(mark.name.encode()):x}-{len(indices)}"
            data.append({"uid": uid, **trace} if mark.name else trace)
            indices.append(len(data) - 1)
    layout = _layout(pen, legend=any(trace.get("showlegend") for trace in data))
    data += [_rows_axis_trace(side) for side in "xy" if f"{side}axis2" in layout]
    return PlotlyFigure(data=data, layout=layout, places=places, frames=_frames(pen, data, places) if played else [])


def _frames(pen: Pen, data: list[Trace], places: dict[str, list[int]]) -> list[dict[str, Any]]:
    """Return the frames, without the values that are the same in all of them."""
    states = [
        [
            (place, trace)
            for name, mark in frame.marks.items()
            for place, trace in zip(places[name], traces(mark, pen), strict=True)
        ]
        for frame in pen.picture.frames
    ]
    changing = {
        (place, key)
        for state in states
        for place, trace in state
        for key in FRAME_KEYS
        if key in trace and trace[key] != data[place].get(key)
    }
    return [
        {
            "label": frame.label,
            "sentence": frame.sentence,
            "traces": [place for place, _ in state],
            "data": [{key: trace[key] for key in FRAME_KEYS if (place, key) in changing} for place, trace in state],
        }
        for frame, state in zip(pen.picture.frames, states, strict=True)
    ]


def _rows_axis_trace(side: str) -> Trace:
    """Return an empty trace on the axis of rows: Plotly draws an axis only if it has a trace."""
    empty = {"type": "scatter", "x": [None], "y": [None], "showlegend": False, "hoverinfo": "skip"}
    return {**empty, f"{side}axis": f"{side}2"}


def _layout(pen: Pen, *, legend: bool) -> dict[str, Any]:
    """Return the layout."""
    picture, colours = pen.picture, pen.colours
    axis = {"linecolor": colours.quiet, "tickcolor": colours.quiet, "gridcolor": colours.grid, "showline": True}
    above = ROWS_ABOVE * bool(picture.x.rows) + SHADES_ABOVE * bool(picture.find(Heat))
    layout: dict[str, Any] = {
        "height": picture.height,
        "margin": {"l": 12, "r": 14, "t": pen.under_badge + above, "b": 12},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": FONT, "size": 12, "color": colours.ink},
        "hoverlabel": {"font": {"family": FONT, "size": 12}, "align": "left"},
        "barmode": "overlay",
        "bargap": 0,
        "uirevision": f"{picture.title}|{picture.about}",
        "showlegend": legend,
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
        "shapes": pen.shapes,
        "annotations": pen.words,
        "title": {
            "text": "<br>".join(map(escape_text, pen.badge)),
            "xref": "container",
            "yref": "container",
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "top",
            "pad": {"t": 4 + 13 * (len(pen.badge) - 1)},
            "font": {"size": 11, "color": colours.quiet},
        },
    }
    if picture.find(Cloud):
        layout["scene"] = _scene(pen)
        return layout
    layout["xaxis"] = axis_layout(picture.x, pen.ends[0], colours, across=True) | axis
    along = picture.height - pen.under_badge - BELOW - room_below(layout["xaxis"])
    upright = balanced(picture.y.title, max(TITLE, int(along / LETTER)))
    layout["yaxis"] = axis_layout(replace(picture.y, title=upright), pen.ends[1], colours, across=False) | axis
    for side, axis_of_side, ends in (("x", picture.x, pen.ends[0]), ("y", picture.y, pen.ends[1])):
        if axis_of_side.rows:
            layout[f"{side}axis2"] = rows_layout(axis_of_side, ends, across=side == "x") | axis
    if picture.equal:
        layout["yaxis"] |= {"scaleanchor": "x"}
    margin = layout["margin"]
    for name in ("xaxis", "yaxis", "yaxis2"):
        if name in layout:
            for side, needed in axis_margins(layout[name], across=name == "xaxis").items():
                margin[side] = max(margin[side], round(needed))
    margin["t"] += EDGE * bool(picture.find(Heat))  # its colour bar is above
    names = sum(map(bool, picture.y.labels))
    layout["height"] = max(picture.height, margin["t"] + margin["b"] + NAME * names)
    return layout


def _scene(pen: Pen) -> dict[str, Any]:
    """Return the layout of three axes, for a cloud."""
    axis = {
        "gridcolor": pen.colours.grid,
        "showbackground": False,
        "zerolinecolor": pen.colours.quiet,
        "nticks": 3,
        "tickfont": {"size": 11},
    }
    scene = {
        f"{name}axis": {**axis, "title": {"text": escape_text(title), "font": {"size": 11}}}
        for name, title in zip("xyz", pen.picture.space, strict=True)
    }
    return {**scene, "aspectmode": "data", "dragmode": "turntable", "camera": {"eye": NEAR}}
