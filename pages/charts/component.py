"""Draws a picture: in place, so that zoom and brush survive; with its sentence; its numbers on demand."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import streamlit as st

from dpcore.core.safe_csv import escape_frame
from pages.charts.picture import Handle, Picture
from pages.charts.plotly import PlotlyFigure, render
from pages.charts.script import MODULE
from pages.shell.present import place_of, presenting, reserve, spared, stands
from pages.shell.state import SessionKey

HERE = Path(__file__).resolve().parent
PRESENTED_HEIGHT, PRESENTED_FULL_HEIGHT, PRESENTED_WIDTH = 215, 244, 500
"""Pixels of a chart on the stage, of it with its legend, and of a line of that, before it is drawn twice as large."""
LEGEND_LINE, LEGEND_MARK, LETTER = 22, 46, 6.6
"""Pixels, as in chart.js."""
EncodedCharts = dict[tuple[str, str, bool, bool], bytes]
"""Charts as they are sent, by key, badge, theme, and whether they may be kept as files."""
MIN_MARGIN = 85
"""Pixels above and below what is drawn, at least: badge, numbers and title of the axis."""

# The module is our own, served by the launcher; this only calls it. Its address is relative to the app's.
_SCRIPT = f"""
const module = (async () => import(new URL("{MODULE}", document.baseURI)))();
export default function (component) {{
  module.then(({{ draw }}) => draw(component));
  return () => module.then(({{ forget }}) => forget(component.parentElement));
}}
"""
_chart = st.components.v2.component(
    "dpscope.chart",
    html=(HERE / "chart.html").read_text(encoding="utf-8"),
    css=(HERE / "chart.css").read_text(encoding="utf-8"),
    js=_SCRIPT,
    isolate_styles=False,
)


def is_dark() -> bool:
    """Whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


def draw(
    picture: Picture,
    *,
    key: str,
    badge: str,
    caption: str = "",
    download: bool = False,
    on_pick: Callable[[Any], None] | None = None,
    on_move: Callable[[float, float], None] | None = None,
    on_brush: Callable[[Mapping[str, Sequence[float]]], None] | None = None,
    cache: EncodedCharts | None = None,
) -> None:
    """Draw a picture, or change the one that is there.

    Args:
        picture: what to draw.
        key: of the chart on the page.
        badge: provenance, drawn into the picture.
        caption: words below it, if not the picture's own; its sentence opens beside them.
        download: whether it may be kept as a file: never where private values are in it.
        on_pick: called with what a clicked dot stands for, or with [x, y] of a click elsewhere, before the next run.
        on_move: called with where the handle was let go, before the next run.
        on_brush: called with the ends of the range or rectangle that was drawn, by axis, before the next run; without
            any where it was taken away.
        cache: where pictures that are drawn again are kept.
    """
    target: AbstractContextManager[object] = nullcontext()
    if presenting():
        container = place_of(key)
        if container is None:
            return
        target = container
        drawn = render(picture, badge=badge, dark=is_dark())
        legend_height = _legend_height(drawn)
        cache, height = (
            None,
            min(picture.height, PRESENTED_HEIGHT + spared(), PRESENTED_FULL_HEIGHT + spared() - legend_height),
        )
        wrapped_title = textwrap.fill(
            picture.y.title, int((height - MIN_MARGIN) / LETTER)
        )  # it must fit beside its axis
        picture = dataclasses.replace(picture, height=height, y=dataclasses.replace(picture.y, title=wrapped_title))
        reserve(height + legend_height)
    else:
        stands(key)
    cache_key = (key, badge, is_dark(), download)
    encoded = cache.get(cache_key) if cache else None
    if encoded is None:
        encoded = _encode_chart(picture, key=key, badge=badge, caption=caption, download=download)
    if cache is not None:
        cache[cache_key] = encoded

    component_state = SessionKey[Any](key, None)

    def picked() -> None:
        value = component_state.value.picked
        if on_pick is not None and value is not None:
            on_pick(value)

    def moved() -> None:
        value = component_state.value.moved
        if on_move is not None and value is not None:
            on_move(float(value[0]), float(value[1]))

    def brushed() -> None:
        value = component_state.value.brushed
        if on_brush is not None and value is not None:
            on_brush(value)

    with target:
        _chart(key=key, data=encoded, on_brushed_change=brushed, on_picked_change=picked, on_moved_change=moved)


def _encode_chart(picture: Picture, *, key: str, badge: str, caption: str, download: bool) -> bytes:
    """A chart as the browser reads it: bytes, which Streamlit passes on. Values it would look into, and write twice."""
    drawn = render(picture, badge=badge, dark=is_dark())
    payload = {
        "key": key,
        "title": picture.title,
        "caption": caption or picture.caption,
        "sentence": picture.sentence,
        "data": drawn.data,
        "layout": drawn.layout,
        "frames": drawn.frames,
        "playing": picture.playing,
        "download": download,
        "beside": picture.legend_right,
        "handle": encode_handle(picture.handle, drawn),
    }
    return json.dumps(payload).encode()


def _legend_height(drawn: PlotlyFigure) -> int:
    """About what the legend of a presented chart takes: the names as far as they fit into a line."""
    names = [len(str(trace["name"])) for trace in drawn.data if trace.get("showlegend")]
    if not names:
        return 0
    return LEGEND_LINE * -(-len(names) // max(1, int(PRESENTED_WIDTH // (LETTER * max(names) + LEGEND_MARK)))) + 8


def draw_with_table(
    picture: Picture,
    *,
    key: str,
    badge: str,
    title: str,
    download: bool = False,
    on_pick: Callable[[Any], None] | None = None,
    on_move: Callable[[float, float], None] | None = None,
) -> None:
    """Draw a picture, as ``key``_chart, and offer its numbers under a title, as ``key``_numbers."""
    draw(picture, key=f"{key}_chart", badge=badge, download=download, on_pick=on_pick, on_move=on_move)
    show_numbers(picture, title=title, key=f"{key}_numbers")


def encode_handle(handle: Handle | None, drawn: PlotlyFigure) -> dict[str, Any] | None:
    """The draggable place, and the numbers of the traces that go with it."""
    if handle is None:
        return None
    return dataclasses.asdict(handle) | {
        "follows": drawn.places[handle.follows][0] if handle.follows else -1,
        "turns": [place for name in handle.turns for place in drawn.places[name]],
        "sides": [drawn.places[name][0] for name in handle.sides],
    }


def show_numbers(picture: Picture, *, title: str, key: str) -> None:
    """The picture's numbers, sent only when they are opened."""
    expander = st.expander(f"Numbers: {title}", key=key, on_change="rerun")
    if expander.open:
        expander.dataframe(escape_frame(picture.frame()), hide_index=True)  # it offers itself as a CSV
