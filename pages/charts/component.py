"""Draw a picture as a custom component: it is updated in place, so that zoom and brush survive."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import streamlit as st

from dpcore.core.safe_csv import escape_frame
from pages.charts.pen import SHADES_ABOVE
from pages.charts.picture import Axis, Handle, Heat, Picture
from pages.charts.plotly import PlotlyFigure, render
from pages.charts.script import MODULE, declare_component
from pages.shell.presentation import chart_place, extra_height, is_presenting, note_drawn, reserve_height, width_share
from pages.shell.state import SessionKey

HERE = Path(__file__).resolve().parent
PRESENTED_HEIGHT, PRESENTED_FULL_HEIGHT, PRESENTED_WIDTH = 211, 240, 500
"""Pixels of a presented chart, of it with its legend, and of a legend's line, before it is scaled to twice the size."""
LEGEND_LINE, LEGEND_MARK, LETTER = 22, 46, 6.6
"""Pixels, as in chart.js."""
LABEL_LINE = 14
"""Pixels of a label beside an axis."""
EncodedCharts = dict[tuple[str, str, bool, bool], bytes]
"""Encoded charts by key, badge, dark theme, and whether a download is allowed."""
MIN_MARGIN = 85
"""Minimum pixels above and below the plot: badge, tick labels and title of the axis."""

# chart.js is served by the launcher, at an address relative to the app's; this only calls it.
_SCRIPT = f"""
const module = (async () => import(new URL("{MODULE}", document.baseURI)))();
export default function (component) {{
  module.then(({{ draw }}) => draw(component));
  return () => module.then(({{ forget }}) => forget(component.parentElement));
}}
"""
_chart = declare_component(
    "dpscope.chart",
    html=(HERE / "chart.html").read_text(encoding="utf-8"),
    css=(HERE / "chart.css").read_text(encoding="utf-8"),
    js=_SCRIPT,
)
_files = declare_component(
    "dpscope.files",
    html="<span class='dpscope-files'><button type='button' data-kind='png' aria-label='Picture as PNG'>PNG</button> "
    "<button type='button' data-kind='html' aria-label='Picture as a web page'>HTML</button></span>",
    js=f"""
const module = (async () => import(new URL("{MODULE}", document.baseURI)))();
export default function (component) {{ module.then(({{ files }}) => files(component)); }}
""",
)


def is_dark() -> bool:
    """Return True if the browser's theme is dark."""
    return st.context.theme.type == "dark"


def draw(
    picture: Picture,
    *,
    key: str,
    badge: str,
    caption: str = "",
    download: bool = False,
    on_pick: Callable[[Any], None] | None = None,
    on_move: Callable[[Sequence[float]], None] | None = None,
    on_brush: Callable[[Mapping[str, Sequence[float]]], None] | None = None,
    encoded_charts: EncodedCharts | None = None,
) -> None:
    """Draw a picture, or change the one that is there.

    Args:
        picture: what to draw.
        key: of the chart on the page.
        badge: provenance, drawn into the picture.
        caption: text below it, instead of the picture's own caption.
        download: whether it can be downloaded; never with private values in it.
        on_pick: callback with the value of a clicked dot, or with [x, y] of a click elsewhere.
        on_move: callback with x and y where the handle was released.
        on_brush: callback with the ends of the selected range or rectangle, by axis; empty if it was removed.
        encoded_charts: stores encoded charts that are drawn repeatedly.
    """
    target: AbstractContextManager[object] = nullcontext()
    if is_presenting():
        container = chart_place(key)
        if container is None:
            return
        target = container
        drawn = render(picture, badge=badge, dark=is_dark())
        legend_height = _legend_height(drawn)
        encoded_charts = None
        tallest = min(PRESENTED_HEIGHT, PRESENTED_FULL_HEIGHT - legend_height) + extra_height()
        height = min(picture.height, tallest)
        picture = dataclasses.replace(picture, height=height, y=_thinned(picture, height - MIN_MARGIN))
        reserve_height(height + legend_height)
    else:
        note_drawn(key)
    cache_key = (key, badge, is_dark(), download)
    encoded = encoded_charts.get(cache_key) if encoded_charts else None
    if encoded is None:
        encoded = _encode_chart(picture, key=key, badge=badge, caption=caption, download=download)
    if encoded_charts is not None:
        encoded_charts[cache_key] = encoded

    component_state = SessionKey[Any](key, None)

    def receiver(name: str, callback: Callable[..., None] | None) -> Callable[[], None]:
        """Return what is called when the browser sends a value of this name."""

        def receive() -> None:
            value = getattr(component_state.value, name)
            if callback is not None and value is not None:
                callback(value)

        return receive

    with target:
        _chart(
            key=key, data=encoded, on_picked_change=receiver("picked", on_pick),
            on_moved_change=receiver("moved", on_move), on_brushed_change=receiver("brushed", on_brush),
        )  # fmt: skip


def picture_files(key: str) -> None:
    """Draw the buttons that download a picture of the page, by its key, if that picture may be downloaded."""
    _files(key=f"{key}_files", data={"key": key})


def _encode_chart(picture: Picture, *, key: str, badge: str, caption: str, download: bool) -> bytes:
    """Return a chart as JSON bytes: Streamlit passes bytes through, but would inspect and serialize a dict again."""
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
        "turning": picture.turning,
        "cycling": picture.cycling,
        "download": download,
        "beside": picture.legend_right,
        "handle": encode_handle(picture.handle, drawn),
    }
    return json.dumps(payload).encode()


def _thinned(picture: Picture, pixels: int) -> Axis:
    """Return the axis at the left of a presented picture, with as many of its labels as there is room for."""
    labels, room = picture.y.labels, pixels - SHADES_ABOVE * bool(picture.find(Heat))
    every = -(-LABEL_LINE * len(labels) // room)
    kept = tuple("" if place % every else text for place, text in enumerate(labels))
    return dataclasses.replace(picture.y, labels=kept)


def _legend_height(drawn: PlotlyFigure) -> int:
    """Return roughly the pixels of a presented chart's legend."""
    names = [len(str(trace["name"])) for trace in drawn.data if trace.get("showlegend")]
    if not names:
        return 0
    return (
        LEGEND_LINE
        * -(-len(names) // max(1, int(width_share() * PRESENTED_WIDTH // (LETTER * max(names) + LEGEND_MARK))))
        + 8
    )


def draw_with_table(
    picture: Picture,
    *,
    key: str,
    badge: str,
    title: str,
    download: bool = False,
    on_pick: Callable[[Any], None] | None = None,
    on_move: Callable[[Sequence[float]], None] | None = None,
) -> None:
    """Draw a picture, as ``key``_chart, and offer its numbers under a title, as ``key``_numbers."""
    draw(picture, key=f"{key}_chart", badge=badge, download=download, on_pick=on_pick, on_move=on_move)
    show_numbers(picture, title=title, key=f"{key}_numbers")


def encode_handle(handle: Handle | None, drawn: PlotlyFigure) -> dict[str, Any] | None:
    """Return the draggable handle as JSON, with the indices of the traces that move with it."""
    if handle is None:
        return None
    return dataclasses.asdict(handle) | {
        "follows": drawn.places[handle.follows][0] if handle.follows else -1,
        "turns": [place for name in handle.turns for place in drawn.places[name]],
        "sides": [drawn.places[name][0] for name in handle.sides],
    }


def draw_while_open(title: str, *, key: str, content: Callable[[], None]) -> None:
    """Draw an expander, and its content only while it is open."""
    expander = st.expander(title, key=key, on_change="rerun")
    if expander.open:
        with expander:
            content()


def show_numbers(picture: Picture, *, title: str, key: str) -> None:
    """Offer the picture's numbers as a table, which is sent only when it is opened."""

    def table() -> None:
        st.dataframe(escape_frame(picture.frame()), hide_index=True)  # it offers itself as a CSV

    draw_while_open(f"Numbers: {title}" if title else "Numbers", key=key, content=table)
